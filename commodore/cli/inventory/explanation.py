"""Human-readable output of `inventory explain`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import counted, printable

if TYPE_CHECKING:
    from commodore.core.inventory.explain import (
        ClassFilePlace,
        Contribution,
        ExplainedPart,
        Explanation,
        ParameterReference,
    )

_LINES = 8  # of a value that are shown
_PARTS = 40  # keys or items that are listed
_REFERENCES = 3  # in one value of a map or list; more are not followed in the text
_COMMIT = 10  # characters of a commit's id

_OUTCOMES = {
    "repeated": "explained above",
    "overwritten": "does not count",
    "missing": "is not defined",
    "default": "is not defined, the default counts",
    "deep": "not followed: too deep",
    "many": "not followed: too many references",
    "loop": "leads back here",
}


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """The lines of an explanation; click drops the colours without a terminal."""
    yield from _lines(explanation, "", f" in target {explanation.target}")


def _lines(explanation: Explanation, indent: str, where: str = "") -> Iterator[str]:
    from commodore.core.inventory.explain import path_text

    name = click.style(printable(path_text(explanation.path)), bold=True)
    value = explanation.value
    if not explanation.is_set:
        yield f"{indent}{name}{where} is not set; it was taken away:"
    elif isinstance(value, (dict, list)) and value:
        kind, inner = ("map", "key") if isinstance(value, dict) else ("list", "item")
        yield f"{indent}{name}{where} is a {kind} of {counted(len(value), inner)}:"
    elif isinstance(value, str) and "\n" in value:
        yield f"{indent}{name}{where} is a text of {counted(len(value.splitlines()), 'line')}:"
    else:
        yield f"{indent}{name}{where} is {click.style(_yaml(value)[0], bold=True)}"
    if not explanation.chain:
        yield f"{indent}  no place that sets it was found"
    for number, contribution in enumerate(explanation.chain, 1):
        yield from _contribution(number, contribution, explanation, f"{indent}  ")
    if explanation.parts and not indent:
        yield ""
        yield f"Where each {'key' if isinstance(value, dict) else 'item'} was set last:"
        yield from _parts(explanation.parts)


def _contribution(number: int, contribution: Contribution, explanation: Explanation, indent: str) -> Iterator[str]:
    status = _status(contribution)
    style: dict[str, Any] = {"fg": "green", "bold": True} if contribution.counts else {"dim": True}
    place = click.style(_place(contribution.source), fg="cyan")
    yield f"{indent}{number}. {place} {click.style(f'({status})', **style)}"
    for line in _origin(contribution.source):
        yield f"{indent}   {click.style(line, dim=True)}"
    if contribution.path != explanation.path and len(contribution.path) < len(explanation.path):
        from commodore.core.inventory.explain import path_text

        yield f"{indent}   {printable(path_text(contribution.path))} as a whole:"
    # What an item of a list is called is where it stands; a key is shown as it is written.
    written = contribution.value if isinstance(contribution.key, int) else {contribution.key: contribution.value}
    for line in _yaml(written):
        yield f"{indent}     {line}"
    if len(contribution.references) > _REFERENCES and isinstance(explanation.value, (dict, list)):
        references = counted(len(contribution.references), "reference")
        yield f"{indent}     {references}; explain one key or use -o json to follow them"
        return
    for reference in contribution.references:
        yield from _reference(reference, f"{indent}     ")


def _status(contribution: Contribution) -> str:
    words = {"sets": "sets it", "merges": "merges a map into it", "appends": "appends to it"}
    words |= {"replaces": "replaces it", "removes": "takes it away"}
    said = [words[contribution.effect]]
    if contribution.overwrites:
        said.append("'~' discards the previous value")
    if contribution.constant:
        said.append("'=' makes it constant")
    if contribution.wins:
        said.append("wins")
    elif not contribution.counts:
        said.append("overwritten later" if contribution.effect != "removes" else "set again later")
    return ", ".join(said)


def _reference(reference: ParameterReference, indent: str) -> Iterator[str]:
    if reference.explanation is not None:
        yield f"{indent}{click.style(printable(reference.written), fg='yellow')}:"
        yield from _lines(reference.explanation, f"{indent}  ")
    else:
        from commodore.core.inventory.explain import path_text

        outcome = _OUTCOMES[reference.outcome]
        path = printable(path_text(reference.path)) if reference.path else ""
        yield f"{indent}{click.style(printable(reference.written), fg='yellow')}: {path} {outcome}"


def _parts(parts: tuple[ExplainedPart, ...]) -> Iterator[str]:
    shown = parts[:_PARTS]
    names = [f"[{part.key}]" if isinstance(part.key, int) else printable(str(part.key)) for part in shown]
    width = max(len(name) for name in names)
    for name, part in zip(names, shown, strict=True):
        places = f" ({part.places} places)" if part.places > 1 else ""
        through = f" through {printable(part.through)}" if part.through else ""
        yield f"  {name:<{width}}  {click.style(_place(part.source), fg='cyan')}{through}{places}"
    if len(parts) > _PARTS:
        yield f"  … and {len(parts) - _PARTS} more; -o json has all"


def _place(source: ClassFilePlace) -> str:
    """Return the file and line relative to the current directory; generated classes are shown by name."""
    if source.generated:
        return printable(source.generated)
    here = Path(os.path.realpath(os.curdir))
    file = source.file.relative_to(here) if source.file.is_relative_to(here) else source.file
    return printable(f"{file}:{source.line}")


def _origin(source: ClassFilePlace) -> Iterator[str]:
    if source.generated:
        return
    origin = source.origin
    text = f"class {source.name}"
    if origin is not None and origin.commit:
        text += f", from {origin.url or 'a repository without a remote'} at {origin.commit[:_COMMIT]}: {origin.path}"
        text += " (changed since)" if origin.changed else ""
    yield printable(text)


def _yaml(value: Any) -> list[str]:
    """The first lines of a value as YAML."""
    from commodore.cli.shell.parameters import as_yaml

    lines = [printable(line) for line in as_yaml(value).splitlines()]
    more = len(lines) - _LINES
    return lines if more <= 1 else [*lines[:_LINES], f"… {counted(more, 'more line')}; -o json has all"]
