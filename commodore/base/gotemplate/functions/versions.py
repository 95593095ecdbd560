"""Sprig's functions for semantic versions."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import Object, Uint64, Value
from commodore.base.values.versions import Version, VersionProblem, parse_range, parse_version

TABLE: Final[Table] = {}


class SemanticVersion(Object):
    """A version, with its fields as methods."""

    TYPE = "*semver.Version"

    def __init__(self, version: Version) -> None:
        self.version = version

    def go_string(self) -> str:
        return str(self.version)

    def fields(self) -> dict[str, Value]:
        version = self.version
        numbers = {"major": version.major, "minor": version.minor, "patch": version.patch}
        texts = {"pre": version.prerelease, "metadata": version.metadata, "original": version.original}
        return {**{name: Uint64(number) for name, number in numbers.items()}, **texts}

    def __deepcopy__(self, memo: object) -> SemanticVersion:
        return SemanticVersion(Version(0, 0, 0))  # Go does not copy private fields

    def compared(self, other: SemanticVersion | None) -> int:
        """Return -1, 0 or 1 for a lower, equal or higher version."""
        if other is None:
            raise CallProblem("runtime error: invalid memory address or nil pointer dereference")
        return (self.version > other.version) - (self.version < other.version)


SemanticVersion.METHODS = {
    "Major": ((), lambda version: Uint64(version.version.major)),
    "Minor": ((), lambda version: Uint64(version.version.minor)),
    "Patch": ((), lambda version: Uint64(version.version.patch)),
    "Prerelease": ((), lambda version: version.version.prerelease),
    "Metadata": ((), lambda version: version.version.metadata),
    "Original": ((), lambda version: version.version.original),
    "String": ((), SemanticVersion.go_string),
    "Compare": (("version",), SemanticVersion.compared),
    "Equal": (("version",), lambda version, other: version.compared(other) == 0),
    "GreaterThan": (("version",), lambda version, other: version.compared(other) > 0),
    "GreaterThanEqual": (("version",), lambda version, other: version.compared(other) >= 0),
    "LessThan": (("version",), lambda version, other: version.compared(other) < 0),
    "LessThanEqual": (("version",), lambda version, other: version.compared(other) <= 0),
}


def _parsed(text: str) -> Version:
    try:
        return parse_version(text)
    except VersionProblem as problem:
        raise CallProblem(str(problem)) from None


@function(TABLE, "semver", "string")
def _semver(text: str) -> SemanticVersion:
    return SemanticVersion(_parsed(text))


@function(TABLE, "semverCompare", "string string")
def _semver_compare(constraint: str, text: str) -> bool:
    try:
        accepted = parse_range(constraint)
    except VersionProblem as problem:
        raise CallProblem(str(problem)) from None
    return _parsed(text) in accepted
