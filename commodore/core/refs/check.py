"""Check secret references as written in class files, where values of `${...}` are not known yet."""

from __future__ import annotations

import itertools
import re
from typing import Final

from commodore.base.errors import CommodoreError, InputError
from commodore.core.refs import _syntax as _token

_REFERENCE: Final = re.compile(r"\$\{[^${}]*\}")
_MARK: Final = "\ue000"
#: Values tried for a reclass reference within a tag. A tag is wrong if it is wrong with all of them.
_STAND_INS: Final = ("x", "x/x", _token.SUPPORTED_TYPE, f"{_token.SUPPORTED_TYPE}:x/x")
_MOST: Final = 3  # references in one tag that are tried; a tag with more is taken as it is


def check_text(text: str, place: str) -> list[tuple[str, CommodoreError]]:
    """Return the errors of the secret references in a text of a class file, each with the beginning of its tag.

    Args:
        text: the text as written, with references `${...}` of reclass, which are not resolved.
        place: its place, named in errors.
    """
    filled, count = text.replace(_MARK, ""), 1
    while count:
        filled, count = _REFERENCE.subn(_MARK, filled)
    checked = [(tag.partition(_MARK)[0], _check(tag, place)) for tag in _token.tags(filled)]
    wrong = [(start, error) for start, error in checked if error is not None]
    if beginning := _token.unclosed(filled):
        message = f"{_shown(beginning)} in {place} is not closed and stays as it is"
        error = InputError("CMD-REF-016", message, hint="close the reference with '}'")
        wrong.append((beginning.partition(_MARK)[0].splitlines()[0], error))
    return wrong


def _check(tag: str, place: str) -> CommodoreError | None:
    pieces = tag.split(_MARK)
    if len(pieces) > _MOST + 1:
        return None
    first: CommodoreError | None = None
    for values in itertools.product(_STAND_INS, repeat=len(pieces) - 1):
        whole = pieces[0] + "".join(value + piece for value, piece in zip(values, pieces[1:], strict=True))
        try:
            _token.parse(whole, place)
        except CommodoreError as error:
            message = error.message.replace(_token.shown(whole), _shown(tag))
            first = first or type(error)(error.code, message, hint=error.hint)
        else:
            return None
    return first


def _shown(tag: str) -> str:
    return _token.shown(tag.replace(_MARK, "${…}"))
