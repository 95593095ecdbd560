"""`jsonnetfile.json` and `jsonnetfile.lock.json`: reading and writing, one schema for both."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from commodore.base.errors import InputError, Location
from commodore.base.files.workspace import guard_disk
from commodore.base.limits import Limits
from commodore.core.dependencies.bundle.remotes import Remote, check_name, check_version, clean_subdir, parse_remote

FILE_NAME = "jsonnetfile.json"


@dataclass(frozen=True, slots=True)
class GitSource:
    """A folder of a git repository; `subdir` is empty for the whole repository."""

    remote: Remote
    subdir: str = ""

    @property
    def name(self) -> str:
        """The package's name, which is also its path below `vendor`."""
        return f"{self.remote.identity}/{self.subdir}" if self.subdir else self.remote.identity


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A folder of this machine, relative to the folder of the jsonnetfile that names it."""

    directory: str


@dataclass(frozen=True, slots=True)
class JsonnetDependency:
    """One entry of `dependencies`. `version` is empty for local sources; `name` is the legacy name, if given."""

    source: GitSource | LocalSource
    version: str = ""
    sum: str = ""
    single: bool = False
    name: str = ""

    def package_name(self, folder: Path) -> str:
        """The identity of the package. `folder` is the jsonnetfile's; local names depend on it."""
        if isinstance(self.source, GitSource):
            return self.source.name
        return Path(os.path.abspath(folder / self.source.directory)).name

    def legacy_name(self, folder: Path) -> str:
        """The short name under which `legacyImports` makes the package known."""
        return self.name or self.package_name(folder).rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class JsonnetFile:
    """The content of a jsonnetfile; `dependencies` in the order of the file."""

    dependencies: tuple[JsonnetDependency, ...] = ()
    legacy_imports: bool = True

    def declared(self, folder: Path) -> dict[str, JsonnetDependency]:
        """Dependencies by package name; a repeated one keeps its first position, with the last value."""
        return {dependency.package_name(folder): dependency for dependency in self.dependencies}


def read_jsonnetfile(path: Path, limits: Limits) -> JsonnetFile:
    """Read a jsonnetfile or a lock file.

    Raises:
        InputError: see `parse_jsonnetfile`.
        PolicyError: see `parse_jsonnetfile`.
        EnvironmentFault: it cannot be read.
    """
    return parse_jsonnetfile(read_content(path, limits), str(path), limits)


def read_content(path: Path, limits: Limits) -> bytes:
    """What is in a jsonnetfile, for `parse_jsonnetfile`; of one that is too large, enough to tell.

    Raises:
        EnvironmentFault: it cannot be read.
    """
    with guard_disk(path), path.open("rb") as file:
        return file.read(limits.jsonnetfile_bytes + 1)


def parse_jsonnetfile(content: bytes, place: str, limits: Limits) -> JsonnetFile:
    """The jsonnetfile in `content`; an empty one has no dependencies. `place` names it in errors.

    Raises:
        InputError: it is no JSON, does not follow the schema, is of an unknown version or too large.
        PolicyError: a remote, sub-folder or name in it could leave `vendor`.
    """
    if len(content) > limits.jsonnetfile_bytes:
        raise InputError(
            "CMD-JB-003",
            f"{place} is larger than {limits.jsonnetfile_bytes} bytes",
            hint="a jsonnetfile lists dependencies; it does not hold them",
            locations=[place],
        )
    if not content.strip():
        return JsonnetFile()
    reader = _Reader(place, limits)
    document = reader.table(_load(content, place), "")
    version = document.get("version", 0)
    if isinstance(version, bool) or not isinstance(version, int) or version not in (0, 1):
        raise InputError(
            "CMD-JB-002",
            f"{place} has the schema version {version!r}, but only 0 and 1 are known",
            hint="set `version` to 1",
            locations=[place],
        )
    entries = reader.array(document.get("dependencies"), "dependencies")
    if len(entries) > limits.bundle_packages:
        raise InputError(
            "CMD-JB-003",
            f"{place} lists {len(entries)} dependencies; at most {limits.bundle_packages} are allowed",
            hint="split it, or remove dependencies that nothing imports",
            locations=[place],
        )
    legacy = document.get("legacyImports")
    return JsonnetFile(
        tuple(reader.dependency(entry, f"dependencies[{index}]") for index, entry in enumerate(entries)),
        True if legacy is None else reader.flag(legacy, "legacyImports"),
    )


def serialise(file: JsonnetFile, folder: Path) -> bytes:
    """The file as jsonnet-bundler writes it: dependencies sorted by name, two blanks per level."""
    entries = file.declared(folder)
    document = {
        "version": 1,
        "dependencies": [_entry(entries[name]) for name in sorted(entries)],
        "legacyImports": file.legacy_imports,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # Go's encoder writes these as escapes, and they occur in strings only.
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text.encode() + b"\n"


def _entry(dependency: JsonnetDependency) -> dict[str, object]:
    source = dependency.source
    entry: dict[str, object] = {
        "source": {"git": {"remote": source.remote.url, "subdir": source.subdir}}
        if isinstance(source, GitSource)
        else {"local": {"directory": source.directory}},
        "version": dependency.version,
    }
    if dependency.sum:
        entry["sum"] = dependency.sum
    if dependency.single:
        entry["single"] = True
    if dependency.name:
        entry["name"] = dependency.name
    return entry


def _load(content: bytes, place: str) -> object:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise _malformed(
            f"{place} is not valid JSON: {error.msg}", Location(place, error.lineno, error.colno)
        ) from None
    except UnicodeDecodeError:
        raise _malformed(f"{place} is not valid JSON: it is not UTF-8 text", Location(place)) from None
    except (RecursionError, ValueError):
        raise _malformed(f"{place} is not a jsonnetfile: it is nested too deeply", Location(place)) from None


def _malformed(message: str, place: Location) -> InputError:
    return InputError(
        "CMD-JB-001",
        message,
        hint='a dependency looks like {"source": {"git": {"remote": URL, "subdir": FOLDER}}, "version": VERSION}',
        locations=[place],
    )


class _Reader:
    """Takes values out of a parsed file; whatever has the wrong shape is an error that names file and key."""

    def __init__(self, place: str, limits: Limits) -> None:
        self.place = place
        self.limits = limits

    def table(self, value: object, key: str) -> Mapping[str, object]:
        return value if isinstance(value, dict) else self._refuse(value, key, "an object")

    def array(self, value: object, key: str) -> list[object]:
        if value is None:
            return []
        return value if isinstance(value, list) else self._refuse(value, key, "a list")

    def text(self, value: object, key: str) -> str:
        if value is None:
            return ""
        return value if isinstance(value, str) else self._refuse(value, key, "a string")

    def flag(self, value: object, key: str) -> bool:
        return value if isinstance(value, bool) else self._refuse(value, key, "true or false")

    def dependency(self, value: object, key: str) -> JsonnetDependency:
        entry = self.table(value, key)
        source = self._source(self.table(entry.get("source"), f"{key}.source"), f"{key}.source")
        version = self.text(entry.get("version"), f"{key}.version")
        name = self.text(entry.get("name"), f"{key}.name")
        place = Location(f"{self.place}: {key}")
        if isinstance(source, GitSource):
            check_version(version, repr(source.name), place)
        else:
            version = ""
        if name:
            check_name(name, f"legacy name {name!r}", place, self.limits)
        single = entry.get("single")
        return JsonnetDependency(
            source,
            version,
            self.text(entry.get("sum"), f"{key}.sum"),
            single is not None and self.flag(single, f"{key}.single"),
            name,
        )

    def _source(self, source: Mapping[str, object], key: str) -> GitSource | LocalSource:
        git, local = source.get("git"), source.get("local")
        if (git is None) == (local is None):
            raise _malformed(f"{self.place}: {key} must have either `git` or `local`", Location(f"{self.place}: {key}"))
        if git is not None:
            table = self.table(git, f"{key}.git")
            place = Location(f"{self.place}: {key}.git")
            remote = parse_remote(self.text(table.get("remote"), f"{key}.git.remote"), place, self.limits)
            subdir = clean_subdir(self.text(table.get("subdir"), f"{key}.git.subdir"), place, self.limits)
            return GitSource(remote, subdir)
        directory = self.text(self.table(local, f"{key}.local").get("directory"), f"{key}.local.directory")
        if not directory or not directory.isprintable():
            raise _malformed(
                f"{self.place}: {key}.local.directory must name a folder", Location(f"{self.place}: {key}.local")
            )
        return LocalSource(directory)

    def _refuse(self, value: object, key: str, expected: str) -> NoReturn:
        found = "nothing" if value is None else json.dumps(value, ensure_ascii=False)[:60]
        where = f"{self.place}: {key}" if key else self.place
        raise _malformed(f"{where} must be {expected}, found {found}", Location(where))
