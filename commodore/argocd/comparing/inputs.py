"""The inputs of a comparison: the changed files that Applications and lost definitions may read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.comparing.changed import ChangedFileFilter
from commodore.argocd.comparing.owners import ChangedFiles
from commodore.argocd.comparing.reads import Reads, reads_of, texts_of
from commodore.argocd.comparing.sides import Side
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.discovery import Listing, LostDefinition
from commodore.argocd.model import IN_CLUSTER
from commodore.argocd.model.application import Application, read_application
from commodore.argocd.rendering import OpenSources
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError
from commodore.base.limits import Limits
from commodore.base.printable import some_of

_OPEN = "{{"
_TEMPLATE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_MAGIC = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class OpenTree:
    """One side, opened for a comparison."""

    side: Side
    listing: Listing
    diagnostics: Diagnostics
    opened: OpenSources
    applications: Mapping[str, Application]


@dataclass(frozen=True, slots=True)
class InputChange:
    """The difference of some inputs between the two trees. False if they are equal.

    Attributes:
        files: the changed files among them, sorted.
        other: other differences, in words.
    """

    files: tuple[str, ...] = ()
    other: str = ""

    def __bool__(self) -> bool:
        return bool(self.files or self.other)

    def __str__(self) -> str:
        return some_of(self.files) or self.other


class Inputs:
    """The changed files of a comparison, and their readers."""

    def __init__(self, old: OpenTree, new: OpenTree, considered: ChangedFileFilter, limits: Limits) -> None:
        self._trees = old, new
        self._considered = considered
        self._limits = limits

    @cached_property
    def changed(self) -> ChangedFiles:
        """The filtered changed files.

        Raises:
            CommodoreError: see `ChangedFileFilter.paths`.
        """
        return ChangedFiles(self._considered.paths(*self._roots, self._ignored))

    def check_patterns(self, diagnostics: Diagnostics) -> None:
        """Check the patterns of the filter for changed files.

        Raises:
            CommodoreError: see `ChangedFileFilter.check`.
        """
        self._considered.check(*self._roots, self._ignored, diagnostics)

    @property
    def _roots(self) -> tuple[Path, Path]:
        return self._trees[0].side.root, self._trees[1].side.root

    @property
    def _ignored(self) -> Collection[str]:
        return self._trees[0].side.ignored | self._trees[1].side.ignored

    @cached_property
    def settings_differ(self) -> bool:
        """True if the installations of the two trees differ in settings or version."""
        old, new = (tree.listing.settings for tree in self._trees)
        return old.profile != new.profile or _values(old) != _values(new)

    def of(self, name: str) -> InputChange:
        """Compare the inputs of an Application."""
        if self.settings_differ:
            return _SETTINGS
        sides = [(tree, tree.applications[name]) for tree in self._trees if name in tree.applications]
        files: set[str] = set()
        other = ""
        if len(sides) < 2 or sides[0][1].data != sides[1][1].data:
            files |= {application.place.place for _, application in sides} & self.changed.paths
            other = "its definition"
        for tree, application in sides:
            files |= self._read_by(_reads(application, tree, self._limits))
        return InputChange(tuple(sorted(files)), other)

    def of_lost(self, old: LostDefinition | None, new: LostDefinition | None) -> InputChange:
        """Compare the inputs of a definition that is lost on a side or on both."""
        if self.settings_differ:
            return _SETTINGS
        files: set[str] = set()
        for tree, lost in zip(self._trees, (old, new), strict=True):
            if lost is not None:
                files |= {lost.place.place} & self.changed.paths
                files |= self._read_by(reads_of_lost(lost, tree, self._limits))
        other = "" if old is not None and new is not None and old.data == new.data else "its definition"
        return InputChange(tuple(sorted(files)), other)

    def _read_by(self, reads: Reads | None) -> set[str]:
        """Return the changed files that are read; if reads are unknown, all that nothing else reads."""
        return self.changed.read_by(reads) if reads is not None else {*self.changed.paths} - self._owned

    @cached_property
    def _owned(self) -> set[str]:
        """The changed files that Applications are defined in or read."""
        owned: set[str] = set()
        for tree in self._trees:
            for application in tree.applications.values():
                owned.add(application.place.place)
                owned |= self.changed.read_by(_reads(application, tree, self._limits) or Reads())
            owned |= {definition.place.place for definition in tree.listing.sets}
            owned |= {definition.place.place for definition in tree.listing.lost}
        return owned


_SETTINGS = InputChange(other="the settings of Argo CD")


def _values(settings: ArgoSettings) -> list[Any]:
    """Return the settings without their places."""
    rows = [{key: setting.value for key, setting in table.items()} for table in (settings.config, settings.parameters)]
    return [settings.namespace, *rows, settings.clusters]


def _reads(application: Application, tree: OpenTree, limits: Limits) -> Reads | None:
    try:
        return reads_of(application, tree.listing.settings, tree.listing.own, limits)
    except CommodoreError:
        return None


def reads_of_lost(lost: LostDefinition, tree: OpenTree, limits: Limits) -> Reads | None:
    """Return the files of the tree that a lost definition, or its Applications, read; None if they are unknown.

    An Application may be valid except for its name; the template of an ApplicationSet names folders, or prefixes of
    their paths.
    """
    if lost.data is None:
        return None
    spec = lost.data.get("spec")
    if not isinstance(spec, Mapping):
        return None
    if lost.kind == "Application":
        return _of_spec(spec, lost, tree, limits)
    if spec.get("templatePatch"):
        return None
    whole = Reads()
    for part in (*_templates(spec), *_git_generators(spec)):
        reads = _of_template(part, lost, tree, limits)
        if reads is None:
            return None
        whole.add(reads)
    return whole


def _of_spec(spec: Mapping[str, Any], lost: LostDefinition, tree: OpenTree, limits: Limits) -> Reads | None:
    valid_spec = {**spec, "destination": {"name": IN_CLUSTER}, "project": "default"}
    try:
        application = read_application({"metadata": {"name": "lost"}, "spec": valid_spec}, lost.place)
    except CommodoreError:
        return None
    return _reads(application, tree, limits)


def _of_template(part: Mapping[str, Any], lost: LostDefinition, tree: OpenTree, limits: Limits) -> Reads | None:
    """Return the files that the sources of a template, or a git generator, read."""
    sources = part.get("sources") or [part.get("source", part)]
    if not isinstance(sources, list) or not all(isinstance(source, Mapping) for source in sources):
        return None
    named = (text for source in sources for text in (*_paths(source), str(source.get("repoURL"))))
    if "repoURL" not in part and not any(_OPEN in text for text in named):
        return _of_spec({"sources": _filled(sources)}, lost, tree, limits)
    reads = Reads()
    for source in sources:
        url = str(source.get("repoURL") or "")
        foreign = _OPEN not in url and repository_identity(url) not in tree.listing.own
        if foreign and not any(text.startswith("$") for text in texts_of(source)):
            continue
        for text in _paths(source):
            folder = _folder(text)
            if not folder:
                return None
            reads.folders.add(folder)
    return reads


def _filled(value: Any) -> Any:
    """Replace each template in the texts of a value by a word."""
    if isinstance(value, Mapping):
        return {key: _filled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner) for inner in value]
    return _TEMPLATE.sub("x", value) if isinstance(value, str) else value


def _paths(source: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths in a source or a git generator, and those of value files in other folders."""
    path = source.get("path")
    if isinstance(path, str):
        yield path
    for key in ("directories", "files"):
        yield from (text for text in texts_of(source.get(key)) if text)
    helm = source.get("helm")
    listed = helm.get("valueFiles") if isinstance(helm, Mapping) else ()
    for file in filter(lambda text: text.startswith(("$", "..")), texts_of(listed)):
        yield file.partition("/")[2] if file.startswith("$") else ""


def _folder(text: str) -> str:
    """Return the folder of all paths that a template or a pattern can produce; empty for the root."""
    text = posixpath.normpath(text.strip("/")) if text else ""
    first = _MAGIC.search(text)
    folder = posixpath.dirname(text[: first.start()]) if first else text
    return "" if folder == "." or folder.startswith("..") else folder


def _templates(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the templates with sources in an ApplicationSet: its own, and those of generators."""
    for mapping in _mappings([spec.get("template"), spec.get("generators")]):
        inner = mapping.get("spec")
        if isinstance(inner, Mapping) and ("source" in inner or "sources" in inner):
            yield inner


def _git_generators(spec: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return (mapping["git"] for mapping in _mappings(spec.get("generators")) if isinstance(mapping.get("git"), Mapping))


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _mappings(inner)
