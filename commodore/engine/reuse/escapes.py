"""Whether Jsonnet code can see which parameters there are, or only reads some of them by name.

Reading `inv.parameters.argocd.namespace` must not make a result depend on the names of all components of a cluster. An
object tells its names to many constructs of the language, and none of them calls anybody. So the text is read: as long
as an inventory is only ever used as `inv.parameters.<name>...`, nothing can see more than the fields it names. Whatever
looks different counts as seeing all names, which costs a re-render some day and is never wrong.
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
# What follows the bars of a text block: its lines are indented like the first one, or empty.
_BLOCK = re.compile(r"-?[ \t]*\n(?:[ \t]*\n)*([ \t]+)[^\n]*\n(?:\1[^\n]*\n|[ \t]*\n)*[ \t]*\|\|\|")
_FUNCTIONS = ("inventory", "inventory_global")
_LIBRARIES = ("kapitan.libjsonnet", "commodore.libjsonnet")


@dataclass(frozen=True, slots=True)
class Escapes:
    """Which objects of an inventory code may see as a whole.

    Args:
        everything: the parameters themselves.
        any_key: any one parameter, as its name is computed.
        keys: these parameters.
    """

    everything: bool = False
    any_key: bool = False
    keys: frozenset[str] = field(default_factory=frozenset)

    def __or__(self, other: Escapes) -> Escapes:
        return Escapes(self.everything or other.everything, self.any_key or other.any_key, self.keys | other.keys)


_EVERYTHING = Escapes(everything=True, any_key=True)


def find_escapes(source: bytes) -> Escapes:
    """What a Jsonnet file may see of inventories, by its text."""
    if not any(word in source for word in (b"inventory", b"parameters", *map(str.encode, _LIBRARIES))):
        return Escapes()
    if b"commodore_" in source:  # the functions behind the inventory, which no template calls
        return _EVERYTHING
    tokens = _tokens(source.decode("utf-8", "replace"))
    inventories = _bound(tokens, _is_inventory)
    libraries = _bound(tokens, _is_library)
    if inventories is None or libraries is None or not _only_indexed(tokens, inventories | libraries):
        return _EVERYTHING
    return _parameters(tokens)


def _tokens(text: str) -> list[str]:
    """Names, strings in quotes, and single other characters. Blanks, comments and text blocks are left out."""
    tokens: list[str] = []
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        if match.lastgroup == "block":
            block = _BLOCK.match(text, position)
            position = block.end() if block is not None else len(text)
            tokens.append("''")
        elif match.lastgroup != "skip":
            tokens.append(match.group())
    return [*tokens, "", "", "", ""]


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
