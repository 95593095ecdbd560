"""Hierarchies for explanations: class files given as texts, merged in the order in which they are given."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commodore.core.inventory import Preview, parse_path
from commodore.core.inventory.explain import Contribution, Explaining, Explanation
from tests.world.context import make_context


def write(inventory: Path, parameters: list[str], target: str = "{}") -> Preview:
    """An inventory whose target `t` includes the classes `c0`, `c1`, ... with these texts under `parameters`."""
    for folder in ("classes", "targets"):
        (inventory / folder).mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(parameters):
        content = "parameters:\n" + textwrap.indent(textwrap.dedent(text).strip("\n"), "  ") + "\n"
        (inventory / "classes" / f"c{number}.yml").write_text(content, encoding="utf-8")
    classes = ", ".join(f"c{number}" for number in range(len(parameters)))
    (inventory / "targets" / "t.yml").write_text(f"classes: [{classes}]\nparameters: {target}\n", encoding="utf-8")
    return Preview(inventory, "t", {}, {})


class Hierarchy:
    """The explanations of a hierarchy that is written by hand."""

    def __init__(self, inventory: Path, *parameters: str, target: str = "{}") -> None:
        self.preview = write(inventory, list(parameters), target)
        self.explaining = Explaining.of(self.preview, make_context())

    def explain(self, path: str) -> Explanation:
        return self.explaining.explain(parse_path(path))

    def summary(self, path: str) -> list[str]:
        """The chain of a parameter in short, see `summary`."""
        return summary(self.explain(path))


def summary(explanation: Explanation) -> list[str]:
    """A chain in short: class:line, key as it is written, effect, and `wins`, `counts` or `-`."""
    return [
        f"{part.source.name}:{part.source.line} {part.key} {part.effect} {_standing(part)}"
        for part in explanation.chain
    ]


def _standing(contribution: Contribution) -> str:
    if contribution.wins:
        return "wins"
    return "counts" if contribution.counts else "-"


def every_path(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all parameters in a rendered hierarchy, maps and lists included."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from every_path(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from every_path(inner, (*path, index))
