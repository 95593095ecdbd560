"""Fold a patch that is everywhere into the base values, so that no cell changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from commodore.base.errors import CommodoreError, InputError
from commodore.base.printable import counted
from commodore.fleet.findings import shown
from commodore.fleet.merging import Path_, copy, leaves, merge, overlap, same
from commodore.fleet.patches import strategies_of
from commodore.fleet.paths import MISSING, Missing, value_at
from commodore.fleet.promotion.changing import LocatedPatch, Loss, losses, shown_path, waits_of
from commodore.fleet.promotion.editing import set_values
from commodore.fleet.repository.model import APPLICATIONS, Layer, Values

Overrides = Literal["refuse", "update", "keep"]


@dataclass(frozen=True, slots=True)
class Fold:
    """The result of folding a patch.

    Attributes:
        located: the fleet afterwards.
        writes: the files and their new content; None for files to remove.
        lost: the values that would change, which is allowed only where overrides are kept.
    """

    located: LocatedPatch
    writes: dict[Path, bytes | None]
    lost: tuple[Loss, ...]


def fold(located: LocatedPatch, overrides: Overrides) -> Fold:
    """Merge a patch into the base values. Nothing is written.

    Raises:
        InputError: CMD-FLT-025, ruamel.yaml is not installed.
    """
    file = located.patch.files[-1]
    strategies = strategies_of(file, located.kind.sections)
    base = _merged(located, located.app.base, strategies)
    changed = (
        {layer: _updated(located, layer, strategies) for layer in _conflicting_overrides(located)}
        if overrides == "update"
        else {}
    )
    after = located.folded(base, changed)
    writes: dict[Path, bytes | None] = {}
    for layer, values in ((located.app.base, base), *changed.items()):
        writes[layer.document.path] = _written(layer, values)
    for placement in located.patch.files:
        writes[placement.layer.document.path] = None
    merged = located.merged()
    before = {cell_values.cell: cell_values.values for cell_values in merged}
    return Fold(after, writes, tuple(losses(located, before, after.values(), waits_of(located, merged))))


def _merged(located: LocatedPatch, base: Layer, strategies: dict[Path_, str]) -> Values:
    """Merge the patch into the base values; a list that it appends to starts with the defaults' items if need be."""
    values: Values = copy(base.values)
    for (section, name), item in _items(located):
        known = values.setdefault(section, {})
        default: Any = {}
        for layer in located.kind.defaults.get(section, ()):
            default = merge(default, layer.values)
        inner = {path: word for path, word in strategies.items() if path[:2] == (section, name)}
        for path in inner:
            beneath = value_at(default, path[2:])
            if isinstance(beneath, list) and isinstance(value_at(known.get(name), path[2:]), Missing):
                known[name] = merge(known.get(name) or {}, _at(path[2:], beneath))
        known[name] = merge(known.get(name), item, inner, (section, name))
    return values


def _at(path: Path_, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def _items(located: LocatedPatch) -> Iterator[tuple[tuple[str, str], Any]]:
    for section, items in located.patch.files[-1].layer.values.items():
        for name, item in items.items():
            yield (section, name), item


def _conflicting_overrides(located: LocatedPatch) -> list[Layer]:
    """Return the overrides that set a value which the patch sets."""
    paths = [path for path, _ in leaves(located.patch.files[-1].layer.values)]
    layers = (*located.app.overrides.values(), *located.app.flat.values())
    return [layer for layer in layers if any(overlap(path, leaf) for path in paths for leaf, _ in leaves(layer.values))]


def _updated(located: LocatedPatch, layer: Layer, strategies: dict[Path_, str]) -> Values:
    """Return an override with the patch's values at the paths that both set."""
    values: Values = copy(layer.values)
    for path, value in leaves(located.patch.files[-1].layer.values):
        if any(overlap(path, leaf) for leaf, _ in leaves(values)):
            values = merge(values, _at(path, value), strategies)
    return values


def _written(layer: Layer, values: Values) -> bytes:
    document = layer.document
    old = dict(leaves(layer.values))
    changes = {path: value for path, value in leaves(values) if not same(old.get(path, MISSING), value)}
    placed = {_in_document(layer, path): value for path, value in changes.items()}
    expected = copy(document.data) or {}
    for path, value in placed.items():
        expected = _set(expected, path, value)
    return set_values(document.text, placed, expected, document.place)


def _in_document(layer: Layer, path: Path_) -> Path_:
    bare = len(path) > 1 and path[0] == APPLICATIONS and path[1] in layer.bare
    return (*layer.head, *(path[1:] if bare else path))


def _set(data: Any, path: Path_, value: Any) -> Any:
    if not path:
        return copy(value)
    data = dict(data) if isinstance(data, dict) else {}
    data[path[0]] = _set(data.get(path[0]), path[1:], value)
    return data


def loss_errors(located: LocatedPatch, lost: tuple[Loss, ...], *, updated: bool = False) -> list[CommodoreError]:
    """Return the errors about values that a fold would change.

    Args:
        updated: overrides have the patch's values already.
    """
    name = f"{located.patch.name} of {located.app.name}"
    keep = f"'commodore fleet fold {located.words} --overrides keep'"
    update = (
        f"write it there, too: 'commodore fleet fold {located.words} --overrides update'; or keep the override: {keep}"
    )
    wait = f"fold the patches first that write the same, or that it depends on; or let the values change: {keep}"
    return [
        InputError(
            "CMD-FLT-086",
            f"folded, {name} would apply in {counted(len(loss.cells), 'cell')} where it "
            f"waits for {loss.wait.lack.awaited}: {shown_path(loss.path)} "
            f"({value_in_words(loss.before)}, {value_in_words(loss.after)})",
            hint="wait until it is met, or remove the dependency from the patch",
            locations=[loss.wait.lack.dependency.location],
        )
        if loss.wait is not None
        else InputError(
            "CMD-FLT-086",
            f"folded, {name} would lose against {loss.place} at {shown_path(loss.path)} "
            f"({value_in_words(loss.before)}, {value_in_words(loss.after)}) in "
            f"{counted(len(loss.cells), 'cell')}",
            hint=update if loss.override and not updated else wait,
            locations=[loss.override.at(loss.path)] if loss.override else [],
        )
        for loss in lost
    ]


def value_in_words(value: object) -> str:
    """Format a value for messages; `nothing` if it is missing."""
    return "nothing" if value is MISSING else shown(value)


def loss_lines(done: Fold) -> Iterator[str]:
    """Yield the changes of a fold in cells as lines for the terminal."""
    for loss in done.lost:
        cells = counted(len(loss.cells), "cell")
        values = f"{value_in_words(loss.before)} → {value_in_words(loss.after)}"
        yield f"{shown_path(loss.path)}: {values} in {cells} ({loss.place})"
