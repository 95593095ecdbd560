"""The files of its own repository that an Application reads, derived from the files that name further files.

It errs on the side of too many: whole folders of sources, and every text of a kustomization that may be a path.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.application import Application
from commodore.argocd.model.sources import Source
from commodore.argocd.planning import build_environment, overridden, source_type
from commodore.argocd.trees import KUSTOMIZATIONS, Tree, is_git
from commodore.base.errors import InputError
from commodore.base.files.tree import children, walk
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_documents

_MAGIC = re.compile(r"[*?\[]")
_IMPORT = re.compile(r"""\bimport(?:str|bin)?\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|@"([^"]*)"|@'([^']*)')""")
_LARGEST = 4 << 20


@dataclass
class Reads:
    """Paths of a tree, relative to its root.

    Attributes:
        files: single files, which need not exist.
        folders: folders with all files below.
        flat: folders with only the files directly within.
    """

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    flat: set[str] = field(default_factory=set)

    def add(self, other: Reads) -> None:
        """Add the paths of another one."""
        self.files |= other.files
        self.folders |= other.folders
        self.flat |= other.flat

    def as_lines(self) -> list[str]:
        """Return the paths as sorted patterns, without paths below others."""
        if "" in self.folders:
            return ["**"]
        files, folders = (
            [path for path in several if not any(parent in self.folders for parent in _parents(path))]
            for several in (self.files, self.folders)
        )
        lines = [*files, *(f"{folder}/**" for folder in folders)]
        return sorted([*lines, *(f"{folder}/*" if folder else "*" for folder in self.flat)])


def _parents(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


def reads_of(application: Application, settings: ArgoSettings, own: Mapping[str, Tree], limits: Limits) -> Reads:
    """Return the files that the sources of an Application read from the tree of their repository.

    Args:
        own: the tree by `repository_identity`; sources of other repositories read nothing of it.

    Raises:
        InputError: a source's overrides or type cannot be determined.
    """
    reads = Reads()
    tree = next(iter(own.values()), None)
    if tree is None:
        return reads
    reader = _Reader(application, settings, tree, {*own}, reads, limits)
    for source in application.sources:
        if source.path and repository_identity(source.repo_url) in own:
            reader.path_source(source)
        else:
            reader.value_files(source, None)
    return reads


class _Reader:
    """Follows the sources of an Application."""

    def __init__(
        self,
        application: Application,
        settings: ArgoSettings,
        tree: Tree,
        own: set[str],
        reads: Reads,
        limits: Limits,
    ) -> None:
        self._application = application
        self._settings = settings
        self._tree = tree
        self._reads = reads
        self._limits = limits
        self._seen: set[str] = set()
        self._refs = {
            source.ref for source in application.sources if source.ref and repository_identity(source.repo_url) in own
        }

    def path_source(self, source: Source) -> None:
        """Add the files of a source that is a folder of the tree."""
        path = posixpath.normpath(source.path.lstrip("/"))
        path = "" if path == "." else path
        folder = self._tree.root / path
        if path.startswith("..") or not folder.is_dir():
            self._reads.folders.add(path)
            return
        instance = self._settings.instance_name(self._application.namespace, self._application.name)
        source, files = overridden(source, folder, self._tree.root, instance, self._limits)
        self._reads.files |= {posixpath.join(path, name) for name in files}
        kind = source_type(source, folder, self._settings)
        if kind == "Plugin":
            self._plugin(source)
        if kind == "Directory":
            self._directory(source, path)
        elif kind == "Kustomize":
            self._kustomization(path)
            self._texts(source.data.get("kustomize"), path)
        else:
            self._chart(path)
        self.value_files(source, path)

    def _plugin(self, source: Source) -> None:
        """Add the paths that the rule for a plugin allows its program, in addition to the folder of the source."""
        name = source.plugin.name if source.plugin is not None else ""
        for rule in self._settings.plugins:
            if rule.name == name and rule.program is not None:
                self._reads.files |= {*rule.program.paths}
                self._reads.folders |= {*rule.program.paths}

    def value_files(self, source: Source, path: str | None) -> None:
        """Add the value files and file parameters of a source.

        Args:
            path: of the source; None for other repositories, of which only files behind `$ref/` are added.
        """
        if source.helm is None:
            return
        environment = build_environment(
            self._application,
            self._settings.instance_name(self._application.namespace, self._application.name),
            source,
            self._tree.revision,
            lambda _: None,
        )
        for text in (*source.helm.value_files, *(file for _, file in source.helm.file_parameters)):
            name, _, rest = text.partition("/")
            if name.startswith("$") and name[1:] in self._refs:
                self._pattern(environment.substitute(rest).lstrip("/"))
            elif path is not None and "://" not in text:
                text = environment.substitute(text)
                self._pattern(text.lstrip("/") if text.startswith("/") else posixpath.join(path, text))

    def _pattern(self, path: str) -> None:
        """Add a file, or for a pattern the folder of its fixed part."""
        path = posixpath.normpath(path)
        magic = _MAGIC.search(path)
        if magic is None:
            self._file(path)
        else:
            self._reads.folders.add(posixpath.dirname(path[: magic.start()]))

    def _file(self, path: str) -> None:
        """Add a file, and the targets of links in its path."""
        self._reads.files.add(path)
        real = self._real(path)
        if real is not None and real != path:
            self._reads.files.add(real)
            self._reads.files |= {parent for parent in _parents(path) if parent}

    def _folder(self, path: str) -> bool:
        """Add a folder, and the targets of links within it. Return False if it was added before."""
        if path in self._seen:
            return False
        self._seen.add(path)
        self._reads.folders.add(path)
        real = self._real(path)
        if real is not None and real != path:
            self._folder(real)
        for _, entry in walk(self._tree.root / path, skip=is_git):
            if entry.is_symlink():
                self._link(self._named(entry.path))
        return True

    def _named(self, path: str) -> str:
        return os.path.relpath(path, self._tree.root)

    def _link(self, path: str) -> None:
        real = self._real(path)
        if real is None:
            return
        if (self._tree.root / real).is_dir():
            self._folder(real)
        else:
            self._reads.files.add(real)

    def _real(self, path: str) -> str | None:
        """Resolve the links of a path. Return None if it leaves the tree."""
        root = str(self._tree.root)
        real = os.path.realpath(os.path.join(root, path))
        if real == root:
            return ""
        return os.path.relpath(real, root) if real.startswith(f"{root}/") else None

    def _chart(self, path: str) -> None:
        """Add a chart, and its dependencies in the repository."""
        if not self._folder(path):
            return
        for name in ("Chart.yaml", "requirements.yaml"):
            content = self._document(posixpath.join(path, name))
            entries = content.get("dependencies") if isinstance(content, Mapping) else None
            for dependency in entries if isinstance(entries, list) else ():
                url = dependency.get("repository") if isinstance(dependency, Mapping) else None
                if isinstance(url, str) and url.startswith("file://"):
                    self._chart(posixpath.normpath(posixpath.join(path, url.removeprefix("file://"))))

    def _kustomization(self, path: str) -> None:
        """Add a kustomization, and every path that one of its texts may be."""
        if not self._folder(path):
            return
        for name in KUSTOMIZATIONS:
            content = self._document(posixpath.join(path, name))
            self._texts(content, path)
            for key in ("generators", "transformers", "validators", "configurations"):
                listed = content.get(key) if isinstance(content, Mapping) else None
                for text in listed if isinstance(listed, list) else ():
                    if isinstance(text, str) and "\n" not in text:
                        self._texts(self._document(posixpath.normpath(posixpath.join(path, text))), path)

    def _texts(self, value: Any, path: str) -> None:
        for text in texts_of(value):
            for word in {text, text.partition("=")[2]}:
                if word and len(word) < 1000 and "\n" not in word and "\0" not in word and "://" not in word:
                    self._candidate(posixpath.normpath(posixpath.join(path, word)))

    def _candidate(self, path: str) -> None:
        if path.startswith(("../", "/")) or path == "..":
            return
        path = "" if path == "." else path
        if (self._tree.root / path).is_dir():
            self._kustomization(path)
        elif path:
            self._file(path)

    def _directory(self, source: Source, path: str) -> None:
        options = source.directory
        recurse = options is not None and options.recurse
        if recurse:
            self._folder(path)
        else:
            self._reads.flat.add(path)
            for entry in children(self._tree.root / path):
                if entry.is_symlink():
                    self._link(self._named(entry.path))
        libraries = options.libraries if options is not None else ()
        search = [*(posixpath.normpath(library.lstrip("/")) for library in reversed(libraries)), path]
        folder = self._tree.root / path
        for entry in (file for _, file in walk(folder, skip=is_git)) if recurse else children(folder):
            if entry.name.endswith((".jsonnet", ".libsonnet")):
                self._imports(self._named(entry.path), search)

    def _imports(self, path: str, search: list[str]) -> None:
        """Add the files that a Jsonnet file may import. Missing ones are added, as they would take precedence over
        others.
        """
        if path in self._seen:
            return
        self._seen.add(path)
        text = self._content(path).decode("utf-8", "replace")
        for match in _IMPORT.finditer(text):
            name = next(part for part in match.groups() if part is not None)
            for base in (posixpath.dirname(path), *search):
                candidate = posixpath.normpath(posixpath.join(base, name))
                if candidate.startswith(("../", "/")):
                    continue
                self._file(candidate)
                if (self._tree.root / candidate).is_file():
                    self._imports(candidate, search)
                    break

    def _document(self, path: str) -> Any:
        try:
            return next(read_documents(self._content(path), place=path), None)
        except InputError:
            return None

    def _content(self, path: str) -> bytes:
        if self._real(path) is None:
            return b""
        try:
            with (self._tree.root / path).open("rb") as stream:
                return stream.read(_LARGEST)
        except (OSError, ValueError):
            return b""


def texts_of(value: Any) -> Iterator[str]:
    """Yield all texts in a value, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
