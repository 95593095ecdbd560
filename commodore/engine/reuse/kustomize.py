"""What the kustomize wrapper reads: the kustomization's folder, the folders that it names, remote bases, programs.

Remote bases are fetched by kustomize through git, in front of which stands `scripts/fetch-once`: it keeps each commit
for all runs and writes down what was fetched. Every remote name in the kustomizations has to be found there, or the
result is not kept.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from commodore import git, manifests
from commodore.engine.reuse.reads import Reads
from commodore.engine.reuse.sources import NO_REF, Sources
from commodore.errors import CommodoreError
from commodore.limits import Limits

_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BASES = ("resources", "bases", "components")
_NOT_READ = ("commonAnnotations", "commonLabels", "labels", "images", "literals", "annotations")
_HARMLESS = re.compile(r"--reorder(=\w+)?|none|legacy")
_REMOTE = re.compile(r"[a-z+]+(::|://)|git@|(www\.)?(github|gitlab|bitbucket)\.[a-z]+[/:]", re.IGNORECASE)
_MANIFEST = re.compile(r"https?://.*\.(ya?ml|json)")


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch of kustomize's."""

    url: str
    ref: str
    commit: str


class Kustomize:
    """Watches one run of the wrapper.

    Args:
        reads: where to note what is read.
        scratch: a folder for this run alone.
        cache: where commits are kept, None for nowhere.
    """

    def __init__(
        self,
        reads: Reads,
        scratch: Path,
        cache: Path | None,
        sources: Sources,
        limits: Limits,
    ) -> None:
        self._reads = reads
        self._folder = scratch
        self._cache = cache
        self._sources = sources
        self._limits = limits
        self._fetches: list[Fetch] = []

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The wrapper's environment, with our git in front of the one on its path."""
        found = shutil.which("git", path=environment.get("PATH", os.defpath))
        if found is None or self._cache is None:
            return dict(environment)
        self._folder.mkdir(parents=True)
        script = Path(__file__).resolve().parent.parent.parent / "scripts" / "fetch-once"
        words = [str(script), found, str(self._cache), str(self._log)]
        ours = self._folder / "git"
        ours.write_text(f'#!/bin/sh\nexec /bin/sh {shlex.join(words)} "$@"\n')
        ours.chmod(0o755)
        return {**environment, "PATH": f"{self._folder}:{environment.get('PATH', os.defpath)}"}

    @property
    def _log(self) -> Path:
        return self._folder / "fetched"

    def conclude(self, source: str, arguments: Sequence[str]) -> None:
        """Note what a successful run has read.

        Args:
            source: the folder or URL of the kustomization.
            arguments: those of the wrapper after the output folder.
        """
        if not all(_HARMLESS.fullmatch(argument) for argument in arguments):
            self._reads.refuse(f"kustomize was called with {' '.join(arguments)}")
            return
        self._reads.program("kustomize")
        if self._log.is_file():
            lines = [line.split("\t") for line in self._log.read_text().splitlines()]
            self._fetches = [Fetch(*line) for line in lines if len(line) == 3]
        try:
            if _REMOTE.match(source):
                self._remote(source)
            else:
                self._local(os.path.abspath(source), set())
        except (CommodoreError, OSError, ValueError) as error:
            self._reads.refuse(f"the kustomization in {source} is not understood: {error}")

    def _local(self, folder: str, seen: set[str]) -> None:
        if folder in seen or len(seen) > self._limits.kustomizations:
            return
        seen.add(folder)
        self._reads.tree(folder)
        for text in _documents(Path(folder)):
            for name in self._names(text):
                place = os.path.normpath(os.path.join(folder, name))
                if os.path.isdir(place):
                    self._local(place, seen)
                elif not place.startswith(folder + os.sep):
                    self._reads.file(place)

    def _names(self, text: bytes) -> Iterator[str]:
        """The local bases that a kustomization names; the remote ones are noted."""
        document = manifests.load(text, place="kustomization.yaml")
        if not isinstance(document, Mapping):
            return
        for key, value in document.items():
            for name in _strings(value):
                if key in _BASES and not _REMOTE.match(name):
                    yield name
                elif key in _BASES or (name.startswith(("http://", "https://")) and "\n" not in name):
                    self._remote(name)

    def _remote(self, name: str) -> None:
        """Note a remote base, and what that one names in turn."""
        address = urlsplit(name)
        if address.scheme.startswith("http") and "@" in address.netloc:
            raise ValueError("a URL holds a credential")
        if _MANIFEST.fullmatch(address._replace(query="").geturl()):
            key = ("source", "http", name)
            digest = self._sources.digest(key)
            if digest is None:
                raise ValueError(f"{name} cannot be read again")
            self._reads.note(key, digest)
            return
        query = parse_qs(address.query)
        ref = (query.get("ref") or query.get("version") or ["HEAD"])[0]
        for fetch in self._fetches:
            inner = _inner(name, fetch.url)
            if fetch.ref == ref and inner is not None:
                self._reads.note(
                    ("source", "git", fetch.url, NO_REF if ref == "HEAD" else ref, "kustomize", ""), fetch.commit
                )
                self._inside(fetch, inner, set())
                return
        raise ValueError(f"it is not known how {name} was fetched")

    def _inside(self, fetch: Fetch, folder: str, seen: set[str]) -> None:
        """Look at the kustomization in a folder of a commit that is kept."""
        if folder in seen or len(seen) > self._limits.kustomizations:
            return
        seen.add(folder)
        store = self._store(fetch)
        for file in _FILES:
            shown = git.run(
                ["cat-file", "blob", f"{fetch.commit}:{os.path.normpath(os.path.join(folder, file))}"],
                cwd=store,
                timeout=self._limits.git_timeout,
                check=False,
            )
            if shown.returncode == 0:
                for name in self._names(shown.stdout):
                    self._inside(fetch, os.path.normpath(os.path.join(folder, name)), seen)

    def _store(self, fetch: Fetch) -> Path:
        assert self._cache is not None
        asked = git.run(
            ["hash-object", "--stdin"],
            cwd=self._folder,
            input=fetch.url.encode(),
            timeout=self._limits.git_timeout,
        )
        name = asked.text
        return self._cache / f"{name}-{fetch.commit}.git"


def _documents(folder: Path) -> Iterator[bytes]:
    for name in _FILES:
        if (folder / name).is_file():
            yield (folder / name).read_bytes()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _NOT_READ:
                yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _inner(name: str, url: str) -> str | None:
    """The folder in the repository `url` that a remote base names; None if it is in another one."""
    plain, repository = (_plain(text) for text in (name.partition("?")[0], url))
    if plain == repository:
        return ""
    for separator in (".git//", ".git/", "//", "/"):
        if plain.startswith(repository + separator):
            return plain.removeprefix(repository + separator).strip("/")
    return None


def _plain(url: str) -> str:
    """A URL without its scheme and ending, which kustomize may change."""
    text = re.sub(r"^(git::)?([a-z+]+://)?(git@)?", "", url).removesuffix("/").removesuffix(".git")
    return text.replace(":", "/", 1) if "/" not in text.partition(":")[0] else text
