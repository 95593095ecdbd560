"""The simple templates of ApplicationSets: ``{{name}}`` is replaced by the parameter of that name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from commodore.base.gotemplate import ParseProblem

_TEMPLATE: Final = re.compile(r"\{\{.*\}\}")  # on one line


def render_simple(text: str, params: Mapping[str, object]) -> str:
    """A text with its tags replaced. What names no parameter stays as it is written.

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
