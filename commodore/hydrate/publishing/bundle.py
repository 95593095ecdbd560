"""Bundles of commit requests: a job without push rights writes them, and a job without rendering tools pushes them.

A bundle is a folder: `bundle.json` with the commits and the SHA-256 of each other file, and one file for each manifest.
It holds no credentials. Its reader does not trust its content.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.base.limits import Limits
from commodore.base.values.commits import COMMIT
from commodore.core.sources.git import Author, RepositoryStore, redact, repository_key
from commodore.hydrate.branches.destination import Destination, open_destination
from commodore.hydrate.branches.layout import check_branch, manifest, objects_of, output_path
from commodore.hydrate.model import CommitRequest, DryCommit, PathOutput, PublishRules, Reference, Result, Scope
from commodore.hydrate.publishing.publishing import publish_all

SCHEMA = 1
_INDEX = "bundle.json"
_GROUP = re.compile(r"[0-9a-f]{12}")
_INPUTS = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class AllowedBranches:
    """A repository and a glob of its branches that a bundle may write to."""

    url: str
    branches: str

    def permits(self, url: str, branch: str) -> bool:
        """Return True if a branch of a repository is allowed."""
        return repository_key(self.url) == repository_key(url) and fnmatchcase(branch, self.branches)


def read_allowed(text: str) -> AllowedBranches:
    """Parse `REPOSITORY=PATTERN`.

    Raises:
        InputError: CMD-HYD-072, it has another form; or the repository's URL is invalid.
    """
    url, separator, branches = text.rpartition("=")
    if not separator or not url or not branches:
        raise InputError(
            "CMD-HYD-072",
            f"{text!r}: expected REPOSITORY=PATTERN",
            hint="write it as https://git.example.com/shop.git=environments/*",
        )
    repository_key(url)
    return AllowedBranches(url, branches)


def write_bundle(folder: Path, requests: Sequence[CommitRequest]) -> None:
    """Write commit requests to a new folder.

    Raises:
        InputError: CMD-HYD-073, the folder is not empty.
        EnvironmentFault: it cannot be written.
    """
    files: dict[str, str] = {}
    folder = folder.resolve()
    with guard_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError("CMD-HYD-073", f"the folder {folder} is not empty", hint="name a new folder")
        (folder / "manifests").mkdir()
        requested = [_request_data(request, number, folder, files) for number, request in enumerate(requests)]
    index = {"schema": SCHEMA, "requests": requested, "files": files}
    write_atomically(folder / _INDEX, (json.dumps(index, indent=1) + "\n").encode(), root=folder)


def read_bundle(folder: Path, allowed: Sequence[AllowedBranches], limits: Limits) -> list[CommitRequest]:
    """Read and check the commit requests of a bundle.

    Raises:
        InputError: CMD-HYD-070, it is damaged, or has an unknown format.
        PolicyError: CMD-HYD-071, it names a branch that is not allowed; CMD-HYD-007, CMD-HYD-008, a path or branch
            that must not be written to.
    """
    reader = _Reader(folder, limits)
    try:
        index = json.loads(reader.content(_INDEX))
        if index["schema"] != SCHEMA:
            raise _damaged(folder, f"unsupported schema {index['schema']}: expected {SCHEMA}")
        reader.digests = {str(name): str(digest) for name, digest in index["files"].items()}
        requests = [reader.request(item) for item in index["requests"]]
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _damaged(folder, "its index is malformed") from error
    for request in requests:
        for branch in dict.fromkeys((request.branch, request.sync_branch)):
            _check_allowed(request, branch, allowed)
    return requests


def publish_bundle(
    requests: Sequence[CommitRequest], store: RepositoryStore, context: Context, how: PublishRules
) -> list[tuple[CommitRequest, Result]]:
    """Commit and push the requests of a bundle, after deciding again by the current state of the remotes.

    Raises:
        CommodoreError: a destination cannot be reached.
    """
    store.sync([(item.url, name) for item in requests for name in (item.branch, item.sync_branch)])
    by_destination: dict[str, list[CommitRequest]] = {}
    for request in requests:
        by_destination.setdefault(repository_key(request.url), []).append(request)
    work: dict[str, tuple[Destination, list[CommitRequest]]] = {}
    results: dict[str, Mapping[str, Result]] = {}
    for key, several in by_destination.items():
        url = several[0].url
        try:
            rights = how.rights(url, _projects(several))
            work[key] = open_destination(store.repository(url), context, how.writing, how.sign, rights), several
        except CommodoreError as error:
            results[key] = dict.fromkeys((item.group for item in several), error)
    results |= {key: published.results for key, published in publish_all(store, work, how).items()}
    return [(item, results[key][item.group]) for key, several in by_destination.items() for item in several]


def _projects(requests: Iterable[CommitRequest]) -> frozenset[str]:
    metadata = [path.metadata.get("applications", []) for request in requests for path in request.paths]
    return frozenset(str(item.get("project", "")) for several in metadata for item in several)


def _request_data(request: CommitRequest, number: int, folder: Path, files: dict[str, str]) -> dict[str, Any]:
    paths = []
    for place, path in enumerate(request.paths):
        name = f"manifests/{number:04d}-{place:05d}.yaml"
        content = manifest(path.objects)
        write_atomically(folder / name, content, root=folder)
        files[name] = hashlib.sha256(content).hexdigest()
        paths.append({"path": path.path, "manifest": name, "readme": path.readme, "metadata": dict(path.metadata)})
    return {
        "group": request.group,
        "inputs": request.inputs,
        "repo": redact(request.url),
        "syncBranch": request.sync_branch,
        "targetBranch": request.branch,
        "dryRepo": redact(request.scope.dry_url),
        "dryRevisions": list(request.scope.dry_revisions),
        "written": list(request.scope.written),
        "follows": list(request.follows),
        "dryCommit": asdict(request.commit),
        "commitMessage": request.message,
        "author": asdict(request.author) if request.author is not None else None,
        "paths": paths,
    }


class _Reader:
    """Read the untrusted files of a bundle."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.digests: Mapping[str, str] = {}
        self._folder = folder
        self._limits = limits
        self._place = Location(str(folder / _INDEX))

    def content(self, name: str) -> bytes:
        path = self._folder / name
        most = self._limits.hydrate_bundle_bytes
        try:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or path.is_symlink():
                raise _damaged(self._folder, f"{name} is outside of the bundle")
            with path.open("rb") as file:
                content = file.read(most + 1)
        except OSError as error:
            raise _damaged(self._folder, f"{name} cannot be read: {error.strerror}") from error
        if len(content) > most:
            raise _damaged(self._folder, f"{name} is larger than {most} bytes")
        return content

    def request(self, data: Mapping[str, Any]) -> CommitRequest:
        place = self._place
        author, commit = data["author"], dict(data["dryCommit"])
        reference = commit.pop("reference")
        dry = DryCommit(**_texts(commit), reference=Reference(**_texts(reference)) if reference else None)
        datetime.fromisoformat(dry.date)
        for text, form in ((data["group"], _GROUP), (data["inputs"], _INPUTS), (dry.sha, COMMIT)):
            if not form.fullmatch(text):
                raise _damaged(self._folder, f"{text!r} is malformed")
        scope = Scope(str(data["dryRepo"]), _list(data["dryRevisions"]), _list(data["written"]))
        return CommitRequest(
            group=data["group"],
            inputs=data["inputs"],
            url=str(data["repo"]),
            sync_branch=check_branch(str(data["syncBranch"]), place),
            branch=check_branch(str(data["targetBranch"]), place),
            scope=scope,
            follows=_list(data["follows"]),
            commit=dry,
            message=str(data["commitMessage"]),
            paths=tuple(self._path(item) for item in data["paths"]),
            author=Author(**_texts(author)) if author else None,
        )

    def _path(self, data: Mapping[str, Any]) -> PathOutput:
        name = str(data["manifest"])
        content = self.content(name)
        if self.digests.get(name) != hashlib.sha256(content).hexdigest():
            raise _damaged(self._folder, f"{name} does not match its digest")
        objects = objects_of(content)
        if objects is None:
            raise _damaged(self._folder, f"{name} is not a stream of objects")
        path = output_path(str(data["path"]), self._place)
        return PathOutput(path, tuple(objects), str(data["readme"]), dict(data["metadata"]))


def _check_allowed(request: CommitRequest, branch: str, allowed: Sequence[AllowedBranches]) -> None:
    url, dry = request.url, request.scope
    is_dry = repository_key(url) == repository_key(dry.dry_url) and branch in (*request.follows, *dry.dry_revisions)
    if is_dry or not any(item.permits(url, branch) for item in allowed):
        raise PolicyError(
            "CMD-HYD-071",
            f"the bundle writes to the branch {branch} of {redact(url)}, which is not allowed",
            hint="it is the branch of the sources"
            if is_dry
            else f"if that is meant, add --allow {redact(url)}={branch}",
        )


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in data.values()):
        raise TypeError
    return dict(data)


def _list(data: Sequence[Any]) -> tuple[str, ...]:
    if not isinstance(data, list):
        raise TypeError
    return tuple(map(str, data))


def _damaged(folder: Path, why: str) -> InputError:
    return InputError(
        "CMD-HYD-070",
        f"the bundle {folder} cannot be used: {why}",
        hint="let hydrate render --bundle write it again, by the same version of commodore",
    )
