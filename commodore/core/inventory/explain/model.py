"""Where a parameter's value comes from, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from commodore.core.inventory.explain._merging import CannotMergeError, fold, mergeable, rendered, same
from commodore.core.inventory.parameter_path import ParameterPath, key_text, path_text

Effect = Literal["sets", "merges", "appends", "replaces", "removes"]
"""What a place does to what was merged before: `sets` is the first value, `removes` takes it away and gives none."""

Outcome = Literal["followed", "repeated", "overwritten", "missing", "default", "deep", "many", "loop"]
"""What became of a reference: it is explained below; elsewhere; does not matter, as its value is overwritten; leads
nowhere; leads nowhere and has a default; is too deep or one too many to be explained; leads back to itself."""


def _key(key: Any) -> str | int:
    """A key for machines: an index, or a text."""
    return key if isinstance(key, int) and not isinstance(key, bool) else key_text(key)


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """The repository that a file belongs to.

    Attributes:
        url: of the remote, without credentials; empty if there is none.
        commit: the id of the commit that is checked out; empty if there is none.
        path: of the file in the repository.
        changed: whether the file differs from that commit, or is not part of it.
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
        line, column: from one.
        generated: what the program wrote the file for, if no user did; its line means little then.
        origin: the file's repository, where it is in one.
    """

    name: str
    file: Path
    line: int
    column: int
    generated: str = ""
    origin: FileOrigin | None = None


@dataclass(frozen=True, slots=True)
class ParameterReference:
    """A reference in a value, the parameter that it leads to, and the explanation of that one if it is followed."""

    written: str
    path: tuple[Any, ...] = field(metadata={"json": path_text})
    outcome: Outcome
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Contribution:
    """One place that sets a parameter, takes it away, or replaces the map in which it is.

    Attributes:
        source: where its key stands.
        path: the key's path, which is above the parameter's where a reference or null stands for a whole map.
        key: as it is written, with its markers.
        overwrites: whether the key is marked `~`, here or where a reference leads.
        constant: whether it is marked `=`.
        value: as it is written, references included.
        resolved: what this place gives for the parameter, references followed; keys have their markers.
        effect: what it does to what was merged before.
        resets: whether nothing that was merged before is left.
        counts: whether something of it is left in the end.
        wins: whether it gives the whole value.
        references: those in the value.
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
    """A key of a map or an item of a list: where it was set last, through which reference, and by how many places."""

    key: Any = field(metadata={"json": _key})
    source: ClassFilePlace
    through: str
    places: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where the value of a parameter comes from.

    Attributes:
        path: the parameter.
        target: the target for which it was looked at.
        is_set: whether there is a value in the end.
        value: as reclass-rs rendered it; None if there is none.
        chain: the places that set it, in merge order.
        parts: for a map or list: where each key or item comes from; left out where a reference is followed.
        complete: whether the definitions add up to the value; if not, the list is incomplete.
    """

    path: ParameterPath = field(metadata={"json": path_text})
    target: str
    is_set: bool
    value: Any
    chain: tuple[Contribution, ...]
    parts: tuple[ExplainedPart, ...] = ()
    complete: bool = True

    def everything(self) -> Iterator[Explanation]:
        """This explanation, and those of all references that were followed."""
        yield self
        for contribution in self.chain:
            for reference in contribution.references:
                if reference.explanation is not None:
                    yield from reference.explanation.everything()


def replay(explanation: Explanation) -> Any:
    """The value that the chain of an explanation gives when it is merged once more.

    Raises:
        LookupError: it gives none.
    """
    left = [one for one in explanation.chain if one.counts and one.effect != "removes"]
    try:
        return rendered(fold((mergeable(one.resolved), one.resets) for one in left))
    except CannotMergeError:
        raise LookupError("the chain gives no value") from None


def agrees(explanation: Explanation) -> bool:
    """Whether replaying the chain gives the rendered value, or none where none was rendered."""
    try:
        value = replay(explanation)
    except LookupError:
        return not explanation.is_set
    return explanation.is_set and same(value, explanation.value)
