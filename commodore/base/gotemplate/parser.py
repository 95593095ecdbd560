"""Parse the text of a template."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

from commodore.base.gotemplate.lexer import KEYWORDS, Token, TokenKind, tokens
from commodore.base.gotemplate.nodes import (
    ActionNode,
    BoolNode,
    BranchNode,
    ChainNode,
    CommandNode,
    DotNode,
    EndNode,
    FieldNode,
    IdentifierNode,
    ListNode,
    LoopNode,
    NilNode,
    Node,
    NumberNode,
    ParsedTemplate,
    PipeNode,
    StringNode,
    TemplateNode,
    TextNode,
    VariableNode,
)
from commodore.base.gotemplate.numbers import parsed_float, parsed_integer
from commodore.base.gotemplate.problems import LimitProblem, ParseProblem
from commodore.base.gotemplate.quoting import quoted, unquoted, unquoted_character

_OPERANDS: Final = frozenset(
    [
        TokenKind.BOOL,
        TokenKind.CHARACTER,
        TokenKind.COMPLEX,
        TokenKind.DOT,
        TokenKind.FIELD,
        TokenKind.IDENTIFIER,
        TokenKind.NUMBER,
        TokenKind.NIL,
        TokenKind.RAW_STRING,
        TokenKind.STRING,
        TokenKind.VARIABLE,
        TokenKind.LEFT_PAREN,
    ]
)
_DEPTH: Final = 200  # the most nested lists and parentheses


def parse(text: str, name: str, functions: Container[str]) -> dict[str, ParsedTemplate]:
    """Parse the templates of a text, by name: itself, and the ones it defines.

    Args:
        text: the template.
        name: its own name.
        functions: the names of all functions.

    Raises:
        ParseProblem: it is not a valid template.
        LimitProblem: it is nested too deeply.
    """
    words = frozenset(word for word in KEYWORDS if word not in ("break", "continue") or word not in functions)
    return _Parser(tokens(text, words), name, functions).run()


class _Parser:
    def __init__(self, tokens_of_text: list[Token], name: str, functions: Container[str]) -> None:
        self.tokens = tokens_of_text
        self.index = 0
        self.furthest = 0
        self.name = name
        self.functions = functions
        self.trees: dict[str, ParsedTemplate] = {}
        self.variables: list[str] = ["$"]
        self.ranges = 0
        self.depth = 0
        self.action_line = 0

    def run(self) -> dict[str, ParsedTemplate]:
        root = ListNode(self._peek().position)
        while self._peek().kind is not TokenKind.EOF:
            if self._peek().kind is TokenKind.LEFT_DELIM:
                start = self.index
                self._next()
                token = self._next_word()
                if token.kind is TokenKind.KEYWORD and token.text == "define":
                    self._definition()
                    continue
                self.index = start
            node = self._text_or_action()
            if isinstance(node, EndNode):
                raise self._fail(f"unexpected {node}")
            root.nodes.append(node)
        self._add(ParsedTemplate(self.name, root))
        return self.trees

    # tokens

    def _next(self) -> Token:
        token = self.tokens[min(self.index, len(self.tokens) - 1)]
        self.furthest = max(self.furthest, self.index)
        self.index += 1
        return token

    def _peek(self) -> Token:
        token = self._next()
        self.index -= 1
        return token

    def _next_word(self) -> Token:
        while (token := self._next()).kind is TokenKind.SPACE:
            pass
        return token

    def _peek_word(self) -> Token:
        token = self._next_word()
        self.index -= 1
        return token

    def _expect(self, kind: TokenKind, context: str) -> Token:
        token = self._next_word()
        if token.kind is not kind:
            raise self._unexpected(token, context)
        return token

    def _line(self) -> int:
        return self.tokens[min(self.furthest, len(self.tokens) - 1)].line

    def _fail(self, message: str) -> ParseProblem:
        return ParseProblem(f"template: {self.name}:{self._line()}: {message}", self._line())

    def _unexpected(self, token: Token, context: str) -> ParseProblem:
        if token.kind is TokenKind.ERROR:
            extra = ""
            if self.action_line not in (0, token.line):
                extra = f" in action started at {self.name}:{self.action_line}"
                if token.text.endswith(" action"):
                    extra = extra.removeprefix(" in action")
            return self._fail(f"{token}{extra}")
        return self._fail(f"unexpected {token} in {context}")

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEPTH:
            line = self._line()
            raise LimitProblem(f"template: {self.name}:{line}: nested deeper than {_DEPTH}", line)

    # lists

    def _definition(self) -> None:
        outer = self.variables, self.ranges, self.action_line
        self.variables, self.ranges = ["$"], 0
        context = "define clause"
        token = self._next_word()
        if token.kind not in (TokenKind.STRING, TokenKind.RAW_STRING):
            raise self._unexpected(token, context)
        name = self._unquoted(token)
        self._expect(TokenKind.RIGHT_DELIM, context)
        body, end = self._list()
        if end.word != "end":
            raise self._fail(f"unexpected {end} in {context}")
        self._add(ParsedTemplate(name, body))
        self.variables, self.ranges, self.action_line = outer

    def _add(self, tree: ParsedTemplate) -> None:
        known = self.trees.get(tree.name)
        if known is None or known.is_empty():
            self.trees[tree.name] = tree
        elif not tree.is_empty():
            raise self._fail(f"template: multiple definition of template {quoted(tree.name)}")

    def _list(self) -> tuple[ListNode, EndNode]:
        self._deeper()
        nodes = ListNode(self._peek_word().position)
        while self._peek_word().kind is not TokenKind.EOF:
            node = self._text_or_action()
            if isinstance(node, EndNode):
                self.depth -= 1
                return nodes, node
            nodes.nodes.append(node)
        raise self._fail("unexpected EOF")

    def _text_or_action(self) -> Node:
        token = self._next_word()
        if token.kind is TokenKind.TEXT:
            return TextNode(token.position, token.text)
        if token.kind is TokenKind.LEFT_DELIM:
            self.action_line = token.line
            node = self._action()
            self.action_line = 0
            return node
        raise self._unexpected(token, "input")

    def _action(self) -> Node:
        token = self._next_word()
        if token.kind is TokenKind.KEYWORD:
            word = token.text
            if word in ("if", "range", "with"):
                return self._control(word)
            if word in ("break", "continue"):
                return self._loop(token)
            if word == "end":
                self._expect(TokenKind.RIGHT_DELIM, "end")
                return EndNode(token.position, "end")
            if word == "else":
                return self._else()
            if word == "block":
                return self._block()
            if word == "template":
                return self._template()
        self.index -= 1
        at = self._peek().position
        return ActionNode(at, self._pipeline("command", TokenKind.RIGHT_DELIM))

    def _else(self) -> EndNode:
        following = self._peek_word()
        if following.kind is TokenKind.KEYWORD and following.text in ("if", "with"):
            return EndNode(following.position, "else")
        return EndNode(self._expect(TokenKind.RIGHT_DELIM, "else").position, "else")

    def _loop(self, token: Token) -> LoopNode:
        following = self._next_word()
        if following.kind is not TokenKind.RIGHT_DELIM:
            raise self._unexpected(following, "{{" + token.text + "}}")
        if not self.ranges:
            raise self._fail("{{" + token.text + "}} outside {{range}}")
        return LoopNode(token.position, token.text)

    def _control(self, word: str) -> BranchNode:
        scope = len(self.variables)
        at = self._peek_word().position
        pipe = self._pipeline(word, TokenKind.RIGHT_DELIM)
        self.ranges += word == "range"
        body, end = self._list()
        self.ranges -= word == "range"
        otherwise = None
        if end.word == "else":
            following = self._peek()
            if word in ("if", "with") and following.kind is TokenKind.KEYWORD and following.text == word:
                self._next()
                otherwise = ListNode(following.position, [self._control(word)])
            elif word in ("if", "with") and following.kind is TokenKind.SPACE and self._else_again(word):
                otherwise = ListNode(following.position, [self._control(word)])
            else:
                otherwise, end = self._list()
                if end.word != "end":
                    raise self._fail(f"expected end; found {end}")
        del self.variables[scope:]
        return BranchNode(at, word, pipe, body, otherwise)

    def _else_again(self, word: str) -> bool:
        """Return True if the same word follows an else before its delimiter."""
        start = self.index
        token = self._next_word()
        if token.kind is TokenKind.KEYWORD and token.text == word:
            return True
        self.index = start
        return False

    def _block(self) -> TemplateNode:
        context = "block clause"
        token = self._next_word()
        name = self._template_name(token, context)
        pipe = self._pipeline(context, TokenKind.RIGHT_DELIM)
        outer = self.variables, self.ranges
        self.variables, self.ranges = ["$"], 0
        body, end = self._list()
        if end.word != "end":
            raise self._fail(f"unexpected {end} in {context}")
        self._add(ParsedTemplate(name, body))
        self.variables, self.ranges = outer
        return TemplateNode(token.position, name, pipe)

    def _template(self) -> TemplateNode:
        context = "template clause"
        token = self._next_word()
        name = self._template_name(token, context)
        pipe = None
        if self._next_word().kind is not TokenKind.RIGHT_DELIM:
            self.index -= 1
            pipe = self._pipeline(context, TokenKind.RIGHT_DELIM)
        return TemplateNode(token.position, name, pipe)

    def _template_name(self, token: Token, context: str) -> str:
        if token.kind not in (TokenKind.STRING, TokenKind.RAW_STRING):
            raise self._unexpected(token, context)
        return self._unquoted(token)

    # pipelines

    def _pipeline(self, context: str, end: TokenKind) -> PipeNode:
        self._deeper()
        pipe = PipeNode(self._peek_word().position)
        self._declarations(pipe, context)
        while True:
            token = self._next_word()
            if token.kind is end:
                break
            if token.kind not in _OPERANDS:
                raise self._unexpected(token, context)
            self.index -= 1
            pipe.commands.append(self._command())
        if not pipe.commands:
            raise self._fail(f"missing value for {context}")
        for stage, command in enumerate(pipe.commands[1:], 2):
            if isinstance(command.args[0], BoolNode | DotNode | NilNode | NumberNode | StringNode):
                raise self._fail(f"non executable command in pipeline stage {stage}")
        self.depth -= 1
        return pipe

    def _declarations(self, pipe: PipeNode, context: str) -> None:
        while (variable := self._peek_word()).kind is TokenKind.VARIABLE:
            start = self.index
            self._next()
            following = self._next_word()
            if following.kind in (TokenKind.ASSIGN, TokenKind.DECLARE):
                pipe.assigns = following.kind is TokenKind.ASSIGN
                self._declare(pipe, variable)
                return
            if following.kind is not TokenKind.CHAR or following.text != ",":
                self.index = start
                return
            self._declare(pipe, variable)
            if context != "range" or len(pipe.declared) >= 2:
                raise self._fail(f"too many declarations in {context}")
            if self._peek_word().kind not in (TokenKind.VARIABLE, TokenKind.RIGHT_DELIM, TokenKind.RIGHT_PAREN):
                raise self._fail("range can only initialize variables")

    def _declare(self, pipe: PipeNode, variable: Token) -> None:
        pipe.declared.append(VariableNode(variable.position, variable.text.split(".")))
        self.variables.append(variable.text)

    def _command(self) -> CommandNode:
        command = CommandNode(self._peek_word().position)
        while True:
            self._peek_word()
            operand = self._operand()
            if operand is not None:
                command.args.append(operand)
            token = self._next()
            if token.kind is TokenKind.SPACE:
                continue
            if token.kind in (TokenKind.RIGHT_DELIM, TokenKind.RIGHT_PAREN):
                self.index -= 1
            elif token.kind is not TokenKind.PIPE:
                raise self._unexpected(token, "operand")
            break
        if not command.args:
            raise self._fail("empty command")
        return command

    def _operand(self) -> Node | None:
        node = self._term()
        if node is None or self._peek().kind is not TokenKind.FIELD:
            return node
        at = self._peek().position
        names: list[str] = []
        while self._peek().kind is TokenKind.FIELD:
            names.append(self._next().text[1:])
        if isinstance(node, FieldNode):
            return FieldNode(at, node.names + names)
        if isinstance(node, VariableNode):
            return VariableNode(at, node.names + names)
        if isinstance(node, BoolNode | StringNode | NumberNode | NilNode | DotNode):
            raise self._fail(f"unexpected . after term {quoted(str(node))}")
        return ChainNode(at, node, names)

    def _term(self) -> Node | None:
        token = self._next_word()
        at, text = token.position, token.text
        match token.kind:
            case TokenKind.IDENTIFIER:
                if text not in self.functions:
                    raise self._fail(f"function {quoted(text)} not defined")
                return IdentifierNode(at, text)
            case TokenKind.DOT:
                return DotNode(at)
            case TokenKind.NIL:
                return NilNode(at)
            case TokenKind.VARIABLE:
                if text not in self.variables:
                    raise self._fail(f"undefined variable {quoted(text)}")
                return VariableNode(at, [text])
            case TokenKind.FIELD:
                return FieldNode(at, [text[1:]])
            case TokenKind.BOOL:
                return BoolNode(at, text == "true")
            case TokenKind.CHARACTER | TokenKind.COMPLEX | TokenKind.NUMBER:
                return self._number(token)
            case TokenKind.LEFT_PAREN:
                return self._pipeline("parenthesized pipeline", TokenKind.RIGHT_PAREN)
            case TokenKind.STRING | TokenKind.RAW_STRING:
                return StringNode(at, text, self._unquoted(token))
        self.index -= 1
        return None

    def _unquoted(self, token: Token) -> str:
        text = unquoted(token.text)
        if text is None:
            raise self._fail("invalid syntax")
        return text

    def _number(self, token: Token) -> NumberNode:
        text = token.text
        if token.kind is TokenKind.CHARACTER:
            number = unquoted_character(text)
            if number is None:
                raise self._fail(_character_fault(text))
            return NumberNode(token.position, text, number, float(number), False)
        if token.kind is TokenKind.COMPLEX or text.endswith("i"):
            raise self._fail(f"complex numbers are not supported: {quoted(text)}")
        integer = parsed_integer(text)
        if integer is not None and -(1 << 63) <= integer < 1 << 64:
            looks_float = any(char in text for char in ".eEpP") and not re.match(r"[+-]?0[xX]", text)
            return NumberNode(token.position, text, integer, float(integer), looks_float)
        number_ = parsed_float(text)
        if number_ is None:
            raise self._fail(f"illegal number syntax: {quoted(text)}")
        if not any(char in text for char in ".eEpP"):
            raise self._fail(f"integer overflow: {quoted(text)}")
        whole = int(number_) if number_.is_integer() and abs(number_) < 1 << 63 else None
        return NumberNode(token.position, text, whole, number_, True)


def _character_fault(text: str) -> str:
    inner = text[1:-1]
    sound = len(inner) > 1 and not inner.startswith("\\")
    return f"malformed character constant: {text}" if sound else "invalid syntax"
