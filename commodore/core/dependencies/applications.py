"""Packages, components and instances that a cluster includes by `applications`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Setting, raise_all
from commodore.base.events import Warned
from commodore.base.names import check_instance_name, check_package_name, is_unusual, parameter_key

PACKAGE_PREFIX = "pkg."
_AS = re.compile(r"\s+as\s+")


@dataclass(frozen=True, slots=True)
class Applications:
    """The dependencies of a cluster, sorted by name.

    `instances` maps each instance to its component; a component that is only used through aliases has no
    instance of its own name.
    """

    packages: tuple[str, ...]
    components: tuple[str, ...]
    instances: Mapping[str, str]


def parse_applications(entries: Iterable[str], context: Context) -> Applications:
    """Read the merged `applications` of a cluster.

    Raises:
        CommodoreError: malformed, reserved, duplicate or ambiguous names; all of them are reported.
    """
    read = _read(entries, context)
    for warning in unusual_names({*read.packages, *read.components, *read.instances}):
        context.announce(warning)
    return read


def _read(entries: Iterable[str], context: Context) -> Applications:
    errors: list[CommodoreError] = []
    packages: set[str] = set()
    uses: list[tuple[str, str, str]] = []
    for entry in entries:
        try:
            if entry.startswith(PACKAGE_PREFIX):
                packages.add(check_package_name(entry.removeprefix(PACKAGE_PREFIX)))
            else:
                uses.append((entry, *_parse_component(entry)))
        except InputError as error:
            errors.append(
                InputError(
                    error.code,
                    f"{error.message} (in `applications`: {entry!r})",
                    hint=error.hint,
                    locations=[Setting.included(entry)],
                )
            )
    errors.extend(_check_instances(uses))
    raise_all(context.problems(errors))
    instances = {instance: component for _, component, instance in uses}
    return Applications(
        packages=tuple(sorted(packages)),
        components=tuple(sorted(set(instances.values()))),
        instances=dict(sorted(instances.items())),
    )


def unusual_names(names: Iterable[str]) -> list[Warned]:
    """Return a warning for each name with capitals or quotes, which syn-commodore accepts."""
    return [
        Warned(
            "CMD-NAME-007",
            f"the name {name!r} of a component, instance or package has capitals or quotes",
            hint="use lower-case letters, digits, '-' and '_'; quotes around an alias become part of its name",
        )
        for name in sorted(names)
        if is_unusual(name)
    ]


def discover_packages(entries: Iterable[str], context: Context) -> tuple[str, ...]:
    """Return only the packages of `applications`, sorted by name. Components may change until all packages are known.

    Raises:
        CommodoreError: malformed or reserved package names.
    """
    return _read((entry for entry in entries if entry.startswith(PACKAGE_PREFIX)), context).packages


def _parse_component(entry: str) -> tuple[str, str]:
    parts = _AS.split(entry.strip())
    if len(parts) > 2:
        raise InputError(
            "CMD-DEP-001",
            f"{entry!r} names several aliases",
            hint="write one entry 'component as alias' per instance",
        )
    component, instance = parts[0], parts[-1]
    return check_instance_name(component, "component"), check_instance_name(instance, "component instance")


def _check_instances(uses: list[tuple[str, str, str]]) -> list[CommodoreError]:
    """Check that instance names, which share one namespace, and their parameter keys are unique."""
    errors: list[CommodoreError] = []
    users: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for entry, component, instance in uses:
        users[instance].append((entry, component))
    for instance, entries in sorted(users.items()):
        components = sorted({component for _, component in entries})
        if len(components) > 1:
            errors.append(
                InputError(
                    "CMD-DEP-002",
                    f"the instance name {instance!r} is used by several components: {_listed(components)}",
                    hint="give each instance a unique name",
                    locations=[Setting.included(entry) for entry, _ in sorted(entries)],
                )
            )
        elif len(entries) > 1:
            spellings = " and ".join(repr(entry) for entry, _ in sorted(entries))
            errors.append(
                InputError(
                    "CMD-DEP-003",
                    f"the instance {instance!r} is included twice: {spellings}",
                    hint="keep one of them, and remove the other by an entry with '~' in front",
                    locations=[Setting.included(entry) for entry, _ in sorted(entries)],
                )
            )
    errors.extend(_check_shadows(uses))
    errors.extend(_check_keys({name: entry for entry, *names in sorted(uses) for name in names}))
    return errors


def _check_shadows(uses: list[tuple[str, str, str]]) -> list[CommodoreError]:
    """Check that no instance has the name of another included component, even if that is included by aliases only."""
    plain = {component for _, component, instance in uses if component == instance}
    through_aliases = {component: entry for entry, component, _ in sorted(uses, reverse=True) if component not in plain}
    return [
        InputError(
            "CMD-DEP-005",
            f"the instance {instance!r} of component {component!r} ({entry!r}) has the name of component {instance!r}, "
            f"which is included too ({through_aliases[instance]!r})",
            hint="give the instance another name",
            locations=[Setting.included(entry), Setting.included(through_aliases[instance])],
        )
        for entry, component, instance in sorted(uses)
        if instance in through_aliases
    ]


def _check_keys(names: Mapping[str, str]) -> list[CommodoreError]:
    """Check that parameter keys are unique.

    Args:
        names: names of components and instances -> an entry with the name.
    """
    twins: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        twins[parameter_key(name)].append(name)
    return [
        InputError(
            "CMD-DEP-004",
            f"{_listed(twin_names)} would share the parameters key {key!r}",
            hint="names must differ in more than '-' and '_'",
            locations=[Setting.included(names[name]) for name in twin_names],
        )
        for key, twin_names in twins.items()
        if len(twin_names) > 1
    ]


def _listed(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
