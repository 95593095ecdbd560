"""`jsonnetfile.json` and `jsonnetfile.lock.json`: reading and writing, one schema for both."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from commodore.base.errors import InputError, Location
from commodore.base.fields import Fields, kind_of
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
        """The package's name, which is its path below `vendor`."""
        return f"{self.remote.identity}/{self.subdir}" if self.subdir else self.remote.identity


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A local folder, relative to the folder of the jsonnetfile that names it."""

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
        """The short name under which `legacyImports` makes the package importable."""
        return self.name or self.package_name(folder).rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class JsonnetFile:
    """The content of a jsonnetfile; `dependencies` in the order of the file."""

    dependencies: tuple[JsonnetDependency, ...] = ()
    legacy_imports: bool = True

    def declared(self, folder: Path) -> dict[str, JsonnetDependency]:
        """Dependencies by package name; a repeated dependency keeps its first position, with the last value."""
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
    """Return the content of a jsonnetfile for `parse_jsonnetfile`, up to one byte more than the limit.

    Raises:
        EnvironmentFault: it cannot be read.
    """
    with guard_disk(path), path.open("rb") as file:
        return file.read(limits.jsonnetfile_bytes + 1)


def parse_jsonnetfile(content: bytes, place: str, limits: Limits) -> JsonnetFile:
    """Parse `content` as a jsonnetfile; an empty one has no dependencies. `place` is its name in errors.

    Raises:
        InputError: it is not JSON, does not follow the schema, has an unknown version or is too large.
        PolicyError: a remote, sub-folder or name in it could leave `vendor`.
    """
    if len(content) > limits.jsonnetfile_bytes:
        raise InputError(
            "CMD-JB-003",
            f"{place} is larger than {limits.jsonnetfile_bytes} bytes",
            hint="a jsonnetfile lists dependencies; it does not contain them",
            locations=[place],
        )
    if not content.strip():
        return JsonnetFile()
    value = _load(content, place)
    if not isinstance(value, dict):
        raise _malformed(f"{place} must be a mapping, not {kind_of(value)}", Location(place))
    document = _Fields(value, "", _Place(place))
    version = document.data.get("version", 0)
    if isinstance(version, bool) or not isinstance(version, int) or version not in (0, 1):
        raise InputError(
            "CMD-JB-002",
            f"{place} has the schema version {version!r}, but only 0 and 1 are known",
            hint="set `version` to 1",
            locations=[place],
        )
    entries = document.values("dependencies")
    if len(entries) > limits.bundle_packages:
        raise InputError(
            "CMD-JB-003",
            f"{place} lists {len(entries)} dependencies; at most {limits.bundle_packages} are allowed",
            hint="split it, or remove dependencies that nothing imports",
            locations=[place],
        )
    return JsonnetFile(
        tuple(_dependency(entry, limits) for entry in document.items("dependencies")),
        document.flag("legacyImports", True),
    )


def serialise(file: JsonnetFile, folder: Path) -> bytes:
    """Return the file as jsonnet-bundler writes it: dependencies sorted by name, indented by two blanks."""
    entries = file.declared(folder)
    document = {
        "version": 1,
        "dependencies": [_entry(entries[name]) for name in sorted(entries)],
        "legacyImports": file.legacy_imports,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # Go's encoder escapes these characters, which occur in strings only.
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


_SHAPE = 'a dependency looks like {"source": {"git": {"remote": URL, "subdir": FOLDER}}, "version": VERSION}'


def _malformed(message: str, place: Location) -> InputError:
    return InputError("CMD-JB-001", message, hint=_SHAPE, locations=[place])


class _Place(Location):
    """A file whose locations are keys."""

    __slots__ = ()

    def at(self, path: str = "") -> Location:
        """Return the location of the file, with a key if it is given."""
        return Location(f"{self.place}: {path}" if path else self.place)


class _Fields(Fields):
    """The fields of a jsonnetfile."""

    __slots__ = ()
    code: ClassVar[str] = "CMD-JB-001"
    advice: ClassVar[str] = _SHAPE


def _dependency(entry: _Fields, limits: Limits) -> JsonnetDependency:
    source = _source(entry.fields("source"), limits)
    version, name = entry.text("version"), entry.text("name")
    place = entry.place.at(entry.path)
    if isinstance(source, GitSource):
        check_version(version, repr(source.name), place)
    else:
        version = ""
    if name:
        check_name(name, f"legacy name {name!r}", place, limits)
    return JsonnetDependency(source, version, entry.text("sum"), entry.flag("single"), name)


def _source(source: _Fields, limits: Limits) -> GitSource | LocalSource:
    git, local = source.optional("git"), source.optional("local")
    if git is not None and local is None:
        place = git.place.at(git.path)
        remote = parse_remote(git.text("remote"), place, limits)
        return GitSource(remote, clean_subdir(git.text("subdir"), place, limits))
    if local is None or git is not None:
        raise _malformed(f"{source.path} must have either `git` or `local`", source.place.at(source.path))
    directory = local.text("directory")
    if not directory or not directory.isprintable():
        raise _malformed(f"{local.at('directory')} must name a folder", local.place.at(local.path))
    return LocalSource(directory)
