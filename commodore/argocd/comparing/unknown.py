"""Unknown results of a comparison: Applications that fail to render, and definitions that are lost on a side."""

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
    """Return the verdict on an Application that fails to render.

    Args:
        errors: the error of each side; at least one is given.
        inputs: returns the change of its inputs; called if both sides fail with the same error.
    """
    messages = [error.message if error is not None else "" for error in errors]
    return _unknown(verdict, messages, inputs() if messages[0] == messages[1] else None)


def _unknown(verdict: Verdict, messages: Sequence[str], change: InputChange | None) -> Verdict:
    """Return a verdict with the state unknown.

    Args:
        messages: the reason on each side.
        change: the change of its inputs if the reason is the same on both sides; else None.
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


def report_failure(verdict: Verdict, errors: Errors, diagnostics: Diagnostics, *, allowed: bool) -> None:
    """Report why an Application fails to render.

    Args:
        allowed: see `ComparisonRequest.allow_unknown`.
    """
    error = errors[1] or errors[0]
    assert error is not None
    side = "" if errors[1] is not None else "in the base: "
    failures = Diagnostics()
    failures.take(error, Subject(application=verdict.name))
    for diagnostic in failures.collected():
        both = verdict.before or not verdict.reported
        diagnostics.add(
            _as_before(diagnostic)
            if both
            else _lowered(replace(diagnostic, message=f"{side}{diagnostic.message}"), allowed)
        )


def lost_verdicts(
    old: Listing, new: Listing, verdicts: Iterable[Verdict], names: Sequence[str], inputs: Inputs
) -> Iterator[Verdict]:
    """Yield the verdicts on definitions that are lost on a side or on both.

    Args:
        verdicts: the verdicts on Applications, which are not repeated.
        names: the requested Applications; empty for all.
    """
    known = {verdict.name for verdict in verdicts}
    sides = [{(definition.kind, definition.label): definition for definition in listing.lost} for listing in (old, new)]
    for kind, label in sorted(sides[0].keys() | sides[1].keys()):
        before, after = (side.get((kind, label)) for side in sides)
        lost = after or before
        if lost is None or (kind == "Application" and label in known) or not may_be_meant(lost, names):
            continue
        messages = [definition.reason.message if definition is not None else "" for definition in (before, after)]
        change = inputs.of_lost(before, after) if messages[0] == messages[1] else None
        verdict = Verdict(
            label, None, None, "unknown", kind=kind, place=lost.place, reported=lost.reason.severity == "error"
        )
        yield _unknown(verdict, messages, change)


def report_unknown(verdicts: Iterable[Verdict], diagnostics: Diagnostics, *, allowed: bool) -> None:
    """Report unknown results whose inputs have changed, unless they have an error of their own.

    Args:
        allowed: see `ComparisonRequest.allow_unknown`.
    """
    for verdict in verdicts:
        if verdict.state != "unknown" or verdict.before or verdict.reported:
            continue
        subject = f"the {verdict.kind} {verdict.name} is " if verdict.kind in ("file", "entry") else ""
        defined = verdict.new or verdict.old
        place = defined.place if defined is not None else verdict.place
        names = (verdict.name if verdict.kind == kind else "" for kind in ("Application", "ApplicationSet"))
        reported = Diagnostic(
            "CMD-ARGO-807",
            f"{subject}unknown: {verdict.note}",
            "error",
            "correct it, or accept unseen changes by --allow-unknown",
            "input",
            subject=Subject(*names),
            locations=(place,) if place is not None else (),
        )
        diagnostics.add(_lowered(reported, allowed))


def join(diagnostics: Diagnostics, base: Diagnostics, target: Diagnostics, *, allowed: bool) -> None:
    """Add the diagnostics of both sides, each once. Of those of the base alone only errors are added: the change
    resolves the others.

    An error of both sides is not an error of the change. Diagnostics about the comparison itself count on both sides.

    Args:
        allowed: see `ComparisonRequest.allow_unknown`.
    """
    reported, before = target.collected(), base.collected()
    for diagnostic in reported:
        if diagnostic not in before or diagnostic.code in _OF_COMPARISON:
            diagnostics.add(_lowered(diagnostic, allowed and _is_loss(diagnostic)))
        elif diagnostic.severity == "error":
            diagnostics.add(_as_before(diagnostic))
        else:
            diagnostics.add(replace(diagnostic, before=True))
    for diagnostic in before:
        if diagnostic.severity == "error" and diagnostic not in reported:
            diagnostics.add(
                _lowered(
                    replace(diagnostic, message=f"in the base: {diagnostic.message}"), allowed and _is_loss(diagnostic)
                )
            )


_OF_COMPARISON: Collection[str] = ("CMD-ARGO-429",)
_OF_FILES: Collection[str] = ("CMD-ARGO-101",)


def _is_loss(diagnostic: Diagnostic) -> bool:
    """Check if a diagnostic means that something is unknown."""
    return bool(diagnostic.subject.name or diagnostic.code in _OF_FILES)


def _lowered(diagnostic: Diagnostic, allowed: bool) -> Diagnostic:
    return diagnostic.lowered() if allowed else diagnostic


def _as_before(diagnostic: Diagnostic) -> Diagnostic:
    return replace(diagnostic.lowered("info"), message=f"as before: {diagnostic.message}", before=True)
