"""Remote parts of kustomizations: files of web servers, and folders of git repositories.

Files are fetched here and copied into the work folder of kustomize. For folders kustomize calls git through the
wrapper `scripts/fetch-once`. Both are cached for offline runs.
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
_MAX_KUSTOMIZATIONS = 50
_OF_GIT = re.compile(r"https?://[^/]+/.*(//|\.git(/|\?|$)|/_git/)|.*[?&](ref|version|submodules|timeout)=")
_OWN = ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
_NO_GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}


@dataclass
class RemoteFileCopies:
    """Copies the files of web servers that a kustomization names into its work folder.

    Attributes:
        names: the URLs by the names of their files.
        missing: URLs that could not be fetched; they may be git repositories.
    """

    unit: Unit
    names: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def replace(self, folder: Path, root: Path) -> None:
        """Replace the URLs in the kustomizations of a work folder.

        Raises:
            CommodoreError: see `RemoteFiles.content`.
        """
        for file, content in list(kustomizations(folder, root)):
            replaced = self._replaced(content, file.parent)
            if replaced != content:
                file.unlink()  # it may be a hard link to the original
                write_file(file, json.dumps(replaced))

    def _replaced(self, content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        result = dict(content)
        for key in _LISTS:
            if isinstance(content.get(key), list):
                result[key] = [self._entry(entry, folder) for entry in content[key]]
        if isinstance(content.get("openapi"), Mapping):
            result["openapi"] = self._entry(content["openapi"], folder)
        return result

    def _entry(self, entry: Any, folder: Path) -> Any:
        if isinstance(entry, Mapping) and is_file_url(entry.get("path")):
            return {**entry, "path": self._name(entry["path"], folder)}
        return self._name(entry, folder) if is_file_url(entry) else entry

    def _name(self, url: str, folder: Path) -> str:
        """Return the file name that replaces a URL, or the URL itself if it is not a file."""
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
    """Check if a kustomization, or another one that it names, names a file of a web server."""
    for _, content in kustomizations(folder, root):
        entries = [*(entry for key in _LISTS for entry in _listed(content, key)), content.get("openapi")]
        if any(is_file_url(entry.get("path") if isinstance(entry, Mapping) else entry) for entry in entries):
            return True
    return False


def is_file_url(value: Any) -> bool:
    """Check if a value may be the URL of a file on a web server. URLs of folders in git repositories have other
    forms.
    """
    is_url = isinstance(value, str) and value.startswith(("http://", "https://"))
    return is_url and "\n" not in value and _OF_GIT.match(value) is None


def kustomizations(folder: Path, root: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the file and content of a kustomization and of others in its repository that it names.

    Kustomizations with `originAnnotations` are skipped, as a copy of a remote file has another origin.
    """
    pending, seen = [str(folder)], set[str]()
    while pending and len(seen) < _MAX_KUSTOMIZATIONS:
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
        return None  # kustomize reports it
    return content if isinstance(content, Mapping) else None


@dataclass(frozen=True, slots=True)
class BaseGit:
    """The git that kustomize calls.

    Attributes:
        program: None if git is not installed.
        variables: environment of git.
        store: folder of the cached commits.
        log: file with a line per fetch, see `CommitStore.write_git`.
    """

    program: Path | None
    variables: Mapping[str, str]
    store: Path
    log: Path

    def outdated(self) -> Iterator[tuple[str, str]]:
        """Yield URLs and revisions that may have moved to another commit."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.is_file() else []
        for url, ref, commit in dict.fromkeys(tuple(line.split("\t")) for line in lines if line.count("\t") == 2):
            if ref != commit:
                yield redact(url), ref


def base_git(home: Path, context: Context) -> BaseGit:
    """Write the program that kustomize calls as git, with the given credentials.

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
    # Git's home may differ from that of kustomize.
    exports = {"PATH": os.environ.get("PATH", os.defpath), **{key: variables[key] for key in _OWN if key in variables}}
    store.write_git(place, os.path.abspath(real), log, offline=context.offline, exports=exports)
    return BaseGit(place, variables, kept, log)


def _git_variables(home: Path, context: Context) -> dict[str, str]:
    """Return the environment of the git that kustomize calls: the user's configuration and the given credentials."""
    access = context.access
    if access is None:
        return anonymous_variables(home, context, logins=True)
    given, rights = access.variables(), access.all_rights()
    file = Path(given["HOME"]) / ".gitconfig"
    if "GIT_CONFIG_NOSYSTEM" in given and file.is_file():  # git's home may not be readable
        shutil.copyfile(file, home / ".gitconfig")
        given = {**given, "HOME": str(home)}
    return with_settings({**given, **rights.environment}, rights.settings)
