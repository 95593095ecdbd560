"""The token in what servers answer: they may repeat it, and that is shown, kept or commented nowhere."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import fields, replace

from commodore.authoring.sync.model import ItemResult
from commodore.errors import CommodoreError, Findings
from commodore.events import Announce, Event

Change = Callable[[str], str]

_SHORTEST = 8  # characters; what is shorter is no token, and would be found in every word


def without_token(token: str | None) -> Change:
    """What takes a token out of a text, as it is and as git sends it."""
    token = (token or "").strip()
    if len(token) < _SHORTEST:
        return lambda text: text
    sent = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return lambda text: text.replace(token, "…").replace(sent, "…")


def rewritten(error: CommodoreError, change: Change) -> CommodoreError:
    """The same error with other words."""
    if isinstance(error, Findings):
        return Findings(rewritten(one, change) for one in error.errors)
    locations = [replace(each, place=change(each.place)) for each in error.locations]
    return type(error)(error.code, change(error.message), hint=change(error.hint), locations=locations)


def discreet(result: ItemResult, change: Change) -> ItemResult:
    """A result with other words."""
    error = rewritten(result.error, change) if result.error is not None else None
    return replace(result, reason=change(result.reason), url=change(result.url), error=error)


def discreetly(announce: Announce, change: Change) -> Announce:
    """A listener that hears other words."""

    def announce_discreetly(event: Event) -> None:
        texts = {one.name: change(text) for one in fields(event) if isinstance(text := getattr(event, one.name), str)}
        announce(replace(event, **texts))

    return announce_discreetly
