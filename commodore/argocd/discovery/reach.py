"""Whether the files of a source may hold objects of Argo CD: a look at bytes, before anything is rendered."""

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
from commodore.errors import InputError
from commodore.limits import Limits
from commodore.manifests.kube_yaml import read_documents
from commodore.tree import walk

_APPLICATION = re.compile(rb"^ *kind: *[\"']?Application(Set)?\b", re.MULTILINE)
_NAMED = 3  # folders that a message names
_PLAIN = (b"argoproj.io/", b"argocd-cm")  # one of them is in all that the pattern finds, many times as fast
_WORDS = re.compile(rb"(?<![.\w])argoproj\.io/|argocd-cm\b|argocd-cmd-params-cm\b|argocd\.argoproj\.io/secret-type")


def may_define(source: Source, kind: SourceType, folder: Path, root: Path, scanned: frozenset[str]) -> bool:
    """Whether rendering a source may give objects of Argo CD that the files which were scanned do not show.

    What cannot be told from bytes counts as true: value files from elsewhere, packed or missing parts of charts, remote
    bases.

    Args:
        folder: that of the source.
        scanned: the files that were read as manifests.
    """
    if kind == "Directory":
        return any(
            _has_words(path) for path in _files(folder) if path.endswith((*ENDINGS, ".jsonnet")) and path not in scanned
        )
    if kind == "Kustomize":
        return _kustomization(folder, root)
    if kind == "Helm":
        return _chart(source, folder, root)
    return False


def defining_folders(folder: Path, limits: Limits) -> list[str]:
    """The first folders below one with charts that seem to make Applications, by templates of their own or as the chart
    `argocd-apps` does; relative to it.
    """
    found: list[str] = []
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
        if makes and chart not in found:
            found.append(chart)
            if len(found) == _NAMED:
                break
    return found


def _makes_applications(path: str) -> bool:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return b"argoproj.io/" in content and _APPLICATION.search(content) is not None


def _chart(source: Source, folder: Path, root: Path) -> bool:
    if _WORDS.search(json.dumps(source.data).encode()):
        return True
    helm = source.helm
    if helm is not None and any(_from_values(text, folder, root) for text in helm.value_files):
        return True
    if any(path.endswith((".tgz", ".tar.gz")) or _has_words(path) for path in _files(folder)):
        return True
    return any(not (folder / "charts" / name).is_dir() for name in _dependencies(folder))


def _from_values(text: str, folder: Path, root: Path) -> bool:
    if re.search(r"[$*?\[]|://", text):
        return True
    path = root / text.lstrip("/") if text.startswith("/") else folder / text
    return path.is_file() and _has_words(str(path))


def _dependencies(chart: Path) -> Iterator[str]:
    for name in ("Chart.yaml", "requirements.yaml"):
        content = _read(chart / name)
        listed = content.get("dependencies")
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, Mapping):
                yield str(one.get("name") or "?").replace("/", "?")


def _kustomization(folder: Path, root: Path) -> bool:
    files = files_of_kustomization(folder, root)
    return files is None or any(map(_has_words, files))


def _files(folder: Path) -> Iterator[str]:
    for _, entry in walk(folder, skip=is_git):
        if entry.is_file():
            yield entry.path


def _has_words(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return False
    return any(word in content for word in _PLAIN) and _WORDS.search(content) is not None


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found: Iterable[Any] = read_documents(file.read_bytes(), place=file.name)
        content: Any = next(iter(found), None)
    except (InputError, OSError):
        return {}
    return content if isinstance(content, Mapping) else {}
