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
    """Gives absolute paths of what git ignores."""

    def paths(self) -> frozenset[str]: ...


class Checkout(Protocol):
    """The files of a repository at one revision: their folder, the commit, and what git ignores in a checkout."""

    @property
    def root(self) -> Path: ...

    @property
    def revision(self) -> str: ...

    @property
    def ignored(self) -> Ignored | None: ...


Repositories = Callable[[str, str], Checkout]
"""Gives a repository's files by URL and revision."""


class GitGenerator:
    """Reads repositories for git generators, each once.

    Args:
        repositories: where they come from.
        new_globbing: whether patterns of files are of the new form.
        hidden: whether hidden folders count.
        go: whether parameters are nested data; else they are flat texts.
        warn: hears of files of which a part does not count.
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
        """The parameter sets of a generator.

        Raises:
            InputError: CMD-ARGO-201, it names neither folders nor files, or a pattern is none; CMD-ARGO-220, a file
                holds no parameters.
            CommodoreError: the repository cannot be had.
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
        found = {folder for file in self._names(checkout) for folder in _parents(file)}
        if not self._hidden:
            found = {folder for folder in found if not any(part.startswith(".") for part in folder.split("/"))}
        patterns = [(_checked(go_path, one["path"], path, place), one.get("exclude")) for one in _with_path(entries)]
        wanted = [pattern for pattern, excludes in patterns if not excludes]
        unwanted = [pattern for pattern, excludes in patterns if excludes]
        taken = [
            folder
            for folder in sorted(found, key=lambda one: one.split("/"))
            if any(fits(one, folder) for one in wanted) and not any(fits(one, folder) for one in unwanted)
        ]
        return [self._with_place({}, folder, "", prefix) for folder in taken]

    def _files(
        self, checkout: Checkout, entries: Sequence[Mapping[str, Any]], prefix: str, path: str, place: Location
    ) -> list[dict[str, Any]]:
        compiled = doublestar if self._new_globbing else pathspec
        taken: set[str] = set()
        unwanted: set[str] = set()
        names = self._names(checkout)
        for one in _with_path(entries):
            pattern = _checked(compiled, one["path"], path, place)
            (unwanted if one.get("exclude") else taken).update(name for name in names if fits(pattern, name))
        found = []
        for name in sorted(taken - unwanted):
            found += [
                self._with_place(params, posixpath.dirname(name) or ".", name, prefix)
                for params in self._read(checkout, name)
            ]
        return found

    def _read(self, checkout: Checkout, name: str) -> list[dict[str, Any]]:
        file = checkout.root / name
        where = f"the file {name} of a git generator"
        if not _within(file, checkout.root):
            raise _unreadable(f"{where} is a link that leads out of its repository")
        try:
            with file.open("rb") as stream:
                content = stream.read(self._context.limits.argocd_file_bytes + 1)
        except OSError as error:
            raise _unreadable(f"{where} cannot be read: {error.strerror}") from error
        if len(content) > self._context.limits.argocd_file_bytes:
            raise _unreadable(f"{where} is larger than {self._context.limits.argocd_file_bytes} bytes")
        try:
            documents = read_documents(content, place=name)
            value = to_floats(next(documents, {}))
        except CommodoreError as error:
            raise _unreadable(f"{where} is no YAML: {error.message}") from error
        if _goes_on(documents):
            self._warn(f"{where} holds several documents, of which the first one counts")
        several = value if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in several):
            raise _unreadable(f"{where} holds neither a map nor a list of maps")
        return several if self._go else [flatten(one) for one in several]

    def _with_place(self, params: dict[str, Any], folder: str, file: str, prefix: str) -> dict[str, Any]:
        """Parameters with those that say where they come from."""
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
        found = {**params, key: texts.pop("path")}
        found |= {f"{key}.{name}": value for name, value in texts.items()}
        return found | {f"{key}[{at}]": part for at, part in enumerate(parts) if part}

    def _names(self, checkout: Checkout) -> list[str]:
        key = str(checkout.root)
        if key not in self._listed:
            self._listed[key] = _lying(checkout)
        return self._listed[key]


def _lying(checkout: Checkout) -> list[str]:
    """The files of a repository as they lie: those of a checkout but for what git ignores, so that new files
    count before they are added. Of a folder that is no repository, files in hidden folders are left out.
    """

    def is_hidden(entry: Entry) -> bool:
        return entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)

    def is_ignored(entry: Entry) -> bool:
        return entry.name == ".git" or entry.path in ignored

    ignored = checkout.ignored.paths() if checkout.ignored is not None else frozenset()
    of_git = checkout.ignored is not None or bool(checkout.revision)
    found = walk(checkout.root, skip=is_ignored if of_git else is_hidden)
    return [name for name, entry in found if not entry.is_dir(follow_symlinks=False)]


def _parents(file: str) -> list[str]:
    parts = file.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def _with_path(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{"path": "", **one} for one in entries]


def _checked(
    compiled: Callable[[str], re.Pattern[str] | None], pattern: str, path: str, place: Location
) -> re.Pattern[str]:
    found = compiled(pattern) if len(pattern) <= _LONGEST and not pattern.startswith(":") else None
    if found is None:
        raise InputError(
            "CMD-ARGO-201",
            f"{path}: {pattern[:_LONGEST]!r} is no pattern of paths",
            hint="see the reference of git generators; `**` works for files with the new globbing only",
            locations=[place],
        )
    return found


def _within(file: Path, root: Path) -> bool:
    top = os.path.realpath(root)
    return os.path.realpath(file).startswith(f"{top}/")


def _goes_on(documents: Iterator[Any]) -> bool:
    """Whether anything follows, readable or not: Argo CD does not look at it."""
    try:
        return next(documents, None) is not None
    except CommodoreError:
        return True


def _unreadable(message: str) -> InputError:
    return InputError("CMD-ARGO-220", message, hint=FORM)
