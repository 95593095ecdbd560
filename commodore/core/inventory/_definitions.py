"""Where class files define a parameter: for errors of reclass-rs, which names parameters but no places."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Definition:
    """A key in a YAML file: its path with `=` and `~` left out, e.g. `("parameters", "a", "b")`, lines from one."""

    path: tuple[str, ...]
    constant: bool
    duplicate: bool
    plain: bool  # the key is neither a list nor a map
    line: int
    column: int


@dataclass(slots=True)
class _Frame:
    """A map or list that is being read; `key` is the last key of a map."""

    is_map: bool
    key: str = ""
    awaits_key: bool = True
    seen: set[str] = field(default_factory=set)


def find_definitions(content: bytes) -> Iterator[Definition]:
    """Every key of a YAML text, as far as the text can be read. It reads events, so nesting does not matter."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    frames: list[_Frame] = []
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(content, Loader=loader):
            if isinstance(event, yaml.CollectionEndEvent):
                frames.pop()
            elif isinstance(event, yaml.NodeEvent):
                frame = frames[-1] if frames else None
                if frame is not None and frame.is_map:
                    if frame.awaits_key:
                        plain = not isinstance(event, yaml.CollectionStartEvent)
                        frame.key = event.value if isinstance(event, yaml.ScalarEvent) else "?"
                        yield _definition(frames, event.start_mark, plain=plain)
                        frame.seen.add(frame.key)
                    frame.awaits_key = not frame.awaits_key
                if isinstance(event, yaml.CollectionStartEvent):
                    frames.append(_Frame(isinstance(event, yaml.MappingStartEvent)))


def find_tag(content: bytes) -> tuple[str, int] | None:
    """The first explicit tag (`!x`) of a YAML text and its line from one; reclass-rs cannot read any."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(content, Loader=loader):
            tag = getattr(event, "tag", None)
            mark: Any = event.start_mark
            if tag and not tag.startswith("tag:yaml.org,2002:"):
                return tag, mark.line + 1
    return None


def _definition(frames: list[_Frame], mark: Any, *, plain: bool) -> Definition:
    last = frames[-1]
    return Definition(
        path=tuple(frame.key.lstrip("=~") for frame in frames if frame.is_map),
        constant=last.key.startswith("="),
        duplicate=last.key in last.seen,
        plain=plain,
        line=mark.line + 1,
        column=mark.column + 1,
    )
