"""Split a command into words, if it has no further meaning for a shell."""

from __future__ import annotations

from commodore.base.errors import PolicyError

_SPECIAL = frozenset(";|&<>()`$*?[\n\r")
_SPECIAL_QUOTED = frozenset("`$")
_SPECIAL_FIRST = frozenset("~#")
_MARKS = "'\""


def split_words(text: str, what: str) -> list[str]:
    """Split a text into words, by the quotes and backslashes of a shell.

    Args:
        what: the beginning of a message: `the command of ...`.

    Raises:
        PolicyError: a shell would do more than split it: join commands, redirect, run or expand something.
    """
    words: list[str] = []
    word: list[str] | None = None
    mark, position = "", 0
    while position < len(text):
        character = text[position]
        position += 1
        if not mark and character in " \t":
            if word is not None:
                words.append("".join(word))
            word = None
            continue
        if mark and character == mark:
            mark = ""
        elif not mark and character in _MARKS:
            mark = character
            word = word or []
        elif character == "\\" and mark != "'" and position < len(text):
            following = text[position]
            position += 1
            if following == "\n":
                continue  # the command goes on in the next line
            kept = "\\" if mark and following not in '$`"\\' else ""
            word = [*(word or []), kept + following]
        elif _means_more(character, mark, is_first=word is None):
            raise _not_plain(what, character)
        else:
            word = word or []
            word.append(character)
    if mark:
        raise _not_plain(what, mark)
    return words if word is None else [*words, "".join(word)]


def _means_more(character: str, mark: str, *, is_first: bool) -> bool:
    if mark == "'":
        return False
    if mark:
        return character in _SPECIAL_QUOTED
    return character in _SPECIAL or (is_first and character in _SPECIAL_FIRST)


def _not_plain(what: str, character: str) -> PolicyError:
    return PolicyError(
        "CMD-CONF-007",
        f"{what} holds {character!r}, which has a special meaning for a shell",
        hint="put single quotes around the word, or do this in a script; the trust policy can allow it (`shell`)",
    )
