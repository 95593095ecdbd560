"""Chains of the places that set a parameter, in merge order: the merging of reclass-rs, repeated with locations.

Chains are determined path by path, as references may lead from one part of the hierarchy into another that refers back
to the first. Results are cached.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.core.inventory.class_index import ClassFiles
from commodore.core.inventory.explain._documents import Document, Documents
from commodore.core.inventory.explain._json_text import embedded
from commodore.core.inventory.explain._merging import MergedMap, Unresolved, rendered
from commodore.core.inventory.explain._nodes import ListNode, MapEntry, MapNode, Node, Place, Scalar, read_tree
from commodore.core.inventory.explain.references import Parts, Ref, parse_references

Path = tuple[Any, ...]
"""Keys as they are in the hierarchy; integers are indexes if the value is a list."""


class UnexplainedError(Exception):
    """A parameter that reclass-rs refuses, too, or that is not supported here: reference loops, dangling references."""


@dataclass(frozen=True, slots=True)
class Link:
    """One place that sets or removes a parameter.

    Attributes:
        document: the file.
        path: the key's own path, a parent of the parameter's if the value of a whole map is a reference or null.
        written: the key with its markers; an index for an item of a list.
        place: the place of the key.
        node: the value as written.
        target: the path of the value, if it is part of the target of a reference in `node`.
        overrides, constant: the key has the marker, here or at the target of the reference.
        resets: earlier values are discarded.
        fresh: earlier values are discarded because a map above is reset.
        gives: there is a value; otherwise the parameter is only removed.
    """

    document: Document
    path: Path
    written: Any
    place: Place
    node: Node
    target: Path | None = None
    overrides: bool = False
    constant: bool = False
    resets: bool = False
    fresh: bool = False
    gives: bool = True


@dataclass(slots=True)
class Chains:
    """The chains of all parameters of one target."""

    documents: Documents
    _links: dict[Path, tuple[Link, ...]] = field(default_factory=dict)
    _values: dict[Path, Any] = field(default_factory=dict)
    _open: set[tuple[str, Path]] = field(default_factory=set)

    @classmethod
    def of(cls, files: ClassFiles, target: str) -> Chains:
        """Return the chains of a target. References in `classes` are looked up in the classes merged before.

        Raises:
            InputError: CMD-INV-019, classes include each other.
        """
        documents = Documents(files, target)

        def fill(entry: str, merged: Collection[str]) -> str:
            parts = parse_references(entry)
            with contextlib.suppress(UnexplainedError):
                return entry if parts is None else cls(documents.merging(merged))._text(parts)
            return entry  # a class that is ignored, or reported as missing

        ordered = documents.merging(files.order(target, fill)).ordered
        return cls(replace(documents, ordered=(*ordered, documents.own)))

    def links(self, path: Path) -> tuple[Link, ...]:
        """Return the places that set a parameter, in merge order; empty if it is not set.

        Raises:
            UnexplainedError: references form a loop.
        """
        if path not in self._links:
            with self._entered("links", path):
                self._links[path] = tuple(self._find(path))
        return self._links[path]

    def value(self, path: Path) -> Any:
        """Return the merged value of a parameter's chain, with markers (`MergedMap`).

        Raises:
            UnexplainedError: the chain has no value, or reclass-rs would have refused it.
        """
        if path not in self._values:
            with self._entered("value", path):
                self._values[path] = self._merge(path)
        return self._values[path]

    def keys(self, path: Path) -> tuple[Any, ...]:
        """Return the keys of a map, in the order in which they were first set."""
        keys: dict[Any, None] = {}
        for link in self.effective(path):
            content = self.content(link)
            if isinstance(content, tuple):
                keys.update(dict.fromkeys(self.keys(content)))
            elif isinstance(content, MapNode):
                keys.update(dict.fromkeys(entry.key for entry in content.entries))
        return tuple(key for key in keys if self.exists((*path, key)))

    def effective(self, path: Path) -> list[Link]:
        """Return the links that contribute to the value."""
        links: list[Link] = []
        for link in reversed(counting(self.links(path))):
            kind = self.kind_of(link) if link.gives else "missing"
            if kind != "missing":
                links.append(link)
            if kind in ("null", "plain"):
                break
        return links[::-1]

    def kind(self, path: Path) -> str:
        """Return the kind of a value: `map`, `list`, `null`, `plain`, or `missing` if it is not set."""
        links = counting(self.links(path))
        return self.kind_of(links[-1]) if links and links[-1].gives else "missing"

    def kind_of(self, link: Link) -> str:
        """Return the kind of the value of a link."""
        content = self.content(link)
        if isinstance(content, tuple):
            with self._entered("kind", content):
                return self.kind(content)
        if isinstance(content, Scalar):
            return "null" if content.value is None else "plain"
        return "map" if isinstance(content, MapNode) else "list"

    def content(self, link: Link) -> Node | Path:
        """Return the node with a link's value, or the target path of its reference."""
        return link.target if link.target is not None else self._follow(link.node)

    def resolve(self, link: Link) -> Any:
        """Return the value of a link, with resolved references; `Unresolved` for dangling ones."""
        try:
            content = self.content(link)
            return self.value(content) if isinstance(content, tuple) else self._evaluate(content)
        except UnexplainedError:
            return Unresolved(str(link.node.value) if isinstance(link.node, Scalar) else "")

    def reference(self, ref: Ref) -> tuple[Path, str | None]:
        """Return the target path of a reference, and its default."""
        path, separator, default = self._text(ref.parts).partition("::")
        return tuple(path.split(":")), default if separator else None

    def exists(self, path: Path) -> bool:
        """Check if a parameter is set."""
        return self.kind(path) != "missing"

    def _merge(self, path: Path) -> Any:
        links = self.effective(path)
        kind = self.kind(path)
        if kind == "map":
            merging = MergedMap()
            for key in self.keys(path):
                first = _first_in_map(self.links((*path, key)))
                merging.insert(key, self.value((*path, key)), overrides=first.overrides, constant=first.constant)
            return merging
        if kind == "list":
            return [item for link in links for item in self._items(link)]
        if not links or kind == "missing":
            raise UnexplainedError
        return self.resolve(links[-1])

    def _items(self, link: Link) -> list[Any]:
        items = self.resolve(link)
        return items if isinstance(items, list) else []

    def _find(self, path: Path) -> Iterator[Link]:
        if len(path) == 1:
            for document, entries in self.documents.defining(path[0]):
                yield from _of_one_map(document, (), entries, fresh=False)
            return
        parent, key = path[:-1], path[-1]
        if isinstance(key, int) and self.kind(parent) == "list":
            yield from self._item(parent, key)
            return
        before = False
        links = self.links(parent)
        left = len(links) - len(counting(links))
        for number, link in enumerate(links):
            try:
                kind = self.kind_of(link) if link.gives else "null"
                anew = link.resets or kind == "null"
                children = list(self._children(link, key, fresh=anew or not before)) if kind == "map" else []
            except UnexplainedError:
                if number >= left:
                    raise
                continue  # a loop is harmless if another value overrides it
            if children and anew:
                children[0] = replace(children[0], resets=True)
            elif anew and before:
                children = [replace(link, gives=False, resets=True, fresh=True, overrides=False, target=None)]
            before = before or bool(children)
            yield from children

    def _children(self, link: Link, key: Any, *, fresh: bool) -> Iterator[Link]:
        content = self.content(link)
        if isinstance(content, MapNode):
            entries = content.at(key)
            yield from _of_one_map(link.document, link.path, entries, fresh=fresh)
        elif isinstance(content, tuple):
            target = (*content, key)
            links = counting(self.links(target)) if self.exists(target) else ()
            if links:
                marks = _first_in_map(self.links(target))
                yield replace(
                    link,
                    target=target,
                    overrides=marks.overrides,
                    constant=marks.constant,
                    resets=marks.overrides,
                    fresh=fresh,
                )

    def _item(self, parent: Path, index: int) -> Iterator[Link]:
        for link in counting(self.links(parent)):
            if self.kind_of(link) != "list":
                continue
            content = self.content(link)
            length = self._length(content)
            if index < length:
                item = content.items[index].place if isinstance(content, ListNode) else link.place
                node = content.items[index] if isinstance(content, ListNode) else link.node
                target = (*content, index) if isinstance(content, tuple) else None
                yield Link(link.document, (*link.path, index), index, item, node, target, fresh=True)
                return
            index -= length

    def _length(self, content: Node | Path) -> int:
        if isinstance(content, tuple):
            value = self.value(content)
            return len(value) if isinstance(value, list) else 0
        return len(content.items) if isinstance(content, ListNode) else 0

    def _follow(self, node: Node) -> Node | Path:
        """Return the node itself; for a single reference its target: a path, or its default."""
        parts = _parts(node)
        if parts is None or len(parts) != 1 or not isinstance(parts[0], Ref):
            return node
        path, default = self.reference(parts[0])
        if default is None or self.exists(path):
            return path
        return read_tree(default, node.place) or Scalar(None, node.place)

    def _evaluate(self, node: Node) -> Any:
        try:
            return self._evaluated(node)
        except UnexplainedError:
            return Unresolved(str(node.value) if isinstance(node, Scalar) else "")

    def _evaluated(self, node: Node) -> Any:
        if isinstance(node, ListNode):
            items = [self._evaluate(item) for item in node.items]
            if any(isinstance(item, Unresolved) for item in items):
                raise UnexplainedError  # reclass-rs refuses a list with such an item
            return items
        if isinstance(node, MapNode):
            merging = MergedMap()
            for entry in node.entries:
                value = self._evaluate(entry.value)
                merging.insert(entry.key, value, overrides=entry.overrides, constant=entry.constant)
            return merging
        parts = _parts(node)
        if parts is None:
            return node.value
        content = self._follow(node)
        if isinstance(content, tuple):
            return self.value(content)
        return self._text(parts) if content is node else self._evaluate(content)

    def _text(self, parts: Parts) -> str:
        return "".join(part if isinstance(part, str) else self._embedded(part) for part in parts)

    def _embedded(self, ref: Ref) -> str:
        path, default = self.reference(ref)
        if default is not None and not self.exists(path):
            tree = read_tree(default)
            return embedded(rendered(self._evaluate(tree)) if tree is not None else None)
        links = counting(self.links(path))
        content = self.content(links[0]) if len(links) == 1 else None
        if isinstance(content, (MapNode, ListNode)):
            return embedded(content)  # a value of a single place is embedded as written
        return embedded(rendered(self.value(path)))

    def _entered(self, what: str, path: Path) -> _LoopGuard:
        return _LoopGuard(self._open, (what, path))


@dataclass(slots=True)
class _LoopGuard:
    """A path in progress; entering it again is a reference loop."""

    open: set[tuple[str, Path]]
    mark: tuple[str, Path]

    def __enter__(self) -> None:
        if self.mark in self.open or len(self.open) > _DEEP:
            raise UnexplainedError
        self.open.add(self.mark)

    def __exit__(self, *_: object) -> None:
        self.open.discard(self.mark)


_DEEP = 150  # nested paths; Python's own recursion limit is not much higher


def counting(links: Sequence[Link]) -> Sequence[Link]:
    """Return the effective links of a chain: those from the last one that resets or replaces the value."""
    starts = [number for number, link in enumerate(links) if link.resets or _is_settled(link)]
    return links[starts[-1] :] if starts else links


def _is_settled(link: Link) -> bool:
    """Check if a value is null or plain, without following references."""
    if link.target is not None or not isinstance(link.node, Scalar):
        return False
    text = link.node.value
    parts = parse_references(text) if isinstance(text, str) else None
    return parts is None or len(parts) != 1 or not isinstance(parts[0], Ref)


def _of_one_map(document: Document, path: Path, entries: Sequence[MapEntry], *, fresh: bool) -> Iterator[Link]:
    """Yield the links of a map's entries for a key. Outside of the map, the markers of the first entry apply."""
    last = max((number for number, entry in enumerate(entries) if entry.overrides), default=0)
    for number, entry in enumerate(entries):
        if number >= last:
            first = number == last
            yield Link(
                document,
                (*path, entry.key),
                entry.written,
                entry.place,
                entry.value,
                overrides=first and entries[0].overrides,
                constant=entry.constant,
                resets=first and entries[0].overrides,
                fresh=fresh and first,
            )


def _first_in_map(links: Sequence[Link]) -> Link:
    """Return the link that first set a key in the resulting map: its markers are the key's."""
    fresh = [link for link in links if link.fresh and link.gives]
    return fresh[-1] if fresh else links[0]


def _parts(node: Node) -> Parts | None:
    """Return the parts of a text with references or escapes; None for any other node."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or "$" not in node.value:
        return None
    parts = parse_references(node.value)
    if parts is None:
        raise UnexplainedError
    return parts
