"""Templates that give something else each time: what is made of them is not kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from commodore.base.files.tree import walk

# Functions of templates whose results differ from time to time. What is made with them may be a secret.
_MAKERS = rb"rand[A-Z]\w*|gen(PrivateKey|CA\w*|SelfSignedCert\w*|SignedCert\w*)|uuidv4|encryptAES"
_RANDOM = re.compile(rb"\b(" + _MAKERS + rb"|now|ago|(html)?[dD]ate(_?[iI]n_?[zZ]one)?|htpasswd|bcrypt|shuffle)\b")
# Those that are no words of prose count wherever they are: a template may put braces around a value and compute that.
_SURE = re.compile(rb"\b(" + _MAKERS + rb")\b")
_WORDS = (b"rand", b"genPrivateKey", b"genCA", b"genSelfSignedCert", b"genSignedCert", b"uuidv4", b"encryptAES")
# What a template computes: up to the first braces that are in no string and no comment.
_ACTION = re.compile(
    rb"""\{\{(?:-?\s*/\*.*?\*/|"(?:\\.|[^"\\\n])*+"|`[^`]*+`|'(?:\\.|[^'\\\n])*+'|[^"`'}]|\}(?!\}))*?\}\}""", re.DOTALL
)
_PACKED = b"\x1f\x8b"


def any_random(texts: Iterable[bytes]) -> bool:
    """Whether one of these templates, or values, may give something else each time."""
    return any(map(_computes_random, texts))


def is_random(chart: str, values: Sequence[str] = ()) -> bool:
    """Whether a chart may give something else each time, by the text of its files and of those with values, which may
    be templates, too. One that cannot be read counts, and so does one with another chart packed in it.
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
    if any(word in text for word in _WORDS) and _SURE.search(text) is not None:  # most files are told apart at once
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
