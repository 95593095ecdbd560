"""Default versions of the tools, and the SHA-256 of known archives (docs/how-to/install-tools.md).

`scripts/tool-pins` verifies and extends the table `pins.json`.
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
    """Return the table shipped with the program."""
    pins: Pins = json.loads(resources.files("commodore.core.tools").joinpath("pins.json").read_bytes())
    return pins
