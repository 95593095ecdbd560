"""Repositories of class files, each read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Noted
from commodore.core.inventory.explain.model import FileOrigin
from commodore.core.sources.git import Git, inspect, redact


@dataclass(frozen=True, slots=True)
class _Repository:
    root: Path
    url: str
    commit: str
    changed: frozenset[str]
    unknown: tuple[str, ...]


@dataclass(slots=True)
class OriginFinder:
    """Finder of the origin of files. Nothing is fetched."""

    context: Context
    _repositories: dict[Path, _Repository | None] = field(default_factory=dict)
    _roots: dict[Path, Path | None] = field(default_factory=dict)

    def of(self, file: Path) -> FileOrigin | None:
        """Return the origin of a file, with links followed; None outside of any repository, or in a broken one."""
        root = self._root(file.parent)
        repository = self._repository(root) if root is not None else None
        if repository is None:
            return None
        path = file.relative_to(repository.root).as_posix()
        unknown = any(path == name or (name.endswith("/") and path.startswith(name)) for name in repository.unknown)
        return FileOrigin(repository.url, repository.commit, path, path in repository.changed or unknown)

    def _root(self, folder: Path) -> Path | None:
        if folder not in self._roots:
            is_root = (folder / ".git").exists()
            self._roots[folder] = folder if is_root else self._root(folder.parent) if folder.parent != folder else None
        return self._roots[folder]

    def _repository(self, root: Path) -> _Repository | None:
        if root not in self._repositories:
            try:
                self._repositories[root] = self._read(root)
            except CommodoreError as error:
                self.context.announce(Noted(f"the origin of the files of {root} is unknown: {error.message}", level=1))
                self._repositories[root] = None
        return self._repositories[root]

    def _read(self, root: Path) -> _Repository:
        changes = inspect(root, self.context)
        question = ["config", "--get", "remote.origin.url"]
        answer = Git(root, self.context).run(question, check=False)
        url = redact(answer.text) if answer.returncode == 0 else ""
        return _Repository(root, url, changes.head or "", frozenset(changes.modified), changes.untracked)
