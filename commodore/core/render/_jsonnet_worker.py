"""The process that evaluates Jsonnet files (see `jsonnet`).

The Go runtime must not be started in a process that forks afterwards. A request is read as JSON from stdin, the answers
are written to stdout.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from commodore.base.errors import PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import Confinement, Roots


def evaluate(file: dict[str, Any], size: int) -> dict[str, Any]:
    """Evaluate a file. It may import files of its root that are at most `size` bytes large."""
    import _gojsonnet  # starts the Go runtime

    limits = replace(DEFAULT_LIMITS, input_file_bytes=size)
    confinement = Confinement(Path(file["root"]), Roots(), limits)
    imports: list[str] = []
    refused: list[tuple[str, str]] = []

    def importer(folder: str, name: str) -> tuple[str, bytes]:
        for base in (folder, *file["search"]):
            path = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(path) or not file["search"]:
                try:
                    content = confinement.read(path, "import")
                except PolicyError:
                    refused.append((name, ""))
                    raise
                except OSError as error:
                    refused.append((name, str(error.strerror) if confinement.is_open(path) else ""))
                    raise
                imports.append(path)
                return path, content
        raise FileNotFoundError(f"couldn't open import {name!r}: no match locally or in the Jsonnet library paths")

    variables = {key: file[key] for key in ("ext_vars", "ext_codes", "tla_vars", "tla_codes")}
    try:
        text = confinement.read(file["path"]).decode()
        value = _gojsonnet.evaluate_snippet(file["path"], text, import_callback=importer, **variables)
        return {"value": value, "imports": imports, "refused": [], "complaint": ""}
    except UnicodeDecodeError as error:  # go-jsonnet appends garbage to messages of importers
        complaint = error.object.decode("utf-8", "replace") if imports or refused else str(error)
    except (RuntimeError, OSError, PolicyError) as error:
        complaint = str(error)
    return {"value": None, "imports": imports, "refused": refused, "complaint": complaint}


if __name__ == "__main__":
    request = json.load(sys.stdin)
    json.dump([evaluate(file, request["size"]) for file in request["files"]], sys.stdout)
