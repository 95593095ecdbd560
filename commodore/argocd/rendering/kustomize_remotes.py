"""Parts of kustomizations that are elsewhere: files of web servers, and folders of git repositories.

Files are fetched here and put into the copy that kustomize builds. For folders kustomize calls git, in front of which
stands `scripts/fetch-once`. Both are kept for runs offline.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd.rendering.model import Unit
from commodore.argocd.trees import KUSTOMIZATIONS
from commodore.argocd.trees.paths import is_within
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.files.workspace import guard_disk, make_private
from commodore.base.yaml.kube_yaml import read_documents
from commodore.core.render.programs import write_file
from commodore.core.results.caches import dependency_cache, refused_write, usable
from commodore.core.sources.git import CommitStore, anonymous_variables, redact, with_settings

_LISTS = ("resources", "crds", "configurations", "patchesStrategicMerge", "patchesJson6902", "patches")
_FOLDERS = ("resources", "bases", "components")
_MOST = 50  # kustomizations
_OF_GIT = re.compile(r"https?://[^/]+/.*(//|\.git(/|\?|$)|/_git/)|.*[?&](ref|version|submodules|timeout)=")
_OWN = ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
_NO_GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}


@dataclass
class RemoteFilesOf:
    """Puts the files of web servers that a kustomization names into the copy of it.

    Attributes:
        names: the URLs by the names of the files that stand for them.
        missing: URLs that were not to be had; kustomize may find git repositories there.
    """

    unit: Unit
    names: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def bring(self, folder: Path, root: Path) -> None:
        """Replace the URLs in the kustomizations of a copy.

        Raises:
            CommodoreError: see `RemoteFiles.content`.
        """
        for file, content in list(kustomizations(folder, root)):
            replaced = self._replaced(content, file.parent)
            if replaced != content:
                file.unlink()  # it may be a further name of the original
                write_file(file, json.dumps(replaced))

    def _replaced(self, content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        found = dict(content)
        for key in _LISTS:
            if isinstance(content.get(key), list):
                found[key] = [self._entry(one, folder) for one in content[key]]
        if isinstance(content.get("openapi"), Mapping):
            found["openapi"] = self._entry(content["openapi"], folder)
        return found

    def _entry(self, entry: Any, folder: Path) -> Any:
        if isinstance(entry, Mapping) and is_file_url(entry.get("path")):
            return {**entry, "path": self._name(entry["path"], folder)}
        return self._name(entry, folder) if is_file_url(entry) else entry

    def _name(self, url: str, folder: Path) -> str:
        """What stands in the kustomization for a URL: the URL itself if no file is there."""
        try:
            content = self.unit.files.content(url)
        except EnvironmentFault as error:
            if error.code not in ("CMD-ARGO-310", "CMD-ARGO-311"):
                raise
            self.missing.append(url)
            return url
        if content.lstrip()[:1] == b"<":  # the page of a forge
            return url
        name = f"remote-{len(self.names)}-{re.sub(r'[^A-Za-z0-9.-]', '_', url.rpartition('/')[2])[-60:]}"
        write_file(folder / name, content)
        self.names[name] = redact(url)
        return name


def names_files(folder: Path, root: Path) -> bool:
    """Whether a kustomization, or one that it names, names a file of a web server."""
    for _, content in kustomizations(folder, root):
        entries = [*(entry for key in _LISTS for entry in _listed(content, key)), content.get("openapi")]
        if any(is_file_url(one.get("path") if isinstance(one, Mapping) else one) for one in entries):
            return True
    return False


def is_file_url(value: Any) -> bool:
    """Whether this may be the URL of a file on a web server; that of a folder in a git repository says that mostly."""
    is_url = isinstance(value, str) and value.startswith(("http://", "https://"))
    return is_url and "\n" not in value and _OF_GIT.match(value) is None


def kustomizations(folder: Path, root: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The file and content of a kustomization and of those within its repository that it names.

    None of one that records where objects come from: a copy of a remote file has another origin.
    """
    pending, seen = [str(folder)], set[str]()
    while pending and len(seen) < _MOST:
        place = os.path.normpath(pending.pop())
        if place in seen or not is_within(Path(place), root):
            continue
        seen.add(place)
        present = [path for name in KUSTOMIZATIONS if (path := Path(place, name)).is_file()]
        content = _content(present[0]) if len(present) == 1 else None
        if content is None or (len(seen) == 1 and "originAnnotations" in _listed(content, "buildMetadata")):
            continue
        yield present[0], content
        inner = [os.path.join(place, name) for key in _FOLDERS for name in _listed(content, key) if _is_path(name)]
        pending += filter(os.path.isdir, inner)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _listed(content: Mapping[str, Any], key: str) -> list[Any]:
    value = content.get(key)
    return value if isinstance(value, list) else []


def _content(file: Path) -> Mapping[str, Any] | None:
    try:
        content: Any = next(read_documents(file.read_bytes(), place=file.name), None)
    except (InputError, OSError):
        return None  # kustomize says that
    return content if isinstance(content, Mapping) else None


@dataclass(frozen=True, slots=True)
class BaseGit:
    """What kustomize calls as git.

    Attributes:
        program: None if there is no git here.
        variables: of git.
        store: where commits are kept.
        log: a line per fetch, see `CommitStore.write_git`.
    """

    program: Path | None
    variables: Mapping[str, str]
    store: Path
    log: Path

    def outdated(self) -> Iterator[tuple[str, str]]:
        """URLs and revisions that may mean another commit by now."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.is_file() else []
        for url, ref, commit in dict.fromkeys(tuple(line.split("\t")) for line in lines if line.count("\t") == 2):
            if ref != commit:
                yield redact(url), ref


def base_git(home: Path, context: Context) -> BaseGit:
    """Write the program that kustomize calls as git, with the credentials that are given.

    Args:
        home: the private home of kustomize.
    """
    variables = _NO_GIT if context.offline else _git_variables(home, context)
    real, place = shutil.which("git"), home / "git"
    kept = usable(dependency_cache() / "kustomize")
    if refused_write(kept):
        kept = home / "commits"
    with guard_disk(kept):
        make_private(kept)
    log = home / "fetched"
    if real is None:
        return BaseGit(None, variables, kept, log)
    store = CommitStore("kustomize", kept, context)
    store.sweep()
    # Git's own home may lie where kustomize's is not.
    exports = {"PATH": os.environ.get("PATH", os.defpath), **{key: variables[key] for key in _OWN if key in variables}}
    store.write_git(place, os.path.abspath(real), log, offline=context.offline, exports=exports)
    return BaseGit(place, variables, kept, log)


def _git_variables(home: Path, context: Context) -> dict[str, str]:
    """What git gets that kustomize calls: where the user's configuration leads, and the credentials that are given."""
    access = context.access
    if access is None:
        return anonymous_variables(home, context, logins=True)
    given, rights = access.variables(), access.all_rights()
    file = Path(given["HOME"]) / ".gitconfig"
    if "GIT_CONFIG_NOSYSTEM" in given and file.is_file():  # git's own home may lie where it cannot be read
        shutil.copyfile(file, home / ".gitconfig")
        given = {**given, "HOME": str(home)}
    return with_settings({**given, **rights.environment}, rights.settings)
