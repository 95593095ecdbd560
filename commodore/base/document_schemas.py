"""JSON Schemas of JSON documents, derived from their dataclasses."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from commodore.base.documents import NO_NUMBERS, VERSION, Absent

_SIMPLE: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
_TEXTS = (PurePath, datetime, date, time, bytes)
_SECTIONS = ("Args:", "Attributes:")


def document_schema(name: str, kind: type) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `document(name, value)` for values of a dataclass.

    Raises:
        TypeError: the dataclass has a field without a JSON representation.
    """
    schemas = _Schemas()
    body = schemas.of_fields(kind)
    head: dict[str, Any] = {"schema": {"const": name}, "version": {"const": VERSION}}
    if twice := head.keys() & body["properties"].keys():
        raise TypeError(f"{kind.__name__} has a field {twice.pop()}, which every document has")
    properties = {**head, **body.pop("properties")}
    required = ["schema", "version", *body.pop("required")]
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name}
    shown = {**about, **body, "required": required, "properties": properties}
    return {**shown, "$defs": schemas.definitions} if schemas.definitions else shown


class _Schemas:
    """The schemas of types; classes with fields become definitions."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self._names: dict[type, str] = {}

    def of(self, hint: Any) -> dict[str, Any]:
        """Return the schema of a type."""
        if hint is Any or hint is object or isinstance(hint, TypeVar):
            return {}
        if isinstance(hint, NewType):
            return self.of(hint.__supertype__)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return self._any_of(arguments)
        kind = origin or hint
        if isinstance(kind, type):
            if (as_plain := getattr(kind, "as_plain", None)) is not None:
                return self.of(_hints(as_plain)["return"])
            if issubclass(kind, Enum):
                return {"enum": [member.value for member in kind]}
            if dataclasses.is_dataclass(kind) or hasattr(kind, "_asdict"):
                return {"$ref": f"#/$defs/{self._define(kind)}"}
            return self._of_class(kind, arguments)
        raise TypeError(f"{hint} has no form in JSON")

    def of_fields(self, kind: type) -> dict[str, Any]:
        """Return the schema of an object with the fields and properties of a class."""
        about = _documentation(kind)[0]
        each = {
            name: text
            for base in reversed(kind.__mro__)
            if dataclasses.is_dataclass(base)
            for name, text in _documentation(base)[1].items()
        }
        hints = _hints(kind)
        hints_by_name: dict[str, Any] = {}
        if dataclasses.is_dataclass(kind):
            for field in dataclasses.fields(kind):
                how = field.metadata.get("json", True)
                if how:
                    hints_by_name[field.name] = hints[field.name] if how is True else _hints(how)["return"]
        else:
            hints_by_name = {name: hints[name] for name in kind._fields}  # type: ignore[attr-defined]
        for name in getattr(kind, "json_properties", ()):
            getter = getattr(kind, name).fget
            hints_by_name[name] = _hints(getter)["return"]
            each.setdefault(name, _documentation(getter)[0])
        properties = {}
        for name, hint in hints_by_name.items():
            described = {"description": each[name]} if each.get(name) else {}
            properties[name] = {**described, **self.of(hint)}
        required = [name for name, hint in hints_by_name.items() if Absent not in get_args(hint)]
        described = {"description": about} if about else {}
        return {**described, "type": "object", "required": required, "properties": properties}

    def _of_class(self, kind: type, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if kind is float:
            return {"anyOf": [{"type": "number"}, {"enum": list(NO_NUMBERS)}]}
        if kind in _SIMPLE:
            return {"type": _SIMPLE[kind]}
        if issubclass(kind, (str, *_TEXTS)):
            return {"type": "string"}
        if issubclass(kind, Mapping):
            values = self.of(arguments[1]) if arguments else {}
            return {"type": "object", "additionalProperties": values or True}
        if kind is tuple and arguments and arguments[-1] is not ...:
            return {
                "type": "array",
                "prefixItems": [self.of(argument) for argument in arguments],
                "minItems": len(arguments),
            }
        if issubclass(kind, Sequence | AbstractSet):
            return {"type": "array", "items": self.of(arguments[0]) if arguments else {}}
        raise TypeError(f"{kind.__name__} has no form in JSON")

    def _any_of(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        alternatives = []
        for alternative in (self.of(each) for each in arguments if each is not Absent):
            if alternative not in alternatives:
                alternatives.append(alternative)
        if {} in alternatives or len(alternatives) == 1:
            return {} if {} in alternatives else alternatives[0]
        if all(alternative.keys() == {"type"} for alternative in alternatives):
            return {"type": [alternative["type"] for alternative in alternatives]}
        return {"anyOf": alternatives}

    def _define(self, kind: type) -> str:
        if kind not in self._names:
            name, number = kind.__name__.strip("_"), 1
            while (key := name if number == 1 else f"{name}{number}") in self._names.values():
                number += 1
            self._names[kind] = key
            self.definitions[key] = {}
            self.definitions[key] = self.of_fields(kind)
        return self._names[kind]


def _documentation(of: Any) -> tuple[str, dict[str, str]]:
    """Parse a docstring. Returns its first paragraph, and the texts of its attributes or arguments."""
    text = inspect.cleandoc(of.__doc__ or "")
    if text.startswith((f"{of.__name__}(", "Alias for field")):  # generated by dataclasses and named tuples
        return "", {}
    first = " ".join(text.partition("\n\n")[0].split())
    each: dict[str, str] = {}
    name = section = ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            section, name = line, ""
        elif section in _SECTIONS and line.startswith("    ") and line[4:5].strip():
            name, _, meaning = line.strip().partition(": ")
            each |= dict.fromkeys(name.split(", "), meaning[:1].upper() + meaning[1:])
        elif section in _SECTIONS and name and line.strip():
            each |= {attribute: f"{each[attribute]} {line.strip()}" for attribute in name.split(", ")}
    return first, {attribute: re.sub(r"\bNone\b", "null", meaning) for attribute, meaning in each.items()}


def _hints(of: Any) -> dict[str, Any]:
    """Return the types of fields, or of a function's arguments and result; names imported for type checkers are
    resolved.
    """
    names: dict[str, Any] = {}
    for kind in reversed(of.__mro__) if isinstance(of, type) else (of,):
        names |= _checked_imports(kind)
    return get_type_hints(of, localns=names)


def _checked_imports(of: type | Callable[..., Any]) -> dict[str, Any]:
    """Return the names that a module imports for type checkers only."""
    module = sys.modules[of.__module__]
    if not module.__name__.startswith("commodore."):
        return {}
    nodes = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.If)]
    imports = [statement for node in nodes if ast.unparse(node.test) == "TYPE_CHECKING" for statement in node.body]
    return {
        alias.asname or alias.name: getattr(importlib.import_module(statement.module), alias.name)
        for statement in imports
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
