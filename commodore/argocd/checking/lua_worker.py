"""The process that runs health scripts: a request per line of standard input, an answer per line of output."""

from __future__ import annotations

import contextlib
import json
import resource
import sys
from typing import Any

from lupa import lua51

_MEMORY = 256 << 20
_PRELUDE = """
local all, metatable, clock = ..., debug.setmetatable, os
python, io, debug = nil, nil, nil
require, module, dofile, loadfile, load, loadstring, collectgarbage, newproxy = nil
package = {path = "", cpath = "", loaded = {}, preload = {}}
os = {time = clock.time, date = clock.date, clock = clock.clock, difftime = clock.difftime}
if not all then
  string, math, coroutine = nil, nil, nil
  metatable("", nil)
end
"""
"""Argo CD runs Lua 5.1 with base, package, table and a small os; all libraries with useOpenLibs. Here the
functions that access files or programs are removed.
"""


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    lua = lua51.LuaRuntime(register_eval=False, register_builtins=False, max_memory=_MEMORY)
    try:
        script = lua.compile(request["script"])
    except lua51.LuaSyntaxError as error:
        return {"syntax": _words(error)}
    if request["object"] is None:
        return {}
    lua.execute(_PRELUDE, request["libraries"])
    lua.globals().obj = lua.table_from(request["object"], recursive=True)
    try:
        result = script()
    except (lua51.LuaError, MemoryError) as error:
        return {"error": _words(error) or "it uses too much memory"}
    if isinstance(result, tuple):
        result = result[0] if result else None
    if result is None:
        return {"health": None}
    if lua51.lua_type(result) != "table":
        return {"error": f"it returns {result!r}, expected a table"}
    return {"health": {key: result[key] if isinstance(result[key], str) else None for key in ("status", "message")}}


def _words(error: BaseException) -> str:
    return str(error).partition("\n")[0].replace('[string "<python>"]', "line")


def main() -> None:
    """Answer requests until the input ends."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (4 * _MEMORY, 4 * _MEMORY))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
