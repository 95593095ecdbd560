"""Read the folders of cluster types and of their applications."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, InputError, did_you_mean
from commodore.base.events import Warned
from commodore.base.files.tree import files
from commodore.base.limits import Limits
from commodore.base.names import check_name
from commodore.fleet.findings import at, shown
from commodore.fleet.repository.config import Prefix, read_config
from commodore.fleet.repository.files import Document, check_folder
from commodore.fleet.repository.layout import (
    APPLICATION_DEFAULTS,
    BASE,
    CONFIG,
    DEFAULTS,
    IN_OTHER_PLACES,
    METADATA,
    OVERRIDES,
    PATCHES,
    choose,
    is_patch,
)
from commodore.fleet.repository.model import APPLICATIONS, RESERVED, SECTIONS, App, Fleet, Layer, Patch, TypeConfig
from commodore.fleet.repository.owners import owners_files, owners_problems
from commodore.fleet.repository.patch_files import read_patches
from commodore.fleet.repository.reader import Reader
from commodore.fleet.repository.schema import schema_problems, static_schema


def read_fleet(root: Path, report: Diagnostics, limits: Limits) -> Fleet:
    """Read the repository of a fleet.

    Args:
        root: its folder, absolute and free of links.
        report: collects the diagnostics. If it has errors afterwards, the returned fleet is incomplete.

    Raises:
        CommodoreError: as `read_config` and `choose`: nothing else can be checked then.
    """
    config = read_config(root, limits)
    reader = Reader(root, config, report, limits)
    choices = choose(root, config, [kind.name for kind in config.types])
    types = []
    for kind in config.types:
        folder = root / CONFIG / kind.name
        if not folder.is_dir():
            there = [entry.name for entry in _folders(root / CONFIG)]
            report.add(
                InputError(
                    "CMD-FLT-011",
                    f"the cluster type {kind.name!r} has no folder {CONFIG}/{kind.name}",
                    hint=did_you_mean(kind.name, there) or f"there are {', '.join(there) or 'no folders'}",
                    locations=[kind.location],
                )
            )
            continue
        check_folder(folder, root)
        types.append(_read_type(reader, folder, kind.applications, choices.output == "manifests"))
    for path in owners_files(root):
        if (document := reader.document(path)) is not None:
            report.add(*owners_problems(document))
    return Fleet(root, config, choices, tuple(types))


def _folders(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _read_type(reader: Reader, folder: Path, listed: Sequence[str] | None, strict_defaults: bool) -> TypeConfig:
    defaults = _read_defaults(reader, folder)
    apps = []
    for path in _app_folders(reader, folder, listed):
        try:
            check_name(path.name, "application of a fleet")
            check_folder(path, reader.root)
        except CommodoreError as error:
            reader.report.add(error.about(at=[reader.name(path)]))
            continue
        app = _read_app(reader, folder.name, path, tuple(defaults))
        if app is not None:
            apps.append(app)
    kind = TypeConfig(folder.name, defaults, tuple(apps))
    if strict_defaults:
        reader.report.add(*_without_defaults(kind))
    reader.report.add(*_defined_twice(kind))
    return kind


def _app_folders(reader: Reader, folder: Path, listed: Sequence[str] | None) -> Iterator[Path]:
    """Yield the folders of a type's applications, by name; report other folders."""
    entries = _folders(folder)
    names = [entry.name for entry in entries if os.path.lexists(entry / BASE)]
    for name in sorted(set(listed or ()) - set(names)):
        path = folder / name
        reader.report.add(
            InputError(
                "CMD-FLT-012",
                f"the application {name!r} of {folder.name} has no {'values.yaml' if path.is_dir() else 'folder'}",
                hint=did_you_mean(name, names) or f"there are {', '.join(names) or 'none'}",
                locations=[reader.name(path / BASE if path.is_dir() else path)],
            )
        )
    for entry in entries:
        if entry.name in names and (listed is None or entry.name in listed):
            yield entry
        elif entry.name in names:
            reader.report.add(
                Warned(
                    "CMD-FLT-013",
                    f"{reader.name(entry)} is not listed in {reader.config.document.place} and is not rendered",
                    "list it in cluster_types, or remove it",
                )
            )
        elif entry.name not in (listed or ()) and any(_is_ours(path) for _, path in files(entry)):
            reader.report.add(
                Warned(
                    "CMD-FLT-020",
                    f"{reader.name(entry)} has no values.yaml: its content never applies",
                    "add values.yaml",
                )
            )


def _is_ours(path: Path) -> bool:
    if path.suffix != ".yaml":
        return False
    return path.name in (METADATA, *OVERRIDES) or is_patch(path.name) or path.parent.name == PATCHES


def _read_defaults(reader: Reader, folder: Path) -> dict[str, tuple[Layer, ...]]:
    """Return the defaults of each section of a type, those of all types first."""
    layers: dict[str, tuple[Layer, ...]] = {}
    places: dict[str, str] = {}
    for path in (folder.parent / APPLICATION_DEFAULTS, folder / APPLICATION_DEFAULTS, folder / DEFAULTS):
        if not path.exists() and not path.is_symlink():
            continue
        nested = path.name == DEFAULTS
        document = reader.document(path)
        if document is None:
            continue
        if not document.data:
            reader.report.add(_empty(document))
            continue
        problems = schema_problems(document, static_schema("defaults" if nested else "application-defaults"))
        reader.report.add(*problems)
        if problems:
            continue
        sections = (
            {name: part["default"] for name, part in document.data.items()}
            if nested
            else {APPLICATIONS: document.data["defaults"]}
        )
        for name, default in sections.items():
            if name in places and path.parent == folder:
                reader.report.add(
                    InputError(
                        "CMD-FLT-010",
                        f"{places[name]} and {document.place} both give defaults of {name!r}",
                        hint="keep one of them",
                        locations=[document.at((name,))],
                    )
                )
            if path.parent == folder:
                places[name] = document.place
            head = (name, "default") if nested else ("defaults",)
            layers[name] = (*layers.get(name, ()), Layer(document, default or {}, head))
    return layers


def _empty(document: Document) -> CommodoreError:
    what = (
        "is empty"
        if document.data in (None, {}, "")
        else "defines nothing"
        if isinstance(document.data, dict)
        else "must be a mapping"
    )
    return InputError(
        "CMD-FLT-015",
        f"{document.place} {what}",
        hint="write what it should define, or remove it",
        locations=[document.at()],
    )


def _read_app(reader: Reader, kind: str, folder: Path, sections: Sequence[str]) -> App | None:
    base = reader.document(folder / BASE)
    layer = None
    if base is None:
        pass  # reported by the reader; the other files are still checked
    elif isinstance(base.data, dict) and base.data and any(base.data.values()):
        layer = _layer(reader, base, folder.name, "values", sections)
        if layer is not None and not any(layer.values.values()):
            layer = None
            reader.report.add(_empty(base))
    else:
        reader.report.add(_empty(base))
    _check_metadata(reader, folder)
    places = _AppFolder(reader, folder, sections)
    places.scan()
    known = tuple(dict.fromkeys((*SECTIONS, *sections, *(layer.values if layer is not None else ()))))
    patches = tuple(read_patches(reader, kind, folder.name, places.patches, known))
    if layer is None:
        return None
    app = App(kind, folder.name, folder, layer, places.overrides, places.flat, patches)
    reader.report.add(*_undefined_items(app, patches), *_same_ids(app))
    return app


def _layer(reader: Reader, document: Document, app: str, schema: str, sections: Sequence[str]) -> Layer | None:
    """Convert a file with sections to a layer; None if the file is invalid, which is reported."""
    data: dict[str, Any] = document.data if isinstance(document.data, dict) else {}
    bare = app in data and app not in (*SECTIONS, *sections, *RESERVED)
    if bare:
        reader.report.add(
            Diagnostic(
                "CMD-FLT-024",
                f"{document.place}: the key {app!r} is not a section and is read as applications.{app}",
                "info",
                f"write it below {APPLICATIONS!r}",
            )
        )
        data = {name: part for name, part in data.items() if name != app}
        data[APPLICATIONS] = {**(data.get(APPLICATIONS) or {}), app: document.data[app]}
    whole = data if document.data is None or isinstance(document.data, dict) else document.data
    problems = schema_problems(document, static_schema(schema), whole)
    reader.report.add(*problems)
    if problems:
        return None
    values = {section: items for section, items in data.items() if items is not None}
    return Layer(document, values, bare=frozenset([app] if bare else ()))


class _AppFolder:
    """The folders below an application's: overrides and patches by prefix. Other folders and files are reported."""

    def __init__(self, reader: Reader, folder: Path, sections: Sequence[str]) -> None:
        self._reader = reader
        self._folder = folder
        self._sections = sections
        self._nodes = {node.prefix: node for node in reader.config.each()}
        self._flat_names = {prefix[-1] for prefix in self._nodes if len(prefix) > 1}
        self.overrides: dict[Prefix, Layer] = {}
        self.flat: dict[str, Layer] = {}
        self.patches: list[tuple[Path, Prefix | None]] = []

    def scan(self) -> None:
        self._visit(self._folder, ())

    def _visit(self, folder: Path, prefix: Prefix) -> None:
        try:
            check_folder(folder, self._reader.root)
        except CommodoreError as error:
            self._reader.report.add(error)
            return
        if prefix:
            override = self._override(folder)
            if override is not None:
                self.overrides[prefix] = override
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir():
                self._enter(path, prefix)
            elif is_patch(path.name) and prefix:
                self.patches.append((path, prefix))
            elif path.suffix in (".yaml", ".yml") and path.name not in (
                *IN_OTHER_PLACES,
                BASE,
                *(OVERRIDES if prefix else ()),
            ):
                self._report_stray(path, "is not a file of the fleet", ("override.yaml", "patch-001.yaml"))

    def _enter(self, path: Path, prefix: Prefix) -> None:
        if path.name == PATCHES:
            for entry in sorted(entry for entry in path.iterdir() if not entry.name.startswith(".")):
                if entry.is_dir():
                    self._report_stray(entry, "is not a place of the fleet", ())
                elif entry.suffix in (".yaml", ".yml"):
                    self.patches.append((entry, prefix or None))
        elif (*prefix, path.name) in self._nodes:
            self._visit(path, (*prefix, path.name))
        elif not prefix and path.name in self._flat_names:
            override = self._override(path)
            if override is not None:
                self.flat[path.name] = override
            for inner in sorted(path.iterdir()):
                if inner.is_dir() or is_patch(inner.name):
                    self._report_stray(inner, "is not a place of the fleet", ())
        else:
            names = [child[-1] for child in self._nodes if child[:-1] == prefix]
            self._report_stray(path, "is not a place of the fleet", names)

    def _override(self, folder: Path) -> Layer | None:
        overrides = [path for name in OVERRIDES if (path := folder / name).exists() or path.is_symlink()]
        if len(overrides) > 1:
            self._reader.report.add(
                InputError(
                    "CMD-FLT-021",
                    f"override.yaml and values.yaml are both in {self._reader.name(folder)}",
                    hint="keep one of them",
                    locations=[self._reader.name(path) for path in overrides],
                )
            )
        if not overrides:
            return None
        document = self._reader.document(overrides[0])
        if document is None:
            return None
        return _layer(self._reader, document, self._folder.name, "override", self._sections)

    def _report_stray(self, path: Path, what: str, known: Iterable[str]) -> None:
        self._reader.report.add(
            Warned(
                "CMD-FLT-020",
                f"{self._reader.name(path)} {what}: its content never applies",
                did_you_mean(path.name, known) or "remove it, or move it to the folder of a prefix",
            )
        )


def _check_metadata(reader: Reader, folder: Path) -> None:
    path = folder / METADATA
    if not path.exists() and not path.is_symlink():
        return
    document = reader.document(path)
    if document is None:
        return
    schema = static_schema("metadata")
    known = list(schema["properties"])
    data: Any = document.data
    if isinstance(data, dict):
        for key in (key for key in data if key not in known):
            hint = did_you_mean(str(key), known) or f"known are {', '.join(known)}"
            message = f"{at(document.at((key,)))}: the key {shown(key)} is unknown"
            reader.report.add(Warned("CMD-FLT-081", message, hint))
        data = {key: value for key, value in data.items() if key in known}
    problems = schema_problems(document, schema, data)
    reader.report.add(*problems)
    if not problems and data and data.get("name") not in (None, folder.name):
        place = at(document.at(("name",)))
        reader.report.add(
            Warned(
                "CMD-FLT-023", f"{place} names {data['name']!r}, but the folder is {folder.name!r}", "correct the name"
            )
        )


def _undefined_items(app: App, patches: Sequence[Patch]) -> Iterator[CommodoreError]:
    """Yield an error for each item that a patch changes and that the folder does not define."""
    for patch in patches:
        for file in patch.files:
            for section, items in file.layer.values.items():
                known = {name for defined, name in app.items if defined == section}
                for name in items:
                    if name not in known:
                        where = f"{app.type}/{app.name}"
                        yield InputError(
                            "CMD-FLT-036",
                            f"{file.place}: the patch is for {section}.{name}, which {where} does not define",
                            hint=did_you_mean(name, known) or f"defined are {', '.join(sorted(known)) or 'none'}",
                            locations=[file.layer.at((section, name))],
                        )


def _same_ids(app: App) -> Iterator[CommodoreError]:
    first: dict[str, Patch] = {}
    for patch in app.patches:
        for id_ in dict.fromkeys(file.id for file in patch.files):
            other = first.setdefault(id_, patch)
            if other is not patch:
                yield InputError(
                    "CMD-FLT-031",
                    f"the id {id_!r} is used by two patches of {app.type}/{app.name}: {other.files[0].place} and "
                    f"{patch.files[0].place}",
                    hint="give one of them another metadata.id",
                    locations=[patch.files[0].layer.document.at(("metadata", "id"))],
                )


def _without_defaults(kind: TypeConfig) -> Iterator[CommodoreError]:
    for app in kind.apps:
        for layer in (app.base, *app.overrides.values(), *app.flat.values()):
            for section in layer.values:
                if section not in kind.defaults:
                    yield InputError(
                        "CMD-FLT-014",
                        f"{layer.document.place} uses the section {section!r}, for which no defaults file of "
                        f"{kind.name} has a default",
                        hint=f"add {section}.default to {CONFIG}/{kind.name}/{DEFAULTS}; it may be {{}}",
                        locations=[layer.at((section,))],
                    )


def _defined_twice(kind: TypeConfig) -> Iterator[CommodoreError]:
    first: dict[tuple[str, str], App] = {}
    for app in kind.apps:
        for section, name in sorted(app.items):
            other = first.setdefault((section, name), app)
            if other is not app:
                places = [_definition(folder, section, name) for folder in (other, app)]
                yield InputError(
                    "CMD-FLT-016",
                    f"{section}.{name} is defined by {places[0]} and by {places[1]}",
                    hint="rename one of them, or keep both in one folder",
                    locations=places,
                )


def _definition(app: App, section: str, name: str) -> Any:
    layers = (app.base, *app.overrides.values(), *app.flat.values())
    layer = next(layer for layer in layers if name in layer.values.get(section, {}))
    return layer.at((section, name))
