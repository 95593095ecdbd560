"""Dates in Go's layouts, which are written with the reference date Mon Jan 2 15:04:05 MST 2006."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.quoting import quoted

_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS: Final = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_ELEMENT: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|_2006|_2|002|01|02|03|04|05|06|15"
    r"|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|PM|pm|[.,]0+(?![0-9])|[.,]9+(?![0-9])|1|2|3|4|5"
)


def _hour12(moment: datetime) -> int:
    return moment.hour % 12 or 12


def _offset(moment: datetime, form: str) -> str:
    seconds = int((moment.utcoffset() or timedelta()).total_seconds())
    if form[0] == "Z" and seconds == 0:
        return "Z"
    sign, size = ("-" if seconds < 0 else "+"), abs(seconds)
    hours, minutes, rest = size // 3600, size % 3600 // 60, size % 60
    colon = ":" if ":" in form else ""
    text = f"{sign}{hours:02d}"
    if len(form) > 3:
        text += f"{colon}{minutes:02d}"
    return text + (f"{colon}{rest:02d}" if len(form) > 6 else "")


def _zone_name(moment: datetime) -> str:
    name = moment.tzname() or "UTC"
    if name.startswith("UTC") and name != "UTC":
        return _offset(moment, "-0700") if moment.utcoffset() else "UTC"
    return _offset(moment, "-07" if name[3:] in ("", "00") else "-0700") if name[:1] in "+-" else name


_FORMS: Final[dict[str, Callable[[datetime], str]]] = {
    "January": lambda moment: _MONTHS[moment.month - 1],
    "Jan": lambda moment: _MONTHS[moment.month - 1][:3],
    "Monday": lambda moment: _DAYS[moment.weekday()],
    "Mon": lambda moment: _DAYS[moment.weekday()][:3],
    "MST": _zone_name,
    "2006": lambda moment: f"{moment.year:04d}",
    "_2006": lambda moment: f"_{moment.year:04d}",
    "06": lambda moment: f"{moment.year % 100:02d}",
    "01": lambda moment: f"{moment.month:02d}",
    "1": lambda moment: str(moment.month),
    "02": lambda moment: f"{moment.day:02d}",
    "_2": lambda moment: f"{moment.day:2d}",
    "2": lambda moment: str(moment.day),
    "002": lambda moment: f"{moment.timetuple().tm_yday:03d}",
    "__2": lambda moment: f"{moment.timetuple().tm_yday:3d}",
    "15": lambda moment: f"{moment.hour:02d}",
    "03": lambda moment: f"{_hour12(moment):02d}",
    "3": lambda moment: str(_hour12(moment)),
    "04": lambda moment: f"{moment.minute:02d}",
    "4": lambda moment: str(moment.minute),
    "05": lambda moment: f"{moment.second:02d}",
    "5": lambda moment: str(moment.second),
    "PM": lambda moment: "PM" if moment.hour >= 12 else "AM",
    "pm": lambda moment: "pm" if moment.hour >= 12 else "am",
}


def formatted(layout: str, moment: datetime) -> str:
    """Format a date."""

    def put(match: re.Match[str]) -> str:
        form = match[0]
        if form in _FORMS:
            return _FORMS[form](moment)
        if form[0] in ".,":
            digits = f"{moment.microsecond:06d}000"[: len(form) - 1].ljust(len(form) - 1, "0")
            if form[1] == "9":
                digits = digits.rstrip("0")
                return form[0] + digits if digits else ""
            return form[0] + digits
        return _offset(moment, form)

    return _ELEMENT.sub(put, layout)


_PARSE: Final = {
    "January": "(?P<month_name>" + "|".join(_MONTHS) + ")",
    "Jan": "(?P<month_name>" + "|".join(name[:3] for name in _MONTHS) + ")",
    "Monday": "(?:" + "|".join(_DAYS) + ")",
    "Mon": "(?:" + "|".join(name[:3] for name in _DAYS) + ")",
    "MST": r"(?P<zone>[A-Z]{3,4}|[+-]\d\d)",
    "2006": r"(?P<year>\d{4})",
    "06": r"(?P<short_year>\d\d)",
    "01": r"(?P<month>\d\d)",
    "1": r"(?P<month>\d\d?)",
    "02": r"(?P<day>\d\d)",
    "_2": r"(?P<day> ?\d\d?)",
    "2": r"(?P<day>\d\d?)",
    "002": r"(?P<year_day>\d{3})",
    "15": r"(?P<hour>\d\d)",
    "03": r"(?P<hour12>\d\d)",
    "3": r"(?P<hour12>\d\d?)",
    "04": r"(?P<minute>\d\d)",
    "4": r"(?P<minute>\d\d?)",
    "05": r"(?P<second>\d\d(?:[.,]\d+)?)",
    "5": r"(?P<second>\d\d?(?:[.,]\d+)?)",
    "PM": "(?P<half>AM|PM)",
    "pm": "(?P<half>am|pm)",
}


def parsed(layout: str, text: str) -> datetime:
    """Parse a date.

    Raises:
        CallProblem: the text does not match the layout.
    """
    pattern, at, seen = "", 0, set()
    for match in _ELEMENT.finditer(layout):
        pattern += re.escape(layout[at : match.start()])
        form = match[0]
        piece = _PARSE.get(form) or (r"(?P<fraction>[.,]\d+)?" if form[0] in ".," else _offset_pattern(form))
        for name in re.findall(r"\?P<(\w+)>", piece):
            if name in seen:
                piece = piece.replace(f"?P<{name}>", "?:")
            seen.add(name)
        pattern += piece
        at = match.end()
    whole = re.fullmatch(pattern + re.escape(layout[at:]), text, re.ASCII)
    if whole is None:
        raise CallProblem(
            f"parsing time {quoted(text)} as {quoted(layout)}: cannot parse {quoted(text)} as {quoted(layout)}"
        )
    try:
        return _moment({name: value for name, value in whole.groupdict().items() if value is not None})
    except ValueError:
        raise CallProblem(f"parsing time {quoted(text)}: day out of range") from None


def _offset_pattern(form: str) -> str:
    colon = ":" if ":" in form else ""
    text = r"[+-]\d\d" + (rf"{colon}\d\d" if len(form) > 3 else "") + (rf"{colon}\d\d" if len(form) > 6 else "")
    return f"(?P<offset>{text}{'|Z' if form[0] == 'Z' else ''})"


def _moment(groups: dict[str, str]) -> datetime:
    year = int(groups.get("year", 0))
    if "short_year" in groups:
        short = int(groups["short_year"])
        year = 1900 + short if short >= 69 else 2000 + short
    month = int(groups.get("month", 1))
    if "month_name" in groups:
        month = next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(groups["month_name"][:3]))
    hour = int(groups.get("hour", 0))
    if "hour12" in groups:
        hour = int(groups["hour12"]) % 12 + (12 if groups.get("half", "").lower() == "pm" else 0)
    second, _, fraction = groups.get("second", "0").replace(",", ".").partition(".")
    fraction = groups.get("fraction", "." + fraction)[1:]
    if year == 0:
        raise ValueError
    moment = datetime(
        year,
        month,
        int(groups.get("day", 1)),
        hour,
        int(groups.get("minute", 0)),
        int(second),
        int(fraction[:6].ljust(6, "0")),
        tzinfo=UTC,
    )
    if "year_day" in groups:
        moment = moment.replace(month=1, day=1) + timedelta(days=int(groups["year_day"]) - 1)
    offset = groups.get("offset", "Z")
    if offset != "Z":
        digits = offset[1:].replace(":", "").ljust(6, "0")
        span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]), seconds=int(digits[4:6]))
        moment = moment.replace(tzinfo=timezone(-span if offset[0] == "-" else span))
    return moment
