"""Schemas of Kubernetes' own kinds, by release, and of kinds defined by CustomResourceDefinitions.

The structure of objects is validated: fields, types, values. Rules in CEL, defaults and admission webhooks are not
evaluated. Needs the extra `validate`.
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
"""Replaces values in messages: these may be secrets."""

Release = tuple[int, int]


class ApiKind(NamedTuple):
    """A kind in a version of its API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version} {self.kind}" if self.group else f"{self.version} {self.kind}"


def api_kind(content: Any) -> ApiKind:
    """Return the kind of an object; missing parts are empty."""
    version = content.get("apiVersion") if isinstance(content, dict) else None
    key = key_of(content)
    return ApiKind(key.group, version.rpartition("/")[2] if isinstance(version, str) else "", key.kind)


class Kubernetes:
    """The kinds that Kubernetes serves, by release.

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
        """The known releases, the oldest first."""
        return tuple(sorted(self._folders))

    def release(self, text: str | None) -> Release:
        """Return a release given by a user; the newest known one for None.

        Raises:
            UsageError: CMD-CLI-033, it is invalid or unknown.
        """
        if text is None:
            return self.releases[-1]
        match = _VERSION.fullmatch(text)
        requested = (int(match[1]), int(match[2])) if match else None
        if requested not in self._folders:
            known = f"{show_release(self.releases[0])} to {show_release(self.releases[-1])}"
            raise UsageError("CMD-CLI-033", f"unknown version of Kubernetes {text!r}", hint=f"known versions: {known}")
        return requested

    def definitions(self, release: Release) -> dict[str, Any]:
        """Return the schemas of all types of a release."""
        text = (self._folders[release] / "_definitions.json").read_text(encoding="utf-8")
        schemas: dict[str, Any] = json.loads(text)
        return schemas

    def kinds(self, release: Release) -> Mapping[ApiKind, str]:
        """Return the kinds that a release serves, with the names of their definitions."""
        if release not in self._kinds:
            self._kinds[release] = {
                ApiKind(served["group"], served["version"], served["kind"]): name
                for name, schema in self.definitions(release)["$defs"].items()
                for served in schema.get("x-kubernetes-group-version-kind", ())
            }
        return self._kinds[release]

    def removed_in(self, kind: ApiKind, after: Release) -> Release | None:
        """Return the first release after a given one that does not serve a kind; None if all known ones do."""
        later = [release for release in self.releases if release > after]
        if not later or kind in self.kinds(later[-1]):
            return None
        return next(release for release in later if kind not in self.kinds(release))

    def last_served(self, kind: ApiKind) -> Release | None:
        """Return the newest release that serves a kind; None if no known one does."""
        return next((release for release in reversed(self.releases) if kind in self.kinds(release)), None)

    def owns(self, group: str) -> bool:
        """Return True if a group belongs to Kubernetes itself."""
        ends = {self.releases[0], self.releases[-1]}
        return group in {kind.group for release in ends for kind in self.kinds(release)}


def show_release(release: Release) -> str:
    """Format a release: `1.34`."""
    return f"{release[0]}.{release[1]}"


class Schemas:
    """Validators for the kinds of a Kubernetes release, and of some CustomResourceDefinitions.

    Attributes:
        custom: the defined custom kinds, with their schemas; None for a kind without schema.
    """

    def __init__(self, kubernetes: Kubernetes, release: Release, definitions: Iterable[Any]) -> None:
        self._kubernetes = kubernetes
        self.release = release
        self.custom = {kind: schema for definition in definitions for kind, schema in crd_schemas(definition)}
        self.custom_groups = {(kind.group, kind.kind) for kind in self.custom}
        self._validator = functools.cache(self._make)

    def complaints(self, kind: ApiKind, content: Any) -> list[str] | None:
        """Validate an object. Returns at most ten messages; None for a kind without a schema.

        Raises:
            ValueError: the schema cannot be used.
            RecursionError: the object is nested too deeply.
        """
        validator = self._validator(kind)
        if validator is None:
            return None
        messages: list[str] = []
        for error in validator.iter_errors(content):
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
            messages.append(f"{path.removeprefix('.') or 'the object'}: {error.message}")
            if len(messages) == _MOST:
                break
        return sorted(messages)

    def _make(self, kind: ApiKind) -> Any:
        import jsonschema_rs

        if kind in self.custom:
            schema = self.custom[kind]
            return None if schema is None else jsonschema_rs.Draft202012Validator(schema, mask=_MASKED)
        name = self._kubernetes.kinds(self.release).get(kind)
        if name is None:
            return None
        reference = {"$ref": f"{_DEFINITIONS}#/$defs/{name}", "type": "object"}
        return jsonschema_rs.Draft202012Validator(reference, registry=self._registry, mask=_MASKED)

    @functools.cached_property
    def _registry(self) -> Any:
        import jsonschema_rs

        return jsonschema_rs.Registry([(_DEFINITIONS, self._kubernetes.definitions(self.release))])


_MOST = 10


def crd_schemas(content: Any) -> Iterator[tuple[ApiKind, dict[str, Any] | None]]:
    """Yield the kinds of a CustomResourceDefinition with their JSON schemas; None for a kind without a schema."""
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
    """Convert a structural schema to a JSON schema: unknown fields are refused, as in strict mode of the API server.

    A null counts as a missing field, as in the API server.
    """
    if not isinstance(schema, dict):
        return schema
    converted = {key: value for key, value in schema.items() if key in _KEPT}
    for limit in ("Maximum", "Minimum"):
        if (
            isinstance(exclusive := converted.pop(f"exclusive{limit}", None), bool)
            and exclusive
            and limit.lower() in converted
        ):
            converted[f"exclusive{limit}"] = converted.pop(limit.lower())
    if schema.get("x-kubernetes-int-or-string"):
        converted["type"] = ["integer", "string", "null"]
    elif isinstance(schema.get("type"), str):
        converted["type"] = [schema["type"], "null"]
    if "enum" in converted:
        converted["enum"] = [*converted["enum"], None]
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            converted[key] = [_value_rules(rule) for rule in schema[key]]
    if isinstance(schema.get("not"), dict):
        converted["not"] = _value_rules(schema["not"])
    if "items" in schema:
        converted["items"] = _converted(schema["items"])
    return {**converted, **_fields(schema)}


def _fields(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert the rules about the fields of a map."""
    properties, further = schema.get("properties"), schema.get("additionalProperties")
    converted: dict[str, Any] = {}
    if isinstance(properties, dict):
        converted["properties"] = {key: _converted(value) for key, value in properties.items()}
    if schema.get("x-kubernetes-embedded-resource"):
        converted["properties"] = {"apiVersion": {}, "kind": {}, **converted.get("properties", {}), "metadata": {}}
    if isinstance(further, dict):
        converted["additionalProperties"] = _converted(further)
    elif further is None and not schema.get("x-kubernetes-preserve-unknown-fields") and "properties" in converted:
        converted["additionalProperties"] = False
    return converted


def _value_rules(schema: Any) -> Any:
    """Convert a schema below `anyOf` and similar keys, which has rules for values and defines no fields."""
    if not isinstance(schema, dict):
        return schema
    converted = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(schema.get("type"), str):
        converted["type"] = schema["type"]
    for key in ("properties", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            inner = schema[key]
            converted[key] = {name: _value_rules(rule) for name, rule in inner.items()} if key == "properties" else True
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            converted[key] = [_value_rules(rule) for rule in schema[key]]
    for key in ("not", "items"):
        if isinstance(schema.get(key), dict):
            converted[key] = _value_rules(schema[key])
    return converted
