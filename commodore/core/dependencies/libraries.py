"""Jsonnet libraries that components publish for each other, and their aliases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError, Setting, did_you_mean
from commodore.base.events import Warned
from commodore.base.files.workspace import is_inside
from commodore.base.names import parameter_key
from commodore.core.dependencies.metadata import ComponentMetadata

OWN_LIBRARIES = frozenset(
    (
        *("commodore.libjsonnet", "commodore_inventory.libjsonnet", "kapitan.libjsonnet"),
        *("kube-libsonnet", "kube.libjsonnet", "kube.libsonnet"),
    )
)
"""Libraries that all components import as `lib/<name>`: the program's own, and Kapitan's."""

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class LibraryOwner:
    """A component that may publish libraries: its folder, the repository's root, and its metadata."""

    component: str
    directory: Path
    checkout: Path
    metadata: ComponentMetadata

    def setting(self, alias: str) -> Setting:
        """The location in the hierarchy that sets an alias."""
        return Setting.of(parameter_key(self.component), "_metadata", "library_aliases", alias)

    def entries(self) -> list[str]:
        """The names in the component's `lib` folder, without hidden ones."""
        folder = self.directory / "lib"
        return (
            sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
        )


def resolve_libraries(owners: Sequence[LibraryOwner], context: Context) -> tuple[dict[str, Path], list[CommodoreError]]:
    """Return the links of `dependencies/lib`: published name -> file or folder.

    Args:
        owners: every component that the cluster deploys (ADR 0005).

    Returns:
        The links sorted by name, and all errors.
    """
    deployed = {owner.component: owner.metadata for owner in owners}
    links: dict[str, Path] = {}
    errors: list[CommodoreError] = []
    for owner in sorted(owners, key=lambda owner: owner.component):
        for entry in owner.entries():
            target = owner.directory / "lib" / entry
            error = _check_name(owner, entry, target, deployed)
            errors += (wrong := context.problems(filter(None, [error])))
            if not wrong:
                links[entry] = target
    aliases, wrong = _resolve_aliases(owners, deployed, context)
    return dict(sorted({**links, **aliases}.items())), errors + wrong


def has_prefix(text: str, name: str) -> bool:
    """Check if a file's name is `name`, or begins with it followed by a character that ends a word (`foo-x`, not
    `foox`).
    """
    return text.startswith(name) and not re.match(r"[a-z0-9]", text[len(name) :])


def _owner_of(stem: str, components: Iterable[str]) -> str:
    """Return the component whose name is the longest prefix of a library's name, or an empty string."""
    return max((name for name in components if has_prefix(stem, name)), key=len, default="")


def _stem(entry: str) -> str:
    return entry.rsplit(".", 1)[0] if "." in entry else entry


def _check_name(
    owner: LibraryOwner, entry: str, target: Path, deployed: Mapping[str, ComponentMetadata]
) -> CommodoreError | None:
    if not is_inside(target, owner.checkout):
        return PolicyError(
            "CMD-DEP-030",
            f"library {entry!r} of component {owner.component!r} is a link that leads out of its repository",
            hint="replace the link by the file itself",
            locations=[str(target)],
        )
    if entry in OWN_LIBRARIES:
        return _takes_place(f"library {entry!r} of component {owner.component!r}", str(target))
    if not has_prefix(_stem(entry), owner.component):
        return InputError(
            "CMD-DEP-031",
            f"library {entry!r} of component {owner.component!r} does not begin with the component's name",
            hint=f"rename it to '{owner.component}-{entry}', or publish it under that name with "
            f"`_metadata.library_aliases`",
            locations=[str(target)],
        )
    other = _owner_of(_stem(entry), deployed)
    if other != owner.component:
        return InputError(
            "CMD-DEP-032",
            f"library {entry!r} of component {owner.component!r} has the name of component {other!r}",
            hint="rename the library",
            locations=[str(target)],
        )
    return None


def _takes_place(what: str, place: Location | str) -> PolicyError:
    return PolicyError(
        "CMD-DEP-052",
        f"{what} would replace a library that every component imports",
        hint="publish it under another name",
        locations=[place],
    )


def _resolve_aliases(
    owners: Sequence[LibraryOwner], deployed: Mapping[str, ComponentMetadata], context: Context
) -> tuple[dict[str, Path], list[CommodoreError]]:
    users: dict[str, list[LibraryOwner]] = defaultdict(list)
    errors: list[CommodoreError] = []
    links: dict[str, Path] = {}
    for owner in sorted(owners, key=lambda owner: owner.component):
        taken_over = _taken_over(owner, deployed, context)
        for alias, library in sorted(owner.metadata.library_aliases.items()):
            users[alias].append(owner)
            error = _check_alias(owner, alias, library, {owner.component, taken_over}, deployed)
            if error is not None:
                errors += context.problems([error])
            else:
                links[alias] = owner.directory / "lib" / library
    for alias, publishers in sorted(users.items()):
        if len(publishers) > 1:
            names = " and ".join(repr(owner.component) for owner in publishers)
            errors.append(
                InputError(
                    "CMD-DEP-033",
                    f"the library alias {alias!r} is published by {names}",
                    hint="only one component of a cluster may publish an alias",
                    locations=[owner.setting(alias) for owner in publishers],
                )
            )
    return links, errors


def _check_alias(
    owner: LibraryOwner, alias: str, library: str, allowed: set[str], deployed: Mapping[str, ComponentMetadata]
) -> CommodoreError | None:
    place = f"component {owner.component!r}"
    if not _FILE_NAME.fullmatch(alias) or not _FILE_NAME.fullmatch(library):
        return PolicyError(
            "CMD-DEP-034",
            f"the library alias {alias!r} of {place} for {library!r} is not a pair of plain file names",
            hint="aliases and libraries are directly in the `lib` folder",
            locations=[owner.setting(alias)],
        )
    if alias in OWN_LIBRARIES:
        return _takes_place(f"the library alias {alias!r} of {place}", owner.setting(alias))
    prefix = _owner_of(_stem(alias), deployed)
    if prefix and prefix not in allowed:
        return InputError(
            "CMD-DEP-035",
            f"the library alias {alias!r} of {place} has the name of component {prefix!r}, which is deployed too",
            hint=f"only a component that replaces {prefix!r} and is named in its `replaced_by` may use its name",
            locations=[owner.setting(alias)],
        )
    if library not in owner.entries():
        return InputError(
            "CMD-DEP-036",
            f"the library alias {alias!r} of {place} names {library!r}, which does not exist",
            hint=did_you_mean(library, owner.entries()) or "name a file of the component's `lib` folder",
            locations=[owner.setting(alias)],
        )
    return None


def _taken_over(owner: LibraryOwner, deployed: Mapping[str, ComponentMetadata], context: Context) -> str:
    """Return the component whose library names `owner` may use in addition to its own, or an empty string."""
    former = owner.metadata.replaces
    if not former or former not in deployed:
        return former
    other = deployed[former]
    if other.deprecated and other.replaced_by == owner.component:
        return former
    reason = "is not deprecated" if not other.deprecated else f"does not name {owner.component!r} in `replaced_by`"
    context.announce(
        Warned(
            "CMD-DEP-037",
            f"component {owner.component!r} replaces {former!r}, but {former!r} is deployed and {reason}",
            hint=f"{owner.component!r} cannot publish libraries under the name of {former!r}",
        )
    )
    return ""
