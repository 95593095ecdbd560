"""What helm has made of charts, by all that it depends on: shared by instances that differ in something else.

An instance that writes an Argo CD application differs from cluster to cluster. Its charts mostly do not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from commodore.core.engine.cache.portable_paths import UNREADABLE, file_digest, tree_digest


def rendering_key(
    chart: str, parameters: Mapping[str, Any], flags: Mapping[str, Any], values: Sequence[str], program: str
) -> str:
    """The name of what helm makes of a chart, if that is not random; empty if it depends on more than this.

    Args:
        chart: the chart's folder.
        parameters: the entry's `helm_params`.
        flags: further flags.
        values: the files with values, in their order.
        program: the identity of helm, and of what it takes from the user's configuration.
    """
    name = parameters.get("name") or parameters.get("release_name")
    if not isinstance(name, str) or "output_file" in parameters or "name_template" in parameters:
        return ""
    digests = [tree_digest(chart), *map(file_digest, values)]
    if UNREADABLE in digests:
        return ""
    variables = sorted((key, value) for key, value in os.environ.items() if key.startswith("HELM_"))
    described = ["chart", os.path.basename(chart), sorted(parameters.items()), sorted(flags.items()), digests, program]
    try:
        return hashlib.sha256(json.dumps([*described, variables]).encode()).hexdigest()
    except TypeError:  # a parameter that is no plain value
        return ""
