"""What a kustomization is made of, as far as that lies in its repository."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from commodore.argocd.trees.tree import is_git
from commodore.confinement.policy import check_source
from commodore.errors import InputError
from commodore.git import redact
from commodore.manifests.kube_yaml import read_documents
from commodore.manifests.kustomizations import FILES, is_remote, named_sources
from commodore.tree import walk

KUSTOMIZATIONS = FILES
_LISTS = ("resources", "bases", "components", "crds", "configurations")
_PROGRAMS = ("helmCharts", "helmChartInflationGenerator", "generators", "transformers", "validators")
_MOST = 50  # folders and files beside the first one


def files_of_kustomization(folder: Path, root: Path) -> list[str] | None:
    """The files that building a kustomization may read: those below its folder, and below others that it names.

    None if there may be others: remote parts, charts, generators and transformers of one's own, links, too many.

    Args:
        root: the folder of the repository.
    """
    pending, seen, found = [str(folder)], set[str](), list[str]()
    while pending:
        place = os.path.normpath(pending.pop())
        if place in seen:
            continue
        seen.add(place)
        if len(seen) > _MOST or not f"{place}/".startswith(f"{root}/") or os.path.islink(place):
            return None
        if os.path.isfile(place):
            found.append(place)
            continue
        if not os.path.isdir(place):
            return None  # perhaps a remote part without a scheme
        for _, entry in walk(place, skip=is_git):
            if entry.is_symlink():
                return None
            if entry.is_file():
                found.append(entry.path)
        for name in KUSTOMIZATIONS:
            entries = _entries(Path(place, name))
            if entries is None:
                return None
            pending += [os.path.join(place, entry) for entry in entries]
    return sorted(set(found))


def check_sources(folder: Path, root: Path) -> None:
    """Refuse a kustomization that names something on this machine's link.

    Args:
        root: the folder of the repository.

    Raises:
        PolicyError: CMD-CONF-011.
    """

    def read(path: str) -> bytes:
        if not f"{os.path.realpath(path)}/".startswith(f"{os.path.realpath(root)}/"):
            raise FileNotFoundError(path)
        return Path(path).read_bytes()

    pending, seen = [str(folder)], set[str]()
    while pending and len(seen) < _MOST:
        place = os.path.normpath(pending.pop())
        if place in seen:
            continue
        seen.add(place)
        with contextlib.suppress(InputError):  # kustomize tells that
            for name in named_sources(place, read):
                if is_remote(name):
                    check_source(name, f"the base {redact(name)}")
                elif os.path.isdir(inner := os.path.join(place, name)):
                    pending.append(inner)


def _entries(file: Path) -> list[str] | None:
    try:
        text = file.read_bytes()
        content: Any = next(read_documents(text, place=file.name), None)
    except FileNotFoundError:
        return []
    except (InputError, OSError):
        return None
    if not isinstance(content, Mapping) or b"://" in text or b"?ref=" in text or any(map(content.get, _PROGRAMS)):
        return None
    return list(_paths(content))


def _paths(content: Mapping[str, Any]) -> Iterator[str]:
    for key in _LISTS:
        listed = content.get(key)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, str) and "\n" not in one and "\0" not in one:
                yield one
