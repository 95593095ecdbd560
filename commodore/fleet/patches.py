"""Placements of patches: the covered cells, the skipped ones, and differences between copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, InputError
from commodore.base.events import Warned
from commodore.fleet.findings import cells_in_words, dotted
from commodore.fleet.merging import Path_, leaves, same
from commodore.fleet.paths import map_path, strategy_path, value_at
from commodore.fleet.repository.config import FleetConfig, Prefix, covers, in_path
from commodore.fleet.repository.model import App, Fleet, Patch, PatchFile


def covered(config: FleetConfig, prefixes: Iterable[Prefix]) -> tuple[Prefix, ...]:
    """Return the cells below any of these prefixes, in order."""
    chosen = tuple(prefixes)
    return tuple(cell for cell in config.cells() if any(covers(prefix, cell) for prefix in chosen))


def gaps(config: FleetConfig, prefixes: Sequence[Prefix]) -> tuple[Prefix, ...]:
    """Return the cells before the last of these prefixes that are not covered."""
    if not prefixes:
        return ()
    order = config.prefixes()
    last = max(order.index(prefix) for prefix in prefixes)
    reached = set(covered(config, prefixes))
    return tuple(prefix for prefix in order[:last] if len(prefix) == config.depth and prefix not in reached)


def is_complete(config: FleetConfig, patch: Patch) -> bool:
    """Return True if the patch is active in every cell."""
    return len(covered(config, patch.prefixes)) == len(config.cells())


def active(patch: Patch, cell: Prefix) -> tuple[PatchFile, ...]:
    """Return the placements that cover a cell, outermost first."""
    return tuple(file for file in patch.placements if file.prefix is not None and covers(file.prefix, cell))


def strategies_of(file: PatchFile, sections: Sequence[str]) -> dict[Path_, str]:
    """Return the strategies of a patch by path in values, with the keys of the patch."""
    said: Mapping[str, str] = file.metadata.get("merge_strategy") or {}
    paths = ((strategy_path(path, sections), word) for path, word in said.items())
    return {map_path(file.layer.values, path) or path: word for path, word in paths}


def differing_paths(first: PatchFile, second: PatchFile, sections: Sequence[str]) -> list[str]:
    """Return the differing paths of two copies, ignoring description, id and the notation of paths."""
    ours, theirs = (_comparable(file, sections) for file in (first, second))
    left, right = dict(leaves(ours)), dict(leaves(theirs))
    paths = dict.fromkeys((*left, *right))
    return [dotted(path) for path in paths if not same(left.get(path, _NOTHING), right.get(path, _NOTHING))]


_NOTHING = object()


def _comparable(file: PatchFile, sections: Sequence[str]) -> dict[str, Any]:
    metadata = {key: part for key, part in file.metadata.items() if key not in ("description", "id")}
    metadata["merge_strategy"] = {dotted(path): word for path, word in strategies_of(file, sections).items()}
    needs = metadata.get("dependencies") or []
    metadata["dependencies"] = [
        _plain_paths(need, sections) if isinstance(need, dict) else need
        for need in (needs if isinstance(needs, list) else [{path: value} for path, value in needs.items()])
    ]
    return {"metadata": metadata, **file.layer.values}


def _plain_paths(needs: Mapping[object, Any], sections: Sequence[str]) -> dict[str, Any]:
    texts = ((str(path), value) for path, value in needs.items())
    return {path if path.startswith("$") else dotted(strategy_path(path, sections)): value for path, value in texts}


def copies_differ(patch: Patch, sections: Sequence[str]) -> tuple[PatchFile, PatchFile, list[str]] | None:
    """Return the first two differing copies, with the paths."""
    first = patch.files[0]
    for other in patch.files[1:]:
        if paths := differing_paths(first, other, sections):
            return first, other, paths
    return None


def check_patches(fleet: Fleet, report: Diagnostics) -> None:
    """Check each patch by itself: strategies, copies, gaps, nested placements."""
    for kind in fleet.types:
        for app in kind.apps:
            for patch in app.patches:
                report.add(*_wrong_strategies(patch, kind.sections), *_state(fleet.config, app, patch))
                if difference := copies_differ(patch, kind.sections):
                    first, other, paths = difference
                    message = f"copies of {patch.name} differ: {first.place} and {other.place} at {', '.join(paths)}"
                    report.add(Warned("CMD-FLT-032", message, "make them equal"))


def _wrong_strategies(patch: Patch, sections: Sequence[str]) -> Iterator[CommodoreError]:
    for file in patch.files:
        for path in file.metadata.get("merge_strategy") or {}:
            reached = map_path(file.layer.values, strategy_path(path, sections))
            if reached is None or not isinstance(value_at(file.layer.values, reached), list):
                yield InputError(
                    "CMD-FLT-034",
                    f"{file.place}: there is a strategy for {path}, where the patch has no list",
                    hint="name the path of a list that lies in no other list, beginning with the application",
                    locations=[file.layer.document.at(("metadata", "merge_strategy", path))],
                )


def _state(config: FleetConfig, app: App, patch: Patch) -> Iterator[CommodoreError | Warned | Diagnostic]:
    where = f"{app.type} {app.name} {patch.name}"
    if not patch.placements:
        yield Diagnostic(
            "CMD-FLT-042",
            f"the patch {patch.name} of {app.type}/{app.name} is not started",
            "info",
            f"start it with 'commodore fleet promote {where}', or 'commodore fleet generate --apply-patch'",
        )
    for number, inner in enumerate(patch.placements):
        outer = next(
            (
                candidate
                for candidate in patch.placements[:number]
                if covers(candidate.prefix or (), inner.prefix or ())
            ),
            None,
        )
        if outer is not None:
            message = f"the placement {inner.place} is covered by {outer.place}"
            yield Diagnostic("CMD-FLT-039", message, "info", "remove it")
    if skipped := gaps(config, patch.prefixes):
        last = in_path(patch.prefixes[-1])
        left = cells_in_words([in_path(cell) for cell in skipped])
        yield Warned(
            "CMD-FLT-038",
            f"the patch {patch.name} of {app.type}/{app.name} is at {last}, but not in {left}",
            "place it there, too",
        )
