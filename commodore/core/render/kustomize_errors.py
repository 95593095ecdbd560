"""Parse the errors of a failed `kustomize build`."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KustomizeFailure:
    """The reason of a failed build.

    Attributes:
        reason: in one sentence.
        folder: the folder of the faulty kustomization, as kustomize names it; empty for the root.
        resource: its unusable resource, relative to the folder; empty for other reasons.
    """

    reason: str
    folder: str = ""
    resource: str = ""


def read_kustomize_failure(text: str) -> KustomizeFailure:
    """Return the innermost reason of an error of `kustomize build`, which repeats every kustomization on the way to it,
    and each path several times.

    Args:
        text: the error on one line, with or without the word `Error:` before it.
    """
    inner = list(_INNER.finditer(text))
    reason = text[inner[-1].end() :] if inner else text
    reason = _PREFIX.sub("", reason).partition("': must build at directory: ")[0]
    reason = _MISSING.sub("", reason).removeprefix("must build at directory: not a valid directory: ")
    resource = _RESOURCE.match(reason)
    return KustomizeFailure(reason, inner[-1]["folder"] if inner else "", resource["name"] if resource else "")


_INNER = re.compile(
    r"(?:recursed accumulation of path|recursed merging from path|couldn't make target for path) '(?P<folder>[^']*)': "
)
_PREFIX = re.compile(r"^(?:[Ee]rror: |accumulating (?:resources|components): |accumulation err=')+")
_MISSING = re.compile(r"evalsymlink failure on '(?P<path>.*?)' : lstat (?P=path): ")
_RESOURCE = re.compile(r"accumulating resources from '(?P<name>[^'\n]*)': ")
