"""Find references in rendered output that cannot be revealed."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from commodore.base import events
from commodore.base.context import Context
from commodore.base.files.tree import files
from commodore.base.files.workspace import guard_disk
from commodore.core.refs import _syntax as _token
from commodore.core.refs.find import SecretReference

_OPENING: Final = b"?{"
_ESCAPE: Final = re.compile(r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U(0010[0-9A-Fa-f]{4}|000[0-9A-Fa-f]{5})")
_TAG: Final = re.compile(rb"\?\{(\w+):([^}|:\n]+)[^}\n]*\}")


def _encoded_openings() -> tuple[bytes, ...]:
    """Return the base64 characters of `?{vaultkv:` at each of the three offsets it can have in encoded text."""
    openings = []
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + f"?{{{_token.SUPPORTED_TYPE}:".encode() + b"\0\0")
        bits = offset * 8, (offset + len(_token.SUPPORTED_TYPE) + 3) * 8
        openings.append(encoded[-(-bits[0] // 6) : bits[1] // 6])
    return tuple(openings)


_ENCODED_OPENINGS: Final = _encoded_openings()


def check_output(folder: Path, references: Iterable[SecretReference], context: Context) -> None:
    """Warn about references in rendered files that are in no parameter, and about base64-encoded ones.

    Args:
        folder: the rendered files, for example `compiled/<instance>` or the new manifests.
        references: the references found in parameters.
        context: announces CMD-REF-012 per file and unknown reference, CMD-REF-013 per file with an encoded reference.

    Raises:
        EnvironmentFault: a file cannot be read.
    """
    known = {reference.path for reference in references}
    with guard_disk(folder):
        for _, file in files(folder):
            content = file.read_bytes()
            name = file.relative_to(folder).as_posix()
            if _OPENING in content:
                for tag in _unknown_tags(content, known):
                    context.announce(_only_in_output(tag, name))
            if any(opening in content for opening in _ENCODED_OPENINGS):
                context.announce(
                    events.Warned(
                        "CMD-REF-013",
                        f"{name} holds a base64-encoded secret reference, which nothing can replace",
                        "keep references in clear text: use stringData instead of data",
                    )
                )


def _unknown_tags(content: bytes, known: set[str]) -> list[str]:
    """Return the references to secrets without a ref file, each once."""
    unknown: dict[str, None] = {}
    for match in _TAG.finditer(content):
        kind, path = (_text(part) for part in match.groups())
        if kind in _token.KAPITAN_TYPES and not (kind == _token.SUPPORTED_TYPE and path in known):
            unknown[f"?{{{kind}:{path}}}"] = None
    return list(unknown)


def _text(part: bytes) -> str:
    """Decode a part of a tag to its form in parameters; YAML and JSON escape non-ASCII characters alike."""
    return _ESCAPE.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), part.decode("utf-8", "replace"))


def _only_in_output(tag: str, name: str) -> events.Warned:
    return events.Warned(
        "CMD-REF-012",
        f"{_token.shown(tag)} is in {name} but in no parameter, so it has no ref file and cannot be revealed",
        "put the reference into a parameter of the component and use that parameter",
    )
