"""The style of a string in YAML: plain, quoted or a literal block.

The rules are those of PyYAML's emitter (`analyze_scalar`, `choose_scalar_style` and the writers), which scans every
character several times; here a few regular expressions do the same. For block context, ASCII output and lines of 80
columns only: the form of catalogs.
"""

from __future__ import annotations

import re
from typing import Final

#: A plain or quoted scalar breaks at the first single blank after this column.
WIDTH: Final = 80

#: A mapping key longer than this gets a `?` of its own. (PyYAML: 128 characters together with the tag `!!str`.)
SIMPLE_KEY_LENGTH: Final = 122

_NEEDS_ESCAPE: Final = re.compile(r"[^\n\x20-\x7e]")
_LINE_BREAK: Final = re.compile("[\n\x85\u2028\u2029]")

# Single-line text that cannot be unquoted: blanks at an end, a leading indicator, a document marker, or text that would
# be read as the end of a key or as a comment.
_INDICATOR: Final = re.compile(
    r"""
      [ \#,\[\]{}&*!|>'"%@`]        # at the start
    | --- | \.\.\.
    | [-?:](?:[ ]|\Z)
    | .*(?: :[ ] | :\Z | [ ]\# | [ ]\Z )
    """,
    re.VERBOSE | re.DOTALL,
)

# Text that YAML 1.1 reads as another type than a string.
_TYPED: Final = re.compile(
    r"""(?:
      yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF
    | ~|null|Null|NULL | << | =
    | [-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?
    | \.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
    | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
    | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN)
    | [-+]?0b[01_]+ | [-+]?0[0-7_]+ | [-+]?(?:0|[1-9][0-9_]*) | [-+]?0x[0-9a-fA-F_]+
    | [-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+
    | [0-9]{4}-[0-9]{2}-[0-9]{2}
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ ]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?
      (?:[ ]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?
    )\Z""",
    re.VERBOSE,
)

_BLANKS: Final = re.compile(r"( +)")

# Where a double-quoted scalar may break, or must escape the character.
_QUOTED_EVENT: Final = re.compile(r"[^!#-\[\]-~]")

_NAMED_ESCAPES: Final = {
    "\0": "\\0",
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    '"': '\\"',
    "\\": "\\\\",
    "\x85": "\\N",
    "\xa0": "\\_",
    "\u2028": "\\L",
    "\u2029": "\\P",
}


def breaks_lines(text: str) -> bool:
    """Return True if `text` holds a line break of YAML (such a key is not a simple key)."""
    return _LINE_BREAK.search(text) is not None


def flat(text: str) -> str:
    """Return `text`, without newlines, as a plain or quoted scalar on one line."""
    if _NEEDS_ESCAPE.search(text):
        return f'"{_QUOTED_EVENT.sub(_escape_match, text)}"'
    if not text or _INDICATOR.match(text) or _TYPED.match(text):
        return "'" + text.replace("'", "''") + "'"
    return text


def fold(scalar: str, column: int, indent: int) -> str:
    """Break a plain or single-quoted scalar as PyYAML does.

    A break replaces a single blank after column 80; runs of blanks stay, and so do blanks next to the quotes.

    Args:
        scalar: a result of `flat` that is not double-quoted.
        column: the column at which it starts.
        indent: the blanks before its continuation lines.
    """
    break_ = "\n" + " " * indent
    pieces = _BLANKS.split(scalar)
    single_quoted = pieces[0][:1] == "'"
    written = [pieces[0]]
    column += len(pieces[0])
    last = len(pieces) - 2
    for index in range(1, len(pieces), 2):
        blanks, word = pieces[index], pieces[index + 1]
        at_quote = single_quoted and ((index == 1 and pieces[0] == "'") or (index == last and word == "'"))
        if len(blanks) == 1 and column > WIDTH and not at_quote:
            written.append(break_)
            column = indent
        else:
            written.append(blanks)
            column += len(blanks)
        written.append(word)
        column += len(word)
    return "".join(written)


def literal(text: str, indent: int) -> str | None:
    """Return `text` as a literal block with `indent` blanks before its lines, or None if YAML does not allow one.

    Not allowed: characters that need an escape, and blanks before a newline or at the end.
    """
    if text[-1] == " " or " \n" in text or _NEEDS_ESCAPE.search(text):
        return None
    header = "|2" if text[0] in " \n" else "|"
    if text[-1] != "\n":
        header += "-"
        body = text
    else:
        body = text[:-1]
        if not body or body[-1] == "\n":
            header += "+"
    pad = " " * indent
    return header + "\n" + "\n".join([pad + line if line else "" for line in body.split("\n")])


def double_quoted(text: str, column: int, indent: int) -> str:
    """Return `text` in double quotes, broken with backslashes after column 80.

    Args:
        text: any string.
        column: the column of the opening quote.
        indent: the blanks before its continuation lines.
    """
    escaped = _QUOTED_EVENT.sub(_escape_match, text)
    column += 1
    if column + len(escaped) <= WIDTH:
        return f'"{escaped}"'
    break_ = "\\\n" + " " * indent
    written = ['"']
    start = 0  # the first character that is not yet written
    last = len(text) - 1
    for event in _QUOTED_EVENT.finditer(text):
        end = event.start()
        escape = "" if text[end] == " " else _escape(text[end])
        if escape:
            written.append(text[start:end] + escape)
            column += end - start + len(escape)
            start = end + 1
        # A break is possible before a blank, right after an escape, and once more after the escape's next character.
        for place in (end, end + 1) if escape and not _QUOTED_EVENT.match(text, end + 1) else (end,):
            if 0 < place < last and column + place - start > WIDTH:
                written.append(text[start:place] + break_)
                start = max(start, place)
                column = indent
                if text[start] == " ":
                    written.append("\\")
                    column += 1
    written.append(text[start:] + '"')
    return "".join(written)


def _escape_match(match: re.Match[str]) -> str:
    character = match[0]
    return character if character == " " else _escape(character)


def _escape(character: str) -> str:
    named = _NAMED_ESCAPES.get(character)
    if named is not None:
        return named
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
