"""The programs of `bench/` import each other by their own names, as scripts of one folder do."""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent.parent / "bench"

if str(BENCH) not in sys.path:
    sys.path.append(str(BENCH))
