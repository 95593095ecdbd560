"""The texts that reports share, safe to print, before they become text, Markdown or HTML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from commodore.base.documents import ABSENT
from commodore.base.kubernetes.objects import ObjectKey
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import counted, printable, printable_lines, some_of
from commodore.base.yaml.yaml_out import dump
from commodore.core.review.flags import Flag
from commodore.core.review.grouping import Group, move_of
from commodore.core.review.model import FieldChange, Key, ObjectChange, Path, path_text
from commodore.core.review.reviewing import Review
from commodore.core.review.textdiff import DiffLine, diff_lines

VALUE_CHARACTERS = 2048
"""The greatest length of a line; longer values are shortened around the difference."""
_AROUND = 80
_SHOWN_NAMES = 5
SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}


_OWN_GROUPS = frozenset({"apps", "autoscaling", "batch", "extensions", "policy"})


def object_name(key: ObjectKey) -> str:
    """Return the name of an object: `Deployment shop/web`. Groups of Kubernetes itself are left out."""
    if not key.kind and not key.name:
        return "document without a name"
    own = key.group in _OWN_GROUPS or key.group.endswith(".k8s.io")
    return printable(str(key._replace(group="") if own else key))


def _changed_name(change: ObjectChange) -> str:
    """Return the name of an object; its prefix for a generated name, its file for a document without a kind."""
    side = change.new or change.old
    if change.key.name or side is None:
        return object_name(change.key)
    metadata = side.content.get("metadata") if isinstance(side.content, dict) else None
    beginning = metadata.get("generateName") if isinstance(metadata, dict) else None
    if isinstance(beginning, str):
        return object_name(change.key._replace(name=f"{beginning}*"))
    return printable(f"document in {side.file}") if side.file and not change.key.kind else object_name(change.key)


def summary(review: Review) -> str:
    """Return a summary of a review in one line."""
    counts = Counter(change.kind for group in review.groups for change in group.changes)
    parts = [f"{counts[kind]} {kind}" for kind in ("added", "changed", "removed", "moved") if counts[kind]]
    line = ", ".join(parts) if parts else "no object differs"
    line += f" ({counted(len(review.groups), 'different change')})" if len(review.groups) < counts.total() else ""
    if unknown := Counter(part.kind for part in review.parts if part.state == "unknown"):
        kinds = " and ".join(_kinds(count, kind) for kind, count in sorted(unknown.items()))
        line = f"{kinds} unknown, {line if parts else 'the rest is equal'}"
    if review.flags:
        worst = Counter(flag.severity for flag in review.flags)
        line += f"; dangers: {', '.join(f'{count} {severity}' for severity, count in worst.items())}"
    if review.hidden:
        objects = f", all that differs in {counted(review.hidden_only, 'object')}" if review.hidden_only else ""
        line += f"; not shown: {counted(review.hidden, 'field')} of noise{objects}"
    if review.ignored:
        objects = f", all that differs in {counted(review.ignored_only, 'object')}" if review.ignored_only else ""
        line += f"; {counted(review.ignored, 'field')} that rules ignore{objects}"
    return line


_STATES = {"added": "+", "removed": "-", "changed": "~", "renamed": ">", "unknown": "?"}


def _kinds(count: int, kind: str) -> str:
    return counted(count, kind, "entries" if kind == "entry" else "")


def part_rows(review: Review) -> Iterator[tuple[str, str]]:
    """Yield each Application of a review with its summary; the ones that are unknown for the same reason in one row."""
    dangers: dict[str, dict[str, None]] = {}
    for flag in review.flags:
        dangers.setdefault(flag.source, {})[flag.name] = None
    unknown: dict[tuple[str, str], list[str]] = {}
    for part in review.parts:
        if part.state == "unknown":
            unknown.setdefault((part.kind, part.note), []).append(part.name)
    for part in review.parts:
        alike = unknown.get((part.kind, part.note), [])
        if part.state == "unknown" and part.name not in dangers and not alike:
            continue  # in the row of the first one
        counts = (("added", part.added), ("changed", part.changed), ("removed", part.removed))
        said = ", ".join(f"{count} {kind}" for kind, count in counts if count)
        name = f"{part.name} ({part.note})" if part.state == "renamed" else part.name
        if part.state == "unknown":
            said = f"unknown: {part.note}"
            name = part.name if part.kind == "Application" else f"{part.kind} {part.name}"
            if part.name in dangers:
                alike.remove(part.name)
            else:
                if len(alike) > 1:
                    name, said = _kinds(len(alike), part.kind), f"{said} ({some_of(alike)})"
                alike.clear()
        if part.name in dangers:
            said += f"; dangers: {', '.join(dangers[part.name])}"
        yield f"{_STATES[part.state]} {printable(name)}", printable(said.removeprefix("; "))


def flag_name(flag: Flag) -> str:
    """Return a danger as text: `critical: deletes-crd: the kind goes, ...`."""
    return f"{flag.severity}: {flag.name}: {printable(flag.message)}"


def same_flags(flags: Iterable[Flag]) -> list[tuple[Flag, ...]]:
    """Group dangers with the same text for several objects."""
    by_text: dict[tuple[str, str], list[Flag]] = {}
    for flag in flags:
        by_text.setdefault((flag.name, flag.message), []).append(flag)
    return list(map(tuple, by_text.values()))


def flag_objects(same: Sequence[Flag]) -> str:
    """Return the names of the first objects of some dangers."""
    return _names(list(dict.fromkeys(flag.key for flag in same)), _SHOWN_NAMES)


def group_title(group: Group) -> str:
    """Return the first change of a group, and the number of further ones."""
    first = group.changes[0]
    title = f"{SIGNS[first.kind]} {_changed_name(first)}"
    if first.is_renamed:
        title = f"{SIGNS[first.kind]} {object_name(first.old_key)} => {object_name(first.new_key)}"
    if first.kind == "moved":
        title += f" ({_move(first, several=len(group.changes) > 1)})"
    others = len(others_of(group))
    title = f"{title} and {others} more" if others else title
    if not group.sources:
        return title
    return (
        f"{title} in {printable(group.sources[0]) if len(group.sources) == 1 else f'{len(group.sources)} Applications'}"
    )


def others_of(group: Group) -> list[ObjectKey]:
    """Return the keys of a group's other objects. An object of several Applications counts once."""
    keys = [change.key for change in group.changes[1:]]
    return [key for key in dict.fromkeys(keys) if key != group.changes[0].key] if group.sources else keys


def source_names(group: Group, shown: int = _SHOWN_NAMES) -> str:
    """Return the first names of a group's Applications; empty for at most one."""
    if len(group.sources) < 2:
        return ""
    more = len(group.sources) - shown
    return ", ".join(map(printable, group.sources[:shown])) + (f" and {more} more" if more > 0 else "")


def _move(change: ObjectChange, *, several: bool = False) -> str:
    """Return the change of an object's file path; for several objects only the part that changes."""
    if change.old is None or change.new is None:
        return ""
    start, gone, come, end = move_of(change.old.file, change.new.file)
    start, end = ("…/", "…") if several else (start, end)
    return printable(f"{start}{{{gone.rstrip('/')} => {come.rstrip('/')}}}{'/' if end else ''}{end}")


def other_names(group: Group, shown: int = _SHOWN_NAMES) -> str:
    """Return the first names of a group's other objects; empty for a group of one."""
    return _names(others_of(group), shown)


def _names(keys: Sequence[ObjectKey], shown: int) -> str:
    more = len(keys) - shown
    return ", ".join(map(object_name, keys[:shown])) + (f" and {more} more" if more > 0 else "")


def change_lines(group: Group) -> Iterator[DiffLine]:
    """Yield the differences of a group: a line for each field, or a whole added or removed object."""
    change = group.changes[0]
    if change.old is None and change.new is not None:
        yield from _whole(change.new.content, "add", "+")
    elif change.new is None and change.old is not None:
        yield from _whole(change.old.content, "remove", "-")
    else:
        if change.is_moved and change.kind != "moved":
            yield DiffLine("context", f"in another file: {_move(change)}")
        ignored = dict(change.ignored)
        for field in change.fields:
            yield from _with_reason(field_lines(field, group.context), ignored.get(path_text(field.path), ""))


def _with_reason(lines: Iterator[DiffLine], reason: str) -> Iterator[DiffLine]:
    first = next(lines)
    yield DiffLine(first.style, f"{first.text} ({printable(reason)})") if reason else first
    yield from lines


def _whole(content: Any, style: Any, sign: str) -> Iterator[DiffLine]:
    for line in _yaml(content).splitlines():
        yield DiffLine(style, f"{sign} {_shortened(printable(line))}")


def _yaml(content: Any) -> str:
    try:
        return dump(content)
    except RecursionError:
        return "(nested too deeply)\n"


def field_lines(field: FieldChange, context: int) -> Iterator[DiffLine]:
    """Yield a differing field, below a line with its path; for texts with context lines around the differences."""
    path = printable(_shown_path(field.path)) or "(the whole document)"
    if field.inside:
        yield DiffLine("header", f"{path}: in the document")
        for inner in field.inside:
            for line in field_lines(inner, context):
                yield DiffLine(line.style, f"  {line.text}")
    elif field.kind == "reordered":
        yield DiffLine("header", f"{path}: in another order")
        yield DiffLine("remove", f"- {_shortened(_value(field.old))}")
        yield DiffLine("add", f"+ {_shortened(_value(field.new))}")
    elif isinstance(field.old, str) and isinstance(field.new, str) and "\n" in field.old.strip() + field.new.strip():
        yield DiffLine("header", f"{path}: lines")
        yield from _text_lines(field.old, field.new, context)
    else:
        yield DiffLine("header", path)
        old, new = _around(_value(field.old), _value(field.new))
        if field.old is not ABSENT:
            yield from (DiffLine("remove", f"- {line}") for line in old)
        if field.new is not ABSENT:
            yield from (DiffLine("add", f"+ {line}") for line in new)


def _shown_path(path: Path) -> str:
    """Return a readable path; in the schema of a definition without the keys that lead to each property."""
    names = [step.key if isinstance(step, Key) else "" for step in path]
    if names[:2] != ["spec", "versions"] or names[3:5] != ["schema", "openAPIV3Schema"]:
        return path_text(path)
    text, words, named = "", "", False
    for index, name in enumerate(names[5:], 5):
        if named:
            text += f".{path_text(path[index : index + 1])}".replace(".[", "[")
            named = False
        elif name == "properties":
            named = True
        elif name in ("items", "additionalProperties"):
            text += "[]" if name == "items" else "{}"
        else:
            words = path_text(path[index:])
            break
    return f"{path_text(path[:3])} schema of {text.removeprefix('.') or 'the object'}{f': {words}' if words else ''}"


def _text_lines(old: str, new: str, context: int) -> Iterator[DiffLine]:
    if not old.endswith("\n") and not new.endswith("\n"):  # the marker would be the same on both sides
        old, new = f"{old}\n", f"{new}\n"
    for line in diff_lines(old, new, DEFAULT_LIMITS, context):
        yield DiffLine(line.style, _shortened(printable(line.text)))


def _value(value: Any) -> str:
    """Return a value as lines: a text as it is, other values as YAML."""
    if isinstance(value, str):
        return value if value.strip() == value and value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict | list) and value:
        return _yaml(value).rstrip("\n")
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "(nested too deeply)"


def _around(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return both values as lines; of long single lines the part that differs, with the number of omitted
    characters.
    """
    if "\n" in old or "\n" in new or max(len(old), len(new)) <= VALUE_CHARACTERS:
        return _lines(old), _lines(new)
    start = next((index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return [_cut(old, start, end)], [_cut(new, start, end)]


def _cut(text: str, start: int, end: int) -> str:
    first = max(0, start - _AROUND)
    last = min(len(text), max(first, len(text) - end) + _AROUND, first + VALUE_CHARACTERS)
    before = f"… {first} characters … " if first else ""
    after = f" … {len(text) - last} characters …" if last < len(text) else ""
    return f"{before}{printable(text[first:last])}{after}"


def _lines(text: str) -> list[str]:
    return [_shortened(line) for line in printable_lines(text).split("\n")]


def _shortened(line: str) -> str:
    if len(line) <= VALUE_CHARACTERS:
        return line
    return f"{line[:VALUE_CHARACTERS]} … {len(line) - VALUE_CHARACTERS} characters …"
