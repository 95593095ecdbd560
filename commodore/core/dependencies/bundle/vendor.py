"""The `vendor` folder, with every package under its full and its legacy name.

Contents are copied into `vendor/.cache`, never linked to the shared cache: the folder works after the cache was removed
or the folder was moved, and edits in it change no other copy. All links are relative. The process may be killed at any
moment: folders and links appear by rename, and the next run checks everything, as the stamp is written last.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import Noted, Warned
from commodore.base.files.tree import measure
from commodore.base.files.workspace import (
    folder_beside,
    guard_disk,
    link_relative,
    make_folder,
    remove_tree,
    replace_tree,
)
from commodore.core.dependencies.bundle.jsonnetfile import FILE_NAME, GitSource
from commodore.core.dependencies.bundle.sources import LibrarySources
from commodore.core.dependencies.bundle.walk import Package, content_place

CACHE = ".cache"


@dataclass(frozen=True, slots=True)
class Layout:
    """The planned content of `vendor`. Keys are names below `vendor`.

    `links`: name -> package. `inside`: package -> path in its files -> another package that replaces the path.
    `legacy`: legacy name -> name of its package.
    """

    packages: Sequence[Package]
    links: Mapping[str, Package]
    inside: Mapping[str, Mapping[str, Package]]
    legacy: Mapping[str, str]


def lay_out(packages: Sequence[Package], context: Context, *, legacy_imports: bool) -> Layout:
    """Decide where each package goes; `packages` in depth-first order.

    The name of a package may be a sub-folder of another. As in jsonnet-bundler, the later package is put over the
    earlier: the sub-folder into the whole, or the whole over the sub-folder.

    Raises:
        InputError: a package would have to be written into a local folder, or a local folder into a package.
    """
    placed: dict[str, Package] = {}
    homes: dict[str, str] = {}
    for package in packages:
        for name in [name for name in placed if name.startswith(package.name + "/")]:
            _check_nesting(package, placed[name])
            if not _is_part(placed[name], package):
                context.announce(_hidden(placed[name], package))
            del placed[name]
        home = next((name for name in _ancestors(package.name) if name in placed), "")
        if home:
            _check_nesting(placed[home], package)
            if _is_part(package, placed[home]):
                continue
        placed[package.name], homes[package.name] = package, home
    links = {name: package for name, package in placed.items() if not homes[name]}
    inside: dict[str, dict[str, Package]] = defaultdict(dict)
    for name, package in placed.items():
        if home := homes[name]:
            inside[home][name.removeprefix(home + "/")] = package
    legacy = _legacy_links(packages, links, context) if legacy_imports else {}
    return Layout(packages, links, inside, legacy)


def fill(vendor: Path, layout: Layout, sources: LibrarySources, context: Context) -> None:
    """Make `vendor` hold exactly this layout, and the regular files that were put there by others.

    Raises:
        CommodoreError: a package's files are lost and cannot be fetched again.
        EnvironmentFault: the disk refused.
    """
    with guard_disk(vendor):
        for folder in (vendor, vendor / CACHE):
            if folder.is_symlink():
                folder.unlink()
            make_folder(folder, root=vendor.parent)
        for package in layout.packages:
            _place_content(vendor, package, layout.inside.get(package.name, {}), sources)
        links = {**layout.links, **layout.legacy}
        _remove_stale(vendor, set(links), {parent for name in links for parent in _ancestors(name)}, context)
        for name, package in layout.links.items():
            link_relative(vendor / name, _content(vendor, package), root=vendor.parent)
        for legacy, name in layout.legacy.items():
            if os.path.lexists(vendor / legacy) and not (vendor / legacy).is_symlink():
                context.announce(_clash(legacy, name, "a file of that name is there", explicit=True))
            else:
                link_relative(vendor / legacy, vendor / name, root=vendor.parent)
        kept = {_content(vendor, package).relative_to(vendor / CACHE).parts[0] for package in layout.packages}
        for entry in sorted((vendor / CACHE).iterdir()):
            if entry.name not in kept:
                remove_tree(entry, root=vendor.parent)


def is_filled(vendor: Path, layout: Layout) -> bool:
    """Check if the files of all packages are correct; packages that contain another package are not checked."""
    with guard_disk(vendor):
        whole = [
            package for package in layout.packages if package.export is not None and package.name not in layout.inside
        ]
        return all(_measures(_content(vendor, package), package) for package in whole)


def _measures(place: Path, package: Package) -> bool:
    return package.export is not None and measure(place).digest == package.export.measure.digest


def _content(vendor: Path, package: Package) -> Path:
    version = package.dependency.version if package.export else ""
    return content_place(vendor, package.name, version)


def _place_content(vendor: Path, package: Package, inside: Mapping[str, Package], sources: LibrarySources) -> None:
    place = _content(vendor, package)
    relative = place.relative_to(vendor / CACHE)
    top = vendor / CACHE / relative.parts[0]
    if not inside and _is_in_place(place, top, package):
        return
    with folder_beside(top) as fresh:
        staged = fresh.joinpath(*relative.parts[1:])
        if package.export is not None:
            sources.copy(package.export, staged)
        else:
            assert package.target is not None, "a package without an export is local"
            staged.symlink_to(os.path.relpath(package.target, place.parent))
        for name, other in inside.items():
            _put_inside(staged, place, PurePosixPath(name), _content(vendor, other))
        replace_tree(fresh, top, root=vendor.parent)


def _put_inside(staged: Path, place: Path, name: PurePosixPath, target: Path) -> None:
    """Link the path `name` in a package's files to another package."""
    folder = staged
    for part in name.parts[:-1]:
        folder /= part
        if folder.is_symlink() or not folder.is_dir():
            remove_tree(folder)
            folder.mkdir()
    remove_tree(folder / name.name)
    (folder / name.name).symlink_to(os.path.relpath(target, (place / name).parent))


def _is_in_place(place: Path, top: Path, package: Package) -> bool:
    if package.export is None:
        assert package.target is not None, "a package without an export is local"
        target = os.path.relpath(package.target, place.parent)
        return not top.is_symlink() and place.is_symlink() and os.readlink(place) == target
    if not place.is_dir() or place.resolve() != top.parent.resolve() / place.relative_to(top.parent):
        return False
    return _measures(place, package)


def _remove_stale(vendor: Path, links: set[str], folders: set[str], context: Context, below: str = "") -> None:
    for entry in sorted((vendor / below).iterdir()):
        name = f"{below}/{entry.name}" if below else entry.name
        if name == CACHE:
            continue
        if entry.is_symlink():
            if name not in links:
                remove_tree(entry, root=vendor.parent)
        elif entry.is_dir():
            if name in folders:
                _remove_stale(vendor, links, folders, context, name)
                continue
            if name not in links:
                context.announce(Noted(f"removing {entry}, which no package needs", level=1))
            remove_tree(entry, root=vendor.parent)


def _legacy_links(packages: Sequence[Package], links: Mapping[str, Package], context: Context) -> dict[str, str]:
    occupied = set(links) | {parent for name in links for parent in _ancestors(name)}
    legacy: dict[str, str] = {}
    for package in packages:
        if package.export is None:
            continue
        name = package.dependency.legacy_name(package.folder)
        taken = next((taken for taken in (name, *_ancestors(name)) if taken in occupied or taken in legacy), None)
        below = next((other for other in legacy if other.startswith(name + "/")), None)
        if name == package.name:
            continue
        if taken is None and below is None:
            legacy[name] = package.name
            continue
        owner = legacy.get(taken or below or "", taken or below or "")
        local = owner in links and links[owner].export is None
        explicit = local or bool(package.dependency.name)
        context.announce(
            _clash(name, package.name, f"{'the local package ' if local else ''}{owner} has it", explicit=explicit)
        )
    return legacy


def _clash(legacy: str, name: str, reason: str, *, explicit: bool) -> Warned | Noted:
    """Return a warning, or a note if the legacy name is implicit (the last part of a path)."""
    message = f"{name} cannot be imported as {legacy}: {reason}"
    if not explicit:
        return Noted(message, level=1)
    return Warned("CMD-JB-015", message, hint=f"import it by its full name, or give it another `name` in {FILE_NAME}")


def _ancestors(name: str) -> Iterator[str]:
    """Yield the parent folders of `name`, innermost first."""
    parent = name.rpartition("/")[0]
    while parent:
        yield parent
        parent = parent.rpartition("/")[0]


def _is_part(package: Package, around: Package) -> bool:
    """Check if `package` is a sub-folder of `around` at the same commit of the same repository."""
    part, whole = package.export, around.export
    return part is not None and whole is not None and (part.sha, part.source.remote) == (whole.sha, whole.source.remote)


def _check_nesting(around: Package, package: Package) -> None:
    for candidate in (around, package):
        if not isinstance(candidate.dependency.source, GitSource):
            raise InputError(
                "CMD-JB-018",
                f"the packages {around.name} and {package.name} cannot both be in vendor: one would be inside the"
                f" other, and {candidate.name} is a local folder",
                hint="rename the local folder",
            )


def _hidden(package: Package, by: Package) -> Warned:
    return Warned(
        "CMD-JB-019",
        f"{package.name} at {package.dependency.version} is hidden by {by.name} at {by.dependency.version}, the folder"
        " around it",
        hint="require one version of the repository everywhere",
    )
