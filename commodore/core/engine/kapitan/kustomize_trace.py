"""Record the inputs of the kustomize wrapper: the kustomization's folder, its bases, remote bases, programs.

kustomize fetches remote bases with git, which is wrapped by `scripts/fetch-once`: it stores each commit for all runs
and logs the fetches. Every remote name in the kustomizations must be in that log, or the result is not stored.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from commodore.base import yaml as manifests
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.values.commits import is_commit
from commodore.core.engine.cache.keys import SOURCE
from commodore.core.engine.cache.remote_identity import NO_REF, SourceIdentities
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.render.kustomizations import ADDRESS, BASES, FILES, PLUGINS, is_remote, strings_of
from commodore.core.sources import git

_PLAIN = re.compile(r"(\$\{compiled_target_dir\}|[\w./@+-])+")
_STRANGE = re.compile(r"(PATH|HOME|TMPDIR|(GIT|XDG|KUBE|KUSTOMIZE|LD|SSH)_?\w*)", re.IGNORECASE)
_GENERATORS = ("configMapGenerator", "secretGenerator")
_HARMLESS = re.compile(r"--reorder(=\w+)?|none|legacy")
_MANIFEST = re.compile(r"https?://.*\.(ya?ml|json)")


@dataclass(frozen=True, slots=True)
class Fetch:
    """A fetch by kustomize."""

    url: str
    ref: str
    commit: str


class Kustomize:
    """Observes a run of the wrapper.

    Args:
        reads: records inputs.
        scratch: a folder for this run only.
        cache: the folder of stored commits, None without one.
    """

    def __init__(
        self,
        reads: TraceRecorder,
        scratch: Path,
        cache: Path | None,
        sources: SourceIdentities,
        context: Context,
    ) -> None:
        self._reads = reads
        self._folder = scratch
        self._cache = git.CommitStore("kustomize", cache, context) if cache is not None else None
        self._sources = sources
        self._context = context
        self._fetches: list[Fetch] = []
        self.is_taken = False
        """True if the result was taken from the cache, so that the wrapper does not run."""
        self._listings: dict[Fetch, dict[str, str]] = {}
        self._user_git = ""
        self.source = ""
        """The folder or URL of the kustomization that is built."""

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the wrapper's environment, with the git wrapper first in its path."""
        program = shutil.which("git", path=environment.get("PATH", os.defpath))
        if program is None or self._cache is None:
            return dict(environment)
        store = self._cache
        store.sweep()  # leftovers of killed scripts
        self._folder.mkdir(parents=True)
        self._user_git = program
        store.write_git(self._folder / "git", program, self._log, offline=self._sources.offline, exports={})
        return {**environment, "PATH": f"{self._folder}:{environment.get('PATH', os.defpath)}"}

    def words(self, text: str) -> str:
        """Replace the path of the git wrapper in kustomize's output by the user's git: the wrapper is temporary."""
        return text.replace(str(self._folder / "git"), self._user_git) if self._user_git else text

    @property
    def _log(self) -> Path:
        return self._folder / "fetched"

    def begin(self, source: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Record the inputs before a run, to detect changes during the run.

        Args:
            source: the folder or URL of the kustomization.
            arguments: the wrapper's arguments in the entry, the output folder first.
            environment: the variables that the entry sets.
        """
        self.source = source
        if not _PLAIN.fullmatch(arguments[0]) or not all(_HARMLESS.fullmatch(argument) for argument in arguments[1:]):
            self._reads.refuse(f"kustomize was called with {' '.join(arguments)}")
            return
        strange = sorted(name for name in environment if _STRANGE.fullmatch(name))
        if strange:
            self._reads.refuse(f"kustomize was called with {strange[0]} set to something else")
            return
        self._reads.program("kustomize")
        self._reads.defaults("kubectl")
        if not is_remote(source):
            with contextlib.suppress(CommodoreError, OSError, ValueError):  # reported, or refused, later
                self._local(os.path.abspath(source), set(), remotes=False)

    def conclude(self, source: str) -> None:
        """Record the inputs of a successful run."""
        if self._log.is_file():
            lines = [line.split("\t") for line in self._log.read_text().splitlines()]
            self._fetches = [Fetch(*line) for line in lines if len(line) == 3]
        try:
            if is_remote(source):
                self._remote(source)
            else:
                self._local(os.path.abspath(source), set(), remotes=True)
        except (CommodoreError, OSError, ValueError) as error:
            self._reads.refuse(git.redact(f"the kustomization in {source} is not understood: {error}"))

    def _local(self, folder: str, seen: set[str], *, remotes: bool) -> None:
        if folder in seen:
            return
        if len(seen) > self._context.limits.kustomizations:
            raise ValueError("it has too many bases")
        seen.add(folder)
        self._reads.tree(folder)
        for text in _documents(Path(folder)):
            for name in _environment_files(text):
                _check_environment(name, Path(_join(folder, name)).read_bytes())
            for key, name in _references(text):
                place = _join(folder, name)
                if _is_remote(key, name):
                    if remotes or _MANIFEST.match(name):
                        self._remote(name)
                elif os.path.realpath(place) != os.path.realpath(_join(os.path.realpath(folder), name)):
                    raise ValueError(f"{name} is not in the folder that a link points to")
                elif os.path.isdir(place):
                    self._local(place, seen, remotes=remotes)
                elif not os.path.exists(place):
                    raise ValueError(f"{name} is neither a file nor a known kind of remote base")
                else:
                    if not place.startswith(folder + os.sep):
                        self._reads.file(place)
                    if key in PLUGINS and b"://" in Path(place).read_bytes():
                        raise ValueError(f"{name} may read from a remote place")

    def _remote(self, name: str) -> None:
        """Record a remote base, and its own bases."""
        address = urlsplit(name)
        if address.scheme.startswith("http") and "@" in address.netloc:
            raise ValueError("a URL holds a credential")
        if _MANIFEST.fullmatch(address._replace(query="").geturl()):
            if address.query:
                raise ValueError("a URL holds a query, which may be a credential")
            digest = self._sources.digest(SOURCE.key("http", name))
            if digest is None:
                raise ValueError(f"{name} cannot be read again")
            self._reads.note(SOURCE.key("http", name), digest)
            return
        query = parse_qs(address.query)
        ref = (query.get("ref") or query.get("version") or ["HEAD"])[0]
        fetches = [(fetch, _inner(name, fetch.url)) for fetch in self._fetches if fetch.ref == ref]
        known = {(fetch, inner) for fetch, inner in fetches if inner is not None}
        if len(known) != 1:
            raise ValueError(f"it is not known how {name} was fetched")
        ((fetch, inner),) = known
        if git.redact(fetch.url) != fetch.url:  # kustomize parses names in its own way
            raise ValueError("a URL holds a credential")
        key = SOURCE.key("git", fetch.url, NO_REF if ref == "HEAD" else ref, "kustomize", "")
        self._reads.note(key, "fixed" if is_commit(ref) else fetch.commit)
        self._sources.tell(key, fetch.commit)
        self._inside(fetch, inner or "", set())

    def _inside(self, fetch: Fetch, folder: str, seen: set[str]) -> None:
        """Record the bases of a kustomization in a folder of a stored commit."""
        folder = os.path.normpath(folder)
        if folder in seen:
            return
        if len(seen) > self._context.limits.kustomizations:
            raise ValueError("it has too many bases")
        seen.add(folder)
        files = [file for file in FILES if self._kind(fetch, os.path.join(folder, file)) == "blob"]
        if not files:
            raise ValueError(f"{fetch.url} has no kustomization in {folder}")
        for file in files:
            text = self._blob(fetch, _join(folder, file))
            for name in _environment_files(text):
                _check_environment(name, self._blob(fetch, _join(folder, name)))
            for key, name in _references(text):
                place = os.path.normpath(os.path.join(folder, name))
                kind = self._kind(fetch, place) if not _is_remote(key, name) else ""
                if not kind:
                    self._remote(name)
                elif kind == "tree":
                    self._inside(fetch, place, seen)
                elif kind != "blob" or key in PLUGINS:
                    raise ValueError(f"{name} may be anything")

    def _kind(self, fetch: Fetch, path: str) -> str:
        """Return the kind of a path in a commit: `blob`, `tree`, or another word for everything else."""
        path = os.path.normpath(path)
        if path == ".":
            return "tree"
        if path.startswith((os.pardir, os.sep)):
            return "outside"
        return self._listing(fetch).get(path, "missing")

    def _listing(self, fetch: Fetch) -> dict[str, str]:
        """Return all paths of a commit with their kinds, read by one process."""
        if fetch not in self._listings:
            listed = self._git(fetch, "ls-tree", "-r", "-t", "-z", "--full-tree", fetch.commit)
            entries = (entry.partition(b"\t") for entry in listed.split(b"\0") if entry)
            self._listings[fetch] = {
                os.fsdecode(path): "link" if about.startswith(b"120000") else about.split(None, 2)[1].decode()
                for about, _, path in entries
            }
        return self._listings[fetch]

    def _blob(self, fetch: Fetch, path: str) -> bytes:
        return self._git(fetch, "cat-file", "blob", f"{fetch.commit}:{path}")

    def _git(self, fetch: Fetch, *arguments: str) -> bytes:
        assert self._cache is not None
        place = self._cache.place(fetch.url, fetch.commit)
        return git.Git(place, self._context).run(list(arguments)).stdout


def _documents(folder: Path) -> Iterator[bytes]:
    for name in FILES:
        if (folder / name).is_file():
            yield (folder / name).read_bytes()


def _references(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield the bases and addresses in a kustomization, each with its key.

    Raises:
        ValueError: it has an unsupported name.
    """
    document = manifests.load(text, place="kustomization.yaml")
    for key, value in document.items() if isinstance(document, Mapping) else ():
        for name in strings_of(value):
            if key in PLUGINS and ("\n" in name or ":" in name):  # the plugin itself
                if "://" in name:
                    raise ValueError("a plugin may read from a remote place")
            elif key in (*BASES, *PLUGINS):
                yield str(key), name
            elif "\n" not in name and (match := ADDRESS.fullmatch(name)) is not None:
                yield str(key), match[1]


def _environment_files(text: bytes) -> Iterator[str]:
    """Yield the files with variables of a kustomization's generators."""
    document = manifests.load(text, place="kustomization.yaml")
    for key in _GENERATORS if isinstance(document, Mapping) else ():
        for generator in document.get(key) or ():
            if isinstance(generator, Mapping):
                yield from strings_of([generator.get("env"), generator.get("envs")])


def _check_environment(name: str, content: bytes) -> None:
    """Refuse a file with a variable without a value: many versions of kustomize read it from the environment.

    Raises:
        ValueError: the file has such a variable.
    """
    for line in content.removeprefix(codecs.BOM_UTF8).splitlines():
        if line.strip() and not line.lstrip().startswith(b"#") and b"=" not in line:
            raise ValueError(f"{name} names a variable of the environment")


def _is_remote(key: str, name: str) -> bool:
    return key not in (*BASES, *PLUGINS) or is_remote(name)


def _join(folder: str, file: str) -> str:
    return os.path.normpath(os.path.join(folder, file))


def _inner(name: str, url: str) -> str | None:
    """Return the folder of a remote base in the repository `url`; None if it is in another one."""
    plain, repository = (_plain(text) for text in (name.partition("?")[0], url))
    if plain == repository:
        return ""
    for separator in (".git//", ".git/", "//", "/"):
        if plain.startswith(repository + separator):
            return plain.removeprefix(repository + separator).strip("/")
    return None


def _plain(url: str) -> str:
    """Return a URL without its scheme and ending, which kustomize may change."""
    text = re.sub(r"^(git::)?([a-z+]+://)?(git@)?", "", url).removesuffix("/").removesuffix(".git")
    return text.replace(":", "/", 1) if "/" not in text.partition(":")[0] else text
