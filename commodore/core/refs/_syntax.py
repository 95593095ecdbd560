"""Syntax of secret references, `?{type:path/key}`: the spellings that work from end to end, and errors for the
others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.names import PATH_SEGMENT_BYTES

SUPPORTED_TYPE: Final = "vaultkv"
#: Types that Kapitan knows; only one of them can be written by commodore.
KAPITAN_TYPES: Final = frozenset(
    {"awskms", "azkms", "base64", "env", "gkms", "gpg", "plain", SUPPORTED_TYPE, "vaulttransit"}
)

_TAG: Final = re.compile(r"\?\{([^}]+)\}")
# Kapitan replaces a tag only if it consists of these characters; any other stays in the manifests as it is.
_RECOGNISED: Final = re.compile(r"[\w\-.@=/:]+")
_SHOWN: Final = 160
_FORM: Final = "write it as ?{vaultkv:path/key}"


@dataclass(frozen=True, slots=True)
class Token:
    """A well-formed reference: its tag as written, its type and the path that names its ref file and its secret."""

    tag: str
    type: str
    path: str

    @property
    def file(self) -> str:
        """The ref file, relative to the refs folder, without the empty segments of `a//b` and those of `./a/b`."""
        return "/".join(segment for segment in self.path.split("/") if segment not in ("", "."))

    @property
    def secret(self) -> str:
        """Folder and key in Vault, `folder:key`. All before the last `/` is the folder."""
        folder, _, key = self.path.rpartition("/")
        return f"{folder}:{key}"


def tags(text: str) -> Iterator[str]:
    """Yield all substrings that look like a reference, from `?{` to the next `}`. An empty `?{}` is skipped."""
    for match in _TAG.finditer(text):
        yield match[0]


def unclosed(text: str) -> str:
    """Return the text from the start of a reference that is never closed, or an empty string."""
    start = text.rfind(f"?{{{SUPPORTED_TYPE}:")
    return text[start:] if start >= 0 and "}" not in text[start:] else ""


def shown(tag: str) -> str:
    """Quote a tag for a message, shortened if it is long."""
    return repr(tag if len(tag) <= _SHOWN else tag[:_SHOWN] + "...")


def parse(tag: str, place: str) -> Token:
    """Parse a tag that `tags` returned.

    Args:
        tag: from `?{` to `}`.
        place: its place, named in errors.

    Raises:
        InputError: CMD-REF-001 to CMD-REF-006, CMD-REF-008 and CMD-REF-018, it would not work or lose a part.
        PolicyError: CMD-REF-007, its ref file would be outside the refs folder or in a path that git reserves.
    """
    token, fault = read(tag, place)
    if fault is not None:
        raise fault
    return token


def read(tag: str, place: str) -> tuple[Token, CommodoreError | None]:
    """Parse a tag as syn-commodore does. Returns the token, and an error if it does not work (else None).

    Raises:
        InputError, PolicyError: no ref file can be written for it.
    """
    token, bar, _ = tag[2:-1].partition("|")
    kind, colon, rest = token.partition(":")
    if not colon:
        raise InputError("CMD-REF-001", f"{shown(tag)} in {place} names no type and path", hint=_FORM)
    if kind != SUPPORTED_TYPE:
        raise _unsupported(tag, kind, place)
    path, _, extra = rest.partition(":")
    if (reason := _leaves(path)) is not None:
        raise PolicyError(
            "CMD-REF-007",
            f"{shown(tag)} in {place} {reason}; its file must be below catalog/refs",
            hint="write a plain relative path, without '..'",
        )
    folder, slash, key = path.rpartition("/")
    fault = _unrecognised(tag, rest, bar, place) or _without_key(tag, path, place)
    fault = fault or _lost_parts(tag, extra.split(":") if rest != path else [], folder, key, place)
    if fault is not None and (bar or not slash or not _is_text(path)):
        raise fault
    if any(len(segment.encode()) > PATH_SEGMENT_BYTES for segment in path.split("/")):
        raise InputError(
            "CMD-REF-008",
            f"{shown(tag)} in {place} has a path segment of more than {PATH_SEGMENT_BYTES} bytes",
            hint="a ref file is named after it, and file systems allow no longer names",
        )
    return Token(tag, kind, path), fault


def _unsupported(tag: str, kind: str, place: str) -> CommodoreError:
    support = "is known to Kapitan but cannot be written by commodore" if kind in KAPITAN_TYPES else "is unknown"
    return InputError(
        "CMD-REF-002",
        f"{shown(tag)} in {place} has the type {shown(kind)}, which {support}",
        hint=f"only {SUPPORTED_TYPE} references are supported; {_FORM}",
    )


def _leaves(path: str) -> str | None:
    """Return the reason why no ref file of this path may be written, or None."""
    segments = path.split("/")
    if path.startswith("/"):
        return "has an absolute path"
    if "\0" in path:
        return "has a NUL character in its path"
    if ".." in segments or segments[-1] == ".":
        return "has '..' in its path, or '.' at its end"
    if any(segment.lower().startswith(".git") for segment in segments):
        return "has a path segment that git gives a meaning to"
    return None


def _is_text(path: str) -> bool:
    """Check if a file can have this name."""
    return path.encode(errors="replace").decode() == path


def _without_key(tag: str, path: str, place: str) -> CommodoreError | None:
    if "/" not in path:
        return InputError("CMD-REF-001", f"{shown(tag)} in {place} has no '/' between path and key", hint=_FORM)
    if path.endswith("/"):
        return InputError("CMD-REF-018", f"{shown(tag)} in {place} has no key after the last '/'", hint=_FORM)
    return None


def _unrecognised(tag: str, rest: str, bar: str, place: str) -> CommodoreError | None:
    """Return an error for a tag that Kapitan does not read as the name of a ref file, else None."""
    if "@" in rest:
        return InputError(
            "CMD-REF-004",
            f"{shown(tag)} in {place} has a sub-variable ('@'), which a {SUPPORTED_TYPE} reference cannot have",
            hint="name the key of the secret after the last '/' instead",
        )
    if bar:
        return InputError(
            "CMD-REF-005",
            f"{shown(tag)} in {place} has a function ('||'), which would create a secret in Vault while compiling",
            hint="create the secret in Vault and refer to it by its path and key alone",
        )
    if not _RECOGNISED.fullmatch(rest):
        return InputError(
            "CMD-REF-003",
            f"{shown(tag)} in {place} has characters that no reference can have; it would stay as it is",
            hint="letters, digits and -_.=/: are allowed",
        )
    return None


def _lost_parts(tag: str, extra: list[str], folder: str, key: str, place: str) -> CommodoreError | None:
    """Return an error for parts after the path that the ref file would lose, else None.

    Three parts end with a hash, which Kapitan checks. Five parts name mount, path and key in Vault; a ref file has
    only the second part, so the others have to agree with it.
    """
    if not extra or (len(extra) == 1 and extra[0] not in ("", "embedded")):
        return None
    if len(extra) != 3:
        return InputError(
            "CMD-REF-006",
            f"{shown(tag)} in {place} has {len(extra) + 2} parts; Kapitan reads two, or three with a hash",
            hint=_FORM,
        )
    mount, path_in_vault, key_in_vault = extra
    lost = [f"mount {mount!r}"] if mount else []
    lost += [f"path {path_in_vault!r}"] if path_in_vault not in ("", folder) else []
    lost += [f"key {key_in_vault!r}"] if key_in_vault != key else []
    if not lost:
        return None
    return InputError(
        "CMD-REF-006",
        f"{shown(tag)} in {place} has five parts, of which {', '.join(lost)} would be lost",
        hint="the second part alone is the secret's path: path/key; the mount is set for the whole cluster",
    )
