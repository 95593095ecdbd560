"""Resolution of the packages that a jsonnetfile requires, directly and transitively, and of their versions.

The first occurrence in depth-first order wins. Fetching does not follow that order: every round descends through the
known packages, and then fetches all missing packages together, all repositories in parallel. The last round, in which
nothing is missing, decides; errors of packages that did not win are dropped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError, raise_all
from commodore.base.files.workspace import is_inside
from commodore.base.names import PATH_SEGMENT_BYTES
from commodore.core.dependencies.bundle.exports import Export
from commodore.core.dependencies.bundle.jsonnetfile import (
    FILE_NAME,
    GitSource,
    JsonnetDependency,
    JsonnetFile,
    parse_jsonnetfile,
    read_content,
)
from commodore.core.dependencies.bundle.remotes import check_name
from commodore.core.dependencies.bundle.sources import LibrarySources, PackageRequest


@dataclass(frozen=True, slots=True)
class Package:
    """A selected package.

    `dependency` is as requested (with the lock's version, if there is one), `folder` is that of the jsonnetfile that
    requests it. Git packages have an `export`; local ones have their folder as `target`.
    """

    name: str
    dependency: JsonnetDependency
    folder: Path
    required_by: tuple[str, ...]
    export: Export | None = None
    target: Path | None = None


@dataclass(frozen=True, slots=True)
class VersionConflict:
    """Two requested versions (or sources) of one package. `..._by` are the chains of requesting packages."""

    name: str
    kept: str
    kept_by: str
    dropped: str
    dropped_by: str


@dataclass(frozen=True, slots=True)
class Closure:
    """All packages that a jsonnetfile requires: selected ones in depth-first order, conflicts, and local files read.

    `read`: path of a local jsonnetfile -> hex SHA-256 of its content; empty if it does not exist.
    """

    packages: tuple[Package, ...]
    conflicts: tuple[VersionConflict, ...]
    read: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Base:
    """The folder of a jsonnetfile. `real` is its current path, `final` its path for users of `vendor`.

    `root` confines local dependencies (None: the user's own file, which may point anywhere). `fetched`: the file was
    fetched from the network, so it may not name repositories of this machine.
    """

    real: Path
    final: Path
    root: Path | None = None
    fetched: bool = False


def find_packages(
    folder: Path,
    file: JsonnetFile,
    lock: JsonnetFile,
    *,
    vendor: Path,
    replaced: Mapping[Path, JsonnetFile],
    sources: LibrarySources,
) -> Closure:
    """Resolve all packages that `file` in `folder` requires.

    Args:
        lock: versions that replace the requested ones.
        vendor: the folder in which the packages will be installed.
        replaced: local folder -> jsonnetfile to use instead of the one in it.

    Raises:
        CommodoreError: a selected package cannot be fetched; all such errors are reported together.
    """
    known: dict[PackageRequest, Export | CommodoreError] = {}
    while True:
        descent = _Descent(lock.declared(folder), replaced, vendor, known, sources.context)
        descent.visit(file, _Base(folder, folder), str(folder / FILE_NAME), ())
        if not descent.missing:
            break
        known.update(sources.obtain(descent.missing))
    raise_all(descent.errors)
    return Closure(tuple(descent.packages.values()), tuple(descent.conflicts()), dict(sorted(descent.read.items())))


def content_place(vendor: Path, name: str, version: str) -> Path:
    """Return the path of a package's files: `vendor/.cache/<name and version, escaped>/<name>`."""
    escaped = quote(f"{name}-{version}", safe="$&+=:@~")
    if len(escaped) > PATH_SEGMENT_BYTES:
        escaped = f"{escaped[:180]}-{hashlib.sha256(escaped.encode()).hexdigest()}"
    return vendor / ".cache" / escaped / name


class _Descent:
    """One depth-first pass over the known packages."""

    def __init__(
        self,
        locked: Mapping[str, JsonnetDependency],
        replaced: Mapping[Path, JsonnetFile],
        vendor: Path,
        known: Mapping[PackageRequest, Export | CommodoreError],
        context: Context,
    ) -> None:
        self.packages: dict[str, Package] = {}
        self.missing: list[PackageRequest] = []
        self.errors: list[CommodoreError] = []
        self.read: dict[str, str] = {}
        self._locked = locked
        self._replaced = replaced
        self._vendor = vendor
        self._known = known
        self._context = context
        self._losers: list[Package] = []
        self._seen: set[str] = set()

    def visit(self, file: JsonnetFile, base: _Base, place: str, chain: tuple[str, ...]) -> None:
        """Visit the dependencies of `file` depth-first. `place` is the file's name in errors."""
        if len(chain) > self._context.limits.bundle_depth:
            self.errors.append(
                InputError(
                    "CMD-JB-013",
                    f"packages require packages more than {self._context.limits.bundle_depth} levels deep: "
                    f"{' > '.join(chain)}",
                    hint="the requirements are probably recursive; check the chain of packages",
                    locations=[place],
                )
            )
            return
        for name, declared in file.declared(base.final).items():
            package = Package(name, self._pinned(name, declared), base.final, chain)
            if name in self._seen:
                self._losers.append(package)
                continue
            self._seen.add(name)
            if len(self._seen) > self._context.limits.bundle_packages:
                raise InputError(
                    "CMD-JB-003",
                    f"more than {self._context.limits.bundle_packages} packages are required",
                    hint="the requirements are probably recursive; check the chain of packages",
                    locations=[place],
                )
            try:
                self._take(package, base, Location(place))
            except CommodoreError as error:
                self.errors.append(_required_by(error, package, place))

    def conflicts(self) -> list[VersionConflict]:
        """Return the conflicts between packages, without those with the same commit or folder."""
        conflicts: dict[VersionConflict, None] = {}
        for loser in self._losers:
            winner = self.packages.get(loser.name)
            if winner is None or self._same(winner, loser):
                continue
            kept, dropped = (_describe(*pair) for pair in ((winner, loser), (loser, winner)))
            conflicts[VersionConflict(loser.name, kept, _requirer(winner), dropped, _requirer(loser))] = None
        return list(conflicts)

    def _pinned(self, name: str, declared: JsonnetDependency) -> JsonnetDependency:
        locked = self._locked.get(name)
        if locked is None or not isinstance(declared.source, GitSource) or not locked.version:
            return replace(declared, sum="")
        return replace(declared, version=locked.version, sum=locked.sum)

    def _take(self, package: Package, base: _Base, place: Location) -> None:
        check_name(package.name, f"package name {package.name!r}", place, self._context.limits)
        if isinstance(package.dependency.source, GitSource):
            self._take_git(package, package.dependency.source, base)
        else:
            self._take_local(package, package.dependency.source.directory, base, place)

    def _take_git(self, package: Package, source: GitSource, base: _Base) -> None:
        if base.fetched and source.remote.on_this_machine:
            raise PolicyError(
                "CMD-JB-011",
                f"the package {package.required_by[-1]}, which is fetched from the network, requires the repository"
                f" {source.remote.url} of this machine",
                hint="only your own jsonnetfile and local packages may name local repositories",
            )
        request = PackageRequest(source, package.dependency.version)
        export = self._known.get(request)
        if export is None:
            self.missing.append(request)
            return
        if isinstance(export, CommodoreError):
            raise export
        if package.dependency.sum and package.dependency.sum != export.measure.sum:
            raise PolicyError(
                "CMD-JB-012",
                f"the package {package.name} at {request.version} has the sum {export.measure.sum}, but the lock file"
                f" has {package.dependency.sum}",
                hint="the repository's history or the lock file was changed; if that was intended, remove the entry"
                " from the lock file",
            )
        self.packages[package.name] = replace(package, export=export)
        final = content_place(self._vendor, package.name, request.version)
        inner = _Base(export.content, final, export.content, fetched=not source.remote.on_this_machine)
        self._enter(package, inner, f"{package.name}@{request.version}/{FILE_NAME}")

    def _take_local(self, package: Package, directory: str, base: _Base, place: Location) -> None:
        real, final = (Path(os.path.abspath(folder / directory)) for folder in (base.real, base.final))
        if not real.is_dir():
            raise InputError(
                "CMD-JB-009",
                f"the local package {package.name} does not exist: {directory} is not a folder",
                hint="a local directory is relative to the jsonnetfile that names it",
                locations=[place],
            )
        if base.root is not None and not is_inside(real, base.root):
            raise PolicyError(
                "CMD-JB-010",
                f"the package {package.required_by[-1]} requires the folder {directory}, which is outside of it",
                hint="a package may only name local folders inside of it",
                locations=[place],
            )
        self.packages[package.name] = replace(package, target=final)
        self._enter(package, _Base(real, final, base.root or real, base.fetched), str(real / FILE_NAME))

    def _enter(self, package: Package, base: _Base, place: str) -> None:
        if not package.dependency.single:
            file = self._file_of(base, place)
            if file is not None:
                self.visit(file, base, place, (*package.required_by, package.name))

    def _file_of(self, base: _Base, place: str) -> JsonnetFile | None:
        if base.real in self._replaced:
            return self._replaced[base.real]
        path = base.real / FILE_NAME
        ours = base.root is not None and base.real == base.final
        if not path.is_file():
            if ours:
                self.read[str(path)] = ""
            return None
        if base.root is not None and not is_inside(path, base.root):
            raise PolicyError(
                "CMD-JB-010",
                f"{place} is a link that leads out of its package",
                hint="replace the link by the file itself",
                locations=[place],
            )
        content = read_content(path, self._context.limits)
        if ours:
            self.read[str(path)] = hashlib.sha256(content).hexdigest()
        return parse_jsonnetfile(content, place, self._context.limits)

    def _same(self, winner: Package, loser: Package) -> bool:
        source, other = winner.dependency.source, loser.dependency.source
        if not isinstance(source, GitSource) or not isinstance(other, GitSource):
            return (
                not isinstance(source, GitSource)
                and not isinstance(other, GitSource)
                and _local(loser) == winner.target
            )
        if winner.dependency.version == loser.dependency.version:
            return True
        export = self._known.get(PackageRequest(other, loser.dependency.version))
        return isinstance(export, Export) and winner.export is not None and export.sha == winner.export.sha


def _local(package: Package) -> Path | None:
    source = package.dependency.source
    return None if isinstance(source, GitSource) else Path(os.path.abspath(package.folder / source.directory))


def _describe(package: Package, other: Package) -> str:
    """Return the version of a package; its source and version if either of the two is local."""
    source = package.dependency.source
    if isinstance(source, GitSource) and isinstance(other.dependency.source, GitSource):
        return package.dependency.version
    return (
        f"{source.remote.url}@{package.dependency.version}" if isinstance(source, GitSource) else str(_local(package))
    )


def _requirer(package: Package) -> str:
    return " > ".join(package.required_by) or FILE_NAME


def _required_by(error: CommodoreError, package: Package, place: str) -> CommodoreError:
    """Return the error with the package and the file that requires it."""
    where = f"{place}: {package.name}" + (f", required by {_requirer(package)}" if package.required_by else "")
    return error.about(at=[where])
