"""Whether Jsonnet code can see which parameters there are, or only reads some of them by name.

Reading `inv.parameters.argocd.namespace` must not make a result depend on the names of all components of a cluster. An
object tells its names to many constructs of the language, and none of them calls a function. So the text is read: as
long as an inventory is only ever used as `inv.parameters.<name>...`, nothing can see more than the fields it names.
Whatever looks different counts as seeing all names, which costs a re-render some day and is never wrong.
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
# Words without which a file neither makes an inventory nor hands one on.
_WORDS = re.compile(rb"inventory|parameters|libjsonnet|thisFile|\bnative\b|\bstd\b(?!\.[A-Za-z])|import[^;,]*\\")
# What stands before a parenthesis that groups; behind anything else, it holds the arguments of a call.
_BEFORE_GROUP = frozenset("=([{,;:+-*/%<>&|^!~") | {"then", "else", "in", "if", "assert", "error", "for", ""}
_FUNCTIONS = ("inventory", "inventory_global")
_LIBRARIES = ("kapitan.libjsonnet", "commodore.libjsonnet")


@dataclass(frozen=True, slots=True)
class Escapes:
    """Which objects of an inventory code may see as a whole.

    Args:
        everything: the parameters themselves.
        any_key: any one parameter, as its name is computed.
        keys: these parameters.
        place: not of an inventory, but seen in the same way: where the file lies.
    """

    everything: bool = False
    any_key: bool = False
    keys: frozenset[str] = field(default_factory=frozenset)
    place: bool = False

    def __or__(self, other: Escapes) -> Escapes:
        return Escapes(
            self.everything or other.everything,
            self.any_key or other.any_key,
            self.keys | other.keys,
            self.place or other.place,
        )


_EVERYTHING = Escapes(everything=True, any_key=True)
_UNKNOWN = Escapes(everything=True, any_key=True, place=True)


def find_escapes(source: bytes) -> Escapes:
    """What a Jsonnet file may see of inventories, by its text."""
    if _WORDS.search(source) is None:
        return Escapes()
    if b"commodore_" in source:  # the functions behind the inventory, which no template calls
        return _UNKNOWN
    text = source.decode("utf-8", "replace")
    found = _find(text)
    if "\r" in text:  # imports are evaluated with plain line ends, a main file is not
        found |= _find(text.replace("\r\n", "\n").replace("\r", "\n"))
    return found


def _find(text: str) -> Escapes:
    tokens = _tokens(text)
    if tokens is None or not _is_plain(tokens):
        return _UNKNOWN
    place = Escapes(place="thisFile" in tokens)
    inventories = _bound(tokens, _is_inventory)
    libraries = _bound(tokens, _is_library)
    if inventories is None or libraries is None or not _only_indexed(tokens, inventories | libraries):
        return _EVERYTHING | place
    return _parameters(tokens) | place


def _tokens(text: str) -> list[str] | None:
    """Names, strings in quotes, and single other characters. Blanks, comments and text blocks are left out. None if a
    text block does not end.
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
    """Where a text block ends whose first bars end at a position: at bars before which a line is indented less than the
    first line. Lines of blanks alone count as indented, as they do for Jsonnet; empty ones are skipped.
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
    """Whether the file names what it imports and which native functions it calls, so that nothing is hidden."""
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


def _bound(tokens: Sequence[str], wanted: object) -> set[str] | None:
    """The local names that wanted expressions are bound to; None if one is used in another way than `.field`."""
    names: set[str] = set()
    for index in range(len(tokens) - 4):
        if not wanted(tokens, index):  # type: ignore[operator]
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
    """Where an expression ends that begins with `import` or a call; None if it is no such thing."""
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
    """Where `kap.inventory` or `(import '...').inventory` begins, given the index of its last name."""
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
    """Whether what comes before a name makes it a local variable, and not an argument's name."""
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
    """Whether each use of these names, other than where they are bound, is `name.field`."""
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


def _parameters(tokens: Sequence[str]) -> Escapes:
    """How `.parameters` is used."""
    found = Escapes()
    for index, token in enumerate(tokens):
        if token != "parameters" or not index or tokens[index - 1] != ".":  # noqa: S105 - a field's name
            continue
        if tokens[index + 1] == "." and tokens[index + 2].isidentifier():
            if tokens[index + 3] != ".":
                found |= Escapes(keys=frozenset({tokens[index + 2]}))
        elif tokens[index + 1] == "[":
            found |= Escapes(any_key=True)
        else:
            return _EVERYTHING
    return found
