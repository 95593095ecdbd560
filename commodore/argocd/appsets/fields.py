"""Rendering of templates and generator fields with parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from commodore.argocd.appsets.functions import template_functions
from commodore.base.errors import InputError, Location
from commodore.base.gotemplate import LimitProblem, ParseProblem, RefusedFunction, Template, TemplateProblem
from commodore.base.printable import printable

_RAISE = (
    "make it smaller, or raise gotemplate_characters, gotemplate_steps, gotemplate_depth or gotemplate_seconds with "
    "COMMODORE_LIMITS"
)

Params = Mapping[str, Any]


class TextRenderer:
    """Renders texts in the template language of an ApplicationSet. Each text is parsed once.

    Args:
        go: True for Go templates.
        missing: the value of the option `missingkey`.
        moment: the time that `now` returns; None if calling it is an error.
    """

    def __init__(self, go: bool, missing: str, place: Location, moment: datetime | None = None) -> None:
        self.go = go
        self._missing = missing
        self._place = place
        self._functions = template_functions(moment)
        self._parsed: dict[str, Template] = {}

    def render(self, text: str, params: Params, where: str) -> str:
        """Render a text.

        Args:
            where: the name of the field, for errors.

        Raises:
            InputError: CMD-ARGO-205, it is not a valid template; CMD-ARGO-206, it does not render; CMD-ARGO-207, it
                calls a function whose result differs between runs.
        """
        if "{{" not in text:
            return text
        try:
            return self._run(text, params, self._missing)
        except TemplateProblem as problem:
            raise self._error(problem, where, params) from None

    def render_strictly(self, text: str, params: Params) -> str:
        """Render a text, or return it unchanged if a parameter is missing, so that it can be rendered again later."""
        try:
            return self._run(text, params, "error")
        except TemplateProblem:
            return text

    def _run(self, text: str, params: Params, missing: str) -> str:
        if not self.go:
            return render_simple(text, params)
        template = self._parsed.get(text)
        if template is None:
            template = self._parsed[text] = Template(text, functions=self._functions)
        return _utf8(template.render(params, missing=missing))

    def walk(self, value: Any, params: Params, where: str) -> Any:
        """Render all texts of a value, including keys; nulls in maps are dropped."""
        if isinstance(value, str):
            return self.render(value, params, where)
        if isinstance(value, list):
            return [self.walk(item, params, f"{where}[{at}]") for at, item in enumerate(value)]
        if isinstance(value, Mapping):
            return {
                self.render(key, params, where): self.walk(item, params, f"{where}.{key}")
                for key, item in sorted(value.items())
                if item is not None
            }
        return value

    def _error(self, problem: TemplateProblem, where: str, params: Params) -> InputError:
        known = ", ".join(sorted(map(str, params))[:20]) or "none"
        reason = printable(problem.text)
        if isinstance(problem, ParseProblem):
            return InputError(
                "CMD-ARGO-205",
                f"{where} is not a valid template: {reason}",
                hint="line and column are relative to the field",
                locations=[self._place],
            )
        if isinstance(problem, RefusedFunction):
            return InputError(
                "CMD-ARGO-207",
                f"{where} has a different value in each run: {reason}",
                hint="pass the value as a parameter; fixed-time in .commodore.yaml sets the time of now",
                locations=[self._place],
            )
        hint = _RAISE if isinstance(problem, LimitProblem) else f"its parameters are: {printable(known)}"
        return InputError("CMD-ARGO-206", f"{where} does not render: {reason}", hint=hint, locations=[self._place])


def _utf8(text: str) -> str:
    """Return a text with replacement characters for bytes that are not UTF-8, as in JSON."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not text.isascii() else text


_TEMPLATE: Final = re.compile(r"\{\{.*\}\}")  # on one line


def render_simple(text: str, params: Mapping[str, object]) -> str:
    """Replace the tags of a text by parameters. Tags of unknown parameters are kept.

    Raises:
        ParseProblem: a tag is not closed.
    """
    if _TEMPLATE.search(text) is None:
        return text
    parts = []
    at = 0
    while (start := text.find("{{", at)) >= 0:
        end = text.find("}}", start + 2)
        if end < 0:
            raise ParseProblem(
                f'cannot find end tag="}}}}" in the template="{text}" starting from "{text[start + 2 :]}"'
            )
        parts.append(text[at:start])
        value = params.get(text[start + 2 : end].strip())
        parts.append(value if isinstance(value, str) else text[start : end + 2])
        at = end + 2
    return "".join([*parts, text[at:]])
