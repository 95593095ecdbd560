"""Parameters and their differences, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commodore.base.printable import printable_lines
from commodore.cli.shell.console import Console, paint

if TYPE_CHECKING:
    from commodore.core.inventory import ParameterDifference


@dataclass(frozen=True, slots=True)
class ParameterDifferences:
    """The parameters that differ between two clusters."""

    differences: Sequence[ParameterDifference]


def show_parameters(value: Any, output: str, console: Console, *, whole: bool) -> None:
    """Write parameters to standard output, as `json`, `yaml` or `text`.

    Args:
        whole: they are all, or a whole section: YAML is then followed by an empty line.
    """
    if output == "json":
        console.data(json.dumps(value))
    elif output == "text" and isinstance(value, str):
        console.result(printable_lines(value), newline=not value.endswith("\n"))
    else:
        console.data(as_yaml(value), newline=whole)


def show_differences(
    differences: Sequence[ParameterDifference], names: tuple[str, str], output: str, console: Console
) -> None:
    """Write differences to standard output, as `json`, `yaml` or `text`.

    Args:
        names: what the two sides are called.
    """
    from commodore.core.inventory import render_difference

    if output != "text":
        console.document("inventory-show-diff", ParameterDifferences(differences), form=output)
        return
    if differences:
        for line in paint((("header", f"--- {names[0]}"), ("header", f"+++ {names[1]}"))):
            console.result(line)
    for item in differences:
        for line in paint((line.style, line.text) for line in render_difference(item)):
            console.result(line)


def as_yaml(value: Any) -> str:
    """A value as YAML, in PyYAML's own style; a lone scalar on a line of its own."""
    from commodore.base.yaml import dump_flush

    text = dump_flush(value)
    return text if isinstance(value, (dict, list)) else text.removesuffix("...\n")
