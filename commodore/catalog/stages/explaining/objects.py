"""Find an object in a manifest by `KIND/NAME.FIELD`, and its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commodore.base.errors import InputError, did_you_mean
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.yaml import compose_all, load_all
from commodore.catalog.stages.explaining.model import FieldPlace, ObjectPlace
from commodore.core.inventory import ParameterPath, format_path, key_text, parse_path

if TYPE_CHECKING:
    from yaml import Node

_LISTED = 12  # objects or keys that a hint lists


@dataclass(frozen=True, slots=True)
class _Document:
    key: ObjectKey
    value: Any
    node: Node

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    @property
    def place(self) -> ObjectPlace:
        return ObjectPlace(self.key.kind, self.key.namespace, self.key.name, self.line)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return its possible names: the name, or namespace and name."""
        name, namespace = self.key.name, self.key.namespace
        return (f"{namespace}/{name}", name) if namespace else (name,)


def find_object(text: bytes, name: str, place: str) -> tuple[ObjectPlace, FieldPlace | None]:
    """Find an object of a manifest, and optionally a field of it (still without candidates).

    Args:
        name: `KIND/NAME` or `KIND/NAMESPACE/NAME`, optionally followed by `.FIELD`. The kind may be in lower case. A
        name may contain dots: the longest match is used.
        place: the name of the file in errors.

    Raises:
        InputError: CMD-CAT-022, no such object, or more than one; CMD-CAT-023, it has no such field;
            CMD-YAML-001, the file is not YAML.
        UsageError: CMD-INV-040, the field is not a path.
    """
    documents = _documents(text, place)
    kind, slash, rest = name.partition("/")
    of_kind = [document for document in documents if document.key.kind.lower() == kind.lower()]
    if not slash or not rest or not of_kind:
        names = [f"{document.key.kind}/{document.key.name}" for document in documents]
        near = did_you_mean(name, names) or did_you_mean(f"{kind}/{rest.partition('.')[0]}", names)
        raise _no_object(name, place, near, documents)
    matches = [(label, document) for document in of_kind for label in document.labels if _begins(rest, label)]
    if not matches:
        labels = [f"{document.key.kind}/{label}" for document in of_kind for label in document.labels]
        near = did_you_mean(f"{of_kind[0].key.kind}/{rest}", labels)
        near = near or did_you_mean(f"{of_kind[0].key.kind}/{rest.partition('.')[0]}", labels)
        raise _no_object(name, place, near, documents)
    longest = max(len(label) for label, _ in matches)
    best = [document for label, document in matches if len(label) == longest]
    if len(best) > 1:
        listed = ", ".join(f"{document.key} (line {document.line})" for document in best)
        raise InputError(
            "CMD-CAT-022",
            f"{place} has {len(best)} objects that are called {name!r}: {listed}",
            hint=f"name the namespace too: {kind}/NAMESPACE/NAME",
            locations=[place],
        )
    field = rest[longest:].removeprefix(".")
    return best[0].place, _field(best[0], parse_path(field), place) if field else None


def _documents(text: bytes, place: str) -> list[_Document]:
    values, nodes = load_all(text, place=place), compose_all(text, place=place)
    pairs = zip(values, nodes, strict=True) if len(values) == len(nodes) else ()
    parsed = [_Document(key_of(value), value, node) for value, node in pairs]
    return [document for document in parsed if document.key.kind and document.key.name]


def _begins(rest: str, label: str) -> bool:
    return rest == label or rest.startswith((f"{label}.", f"{label}["))


def _no_object(name: str, place: str, near: str, documents: Sequence[_Document]) -> InputError:
    names = [f"{document.key.kind}/{document.key.name}" for document in documents]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    listed = f"its objects are {', '.join(names[:_LISTED])}{more}" if names else "no object in it has a kind and a name"
    return InputError("CMD-CAT-022", f"{place} has no object {name!r}", hint=near or listed, locations=[place])


def _field(document: _Document, path: ParameterPath, place: str) -> FieldPlace:
    value, node, line = document.value, document.node, document.line
    for depth, segment in enumerate(path):
        if isinstance(segment, int) and isinstance(value, list) and segment < len(value):
            value, node = value[segment], _item(node, segment)
            line = _line(node, line)
        elif isinstance(segment, str) and isinstance(value, Mapping) and (key := _key(value, segment)):
            value = value[key[0]]
            name, node = _entry(node, segment)
            line = _line(name, line)
        else:
            raise _no_field(document, value, path, depth, place, line)
    return FieldPlace(path, value, line, ())


def _key(value: Mapping[Any, Any], segment: str) -> tuple[object] | None:
    if segment in value:
        return (segment,)
    return next(((key,) for key in value if key_text(key) == segment), None)


def _item(node: Any, index: int) -> Any:
    items = node.value if node is not None and node.id == "sequence" else ()
    return items[index] if index < len(items) else None


def _entry(node: Any, name: str) -> tuple[Any, Any]:
    """Return the nodes of a key and its value; None for both if the key is written differently, or merged."""
    if node is not None and node.id == "mapping":
        for key, value in reversed(node.value):
            if key.value == name:
                return key, value
    return None, None


def _line(node: Any, otherwise: int) -> int:
    return int(node.start_mark.line) + 1 if node is not None else otherwise


def _no_field(document: _Document, value: Any, path: ParameterPath, depth: int, place: str, line: int) -> InputError:
    owner = f"{document.key.kind}/{document.key.name}"
    owner += f", field {format_path(path[:depth])}," if depth else ""
    segment = path[depth]
    hint = ""
    if isinstance(value, Mapping):
        keys = [key_text(key) for key in value]
        hint = did_you_mean(str(segment), keys) or _joined(keys, path, depth) or _listing(keys)
    elif isinstance(value, list):
        hint = f"its items are [0] to [{len(value) - 1}]" if value else "the list is empty"
    what = f"item [{segment}]" if isinstance(segment, int) else f"field {segment!r}"
    return InputError("CMD-CAT-023", f"{owner} has no {what}", hint=hint, locations=[f"{place}:{line}"])


def _joined(keys: Iterable[str], path: ParameterPath, depth: int) -> str:
    """Suggest to quote a key with dots that was read as several keys."""
    rest = ".".join(str(segment) for segment in path[depth:])
    key = max((key for key in keys if "." in key and f"{rest}.".startswith(f"{key}.")), key=len, default="")
    return f"put a key with dots into quotes: {format_path([*path[:depth], key])}" if key else ""


def _listing(keys: Sequence[str]) -> str:
    return f"it has {', '.join(sorted(keys))}" if 0 < len(keys) <= _LISTED else ""
