"""A review in words, safe to show: what every report says, before it becomes text, Markdown or HTML."""

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
"""A value on one line that is longer is shortened around what differs."""
_AROUND = 80
_SHOWN_NAMES = 5
SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}


_OWN_GROUPS = frozenset({"apps", "autoscaling", "batch", "extensions", "policy"})


def object_name(key: ObjectKey) -> str:
    """What an object is called: `Deployment shop/web`. Groups of Kubernetes itself are left out."""
    if not key.kind and not key.name:
        return "document without a name"
    own = key.group in _OWN_GROUPS or key.group.endswith(".k8s.io")
    return printable(str(key._replace(group="") if own else key))


def _changed_name(change: ObjectChange) -> str:
    """The name of an object; of one whose name the API server makes its beginning, of a document its file."""
    side = change.new or change.old
    if change.key.name or side is None:
        return object_name(change.key)
    metadata = side.content.get("metadata") if isinstance(side.content, dict) else None
    beginning = metadata.get("generateName") if isinstance(metadata, dict) else None
    if isinstance(beginning, str):
        return object_name(change.key._replace(name=f"{beginning}*"))
    return printable(f"document in {side.file}") if side.file and not change.key.kind else object_name(change.key)


def summary(review: Review) -> str:
    """All of a review in one line."""
    counts = Counter(change.kind for one in review.groups for change in one.changes)
    parts = [f"{counts[kind]} {kind}" for kind in ("added", "changed", "removed", "moved") if counts[kind]]
    line = ", ".join(parts) if parts else "no object differs"
    line += f" ({counted(len(review.groups), 'different change')})" if len(review.groups) < counts.total() else ""
    if unknown := Counter(one.kind for one in review.parts if one.state == "unknown"):
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
    """Each Application of a review, and what is to be said of it; those that are unknown for one reason together."""
    dangers: dict[str, dict[str, None]] = {}
    for flag in review.flags:
        dangers.setdefault(flag.source, {})[flag.name] = None
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in review.parts:
        if one.state == "unknown":
            unknown.setdefault((one.kind, one.note), []).append(one.name)
    for one in review.parts:
        alike = unknown.get((one.kind, one.note), [])
        if one.state == "unknown" and one.name not in dangers and not alike:
            continue  # said with the first of them
        counts = (("added", one.added), ("changed", one.changed), ("removed", one.removed))
        said = ", ".join(f"{count} {kind}" for kind, count in counts if count)
        name = f"{one.name} ({one.note})" if one.state == "renamed" else one.name
        if one.state == "unknown":
            said = f"unknown: {one.note}"
            name = one.name if one.kind == "Application" else f"{one.kind} {one.name}"
            if one.name in dangers:
                alike.remove(one.name)
            else:
                if len(alike) > 1:
                    name, said = _kinds(len(alike), one.kind), f"{said} ({some_of(alike)})"
                alike.clear()
        if one.name in dangers:
            said += f"; dangers: {', '.join(dangers[one.name])}"
        yield f"{_STATES[one.state]} {printable(name)}", printable(said.removeprefix("; "))


def flag_name(flag: Flag) -> str:
    """A danger in words: `critical: deletes-crd: the kind goes, ...`."""
    return f"{flag.severity}: {flag.name}: {printable(flag.message)}"


def same_flags(flags: Iterable[Flag]) -> list[tuple[Flag, ...]]:
    """Dangers in groups of those that say the same of several objects."""
    found: dict[tuple[str, str], list[Flag]] = {}
    for flag in flags:
        found.setdefault((flag.name, flag.message), []).append(flag)
    return list(map(tuple, found.values()))


def flag_objects(same: Sequence[Flag]) -> str:
    """The names of the objects of some dangers, the first few of them."""
    return _names(list(dict.fromkeys(flag.key for flag in same)), _SHOWN_NAMES)


def group_title(one: Group) -> str:
    """The first change of a group, and how many there are."""
    first = one.changes[0]
    title = f"{SIGNS[first.kind]} {_changed_name(first)}"
    if first.is_renamed:
        title = f"{SIGNS[first.kind]} {object_name(first.old_key)} => {object_name(first.new_key)}"
    if first.kind == "moved":
        title += f" ({_move(first, several=len(one.changes) > 1)})"
    others = len(others_of(one))
    title = f"{title} and {others} more" if others else title
    if not one.sources:
        return title
    return f"{title} in {printable(one.sources[0]) if len(one.sources) == 1 else f'{len(one.sources)} Applications'}"


def others_of(one: Group) -> list[ObjectKey]:
    """The keys of a group's other objects. Those of several Applications count once."""
    keys = [change.key for change in one.changes[1:]]
    return [key for key in dict.fromkeys(keys) if key != one.changes[0].key] if one.sources else keys


def source_names(one: Group, shown: int = _SHOWN_NAMES) -> str:
    """The names of the Applications of a group, the first few; empty if there is one at the most."""
    if len(one.sources) < 2:
        return ""
    more = len(one.sources) - shown
    return ", ".join(map(printable, one.sources[:shown])) + (f" and {more} more" if more > 0 else "")


def _move(change: ObjectChange, *, several: bool = False) -> str:
    """How the path of an object's file changes; of several objects only the part that changes."""
    if change.old is None or change.new is None:
        return ""
    start, gone, come, end = move_of(change.old.file, change.new.file)
    start, end = ("…/", "…") if several else (start, end)
    return printable(f"{start}{{{gone.rstrip('/')} => {come.rstrip('/')}}}{'/' if end else ''}{end}")


def other_names(one: Group, shown: int = _SHOWN_NAMES) -> str:
    """The names of a group's other objects, the first few of them; empty for a group of one."""
    return _names(others_of(one), shown)


def _names(keys: Sequence[ObjectKey], shown: int) -> str:
    more = len(keys) - shown
    return ", ".join(map(object_name, keys[:shown])) + (f" and {more} more" if more > 0 else "")


def change_lines(one: Group) -> Iterator[DiffLine]:
    """What differs in the objects of a group: a line for each field, the whole of an added or removed object."""
    change = one.changes[0]
    if change.old is None and change.new is not None:
        yield from _whole(change.new.content, "add", "+")
    elif change.new is None and change.old is not None:
        yield from _whole(change.old.content, "remove", "-")
    else:
        if change.is_moved and change.kind != "moved":
            yield DiffLine("context", f"in another file: {_move(change)}")
        ignored = dict(change.ignored)
        for field in change.fields:
            yield from _with_reason(field_lines(field, one.context), ignored.get(path_text(field.path), ""))


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
    """One field that differs, below the line that names it; of a text so many lines around what differs."""
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
    """A path as people write it; in the schema of a definition without the words that lead to each property."""
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
    if not old.endswith("\n") and not new.endswith("\n"):  # which then says nothing
        old, new = f"{old}\n", f"{new}\n"
    for line in diff_lines(old, new, DEFAULT_LIMITS, context):
        yield DiffLine(line.style, _shortened(printable(line.text)))


def _value(value: Any) -> str:
    """A value as one or more lines: a text as it is, anything else as YAML."""
    if isinstance(value, str):
        return value if value.strip() == value and value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict | list) and value:
        return _yaml(value).rstrip("\n")
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "(nested too deeply)"


def _around(old: str, new: str) -> tuple[list[str], list[str]]:
    """Both values as lines; of long ones on a single line the part that differs, with what is left out counted."""
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
