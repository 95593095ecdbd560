"""Sources of dependencies: the entries of `parameters.components` and `parameters.packages`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Setting, did_you_mean, raise_all

Kind = Literal["component", "package"]

_KEYS = ("url", "version", "path")


@dataclass(frozen=True, slots=True)
class DependencySpec:
    """A git repository at a version; None is its default branch. `path` is the dependency's folder in it, empty for
    its root. `base` is the component whose entry completes the entry of an instance.
    """

    name: str
    url: str
    version: str | None
    path: str
    base: str = field(default="", compare=False)

    def settings(self, kind: Kind, field: str) -> list[Setting]:
        """Locations in the hierarchy that may set a field."""
        return [Setting.of(f"{kind}s", name, field) for name in dict.fromkeys((self.name, self.base)) if name]


def read_specs(
    parameters: Mapping[str, Any], kind: Kind, names: tuple[str, ...], context: Context
) -> dict[str, DependencySpec]:
    """Return the specs of the named dependencies.

    Args:
        parameters: the rendered parameters of the bootstrap target, without component defaults.
        kind: the list to read.
        names: the dependencies that the cluster includes.

    Raises:
        CommodoreError: unknown names, missing or invalid fields; all of them are reported.
    """
    listed = _listed(parameters, kind)
    errors: list[CommodoreError] = []
    specs: dict[str, DependencySpec] = {}
    for name in sorted(names):
        try:
            specs[name] = _read(listed, kind, name, context)
        except CommodoreError as error:
            errors.append(error)
    raise_all(errors)
    return specs


def instance_spec(
    parameters: Mapping[str, Any], base: DependencySpec, instance: str, context: Context
) -> DependencySpec:
    """Return the spec of an instance: its own entry of `parameters.components`, if any, merged over its component's.

    Raises:
        InputError: invalid fields.
    """
    entry = _listed(parameters, "component").get(instance)
    if instance == base.name or entry is None:
        return DependencySpec(instance, base.url, base.version, base.path, base.name)
    fields = _fields(entry, "component", instance, context)
    path = fields.get("path") or None
    return DependencySpec(
        instance,
        fields.get("url") or base.url,
        fields.get("version") or base.version,
        base.path if path is None else _relative_path(path, "component", instance),
        base.name,
    )


def overrides_version(parameters: Mapping[str, Any], instance: str) -> bool:
    """Check if an instance has its own `url` or `version`, which requires multi-version support."""
    entry = _listed(parameters, "component").get(instance)
    return isinstance(entry, Mapping) and any(entry.get(key) is not None for key in ("url", "version"))


def find_incomplete(parameters: Mapping[str, Any], instances: Mapping[str, str]) -> list[CommodoreError]:
    """Return an error for each entry without `url`, included or not: most likely a misspelt name.

    Args:
        parameters: the parameters that were used for fetching, without component defaults.
        instances: instance -> component; the entry of an alias needs no `url`.
    """
    errors: list[CommodoreError] = []
    kinds: tuple[Kind, ...] = ("component", "package")
    for kind in kinds:
        listed = _listed(parameters, kind)
        complete = [str(name) for name, entry in listed.items() if _has_url(entry)]
        components = set(instances.values())
        for name, entry in sorted(listed.items(), key=lambda item: str(item[0])):
            if _has_url(entry):
                continue
            alias_of = instances.get(str(name)) if kind == "component" and name not in components else None
            if alias_of in complete:
                continue
            errors.append(
                InputError(
                    "CMD-DEP-010",
                    f"parameters.{kind}s.{name} has no `url`",
                    hint=did_you_mean(str(name), complete) or "add the `url`, or remove the entry",
                    locations=[Setting.of(f"{kind}s", name)],
                )
            )
    return errors


def _has_url(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("url") not in (None, "")


def _listed(parameters: Mapping[str, Any], kind: Kind) -> Mapping[str, Any]:
    listed = parameters.get(f"{kind}s")
    if listed is None:
        return {}
    if not isinstance(listed, Mapping):
        raise InputError(
            "CMD-DEP-011",
            f"parameters.{kind}s must be a mapping from names to `url`, `version` and `path`",
            hint=f"find the class that sets it with: commodore inventory explain {kind}s",
            locations=[Setting.of(f"{kind}s")],
        )
    return listed


def _read(listed: Mapping[str, Any], kind: Kind, name: str, context: Context) -> DependencySpec:
    if name not in listed:
        raise InputError(
            "CMD-DEP-012",
            f"unknown {kind} {name!r}: it is included but not described in parameters.{kind}s",
            hint=did_you_mean(name, (str(key) for key in listed))
            or f"add parameters.{kind}s.{name} with `url` and `version`",
            locations=[Setting.included(name if kind == "component" else f"pkg.{name}")],
        )
    fields = _fields(listed[name], kind, name, context)
    default_branch = "version" in listed[name] and listed[name]["version"] is None
    missing = [key for key in ("url", "version") if not fields.get(key) and not (key == "version" and default_branch)]
    if missing:
        raise InputError(
            "CMD-DEP-013",
            f"{kind} {name!r} is missing the field{'s' if len(missing) > 1 else ''} "
            + " and ".join(f"`{key}`" for key in missing),
            hint=f"set it in parameters.{kind}s.{name}",
            locations=[Setting.of(f"{kind}s", name)],
        )
    path = _relative_path(fields.get("path") or "", kind, name)
    return DependencySpec(name, fields["url"], fields.get("version"), path)


def _fields(entry: Any, kind: Kind, name: str, context: Context) -> dict[str, str]:
    place = f"parameters.{kind}s.{name}"
    if not isinstance(entry, Mapping):
        raise InputError(
            "CMD-DEP-014",
            f"{place} must be a mapping with `url`, `version` and optionally `path`",
            hint=f"write for example: {name}: {{version: v1.0.0}}",
            locations=[Setting.of(f"{kind}s", name)],
        )
    for key in entry:
        if key not in _KEYS and (hint := did_you_mean(str(key), _KEYS)):
            context.problem(
                InputError(
                    "CMD-DEP-015",
                    f"{place} has the unknown key {key!r}",
                    hint=hint,
                    locations=[Setting.of(f"{kind}s", name, key)],
                )
            )
    fields: dict[str, str] = {}
    for key in _KEYS:
        value = entry.get(key)
        if value is None:
            continue
        if not isinstance(value, str):
            raise InputError(
                "CMD-DEP-016",
                f"{place}.{key} must be a string, not {type(value).__name__}",
                hint=f"write it in quotes: {key}: '{value}'",
                locations=[Setting.of(f"{kind}s", name, key)],
            )
        fields[key] = value
    return fields


def _relative_path(path: str, kind: Kind, name: str) -> str:
    """Return the sub-folder of a dependency; a single leading `/` means the repository's root."""
    text = path.removeprefix("/")
    parts = PurePosixPath(text).parts
    if text.startswith("/") or ".." in parts or "\0" in text:
        raise InputError(
            "CMD-DEP-017",
            f"parameters.{kind}s.{name}.path {path!r} leads out of the repository",
            hint="give the folder relative to the repository's root",
            locations=[Setting.of(f"{kind}s", name, "path")],
        )
    return "/".join(parts)
