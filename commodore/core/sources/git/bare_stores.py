"""Caches of bare repositories: clones that change in place, and single commits that never do."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from commodore.base.context import Context
from commodore.base.files.file_lock import hold
from commodore.base.files.workspace import guard_disk
from commodore.core.results.caches.entry_store import Store, StoredEntry, entry_of, folders
from commodore.core.sources.git.runner import Git

_COMMIT = re.compile(r"[0-9a-f]{40,64}-([0-9a-f]{40,64})\.git")
_SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "fetch-once"
_HOST_DEPTH = 12  # folders between the root and a clone; longer paths are not searched


class CloneStore(Store):
    """The clones of a shared `RepositoryStore`, outside of working directories. They change in place.

    Args:
        lock_file: a process that fetches into the clones holds this lock.
    """

    staging_prefix = ".new-"

    def __init__(self, name: str, root: Path, context: Context, lock_file: Path) -> None:
        super().__init__(name, root, context.limits)
        self._context = context
        self._lock_file = lock_file

    def entries(self) -> Iterator[StoredEntry]:
        return _clones(self.root)

    def is_sound(self, path: Path) -> bool:
        return _asks_git(path, ["fsck", "--no-progress", "--no-dangling"], self._context)

    def lock(self) -> AbstractContextManager[object]:
        if not self._lock_file.parent.is_dir():
            return nullcontext()
        with guard_disk(self._lock_file):
            return hold(self._lock_file, wait=math.inf)


class CommitStore(Store):
    """Repositories of one commit each, made and used by `scripts/fetch-once`."""

    def __init__(self, name: str, root: Path, context: Context) -> None:
        super().__init__(name, root, context.limits)
        self._context = context

    def place(self, url: str, commit: str) -> Path:
        """Return the folder of a commit; the script names the URL by the object id that git gives a file with it."""
        text = url.encode()
        name = hashlib.sha1(b"blob %d\0%s" % (len(text), text), usedforsecurity=False).hexdigest()
        return self.root / f"{name}-{commit}.git"

    def write_git(self, place: Path, real: str, log: Path, *, offline: bool, exports: Mapping[str, str]) -> None:
        """Write a wrapper of git for kustomize that fetches each commit once.

        Args:
            place: the path of the wrapper, in a folder of this run alone.
            real: the path of git.
            log: receives a line per fetch: URL, ref and commit, separated by tabs.
            offline: refs resolve as the last time, and nothing is fetched.
            exports: variables that the wrapper sets.
        """
        script = place.with_name(_SCRIPT.name)
        shutil.copyfile(_SCRIPT, script)
        network = "offline" if offline else "online"
        words = [str(script), real, str(self.root), str(log), network]
        export = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in exports.items())
        place.write_text(f'#!/bin/sh\n{export}exec /bin/sh {shlex.join(words)} "$@"\n', encoding="utf-8")
        place.chmod(0o700)

    def entries(self) -> Iterator[StoredEntry]:
        for place in folders(self.root):
            if _COMMIT.fullmatch(place.name):
                yield from entry_of(place)

    def is_sound(self, path: Path) -> bool:
        commit = _COMMIT.sub(r"\1", path.name)
        checks = (["fsck", "--no-progress", "--no-dangling"], ["cat-file", "-e", f"{commit}^{{commit}}"])
        return all(_asks_git(path, check, self._context) for check in checks)


def _clones(root: Path, depth: int = 0) -> Iterator[StoredEntry]:
    for place in folders(root):
        if place.name.endswith(".git") and (place / "HEAD").is_file():
            yield from entry_of(place, "FETCH_HEAD", "HEAD", ".")
        elif not place.name.startswith(".") and depth < _HOST_DEPTH:
            yield from _clones(place, depth + 1)


def _asks_git(bare: Path, arguments: list[str], context: Context) -> bool:
    environment = {"GIT_DIR": str(bare)}
    answer = Git(bare, context).run(arguments, check=False, environment=environment)
    return answer.returncode == 0
