"""Evaluating Jsonnet with jrsonnet, by its binding rjsonnet. Workers only; the binding may not be installed.

It is asked before the engine of record and may give up for any reason, so its errors are one kind with a short reason.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
from collections.abc import Mapping
from typing import NoReturn

from commodore.core.engine.jsonnet.go import Importer, Natives


class GaveUpError(Exception):
    """A file cannot be evaluated with jrsonnet. The text is the reason, in one line."""


@functools.cache
def is_installed() -> bool:
    """Whether the binding is there. It is not loaded."""
    return importlib.util.find_spec("rjsonnet") is not None


def evaluate(path: str, text: str, *, importer: Importer, natives: Natives, ext_vars: Mapping[str, str]) -> str:
    """The JSON text that a Jsonnet file evaluates to. It is not read: `text` is what is in it.

    Raises:
        GaveUpError: there is no result, whatever the cause.
    """
    begun = False

    def find(folder: str, wanted: str) -> tuple[str, str]:
        nonlocal begun
        if not begun:  # the binding asks for the file itself, too
            begun = True
            return path, text
        # go-jsonnet, for which the importers are made, ends folders with a slash.
        found, content = importer(os.path.join(folder, ""), wanted)
        return found, content.decode()

    try:
        import rjsonnet  # an extra, loaded only if it was chosen

        result: str = rjsonnet.evaluate_file(
            path, import_callback=find, native_callbacks=dict(natives), ext_vars=dict(ext_vars)
        )
        if "inf" in result or "nan" in result.lower():
            json.loads(result, parse_constant=_refuse)  # it writes numbers that are too large as `inf`
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in the binding is no Exception
        raise GaveUpError(_reason(error)) from error
    return result


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"the result holds {word}")


def _reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
