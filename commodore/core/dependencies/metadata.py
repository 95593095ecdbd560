"""Metadata of components: `parameters.<key>._metadata` of the rendered hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.base.errors import CommodoreError, InputError, Setting
from commodore.base.events import Warned
from commodore.base.names import parameter_key

_SWITCHES = ("multi_instance", "multi_version", "deprecated")


@dataclass(frozen=True, slots=True)
class ComponentMetadata:
    """The metadata of a component.

    `library_aliases` maps alias files to library files; `replaces` and `replaced_by` name components or are empty.
    The caller announces the warnings `doubts`.
    """

    multi_instance: bool = False
    multi_version: bool = False
    deprecated: bool = False
    replaced_by: str = ""
    deprecation_notice: str = ""
    replaces: str = ""
    library_aliases: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[Warned, ...] = ()


def read_metadata(parameters: Mapping[str, Any], component: str) -> ComponentMetadata:
    """Return the metadata of a component; the defaults without parameters or `_metadata`.

    Raises:
        InputError: `_metadata` or one of its fields has the wrong type.
    """
    path = (parameter_key(component), "_metadata")
    place = f"parameters.{parameter_key(component)}._metadata"
    own = parameters.get(parameter_key(component))
    raw = own.get("_metadata") if isinstance(own, Mapping) else None
    if raw is None:
        return ComponentMetadata()
    if not isinstance(raw, Mapping):
        raise InputError(
            "CMD-DEP-020",
            f"{place} must be a mapping",
            hint="write for example: _metadata: {multi_instance: true}",
            locations=[Setting.of(*path)],
        )
    aliases = raw.get("library_aliases") or {}
    if not isinstance(aliases, Mapping) or not all(isinstance(x, str) for pair in aliases.items() for x in pair):
        raise InputError(
            "CMD-DEP-021",
            f"{place}.library_aliases must map alias files to library files",
            hint="write for example: library_aliases: {alias.libsonnet: library.libsonnet}",
            locations=[Setting.of(*path, "library_aliases")],
        )
    return ComponentMetadata(
        multi_instance=bool(raw.get("multi_instance")),
        multi_version=bool(raw.get("multi_version")),
        deprecated=bool(raw.get("deprecated")),
        replaced_by=_text(raw, "replaced_by", path),
        deprecation_notice=_text(raw, "deprecation_notice", path),
        replaces=_text(raw, "replaces", path),
        library_aliases=dict(aliases),
        doubts=tuple(_doubts(raw, place)),
    )


def _text(raw: Mapping[str, Any], key: str, path: tuple[str, ...]) -> str:
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        place = ".".join(("parameters", *path))
        raise InputError(
            "CMD-DEP-022",
            f"{place}.{key} must be a string",
            hint="write one text, in quotes",
            locations=[Setting.of(*path, key)],
        )
    return value


def _doubts(raw: Mapping[str, Any], place: str) -> Iterator[Warned]:
    """Yield a warning for each switch that is not a boolean; as in syn-commodore, Python's truth value is used."""
    for key in _SWITCHES:
        value = raw.get(key)
        if value is not None and not isinstance(value, bool):
            yield Warned(
                "CMD-DEP-025",
                f"{place}.{key} should be true or false, not {value!r}; it is read as {str(bool(value)).lower()}",
                hint="write `true` or `false` without quotes; `yes` and `on` are plain text here",
            )


def check_alias(
    instance: str, component: str, metadata: ComponentMetadata, own: ComponentMetadata, overrides_version: bool
) -> list[CommodoreError]:
    """Check if a component may be used under another name, and at another version.

    Args:
        metadata: the component's metadata in the bootstrap target.
        own: the component's metadata in the instance's own target.
        overrides_version: the instance has its own `url` or `version`.
    """
    if instance == component:
        return []
    errors: list[CommodoreError] = []
    if not metadata.multi_instance:
        errors.append(
            InputError(
                "CMD-DEP-023",
                f"component {component!r} does not support several instances, so it cannot be used as {instance!r}",
                hint=f"include it as '{component}', or ask its authors for `_metadata.multi_instance: true`",
                locations=[Setting.included(f"{component} as {instance}")],
            )
        )
    if overrides_version and not (metadata.multi_version and own.multi_version):
        errors.append(
            InputError(
                "CMD-DEP-024",
                f"component {component!r} does not support a separate version for instance {instance!r}",
                hint=f"remove `url` and `version` from parameters.components.{instance}, "
                "or ask the component's authors for `_metadata.multi_version: true`",
                locations=[Setting.of("components", instance, key) for key in ("version", "url")],
            )
        )
    return errors


def deprecation_notices(parameters: Mapping[str, Any], components: tuple[str, ...]) -> tuple[str, ...]:
    """Return a notice for each deprecated component, sorted by name."""
    notices = []
    for component in components:
        metadata = read_metadata(parameters, component)
        if not metadata.deprecated:
            continue
        text = f"Component {component} is deprecated."
        if metadata.replaced_by:
            text += f" Use component {metadata.replaced_by} instead."
        if metadata.deprecation_notice:
            text += f" {metadata.deprecation_notice}"
        notices.append(text)
    return tuple(notices)
