"""Promote, fold and start patches: plan the changes, check them, then write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError, InputError, UsageError, raise_all
from commodore.base.events import Noted, Warned
from commodore.base.files.workspace import guard_disk, remove_tree, write_atomically
from commodore.fleet.findings import cells_in_words
from commodore.fleet.generating import check_known
from commodore.fleet.patches import covered, gaps, is_complete
from commodore.fleet.promotion.changing import LocatedPatch, Loss, file_at, find_patch, losses, placed_at, shown_path
from commodore.fleet.promotion.folding import Fold, Overrides, fold, loss_errors, value_in_words
from commodore.fleet.promotion.gates import Conditions, check_dependencies, check_gates
from commodore.fleet.promotion.next_place import coalesced, is_foldable, next_prefix
from commodore.fleet.repository.apps import read_fleet
from commodore.fleet.repository.config import Prefix, in_path
from commodore.fleet.repository.model import Fleet, PatchFile


@dataclass(frozen=True, slots=True)
class PromoteOptions:
    """Options of a promotion.

    Attributes:
        level: the dimension whose nodes are places; by default that of the fleet.
        coalesce: replace full places by the place above them.
        fold: fold a patch that is everywhere into the base values.
    """

    level: str | None = None
    coalesce: bool = True
    fold: bool = True


@dataclass(frozen=True, slots=True)
class Coalesced:
    """The JSON record of a place that replaces several places."""

    place: str
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The JSON record of a step.

    Attributes:
        place: the new place of the patch; null if it has none.
        folded: true if the patch is folded into the base values.
        writes, removes: files, relative to the fleet's folder.
        problems: the reasons for which a fold is refused.
        waits: the reason for which nothing is done, if the patch waits.
    """

    patch: str
    place: str | None
    coalesced: Sequence[Coalesced]
    folded: bool
    writes: Sequence[str]
    removes: Sequence[str]
    problems: Sequence[CommodoreError]
    waits: str


@dataclass(frozen=True, slots=True)
class Step:
    """A promotion by one place.

    Attributes:
        place: the new place of the patch; None if it is everywhere already.
        moved: places that now replace others, with the replaced ones.
        kept: places that do not replace others, since a value would be lost, with the losses.
        folded: the fold of the patch, if it is folded.
        after: the fleet afterwards; if a fold is refused, before the fold.
        writes: the files and their new content, in the order of writing; None for files to remove.
        problems: the reasons for which a fold is refused.
        waits: the reason for which nothing is done, if the patch waits.
    """

    located: LocatedPatch
    place: Prefix | None
    moved: tuple[tuple[Prefix, tuple[Prefix, ...]], ...] = ()
    kept: tuple[tuple[Prefix, tuple[Loss, ...]], ...] = ()
    folded: Fold | None = None
    after: LocatedPatch | None = None
    writes: dict[Path, bytes | None] = field(default_factory=dict)
    problems: tuple[CommodoreError, ...] = ()
    waits: str = ""

    def as_plain(self) -> StepRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        root = self.located.fleet.root
        return StepRecord(
            self.located.name,
            in_path(self.place) if self.place else None,
            [Coalesced(in_path(place), [in_path(prefix) for prefix in replaced]) for place, replaced in self.moved],
            self.folded is not None,
            [str(path.relative_to(root)) for path, content in self.writes.items() if content is not None],
            [str(path.relative_to(root)) for path, content in self.writes.items() if content is None],
            self.problems,
            self.waits,
        )


def load_fleet(root: Path, context: Context) -> Fleet:
    """Read a fleet for work on its patches.

    Raises:
        CommodoreError: a file of the fleet is invalid.
    """
    report = Diagnostics()
    fleet = read_fleet(root, report, context.limits)
    report.raise_errors()
    return fleet


def next_step(located: LocatedPatch, options: PromoteOptions) -> Step:
    """Return the next step of a patch without checking gates. Nothing is written.

    Raises:
        InputError: CMD-FLT-071, the patch has skipped cells; 072, its new file exists already.
        UsageError: CMD-FLT-090, the dimension does not exist.
    """
    config = located.fleet.config
    check_known("dimension", [options.level] if options.level else [], config.dimensions)
    depth = config.dimensions.index(options.level) + 1 if options.level else located.fleet.choices.promotion_depth
    skipped = gaps(config, located.patch.prefixes)
    if skipped:
        raise InputError(
            "CMD-FLT-071",
            f"the patch {located.patch.name} of {located.app.name} has skipped "
            f"{cells_in_words([in_path(cell) for cell in skipped])}",
            hint="place it there, or remove what comes after",
        )
    place = next_prefix(config, located.patch.prefixes, depth)
    placements = list(located.patch.placements)
    writes: dict[Path, bytes | None] = {}
    if place is not None:
        source = located.patch.files[-1]
        path = file_at(located, place)
        if path.exists() or path.is_symlink():
            name = path.relative_to(located.fleet.root)
            raise InputError(
                "CMD-FLT-072", f"{name} exists already", hint="remove it, or rename the patch", locations=[str(name)]
            )
        writes[path] = source.layer.document.text
        placements.append(placed_at(located, source, place))
    step = Step(located, place, after=located.with_placements(placements), writes=writes)
    return _finished(step, placements, options)


def _finished(step: Step, placements: list[PatchFile], options: PromoteOptions) -> Step:
    """Complete a step: coalesce full places, and fold a patch that is everywhere."""
    assert step.after is not None
    kept: list[tuple[Prefix, tuple[Loss, ...]]] = []
    current, before = step.after, step.after.values() if options.coalesce else {}

    def allowed(prefix: Prefix, after: Sequence[Prefix]) -> bool:
        nonlocal current
        placed = current.patch.placements
        first = next(file for file in placed if file.prefix and file.prefix[: len(prefix)] == prefix)
        files = [file for file in placed if file.prefix in after]
        moved = current.with_placements([*files, placed_at(step.located, first, prefix)])
        lost = losses(moved, before, moved.values())
        if lost:
            kept.append((prefix, tuple(lost)))
            return False
        current = moved
        return True

    prefixes = [placement.prefix for placement in placements if placement.prefix is not None]
    config = step.located.fleet.config
    moves = coalesced(config, prefixes, allowed) if options.coalesce and prefixes else []
    writes = dict(step.writes)
    there = {file.layer.document.path for file in step.located.patch.files}
    by_prefix = {placement.prefix: placement.layer.document for placement in placements}
    for prefix, below in moves:
        writes[file_at(step.located, prefix)] = by_prefix[below[0]].text
        for replaced in below:
            path = by_prefix[replaced].path
            writes.pop(path, None)  # a file that this step would have added is not written at all
            if path in there:
                writes[path] = None
    everywhere = is_foldable(config, current.patch.prefixes) or (
        options.coalesce and is_complete(config, current.patch)
    )
    done = Step(
        step.located,
        step.place,
        tuple((prefix, tuple(below)) for prefix, below in moves),
        tuple(kept),
        None,
        current,
        writes,
    )
    return _folded(done, current) if options.fold and everywhere else done


def _folded(step: Step, current: LocatedPatch) -> Step:
    done = fold(current, "refuse")
    common = (step.located, step.place, step.moved, step.kept)
    if done.lost:
        return Step(*common, None, current, step.writes, tuple(loss_errors(current, done.lost)))
    new = {path: content for path, content in done.writes.items() if content is not None}
    files = {file.layer.document.path for file in step.located.patch.files}
    return Step(*common, done, done.located, {**new, **dict.fromkeys(sorted(files))})


def warn_of_kept_places(step: Step, context: Context) -> None:
    """Warn of places that a step does not coalesce."""
    for prefix, lost in step.kept:
        for loss in lost:
            context.announce(
                Warned(
                    "CMD-FLT-085",
                    f"{step.located.patch.name} stays below {in_path(prefix)}: moved there, {loss.place} would win at "
                    f"{shown_path(loss.path)} ({value_in_words(loss.before)}, {value_in_words(loss.after)})",
                    "change the override, if that is not meant",
                )
            )


def promote(located: LocatedPatch, options: PromoteOptions, conditions: Conditions, context: Context) -> Step:
    """Promote a patch by one place. The caller locks the workspace and writes the files: see `write_changes`.

    Raises:
        CommodoreError: as `next_step` and `check_gates`. Nothing is changed then.
    """
    step = next_step(located, options)
    if step.place is not None:
        check_gates(located, step.place, conditions, context)
    elif step.writes or step.problems:
        check_dependencies(located, None, conditions, context)
    warn_of_kept_places(step, context)
    return step


def write_changes(writes: dict[Path, bytes | None], root: Path) -> None:
    """Write files, new ones first, so that a killed run leaves the state before or after; remove empty folders.

    Raises:
        EnvironmentFault: a file cannot be written or removed.
    """
    for path, content in writes.items():
        if content is not None:
            write_atomically(path, content, root=root)
    for path, content in writes.items():
        if content is None:
            remove_tree(path, root=root)
            with guard_disk(path):
                folder = path.parent
                while folder != root / "config" and not any(folder.iterdir()):
                    folder.rmdir()
                    folder = folder.parent


def fold_patch(located: LocatedPatch, overrides: Overrides) -> Fold:
    """Fold a patch that is everywhere.

    Raises:
        InputError: CMD-FLT-087, it is not everywhere; 086, values would be lost.
    """
    config = located.fleet.config
    if not is_complete(config, located.patch):
        number = len(covered(config, located.patch.prefixes))
        raise InputError(
            "CMD-FLT-087",
            f"{located.patch.name} of {located.app.name} is active in {number} of {len(config.cells())} cells only",
            hint=f"promote it first: commodore fleet promote {located.words}",
        )
    done = fold(located, overrides)
    refused = tuple(loss for loss in done.lost if overrides != "keep" or loss.wait is not None)
    raise_all(loss_errors(located, refused, updated=overrides == "update"))
    return done


def start_patch(fleet: Fleet, name: str, context: Context) -> dict[Path, bytes | None]:
    """Return the file that places a patch at its first place; nothing, with a note, if it is started already.

    Args:
        name: its name or id, or `TYPE/APP/NAME`.

    Raises:
        InputError: CMD-FLT-070, the patch does not exist.
        UsageError: CMD-FLT-078, several applications have a patch of this name.
    """
    kind, _, rest = name.partition("/")
    app, _, short = rest.partition("/")
    if short:
        chosen = find_patch(fleet, kind, app, short)
    else:
        known = [
            (type_.name, patch)
            for type_ in fleet.types
            for patch in type_.patches
            if name in (patch.name, *(file.id for file in patch.files))
        ]
        if not known:
            there = [f"{type_.name}/{patch.app}/{patch.name}" for type_ in fleet.types for patch in type_.patches]
            raise InputError(
                "CMD-FLT-070",
                f"there is no patch {name} in this fleet",
                hint=f"there are {', '.join(there[:10]) or 'none'}",
            )
        if len(known) > 1:
            full = [f"{type_name}/{patch.app}/{patch.name}" for type_name, patch in known]
            raise UsageError(
                "CMD-FLT-078", f"several applications have a patch {name}", hint=f"name it {' or '.join(full)}"
            )
        chosen = find_patch(fleet, known[0][0], known[0][1].app, known[0][1].name)
    if chosen.patch.placements:
        places = ", ".join(in_path(prefix) for prefix in chosen.patch.prefixes)
        context.announce(Noted(f"The patch {chosen.name} is started already: it is at {places}"))
        return {}
    place = fleet.config.cells()[0]
    return {file_at(chosen, place): chosen.patch.files[0].layer.document.text}
