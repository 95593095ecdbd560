"""Templates, parsed once and run many times."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Final

from commodore.base.gotemplate import builtins
from commodore.base.gotemplate.evaluate import Program, RunLimits, run
from commodore.base.gotemplate.functions import TABLES
from commodore.base.gotemplate.parser import parse
from commodore.base.gotemplate.signatures import Function
from commodore.base.gotemplate.values import Value

_MISSING: Final = ("default", "invalid", "zero", "error")


@functools.cache
def sprig() -> Mapping[str, Function]:
    """Return all functions of the language and of Sprig, by name, except for those with access to environment and
    network.
    """
    functions = dict(builtins.TABLE)
    for table in TABLES:
        functions.update(table)
    return functions


class Template:
    """A parsed template.

    Args:
        text: its text.
        name: its name in errors.
        functions: the allowed functions, by name.

    Raises:
        ParseProblem: it does not parse.
        LimitProblem: it is nested too deeply.
    """

    def __init__(self, text: str, *, name: str = "base", functions: Mapping[str, Function] | None = None) -> None:
        known = sprig() if functions is None else functions
        self._program = Program(text, name, parse(text, name, known), known)
        self._changes = any(function.changes and name in text for name, function in known.items())

    def render(self, data: Value, *, missing: str = "default", limits: RunLimits | None = None) -> str:
        """Render the template. The data are not changed.

        Args:
            data: its values.
            missing: the result of a missing key: "default", "invalid", "zero" or "error".
            limits: the limits of the run.

        Raises:
            ExecutionProblem: the run fails.
            LimitProblem: it exceeds the limits.
            RefusedFunction: it calls a function with random or time-dependent results.
            ValueError: `missing` is another word.
        """
        if missing not in _MISSING:
            raise ValueError(f"unrecognized option: missingkey={missing}")
        return run(self._program, copy.deepcopy(data) if self._changes else data, missing, limits or RunLimits())
