"""Which places set a parameter, in merge order, and what comes of them: reclass-rs's merging done again, with places.

Everything is found out path by path, as references may lead from one part of the hierarchy into another that refers
back to the first. What was found is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.core.inventory.class_index import ClassFiles
from commodore.core.inventory.explain._documents import Document, Documents
from commodore.core.inventory.explain._json_text import embedded
from commodore.core.inventory.explain._merging import Merging, Unresolved, rendered
from commodore.core.inventory.explain._nodes import ListNode, MapEntry, MapNode, Node, Place, Scalar, read_tree
from commodore.core.inventory.explain.references import Parts, Ref, parse_references

Path = tuple[Any, ...]
"""Keys as they are in the hierarchy; whole numbers are indexes where the value is a list."""


class UnexplainedError(Exception):
    """Something that reclass-rs refuses too, or that is not understood here: references in a loop, or to nothing."""


@dataclass(frozen=True, slots=True)
class Link:
    """One place that sets a parameter, or takes it away.

    Attributes:
        document: the file.
        path: the key's own path, which is above the parameter's where a reference or null stands in for a whole map.
        written: the key with its markers; an index for an item of a list.
        place: of the key.
        node: the value as it is written there.
        target: where the value is to be found, if it is a part of what a reference of `node` brings.
        overrides, constant: whether the key is marked so, here or where the reference leads.
        resets: what came before does not count.
        fresh: what came before does not count because a map above starts over.
        gives: whether there is a value; otherwise the parameter is only taken away.
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
        """The chains of a target. References in `classes` are looked up in the classes merged before.

        Raises:
            InputError: CMD-INV-019, classes include each other.
        """
        documents = Documents(files, target)

        def fill(entry: str, merged: Collection[str]) -> str:
            parts = parse_references(entry)
            with contextlib.suppress(UnexplainedError):
                return entry if parts is None else cls(documents.merging(merged))._text(parts)
            return entry  # a class that is left out, or whose absence is reported

        ordered = documents.merging(files.order(target, fill)).ordered
        return cls(replace(documents, ordered=(*ordered, documents.own)))

    def links(self, path: Path) -> tuple[Link, ...]:
        """The places that set a parameter, in merge order. None for one that is not set.

        Raises:
            UnexplainedError: references form a loop.
        """
        if path not in self._links:
            with self._entered("links", path):
                self._links[path] = tuple(self._find(path))
        return self._links[path]

    def value(self, path: Path) -> Any:
        """What the chain of a parameter makes of it, markers kept (`Merging`).

        Raises:
            UnexplainedError: the chain says nothing, or nothing that reclass-rs would have taken.
        """
        if path not in self._values:
            with self._entered("value", path):
                self._values[path] = self._merge(path)
        return self._values[path]

    def keys(self, path: Path) -> tuple[Any, ...]:
        """The keys of a map, in the order in which they were set first."""
        found: dict[Any, None] = {}
        for link in self.effective(path):
            content = self.content(link)
            if isinstance(content, tuple):
                found.update(dict.fromkeys(self.keys(content)))
            elif isinstance(content, MapNode):
                found.update(dict.fromkeys(entry.key for entry in content.entries))
        return tuple(key for key in found if self.exists((*path, key)))

    def effective(self, path: Path) -> list[Link]:
        """The links of which something is left."""
        links: list[Link] = []
        for link in reversed(counting(self.links(path))):
            kind = self.kind_of(link) if link.gives else "missing"
            if kind != "missing":
                links.append(link)
            if kind in ("null", "plain"):
                break
        return links[::-1]

    def kind(self, path: Path) -> str:
        """`map`, `list`, `null`, `plain`, or `missing` for what is not set."""
        links = counting(self.links(path))
        return self.kind_of(links[-1]) if links and links[-1].gives else "missing"

    def kind_of(self, link: Link) -> str:
        """The kind of the value that one place gives."""
        content = self.content(link)
        if isinstance(content, tuple):
            with self._entered("kind", content):
                return self.kind(content)
        if isinstance(content, Scalar):
            return "null" if content.value is None else "plain"
        return "map" if isinstance(content, MapNode) else "list"

    def content(self, link: Link) -> Node | Path:
        """The node that gives a link's value, or the path that its reference leads to."""
        return link.target if link.target is not None else self._follow(link.node)

    def resolve(self, link: Link) -> Any:
        """The value that one place gives, references followed; `Unresolved` for those that lead nowhere."""
        try:
            content = self.content(link)
            return self.value(content) if isinstance(content, tuple) else self._evaluate(content)
        except UnexplainedError:
            return Unresolved(str(link.node.value) if isinstance(link.node, Scalar) else "")

    def reference(self, ref: Ref) -> tuple[Path, str | None]:
        """The path that a reference leads to, and its default."""
        path, separator, default = self._text(ref.parts).partition("::")
        return tuple(path.split(":")), default if separator else None

    def exists(self, path: Path) -> bool:
        """Whether a parameter is set."""
        return self.kind(path) != "missing"

    def _merge(self, path: Path) -> Any:
        links = self.effective(path)
        kind = self.kind(path)
        if kind == "map":
            merging = Merging()
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
                found = list(self._children(link, key, fresh=anew or not before)) if kind == "map" else []
            except UnexplainedError:
                if number >= left:
                    raise
                continue  # a loop does no harm where another value comes over it
            if found and anew:
                found[0] = replace(found[0], resets=True)
            elif anew and before:
                found = [replace(link, gives=False, resets=True, fresh=True, overrides=False, target=None)]
            before = before or bool(found)
            yield from found

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
        """The node itself; for a reference and nothing else, where it leads: a path, or its default."""
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
                raise UnexplainedError  # one such item makes the whole list nothing to reclass-rs
            return items
        if isinstance(node, MapNode):
            merging = Merging()
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
            return embedded(content)  # what is in one place only goes into a text as it is written there
        return embedded(rendered(self.value(path)))

    def _entered(self, what: str, path: Path) -> _Entered:
        return _Entered(self._open, (what, path))


@dataclass(slots=True)
class _Entered:
    """A path that is being worked on: who comes to it again goes in circles."""

    open: set[tuple[str, Path]]
    mark: tuple[str, Path]

    def __enter__(self) -> None:
        if self.mark in self.open or len(self.open) > _DEEP:
            raise UnexplainedError
        self.open.add(self.mark)

    def __exit__(self, *_: object) -> None:
        self.open.discard(self.mark)


_DEEP = 150  # paths that wait for each other; Python's own stack ends not far behind


def counting(links: Sequence[Link]) -> Sequence[Link]:
    """Those of a chain's links that still count: from the last one on that starts over, or lets nothing through."""
    starts = [number for number, link in enumerate(links) if link.resets or _is_settled(link)]
    return links[starts[-1] :] if starts else links


def _is_settled(link: Link) -> bool:
    """Whether a value is null or plain, which can be said without following references."""
    if link.target is not None or not isinstance(link.node, Scalar):
        return False
    text = link.node.value
    parts = parse_references(text) if isinstance(text, str) else None
    return parts is None or len(parts) != 1 or not isinstance(parts[0], Ref)


def _of_one_map(document: Document, path: Path, entries: Sequence[MapEntry], *, fresh: bool) -> Iterator[Link]:
    """The links of the entries that one map has for a key. What counts outside is how the first of them is marked."""
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
    """The link that put a key into the map that is left in the end: its markers are the key's."""
    fresh = [link for link in links if link.fresh and link.gives]
    return fresh[-1] if fresh else links[0]


def _parts(node: Node) -> Parts | None:
    """The parts of a text with references or escapes in it; None for any other node."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or "$" not in node.value:
        return None
    parts = parse_references(node.value)
    if parts is None:
        raise UnexplainedError
    return parts
