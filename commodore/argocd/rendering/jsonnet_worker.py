"""The process that evaluates Jsonnet files: a request as JSON on standard input, the answers on standard output."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from commodore.base.errors import PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.programs.child_processes import bound_memory
from commodore.core.confinement import Confinement, Roots


def main() -> None:
    """Evaluate the files of a request, each for itself."""
    request = json.load(sys.stdin)
    bound_memory(request["memory"])
    limits = replace(DEFAULT_LIMITS, input_file_bytes=request["size"])
    confinement = Confinement(Path.cwd(), Roots(read=(Path(request["root"]),)), limits)
    json.dump([_answer(request, path, confinement) for path in request["files"]], sys.stdout)


def _answer(request: dict[str, Any], path: str, confinement: Confinement) -> dict[str, Any]:
    import _gojsonnet

    outside: list[str] = []
    imports: list[str] = []

    def importer(folder: str, name: str) -> tuple[str, bytes]:
        for base in (folder, *request["search"]):
            found = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(found):
                try:
                    content = confinement.read(found, "import")
                    imports.append(found)
                    return found, content
                except (PolicyError, FileNotFoundError):
                    outside.append(name)
                    raise
        raise FileNotFoundError(f"couldn't open import {name!r}: no match locally or in the Jsonnet library paths")

    try:
        text = confinement.read(path).decode()
        value = _gojsonnet.evaluate_snippet(
            path,
            text,
            import_callback=importer,
            **{key: request[key] for key in ("ext_vars", "ext_codes", "tla_vars", "tla_codes")},
        )
    except (RuntimeError, OSError, UnicodeDecodeError, PolicyError) as error:
        return {"outside": outside[0]} if outside else {"error": str(error)}
    return {"value": value, "imports": imports}


if __name__ == "__main__":
    main()
