"""Scanning the bytes of files of a source for objects of Argo CD, before rendering."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from commodore.argocd.discovery.scan import ENDINGS
from commodore.argocd.model.sources import Source, SourceType
from commodore.argocd.trees import files_of_kustomization, is_git
from commodore.argocd.trees.paths import is_within
from commodore.base.errors import InputError
from commodore.base.files.tree import walk
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_documents

_APPLICATION = re.compile(rb"^ *kind: *[\"']?Application(Set)?\b", re.MULTILINE)
_IMPORT = re.compile(rb"""\bimport(?:str|bin)?\s*@?(?:"([^"\\]+)"|'([^'\\]+)')""")
_NAMED = 3  # maximum number of folders in a message
_PLAIN = (b"argoproj.io/", b"argocd-cm")  # one of these is in every match of `_WORDS`, and is found much faster
_SETTINGS = re.compile(rb"argocd-cm\b|argocd-cmd-params-cm\b|argocd\.argoproj\.io/secret-type|\bkind: *AppProject\b")
_WORDS = re.compile(rb"(?<![.\w])argoproj\.io/|argocd-cm\b|argocd-cmd-params-cm\b|argocd\.argoproj\.io/secret-type")


def may_define(source: Source, kind: SourceType, folder: Path, root: Path, scanned: frozenset[str]) -> bool:
    """Check if a source may render objects of Argo CD that are not in the scanned files.

    Cases that bytes cannot decide are true: value files from elsewhere, packed or missing parts of charts, remote
    bases, missing imports.

    Args:
        folder: the folder of the source.
        scanned: the files that were read as manifests.
    """
    if kind == "Directory":
        files = list(_files(folder))
        if any(_has_words(path) for path in files if path.endswith(ENDINGS) and path not in scanned):
            return True
        libraries = source.directory.libraries if source.directory is not None else ()
        return _jsonnet([path for path in files if path.endswith(".jsonnet")], folder, root, libraries)
    if kind == "Kustomize":
        return _kustomization(folder, root)
    if kind == "Helm":
        return _chart(source, folder, root)
    return False


def holds_settings(kind: SourceType, folder: Path, root: Path, scanned: frozenset[str]) -> bool:
    """Check if a source renders settings of Argo CD that are not in the scanned files.

    Args:
        folder, scanned: see `may_define`.
    """
    files = (files_of_kustomization(folder, root) or _files(folder)) if kind == "Kustomize" else _files(folder)
    plain = kind == "Directory"
    return any(_SETTINGS.search(_content(path)) is not None for path in files if not plain or path not in scanned)


def defining_folders(folder: Path, limits: Limits) -> list[str]:
    """Return the first folders below a folder with charts that seem to render Applications, by their templates or by
    the chart `argocd-apps`; relative to the folder.
    """
    folders: list[str] = []
    for name, entry in walk(folder, skip=is_git):
        if not entry.is_file() or entry.stat().st_size > limits.argocd_scanned_bytes:
            continue
        chart, template, _ = f"./{name}".rpartition("/templates/")
        chart = os.path.normpath(chart)
        if entry.name == "Chart.yaml":
            chart = os.path.dirname(name) or "."
            makes = "argocd-apps" in _dependencies(Path(entry.path).parent)
        else:
            makes = bool(template) and (folder / chart / "Chart.yaml").is_file() and _makes_applications(entry.path)
        if makes and chart not in folders:
            folders.append(chart)
            if len(folders) == _NAMED:
                break
    return folders


def _makes_applications(path: str) -> bool:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return b"argoproj.io/" in content and _APPLICATION.search(content) is not None


def _jsonnet(files: list[str], folder: Path, root: Path, libraries: Iterable[str]) -> bool:
    """Check Jsonnet files and their imports for words of Argo CD. Imports outside of the repository are true."""
    places = [str(folder), *(str(root / library.lstrip("/")) for library in libraries)]
    pending, seen = files, set[str]()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        content = _content(path)
        if not is_within(Path(path), root) or _contains_words(content):
            return True
        for match in _IMPORT.finditer(content):
            name = os.fsdecode(match[1] or match[2])
            named = (os.path.normpath(os.path.join(place, name)) for place in (os.path.dirname(path), *places))
            imported = next(filter(os.path.isfile, named), None)
            if imported is None:
                return True
            pending.append(imported)
    return False


def _chart(source: Source, folder: Path, root: Path) -> bool:
    if _WORDS.search(json.dumps(source.data).encode()):
        return True
    helm = source.helm
    if helm is not None and any(_from_values(text, folder, root) for text in helm.value_files):
        return True
    if any(path.endswith((".tgz", ".tar.gz")) or _has_words(path) for path in _files(folder)):
        return True
    return any(not os.path.isdir(folder / "charts" / name) for name in _dependencies(folder))


def _from_values(text: str, folder: Path, root: Path) -> bool:
    if re.search(r"[$*?\[]|://", text):
        return True
    path = root / text.lstrip("/") if text.startswith("/") else folder / text
    return os.path.isfile(path) and _has_words(str(path))


def _dependencies(chart: Path) -> Iterator[str]:
    for name in ("Chart.yaml", "requirements.yaml"):
        content = _read(chart / name)
        listed = content.get("dependencies")
        for dependency in listed if isinstance(listed, list) else ():
            if isinstance(dependency, Mapping):
                yield str(dependency.get("name") or "?").replace("/", "?")


def _kustomization(folder: Path, root: Path) -> bool:
    files = files_of_kustomization(folder, root)
    return files is None or any(map(_has_words, files))


def _files(folder: Path) -> Iterator[str]:
    for _, entry in walk(folder, skip=is_git):
        if entry.is_file():
            yield entry.path


def _has_words(path: str) -> bool:
    return _contains_words(_content(path))


def _content(path: str) -> bytes:
    """Return the content of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _contains_words(content: bytes) -> bool:
    return any(word in content for word in _PLAIN) and _WORDS.search(content) is not None


def _read(file: Path) -> Mapping[str, Any]:
    try:
        documents: Iterable[Any] = read_documents(file.read_bytes(), place=file.name)
        content: Any = next(iter(documents), None)
    except (InputError, OSError):
        return {}
    return content if isinstance(content, Mapping) else {}
