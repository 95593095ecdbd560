"""The git generator: parameters from folders and files of repositories."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from commodore.argocd.appsets.flatten import flatten
from commodore.argocd.appsets.functions import normalized
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.files.tree import Entry, walk
from commodore.base.gotemplate import Strings, to_floats
from commodore.base.values.globs import doublestar, go_path, pathspec
from commodore.base.values.patterns import fits
from commodore.base.yaml.kube_yaml import read_documents

_LONGEST = 250  # characters of a pattern
FORM = "a file of parameters is one YAML or JSON document: a map, or a list of maps"


class Ignored(Protocol):
    """The absolute paths that git ignores."""

    def paths(self) -> frozenset[str]: ...


class Checkout(Protocol):
    """The files of a repository at a revision: their folder, the commit, and the paths that git ignores."""

    @property
    def root(self) -> Path: ...

    @property
    def revision(self) -> str: ...

    @property
    def ignored(self) -> Ignored | None: ...


Repositories = Callable[[str, str], Checkout]
"""Returns the files of a repository by URL and revision."""


class GitGenerator:
    """Generates parameters from repositories, each listed once.

    Args:
        repositories: returns the files of a repository.
        new_globbing: True if patterns of files have the new syntax.
        hidden: True to include hidden folders.
        go: True for parameters as nested data; else they are flat texts.
        warn: called with a message for files of which a part is ignored.
    """

    def __init__(
        self,
        repositories: Repositories,
        context: Context,
        warn: Callable[[str], None],
        *,
        new_globbing: bool,
        hidden: bool,
        go: bool,
    ) -> None:
        self._repositories = repositories
        self._warn = warn
        self._new_globbing = new_globbing
        self._hidden = hidden
        self._go = go
        self._context = context
        self._listed: dict[str, list[str]] = {}

    def params(self, fields: Mapping[str, Any], path: str, place: Location) -> list[dict[str, Any]]:
        """Return the parameter sets of a generator.

        Raises:
            InputError: CMD-ARGO-201, it names neither folders nor files, or a pattern is invalid; CMD-ARGO-220, a
                file holds no parameters.
            CommodoreError: the repository is not available.
        """
        checkout = self._repositories(fields.get("repoURL", ""), fields.get("revision", ""))
        prefix = fields.get("pathParamPrefix", "")
        if fields.get("directories"):
            return self._folders(checkout, fields["directories"], prefix, path, place)
        if fields.get("files"):
            return self._files(checkout, fields["files"], prefix, path, place)
        raise InputError(
            "CMD-ARGO-201",
            f"{path} names neither directories nor files",
            hint="write directories: [{path: apps/*}] or files: [{path: apps/*/config.yaml}]",
            locations=[place],
        )

    def _folders(
        self, checkout: Checkout, entries: Sequence[Mapping[str, Any]], prefix: str, path: str, place: Location
    ) -> list[dict[str, Any]]:
        folders = {folder for file in self._names(checkout) for folder in _parents(file)}
        if not self._hidden:
            folders = {folder for folder in folders if not any(part.startswith(".") for part in folder.split("/"))}
        patterns = [(_checked(go_path, item["path"], path, place), item.get("exclude")) for item in _with_path(entries)]
        included = [pattern for pattern, excludes in patterns if not excludes]
        excluded = [pattern for pattern, excludes in patterns if excludes]
        taken = [
            folder
            for folder in sorted(folders, key=lambda name: name.split("/"))
            if any(fits(pattern, folder) for pattern in included)
            and not any(fits(pattern, folder) for pattern in excluded)
        ]
        return [self._with_place({}, folder, "", prefix) for folder in taken]

    def _files(
        self, checkout: Checkout, entries: Sequence[Mapping[str, Any]], prefix: str, path: str, place: Location
    ) -> list[dict[str, Any]]:
        compiled = doublestar if self._new_globbing else pathspec
        taken: set[str] = set()
        excluded: set[str] = set()
        names = self._names(checkout)
        for entry in _with_path(entries):
            pattern = _checked(compiled, entry["path"], path, place)
            (excluded if entry.get("exclude") else taken).update(name for name in names if fits(pattern, name))
        result = []
        for name in sorted(taken - excluded):
            result += [
                self._with_place(params, posixpath.dirname(name) or ".", name, prefix)
                for params in self._read(checkout, name)
            ]
        return result

    def _read(self, checkout: Checkout, name: str) -> list[dict[str, Any]]:
        file = checkout.root / name
        where = f"the file {name} of a git generator"
        if not _within(file, checkout.root):
            raise _unreadable(f"{where} is a link to a path outside of its repository")
        try:
            with file.open("rb") as stream:
                content = stream.read(self._context.limits.argocd_file_bytes + 1)  # one more shows a larger file
        except OSError as error:
            raise _unreadable(f"{where} cannot be read: {error.strerror}") from error
        if len(content) > self._context.limits.argocd_file_bytes:
            raise _unreadable(f"{where} is larger than {self._context.limits.argocd_file_bytes} bytes")
        try:
            documents = read_documents(content, place=name)
            value = to_floats(next(documents, {}))
        except CommodoreError as error:
            raise _unreadable(f"{where} is not valid YAML: {error.message}") from error
        if _has_more(documents):
            self._warn(f"{where} holds several documents; only the first is used")
        several = value if isinstance(value, list) else [value]
        if not all(isinstance(params, dict) for params in several):
            raise _unreadable(f"{where} must be a map or a list of maps")
        return several if self._go else [flatten(params) for params in several]

    def _with_place(self, params: dict[str, Any], folder: str, file: str, prefix: str) -> dict[str, Any]:
        """Return parameters with those of their folder and file."""
        base = posixpath.basename(folder)
        texts = {"path": folder, "basename": base, "basenameNormalized": normalized(base)}
        if file:
            name = posixpath.basename(file)
            texts |= {"filename": name, "filenameNormalized": normalized(name)}
        parts = Strings(folder.split("/"))
        if self._go:
            nested: dict[str, Any] = {**texts, "segments": parts}
            return {**params, prefix: {"path": nested}} if prefix else {**params, "path": nested}
        key = f"{prefix}.path" if prefix else "path"
        result = {**params, key: texts.pop("path")}
        result |= {f"{key}.{name}": value for name, value in texts.items()}
        return result | {f"{key}[{at}]": part for at, part in enumerate(parts) if part}

    def _names(self, checkout: Checkout) -> list[str]:
        key = str(checkout.root)
        if key not in self._listed:
            self._listed[key] = _list_files(checkout)
        return self._listed[key]


def _list_files(checkout: Checkout) -> list[str]:
    """List the files of a repository: in a checkout all that git does not ignore, so that new files are included before
    they are added. In a folder outside of git, files in hidden folders are left out.
    """

    def is_hidden(entry: Entry) -> bool:
        return entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)

    def is_ignored(entry: Entry) -> bool:
        return entry.name == ".git" or entry.path in ignored

    ignored = checkout.ignored.paths() if checkout.ignored is not None else frozenset()
    of_git = checkout.ignored is not None or bool(checkout.revision)
    entries = walk(checkout.root, skip=is_ignored if of_git else is_hidden)
    return [name for name, entry in entries if not entry.is_dir(follow_symlinks=False)]


def _parents(file: str) -> list[str]:
    parts = file.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def _with_path(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{"path": "", **entry} for entry in entries]


def _checked(
    compiled: Callable[[str], re.Pattern[str] | None], pattern: str, path: str, place: Location
) -> re.Pattern[str]:
    expression = compiled(pattern) if len(pattern) <= _LONGEST and not pattern.startswith(":") else None
    if expression is None:
        raise InputError(
            "CMD-ARGO-201",
            f"{path}: invalid pattern {pattern[:_LONGEST]!r}",
            hint="see the reference of git generators; `**` works for files with the new globbing only",
            locations=[place],
        )
    return expression


def _within(file: Path, root: Path) -> bool:
    top = os.path.realpath(root)
    return os.path.realpath(file).startswith(f"{top}/")


def _has_more(documents: Iterator[Any]) -> bool:
    """Check if another document follows, valid or not: Argo CD does not parse it."""
    try:
        return next(documents, None) is not None
    except CommodoreError:
        return True


def _unreadable(message: str) -> InputError:
    return InputError("CMD-ARGO-220", message, hint=FORM)
