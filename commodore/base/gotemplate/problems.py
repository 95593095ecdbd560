"""Errors of templates. Callers know the place of the text, and convert them to errors for users."""

from __future__ import annotations


class TemplateProblem(Exception):
    """A template does not parse, or does not run.

    Args:
        text: Go's message, with the template's name, line and column.
        line: one-based line in the template's text.
        column: bytes before the place on its line, or None.
    """

    def __init__(self, text: str, line: int = 1, column: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.column = column


class ParseProblem(TemplateProblem):
    """A template does not parse."""


class ExecutionProblem(TemplateProblem):
    """A template fails with its values."""


class LimitProblem(TemplateProblem):
    """A template is larger, deeper or slower than its limits."""


class RefusedFunction(TemplateProblem):
    """A template uses a function with random or time-dependent results."""


class CallProblem(Exception):
    """A function cannot process its arguments. The text follows "error calling NAME: "."""


class UnsteadyProblem(CallProblem):
    """A function would return a random or time-dependent value for these arguments."""
