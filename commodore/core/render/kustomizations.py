"""What kustomizations name: bases, plugins, addresses."""

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
ADDRESS = re.compile(r"(?:[^=\s]*=)?(https?://.+)", re.IGNORECASE)  # files of generators may have a name before them
_NOT_READ = ("commonAnnotations", "commonLabels", "labels", "images", "literals", "annotations")
_REMOTE = re.compile(r"[a-z+]+(::|://)|git@|(www\.)?(github|gitlab|bitbucket)\.[a-z]+[/:]", re.IGNORECASE)


def is_remote(source: str) -> bool:
    """Whether a kustomization is no local folder."""
    return _REMOTE.match(source) is not None


def all_named(
    folder: str,
    read: Callable[[str], bytes],
    most: int,
    *,
    enter: Callable[[str], None] = lambda _: None,
    is_strict: bool = True,
) -> Iterator[tuple[str, str]]:
    """What a kustomization names, and what local folders among that name in turn: the folder of the kustomization that
    names it, and the name.

    Args:
        read: see `named_sources`.
        most: how many folders are looked at.
        enter: is called with each folder before it is looked at.
        is_strict: raise an error for a file that is no YAML, which kustomize reports, too.

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
    """The bases and addresses that a kustomization names, and those that its plugins do, as kustomize reads them.

    Args:
        read: gives the content of a file; its OSErrors are files that are not there.

    Raises:
        InputError: a file of it is no YAML.
        CommodoreError: what `read` raises.
    """
    for name in FILES:
        for document in _documents(os.path.join(folder, name), read):
            for key, value in document.items() if isinstance(document, Mapping) else ():
                kind = key.casefold()  # kustomize does not look at case
                for source in strings_of(value):
                    if kind in PLUGINS:
                        yield from _named_by_plugin(source, folder, read)
                    elif kind in BASES:
                        yield source
                    elif is_remote(source) or ADDRESS.fullmatch(source):
                        yield source if (match := ADDRESS.fullmatch(source)) is None else match[1]


def _named_by_plugin(source: str, folder: str, read: Callable[[str], bytes]) -> Iterator[str]:
    """What a generator, a transformer or a validator names: a file, a folder, a URL, or the configuration itself."""
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
    """The documents of a file, none of one that cannot be read: kustomize tells that."""
    with contextlib.suppress(OSError):
        yield from read_documents(read(path), place=path)


def strings_of(value: Any) -> Iterator[str]:
    """The texts in a value, but for those that kustomize reads nothing for."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _NOT_READ:
                yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
