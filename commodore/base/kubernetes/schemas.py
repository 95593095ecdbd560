"""Schemas of Kubernetes' own kinds, by version of Kubernetes, and of kinds that CustomResourceDefinitions describe.

What a schema says about the structure of objects is checked: fields, types, values. Rules in CEL, defaults and what an
admission webhook would say are not. Needs the extra `validate`.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from commodore.base.errors import EnvironmentFault, UsageError
from commodore.base.kubernetes.objects import key_of
from commodore.base.names import requirement

_DEFINITIONS = "https://kubernetes.io/api/_definitions.json"
_FOLDER = re.compile(r"v(\d+)\.(\d+)\.\d+-local-strict")
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+.*)?")
_MASKED = "the value"
"""What messages say instead of values: these may be secrets."""

Release = tuple[int, int]


class ApiKind(NamedTuple):
    """A kind in one version of its API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version} {self.kind}" if self.group else f"{self.version} {self.kind}"


def api_kind(content: Any) -> ApiKind:
    """The kind of an object; parts that are missing are empty."""
    version = content.get("apiVersion") if isinstance(content, dict) else None
    key = key_of(content)
    return ApiKind(key.group, version.rpartition("/")[2] if isinstance(version, str) else "", key.kind)


class Kubernetes:
    """The kinds that Kubernetes serves, by its version.

    Raises:
        EnvironmentFault: CMD-CAT-030, the libraries are not installed.
    """

    def __init__(self) -> None:
        spec = importlib.util.find_spec("kubernetes_validate")
        if spec is None or not spec.submodule_search_locations or importlib.util.find_spec("jsonschema_rs") is None:
            raise EnvironmentFault(
                "CMD-CAT-030",
                "the schemas of Kubernetes are not installed",
                hint=f"install the extra: pip install '{requirement('validate')}'",
            )
        folder = Path(spec.submodule_search_locations[0], "kubernetes-json-schema")
        self._folders = {
            (int(match[1]), int(match[2])): child
            for child in folder.iterdir()
            if (match := _FOLDER.fullmatch(child.name)) is not None
        }
        self._kinds: dict[Release, dict[ApiKind, str]] = {}

    @property
    def releases(self) -> tuple[Release, ...]:
        """The versions that are known, the oldest first."""
        return tuple(sorted(self._folders))

    def release(self, text: str | None) -> Release:
        """A version as a user writes it; the newest that is known for None.

        Raises:
            UsageError: CMD-CLI-033, it is no version, or is not known.
        """
        if text is None:
            return self.releases[-1]
        match = _VERSION.fullmatch(text)
        found = (int(match[1]), int(match[2])) if match else None
        if found not in self._folders:
            known = f"{show_release(self.releases[0])} to {show_release(self.releases[-1])}"
            raise UsageError(
                "CMD-CLI-033", f"there are no schemas for Kubernetes {text!r}", hint=f"those that are known: {known}"
            )
        return found

    def definitions(self, release: Release) -> dict[str, Any]:
        """The schemas of all types of a version."""
        text = (self._folders[release] / "_definitions.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    def kinds(self, release: Release) -> Mapping[ApiKind, str]:
        """The kinds that a version serves, with the names of their definitions."""
        if release not in self._kinds:
            self._kinds[release] = {
                ApiKind(one["group"], one["version"], one["kind"]): name
                for name, schema in self.definitions(release)["$defs"].items()
                for one in schema.get("x-kubernetes-group-version-kind", ())
            }
        return self._kinds[release]

    def removed_in(self, kind: ApiKind, after: Release) -> Release | None:
        """The first version after a given one that does not serve a kind; None if all that are known do."""
        later = [release for release in self.releases if release > after]
        if not later or kind in self.kinds(later[-1]):
            return None
        return next(release for release in later if kind not in self.kinds(release))

    def last_served(self, kind: ApiKind) -> Release | None:
        """The newest version that serves a kind; None if none that is known does."""
        return next((release for release in reversed(self.releases) if kind in self.kinds(release)), None)

    def owns(self, group: str) -> bool:
        """Whether a group belongs to Kubernetes itself."""
        ends = {self.releases[0], self.releases[-1]}
        return group in {kind.group for release in ends for kind in self.kinds(release)}


def show_release(release: Release) -> str:
    """`1.34`."""
    return f"{release[0]}.{release[1]}"


class Schemas:
    """Validators for the kinds of one version of Kubernetes, and those of some CustomResourceDefinitions.

    Attributes:
        custom: the kinds that the definitions describe, with their schemas; None for those without one.
    """

    def __init__(self, kubernetes: Kubernetes, release: Release, definitions: Iterable[Any]) -> None:
        self._kubernetes = kubernetes
        self.release = release
        self.custom = {kind: schema for one in definitions for kind, schema in crd_schemas(one)}
        self.custom_groups = {(kind.group, kind.kind) for kind in self.custom}
        self._validator = functools.cache(self._make)

    def complaints(self, kind: ApiKind, content: Any) -> list[str] | None:
        """What a schema says against an object, at most ten complaints; None if there is no schema for its kind.

        Raises:
            ValueError: the schema cannot be used.
            RecursionError: the object is nested too deeply.
        """
        validator = self._validator(kind)
        if validator is None:
            return None
        found: list[str] = []
        for error in validator.iter_errors(content):
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
            found.append(f"{path.removeprefix('.') or 'the object'}: {error.message}")
            if len(found) == _MOST:
                break
        return sorted(found)

    def _make(self, kind: ApiKind) -> Any:
        import jsonschema_rs

        if kind in self.custom:
            schema = self.custom[kind]
            return None if schema is None else jsonschema_rs.Draft202012Validator(schema, mask=_MASKED)
        name = self._kubernetes.kinds(self.release).get(kind)
        if name is None:
            return None
        wanted = {"$ref": f"{_DEFINITIONS}#/$defs/{name}", "type": "object"}
        return jsonschema_rs.Draft202012Validator(wanted, registry=self._registry, mask=_MASKED)

    @functools.cached_property
    def _registry(self) -> Any:
        import jsonschema_rs

        return jsonschema_rs.Registry([(_DEFINITIONS, self._kubernetes.definitions(self.release))])


_MOST = 10


def crd_schemas(content: Any) -> Iterator[tuple[ApiKind, dict[str, Any] | None]]:
    """The kinds of a CustomResourceDefinition with their JSON schemas; None for a kind without a schema."""
    if api_kind(content) != ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"):
        return
    spec = content.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    versions = spec.get("versions") if isinstance(spec, dict) else None
    if not isinstance(names, dict) or not isinstance(versions, list):
        return
    for version in versions:
        if isinstance(version, dict) and version.get("served") is not False:
            schema = version.get("schema")
            structural = schema.get("openAPIV3Schema") if isinstance(schema, dict) else None
            kind = ApiKind(str(spec.get("group")), str(version.get("name")), str(names.get("kind")))
            yield kind, _root(structural) if isinstance(structural, dict) else None


def _root(structural: dict[str, Any]) -> dict[str, Any]:
    return {**_converted({**structural, "x-kubernetes-embedded-resource": True}), "type": "object"}


_KEPT = frozenset(
    {"enum", "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems"}
    | {"minLength", "minProperties", "minimum", "multipleOf", "pattern", "required", "uniqueItems"}
)


def _converted(schema: Any) -> Any:
    """A structural schema as JSON schema: unknown fields are refused, as the API server does if it is asked strictly.

    A null is taken for a field that is missing, as the API server takes it.
    """
    if not isinstance(schema, dict):
        return schema
    found = {key: value for key, value in schema.items() if key in _KEPT}
    for limit in ("Maximum", "Minimum"):
        if isinstance(exclusive := found.pop(f"exclusive{limit}", None), bool) and exclusive and limit.lower() in found:
            found[f"exclusive{limit}"] = found.pop(limit.lower())
    if schema.get("x-kubernetes-int-or-string"):
        found["type"] = ["integer", "string", "null"]
    elif isinstance(schema.get("type"), str):
        found["type"] = [schema["type"], "null"]
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            found[key] = [_value_rules(one) for one in schema[key]]
    if isinstance(schema.get("not"), dict):
        found["not"] = _value_rules(schema["not"])
    if "items" in schema:
        found["items"] = _converted(schema["items"])
    return {**found, **_fields(schema)}


def _fields(schema: dict[str, Any]) -> dict[str, Any]:
    """What a schema says about the fields of a map."""
    properties, further = schema.get("properties"), schema.get("additionalProperties")
    found: dict[str, Any] = {}
    if isinstance(properties, dict):
        found["properties"] = {key: _converted(value) for key, value in properties.items()}
    if schema.get("x-kubernetes-embedded-resource"):
        found["properties"] = {"apiVersion": {}, "kind": {}, **found.get("properties", {}), "metadata": {}}
    if isinstance(further, dict):
        found["additionalProperties"] = _converted(further)
    elif further is None and not schema.get("x-kubernetes-preserve-unknown-fields") and "properties" in found:
        found["additionalProperties"] = False
    return found


def _value_rules(schema: Any) -> Any:
    """A schema below `anyOf` and the like, which says something about values and names no new fields."""
    if not isinstance(schema, dict):
        return schema
    found = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(schema.get("type"), str):
        found["type"] = schema["type"]
    for key in ("properties", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            inner = schema[key]
            found[key] = {name: _value_rules(one) for name, one in inner.items()} if key == "properties" else True
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            found[key] = [_value_rules(one) for one in schema[key]]
    for key in ("not", "items"):
        if isinstance(schema.get(key), dict):
            found[key] = _value_rules(schema[key])
    return found
