"""Selecting the documents of a file that may define objects of Argo CD by their bytes, before parsing.

Only plain words are searched: patterns take twenty times as long, and most files have none of the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

_GROUP = (b"argoproj.io/", b"argoproj.io\\/")  # the second in JSON
_KINDS = (b"Application", b"AppProject", b"ConfigManagementPlugin", b"ArgoCD")
_NAMES = (b"argocd-cm", b"secret-type", b"configs:", b'configs":', b"configs':")
_OLD_VALUES = (b"config:", b'config":', b"config':")
_BEGIN = b"\n---"


def of_interest(content: bytes) -> bytes:
    """Blank the documents that cannot define objects of Argo CD; the others keep their lines."""
    if not _may_define(content):
        return b""
    bounds = [0, *_begins(content), len(content)]
    if len(bounds) == 2:
        return content
    parts = [content[start:end] for start, end in pairwise(bounds)]
    return b"".join(part if _may_define(part) else _emptied(part) for part in parts)


def _begins(content: bytes) -> Iterator[int]:
    """Yield the offsets of all documents except the first: in YAML, only they begin with a line with '---'."""
    place = content.find(_BEGIN)
    while place >= 0:
        after = place + len(_BEGIN)
        if content[after : after + 1] in (b"", b" ", b"\t", b"\r", b"\n"):
            yield place + 1
        place = content.find(_BEGIN, after)


def _may_define(text: bytes) -> bool:
    if _has(text, _GROUP) and _has(text, _KINDS):
        return True
    return _has(text, _NAMES) or (b"argocd" in text and _has(text, _OLD_VALUES))


def _has(text: bytes, words: tuple[bytes, ...]) -> bool:
    return any(word in text for word in words)


def _emptied(text: bytes) -> bytes:
    return (b"---" if text.startswith(b"---") else b"") + b"\n" * text.count(b"\n")
