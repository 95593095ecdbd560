"""Run a parsed template with its values."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commodore.base.gotemplate.nodes import (
    ActionNode,
    BoolNode,
    BranchNode,
    ChainNode,
    CommandNode,
    DotNode,
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
from commodore.base.gotemplate.printing import plain
from commodore.base.gotemplate.problems import (
    CallProblem,
    ExecutionProblem,
    LimitProblem,
    RefusedFunction,
    UnsteadyProblem,
)
from commodore.base.gotemplate.quoting import quoted
from commodore.base.gotemplate.signatures import GO_TYPES, Function, WrongType, assigned
from commodore.base.gotemplate.values import (
    NO_VALUE,
    Ints,
    Lists,
    Object,
    StringMap,
    Strings,
    Value,
    encoded,
    is_integer,
    truth,
    type_name,
)
from commodore.base.limits import DEFAULT_LIMITS

_ABSENT: Final = object()  # no value is piped into a command
_WORDS: Final = {"bool": "bool", "string": "string", "int": "integer", "float64": "float"}


_WALKERS: Final = frozenset(
    f"{must}{name}"
    for must in ("", "must")
    for name in (
        *(
            "print",
            "println",
            "printf",
            "cat",
            "join",
            "quote",
            "squote",
            "toString",
            "toStrings",
            "html",
            "js",
            "urlquery",
        ),
        *("toJson", "toPrettyJson", "toRawJson", "toYaml", "ToJson", "ToPrettyJson", "ToRawJson"),
        *("deepCopy", "DeepCopy", "deepEqual", "has", "Has", "uniq", "Uniq", "without", "Without", "merge", "Merge"),
        *("mergeOverwrite", "MergeOverwrite", "sortAlpha", "plural", "default", "empty", "compact", "Compact"),
    )
)
"""Functions that traverse their whole arguments, at any depth."""
_MADE = 64  # characters and items that functions may create, as a multiple of the output limit


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a run: characters of output, steps, nested templates, seconds."""

    output: int = DEFAULT_LIMITS.gotemplate_characters
    steps: int = DEFAULT_LIMITS.gotemplate_steps
    depth: int = DEFAULT_LIMITS.gotemplate_depth
    seconds: float = DEFAULT_LIMITS.gotemplate_seconds


@dataclass(slots=True)
class _Variable:
    name: str
    value: Value
    boxed: bool = False  # from a container of any values


def _holds(value: Value) -> bool:
    return isinstance(value, list | dict) and len(value) > 0


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Program:
    """A parsed text: its source, its name, its templates, and the allowed functions."""

    source: str
    name: str
    trees: Mapping[str, ParsedTemplate]
    functions: Mapping[str, Function]


def run(program: Program, data: Value, missing: str, limits: RunLimits) -> str:
    """Run a program and return its output.

    Args:
        program: the program to run.
        data: its values.
        missing: the result of a missing key: "default", "invalid", "zero" or "error".
        limits: the limits of the run.

    Raises:
        ExecutionProblem: the run fails.
        LimitProblem: it exceeds the limits.
        RefusedFunction: it calls a function with random or time-dependent results.
    """
    tree = program.trees[program.name]
    state = _State(program, missing, limits)
    state.variables = [_Variable("$", data)]
    try:
        state.walk(data, tree.root)
    except RecursionError:
        raise state.exceeded("it is nested too deeply") from None
    return "".join(state.parts)


class _State:
    def __init__(self, program: Program, missing: str, limits: RunLimits) -> None:
        self.program = program
        self.missing = missing
        self.limits = limits
        self.tree = program.name
        self.variables: list[_Variable] = []
        self.parts: list[str] = []
        self.size = 0
        self.steps = 0
        self.made = 0
        self.deadline = time.monotonic() + limits.seconds
        self.depth = 0
        self.node: Node | None = None
        self.dot_boxed = False
        self.operands: dict[type, Callable[[Value, Node], Value]] = {
            DotNode: self._dot,
            FieldNode: self._plain_field,
            VariableNode: self._plain_variable,
            PipeNode: self._plain_pipe,
            IdentifierNode: self._plain_function,
            ChainNode: self._plain_chain,
        }

    # failures

    def fail(self, message: str) -> ExecutionProblem:
        """Return the error of the current node."""
        line, column = self._place()
        where = f"template: {self.program.name}:{line}:{column}: executing {quoted(self.tree)}"
        return ExecutionProblem(f"{where} at <{self.node}>: {message}", line, column)

    def exceeded(self, message: str) -> LimitProblem:
        """Return the error of an exceeded limit."""
        line, column = self._place()
        return LimitProblem(f"template: {self.program.name}:{line}:{column}: {message}", line, column)

    def _place(self) -> tuple[int, int]:
        before = self.program.source[: self.node.position if self.node is not None else 0]
        start = before.rfind("\n") + 1
        return before.count("\n") + 1, len(encoded(before[start:]))

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.limits.steps:
            raise self.exceeded(f"more than {self.limits.steps} steps")
        if self.steps & 0x3FF == 0:
            self._check_time()

    def _check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise self.exceeded(f"longer than {self.limits.seconds:g} s")

    def _write(self, text: str) -> None:
        self.size += len(text)
        if self.size > self.limits.output:
            raise self.exceeded(f"more than {self.limits.output} characters of output")
        self.parts.append(text)

    # statements

    def walk(self, dot: Value, node: ListNode) -> None:
        """Run the nodes of a list."""
        for child in node.nodes:
            self._step()
            self.node = child
            if isinstance(child, TextNode):
                self._write(child.text)
            elif isinstance(child, ActionNode):
                value = self._pipeline(dot, child.pipe)
                if not child.pipe.declared:
                    self.node = child
                    self._write(self._plain(value))
            elif isinstance(child, BranchNode):
                if child.word == "range":
                    self._range(dot, child)
                else:
                    self._branch(dot, child)
            elif isinstance(child, TemplateNode):
                self._template(dot, child)
            elif isinstance(child, LoopNode):
                raise _Break if child.word == "break" else _Continue

    def _branch(self, dot: Value, node: BranchNode) -> None:
        scope = len(self.variables)
        value = self._pipeline(dot, node.pipe)
        if truth(value):
            if node.word == "with":
                boxed, self.dot_boxed = self.dot_boxed, False
                self.walk(value, node.body)
                self.dot_boxed = boxed
            else:
                self.walk(dot, node.body)
        elif node.otherwise is not None:
            self.walk(dot, node.otherwise)
        del self.variables[scope:]

    def _template(self, dot: Value, node: TemplateNode) -> None:
        tree = self.program.trees.get(node.name)
        if tree is None:
            raise self.fail(f"template {quoted(node.name)} not defined")
        if self.depth >= self.limits.depth:
            raise self.exceeded(f"templates in templates deeper than {self.limits.depth}")
        value = self._pipeline(dot, node.pipe) if node.pipe is not None else NO_VALUE
        outer = self.variables, self.tree, self.dot_boxed
        self.variables, self.tree, self.dot_boxed = [_Variable("$", value)], node.name, False
        self.depth += 1
        self.walk(value, tree.root)
        self.depth -= 1
        self.variables, self.tree, self.dot_boxed = outer

    def _range(self, dot: Value, node: BranchNode) -> None:
        scope, boxed = len(self.variables), self.dot_boxed
        value = self._pipeline(dot, node.pipe)
        turned = False
        mark = len(self.variables)
        depth, tree, outer = self.depth, self.tree, self.variables
        try:
            for index, item, from_any in self._items(value, node):
                turned, self.dot_boxed = True, from_any
                self._step()
                self._set_loop_variables(node.pipe, index, item)
                try:
                    self.walk(item, node.body)
                except _Continue:
                    self.depth, self.tree, self.variables = depth, tree, outer
                del self.variables[mark:]
            self.dot_boxed = boxed
            if not turned and node.otherwise is not None:
                self.walk(dot, node.otherwise)
        except _Break:  # also raised in the else branch
            self.depth, self.tree, self.variables = depth, tree, outer
        self.dot_boxed = boxed
        del self.variables[scope:]

    def _items(self, value: Value, node: BranchNode) -> Sequence[tuple[Value, Value, bool]]:
        if isinstance(value, list):
            boxed = not isinstance(value, Strings | Ints | Lists)
            return [(index, item, boxed) for index, item in enumerate(value)]
        if isinstance(value, dict):
            boxed = not isinstance(value, StringMap)
            return [(key, value[key], boxed) for key in sorted(value)]
        if is_integer(value):
            if len(node.pipe.declared) > 1:
                raise self.fail(f"can't use {value} to iterate over more than one variable")
            if value > self.limits.steps:
                raise self.exceeded(f"more than {self.limits.steps} steps")
            kind = type(value)
            return [(NO_VALUE, kind(item), False) for item in range(value)]
        if value is None or value is NO_VALUE:
            return []
        raise self.fail(f"range can't iterate over {plain(value)}")

    def _set_loop_variables(self, pipe: PipeNode, index: Value, item: Value) -> None:
        names = pipe.declared
        if not names:
            return
        if pipe.assigns:
            if len(names) > 1:
                self._set(names[0].names[0], index)
                self._set(names[1].names[0], item, self.dot_boxed)
            else:
                self._set(names[0].names[0], item, self.dot_boxed)
            return
        top = self.variables[-1]
        top.value, top.boxed = item, self.dot_boxed
        if len(names) > 1:
            self.variables[-2].value = index

    def _set(self, name: str, value: Value, boxed: bool = False) -> None:
        for variable in reversed(self.variables):
            if variable.name == name:
                variable.value, variable.boxed = value, boxed
                return
        raise self.fail(f"undefined variable: {name}")

    # pipelines

    def _pipeline(self, dot: Value, pipe: PipeNode) -> Value:
        self.node = pipe
        value: Value = _ABSENT
        for command in pipe.commands:
            value = self._command(dot, command, value)
            if value is None:
                value = NO_VALUE
        for variable in pipe.declared:
            if pipe.assigns:
                self._set(variable.names[0], value)
            else:
                self.variables.append(_Variable(variable.names[0], value))
        return value

    def _command(self, dot: Value, command: CommandNode, final: Value) -> Value:
        first = command.args[0]
        if isinstance(first, FieldNode):
            self.node = first
            return self._fields(dot, (dot, self.dot_boxed), first.names, command.args, final)
        if isinstance(first, ChainNode):
            return self._chain(dot, first, command.args, final)
        if isinstance(first, IdentifierNode):
            return self._function(dot, first, command, command.args, final)
        if isinstance(first, PipeNode):
            self._no_function(command.args, final)
            return self._pipeline(dot, first)
        if isinstance(first, VariableNode):
            return self._variable(dot, first, command.args, final)
        self.node = first
        self._no_function(command.args, final)
        if isinstance(first, DotNode):
            return dot
        if isinstance(first, NilNode):
            raise self.fail("nil is not a command")
        return self._literal(first)

    def _no_function(self, args: Sequence[Node], final: Value) -> None:
        if len(args) > 1 or final is not _ABSENT:
            raise self.fail(f"can't give argument to non-function {args[0]}")

    def _literal(self, node: Node) -> Value:
        if isinstance(node, StringNode):
            return node.text
        if isinstance(node, BoolNode):
            return node.value
        assert isinstance(node, NumberNode)
        if node.floats:
            return node.number
        if node.integer is None or not -(1 << 63) <= node.integer < 1 << 63:
            raise self.fail(f"{node.text} overflows int")
        return node.integer

    # operands

    def _dot(self, dot: Value, node: Node) -> Value:
        return dot

    def _plain_field(self, dot: Value, node: Node) -> Value:
        assert isinstance(node, FieldNode)
        return self._fields(dot, (dot, self.dot_boxed), node.names, (), _ABSENT)

    def _plain_variable(self, dot: Value, node: Node) -> Value:
        assert isinstance(node, VariableNode)
        return self._variable(dot, node, (), _ABSENT)

    def _plain_pipe(self, dot: Value, node: Node) -> Value:
        assert isinstance(node, PipeNode)
        return self._pipeline(dot, node)

    def _plain_function(self, dot: Value, node: Node) -> Value:
        assert isinstance(node, IdentifierNode)
        return self._function(dot, node, node, (), _ABSENT)

    def _plain_chain(self, dot: Value, node: Node) -> Value:
        assert isinstance(node, ChainNode)
        return self._chain(dot, node, (), _ABSENT)

    def _variable(self, dot: Value, node: VariableNode, args: Sequence[Node], final: Value) -> Value:
        self.node = node
        for variable in reversed(self.variables):
            if variable.name == node.names[0]:
                break
        else:
            raise self.fail(f"undefined variable: {node.names[0]}")
        if len(node.names) == 1:
            self._no_function(args, final)
            return variable.value
        return self._fields(dot, (variable.value, variable.boxed), node.names[1:], args, final)

    def _chain(self, dot: Value, node: ChainNode, args: Sequence[Node], final: Value) -> Value:
        self.node = node
        if isinstance(node.node, NilNode):
            raise self.fail(f"indirection through explicit nil in {node}")
        value = self.operands[type(node.node)](dot, node.node)
        return self._fields(dot, (value, False), node.names, args, final)

    def _fields(
        self, dot: Value, receiver: tuple[Value, bool], names: Sequence[str], args: Sequence[Node], final: Value
    ) -> Value:
        value, boxed = receiver
        for name in names[:-1]:
            following = self._field(dot, (value, boxed), name, (), _ABSENT)
            boxed = isinstance(value, dict) and not isinstance(value, StringMap)
            value = following
        return self._field(dot, (value, boxed), names[-1], args, final)

    def _field(self, dot: Value, receiver: tuple[Value, bool], name: str, args: Sequence[Node], final: Value) -> Value:
        value, boxed = receiver
        if isinstance(value, dict):
            if len(args) > 1 or final is not _ABSENT:
                raise self.fail(f"{name} is not a method but has arguments")
            if name in value:
                return value[name]
            if self.missing == "error":
                raise self.fail(f"map has no entry for key {quoted(name)}")
            if self.missing == "zero":
                return "" if isinstance(value, StringMap) else None
            return NO_VALUE
        if value is NO_VALUE:
            if self.missing == "error":
                raise self.fail(f"nil data; no entry for key {quoted(name)}")
            return NO_VALUE
        if value is None:
            raise self.fail(f"nil pointer evaluating interface {{}}.{name}")
        if isinstance(value, Object) and name in value.METHODS:
            types, call = value.METHODS[name]
            method = Function(name, types, lambda *given: call(value, *given))
            node = self.node
            assert node is not None
            return self._call(dot, method, node, args, final)
        raise self.fail(f"can't evaluate field {name} in type {'interface {}' if boxed else type_name(value)}")

    # functions

    def _function(self, dot: Value, name: IdentifierNode, node: Node, args: Sequence[Node], final: Value) -> Value:
        self.node = name
        function = self.program.functions[name.name]
        if function.name in ("and", "or"):
            return self._logic(dot, function, args, final)
        return self._call(dot, function, node, args, final)

    def _logic(self, dot: Value, function: Function, args: Sequence[Node], final: Value) -> Value:
        """Evaluate `and` and `or`, with no more arguments than needed."""
        if len(args) < 2 and final is _ABSENT:
            raise self.fail(f"wrong number of args for {function.name}: want at least 1 got 0")
        value: Value = NO_VALUE
        for arg in args[1:]:
            value = self._argument(dot, "value", arg)
            if truth(value) is (function.name == "or"):
                return value
        return value if final is _ABSENT else final

    def _call(self, dot: Value, function: Function, node: Node, args: Sequence[Node], final: Value) -> Value:
        self._step()
        given = args[1:]
        count = len(given) + (final is not _ABSENT)
        name = function.name
        if function.variadic:
            if count < len(function.params) - 1:
                raise self.fail(
                    f"wrong number of args for {name}: want at least {len(function.params) - 1} got {len(given)}"
                )
        elif count != len(function.params):
            raise self.fail(f"wrong number of args for {name}: want {len(function.params)} got {count}")
        values = [self._argument(dot, function.param(index), arg) for index, arg in enumerate(given)]
        if final is not _ABSENT:
            values.append(self._assigned(final, function.param(count - 1)))
        if function.refused:
            raise self._refuse(node, f"{name} gives another value at every run, or is not built in")
        try:
            if name in _WALKERS:
                self._check_walk(values)
            value = self._bounded(function.call(*values))
            self._check_time()
            return value
        except UnsteadyProblem as problem:
            raise self._refuse(node, f"{name}: {problem}") from None
        except CallProblem as problem:
            self.node = node
            raise self.fail(f"error calling {name}: {problem}") from None
        except OverflowError:
            self.node = node
            raise self.exceeded(f"{name} makes more than {self.limits.output} characters") from None

    def _plain(self, value: Value) -> str:
        try:
            self._check_walk([value])
        except OverflowError:
            raise self.exceeded(f"more than {self.limits.output} characters of output") from None
        return plain(value)

    def _check_walk(self, values: list[Value]) -> None:
        """Check that a traversal of values ends: a shared list counts each time.

        Raises:
            OverflowError: the values are too large.
        """
        left = self.limits.steps
        pending = [value for value in values if isinstance(value, list | dict)]
        while pending:
            value = pending.pop()
            left -= len(value)
            if left < 0:
                raise OverflowError
            pending += [inner for inner in (value.values() if isinstance(value, dict) else value) if _holds(inner)]

    def _bounded(self, value: Value) -> Value:
        """Limit the total size of results: repeated doubling of texts or lists would exhaust the memory.

        Raises:
            OverflowError: the results of functions are too large in total.
        """
        if isinstance(value, str | list | dict):
            self.made += len(value)
            if self.made > _MADE * self.limits.output:
                raise OverflowError
        return value

    def _refuse(self, node: Node, message: str) -> RefusedFunction:
        self.node = node
        line, column = self._place()
        return RefusedFunction(f"template: {self.program.name}:{line}:{column}: {message}", line, column)

    def _assigned(self, value: Value, type_key: str) -> Value:
        try:
            return assigned(value, type_key)
        except WrongType as problem:
            raise self.fail(str(problem)) from None

    def _argument(self, dot: Value, type_key: str, node: Node) -> Value:
        self.node = node
        operand = self.operands.get(type(node))
        if operand is not None:
            return self._assigned(operand(dot, node), type_key)
        if isinstance(node, NilNode):
            if type_key in ("any", "value", "map", "list", "version"):
                return assigned(NO_VALUE, type_key)
            raise self.fail(f"cannot assign nil to {GO_TYPES[type_key]}")
        if type_key in ("any", "value"):
            return self._literal(node)
        if type_key not in _WORDS:
            raise self.fail(f"can't handle {node} for arg of type {GO_TYPES[type_key]}")
        if type_key == "string" and isinstance(node, StringNode):
            return node.text
        if type_key == "bool" and isinstance(node, BoolNode):
            return node.value
        if type_key == "int" and isinstance(node, NumberNode) and node.integer is not None:
            return node.integer
        if type_key == "float64" and isinstance(node, NumberNode) and node.number is not None:
            return node.number
        raise self.fail(f"expected {_WORDS[type_key]}; found {node}")
