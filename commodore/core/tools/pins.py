"""Which versions of the tools the program knows, with the SHA-256 of what is downloaded (docs/how-to/install-tools.md).

The table `pins.json` is checked and extended by `scripts/tool-pins`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources

from commodore.base.values.versions import Version

Pins = Mapping[str, Mapping[str, Mapping[str, str]]]
"""The SHA-256 of archives, by tool, version and platform (`linux-amd64`)."""

# The versions that are installed by default. Helm 4.1 because reference catalogs were made with it; Helm 4.2 may
# render charts differently. kustomize 5.7 is what the kubectl of that time has built in.
KNOWN_VERSIONS = {"helm": Version(4, 1, 4), "kustomize": Version(5, 7, 1)}


@cache
def known_pins() -> Pins:
    """The table that comes with the program."""
    pins: Pins = json.loads(resources.files("commodore.core.tools").joinpath("pins.json").read_bytes())
    return pins
