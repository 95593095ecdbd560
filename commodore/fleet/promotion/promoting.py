"""Promoting, folding and starting patches: work out what to write, judge it, then write."""

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
    """How a patch is promoted.

    Attributes:
        level: the dimension whose nodes are places; by default that of the fleet.
        coalesce, fold: whether places that are full become one, and a patch that is everywhere becomes base values.
    """

    level: str | None = None
    coalesce: bool = True
    fold: bool = True


@dataclass(frozen=True, slots=True)
class Coalesced:
    """A place that stands for several places."""

    place: str
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step as documents for machines show it.

    Attributes:
        place: where the patch goes; null if it goes nowhere.
        folded: whether it is put into the base values.
        writes, removes: files, relative to the fleet's folder.
        problems: why a fold is not made.
        waits: for what the patch waits, if nothing is done for that.
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
    """What one promotion does.

    Attributes:
        place: where the patch goes; None if it is everywhere already.
        moved: places that stand for others now, with those.
        kept: what was left as it is, since a value would be lost: the place, and the losses.
        folded: how it becomes base values, if it does.
        after: the fleet afterwards; of a fold that is refused, before it.
        writes: files with their new content, in their order; None for those that go.
        problems: why a fold is not made.
        waits: for what the patch waits, if nothing is done for that.
    """

    found: LocatedPatch
    place: Prefix | None
    moved: tuple[tuple[Prefix, tuple[Prefix, ...]], ...] = ()
    kept: tuple[tuple[Prefix, tuple[Loss, ...]], ...] = ()
    folded: Fold | None = None
    after: LocatedPatch | None = None
    writes: dict[Path, bytes | None] = field(default_factory=dict)
    problems: tuple[CommodoreError, ...] = ()
    waits: str = ""

    def as_plain(self) -> StepRecord:
        """The step for machines; see `commodore.base.documents.plain`."""
        root = self.found.fleet.root
        return StepRecord(
            self.found.name,
            in_path(self.place) if self.place else None,
            [Coalesced(in_path(to), [in_path(one) for one in those]) for to, those in self.moved],
            self.folded is not None,
            [str(path.relative_to(root)) for path, content in self.writes.items() if content is not None],
            [str(path.relative_to(root)) for path, content in self.writes.items() if content is None],
            self.problems,
            self.waits,
        )


def load_fleet(root: Path, context: Context) -> Fleet:
    """Read a fleet for work on its patches.

    Raises:
        CommodoreError: what is wrong with its files.
    """
    report = Diagnostics()
    fleet = read_fleet(root, report, context.limits)
    report.raise_errors()
    return fleet


def next_step(found: LocatedPatch, options: PromoteOptions) -> Step:
    """What a promotion would do, gates aside. Nothing is written.

    Raises:
        InputError: CMD-FLT-071, the patch has skipped cells; 072, a file is there already.
        UsageError: CMD-FLT-090, there is no such dimension.
    """
    config = found.fleet.config
    check_known("dimension", [options.level] if options.level else [], config.dimensions)
    depth = config.dimensions.index(options.level) + 1 if options.level else found.fleet.choices.promotion_depth
    skipped = gaps(config, found.patch.prefixes)
    if skipped:
        raise InputError(
            "CMD-FLT-071",
            f"the patch {found.patch.name} of {found.app.name} has skipped "
            f"{cells_in_words([in_path(one) for one in skipped])}",
            hint="place it there, or remove what comes after",
        )
    place = next_prefix(config, found.patch.prefixes, depth)
    placements = list(found.patch.placements)
    writes: dict[Path, bytes | None] = {}
    if place is not None:
        source = found.patch.files[-1]
        path = file_at(found, place)
        if path.exists() or path.is_symlink():
            name = path.relative_to(found.fleet.root)
            raise InputError(
                "CMD-FLT-072", f"{name} is there already", hint="remove it, or rename the patch", locations=[str(name)]
            )
        writes[path] = source.layer.document.text
        placements.append(placed_at(found, source, place))
    step = Step(found, place, after=found.with_placements(placements), writes=writes)
    return _finished(step, placements, options)


def _finished(step: Step, placements: list[PatchFile], options: PromoteOptions) -> Step:
    """A step with what follows from it: full places become one, a patch that is everywhere becomes base values."""
    assert step.after is not None
    kept: list[tuple[Prefix, tuple[Loss, ...]]] = []
    current, before = step.after, step.after.values() if options.coalesce else {}

    def allowed(prefix: Prefix, after: Sequence[Prefix]) -> bool:
        nonlocal current
        first = next(one for one in current.patch.placements if one.prefix and one.prefix[: len(prefix)] == prefix)
        files = [one for one in current.patch.placements if one.prefix in after]
        moved = current.with_placements([*files, placed_at(step.found, first, prefix)])
        lost = losses(moved, before, moved.values())
        if lost:
            kept.append((prefix, tuple(lost)))
            return False
        current = moved
        return True

    prefixes = [one.prefix for one in placements if one.prefix is not None]
    config = step.found.fleet.config
    moves = coalesced(config, prefixes, allowed) if options.coalesce and prefixes else []
    writes = dict(step.writes)
    there = {one.layer.document.path for one in step.found.patch.files}
    by_prefix = {one.prefix: one.layer.document for one in placements}
    for prefix, below in moves:
        writes[file_at(step.found, prefix)] = by_prefix[below[0]].text
        for one in below:
            writes.pop(by_prefix[one].path, None)
            if by_prefix[one].path in there:
                writes[by_prefix[one].path] = None
    everywhere = is_foldable(config, current.patch.prefixes) or (
        options.coalesce and is_complete(config, current.patch)
    )
    done = Step(
        step.found,
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
    common = (step.found, step.place, step.moved, step.kept)
    if done.lost:
        return Step(*common, None, current, step.writes, tuple(loss_errors(current, done.lost)))
    new = {path: content for path, content in done.writes.items() if content is not None}
    files = {one.layer.document.path for one in step.found.patch.files}
    return Step(*common, done, done.found, {**new, **dict.fromkeys(sorted(files))})


def tell(step: Step, context: Context) -> None:
    """Announce what a step leaves as it is."""
    for prefix, lost in step.kept:
        for one in lost:
            context.announce(
                Warned(
                    "CMD-FLT-085",
                    f"{step.found.patch.name} stays below {in_path(prefix)}: moved there, {one.place} would win at "
                    f"{shown_path(one.path)} ({value_in_words(one.before)}, {value_in_words(one.after)})",
                    "change the override, if that is not meant",
                )
            )


def promote(found: LocatedPatch, options: PromoteOptions, conditions: Conditions, context: Context) -> Step:
    """Let a patch go on by one place. The caller holds the workspace and writes: see `write_changes`.

    Raises:
        CommodoreError: as `next_step`; what gates refuse. Nothing is changed then.
    """
    step = next_step(found, options)
    if step.place is not None:
        check_gates(found, step.place, conditions, context)
    elif step.writes or step.problems:
        check_dependencies(found, None, conditions, context)
    tell(step, context)
    return step


def write_changes(writes: dict[Path, bytes | None], root: Path) -> None:
    """Write files, new ones first, so that a killed run leaves the state before or after; remove empty folders.

    Raises:
        EnvironmentFault: the operating system refused.
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


def fold_patch(found: LocatedPatch, overrides: Overrides) -> Fold:
    """Fold a patch that is everywhere.

    Raises:
        InputError: CMD-FLT-087, it is not everywhere; 086, values would be lost.
    """
    config = found.fleet.config
    if not is_complete(config, found.patch):
        number = len(covered(config, found.patch.prefixes))
        raise InputError(
            "CMD-FLT-087",
            f"{found.patch.name} of {found.app.name} is active in {number} of {len(config.cells())} cells only",
            hint=f"promote it first: commodore fleet promote {found.words}",
        )
    done = fold(found, overrides)
    refused = tuple(one for one in done.lost if overrides != "keep" or one.wait is not None)
    raise_all(loss_errors(found, refused, updated=overrides == "update"))
    return done


def start_patch(fleet: Fleet, name: str, context: Context) -> dict[Path, bytes | None]:
    """What places a patch that is not started at its first place; nothing, with a note, for one that is.

    Args:
        name: its name or id, or `TYPE/APP/NAME`.

    Raises:
        InputError: CMD-FLT-070, there is none.
        UsageError: CMD-FLT-078, several applications have it.
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
            there = [f"{type_.name}/{one.app}/{one.name}" for type_ in fleet.types for one in type_.patches]
            raise InputError(
                "CMD-FLT-070",
                f"there is no patch {name} in this fleet",
                hint=f"there are {', '.join(there[:10]) or 'none'}",
            )
        if len(known) > 1:
            full = [f"{one}/{patch.app}/{patch.name}" for one, patch in known]
            raise UsageError(
                "CMD-FLT-078", f"several applications have a patch {name}", hint=f"say {' or '.join(full)}"
            )
        chosen = find_patch(fleet, known[0][0], known[0][1].app, known[0][1].name)
    if chosen.patch.placements:
        places = ", ".join(in_path(prefix) for prefix in chosen.patch.prefixes)
        context.announce(Noted(f"The patch {chosen.name} is started already: it is at {places}"))
        return {}
    place = fleet.config.cells()[0]
    return {file_at(chosen, place): chosen.patch.files[0].layer.document.text}
