"""How long each instance took the last time, so that the slow ones are begun first.

A file that is lost or damaged costs time, nothing else.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path

from commodore.errors import EnvironmentFault
from commodore.limits import Limits
from commodore.workspace import Workspace, write_atomically


def read_durations(root: Path, limits: Limits) -> dict[str, float]:
    """Seconds by instance, of former runs in a working directory. Nothing if there is no file, or a damaged one."""
    try:
        with _file(root).open("rb") as file:
            content = json.loads(file.read(limits.durations_bytes))
    except (OSError, ValueError, RecursionError):
        return {}
    return _sound(content) if isinstance(content, dict) else {}


def _sound(content: Mapping[str, object]) -> dict[str, float]:
    return {
        name: float(seconds)
        for name, seconds in content.items()
        if isinstance(seconds, int | float) and 0 <= seconds < math.inf
    }


def write_durations(root: Path, durations: Mapping[str, float]) -> None:
    """Keep durations for the next run in a working directory; a folder that refuses the file does not matter."""
    rounded = {name: round(seconds, 3) for name, seconds in sorted(durations.items())}
    with contextlib.suppress(EnvironmentFault):
        write_atomically(_file(root), json.dumps(rounded, indent=0).encode() + b"\n")


def _file(root: Path) -> Path:
    return Workspace(root).state / "durations.json"
