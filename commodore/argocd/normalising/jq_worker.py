"""The process that evaluates jq expressions: a request per line of standard input, an answer per line of output."""

from __future__ import annotations

import functools
import json
import sys
from typing import Any

# Argo CD's interpreter has an empty environment and no further inputs; here the clock is not available either.
_PRELUDE = (
    'def env: {}; def input: error("there is no input"); def inputs: error("there is no input"); '
    'def input_filename: null; def input_line_number: 0; def now: error("there is no clock"); '
    'def debug: .; def debug(f): .; def stderr: .; def localtime: error("there is no clock"); {} as $ENV | '
)


@functools.lru_cache(maxsize=1000)
def _compiled(expression: str) -> Any:
    import jq

    return jq.compile(f"{_PRELUDE}[path({expression})]")


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    expression = request["expression"]
    if any(word in expression.split() for word in ("import", "include")):
        return {"compile": "modules cannot be imported"}
    try:
        program = _compiled(expression)
    except ValueError as error:
        return {"compile": str(error).strip().partition("\n")[0]}
    if request["data"] is None:
        return {"paths": []}
    try:
        return {"paths": program.input_value(request["data"]).first()}
    except (ValueError, StopIteration) as error:
        return {"error": str(error).strip().partition("\n")[0]}


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
