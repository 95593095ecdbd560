"""Read plain YAML from libyaml's events: in a third of the time of PyYAML's nodes.

Manifests are maps, lists and scalars. Everything else (anchors, tags, merge keys, keys that are collections, errors) is
left to PyYAML, which alone defines the meaning of such documents, and their errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml
from yaml import (
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    ScalarNode,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml._loader import Loader

_PLAIN = (True, False)
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_DEPTH = DEFAULT_LIMITS.yaml_depth - 2  # PyYAML reports the excess
_OPEN = object()  # marks a missing key


class NotPlainError(Exception):
    """The text holds something that needs PyYAML."""


def load_plain(text: str | bytes) -> list[Any]:
    """Return all documents of a stream, as `Loader` constructs them.

    Raises:
        NotPlainError: the text holds more than maps, lists and scalars, or an error.
    """
    loader = None
    try:
        loader = Loader(text)
        return _Builder(loader).documents()
    except NotPlainError:
        raise
    except Exception as error:  # PyYAML reports it
        raise NotPlainError from error
    finally:
        if loader is not None:
            loader.dispose()


class _Builder:
    """Builds the documents of a stream."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._next: Callable[[], Any] = loader.get_event
        self._values: dict[str, Any] = {}  # plain scalars, which are immutable and may be shared

    def documents(self) -> list[Any]:
        roots = []
        if type(self._next()) is not StreamStartEvent:
            raise NotPlainError
        while type(event := self._next()) is DocumentStartEvent:
            roots.append(self._document())
        if type(event) is not StreamEndEvent:
            raise NotPlainError
        return roots

    def _document(self) -> Any:
        """Return the value of a document up to its end."""
        next_event, values = self._next, self._values
        root: list[Any] = []
        above: list[tuple[Any, Any]] = []  # the open collections, each with its pending key
        here: Any = root
        key: Any = _OPEN
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                if event.anchor is not None or event.tag is not None:
                    raise NotPlainError
                value = event.value
                if event.implicit == _PLAIN:
                    value = values[value] if value in values else self._scalar(value)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.anchor is not None or event.tag is not None or len(above) >= _DEPTH:
                    raise NotPlainError
                value = {} if kind is MappingStartEvent else []
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                here, key = above.pop()
                continue
            elif kind is DocumentEndEvent:
                return root[0]
            else:
                raise NotPlainError
            if type(here) is list:
                here.append(value)
            elif key is _OPEN:
                if kind is not ScalarEvent:
                    raise NotPlainError
                key = value
                continue
            else:
                here[key] = value
                key = _OPEN
            if kind is not ScalarEvent:
                above.append((here, key))
                here, key = value, _OPEN

    def _scalar(self, text: str) -> Any:
        """Return the value of a plain scalar, cached by its text."""
        tag = self._loader.resolve(ScalarNode, text, _PLAIN)  # type: ignore[no-untyped-call]
        if tag == _MERGE:
            raise NotPlainError
        value = text
        if tag != _TEXT:
            value = self._loader.construct_object(yaml.ScalarNode(tag, text))
        self._values[text] = value
        return value
