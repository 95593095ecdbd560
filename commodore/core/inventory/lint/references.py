"""Linter `references`: `${...}` that cannot be resolved, regardless of the rest of the hierarchy.

The target of a reference is often set by files that are not linted. So only references that no file can resolve are
errors. An unknown name that differs by one letter from a known name is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from yaml import Node, ScalarNode

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.core.inventory.explain.references import DEEPEST, Ref, parse_references, references_in
from commodore.core.inventory.lint.class_file import ClassFile, entries, is_map, is_reference, key_text, texts
from commodore.core.inventory.lint.deprecated import REMOVED_VARIABLES
from commodore.core.inventory.lint.linter import Linter

UNCLOSED: Final = Rule("unclosed-reference", "error", "A reference `${...}` lacks its closing brace.")
MALFORMED: Final = Rule("malformed-reference", "error", "A reference names an empty key, or one with blanks around it.")
INTO_TEXT: Final = Rule("reference-into-text", "error", "A reference leads into a parameter that is always a string.")
DEFAULTS: Final = Rule(
    "reference-in-defaults", "error", "A component's defaults refer to a parameter that only an instance has."
)
MISSPELT: Final = Rule("misspelt-reference", "warning", "A reference differs by one letter from an existing key.")

_TEXTS: Final = ("_instance", "_base_directory", "_kustomize_wrapper", "_python3")
_CLUSTER: Final = ("catalog_url", "display_name", "name", "tenant", "tenant_display_name")
_OPEN: Final = ("dynamic_facts", "facts", "kapitan", "_reclass_")
_INSTANCE_ONLY: Final = ("_base_directory", "_kustomize_wrapper", "_python3", "kapitan:vars:target")
_SHORTEST: Final = 4  # minimum letters of a key; shorter ones are similar too often


@dataclass(slots=True)
class _KnownKeys:
    """Keys that linted files set below a key. If it is `open`, there may be other keys."""

    keys: dict[str, _KnownKeys] = field(default_factory=dict)
    open: bool = False

    def below(self, key: str) -> _KnownKeys:
        return self.keys.setdefault(key, _KnownKeys())


class References(Linter):
    """Checks references by themselves when they are read, and against the keys of all files at the end."""

    name = "references"
    summary = "References `${...}` that are unclosed, malformed or misspelt."
    rules = (UNCLOSED, MALFORMED, INTO_TEXT, DEFAULTS, MISSPELT)

    def __init__(self) -> None:
        self._known = _KnownKeys()
        for name in _TEXTS:
            self._known.below(name)
        for name in _OPEN:
            self._known.below(name).open = True
        for name in _CLUSTER:
            self._known.below("cluster").below(name)
        self._used: list[tuple[tuple[str, ...], Diagnostic]] = []

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        if not file.is_class:
            return
        for section in ("classes", "parameters"):
            node = file.section(section)
            if node is None:
                continue
            if section == "parameters":
                _learn(self._known, node, set())
            for parameter, text in texts(node, section) if b"${" in file.content else ():
                if "${" in text.value:
                    yield from self._text(file, text, parameter)

    def _text(self, file: ClassFile, node: ScalarNode, parameter: str) -> Iterator[Diagnostic]:
        parts = parse_references(node.value)
        if parts is None:
            if "\\" not in node.value:  # other meanings of a backslash are not checked
                start = node.value[node.value.rfind("${") :].splitlines()[0]
                deep = f", or nests more than {DEEPEST} levels deep" if node.value.count("${") > DEEPEST else ""
                message = f"{parameter} has a reference that is not closed{deep}: {start[:60]!r}"
                hint = "close it with '}', or write '\\${' if it is meant as text"
                yield file.finding(
                    self.name, UNCLOSED, file.place_of(node, start), message, parameter=parameter, hint=hint
                )
            return
        for ref in references_in(parts):
            yield from self._reference(file, node, parameter, ref)

    def _reference(self, file: ClassFile, node: ScalarNode, parameter: str, ref: Ref) -> Iterator[Diagnostic]:
        def diagnostic(rule: Rule, reason: str, hint: str) -> Diagnostic:
            message = f"{parameter} refers to {ref.written}, {reason}"
            return file.finding(
                self.name, rule, file.place_of(node, ref.written), message, parameter=parameter, hint=hint
            )

        path = _path(ref)
        if path is None:
            return
        keys = tuple(path.split(":"))
        if any(not key or key != key.strip() for key in keys):
            yield diagnostic(MALFORMED, "which has an empty key or blanks around a key", "write it as ${key:key}")
        elif keys[0] in _TEXTS and keys[1:]:
            yield diagnostic(INTO_TEXT, f"but {keys[0]} is a string and has no keys", f"write ${{{keys[0]}}}")
        elif file.is_defaults and path in _INSTANCE_ONLY:
            hint = "move it to class/<component>.yml: the defaults are also rendered without an instance"
            yield diagnostic(DEFAULTS, "which only an instance has", hint)
        elif ref.written not in REMOVED_VARIABLES:
            self._used.append((keys, diagnostic(MISSPELT, "", "")))

    def finish(self) -> Iterator[Diagnostic]:
        for keys, finding in self._used:
            near = self._near(keys)
            if near:
                meant = ":".join((*keys[: len(near) - 1], near[-1], *keys[len(near) :]))
                place = ":".join(near[:-1])
                where = f"below {place!r} " if place else ""
                message = f"{finding.message}but there is no {keys[len(near) - 1]!r} {where}in the linted files"
                yield replace(finding, message=message, hint=f"did you mean ${{{meant}}}?")

    def _near(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return the known prefix of a path, ending with the only similar key; empty without a similar key."""
        known = self._known
        for depth, key in enumerate(keys):
            if known.open or not known.keys:
                return ()
            if key not in known.keys:
                candidates: Iterable[str] = known.keys if depth else (*_TEXTS, *_OPEN, "cluster")
                close = [name for name in candidates if differs_by_one_letter(key, name)]
                return (*keys[:depth], close[0]) if len(close) == 1 else ()
            known = known.keys[key]
        return ()


def _path(ref: Ref) -> str | None:
    """Return the path of a reference; None if it depends on other references, or has a default."""
    if not all(isinstance(part, str) for part in ref.parts):
        return None
    path = "".join(part for part in ref.parts if isinstance(part, str))
    return None if "::" in path else path


def _learn(known: _KnownKeys, node: Node, seen: set[int]) -> None:
    """Add the keys below a node. Repeated aliases are not read again."""
    if is_reference(node) or id(node) in seen:
        known.open = True
    elif is_map(node):
        seen.add(id(node))
        for key, value in entries(node):
            _learn(known.below(key_text(key).lstrip("=~")), value, seen)


def differs_by_one_letter(written: str, name: str) -> bool:
    """Check if two names differ by one letter: added, missing, changed, or swapped with its neighbour."""
    if min(len(written), len(name)) < _SHORTEST or abs(len(written) - len(name)) > 1:
        return False
    start = 0
    while start < min(len(written), len(name)) and written[start] == name[start]:
        start += 1
    rest, other = written[start:], name[start:]
    slips = (rest[1:] == other[1:], rest[1:] == other, rest == other[1:], rest[1::-1] + rest[2:] == other)
    changed = rest[:2] + other[:2] if len(rest) == len(other) else (rest if len(rest) > len(other) else other)[:1]
    return any(slips) and written != name and not any(letter.isdigit() for letter in changed)
