"""Dynamic facts of the command line: `--dynamic-fact KEY=VALUE`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from commodore.base.context import Context
from commodore.base.events import Warned

_JSON = "json:"


def parse_dynamic_facts(entries: Sequence[str], context: Context) -> dict[str, Any]:
    """Parse entries into facts. Later entries override earlier ones; dots in a key make nested objects.

    An invalid entry is left out with a warning; it is never an error.

    Args:
        entries: `key=text` or `key=json:<value>`, in the order given.

    Returns:
        JSON-ready data. An entry with JSON null is ignored.
    """
    facts: dict[str, Any] = {}
    for entry in entries:
        key, _, text = entry.partition("=")
        if not key or not text:
            _skip(
                context,
                "CMD-API-030",
                f"{entry!r} is not KEY=VALUE",
                f'for an empty text write {key or "KEY"}={_JSON}""',
            )
            continue
        try:
            value = _parse_value(text)
        except (ValueError, RecursionError) as error:
            _skip(
                context,
                "CMD-API-031",
                f"the value of {key!r} is not JSON: {error}",
                f"strings in JSON have double quotes; for plain text leave out {_JSON!r}",
            )
            continue
        if value is not None:
            _place(facts, key, value, context)
    return facts


def _parse_value(text: str) -> Any:
    if not text.startswith(_JSON):
        return text
    return json.loads(text.removeprefix(_JSON), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which Python would read although JSON does not have them."""
    raise ValueError(f"{name} is not a JSON value")


def _place(facts: dict[str, Any], key: str, value: Any, context: Context) -> None:
    segments = key.split(".")
    if not all(segments):
        _skip(context, "CMD-API-032", f"the key {key!r} has an empty part", "separate the parts by single dots: a.b.c")
        return
    *parents, last = segments
    place = facts
    for depth, segment in enumerate(parents, start=1):
        below = place.setdefault(segment, {})
        if not isinstance(below, dict):
            taken = ".".join(segments[:depth])
            _skip(
                context,
                "CMD-API-033",
                f"{key!r} cannot be set, because {taken!r} is {json.dumps(below)}, not an object",
                f"give either {taken!r} or keys below it",
            )
            return
        place = below
    if last in place:
        old, new = json.dumps(place[last]), json.dumps(value)
        context.announce(
            Warned(
                "CMD-API-034",
                f"dynamic fact {key!r} is given more than once: {old} is replaced by {new}",
                hint="give it once",
            )
        )
    place[last] = value


def _skip(context: Context, code: str, problem: str, hint: str = "") -> None:
    context.announce(Warned(code, f"dynamic fact left out: {problem}", hint=hint))
