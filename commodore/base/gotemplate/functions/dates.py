"""Sprig's functions of dates and durations."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commodore.base.gotemplate.functions.layouts import formatted, parsed
from commodore.base.gotemplate.numbers import bounded_integer
from commodore.base.gotemplate.problems import CallProblem, UnsteadyProblem
from commodore.base.gotemplate.signatures import Function, Table, function
from commodore.base.gotemplate.values import Int64, Object, Value, is_integer
from commodore.base.values.units import GO_UNITS, go_duration_text, parse_go_duration

TABLE: Final[Table] = {}
_ZERO: Final = datetime(1, 1, 1, tzinfo=UTC)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Time(Object):
    """A point in time, to the microsecond."""

    TYPE = "time.Time"
    KIND = "struct"

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def go_string(self) -> str:
        fraction = f".{self.moment.microsecond:06d}".rstrip("0").rstrip(".")
        return formatted(f"2006-01-02 15:04:05{fraction and '.999999'} -0700 MST", self.moment)

    def __deepcopy__(self, memo: object) -> Time:
        return self


Time.METHODS = {
    "Year": ((), lambda time: time.moment.year),
    "Month": ((), lambda time: Month(time.moment.month)),
    "Day": ((), lambda time: time.moment.day),
    "Hour": ((), lambda time: time.moment.hour),
    "Minute": ((), lambda time: time.moment.minute),
    "Second": ((), lambda time: time.moment.second),
    "YearDay": ((), lambda time: time.moment.timetuple().tm_yday),
    "Unix": ((), lambda time: Int64(_seconds(time.moment))),
    "UTC": ((), lambda time: Time(time.moment.astimezone(UTC))),
    "IsZero": ((), lambda time: time.moment == _ZERO),
    "String": ((), Time.go_string),
    "Format": (("string",), lambda time, layout: formatted(layout, time.moment)),
}


class Month(Object):
    """A month: its name in text."""

    TYPE = "time.Month"
    KIND = "int"

    def __init__(self, number: int) -> None:
        self.number = number

    def go_string(self) -> str:
        return datetime(2000, self.number, 1, tzinfo=UTC).strftime("%B")


def _seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


@function(TABLE, "toDate", "string string")
def _to_date(layout: str, text: str) -> Time:
    try:
        return Time(parsed(layout, text))
    except CallProblem:
        return Time(_ZERO)


@function(TABLE, "mustToDate", "string string")
def _must_to_date(layout: str, text: str) -> Time:
    return Time(parsed(layout, text))


def _zone(name: str) -> tzinfo:
    if name in ("", "UTC", "Local"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _moment(value: Value, zone: str) -> datetime:
    if isinstance(value, Time):
        return value.moment.astimezone(_zone(zone))
    if is_integer(value):
        try:
            return (_EPOCH + timedelta(seconds=int(value))).astimezone(_zone(zone))
        except OverflowError:
            raise CallProblem(f"{value} seconds are out of range of dates") from None
    raise UnsteadyProblem("the current time is another one at every run; give a date")


@function(TABLE, "dateInZone date_in_zone", "string any string")
def _date_in_zone(layout: str, value: Value, zone: str) -> str:
    return formatted(layout, _moment(value, zone))


@function(TABLE, "date", "string any")
def _date(layout: str, value: Value) -> str:
    return formatted(layout, _moment(value, "Local"))


@function(TABLE, "htmlDate", "any")
def _html_date(value: Value) -> str:
    return formatted("2006-01-02", _moment(value, "Local"))


@function(TABLE, "htmlDateInZone", "any string")
def _html_date_in_zone(value: Value, zone: str) -> str:
    return formatted("2006-01-02", _moment(value, zone))


@function(TABLE, "unixEpoch", "time")
def _unix_epoch(value: Time) -> str:
    return str(_seconds(value.moment))


@function(TABLE, "dateModify date_modify", "string time")
def _date_modify(text: str, value: Time) -> Time:
    try:
        return _modified(text, value)
    except CallProblem:
        return value


@function(TABLE, "mustDateModify must_date_modify", "string time")
def _must_date_modify(text: str, value: Time) -> Time:
    return _modified(text, value)


def _modified(text: str, value: Time) -> Time:
    span = parsed_duration(text)
    try:
        return Time(value.moment + timedelta(microseconds=span // 1000))
    except OverflowError:
        raise CallProblem(f"{text} leads out of the calendar") from None


def parsed_duration(text: str) -> int:
    """Parse a duration, in nanoseconds.

    Raises:
        CallProblem: it is not a duration.
    """
    span = parse_go_duration(text)
    if span is None:
        raise CallProblem(f'time: {_fault(text)} "{text}"')
    return span


def _fault(text: str) -> str:
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text, re.ASCII):
        return "missing unit in duration"
    unit = re.fullmatch(
        r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)([^\d.]+).*", text, re.DOTALL
    )
    if unit is None or unit[1] in GO_UNITS:  # too long if each number has its unit
        return "missing unit in duration" if unit and text[-1] in "0123456789." else "invalid duration"
    return f'unknown unit "{unit[1]}" in duration'


@function(TABLE, "duration", "any")
def _duration(value: Value) -> str:
    seconds = 0
    if isinstance(value, Int64) or (isinstance(value, str) and re.fullmatch(r"[+-]?\d+", value, re.ASCII)):
        seconds = bounded_integer(value) if isinstance(value, str) else int(value)
    return go_duration_text((seconds * 10**9 + (1 << 63)) % (1 << 64) - (1 << 63))


@function(TABLE, "durationRound", "any")
def _duration_round(value: Value) -> str:
    span = 0
    if isinstance(value, str):
        try:
            span = parsed_duration(value)
        except CallProblem:
            span = 0
    elif isinstance(value, Int64):
        span = int(value)
    elif isinstance(value, Time):
        raise UnsteadyProblem("the time since a date is another one at every run")
    sign, size = ("-" if span < 0 else ""), abs(span)
    hour = 3600 * 10**9
    units = (
        (hour * 24 * 365, "y"),
        (hour * 24 * 30, "mo"),
        (hour * 24, "d"),
        (hour, "h"),
        (hour // 60, "m"),
        (10**9, "s"),
    )
    for unit, name in units:
        if size > unit:
            return f"{sign}{size // unit}{name}"
    return "0s"


def clock_functions(moment: datetime) -> Table:
    """Return `now` and `ago` for a fixed time.

    Args:
        moment: with a time zone.
    """

    def ago(value: Value) -> str:
        then = _moment(value, "UTC") if isinstance(value, Time) or is_integer(value) else moment
        return go_duration_text(round((moment - then) / timedelta(seconds=1)) * 10**9)

    return {
        "now": Function("now", (), lambda: Time(moment), variadic=False),
        "ago": Function("ago", ("any",), ago, variadic=False),
    }
