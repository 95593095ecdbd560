"""The changes of a commit to its branch: written and removed paths, and kept or overwritten edits of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from commodore.base.errors import InputError, PolicyError
from commodore.base.events import Announce, Warned
from commodore.base.printable import printable
from commodore.core.sources.git import redact
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.edits import Edit, as_text
from commodore.hydrate.branches.files import EXECUTABLE, FILE, Entry
from commodore.hydrate.branches.records import OwnedPaths
from commodore.hydrate.model import CommitRequest, CommitRules, PathCounts, PathOutput

_FEW = 3
"""The number of paths that may be removed without confirmation."""


@dataclass(frozen=True, slots=True)
class Base:
    """The state of the branch that a commit is based on.

    Attributes:
        entries: the files of the parent commit.
        owned: its output paths by owner.
        counts: the differences between requested and existing objects, by output path.
        edits: files that others have changed since they were hydrated.
    """

    entries: Mapping[str, Entry]
    owned: OwnedPaths
    counts: Mapping[str, PathCounts]
    edits: Mapping[str, Edit]


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a commit to its base.

    Attributes:
        paths: the outputs that are written.
        removed: output paths that are removed.
        edited: output paths with kept edits of others, each with the last commit with its files as hydrated.
    """

    paths: tuple[PathOutput, ...]
    removed: tuple[str, ...]
    edited: Mapping[str, str]


def change_of(request: CommitRequest, base: Base, writing: CommitRules, announce: Announce) -> Change:
    """Return the change that brings a branch to the requested state.

    Raises:
        PolicyError: CMD-HYD-007, a path is blocked by a file; CMD-HYD-031, too many paths would be removed;
            CMD-HYD-047, edits of others would be lost.
        InputError: CMD-HYD-022, a path would become empty.
    """
    edits = base.edits
    changed = [path for path in request.paths if _is_changed(path, base, writing, announce)]
    removed = base.owned.stale if writing.removal == "delete" else ()
    lost = {item.path for item in changed} | set(removed)
    # An edited manifest that equals the rendered one does not conflict. A README has no such comparison.
    lost |= {path.path for path in request.paths if path.path in edits and not edits[path.path].is_of_manifest}
    lost &= edits.keys()
    rendered = {path.path for path in request.paths}
    edited = {path: edit.base for path, edit in edits.items() if path not in rendered}
    if lost:
        _judge_edits({path: edits[path] for path in sorted(lost)}, request, writing, announce)
        if writing.edited == "keep":
            edited |= {path: edits[path].base for path in lost}
            changed = [item for item in changed if item.path not in lost]
            removed = tuple(path for path in removed if path not in lost)
        else:
            lost |= {item.path for item in changed}
            changed = [path for path in request.paths if path.path in lost]
    if removed:
        _check_removal(base.owned, removed, request, writing)
    return Change(tuple(changed), tuple(removed), {path: edited[path] for path in edited if path not in removed})


def _is_changed(output: PathOutput, base: Base, writing: CommitRules, announce: Announce) -> bool:
    counts = base.counts[output.path]
    _check_free(output.path, base.entries)
    if not output.objects:
        _check_empty(output.path, counts, writing, announce)
    missing = not all(f"{output.path}/{name}" in base.entries for name in layout.FILES)
    if writing.rewrite or missing or output.path in writing.adopt:
        return True
    dropped = set(base.owned.ours.get(output.path, ())) - set(layout.FILES)
    return bool(dropped) or counts.differs


def _check_free(path: str, entries: Mapping[str, Entry]) -> None:
    folders = [path, *(str(parent) for parent in PurePosixPath(path).parents if str(parent) != ".")]
    blocked = [folder for folder in folders if folder in entries]
    files = [f"{path}/{name}" for name in layout.FILES] + [layout.METADATA, layout.ATTRIBUTES]
    blocked += [file for file in files if file in entries and entries[file].mode not in (FILE, EXECUTABLE)]
    blocked += [file for file in files if any(other.startswith(f"{file}/") for other in entries)]
    if blocked:
        raise PolicyError(
            "CMD-HYD-007",
            f"{printable(blocked[0])} blocks the output path {printable(path)}",
            hint="it is a link, a submodule, a file or a folder of others; remove it, or hydrate to another path",
        )


def _check_empty(path: str, counts: PathCounts, writing: CommitRules, announce: Announce) -> None:
    if counts.removed and not writing.allow_empty:
        raise InputError(
            "CMD-HYD-022",
            f"nothing is rendered for {path} any more, which had objects before",
            hint="check the source; if this is intended, add --allow-empty",
        )
    announce(Warned("CMD-HYD-021", f"nothing is rendered for {path}", hint="check the source"))


def _judge_edits(lost: Mapping[str, Edit], request: CommitRequest, writing: CommitRules, announce: Announce) -> None:
    """Refuse to overwrite edits of others, or announce how they are handled."""
    shown = as_text(lost)
    branch = f"{request.branch} of {redact(request.url)}"
    if writing.edited == "refuse":
        raise PolicyError(
            "CMD-HYD-047",
            f"others have edited what is hydrated to the branch {branch}: {shown}",
            hint="move the edits to the sources, then add --edited overwrite, or add --edited keep to leave them",
        )
    if writing.edited == "keep":
        announce(kept_warning(lost, branch))
    else:
        announce(
            Warned(
                "CMD-HYD-032",
                f"--edited overwrite overwrites edits of others on the branch {branch}: {shown}",
                hint="the edits are in the history of the branch; change the sources, not the rendered manifests",
            )
        )


def _check_removal(owned: OwnedPaths, removed: Sequence[str], request: CommitRequest, writing: CommitRules) -> None:
    """Refuse to remove most of a branch at once, or all of an abandoned branch."""
    gone = len(removed)
    is_little = bool(request.scope.written) and (gone <= _FEW or gone * 2 <= len(owned.ours))
    if writing.allow_mass_removal or is_little:
        return
    raise PolicyError(
        "CMD-HYD-031",
        f"{gone} of {len(owned.ours)} output paths of the branch {request.branch} of {redact(request.url)} would be"
        " removed",
        hint="check that all Applications are included; if this is intended, add --allow-mass-removal",
    )


def warn_of_paths(owned: OwnedPaths, request: CommitRequest, writing: CommitRules, announce: Announce) -> None:
    """Warn about output paths that are stale or were hydrated by another program."""
    branch = f"{request.branch} of {redact(request.url)}"
    if owned.stale and writing.removal == "report":
        announce(stale_warning(owned.stale, branch))
    foreign = [path for path in owned.foreign if path in {item.path for item in request.paths}]
    if foreign and writing.removal != "keep":
        announce(
            Warned(
                "CMD-HYD-034",
                f"another program has hydrated {', '.join(foreign)} of the branch {branch}",
                hint=f"add {' '.join(f'--adopt {path}' for path in foreign)} to take over its files",
            )
        )


def stale_warning(paths: Iterable[str], branch: str) -> Warned:
    """Return the warning about output paths that no Application writes any more."""
    return Warned(
        "CMD-HYD-030",
        f"no Application writes any more to {', '.join(paths)} of the branch {branch}",
        hint="add --removed delete to remove what was written there, or --removed keep to keep it silently",
    )


def kept_warning(edits: Mapping[str, Edit], branch: str) -> Warned:
    """Return the warning about kept edits of others."""
    return Warned(
        "CMD-HYD-048",
        f"edits of others are kept on the branch {branch}, which differs from its sources: {as_text(edits)}",
        hint="move them to the sources, then run with --edited overwrite",
    )
