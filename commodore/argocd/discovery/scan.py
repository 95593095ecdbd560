"""Reading what the files of a tree define. Nothing is rendered."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd.configuration.read import CONFIG, PARAMETERS, Candidates
from commodore.argocd.diagnostics import Diagnostic, Diagnostics
from commodore.argocd.model.application import GROUP, Application, read_application
from commodore.argocd.model.fields import Fields
from commodore.argocd.trees import Tree, is_git
from commodore.argocd.trees.paths import is_within
from commodore.errors import InputError, Location
from commodore.limits import Limits
from commodore.manifests.kube_yaml import read_documents, read_placed_documents
from commodore.tree import Entry, walk

_ENDINGS = (".yaml", ".yml", ".json")
_WORDS = (b"argoproj.io", b"argocd", b"secret-type")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")

Raw = tuple[Mapping[str, Any], Location]


@dataclass
class Discovered:
    """What a tree defines.

    Attributes:
        applications: by namespace and name; that of the controller is the empty one, until it is known.
        sets: ApplicationSets as written, with their places.
    """

    applications: dict[tuple[str, str], Application] = field(default_factory=dict)
    sets: list[Raw] = field(default_factory=list)

    def listed(self) -> list[Application]:
        """The Applications by namespace and name."""
        return [self.applications[key] for key in sorted(self.applications)]


def discover(tree: Tree, folder: Path, limits: Limits, candidates: Candidates, found: Diagnostics) -> Discovered:
    """The Applications, sets and settings in the files below a folder of a tree.

    Files that cannot be read are told, and the others are read.

    Args:
        candidates: takes the settings.
    """
    discovered = Discovered()
    for path in _files(folder, limits, found):
        name = os.path.relpath(path, tree.root)
        if not is_within(path, tree.root):
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            _tell_unreadable(found, name, error.strerror or str(error), b"")
            continue
        if any(word in content for word in _WORDS):
            _read(content, name, discovered, candidates, found)
    return discovered


def _files(folder: Path, limits: Limits, found: Diagnostics) -> Iterator[Path]:
    """The files that may define something: no templates of charts, no patches of kustomizations, none too large."""
    patches: set[str] = set()
    kept: list[Path] = []
    for _, entry in walk(folder, skip=_is_left_out):
        if entry.name in _KUSTOMIZATIONS:
            patches |= set(_patches(Path(entry.path)))
        elif entry.name.endswith(_ENDINGS) and entry.is_file():
            if entry.stat().st_size > limits.argocd_scanned_bytes:
                name = os.path.relpath(entry.path, folder)
                message = f"{name} is larger than {limits.argocd_scanned_bytes} bytes, and is not read"
                found.add(Diagnostic("CMD-ARGO-102", message, "info"))
            else:
                kept.append(Path(entry.path))
    for path in kept:
        if str(path) not in patches:
            yield path


def _is_left_out(entry: Entry) -> bool:
    if is_git(entry):
        return True
    return entry.name == "templates" and os.path.isfile(os.path.join(os.path.dirname(entry.path), "Chart.yaml"))


def _patches(kustomization: Path) -> Iterator[str]:
    try:
        content = next(read_documents(kustomization.read_bytes(), place=kustomization.name), None)
    except (InputError, OSError):
        return
    if not isinstance(content, Mapping):
        return
    for key in ("patches", "patchesStrategicMerge", "patchesJson6902"):
        entries = content.get(key)
        for one in entries if isinstance(entries, list) else ():
            path = one.get("path") if isinstance(one, Mapping) else one
            if isinstance(path, str) and "\n" not in path:
                yield os.path.normpath(kustomization.parent / path)


def _read(content: bytes, name: str, discovered: Discovered, candidates: Candidates, found: Diagnostics) -> None:
    try:
        for value, line in read_placed_documents(content, place=name):
            for one in _objects(value):
                _take(one, Location(name, line), discovered, candidates, found)
    except InputError as error:
        _tell_unreadable(found, name, error.message, content, error.locations)


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        return
    items = value.get("items")
    if value["kind"].endswith("List") and isinstance(items, list):
        for item in items:
            yield from _objects(item)
    else:
        yield value


def _take(
    value: Mapping[str, Any], place: Location, discovered: Discovered, candidates: Candidates, found: Diagnostics
) -> None:
    group, _, _ = str(value.get("apiVersion") or "").partition("/")
    kind = value["kind"]
    try:
        fields = Fields.of(value, "", place)
        if group == GROUP and kind == "Application":
            _add(read_application(value, place), discovered, found)
        elif group == GROUP and kind == "ApplicationSet":
            discovered.sets.append((value, place))
        elif group == GROUP and kind == "AppProject":
            candidates.projects.append((value, place))
        elif kind == "ConfigMap" and fields.fields("metadata").text("name") in (CONFIG, PARAMETERS):
            candidates.config_map(fields, "tree")
        elif kind == "Secret":
            candidates.secret(fields)
    except InputError as error:
        found.take(error)


def _add(application: Application, discovered: Discovered, found: Diagnostics) -> None:
    key = (application.namespace, application.name)
    known = discovered.applications.setdefault(key, application)
    if known is application or known.data == application.data:
        return
    found.add(
        Diagnostic(
            "CMD-ARGO-105",
            f"the Application {application.name} is defined twice, differently; the first one counts",
            "warning",
            "keep one of them, or look at another folder with --path",
            application="/".join(filter(None, key)),
            locations=(known.place, application.place),
        )
    )


def _tell_unreadable(
    found: Diagnostics, name: str, why: str, content: bytes, places: tuple[Location, ...] = ()
) -> None:
    """An error if the file seems to define something of Argo CD, else a remark."""
    if b"argoproj.io/v1alpha1" in content and b"kind: Application" in content:
        found.take(
            InputError(
                "CMD-ARGO-101",
                f"the file {name} cannot be read, and seems to define Applications: {why}",
                hint="correct it",
                locations=places or (Location(name),),
            )
        )
    else:
        found.add(Diagnostic("CMD-ARGO-102", f"{name} cannot be read: {why}", "info", locations=places))
