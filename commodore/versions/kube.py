"""Versions of Kubernetes, as clusters and users write them."""

from __future__ import annotations

import re
from typing import Final

from commodore.versions.semver import VersionProblem

_KUBE: Final = re.compile(r"v?([0-9]+)(?:\.([0-9]+)(?:\.([0-9]+))?)?(?:[^0-9.].*)?", re.ASCII | re.DOTALL)


def kube_version(text: str) -> str:
    """A Kubernetes version as X.Y.Z: ``v1.29`` is 1.29.0, ``1.29.3-gke.1`` is 1.29.3.

    Raises:
        VersionProblem: it is none.
    """
    match = _KUBE.fullmatch(text.strip())
    if match is None:
        raise VersionProblem(f"could not parse {text!r} as version")
    return ".".join(part or "0" for part in match.groups())
