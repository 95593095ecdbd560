"""Bundling of many `defaults` classes into one, for rendering only (ADR 0014).

reclass-rs copies everything merged so far for each class that a target includes, so its time grows with the square of
the number of components. Most `defaults` classes only have `parameters`, with keys that no other class has. Merging
such classes one after another equals merging one class with all of their parameters in that order.

So they are concatenated, as text, in a copy of the hierarchy that consists of links. The copy does not have the single
classes: including one of them in another way is an error, and then the original hierarchy is rendered.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.files.staging import temporary_folder

FOLDER = "_together"
_WORTH_IT = 1500
"""Minimum number of bundled classes over all targets. Below it, rendering an additional target for comparison takes
longer than bundling saves."""
_CLASS = re.compile(r"defaults\.[\w-]+", re.ASCII)
_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_SPECIAL = frozenset(("true", "false", "null"))
_BREAKS = re.compile("[\r\x85\u2028\u2029\ufeff]")
_TARGET = re.compile(
    r"classes:\n(?P<list>(?P<indent> *)- [\w.-]+\n(?:(?P=indent)- [\w.-]+\n)*)(?P<rest>(?:[A-Za-z_].*)?)",
    re.ASCII | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DefaultsClass:
    """The content of a `defaults` class: the names of its parameters, and the text from the first parameter on."""

    keys: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class BundledHierarchy:
    """A hierarchy with bundled classes.

    Args:
        targets, classes: the folders of the hierarchy.
        probe: a target with the maximum number of classes.
        members: bundle class -> the classes in it.
    """

    targets: Path
    classes: Path
    probe: str
    members: Mapping[str, tuple[str, ...]]

    def restore(self, node: dict[str, Any]) -> None:
        """Replace bundle classes in a node by their members, in reclass's order: each class at its first position."""
        listed = (name for entry in node["classes"] for name in self.members.get(entry, (entry,)))
        node["classes"] = list(dict.fromkeys(listed))


@contextlib.contextmanager
def bundle_classes(
    inventory: Path, targets: Mapping[str, Path], classes: Mapping[str, Path]
) -> Iterator[BundledHierarchy | None]:
    """Make a temporary copy of a hierarchy with bundled classes; None if bundling is not worthwhile.

    Args:
        inventory: the absolute path of the folder with `classes/` and `targets/`.
        targets: the files of targets, relative to `targets/`.
        classes: the files of classes.
    """
    lists = {name: target for name, path in targets.items() if (target := _read_target(inventory / "targets" / path))}
    if (
        not lists
        or sum(target.count for target in lists.values()) < _WORTH_IT
        or (inventory / "classes" / FOLDER).exists()
    ):
        yield None
        return
    probe = max(lists, key=lambda name: (lists[name].count, name))
    folder = inventory / "classes" / "defaults"
    plain = {name: path for name, path in classes.items() if path == folder / f"{name.partition('.')[2]}.yml"}
    plan = _Plan.of(lists[probe].classes, plain)
    with temporary_folder() as root:
        (root / "targets").mkdir()
        for name, path in targets.items():
            place = root / "targets" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if name in lists:
                place.write_text(lists[name].with_classes(plan.shorten(lists[name].classes)), encoding="utf-8")
            else:
                place.symlink_to(inventory / "targets" / path)
        if not plan.members:
            yield None
            return
        _copy_classes(inventory / "classes", root / "classes", plan)
        yield BundledHierarchy(root / "targets", root / "classes", probe, plan.members)


def _copy_classes(source: Path, copy: Path, plan: _Plan) -> None:
    (copy / FOLDER).mkdir(parents=True)
    for name, members in plan.members.items():
        text = "parameters:\n" + "".join(plan.parts[member].text for member in members)
        (copy / FOLDER / f"{name.partition('.')[2]}.yml").write_text(text, encoding="utf-8")
    (copy / "defaults").mkdir()
    left_out = {f"{name.partition('.')[2]}.yml" for name in plan.parts}
    for folder, names in ((".", os.listdir(source)), ("defaults", os.listdir(source / "defaults"))):
        for name in names:
            if (folder, name) != (".", "defaults") and not (folder == "defaults" and name in left_out):
                (copy / folder / name).symlink_to(source / folder / name)


@dataclass(frozen=True, slots=True)
class _Target:
    """A target's file, split into the list of its classes and the rest."""

    classes: tuple[str, ...]
    indent: str
    rest: str

    @property
    def count(self) -> int:
        return sum(_CLASS.fullmatch(name) is not None for name in self.classes)

    def with_classes(self, names: Sequence[str]) -> str:
        return "classes:\n" + "".join(f"{self.indent}- {name}\n" for name in names) + self.rest


def _read_target(path: Path) -> _Target | None:
    """Parse a target in the format of this program; None for any other, which stays as it is."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = path.read_bytes().decode()
        match = _TARGET.fullmatch(text)
        if match is not None:
            names = tuple(line.split("- ")[1] for line in match["list"].splitlines())
            if len(set(names)) == len(names):
                return _Target(names, match["indent"], match["rest"])
    return None


@dataclass(slots=True)
class _Plan:
    """The bundles of classes.

    `runs` are consecutive classes of a target that has all of them, `parts` their contents. A target with another class
    in between (an alias has its own defaults) gets bundles of pieces of a run: halves, quarters and so on, so that few
    bundles are needed in all, and by each target.
    """

    runs: Sequence[Sequence[str]]
    parts: Mapping[str, DefaultsClass]
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Sequence[str], files: Mapping[str, Path]) -> _Plan:
        contents = {name: read_part(files[name]) for name in names if _CLASS.fullmatch(name) and name in files}
        uses = Counter(key for part in contents.values() if part is not None for key in part.keys)
        parts = {name: part for name, part in contents.items() if part and all(uses[key] == 1 for key in part.keys)}
        runs: list[list[str]] = [[]]
        for name in names:
            if name in parts:
                runs[-1].append(name)
            elif runs[-1]:
                runs.append([])
        return cls(runs, parts)

    def shorten(self, names: Sequence[str]) -> list[str]:
        """Return the classes of a target, with bundles in place of consecutive classes of a run."""
        places = {name: (number, place) for number, run in enumerate(self.runs) for place, name in enumerate(run)}
        short: list[str] = []
        start = 0
        while start < len(names):
            end = start + 1
            if names[start] in places:
                run, first = places[names[start]]
                while end < len(names) and places.get(names[end]) == (run, first + end - start):
                    end += 1
                short += self._pieces(run, first, first + end - start)
            else:
                short.append(names[start])
            start = end
        return short

    def _pieces(self, run: int, start: int, end: int) -> Iterator[str]:
        """Yield bundles for a section of a run: one for all of it, else each of the maximum size at its position."""
        whole = len(self.runs[run])
        while start < end:
            size = end - start
            if size < whole:
                size = min(start & -start or size, size)
                size = 1 << (size.bit_length() - 1)
            name = f"{FOLDER}.{run}-{start}-{start + size}"
            self.members[name] = tuple(self.runs[run][start : start + size])
            yield name
            start += size


def read_part(path: Path) -> DefaultsClass | None:
    """Return the content of a class, if other classes can be appended as text: it only has `parameters`, a block
    indented by two blanks with plain keys, without anchors, tags or line breaks that only YAML has.
    """
    try:
        content = path.read_bytes()
        text = content.decode()
    except (OSError, UnicodeDecodeError):
        return None
    if not text.endswith("\n") or _BREAKS.search(text):
        return None
    keys = _keys(content)
    if not keys:
        return None
    lines = text.split("\n")
    return DefaultsClass(tuple(name for name, _ in keys), "\n".join(lines[keys[0][1] :]))


def _keys(content: bytes) -> list[tuple[str, int]]:
    """Return the names of the parameters and their lines; empty in unusual formats. reclass-rs uses this parser."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", None)
    keys: list[tuple[str, int]] = []
    if loader is None:
        return keys
    frames: list[bool] = []  # for each open collection, True if a key comes next
    begun = False
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(content, Loader=loader):
            if not _is_usual(event, len(frames)):
                return []
            if isinstance(event, yaml.CollectionEndEvent):
                frames.pop()
            elif isinstance(event, yaml.NodeEvent):
                if frames and len(frames) <= 2:
                    if frames[-1]:
                        name = _name(event, column=2 * len(frames) - 2)
                        if not name or (len(frames) == 1 and (begun or name != "parameters")):
                            return []
                        begun = True
                        if len(frames) == 2:
                            mark: Any = event.start_mark
                            keys.append((name, mark.line))
                    frames[-1] = not frames[-1]
                if isinstance(event, yaml.CollectionStartEvent):
                    if len(frames) < 2 and (not isinstance(event, yaml.MappingStartEvent) or event.flow_style):
                        return []
                    frames.append(True)
            elif isinstance(event, yaml.StreamEndEvent):
                return keys
    return []


def _is_usual(event: Any, depth: int) -> bool:
    import yaml

    if isinstance(event, yaml.DocumentStartEvent):
        return event.version is None and not event.tags
    if isinstance(event, yaml.DocumentEndEvent):
        return not event.explicit
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
        return False
    return depth > 0 or not isinstance(event, yaml.ScalarEvent | yaml.SequenceStartEvent)


def _name(event: Any, column: int) -> str:
    """Return the text of a plain key at its column."""
    import yaml

    if not isinstance(event, yaml.ScalarEvent) or event.style:
        return ""
    mark: Any = event.start_mark
    usual = mark.column == column and _KEY.fullmatch(event.value) and event.value.lower() not in _SPECIAL
    return str(event.value) if usual else ""
