"""The process that evaluates Jsonnet files: a request as JSON on standard input, the answers on standard output."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


class _Outside(Exception):
    pass


def main() -> None:
    """Evaluate the files of a request, each for itself."""
    request = json.load(sys.stdin)
    json.dump([_answer(request, path) for path in request["files"]], sys.stdout)


def _answer(request: dict[str, Any], path: str) -> dict[str, str]:
    import _gojsonnet

    outside: list[str] = []

    def importer(folder: str, name: str) -> tuple[str, bytes]:
        for base in (folder, *request["search"]):
            found = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(found):
                if not os.path.realpath(found).startswith(f"{request['root']}/"):
                    outside.append(name)
                    raise _Outside(name)
                with open(found, "rb") as file:
                    return found, file.read()
        raise FileNotFoundError(f"couldn't open import {name!r}: no match locally or in the Jsonnet library paths")

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        value = _gojsonnet.evaluate_snippet(
            path,
            text,
            import_callback=importer,
            **{key: request[key] for key in ("ext_vars", "ext_codes", "tla_vars", "tla_codes")},
        )
    except (RuntimeError, OSError, UnicodeDecodeError) as error:
        return {"outside": outside[0]} if outside else {"error": str(error)}
    return {"value": value}


if __name__ == "__main__":
    main()
