"""Putting a patch that is everywhere into the base values, so that no cell changes."""

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
    """How a patch is folded.

    Attributes:
        found: the fleet afterwards.
        writes: files with their new content; None for those that go.
        lost: the values that would be others, which is allowed only where overrides are kept.
    """

    found: LocatedPatch
    writes: dict[Path, bytes | None]
    lost: tuple[Loss, ...]


def fold(found: LocatedPatch, overrides: Overrides) -> Fold:
    """Work out how a patch goes into the base values. Nothing is written.

    Raises:
        InputError: CMD-FLT-025, what keeps comments is not installed.
    """
    file = found.patch.files[-1]
    strategies = strategies_of(file, found.kind.sections)
    base = _merged(found, found.app.base, strategies)
    changed = {layer: _updated(found, layer, strategies) for layer in _contrary(found)} if overrides == "update" else {}
    after = found.folded(base, changed)
    writes: dict[Path, bytes | None] = {}
    for layer, values in ((found.app.base, base), *changed.items()):
        writes[layer.document.path] = _written(layer, values)
    for one in found.patch.files:
        writes[one.layer.document.path] = None
    merged = found.merged()
    before = {one.cell: one.values for one in merged}
    return Fold(after, writes, tuple(losses(found, before, after.values(), waits_of(found, merged))))


def _merged(found: LocatedPatch, base: Layer, strategies: dict[Path_, str]) -> Values:
    """Base values with the patch upon them; a list that is appended to goes on from the defaults if need be."""
    values: Values = copy(base.values)
    for (section, name), item in _items(found):
        known = values.setdefault(section, {})
        default: Any = {}
        for layer in found.kind.defaults.get(section, ()):
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


def _items(found: LocatedPatch) -> Iterator[tuple[tuple[str, str], Any]]:
    for section, items in found.patch.files[-1].layer.values.items():
        for name, item in items.items():
            yield (section, name), item


def _contrary(found: LocatedPatch) -> list[Layer]:
    """The overrides that write what the patch writes."""
    paths = [path for path, _ in leaves(found.patch.files[-1].layer.values)]
    layers = (*found.app.overrides.values(), *found.app.flat.values())
    return [one for one in layers if any(overlap(path, leaf) for path in paths for leaf, _ in leaves(one.values))]


def _updated(found: LocatedPatch, layer: Layer, strategies: dict[Path_, str]) -> Values:
    """An override with the patch's values where it writes the same."""
    values: Values = copy(layer.values)
    for path, value in leaves(found.patch.files[-1].layer.values):
        if any(overlap(path, leaf) for leaf, _ in leaves(values)):
            values = merge(values, _at(path, value), strategies)
    return values


def _written(layer: Layer, values: Values) -> bytes:
    document = layer.document
    old = dict(leaves(layer.values))
    changes = {path: value for path, value in leaves(values) if not same(old.get(path, MISSING), value)}
    placed = {_in_document(layer, path): value for path, value in changes.items()}
    wanted = copy(document.data) or {}
    for path, value in placed.items():
        wanted = _set(wanted, path, value)
    return set_values(document.text, placed, wanted, document.place)


def _in_document(layer: Layer, path: Path_) -> Path_:
    bare = len(path) > 1 and path[0] == APPLICATIONS and path[1] in layer.bare
    return (*layer.head, *(path[1:] if bare else path))


def _set(data: Any, path: Path_, value: Any) -> Any:
    if not path:
        return copy(value)
    data = dict(data) if isinstance(data, dict) else {}
    data[path[0]] = _set(data.get(path[0]), path[1:], value)
    return data


def loss_errors(found: LocatedPatch, lost: tuple[Loss, ...], *, updated: bool = False) -> list[CommodoreError]:
    """The errors about values that a fold would change.

    Args:
        updated: whether overrides have the patch's values already.
    """
    keep = f"'commodore fleet fold {found.words} --overrides keep'"
    update = (
        f"write it there, too: 'commodore fleet fold {found.words} --overrides update'; or let that win again: {keep}"
    )
    wait = f"fold the patches first that write the same, or that it depends on; or let the values change: {keep}"
    return [
        InputError(
            "CMD-FLT-086",
            f"folded, {found.patch.name} of {found.app.name} would apply in {counted(len(one.cells), 'cell')} where it "
            f"waits for {one.wait.lack.awaited}: {shown_path(one.path)} "
            f"({value_in_words(one.before)}, {value_in_words(one.after)})",
            hint="let that be met first, or remove the dependency from the patch",
            locations=[one.wait.lack.dependency.location],
        )
        if one.wait is not None
        else InputError(
            "CMD-FLT-086",
            f"folded, {found.patch.name} of {found.app.name} would lose against {one.place} at {shown_path(one.path)} "
            f"({value_in_words(one.before)}, {value_in_words(one.after)}) in "
            f"{counted(len(one.cells), 'cell')}",
            hint=update if one.override and not updated else wait,
            locations=[one.override.at(one.path)] if one.override else [],
        )
        for one in lost
    ]


def value_in_words(value: object) -> str:
    """A value, or that there is none."""
    return "nothing" if value is MISSING else shown(value)


def loss_lines(done: Fold) -> Iterator[str]:
    """What a fold changes in cells, for people."""
    for one in done.lost:
        cells = counted(len(one.cells), "cell")
        values = f"{value_in_words(one.before)} → {value_in_words(one.after)}"
        yield f"{shown_path(one.path)}: {values} in {cells} ({one.place})"
