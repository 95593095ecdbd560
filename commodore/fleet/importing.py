"""Derive base values from existing Applications: the differences from the defaults of their type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import InputError, Location, raise_all
from commodore.base.events import Warned
from commodore.base.files.workspace import guard_disk
from commodore.base.names import check_name
from commodore.base.yaml import load_all
from commodore.fleet.findings import shown
from commodore.fleet.generating import check_known
from commodore.fleet.merging import copy, leaves, merge, same
from commodore.fleet.repository.apps import read_fleet
from commodore.fleet.repository.layout import BASE, CONFIG
from commodore.fleet.repository.model import APPLICATIONS, Fleet, TypeConfig
from commodore.fleet.values_text import as_yaml

_SPEC = (
    "project",
    "source",
    "sources",
    "destination",
    "syncPolicy",
    "ignoreDifferences",
    "info",
    "revisionHistoryLimit",
)
_EXPRESSION = re.compile(r"\{\{[^`]*?\}\}|\{\{")
_OF_CLUSTER = ("argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/refresh")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class Imported:
    """The files to write: base values by path, with the names of the applications in each."""

    files: Mapping[Path, bytes]
    applications: Mapping[str, tuple[str, ...]]


def import_applications(root: Path, kind: str, files: Iterable[Path], app: str, context: Context) -> Imported:
    """Return the base values for the Applications in files, as YAML streams or lists printed by kubectl.

    Values equal to the defaults of the type are left out, and further defaults are set to null. Expressions are
    escaped, so that they also remain texts in Argo CD's own pass of helm. Other objects are left out, with a warning.

    Args:
        app: a folder for all of them; by default each gets a folder of its name.

    Raises:
        CommodoreError: the fleet, or a file, is unreadable; CMD-FLT-016, an Application is defined twice, or in the
            fleet already; CMD-FLT-072, a folder has base values already; CMD-FLT-098, nothing to import.
    """
    report = Diagnostics()
    fleet = read_fleet(root, report, context.limits)
    errors = [
        error.as_error() for error in report.added("error") if error.code != "CMD-FLT-012"
    ]  # a folder still to come
    raise_all(errors)
    check_known("cluster type", [kind], [type_.name for type_ in fleet.types])
    type_config = next(type_ for type_ in fleet.types if type_.name == kind)
    items: dict[str, dict[str, Any]] = {}
    places: dict[str, Location] = {}
    known = {name for application in type_config.apps for section, name in application.items if section == APPLICATIONS}
    errors = []
    for document, place in _documents(files, context):
        name = _name_of(document, place, context)
        if name is None:
            continue
        if name in items or name in known:
            where = places.get(name, f"{CONFIG}/{kind}")
            errors.append(
                InputError(
                    "CMD-FLT-016",
                    f"application {name} is defined by {place} and by {where}",
                    hint="remove one of them; what differs between cells belongs into overrides",
                    locations=[place],
                )
            )
            continue
        items[name], places[name] = _item(document, place, fleet, context), place
    raise_all(errors)
    if not items:
        raise InputError(
            "CMD-FLT-098",
            "there is no Application in these files",
            hint="give files with Applications of Argo CD, such as 'kubectl get applications -o yaml' prints",
        )
    return _as_files(fleet, type_config, items, app)


def _as_files(fleet: Fleet, kind: TypeConfig, items: Mapping[str, dict[str, Any]], app: str) -> Imported:
    defaults: Any = {}
    for layer in kind.defaults.get(APPLICATIONS, ()):
        defaults = merge(defaults, layer.values)
    folders: dict[str, dict[str, Any]] = {}
    for name, item in items.items():
        folder = app or name
        check_name(folder, "application")
        folders.setdefault(folder, {})[name] = _beyond(item, defaults)
    files = {}
    for folder, names in folders.items():
        path = fleet.root / CONFIG / kind.name / folder / BASE
        if path.exists():
            raise InputError(
                "CMD-FLT-072",
                f"{path.relative_to(fleet.root)} exists already",
                hint="choose another folder with --app, or remove it",
                locations=[str(path.relative_to(fleet.root))],
            )
        files[path] = as_yaml({APPLICATIONS: names}).encode()
    return Imported(files, {folder: tuple(names) for folder, names in folders.items()})


def _documents(files: Iterable[Path], context: Context) -> Iterator[tuple[dict[str, Any], Location]]:
    """Yield the objects of files, with lists split into items."""
    for path in files:
        with guard_disk(path), path.open("rb") as file:
            text = file.read(context.limits.argocd_file_bytes + 1)
        if len(text) > context.limits.argocd_file_bytes:
            raise InputError(
                "CMD-FLT-006",
                f"{path} is larger than {context.limits.argocd_file_bytes >> 20} MiB (argocd_file_bytes)",
                hint="make it smaller",
                locations=[str(path)],
            )
        for document in load_all(text, place=str(path)):
            inner = document.get("items") if isinstance(document, dict) else None
            for item in inner if isinstance(inner, list) else [document]:
                if isinstance(item, dict):
                    yield item, Location(str(path))


def _name_of(document: Mapping[str, Any], place: Location, context: Context) -> str | None:
    """Return the name of an Application; None for other objects, which are reported."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    api = str(document.get("apiVersion", ""))
    if document.get("kind") == "Application" and api.startswith("argoproj.io/") and isinstance(name, str) and name:
        return name
    what = f"{document.get('kind') or 'object'} {shown(name)}"
    context.announce(Warned("CMD-FLT-099", f"{place}: {what} is not an Application, and is left out"))
    return None


def _item(document: Mapping[str, Any], place: Location, fleet: Fleet, context: Context) -> dict[str, Any]:
    """Return the fields of an Application in the order of the template."""
    metadata, spec = document["metadata"], document.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    item: dict[str, Any] = {}
    for key, kept in (("additionalAnnotations", "annotations"), ("additionalLabels", "labels")):
        texts = metadata.get(kept)
        own = {k: v for k, v in texts.items() if k not in (*_OF_CLUSTER, _APPLIED)} if isinstance(texts, dict) else {}
        if own:
            item[key] = own
    for key in ("namespace", "finalizers"):
        if metadata.get(key):
            item[key] = metadata[key]
    item |= {key: spec[key] for key in _SPEC if spec.get(key) not in (None, {}, [], "")}
    others = sorted(set(spec) - set(_SPEC))
    if others:
        words = ", ".join(map(shown, others))
        name = shown(metadata["name"])
        context.announce(
            Warned("CMD-FLT-099", f"{place}: {words} of {name} cannot be written by the template", "write a chart")
        )
    if not any(isinstance(text, str) and "{{" in text for _, text in _texts(item)):
        return item
    if fleet.choices.output == "charts" and fleet.choices.chart is None:
        return {key: _escaped(value) for key, value in item.items()}
    name = shown(metadata["name"])
    words = f"{place}: expressions of {name} stay as they are"
    context.announce(Warned("CMD-FLT-099", words, "escape them for each pass of helm that they go through"))
    return item


def _texts(value: Any) -> Iterator[tuple[object, Any]]:
    for path, text in leaves(value):
        for inner in text if isinstance(text, list) else ():
            yield from _texts(inner)
        yield path, text


def _escaped(value: Any) -> Any:
    """Escape texts so that helm returns them unchanged."""
    if isinstance(value, dict):
        return {key: _escaped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_escaped(inner) for inner in value]
    if isinstance(value, str):
        return _EXPRESSION.sub(lambda match: f"{{{{`{match[0]}`}}}}", value)
    return value


def _beyond(item: Mapping[str, Any], defaults: Any) -> dict[str, Any]:
    """Return the values to merge into the defaults to get an item."""
    if not isinstance(defaults, dict):
        return {key: copy(value) for key, value in item.items()}
    difference: dict[str, Any] = {}
    for key, value in item.items():
        if key not in defaults or not same(value, defaults[key]):
            both = isinstance(value, dict) and isinstance(defaults.get(key), dict)
            difference[key] = _beyond(value, defaults[key]) if both else copy(value)
    return difference | {key: None for key, value in defaults.items() if key not in item and value is not None}
