"""The plain part of YAML, put together from libyaml's events: a third of the time that PyYAML's nodes take.

Manifests are maps, lists and scalars. Whatever is more (anchors, tags, merge keys, keys that are collections, mistakes)
is left to PyYAML, so that it stays the only one who says what such documents mean, and what is wrong with them.
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
_DEPTH = DEFAULT_LIMITS.yaml_depth - 2  # PyYAML tells what is too deep
_OPEN = object()  # stands for a key that is still to come


class NotPlainError(Exception):
    """There is something in the text that PyYAML has to look at."""


def load_plain(text: str | bytes) -> list[Any]:
    """All documents of a stream, as `Loader` constructs them.

    Raises:
        NotPlainError: the text holds more than maps, lists and scalars, or a mistake.
    """
    loader = None
    try:
        loader = Loader(text)
        return _Builder(loader).documents()
    except NotPlainError:
        raise
    except Exception as error:  # PyYAML is asked what it is
        raise NotPlainError from error
    finally:
        if loader is not None:
            loader.dispose()


class _Builder:
    """Puts the documents of one stream together."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._next: Callable[[], Any] = loader.get_event
        self._values: dict[str, Any] = {}  # of plain scalars, which cannot be changed and so may be shared

    def documents(self) -> list[Any]:
        found = []
        if type(self._next()) is not StreamStartEvent:
            raise NotPlainError
        while type(event := self._next()) is DocumentStartEvent:
            found.append(self._document())
        if type(event) is not StreamEndEvent:
            raise NotPlainError
        return found

    def _document(self) -> Any:
        """The value of a document up to its end."""
        next_event, values = self._next, self._values
        root: list[Any] = []
        above: list[tuple[Any, Any]] = []  # the collections that are begun, each with its key that waits for a value
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
        """The value of a plain scalar, kept for the next one of the same text."""
        tag = self._loader.resolve(ScalarNode, text, _PLAIN)  # type: ignore[no-untyped-call]
        if tag == _MERGE:
            raise NotPlainError
        value = text
        if tag != _TEXT:
            value = self._loader.construct_object(yaml.ScalarNode(tag, text))
        self._values[text] = value
        return value
