"""The references of kustomizations: bases, plugins, URLs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from commodore.base.errors import InputError
from commodore.base.yaml.kube_yaml import read_documents

FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
BASES = ("resources", "bases", "components")
PLUGINS = ("generators", "transformers", "validators")
ADDRESS = re.compile(r"(?:[^=\s]*=)?(https?://.+)", re.IGNORECASE)  # files of generators may have the form NAME=URL
_NOT_READ = ("commonAnnotations", "commonLabels", "labels", "images", "literals", "annotations")
_REMOTE = re.compile(r"[a-z+]+(::|://)|git@|(www\.)?(github|gitlab|bitbucket)\.[a-z]+[/:]", re.IGNORECASE)


def is_remote(source: str) -> bool:
    """Return True if a reference is not a local folder."""
    return _REMOTE.match(source) is not None


def all_named(
    folder: str,
    read: Callable[[str], bytes],
    most: int,
    *,
    enter: Callable[[str], None] = lambda _: None,
    is_strict: bool = True,
) -> Iterator[tuple[str, str]]:
    """Yield the references of a kustomization, and of the local folders among them in turn: the folder of the referring
    kustomization, and the reference.

    Args:
        read: see `named_sources`.
        most: the greatest number of folders that are read.
        enter: called with each folder before it is read.
        is_strict: raise an error for invalid YAML, which kustomize reports, too.

    Raises:
        CommodoreError: see `named_sources`; what `enter` raises.
    """
    pending, seen = [folder], set[str]()
    while pending and len(seen) < most:
        place = os.path.normpath(pending.pop())
        if place in seen:
            continue
        seen.add(place)
        enter(place)
        if not os.path.isdir(place):
            continue
        with contextlib.suppress(*() if is_strict else (InputError,)):
            for name in named_sources(place, read):
                yield place, name
                inner = os.path.join(place, name)
                if not is_remote(name) and os.path.isdir(inner):
                    pending.append(inner)


def named_sources(folder: str, read: Callable[[str], bytes]) -> Iterator[str]:
    """Yield the bases and URLs that a kustomization or its plugins name, as kustomize reads them.

    Args:
        read: returns the content of a file; an OSError is read as a missing file.

    Raises:
        InputError: a file is not valid YAML.
        CommodoreError: what `read` raises.
    """
    for name in FILES:
        for document in _documents(os.path.join(folder, name), read):
            for key, value in document.items() if isinstance(document, Mapping) else ():
                kind = key.casefold()  # kustomize ignores case
                for source in strings_of(value):
                    if kind in PLUGINS:
                        yield from _named_by_plugin(source, folder, read)
                    elif kind in BASES:
                        yield source
                    elif is_remote(source) or ADDRESS.fullmatch(source):
                        yield source if (match := ADDRESS.fullmatch(source)) is None else match[1]


def _named_by_plugin(source: str, folder: str, read: Callable[[str], bytes]) -> Iterator[str]:
    """Yield the references of a generator, transformer or validator: a file, folder or URL, or in an inline
    configuration.
    """
    place = os.path.join(folder, source)
    if "\n" not in source and (is_remote(source) or os.path.isdir(place)):
        yield source
        return
    is_file = "\n" not in source and os.path.isfile(place)
    for document in _documents(place, read) if is_file else read_documents(source, place="kustomization.yaml"):
        for name in strings_of(document):
            if (match := ADDRESS.fullmatch(name)) is not None:
                yield match[1]


def _documents(path: str, read: Callable[[str], bytes]) -> Iterator[Any]:
    """Return the documents of a file; nothing for an unreadable file: kustomize reports that."""
    with contextlib.suppress(OSError):
        yield from read_documents(read(path), place=path)


def strings_of(value: Any) -> Iterator[str]:
    """Yield the texts in a value, without the keys that kustomize reads no files for."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _NOT_READ:
                yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
