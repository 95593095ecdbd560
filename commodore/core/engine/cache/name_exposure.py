"""Find out if Jsonnet code can see the names of all parameters, or only reads some of them by name.

Reading `inv.parameters.argocd.namespace` must not make a result depend on the names of all components of a cluster.
Many constructs of the language read the names of an object, and none of them calls a function. So the text is parsed:
if an inventory is only used as `inv.parameters.<name>...`, the code sees the named fields only. Every other use counts
as reading all names: that may cause a needless rendering, but never a wrong result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      (?P<skip>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    | (?P<block>\|\|\|)
    | (?P<string>@'(?:''|[^'])*'|@"(?:""|[^"])*"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_START = re.compile(r"-?[ \t\r]*\n(?P<blank>\n*)(?P<indent>[ \t]+)")
_BLOCK_END = re.compile(r"[ \t]*\|\|\|")
# A file without these words neither creates an inventory nor passes one on.
_WORDS = re.compile(rb"inventory|parameters|libjsonnet|thisFile|\bnative\b|\bstd\b(?!\.[A-Za-z])|import[^;,]*\\")
# Tokens before a grouping parenthesis; after any other token, a parenthesis contains the arguments of a call.
_BEFORE_GROUP = frozenset("=([{,;:+-*/%<>&|^!~") | {"then", "else", "in", "if", "assert", "error", "for", ""}
_FUNCTIONS = ("inventory", "inventory_global")
_LIBRARIES = ("kapitan.libjsonnet", "commodore.libjsonnet")


@dataclass(frozen=True, slots=True)
class Exposure:
    """The objects of an inventory that code may see as a whole.

    Args:
        everything: the parameters themselves.
        any_key: any parameter, as its name is computed.
        keys: these parameters.
        place: the path of the file itself, which code may see in the same way.
    """

    everything: bool = False
    any_key: bool = False
    keys: frozenset[str] = field(default_factory=frozenset)
    place: bool = False

    def __or__(self, other: Exposure) -> Exposure:
        return Exposure(
            self.everything or other.everything,
            self.any_key or other.any_key,
            self.keys | other.keys,
            self.place or other.place,
        )


_EVERYTHING = Exposure(everything=True, any_key=True)
_UNKNOWN = Exposure(everything=True, any_key=True, place=True)


def find_exposure(source: bytes) -> Exposure:
    """Return the objects of inventories that a Jsonnet file may see, by its text."""
    if _WORDS.search(source) is None:
        return Exposure()
    if b"commodore_" in source:  # internal functions of the inventory, which no template calls
        return _UNKNOWN
    text = source.decode("utf-8", "replace")
    exposure = _find(text)
    if "\r" in text:  # imports are evaluated with converted line ends, a main file is not
        exposure |= _find(text.replace("\r\n", "\n").replace("\r", "\n"))
    return exposure


def _find(text: str) -> Exposure:
    tokens = _tokens(text)
    if tokens is None or not _is_plain(tokens):
        return _UNKNOWN
    place = Exposure(place="thisFile" in tokens)
    inventories = _bound(tokens, _is_inventory)
    libraries = _bound(tokens, _is_library)
    if inventories is None or libraries is None or not _only_indexed(tokens, inventories | libraries):
        return _EVERYTHING | place
    return _parameters(tokens) | place


def _tokens(text: str) -> list[str] | None:
    """Split the text into names, quoted strings, and single other characters, without blanks, comments and text blocks.
    None if a text block does not end.
    """
    tokens: list[str] = []
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        if match.lastgroup == "block":
            end = _block_end(text, position)
            if end is None:
                return None
            position = end
            tokens.append("''")
        elif match.lastgroup != "skip":
            tokens.append(match.group())
    return [*tokens, "", "", "", ""]


def _block_end(text: str, position: int) -> int | None:
    """Return the end of a text block whose opening bars end at a position. It ends at bars on a line that is indented
    less than the first line. Lines of blanks count as indented, as in Jsonnet; empty ones are skipped.
    """
    start = _BLOCK_START.match(text, position)
    if start is None:
        return None
    indent = start["indent"]
    line = start.start("indent")
    while text.startswith(indent, line):
        line = text.find("\n", line) + 1
        if line == 0:
            return None
        while text.startswith("\n", line):
            line += 1
    end = _BLOCK_END.match(text, line)
    return end.end() if end is not None else None


def _is_plain(tokens: Sequence[str]) -> bool:
    """Check that all imports and native functions are named by literals, so that their use is visible."""
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if token else ""
        if token == "std" and following != "." and tokens[index - 1] != ".":  # noqa: S105 - Jsonnet's library
            return False
        if token == "native" and (following != "(" or not _is_literal(tokens[index + 2]) or tokens[index + 3] != ")"):  # noqa: S105
            return False
        if token in ("import", "importstr", "importbin") and not _is_literal(following):
            return False
    return True


def _is_literal(token: str) -> bool:
    return token[:1] in ("'", '"', "@") and "\\" not in token


def _is_inventory(tokens: Sequence[str], index: int) -> bool:
    return tokens[index] in _FUNCTIONS


def _is_library(tokens: Sequence[str], index: int) -> bool:
    return tokens[index] == "import" and tokens[index + 1].strip("@\"'").endswith(_LIBRARIES)


def _bound(tokens: Sequence[str], matches: object) -> set[str] | None:
    """Return the local names that matching expressions are bound to; None for a use other than `.field`."""
    names: set[str] = set()
    for index in range(len(tokens) - 4):
        if not matches(tokens, index):  # type: ignore[operator]
            continue
        end = _end(tokens, index)
        if end is None:
            return None
        start = _start(tokens, index)
        while tokens[start - 1] == "(" and tokens[end] == ")":
            if start >= 2 and tokens[start - 2] not in _BEFORE_GROUP:
                return None  # an argument of a call
            start, end = start - 1, end + 1
        if tokens[end] == ".":
            continue
        if tokens[end] not in (";", ",") or tokens[start - 1] != "=" or not _is_local(tokens, start - 3):
            return None
        names.add(tokens[start - 2])
    return names


def _end(tokens: Sequence[str], index: int) -> int | None:
    """Return the end of an expression that begins with `import` or a call; None for another one."""
    if tokens[index] == "import":
        return index + 2
    if tokens[index + 1] != "(":
        return None
    depth = 0
    for position in range(index + 1, len(tokens)):
        depth += (tokens[position] == "(") - (tokens[position] == ")")
        if depth == 0:
            return position + 1
    return None


def _start(tokens: Sequence[str], index: int) -> int:
    """Return the start of `kap.inventory` or `(import '...').inventory`, given the index of its last name."""
    if tokens[index] == "import" or tokens[index - 1] != ".":
        return index
    if tokens[index - 2] != ")":
        return index - 2
    depth = 0
    for position in range(index - 2, -1, -1):
        depth += (tokens[position] == ")") - (tokens[position] == "(")
        if depth == 0:
            return position
    return index


def _is_local(tokens: Sequence[str], index: int) -> bool:
    """Check if a name is that of a local variable, and not of an argument, by the tokens before it."""
    depth = 0
    for position in range(index, -1, -1):
        token = tokens[position]
        depth += (token in (")", "]", "}")) - (token in ("(", "[", "{"))
        if depth < 0 or (depth == 0 and token == ";"):  # noqa: S105
            return False
        if depth == 0 and token == "local":  # noqa: S105 - a keyword of Jsonnet
            return True
    return False


def _only_indexed(tokens: Sequence[str], names: set[str]) -> bool:
    """Check that each use of these names, except for their binding, is `name.field`."""
    for index, token in enumerate(tokens):
        if token not in names or (index and tokens[index - 1] == "."):
            continue
        following = tokens[index + 1]
        if following == "=" and tokens[index - 1] in ("local", ","):
            continue
        if following == ":" and tokens[index - 1] in ("{", ","):  # a field of this name
            continue
        if following != ".":
            return False
    return True


def _parameters(tokens: Sequence[str]) -> Exposure:
    """Return the objects that uses of `.parameters` expose."""
    exposure = Exposure()
    for index, token in enumerate(tokens):
        if token != "parameters" or not index or tokens[index - 1] != ".":  # noqa: S105 - a field's name
            continue
        if tokens[index + 1] == "." and tokens[index + 2].isidentifier():
            if tokens[index + 3] != ".":
                exposure |= Exposure(keys=frozenset({tokens[index + 2]}))
        elif tokens[index + 1] == "[":
            exposure |= Exposure(any_key=True)
        else:
            return _EVERYTHING
    return exposure
