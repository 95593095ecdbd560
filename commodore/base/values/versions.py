"""Semantic versions, ranges of them, and tags that look like versions.

Versions and ranges follow the rules of charts and ``targetRevision``: those of Masterminds' library. A range consists
of comparisons (``=``, ``!=``, ``>``, ``<``, ``>=``, ``<=``, ``~``, ``^``), joined by blanks or commas (and) and by
``||`` (or); ``1.2 - 1.4`` is a range, ``x``, ``X`` and ``*`` match any number, missing numbers match any, too.
Pre-releases match only if a comparison of the same group names one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

_WORDS: Final = r"[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*"
_LONGEST: Final = 1000  # the most characters of a range
_DIGITS: Final = 20  # digits of the greatest number of 64 bits
_VERSION: Final = re.compile(rf"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-({_WORDS}))?(?:\+({_WORDS}))?", re.ASCII)
_PART: Final = r"[0-9|x|X|\*]+"
_PATTERN: Final = rf"v?({_PART})(\.{_PART})?(\.{_PART})?(-{_WORDS})?(?:\+{_WORDS})?"
_PATTERN_ONLY: Final = rf"v?(?:{_PART})(?:\.{_PART})?(?:\.{_PART})?(?:-{_WORDS})?(?:\+{_WORDS})?"
_OPERATORS: Final = r"!=|>=|=>|<=|=<|~>|=|>|<|~|\^|"
_COMPARISON: Final = re.compile(rf"\s*({_OPERATORS})\s*({_PATTERN})\s*", re.ASCII)
_FROM_TO: Final = re.compile(rf"\s*({_PATTERN_ONLY})\s+-\s+({_PATTERN_ONLY})\s*", re.ASCII)
_FIND: Final = re.compile(rf"(?:{_OPERATORS})\s*(?:{_PATTERN_ONLY})", re.ASCII)
_VALID: Final = re.compile(
    rf"(?:\s*(?:{_OPERATORS})\s*(?:{_PATTERN_ONLY})\s*)(?:(?:\s+|,\s*)(?:{_OPERATORS})\s*(?:{_PATTERN_ONLY})\s*)*",
    re.ASCII,
)
_EXACT: Final = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}")
_NUMBERS: Final = re.compile(r"v?(\d+(?:\.\d+)*)(.*)", re.DOTALL | re.ASCII)
_LONGEST_TAG: Final = 128  # characters, the limit of registries


class VersionProblem(ValueError):
    """An invalid version or range. Its text is the message of the library that charts use."""


@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A semantic version; build metadata is ignored in comparisons."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""
    metadata: str = ""
    original: str = ""

    def as_plain(self) -> str:
        """Convert to a text for JSON; see `commodore.base.documents.plain`."""
        return str(self)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += f"-{self.prerelease}"
        return text + (f"+{self.metadata}" if self.metadata else "")

    def _key(self) -> tuple[int, int, int, tuple[tuple[int, int, str], ...]]:
        return self.major, self.minor, self.patch, _prerelease_key(self.prerelease)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _prerelease_key(prerelease: str) -> tuple[tuple[int, int, str], ...]:
    if not prerelease:
        return ((3, 0, ""),)  # a release comes after all its pre-releases
    return tuple(
        (1, int(word), "") if word.isdigit() and len(word) <= _DIGITS else (2, 0, word)
        for word in prerelease.split(".")
    )


def parse_version(text: str) -> Version:
    """Parse a version as leniently as for charts: with or without a "v", with one to three numbers.

    Raises:
        VersionProblem: it is invalid.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        raise VersionProblem("invalid semantic version")
    if any(word.isdigit() and len(word) > 1 and word[0] == "0" for word in (match[4] or "").split(".")):
        raise VersionProblem("version segment starts with 0")
    parts = [(part or "0").lstrip("0") or "0" for part in match.groups()[:3]]
    largest = max(parts, key=lambda digits: (len(digits), digits))
    if len(largest) > _DIGITS or int(largest) >= 1 << 64:
        raise VersionProblem(
            f'error parsing version segment: strconv.ParseUint: parsing "{largest}": value out of range'
        )
    major, minor, patch = map(int, parts)
    return Version(major, minor, patch, match[4] or "", match[5] or "", text)


def find_version(value: object) -> Version | None:
    """Parse a version as `parse_version` does, ignoring blanks around it; None for anything else."""
    try:
        return parse_version(value.strip()) if isinstance(value, str) else None
    except VersionProblem:
        return None


@dataclass(frozen=True, slots=True)
class _Comparison:
    operator: str
    version: Version
    minor_open: bool = False
    patch_open: bool = False
    open: bool = False

    def fits(self, version: Version, prereleases: bool) -> bool:
        if version.prerelease and not self.version.prerelease and not prereleases:
            return False
        return _CHECKS[self.operator](self, version)


@dataclass(frozen=True, slots=True)
class Range:
    """A set of versions: all comparisons of one of the groups must match."""

    text: str
    groups: tuple[tuple[_Comparison, ...], ...]

    def __contains__(self, version: Version) -> bool:
        return any(_group_fits(group, version) for group in self.groups)

    def highest(self, versions: Iterable[Version]) -> Version | None:
        """Return the highest of the versions that is in the range, or None."""
        return max((version for version in versions if version in self), default=None)


def _group_fits(group: tuple[_Comparison, ...], version: Version) -> bool:
    prereleases = any(comparison.version.prerelease for comparison in group)
    return all(comparison.fits(version, prereleases) for comparison in group)


@functools.lru_cache(maxsize=1024)
def parse_range(text: str) -> Range:
    """Parse a range.

    Raises:
        VersionProblem: it is invalid.
    """
    if len(text) > _LONGEST:  # patterns are tried at each character
        raise VersionProblem(f"improper constraint: it has more than {_LONGEST} characters")
    rewritten = _FROM_TO.sub(lambda match: f">= {match[1]}, <= {match[2]}", text)
    groups = []
    for part in rewritten.split("||"):
        if _VALID.fullmatch(part) is None:
            raise VersionProblem(f"improper constraint: {part}")
        groups.append(tuple(map(_comparison, _FIND.findall(part))))
    return Range(text, tuple(groups))


def _comparison(text: str) -> _Comparison:
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise VersionProblem(f"improper constraint: {text}")
    operator, _, major, minor, patch, prerelease = match.groups()
    tail = prerelease or ""
    if _any(major):
        return _Comparison(operator, _version(f"0.0.0{tail}"), open=True)
    if minor is None or _any(minor[1:]):
        return _Comparison(operator, _version(f"{major}.0.0{tail}"), minor_open=True, open=True)
    if patch is None or _any(patch[1:]):
        return _Comparison(operator, _version(f"{major}{minor}.0{tail}"), patch_open=True, open=True)
    return _Comparison(operator, _version(f"{major}{minor}{patch}{tail}"))


def _version(text: str) -> Version:
    try:
        return parse_version(text)
    except VersionProblem:
        raise VersionProblem("constraint parser error") from None


def _any(part: str) -> bool:
    return part in ("x", "X", "*")


def _unequal(bound: _Comparison, version: Version) -> bool:
    base = bound.version
    if bound.open:
        if version.major != base.major:
            return True
        if bound.minor_open:
            return False
        if version.minor != base.minor:
            return True
        if bound.patch_open:
            return (version.prerelease or base.prerelease) != "" and version.prerelease != base.prerelease
        return version.patch != base.patch or version != base
    return version != base


def _above(bound: _Comparison, version: Version) -> bool:
    base = bound.version
    if not bound.open or version.major != base.major:
        return version > base if not bound.open else version.major > base.major
    if bound.minor_open:
        return False
    return version.minor > base.minor if bound.patch_open else version > base


def _at_most(bound: _Comparison, version: Version) -> bool:
    base = bound.version
    if not bound.open:
        return version <= base
    if version.major > base.major:
        return False
    return not (version.major == base.major and version.minor > base.minor and not bound.minor_open)


def _tilde(bound: _Comparison, version: Version) -> bool:
    base = bound.version
    if (base.major, base.minor, base.patch) == (0, 0, 0) and not bound.minor_open and not bound.patch_open:
        return True
    if version < base or version.major != base.major:
        return False
    return version.minor == base.minor or bound.minor_open


def _same(bound: _Comparison, version: Version) -> bool:
    return _tilde(bound, version) if bound.open else version == bound.version


def _caret(bound: _Comparison, version: Version) -> bool:
    base = bound.version
    if version < base:
        return False
    if base.major > 0 or bound.minor_open:
        return version.major == base.major
    if version.major > 0:
        return False
    if base.minor > 0 or bound.patch_open:
        return version.minor == base.minor
    return version.minor == 0 and version.patch == base.patch


_CHECKS: Final[dict[str, Callable[[_Comparison, Version], bool]]] = {
    "": _same,
    "=": _same,
    "!=": _unequal,
    ">": _above,
    "<": lambda bound, version: version < bound.version,
    ">=": lambda bound, version: version >= bound.version,
    "=>": lambda bound, version: version >= bound.version,
    "<=": _at_most,
    "=<": _at_most,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}


def is_exact(text: str) -> bool:
    """Return True if a text is a single version with all three numbers, and not a range."""
    return _EXACT.fullmatch(text) is not None


def goes_back(old: str, new: str) -> bool:
    """Return True if a tag is an older version than another; always False for tags that are not versions of the same
    form.
    """
    if max(len(old), len(new)) > _LONGEST_TAG:
        return False
    before, after = _NUMBERS.fullmatch(old), _NUMBERS.fullmatch(new)
    if before is None or after is None or any(map(_is_commit, (old, new))):
        return False
    first, second = (tuple(map(int, match[1].split("."))) for match in (before, after))
    if len(first) != len(second) and (len(first) == 1 or len(second) == 1):
        return False
    if first != second:
        return second < first
    return not before[2] and after[2].startswith(("-rc", "-alpha", "-beta", "-pre"))


def _is_commit(tag: str) -> bool:
    """Return True if a tag looks like a shortened commit, which is not a version even with leading digits."""
    return _COMMIT.fullmatch(tag) is not None and not tag.isdigit()
