"""Evaluates jsonnetfile.jsonnet files in a process of its own; run by path, never imported (see `render`).

The Go runtime must not be started in a process that forks afterwards (architecture, section 4). Reads a JSON list of
`[file, variables]` from standard input; writes a JSON list of `[ok, text]`: the result, or the complaint.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping

import _gojsonnet


def evaluate(path: str, variables: Mapping[str, str]) -> tuple[bool, str]:
    """The file's value as JSON text, or what is wrong. It may import files of its own folder only."""
    root = os.path.realpath(os.path.dirname(path))

    def read(folder: str, name: str) -> tuple[str, bytes]:
        found = os.path.join(folder, name)
        if not os.path.realpath(found).startswith(root + os.sep):
            raise RuntimeError(f"{name!r} lies outside of the folder of the jsonnetfile")
        try:
            with open(found, "rb") as file:
                return found, file.read()
        except OSError as error:
            raise RuntimeError(f"{name!r} cannot be read: {error.strerror}") from None

    try:
        with open(path, encoding="utf-8") as file:
            snippet = file.read()
        return True, _gojsonnet.evaluate_snippet(path, snippet, ext_vars=dict(variables), import_callback=read)
    except (RuntimeError, OSError, UnicodeDecodeError) as error:
        return False, str(error)


if __name__ == "__main__":
    json.dump([evaluate(path, variables) for path, variables in json.load(sys.stdin)], sys.stdout)
