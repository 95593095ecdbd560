"""Translate messages of reclass-rs about invalid hierarchies into errors with files and lines."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, InputError, InternalError, Location, did_you_mean
from commodore.core.inventory.class_index import ClassFiles, absolute

_SHOWN = 5  # locations of one error

_TARGET = re.compile(
    r"Error while rendering (?:inventory: Error rendering node )?(?P<target>[^\s:]+): (?P<cause>.*)", re.DOTALL
)
_UNREADABLE = re.compile(r"Deserializing (?P<cls>\S+?): (?P<cause>.*)", re.DOTALL)
_PLACE = re.compile(r" at line (?P<line>\d+) column (?P<column>\d+)")
_DUPLICATE = re.compile(r"duplicate entry with key \"?(?P<key>.*?)\"?$")
_TWICE = re.compile(
    r"Definition of class '(?P<cls>.*?)' in '(?P<first>.*?)' collides with definition in '(?P<other>.*?)'\."
)
_MISSING = re.compile(r"Class (?P<cls>\S*) not found$")
_DANGLING = re.compile(r"IO error for operation on (?P<path>.*?): (?P<cause>.*?)(?: \(os error \d+\))?$", re.DOTALL)
_FOLDER_LOOP = re.compile(r"File system loop found: (?P<path>.*) points to an ancestor (?P<ancestor>.*)", re.DOTALL)
_LOOKUP = re.compile(r"lookup error for reference '(?P<ref>[^']*)' in parameter '(?P<parameter>[^']*)'")
_THROUGH = re.compile(
    r"While looking up key '(?P<key>[^']*)' in reference '(?P<ref>[^']*)' for parameter '(?P<parameter>[^']*)': "
    r"(?:Can't continue lookup, (?P<path>\S+) is a (?P<kind>\S+)|Sequence lookups)"
)
_MALFORMED = re.compile(r"Error parsing (?:reference|default value for reference) '(?P<ref>[^']*)'")
_LOOP = re.compile(r"reference loop with reference paths \[(?P<paths>.*)\]")
_CONSTANT = re.compile(r"Can't overwrite constant key \"?(?P<key>.*?)\"?$")
_MERGE = re.compile(r"(?:In (?P<path>.*?): )?Can't merge (?P<new>\S+) over (?P<old>\S+)")

_KINDS = {
    "mapping": "a map",
    "sequence": "a list",
    "number": "a number",
    "bool": "true or false",
    "literal": "a text",
    "string": "a text",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class _Failure:
    """A parsed message of reclass-rs: its parts by name, and the rendered target (empty: before rendering)."""

    match: re.Match[str]
    target: str
    files: ClassFiles

    def __getitem__(self, part: str) -> str:
        return self.match[part] or ""


def translate(text: str, files: ClassFiles) -> CommodoreError:
    """Return the error for a message of reclass-rs.

    Args:
        text: the message of its exception.
        files: the class files that it found; empty if it failed while searching them.
    """
    prefix = _TARGET.match(text)
    target, cause = (prefix["target"], prefix["cause"]) if prefix else ("", text)
    for pattern, explain in _EXPLANATIONS:
        if match := pattern.search(cause):
            return explain(_Failure(match, target, files))
    if "valid UTF-8" in cause:
        places = [path for path in files.paths.values() if not _is_text(files.content(path))]
        return InputError(
            "CMD-INV-001",
            "a class file is not UTF-8 text",
            hint="save it as UTF-8",
            locations=[str(path) for path in places[:_SHOWN]],
        )
    return InputError(
        "CMD-INV-006",
        f"the hierarchy cannot be rendered: {cause}{_while(target)}",
        hint="'commodore inventory lint' finds most mistakes in class files, with file and line",
    )


def translate_panic(text: str, files: ClassFiles) -> CommodoreError:
    """Return the error for a panic of reclass-rs. Known causes are YAML tags, keys that are lists or mappings, and a
    constant changed by its own file.
    """
    if match := _CONSTANT.search(text):
        return _constant(_Failure(match, "", files))
    if "Tagged YAML" in text:
        for name, path in files.paths.items():
            if tag := find_tag(files.content(path)):
                return InputError(
                    "CMD-INV-001",
                    f"class {name} has the YAML tag {tag[0]!r}, which cannot be used in classes",
                    hint="remove the tag, or put text that begins with '!' into quotes",
                    locations=[Location(str(path), tag[1])],
                )
    if "unhashable type" in text:  # the output of reclass-rs is converted to dictionaries
        for name, path in files.paths.items():
            for key in find_definitions(files.content(path)):
                if not key.plain:
                    return InputError(
                        "CMD-INV-001",
                        f"class {name} has a list or a mapping as a key, which cannot be used in classes",
                        hint="put text that begins with '[' or '{' into quotes",
                        locations=[Location(str(path), key.line)],
                    )
    return InternalError(
        "CMD-INV-017",
        f"reclass-rs failed: {text}",
        hint="this is a bug; report it with the class that was changed last",
    )


def _while(target: str) -> str:
    return f" (while rendering target {target!r})" if target else ""


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unreadable(failure: _Failure) -> CommodoreError:
    cls, cause = failure["cls"], failure["cause"]
    path = failure.files.paths.get(cls)
    place = _PLACE.search(cause)
    line, column = (int(place["line"]), int(place["column"])) if place else (None, None)
    problem = _PLACE.sub("", cause, count=1)
    hint = "correct the file"
    if duplicate := _DUPLICATE.search(problem):
        hint = "keep one of the two"
        twins = [
            definition
            for definition in _definitions(failure.files, path)
            if definition.duplicate and definition.path[-1] == duplicate["key"]
        ]
        if twins:
            line, column = twins[0].line, twins[0].column
    elif "cannot start any token" in problem:
        hint = "indent with blanks instead of tabs, and put text that begins with '@', '`' or '%' into quotes"
    elif problem.endswith("u128, expected any YAML value"):
        hint = "put numbers of more than 64 bits into quotes"
    elif "expected struct Node" in problem or problem.endswith("expected a YAML mapping"):
        problem = problem.replace("struct Node", "a mapping").replace("a YAML mapping", "a mapping")
        hint = "a class is a mapping with `classes`, `applications` and `parameters`; leave out empty keys"
    elif "more than one document" in problem:
        hint = "a class is one YAML document: remove the '---'"
    return InputError(
        "CMD-INV-001",
        f"class {cls} is invalid: {problem}",
        hint=hint,
        locations=[Location(str(path) if path else f"class {cls}", line, column)],
    )


def _twice(failure: _Failure) -> CommodoreError:
    return InputError(
        "CMD-INV-020",
        f"class {failure['cls']} is defined by two files",
        hint="keep one of them",
        locations=sorted((failure["first"], failure["other"])),
    )


def _missing(failure: _Failure) -> CommodoreError:
    cls = failure["cls"]
    root, _, rest = cls.partition(".")
    folder = failure.files.inventory / "classes" / root
    if not cls:
        hint = "an entry of `classes` is empty"
    elif similar := did_you_mean(cls, (name for name in failure.files.paths if _differ_in_one_part(name, cls))):
        hint = similar
    elif folder.is_dir():
        hint = f"create {rest.replace('.', '/')}.yml in {folder}, or remove the include"
    else:
        hint = f"if {root!r} is a package, include 'pkg.{root}' in `applications`"
        hint += " and describe it in `parameters.packages`"
    return InputError(
        "CMD-INV-002",
        f"class {cls!r} is included but does not exist{_while(failure.target)}",
        hint=hint,
        locations=_including(failure.files, cls),
    )


def _differ_in_one_part(name: str, other: str) -> bool:
    pairs = list(zip(name.split("."), other.split("."), strict=False))
    return name.count(".") == other.count(".") and sum(a != b for a, b in pairs) == 1


def _including(files: ClassFiles, cls: str) -> list[Location]:
    """Return the locations that include a class, by its full or relative name; entries with references are ignored."""
    return [
        Location(str(path), files.line_of_entry(path, "classes", entry))
        for name, path in files.paths.items()
        for entry in files.section(path, "classes")
        if absolute(entry, name) == cls
    ][:_SHOWN]


def _undefined(failure: _Failure) -> CommodoreError:
    ref, parameter = failure["ref"], failure["parameter"]
    hint = "define the parameter, or give a default: ${path::default}"
    if not parameter:
        hint = "references in `classes` only see parameters of classes merged before, not those of the same file"
    return InputError(
        "CMD-INV-003",
        f"{_referring(failure)} to {ref}, which is not defined{_while(failure.target)}",
        hint=hint,
        locations=_mentioning(failure.files, ref, failure.target),
    )


def _through(failure: _Failure) -> CommodoreError:
    reason = (
        f"{failure['path']} is {_kind(failure['kind'])}" if failure["path"] else "references cannot lead into lists"
    )
    return InputError(
        "CMD-INV-003",
        f"{_referring(failure)} to {failure['ref']}, but {reason}{_while(failure.target)}",
        hint="correct the reference",
        locations=_mentioning(failure.files, failure["ref"], failure.target),
    )


def _referring(failure: _Failure) -> str:
    return f"parameter {failure['parameter']!r} refers" if failure["parameter"] else "an entry of `classes` refers"


def _malformed(failure: _Failure) -> CommodoreError:
    return InputError(
        "CMD-INV-018",
        f"the reference {failure['ref']!r} cannot be read{_while(failure.target)}",
        hint="references are written ${path:to:parameter}; write \\${ for text that is not a reference",
        locations=_mentioning(failure.files, failure["ref"], failure.target),
    )


def _loop(failure: _Failure) -> CommodoreError:
    paths = re.findall(r'"([^"]*)"', failure["paths"])
    hint = "break the loop: let one of them be a plain value"
    for alias, component in _alias_keys(failure.files, failure.target).items():
        if {path.split(":")[0] for path in paths} == {alias, component}:
            hint = f"parameters of an instance may refer to ${{{alias}:…}}, not to ${{{component}:…}} which they change"
    shown = " -> ".join(f"${{{path}}}" for path in [*paths, *paths[:1]])
    places = [place for path in paths for place in _mentioning(failure.files, f"${{{path}}}", "")]
    return InputError(
        "CMD-INV-004",
        f"references form a loop{_while(failure.target)}: {shown}",
        hint=hint,
        locations=list(dict.fromkeys(places))[:_SHOWN],
    )


def _constant(failure: _Failure) -> CommodoreError:
    key = failure["key"]
    places = _conflicts(failure.files, failure.target, lambda path: path[-1] == key)
    clashing = {
        path: definitions
        for path, definitions in places.items()
        if len(definitions) > 1 and any(definition.constant for _, definition in definitions)
    }
    names = sorted(".".join(path) for path in clashing)
    what = " or ".join(f"parameters.{name}" for name in names) or f"a parameter {key!r}"
    overriding = [place for path in sorted(clashing) for place in reversed(clashing[path])]
    return InputError(
        "CMD-INV-021",
        f"{what} is a constant ('={key}') and cannot be defined again{_while(failure.target)}",
        hint=f"remove {key!r} from the first of these files",
        locations=[Location(str(file), definition.line, definition.column) for file, definition in overriding[:_SHOWN]],
    )


def _merge(failure: _Failure) -> CommodoreError:
    named = failure["path"] or _top_level_conflict(failure)
    path = tuple(re.sub(r"\[\d+\]", "", named).split("."))
    places = _conflicts(failure.files, failure.target, lambda parameter: parameter == path)
    definitions = [place for group in places.values() for place in group]
    where = f"parameters.{named}" if named else "parameters"
    return InputError(
        "CMD-INV-022",
        f"{where} cannot be merged: {_kind(failure['new'])} over {_kind(failure['old'])}{_while(failure.target)}",
        hint=f"let both have the same type, or write '~{path[-1]}' to replace what was there",
        locations=[
            Location(str(file), definition.line, definition.column)
            for file, definition in reversed(definitions[-_SHOWN:])
        ],
    )


def _top_level_conflict(failure: _Failure) -> str:
    """Return the top-level parameter with conflicting types; reclass-rs does not name it."""
    new, old = _kind(failure["new"]), _kind(failure["old"])
    before: dict[str, str] = {}
    for name in failure.files.order(failure.target) if failure.target else ():
        for key, value in failure.files.parameters(failure.files.paths[name]).items():
            kind = _kind_of(value)
            if before.setdefault(str(key), kind) == old and kind == new:
                return str(key)
    return ""


def _kind_of(value: object) -> str:
    names = {dict: "mapping", list: "sequence", bool: "bool", str: "string", type(None): "null"}
    return _KINDS[names.get(type(value), "number")]


def _kind(name: str) -> str:
    return _KINDS.get(name.rpartition(":")[2].lower(), name)


def _dangling(failure: _Failure) -> CommodoreError:
    path = Path(failure["path"])
    classes = failure.files.inventory / "classes"
    what = str(path)
    if path.is_relative_to(classes) and path != classes:
        folder = path.relative_to(classes).parts[0]
        owner = f"of component {path.stem!r}" if folder in ("components", "defaults") else f"below classes/{folder}"
        what = f"the class file {owner}"
    problem = f"a link to {os.readlink(path)}, which does not exist" if path.is_symlink() else failure["cause"].lower()
    return InputError(
        "CMD-INV-005",
        f"{what} cannot be read: {problem}",
        hint="correct or remove it",
        locations=[str(path)],
    )


def _folder_loop(failure: _Failure) -> CommodoreError:
    return InputError(
        "CMD-INV-005",
        f"a link below classes points to a folder that contains it, {failure['ancestor']}",
        hint="correct or remove it",
        locations=[failure["path"]],
    )


def _definitions(files: ClassFiles, path: Path | None) -> Iterator[Definition]:
    yield from find_definitions(files.content(path)) if path is not None else ()


def _conflicts(
    files: ClassFiles, target: str, matches: Callable[[tuple[str, ...]], bool]
) -> dict[tuple[str, ...], list[tuple[Path, Definition]]]:
    """Return the definitions of matching parameters in a target's classes, in merge order, by parameter.

    The key of an alias is replaced by its component's.
    """
    keys = _alias_keys(files, target)
    paths = [files.paths[name] for name in files.order(target)] if target else list(files.paths.values())
    definitions: dict[tuple[str, ...], list[tuple[Path, Definition]]] = {}
    for file in paths:
        for definition in find_definitions(files.content(file)):
            if definition.path[0] == "parameters" and len(definition.path) > 1:
                path = (keys.get(definition.path[1], definition.path[1]), *definition.path[2:])
                if matches(path):
                    definitions.setdefault(path, []).append((file, definition))
    return definitions


def _alias_keys(files: ClassFiles, target: str) -> dict[str, str]:
    """Return the keys of aliases with the keys of their components, as the target merges them."""
    parameters = files.parameters(files.target(target)) if target else {}
    return {
        value[2:-1]: key
        for key, value in parameters.items()
        if isinstance(value, str) and value.startswith("${") and value[2:-1] in parameters
    }


def _mentioning(files: ClassFiles, text: str, target: str) -> list[Location]:
    """The first lines of the target's class files that hold `text`."""
    locations = []
    names = files.order(target) if target else list(files.paths)
    for path in [files.paths[name] for name in names]:
        line = files.line_of(path, text)
        if line is not None:
            locations.append(Location(str(path), line))
    return locations[:_SHOWN]


_EXPLANATIONS: tuple[tuple[re.Pattern[str], Callable[[_Failure], CommodoreError]], ...] = (
    (_UNREADABLE, _unreadable),
    (_TWICE, _twice),
    (_MISSING, _missing),
    (_LOOKUP, _undefined),
    (_THROUGH, _through),
    (_MALFORMED, _malformed),
    (_LOOP, _loop),
    (_CONSTANT, _constant),
    (_MERGE, _merge),
    (_FOLDER_LOOP, _folder_loop),
    (_DANGLING, _dangling),
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A key in a YAML file: its path without `=` and `~`, e.g. `("parameters", "a", "b")`; lines start at one."""

    path: tuple[str, ...]
    constant: bool
    duplicate: bool
    plain: bool  # the key is neither a list nor a mapping
    line: int
    column: int


@dataclass(slots=True)
class _Frame:
    """An open mapping or list; `key` is the last key of a mapping."""

    is_map: bool
    key: str = ""
    awaits_key: bool = True
    seen: set[str] = field(default_factory=set)


def find_definitions(content: bytes) -> Iterator[Definition]:
    """Yield every key of a YAML text, up to the first syntax error. It reads events, so nesting is not limited."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    frames: list[_Frame] = []
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(content, Loader=loader):
            if isinstance(event, yaml.CollectionEndEvent):
                frames.pop()
            elif isinstance(event, yaml.NodeEvent):
                frame = frames[-1] if frames else None
                if frame is not None and frame.is_map:
                    if frame.awaits_key:
                        plain = not isinstance(event, yaml.CollectionStartEvent)
                        frame.key = event.value if isinstance(event, yaml.ScalarEvent) else "?"
                        yield _definition(frames, event.start_mark, plain=plain)
                        frame.seen.add(frame.key)
                    frame.awaits_key = not frame.awaits_key
                if isinstance(event, yaml.CollectionStartEvent):
                    frames.append(_Frame(isinstance(event, yaml.MappingStartEvent)))


def find_tag(content: bytes) -> tuple[str, int] | None:
    """Return the first explicit tag (`!x`) of a YAML text and its line (from one); reclass-rs cannot read tags."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(content, Loader=loader):
            tag = getattr(event, "tag", None)
            mark: Any = event.start_mark
            if tag and not tag.startswith("tag:yaml.org,2002:"):
                return tag, mark.line + 1
    return None


def _definition(frames: list[_Frame], mark: Any, *, plain: bool) -> Definition:
    last = frames[-1]
    return Definition(
        path=tuple(frame.key.lstrip("=~") for frame in frames if frame.is_map),
        constant=last.key.startswith("="),
        duplicate=last.key in last.seen,
        plain=plain,
        line=mark.line + 1,
        column=mark.column + 1,
    )
