"""What is unknown in a comparison: Applications that do not render, and definitions that are lost on a side."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from commodore.argocd.comparing.applications import Verdict
from commodore.argocd.comparing.inputs import InputChange, Inputs
from commodore.argocd.discovery import Listing, may_be_meant
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import CommodoreError

_NOTE = 200
_CONTINUED = re.compile(r"\n\s+")
Errors = tuple[CommodoreError | None, CommodoreError | None]


def failed_verdict(verdict: Verdict, errors: Errors, inputs: Callable[[], InputChange]) -> Verdict:
    """The verdict on an Application that does not render.

    Args:
        errors: why it does not on each side; one of them is given.
        inputs: gives how its inputs differ; asked if both sides fail alike.
    """
    messages = [error.message if error is not None else "" for error in errors]
    return _unknown(verdict, messages, inputs() if messages[0] == messages[1] else None)


def _unknown(verdict: Verdict, messages: Sequence[str], change: InputChange | None) -> Verdict:
    """A verdict that something is unknown.

    Args:
        messages: why, on each side.
        change: how its inputs differ if it is for the same reason on both sides; else None.
    """
    said = _short(messages[1] or messages[0])
    if change is None:
        return replace(verdict, state="unknown", note=said if messages[1] else f"in the base: {said}")
    files = change.files or verdict.files
    if change:
        note = f"as before, and what it reads has changed ({change}): {said}"
        return replace(verdict, state="unknown", note=note, files=files, reported=False)
    return replace(verdict, state="unknown", note=f"as before, {said}", before=True)


def _short(message: str) -> str:
    lines = _CONTINUED.sub(" ", message).splitlines() or [""]
    return next((line for line in lines if "Error: " in line), lines[0])[:_NOTE]


def report_failure(verdict: Verdict, errors: Errors, found: Diagnostics, *, allowed: bool) -> None:
    """Report why an Application does not render.

    Args:
        allowed: see `Wanted.allow_unknown`.
    """
    error = errors[1] or errors[0]
    assert error is not None
    side = "" if errors[1] is not None else "in the base: "
    collected = Diagnostics()
    collected.take(error, Subject(application=verdict.name))
    for one in collected.found():
        both = verdict.before or not verdict.reported
        found.add(_as_before(one) if both else _lowered(replace(one, message=f"{side}{one.message}"), allowed))


def lost_verdicts(
    old: Listing, new: Listing, verdicts: Iterable[Verdict], names: Sequence[str], inputs: Inputs
) -> Iterator[Verdict]:
    """The verdicts on definitions that are lost on a side or on both.

    Args:
        verdicts: those on Applications, which are not repeated.
        names: the Applications that are wanted; all if there are none.
    """
    known = {one.name for one in verdicts}
    sides = [{(one.kind, one.label): one for one in listing.lost} for listing in (old, new)]
    for kind, label in sorted(sides[0].keys() | sides[1].keys()):
        before, after = (side.get((kind, label)) for side in sides)
        lost = after or before
        if lost is None or (kind == "Application" and label in known) or not may_be_meant(lost, names):
            continue
        messages = [one.reason.message if one is not None else "" for one in (before, after)]
        change = inputs.of_lost(before, after) if messages[0] == messages[1] else None
        verdict = Verdict(
            label, None, None, "unknown", kind=kind, place=lost.place, reported=lost.reason.severity == "error"
        )
        yield _unknown(verdict, messages, change)


def report_unknown(verdicts: Iterable[Verdict], found: Diagnostics, *, allowed: bool) -> None:
    """Report what is unknown though its inputs have changed, unless an error of its own says so.

    Args:
        allowed: see `Wanted.allow_unknown`.
    """
    for one in verdicts:
        if one.state != "unknown" or one.before or one.reported:
            continue
        subject = f"the {one.kind} {one.name} is " if one.kind in ("file", "entry") else ""
        defined = one.new or one.old
        place = defined.place if defined is not None else one.place
        names = (one.name if one.kind == kind else "" for kind in ("Application", "ApplicationSet"))
        reported = Diagnostic(
            "CMD-ARGO-807",
            f"{subject}unknown: {one.note}",
            "error",
            "mend it, or accept by --allow-unknown that its changes are not seen",
            "input",
            subject=Subject(*names),
            locations=(place,) if place is not None else (),
        )
        found.add(_lowered(reported, allowed))


def join(found: Diagnostics, base: Diagnostics, target: Diagnostics, *, allowed: bool) -> None:
    """Add what both sides say, once; of the base alone only errors: the rest is what the change mends.

    An error of both sides is not one of the change. Findings about the comparison itself count on both sides.

    Args:
        allowed: see `Wanted.allow_unknown`.
    """
    reported, before = target.found(), base.found()
    for one in reported:
        if one not in before or one.code in _OF_COMPARISON:
            found.add(_lowered(one, allowed and _is_loss(one)))
        elif one.severity == "error":
            found.add(_as_before(one))
        else:
            found.add(replace(one, before=True))
    for one in before:
        if one.severity == "error" and one not in reported:
            found.add(_lowered(replace(one, message=f"in the base: {one.message}"), allowed and _is_loss(one)))


_OF_COMPARISON: Collection[str] = ("CMD-ARGO-429",)
_OF_FILES: Collection[str] = ("CMD-ARGO-101",)


def _is_loss(one: Diagnostic) -> bool:
    """Whether a diagnostic says that something is unknown."""
    return bool(one.subject.name or one.code in _OF_FILES)


def _lowered(one: Diagnostic, allowed: bool) -> Diagnostic:
    return one.lowered() if allowed else one


def _as_before(one: Diagnostic) -> Diagnostic:
    return replace(one.lowered("info"), message=f"as before: {one.message}", before=True)
