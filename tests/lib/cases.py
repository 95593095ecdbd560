"""The case files: one expression a line, with the result or error it must have.

Each line is an object with

* `expression`: Jsonnet, with the names of prelude.libsonnet;
* `result`: its value, or `error`: a part of the error message;
* `published`, only where it differs on purpose: what the published tool gives, or "error".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
FAILS = object()


class Case(NamedTuple):
    expression: str
    result: Any  # FAILS if it is an error
    error: str
    published: Any


def read_cases(name: str) -> list[Case]:
    """The cases of `<name>.jsonl`."""
    cases = []
    for line in (HERE / f"{name}.jsonl").read_text().splitlines():
        entry = json.loads(line)
        result = entry.get("result", FAILS)
        published = entry.get("published", result)
        cases.append(
            Case(entry["expression"], result, entry.get("error", ""), FAILS if published == "error" else published)
        )
    return cases
