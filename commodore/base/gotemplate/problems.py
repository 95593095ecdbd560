"""What is wrong with a template. Callers know where its text stands, and make errors for users of it."""

from __future__ import annotations


class TemplateProblem(Exception):
    """A template does not parse, or does not run.

    Args:
        text: Go's words, with the template's name, line and column.
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
    """A template does not run with its values."""


class LimitProblem(TemplateProblem):
    """A template is larger, deeper or slower than its limits."""


class RefusedFunction(TemplateProblem):
    """A template uses a function whose results differ from run to run."""


class CallProblem(Exception):
    """A function cannot work with its arguments. Its text follows "error calling NAME: "."""


class UnsteadyProblem(CallProblem):
    """A function would give another value at every run, with these arguments."""
