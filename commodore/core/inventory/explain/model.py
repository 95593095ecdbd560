"""Explanations of parameters, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from commodore.core.inventory.explain._merging import CannotMergeError, fold, mergeable, rendered, same
from commodore.core.inventory.parameter_path import ParameterPath, key_text, path_text

Effect = Literal["sets", "merges", "appends", "replaces", "removes"]
"""Effect of a place on the value merged before: `sets` is the first value, `removes` only removes the value."""

Outcome = Literal["followed", "repeated", "overwritten", "missing", "default", "deep", "many", "loop"]
"""State of a reference: explained below; explained elsewhere; irrelevant, as its value is overwritten; dangling;
dangling with a default; beyond the limits of depth or number; a loop."""


def _key(key: Any) -> str | int:
    """Return a key for JSON: an index, or a text."""
    return key if isinstance(key, int) and not isinstance(key, bool) else key_text(key)


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """The repository that a file belongs to.

    Attributes:
        url: the remote's URL, without credentials; empty without a remote.
        commit: the id of the checked-out commit; empty without a commit.
        path: the file's path in the repository.
        changed: the file differs from that commit, or is not part of it.
    """

    url: str
    commit: str
    path: str
    changed: bool


@dataclass(frozen=True, slots=True)
class ClassFilePlace:
    """A place in a class file.

    Attributes:
        name: the class, or the target.
        file: the file itself, links followed.
        line, column: starting at one.
        generated: the purpose of a file that this program has written; its line is not meaningful then.
        origin: the file's repository, if it is in one.
    """

    name: str
    file: Path
    line: int
    column: int
    generated: str = ""
    origin: FileOrigin | None = None


@dataclass(frozen=True, slots=True)
class ParameterReference:
    """A reference in a value, its target parameter, and the target's explanation if it is followed."""

    written: str
    path: tuple[Any, ...] = field(metadata={"json": path_text})
    outcome: Outcome
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Contribution:
    """One place that sets a parameter, removes it, or replaces its parent map.

    Attributes:
        source: the place of its key.
        path: the key's path, a parent of the parameter's if the value of a whole map is a reference or null.
        key: the key as written, with its markers.
        overwrites: the key has the marker `~`, here or at the target of a reference.
        constant: the key has the marker `=`.
        value: the value as written, including references.
        resolved: the value of this place, with resolved references; keys have their markers.
        effect: the effect on the value merged before.
        resets: the values merged before are discarded.
        counts: it contributes to the result.
        wins: it is the whole result.
        references: the references in the value.
    """

    source: ClassFilePlace
    path: tuple[Any, ...] = field(metadata={"json": path_text})
    key: Any = field(metadata={"json": _key})
    overwrites: bool
    constant: bool
    value: Any
    resolved: Any
    effect: Effect
    resets: bool
    counts: bool
    wins: bool
    references: tuple[ParameterReference, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """A key of a map or item of a list: the last place that sets it, the reference to it, and the number of places."""

    key: Any = field(metadata={"json": _key})
    source: ClassFilePlace
    through: str
    places: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of the value of a parameter.

    Attributes:
        path: the parameter.
        target: the target in which it was explained.
        is_set: the parameter has a value in the result.
        value: the value rendered by reclass-rs; None without a value.
        chain: the places that set it, in merge order.
        parts: for a map or list: the origin of each key or item; left out in explanations of references.
        complete: merging the chain gives the value; otherwise the list is incomplete.
    """

    path: ParameterPath = field(metadata={"json": path_text})
    target: str
    is_set: bool
    value: Any
    chain: tuple[Contribution, ...]
    parts: tuple[ExplainedPart, ...] = ()
    complete: bool = True

    def everything(self) -> Iterator[Explanation]:
        """Yield this explanation, and those of all followed references."""
        yield self
        for contribution in self.chain:
            for reference in contribution.references:
                if reference.explanation is not None:
                    yield from reference.explanation.everything()


def replay(explanation: Explanation) -> Any:
    """Merge the chain of an explanation again, and return the value.

    Raises:
        LookupError: the chain has no value.
    """
    left = [part for part in explanation.chain if part.counts and part.effect != "removes"]
    try:
        return rendered(fold((mergeable(part.resolved), part.resets) for part in left))
    except CannotMergeError:
        raise LookupError("the chain has no value") from None


def agrees(explanation: Explanation) -> bool:
    """Check if replaying the chain gives the rendered value, or no value if none was rendered."""
    try:
        value = replay(explanation)
    except LookupError:
        return not explanation.is_set
    return explanation.is_set and same(value, explanation.value)
