"""Install a jsonnetfile like `jb install`, without downloading anything twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Noted, Warned
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.files.workspace import remove_tree, write_atomically
from commodore.core.dependencies.bundle.jsonnetfile import (
    GitSource,
    JsonnetFile,
    LocalSource,
    parse_jsonnetfile,
    serialise,
)
from commodore.core.dependencies.bundle.remotes import Remote
from commodore.core.dependencies.bundle.signature import signature
from commodore.core.dependencies.bundle.sources import LibrarySources, PackageRequest
from commodore.core.dependencies.bundle.vendor import CACHE, fill, is_filled, lay_out
from commodore.core.dependencies.bundle.walk import Closure, VersionConflict, find_packages

_FORMAT = 2
"""Version of the stamp and of the installation; increase it whenever `vendor` would be laid out differently."""


@dataclass(frozen=True, slots=True)
class BundleResult:
    """Result of an installation.

    `lock`: every package at its commit, with its sum. `conflicts`: the versions that lost. `reused`: nothing had
    changed.
    """

    lock: JsonnetFile
    conflicts: tuple[VersionConflict, ...]
    reused: bool


def install(
    folder: Path,
    file: JsonnetFile,
    lock: JsonnetFile,
    *,
    vendor: Path,
    sources: LibrarySources,
    replaced: Mapping[Path, JsonnetFile] | None = None,
) -> BundleResult:
    """Fill `vendor` with all packages that `file` requires, directly and transitively.

    Args:
        folder: the folder of the jsonnetfile; local dependencies and the new lock's local entries are relative to it.
        lock: pinned versions and sums; an empty one pins nothing.
        replaced: local folder (absolute) -> jsonnetfile to use instead of the one in it.

    Neither the jsonnetfile nor the lock is written here. Conflicts are announced as warnings.

    Raises:
        InputError: a package, version or folder does not exist, or a jsonnetfile is broken.
        PolicyError: a path leaves its folder, or a package does not match the lock.
        EnvironmentFault: network, git or disk failed.
        Findings: several of these.
    """
    context = sources.context
    folder, vendor = Path(os.path.abspath(folder)), Path(os.path.abspath(vendor))
    instead = {Path(os.path.abspath(path)): content for path, content in (replaced or {}).items()}
    stamp = _Stamp(vendor, _digest_inputs(folder, vendor, file, lock, instead))
    earlier = stamp.read(sources, folder, context) if sources.reuse else None
    if earlier is not None:
        return earlier
    remove_tree(stamp.path)
    collected: list[Warned | Noted] = []

    def remember(event: Event) -> None:
        if isinstance(event, Warned | Noted):
            collected.append(event)
        context.announce(event)

    closure = find_packages(folder, file, lock, vendor=vendor, replaced=instead, sources=sources)
    for conflict in closure.conflicts:
        remember(_describe(conflict))
    layout = lay_out(closure.packages, context.with_announce(remember), legacy_imports=file.legacy_imports)
    fill(vendor, layout, sources, context)
    result = BundleResult(_new_lock(closure, folder), closure.conflicts, reused=False)
    seen = signature(vendor, stamp.path)
    if is_filled(vendor, layout):  # the signature is valid only if the installed files are unchanged
        stamp.write(result, closure, collected, folder, seen)
    return result


def _describe(conflict: VersionConflict) -> Warned:
    return Warned(
        "CMD-JB-014",
        f"{conflict.name}: {conflict.kept} (required by {conflict.kept_by}) is used instead of {conflict.dropped}"
        f" (required by {conflict.dropped_by})",
        hint="the first requirement wins; require the same version everywhere",
    )


def _new_lock(closure: Closure, folder: Path) -> JsonnetFile:
    entries = []
    for package in closure.packages:
        dependency = package.dependency
        if dependency.name and dependency.name == package.name.rpartition("/")[2]:
            dependency = replace(dependency, name="")
        if package.export is not None:
            dependency = replace(dependency, version=package.export.sha, sum=package.export.measure.sum)
        elif package.target is not None:
            dependency = replace(dependency, source=LocalSource(os.path.relpath(package.target, folder)))
        entries.append((package.name, dependency))
    entries.sort(key=lambda entry: entry[0])
    return JsonnetFile(tuple(dependency for _, dependency in entries), legacy_imports=False)


def _digest_inputs(
    folder: Path, vendor: Path, file: JsonnetFile, lock: JsonnetFile, replaced: Mapping[Path, JsonnetFile]
) -> str:
    """Return a digest of the local inputs. Paths are relative, so that a moved folder is not a new one."""
    inputs = [
        _FORMAT,
        os.path.relpath(vendor, folder),
        asdict(file),
        asdict(lock),
        sorted([os.path.relpath(path, folder), json.dumps(asdict(content))] for path, content in replaced.items()),
    ]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


_LABEL = ("installed libraries",)


class _Stamp:
    """The note in `vendor/.cache` of the last installation: its inputs, its result, and the signature of the folder."""

    def __init__(self, vendor: Path, inputs: str) -> None:
        self.path = vendor / CACHE / "installed.json"
        self._vendor = vendor
        self._inputs = inputs

    def read(self, sources: LibrarySources, folder: Path, context: Context) -> BundleResult | None:
        """Return the earlier result if inputs, commits and `vendor` are unchanged. Its warnings are repeated.

        The remotes are queried for the current branches and tags; a version that cannot be resolved is left for the
        installation. Without network access, an unresolvable version is assumed to be unchanged.
        """
        try:
            content = json.loads(read_sealed(self.path, _LABEL) or b"")
            if content["inputs"] != self._inputs or self._vendor.is_symlink():
                return None
            if any(_file_digest(folder / path) != digest for path, digest in content["read"].items()):
                return None
            if not all((folder / path).is_dir() for path in content["local"]):
                return None
            if signature(self._vendor, self.path) != content["vendor"]:
                return None
            commits = {
                PackageRequest(GitSource(Remote(url, identity, local)), version): sha
                for url, identity, local, version, sha in content["commits"]
            }
            conflicts = tuple(VersionConflict(**conflict) for conflict in content["conflicts"])
            warnings = [Warned(**event) for event in content["warnings"]]
            notes = [Noted(**event) for event in content["notes"]]
            lock = parse_jsonnetfile(content["lock"].encode(), str(self.path), context.limits)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, CommodoreError):
            return None
        for request, sha in sources.resolve(commits).items():
            if sha != commits[request] and not (sources.offline and isinstance(sha, CommodoreError)):
                return None
        for event in (*warnings, *notes):
            context.announce(event)
        return BundleResult(lock, conflicts, reused=True)

    def write(
        self, result: BundleResult, closure: Closure, collected: Sequence[Warned | Noted], folder: Path, seen: str
    ) -> None:
        """Note the result. `seen` is the signature of `vendor` when its files were correct."""
        commits = set()
        for package in closure.packages:
            source = package.dependency.source
            if isinstance(source, GitSource) and package.export is not None:
                remote = source.remote
                version = package.dependency.version
                commits.add((remote.url, remote.identity, remote.on_this_machine, version, package.export.sha))
        content = {
            "inputs": self._inputs,
            "commits": sorted(commits),
            "read": {os.path.relpath(path, folder): digest for path, digest in closure.read.items()},
            "local": sorted(
                {os.path.relpath(package.target, folder) for package in closure.packages if package.target}
            ),
            "lock": serialise(result.lock, folder).decode(),
            "conflicts": [asdict(conflict) for conflict in result.conflicts],
            "warnings": [asdict(event) for event in collected if isinstance(event, Warned)],
            "notes": [asdict(event) for event in collected if isinstance(event, Noted)],
            "vendor": seen,
        }
        write_atomically(self.path, seal(_LABEL, json.dumps(content, sort_keys=True).encode()))


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
