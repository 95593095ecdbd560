"""Small files that remember answers, a sealed JSON object each. A missing or broken one is empty and written again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.errors import EnvironmentFault
from commodore.limits import Limits
from commodore.sealed import seal, unseal
from commodore.workspace import write_atomically


def read_record(file: Path, limits: Limits) -> dict[str, Any]:
    """What is remembered."""
    try:
        with file.open("rb") as opened:
            content = opened.read(limits.tool_state_bytes)
        known = unseal(_label(file), content)
        record = json.loads(known) if known is not None else None
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def write_record(file: Path, record: Mapping[str, Any]) -> None:
    """Remember it. A cache that cannot be written costs time, nothing else."""
    with contextlib.suppress(EnvironmentFault):
        write_atomically(file, seal(_label(file), json.dumps(record, sort_keys=True).encode() + b"\n"))


def _label(file: Path) -> tuple[str, str]:
    return "tools", file.name
