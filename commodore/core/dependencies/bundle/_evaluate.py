"""Evaluates jsonnetfile.jsonnet files in a process of its own; run by path, never imported (see `render`).

The Go runtime must not be started in a process that forks afterwards. Reads a JSON list of
`[file, variables]` from standard input; writes a JSON list of `[ok, text]`: the result, or the complaint.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from collections.abc import Mapping

import _gojsonnet


def evaluate(path: str, variables: Mapping[str, str]) -> tuple[bool, str]:
    """The file's value as JSON text, or what is wrong. It may import files of its own folder only."""
    root = os.path.realpath(os.path.dirname(path))
    refused: list[str] = []

    def read(folder: str, name: str) -> tuple[str, bytes]:
        found = os.path.join(folder, name)
        if not os.path.realpath(found).startswith(root + os.sep):
            raise refuse(f"the import of {name!r} is outside of the folder of the jsonnetfile")
        try:
            with open(found, "rb") as file:
                return found, file.read()
        except OSError as error:
            raise refuse(f"the import of {name!r} cannot be read: {error.strerror}") from None

    def refuse(reason: str) -> RuntimeError:
        refused.append(reason)
        return RuntimeError(reason)

    try:
        with open(path, encoding="utf-8") as file:
            snippet = file.read()
    except (OSError, UnicodeDecodeError) as error:
        return False, str(error)
    try:
        return True, _gojsonnet.evaluate_snippet(path, snippet, ext_vars=dict(variables), import_callback=read)
    except UnicodeDecodeError as error:
        complaint = error.object.decode("utf-8", "replace")
    except RuntimeError as error:
        complaint = str(error)
    # gojsonnet puts rubbish behind what an importer says, sometimes bytes that are no text; the place follows it.
    return False, "\n".join([*refused, complaint])


def bound_memory(size: int) -> None:
    """Let this process have no more memory than that: a range of 10^9 numbers ends it, and not the machine."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(OSError, ValueError):  # a system without such a limit
        resource.setrlimit(resource.RLIMIT_DATA, (size if most == resource.RLIM_INFINITY else min(size, most), most))


if __name__ == "__main__":
    bound_memory(int(sys.argv[1]))
    json.dump([evaluate(path, variables) for path, variables in json.load(sys.stdin)], sys.stdout)
