"""The parts of a parsed template. `str` of a node is its text as Go prints it in errors."""

from __future__ import annotations

from dataclasses import dataclass, field

from commodore.base.gotemplate.quoting import quoted


@dataclass(slots=True)
class Node:
    """A part of a template; `position` counts characters from the start of the text."""

    position: int


@dataclass(slots=True)
class ListNode(Node):
    """Texts and actions in order."""

    nodes: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))


@dataclass(slots=True)
class TextNode(Node):
    """Plain text."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class DotNode(Node):
    """The dot."""

    def __str__(self) -> str:
        return "."


@dataclass(slots=True)
class NilNode(Node):
    """The word nil."""

    def __str__(self) -> str:
        return "nil"


@dataclass(slots=True)
class BoolNode(Node):
    """true or false."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(slots=True)
class NumberNode(Node):
    """A number: its values as an integer and as a float, if it has these."""

    text: str
    integer: int | None
    number: float | None
    floats: bool  # written as a float

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class StringNode(Node):
    """A quoted text: its literal, and its value."""

    quoted: str
    text: str

    def __str__(self) -> str:
        return self.quoted


@dataclass(slots=True)
class IdentifierNode(Node):
    """The name of a function."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(slots=True)
class FieldNode(Node):
    """.a.b.c"""

    names: list[str]

    def __str__(self) -> str:
        return "".join("." + name for name in self.names)


@dataclass(slots=True)
class VariableNode(Node):
    """$x.a.b; the first name is the variable's, with its dollar sign."""

    names: list[str]

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(slots=True)
class ChainNode(Node):
    """Fields of an expression in parentheses, or of a function's result."""

    node: Node
    names: list[str]

    def __str__(self) -> str:
        inner = f"({self.node})" if isinstance(self.node, PipeNode) else str(self.node)
        return inner + "".join("." + name for name in self.names)


@dataclass(slots=True)
class CommandNode(Node):
    """An operand, or a function with arguments."""

    args: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return " ".join(f"({arg})" if isinstance(arg, PipeNode) else str(arg) for arg in self.args)


@dataclass(slots=True)
class PipeNode(Node):
    """Commands in a row, and the variables for the result."""

    declared: list[VariableNode] = field(default_factory=list)
    assigns: bool = False
    commands: list[CommandNode] = field(default_factory=list)

    def __str__(self) -> str:
        start = ", ".join(map(str, self.declared))
        sign = (" = " if self.assigns else " := ") if start else ""
        return start + sign + " | ".join(map(str, self.commands))


@dataclass(slots=True)
class ActionNode(Node):
    """A pipeline whose result is printed."""

    pipe: PipeNode

    def __str__(self) -> str:
        return "{{" + str(self.pipe) + "}}"


@dataclass(slots=True)
class BranchNode(Node):
    """if, with or range."""

    word: str
    pipe: PipeNode
    body: ListNode
    otherwise: ListNode | None

    def __str__(self) -> str:
        text = f"{{{{{self.word} {self.pipe}}}}}{self.body}"
        if self.otherwise is not None:
            text += "{{else}}" + str(self.otherwise)
        return text + "{{end}}"


@dataclass(slots=True)
class LoopNode(Node):
    """break or continue."""

    word: str

    def __str__(self) -> str:
        return "{{" + self.word + "}}"


@dataclass(slots=True)
class TemplateNode(Node):
    """The use of another template."""

    name: str
    pipe: PipeNode | None

    def __str__(self) -> str:
        pipe = f" {self.pipe}" if self.pipe is not None else ""
        return f"{{{{template {quoted(self.name)}{pipe}}}}}"


@dataclass(slots=True)
class EndNode(Node):
    """end or else, which close a list."""

    word: str

    def __str__(self) -> str:
        return "{{" + self.word + "}}"


@dataclass(slots=True)
class ParsedTemplate:
    """A template in a text: its name and contents."""

    name: str
    root: ListNode

    def is_empty(self) -> bool:
        """True if it holds only white space."""
        return all(isinstance(node, TextNode) and not node.text.strip() for node in self.root.nodes)
