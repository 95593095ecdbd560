"""Cache keys of charts rendered by helm, from all inputs of the rendering. Instances may share them.

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
    """Return the key of a rendered chart, provided that it is not random; empty if it depends on further inputs.

    Args:
        chart: the chart's folder.
        parameters: the entry's `helm_params`.
        flags: further flags.
        values: the files with values, in their order.
        program: the identity of helm, and of the user's configuration of it.
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
    except TypeError:  # a parameter that is not plain data
        return ""
