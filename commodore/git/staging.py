"""The index of a clone: stage everything, and read what changed against HEAD."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from commodore.context import Context
from commodore.errors import EnvironmentFault, PolicyError
from commodore.git.runner import Git
from commodore.git.urls import shown

# Only the repository's own ignore rules count; a user's global ones would change what is published.
_SETTINGS = ("core.excludesFile=/dev/null", "core.safecrlf=false")
_RENAME_LIMIT = 1000  # files compared for renames; above it git finds exact renames only


@dataclass(frozen=True, slots=True)
class RawChange:
    """One changed path of the index.

    Attributes:
        status: `A` added, `C` copied, `D` deleted, `M` modified, `R` renamed, `T` type changed.
        similarity: per cent, of copies and renames; else None.
        old_path, new_path: relative to the root; None on the side that does not exist.
        old_blob, new_blob: object ids; None on the side that does not exist.
        old_mode, new_mode: like `100644`; None on the side that does not exist.
    """

    status: str
    similarity: int | None
    old_path: str | None
    new_path: str | None
    old_blob: str | None
    new_blob: str | None
    old_mode: str | None
    new_mode: str | None


def stage_all(folder: Path, context: Context) -> None:
    """Stage additions (but ignored files), modifications and deletions of the whole working copy.

    Raises:
        PolicyError: a merge in it is unfinished; names the first path.
    """
    arguments = ["ls-files", "--unmerged", "-z"]
    unmerged = Git(folder, context).run(arguments).text
    if unmerged:
        path = unmerged.split("\0")[0].partition("\t")[2]
        raise PolicyError(
            "CMD-GIT-052",
            f"{folder} has an unfinished merge: '{shown(path)}' is in conflict",
            hint="finish or abort the merge, then run again",
            locations=[str(folder)],
        )
    Git(folder, context).run(["add", "--all", "--", "."], settings=_SETTINGS)


def staged_changes(folder: Path, context: Context) -> list[RawChange]:
    """What the index has changed against HEAD (or nothing at all, before the first commit), sorted by path.

    Renames are found at git's default similarity of 50 %.
    """
    arguments = ["diff", "--cached", "--raw", "-z", "--no-abbrev", "--find-renames=50%", f"-l{_RENAME_LIMIT}"]
    arguments += ["--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--no-relative"]
    fields = iter(Git(folder, context).run(arguments).text.split("\0"))
    changes = []
    for header in fields:
        if not header:
            continue
        old_mode, new_mode, old_blob, new_blob, status = header.removeprefix(":").split(" ")
        old_path = next(fields)
        new_path = next(fields) if status[0] in "RC" else old_path
        old, new = status[0] != "A", status[0] != "D"
        changes.append(
            RawChange(
                status[0],
                int(status[1:]) if status[1:] else None,
                old_path if old else None,
                new_path if new else None,
                old_blob if old else None,
                new_blob if new else None,
                old_mode if old else None,
                new_mode if new else None,
            )
        )
    return sorted(changes, key=lambda change: (change.new_path or change.old_path or "", change.status))


def read_blobs(folder: Path, ids: Iterable[str], context: Context) -> dict[str, bytes]:
    """The contents of objects by id, all read by one git process.

    Raises:
        EnvironmentFault: one of them is not there.
    """
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    text = "".join(f"{name}\n" for name in wanted)
    answer = Git(folder, context).run(["cat-file", "--batch"], input=text.encode()).stdout
    blobs: dict[str, bytes] = {}
    place = 0
    for name in wanted:
        end = answer.index(b"\n", place)
        header = answer[place:end].decode().split(" ")
        if len(header) != 3:
            raise EnvironmentFault(
                "CMD-GIT-055",
                f"the object {shown(name)} is missing in {folder}",
                hint="remove the folder, so that it is cloned again",
            )
        size = int(header[2])
        blobs[name] = answer[end + 1 : end + 1 + size]
        place = end + 1 + size + 1
    return blobs
