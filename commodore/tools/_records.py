"""Small files that remember answers: a JSON object each. A missing or broken one is empty, and is written anew."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.errors import EnvironmentFault
from commodore.limits import Limits
from commodore.workspace import write_atomically


def read_record(file: Path, limits: Limits) -> dict[str, Any]:
    """What is remembered."""
    try:
        with file.open("rb") as opened:
            content = opened.read(limits.tool_state_bytes + 1)
        record = json.loads(content) if len(content) <= limits.tool_state_bytes else None
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def write_record(file: Path, record: Mapping[str, Any]) -> None:
    """Remember it. A cache that cannot be written costs time, nothing else."""
    with contextlib.suppress(EnvironmentFault):
        write_atomically(file, json.dumps(record, sort_keys=True).encode() + b"\n")
