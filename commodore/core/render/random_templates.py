"""Detect templates with random or time-dependent results, which are not cached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from commodore.base.files.tree import walk

# Template functions with random or time-dependent results, which may be secrets.
_MAKERS = rb"rand[A-Z]\w*|gen(PrivateKey|CA\w*|SelfSignedCert\w*|SignedCert\w*)|uuidv4|encryptAES"
_RANDOM = re.compile(rb"\b(" + _MAKERS + rb"|now|ago|(html)?[dD]ate(_?[iI]n_?[zZ]one)?|htpasswd|bcrypt|shuffle)\b")
# Names that are not words of prose match anywhere: a template may evaluate a value as a template (`tpl`).
_SURE = re.compile(rb"\b(" + _MAKERS + rb")\b")
_WORDS = (b"rand", b"genPrivateKey", b"genCA", b"genSelfSignedCert", b"genSignedCert", b"uuidv4", b"encryptAES")
# A template's action: up to the closing braces outside of strings and comments.
_ACTION = re.compile(
    rb"""\{\{(?:-?\s*/\*.*?\*/|"(?:\\.|[^"\\\n])*+"|`[^`]*+`|'(?:\\.|[^'\\\n])*+'|[^"`'}]|\}(?!\}))*?\}\}""", re.DOTALL
)
_PACKED = b"\x1f\x8b"


def any_random(texts: Iterable[bytes]) -> bool:
    """Return True if one of these templates or values may be rendered differently each time."""
    return any(map(_computes_random, texts))


def is_random(chart: str, values: Sequence[str] = ()) -> bool:
    """Return True if a chart may be rendered differently each time, by the text of its files and of its values, which
    may be templates, too. Also for an unreadable chart, and for a chart with another one packed in it.
    """
    try:
        inside = [Path(entry.path) for _, entry in walk(chart, follow=True) if not entry.is_dir()]  # as helm does
        paths = [*inside, *map(Path, values)]
        return any(_computes_random(path.read_bytes()) for path in paths if path.is_file())
    except OSError:
        return True


def _computes_random(text: bytes) -> bool:
    if text.startswith(_PACKED):
        return True
    if any(word in text for word in _WORDS) and _SURE.search(text) is not None:  # the fast check excludes most files
        return True
    if b"{{" not in text or _RANDOM.search(text) is None:
        return False
    position = text.find(b"{{")
    while position >= 0:
        action = _ACTION.match(text, position)
        if _RANDOM.search(text, position, action.end() if action is not None else len(text)):
            return True
        position = text.find(b"{{", action.end()) if action is not None else -1
    return False
