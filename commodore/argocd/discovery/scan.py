"""Reading definitions from the files of a tree, without rendering."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd.appsets.schema import SPEC, unknown_fields
from commodore.argocd.configuration import objects_of_values
from commodore.argocd.configuration.keys import CONFIG, PARAMETERS
from commodore.argocd.configuration.operator import KIND as OPERATED
from commodore.argocd.configuration.read import PLUGIN, Candidates, lines_of
from commodore.argocd.discovery.documents import of_interest
from commodore.argocd.discovery.model import Discovered, LostDefinition, Origin, Raw
from commodore.argocd.model.application import GROUP, Application, read_application
from commodore.argocd.model.cluster import SECRET_TYPE
from commodore.argocd.model.fields import Fields
from commodore.argocd.trees import KUSTOMIZATIONS, ParsedFiles, Tree, covers, is_git
from commodore.argocd.trees.paths import is_within
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import InputError, Location
from commodore.base.files.tree import Entry, walk
from commodore.base.limits import Limits
from commodore.base.printable import some_of

ENDINGS = (".yaml", ".yml", ".json")
_INSTALLED = re.compile(
    rb"\bargoproj/argocd:v(\d+\.\d+\.\d+)"
    rb"|\bargoproj/argo-cd/(?:raw/|blob/)?v(\d+\.\d+\.\d+)/manifests/"
    rb"|\bargoproj/argo-cd(?:\.git)?//?manifests/[\w./-]+\?(?:ref|version)=v(\d+\.\d+\.\d+)"
)
"""The image of Argo CD, or its manifests by URL."""


@dataclass
class Scanned:
    """The definitions in the files of a folder.

    Attributes:
        objects: the objects that Argo CD reads, as written.
        of_chart: the objects that the chart of Argo CD renders from values.
        files: the paths of the scanned files.
        versions: the versions of Argo CD that they install, such as `3.1.2`, each with a place.
        lines: the lines of settings, by the places of their documents.
        lost: files that seem to define Applications and cannot be read.
    """

    objects: list[Raw] = field(default_factory=list)
    of_chart: list[Raw] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    versions: dict[str, Location] = field(default_factory=dict)
    lines: dict[Location, dict[str, int]] = field(default_factory=dict)
    lost: list[LostDefinition] = field(default_factory=list)


def scan(tree: Tree, folder: Path, parsed: ParsedFiles, limits: Limits, diagnostics: Diagnostics) -> Scanned:
    """Scan the files below a folder of a tree for objects of Argo CD. Unreadable files are reported."""
    scanned = Scanned()
    kustomizations: list[tuple[Path, bytes]] = []
    ignored = tree.ignored.paths() if tree.ignored is not None else frozenset()
    for path in _files(folder, parsed, limits, diagnostics, kustomizations):
        name = os.path.relpath(path, tree.root)
        if path.is_symlink() and not is_within(path, tree.root):
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            unopened = InputError(
                "CMD-ARGO-101",
                f"the file {name} cannot be opened, and may define Applications: {error.strerror}",
                hint="make it readable, or leave it out with ignore-path in .commodore.yaml",
                locations=[name],
            )
            _unread(scanned, diagnostics, name, unopened)
            continue
        if covers(ignored, str(path)):
            _report_ignored(of_interest(content), name, parsed, diagnostics)
            continue
        scanned.files.add(str(path))
        _take_versions(content, name, scanned)
        if content := of_interest(content):
            _read(content, name, parsed, scanned, diagnostics)
    for path, content in kustomizations:
        if not covers(ignored, str(path)):
            _take_versions(content, os.path.relpath(path, tree.root), scanned)
    return scanned


def _report_ignored(content: bytes, name: str, parsed: ParsedFiles, diagnostics: Diagnostics) -> None:
    """Report a file that git ignores, if it has definitions."""
    seen = Scanned()
    if content:
        _read(content, name, parsed, seen, Diagnostics())
    kinds = sorted({str(value["kind"]) for value, _ in (*seen.objects, *seen.of_chart)})
    if kinds:
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-009",
                f"git ignores {name}, so Argo CD does not have its definitions, which are left out: {some_of(kinds)}",
                "warning",
                "track it with git, or leave it out with ignore-path in .commodore.yaml",
                locations=(Location(name),),
            )
        )


def _take_versions(content: bytes, name: str, scanned: Scanned) -> None:
    if b"argoproj/argo" not in content:  # many times faster than the pattern
        return
    for match in _INSTALLED.finditer(content):
        version = (match[1] or match[2] or match[3]).decode()
        line = content.count(b"\n", 0, match.start()) + 1
        scanned.versions.setdefault(version, Location(name, line))


def _files(
    folder: Path,
    parsed: ParsedFiles,
    limits: Limits,
    diagnostics: Diagnostics,
    kustomizations: list[tuple[Path, bytes]],
) -> Iterator[Path]:
    """Yield the files that may have definitions: no templates of charts, no patches of kustomizations, none too large.

    Args:
        kustomizations: receives the kustomizations with their contents.
    """
    patches: set[str] = set()
    kept: list[Path] = []
    for _, entry in walk(folder, skip=_is_left_out):
        if entry.name in KUSTOMIZATIONS:
            kustomization = Path(entry.path)
            try:
                content = kustomization.read_bytes()
            except OSError:
                continue
            kustomizations.append((kustomization, content))
            patches |= set(_patches(kustomization, content, parsed))
        elif entry.name.endswith(ENDINGS) and entry.is_file():
            if entry.stat().st_size > limits.argocd_scanned_bytes:
                name = os.path.relpath(entry.path, folder)
                message = f"{name} is larger than {limits.argocd_scanned_bytes} bytes, and is not read"
                diagnostics.add(Diagnostic("CMD-ARGO-102", message, "info"))
            else:
                kept.append(Path(entry.path))
    for path in kept:
        if str(path) not in patches:
            yield path


def _is_left_out(entry: Entry) -> bool:
    if is_git(entry):
        return True
    return entry.name == "templates" and os.path.isfile(os.path.join(os.path.dirname(entry.path), "Chart.yaml"))


def _patches(kustomization: Path, text: bytes, parsed: ParsedFiles) -> Iterator[str]:
    if b"patches" not in text:
        return
    try:
        content = next((value for value, _ in parsed.documents(text, kustomization.name)), None)
    except InputError:
        return
    if not isinstance(content, Mapping):
        return
    for key in ("patches", "patchesStrategicMerge", "patchesJson6902"):
        entries = content.get(key)
        for entry in entries if isinstance(entries, list) else ():
            path = entry.get("path") if isinstance(entry, Mapping) else entry
            if isinstance(path, str) and "\n" not in path:
                yield os.path.normpath(kustomization.parent / path)


def _read(content: bytes, name: str, parsed: ParsedFiles, scanned: Scanned, diagnostics: Diagnostics) -> None:
    try:
        for value, line in parsed.documents(content, name):
            place = Location(name, line)
            objects, of_chart = [item for item in objects_of(value) if is_of_argo(item)], [*objects_of_values(value)]
            scanned.objects += ((item, place) for item in objects)
            scanned.of_chart += ((item, place) for item in of_chart)
            for item in (*objects, *of_chart):
                if lines := lines_of(content, item, line):
                    scanned.lines.setdefault(place, {}).update(lines)
    except InputError as error:
        _report_unparsed(scanned, diagnostics, name, error, content)


def objects_of(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document: the document, or the items of a list."""
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        return
    items = value.get("items")
    if value["kind"].endswith("List") and isinstance(items, list):
        for item in items:
            yield from objects_of(item)
    else:
        yield value


def is_of_argo(value: Mapping[str, Any]) -> bool:
    """Check if `take` accepts an object."""
    kind = value["kind"]
    if kind in ("Application", "ApplicationSet", "AppProject", "ConfigManagementPlugin", OPERATED):
        return _group(value) == GROUP
    metadata = value.get("metadata") if kind in ("ConfigMap", "Secret") else None
    if kind == "ConfigMap":
        data = value.get("data")
        is_plugin = isinstance(data, Mapping) and "kind: ConfigManagementPlugin" in str(data.get(PLUGIN))
        return is_plugin or (isinstance(metadata, Mapping) and metadata.get("name") in (CONFIG, PARAMETERS))
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return kind == "Secret" and isinstance(labels, Mapping) and SECRET_TYPE in labels


def take(
    value: Mapping[str, Any],
    place: Location,
    origin: Origin,
    discovered: Discovered,
    candidates: Candidates,
    diagnostics: Diagnostics,
) -> None:
    """Add an object of Argo CD to the definitions or settings. Errors in it are reported.

    Raises:
        PolicyError: see `Discovered.add`.
    """
    try:
        if value["kind"] == "Application":
            application = read_application(value, place)
            discovered.add(application, origin, diagnostics)
            report_unknown_fields(application, discovered.label(application), diagnostics)
        elif value["kind"] == "ApplicationSet":
            metadata = Fields.of(value, "", place).fields("metadata")
            key = discovered.key(metadata.text("namespace"), metadata.required("name"))
            discovered.add_set(key, value, place, origin, diagnostics)
        else:
            candidates.take(value, place)
    except InputError as error:
        if value["kind"] in ("Application", "ApplicationSet"):
            discovered.lose(value, place, error, diagnostics)
        else:
            diagnostics.take(error)


def report_unknown_fields(application: Application, label: str, diagnostics: Diagnostics) -> None:
    """Report fields of an Application that its type does not have, which are mostly misspelt."""
    for path, hint in unknown_fields(application.data.get("spec"), SPEC, "spec"):
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-104",
                f"Argo CD has no field {path}, and drops it",
                "warning",
                hint or "see the reference of Argo CD's fields",
                subject=Subject(application=label),
                locations=(application.place,),
            )
        )


def _group(value: Mapping[str, Any]) -> str:
    return str(value.get("apiVersion") or "").partition("/")[0]


def _unread(scanned: Scanned, diagnostics: Diagnostics, name: str, error: InputError) -> None:
    """Report and record a file that may define Applications and cannot be read."""
    reason = Diagnostic.of(error)
    diagnostics.add(reason)
    scanned.lost.append(LostDefinition("file", name, error.locations[0], reason))


def _report_unparsed(scanned: Scanned, diagnostics: Diagnostics, name: str, error: InputError, content: bytes) -> None:
    """Report a file that is not valid YAML: as an error if it seems to have definitions and not to be a template of
    another program, else as a warning or an info.
    """
    why, places = error.message, error.locations
    is_template = b"{{" in content
    defines = b"argoproj.io/v1alpha1" in content and b"kind: Application" in content
    if defines and is_template and b"kind: ApplicationSet" not in content:
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-102",
                f"{name} seems to be a template of Applications, and is not read: {why}",
                "warning",
                "analyse its rendered form, and leave it out with ignore-path in .commodore.yaml",
                locations=places,
            )
        )
    elif defines:
        unread = InputError(
            "CMD-ARGO-101",
            f"the file {name} cannot be read, and seems to define Applications: {why}",
            hint="correct it",
            locations=places or (Location(name),),
        )
        _unread(scanned, diagnostics, name, unread)
    elif not is_template and (b"argoproj.io/" in content or CONFIG.encode() in content):
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-102",
                f"the file {name} cannot be read, and seems to hold settings of Argo CD: {why}",
                "warning",
                "correct it, or leave it out with ignore-path in .commodore.yaml",
                locations=places,
            )
        )
    else:
        diagnostics.add(Diagnostic("CMD-ARGO-102", f"{name} cannot be read: {why}", "info", locations=places))
