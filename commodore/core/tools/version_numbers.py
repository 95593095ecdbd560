"""Version numbers of tools, compared by Semantic Versioning 2.0 and not as strings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from commodore.base.errors import InputError

_NUMBER = re.compile(
    r"v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:\.(0|[1-9]\d{0,8}))?"
    r"(?:-([0-9A-Za-z-]{1,40}(?:\.[0-9A-Za-z-]{1,40}){0,9}))?(?:\+[0-9A-Za-z.~-]{1,80})?"
)


@dataclass(frozen=True, slots=True, order=True)
class VersionNumber:
    """A version. What stands after `+` (how it was built) does not count.

    Attributes:
        release: major, minor and patch.
        final: whether it is no pre-release.
        pre: the parts of a pre-release such as `rc.1`, in a form that sorts by the rules.
    """

    release: tuple[int, int, int]
    final: bool = True
    pre: tuple[tuple[int, int, str], ...] = ()

    @classmethod
    def find(cls, text: str | None) -> Self | None:
        """The version that a tool says it has (`v4.1.4+g05fa379`, also `5.7`); None if it is none."""
        found = _NUMBER.fullmatch(text or "")
        if found is None:
            return None
        major, minor, patch, pre = found.groups()
        parts = tuple(
            (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in (pre or "").split(".") if part
        )
        return cls((int(major), int(minor), int(patch or 0)), not parts, parts)

    @classmethod
    def parse(cls, text: str) -> Self:
        """A version that a user names, with all three numbers, with or without `v`.

        Raises:
            InputError: CMD-TOOL-006, it is none.
        """
        number = cls.find(text)
        if number is None or text.partition("-")[0].count(".") != 2 or "+" in text:
            raise InputError("CMD-TOOL-006", f"{text!r} is not a version", hint="write it like 4.1.4 or v4.1.4")
        return number

    def __str__(self) -> str:
        pre = ".".join(text or str(number) for _, number, text in self.pre)
        return ".".join(map(str, self.release)) + (f"-{pre}" if pre else "")
