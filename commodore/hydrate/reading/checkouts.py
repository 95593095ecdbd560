"""Uncommitted edits in checkouts that Applications are read from: a run hydrates only pushed commits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from commodore.argocd import remotes_of
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Warned
from commodore.core.sources.git import Git, find_root, repository_key
from commodore.hydrate.model import Group

_SHA_1 = 40  # digits
_SHOWN = 5
"""The maximum number of names in a warning."""


def warn_of_edits(places: Iterable[Path], groups: Iterable[Group], context: Context) -> None:
    """Warn about uncommitted files in the folders of Applications, in the checkouts that these are read from.

    Args:
        places: the files and folders that Applications are read from.
        groups: the hydrated groups.
    """
    dry: dict[str, set[str]] = {}
    for group in groups:
        dry.setdefault(group.dry_key, set()).update(member.dry_path for member in group.members)
    for root in sorted(set(_roots(places, context))):
        paths = {path for url in remotes_of(root, context) for path in dry.get(_key(url), ())}
        names = sorted(_Checkout(root, context).edits(sorted(paths))) if paths else []
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            context.announce(
                Warned(
                    "CMD-HYD-055",
                    f"{root} has edits that are not committed, and not hydrated: {', '.join(names[:_SHOWN])}{more}",
                    hint="commit and push them; run --dry-run --repo-map URL=FOLDER shows what they would change",
                )
            )


def _roots(places: Iterable[Path], context: Context) -> Iterator[Path]:
    for place in places:
        folder = place if place.is_dir() else place.parent
        root = find_root(folder, context) if folder.is_dir() else None
        if root is not None:
            yield root


def _key(url: str) -> str:
    try:
        return repository_key(url)
    except CommodoreError:
        return ""


@dataclass(frozen=True, slots=True)
class _Checkout:
    """An untrusted checkout: commands that run its configured filters are avoided."""

    root: Path
    context: Context

    def edits(self, paths: list[str]) -> set[str]:
        """Return the names of files below folders that differ from HEAD, or are new and not ignored."""
        places = [f":(literal){path.strip('/') or '.'}" for path in paths]
        changed = [name for name, sha in self._committed(places) if not self._is_same(name, sha)]
        new = self._git("ls-files", "--others", "--exclude-standard", "-z", "--", *places).split("\0")
        return {name for name in (*self._without_filters(changed), *new) if name}

    def _committed(self, places: list[str]) -> Iterator[tuple[str, str]]:
        """Return the regular files of HEAD below folders with their ids."""
        for entry in self._git("ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *places).split("\0"):
            kind, _, name = entry.partition("\t")
            mode, _, rest = kind.partition(" ")
            if mode in ("100644", "100755"):
                yield name, rest.partition(" ")[2]

    def _is_same(self, name: str, sha: str) -> bool:
        path = self.root / name
        try:
            if path.is_symlink() or not path.is_file():
                return False
            content = path.read_bytes()
        except OSError:
            return True  # cannot be compared
        return sha in (_blob_id(content, sha), _blob_id(content.replace(b"\r\n", b"\n"), sha))

    def _without_filters(self, names: list[str]) -> Iterator[str]:
        """Return the files that git checks out unfiltered."""
        if not names:
            return
        listed = "".join(f"{name}\0" for name in names)
        said = self._git("check-attr", "-z", "--stdin", "filter", input=listed).split("\0")
        filtered = {name for name, value in zip(said[::3], said[2::3], strict=False) if value != "unspecified"}
        yield from (name for name in names if name not in filtered)

    def _git(self, *arguments: str, input: str = "") -> str:
        given = input.encode("utf-8", "surrogateescape")
        answer = Git(self.root, self.context).run(arguments, check=False, input=given)
        return answer.stdout.decode("utf-8", "surrogateescape") if answer.returncode == 0 else ""


def _blob_id(content: bytes, like: str) -> str:
    """Return git's id of a content, with the hash algorithm of another id."""
    made = hashlib.sha1(usedforsecurity=False) if len(like) == _SHA_1 else hashlib.sha256()
    made.update(b"blob %d\0" % len(content))
    made.update(content)
    return made.hexdigest()
