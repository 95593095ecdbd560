"""Helpers of commands that show differences of objects."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from commodore.base.errors import UsageError, did_you_mean
from commodore.cli.shell.console import Console, paint

if TYPE_CHECKING:
    from commodore.core.review import NoiseRule, Review

ARGOCD_TITLE = "Argo CD changes"
_ANY = "any"


def check_flags(requested: Iterable[str]) -> None:
    """See that `--fail-on` names dangers.

    Raises:
        UsageError: CMD-CLI-030, a danger is unknown.
    """
    from commodore.core.review import FLAGS

    for name in requested:
        if name != _ANY and name not in FLAGS:
            raise UsageError(
                "CMD-CLI-030",
                f"unknown danger {name!r}",
                hint=did_you_mean(name, [_ANY, *FLAGS]) or f"these are: {', '.join((_ANY, *FLAGS))}",
            )


def dangers(review: Review, requested: Iterable[str]) -> list[str]:
    """The dangers of a review that `--fail-on` names, the worst first."""
    chosen = {*requested}
    names = dict.fromkeys(flag.name for flag in review.flags)
    return [name for name in names if name in chosen or _ANY in chosen]


def noise_of(values: Mapping[str, Any]) -> tuple[NoiseRule, ...]:
    """Return the noise rules of `--noise` and `--hide`.

    Raises:
        UsageError: CMD-CLI-032, a value of `--hide` does not say what.
    """
    from commodore.core.review import DEFAULT_NOISE

    hidden = tuple(map(_noise_rule, values["hide"]))
    return hidden if values["noise"] else (*DEFAULT_NOISE, *hidden)


def _noise_rule(text: str) -> NoiseRule:
    """One value of `--hide`."""
    from commodore.core.review import NoiseRule

    if text.startswith("/"):
        return NoiseRule("place", text)
    field, _, pattern = text.partition(":")
    if field not in ("labels", "annotations") or not pattern:
        raise UsageError(
            "CMD-CLI-032",
            f"--hide {text!r} names no label, annotation or path",
            hint="write --hide 'labels:example.com/*' or --hide /spec/replicas",
        )
    return NoiseRule("labels" if field == "labels" else "annotations", pattern)


def markdown(review: Review, values: Mapping[str, Any], *, title: str, whole: str) -> str:
    """A review as Markdown within `--max-bytes`.

    Raises:
        UsageError: CMD-CLI-031, there is too little room.
    """
    from commodore.core.review import markdown_report

    if values["max_bytes"] < 4096:
        raise UsageError("CMD-CLI-031", "--max-bytes is less than 4096", hint="a report needs 4096 bytes at least")
    return markdown_report(review, title=title, budget=values["max_bytes"], whole=values["report_url"] or whole)


def show_review(
    review: Review,
    console: Console,
    *,
    full: bool = False,
    indent: str = "",
    command: str = "commodore catalog diff",
) -> None:
    """Print a review as text; its long changes are folded for people at a terminal, unless they want all of it.

    Args:
        command: what shows it again.
    """
    from commodore.core.review import text_report

    folded = not full and sys.stdout.isatty()
    lines = list(text_report(review, folded=folded))
    console.result("\n".join(f"{indent}{line}".rstrip() for line in paint((line.style, line.text) for line in lines)))
    if folded and len(lines) < sum(1 for _ in text_report(review)):
        console.status(f"Long changes are folded: {command} --full shows all of them.")
