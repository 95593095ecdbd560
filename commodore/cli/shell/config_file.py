"""`.commodore.yaml` of a repository and `config.yaml` of the user: options that are always the same.

A file has options by their long names, and commands and groups with options of their own below them::

    argocd:
      installation: argocd/installation.yaml
      render:
        strip: [/status]

The repository may be another person's, and a pull request may bring the file. It therefore sets options of
`OF_REPOSITORIES` alone, and names no path outside of the repository. The user's own file sets any option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from commodore.base.errors import CommodoreError, InputError, Location, PolicyError, did_you_mean

NAME = ".commodore.yaml"
SCHEMA = "commodore-file"

OF_REPOSITORIES = frozenset(
    {
        *("api-version", "api-versions-from-tree", "argocd-settings", "argocd-version", "avp", "changed-ignore"),
        *("changed-include", "cluster-scoped", "cluster-value", "coalesce", "commit-date", "copyright", "discovery"),
        *("dry-sources", "entry", "exact-tools", "facts", "fixed-time", "fold", "follow-renames", "hide", "hooks"),
        *("ignore-path", "ignore-patterns", "ignore-rules", "image-pointer", "immutable", "installation"),
        *("kube-version", "lenient", "linter", "mask-kind", "max-depth", "message-template", "options-in-git"),
        *("order", "project", "readme-template", "search-paths", "self-revisions", "self-url", "set-namespace"),
        *("strict", "strict-changed-only", "strip", "template-engine", "values", "verify-dry", "wave-level"),
    }
)
"""Options that describe a repository: its file may set these.

None of them runs a program, says where something is fetched, sent, written or pushed, carries or moves a secret,
narrows a run, widens a limit, turns an error into a success, or is about the machine or the user.
"""
STRICTER = frozenset({"exact-tools", "mask-kind", "options-in-git", "strict", "strict-changed-only", "verify-dry"})
"""Options of repositories that make a run safer: where the user's own file sets one, a repository cannot lower it."""

_SIZE = 1 << 20  # bytes of a file
_META = f"{__name__}.configuration"
_QUOTED = ("'", '"', "|", ">")  # styles of texts
_FREE = (("explain",), ("help",))  # commands that explain problems of a file work nevertheless


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """An option that a file sets.

    Attributes:
        value: as the file has it; relative paths are those of the file's folder.
        place: the file and the line.
    """

    value: Any
    place: Location


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file with options.

    Attributes:
        root: the folder of the repository that paths must stay in; None for the user's own file.
        entries: by the words of a command or group and the option's name without `--`.
    """

    path: Path
    root: Path | None
    entries: Mapping[tuple[tuple[str, ...], str], ConfigEntry]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The files that count, the strongest first, and the error of the first one that cannot be used."""

    files: tuple[ConfigFile, ...] = ()
    error: CommodoreError | None = None

    def entries(self, words: Sequence[str], names: Sequence[str]) -> Iterator[tuple[ConfigFile, ConfigEntry]]:
        """The entries that set an option of a command, the strongest first.

        Args:
            words: of the command, without the program's name.
            names: the option's long names, without `--`.
        """
        for file in self.files:
            for end in range(len(words), -1, -1):
                for name in names:
                    if (entry := file.entries.get((tuple(words[:end]), name))) is not None:
                        yield file, entry


def configuration_of(ctx: click.Context) -> Configuration:
    """The files of this run: the program's context begins with them. Without, as in the help's pages, none count."""
    root = ctx.find_root()
    if _META not in root.meta:
        root.meta[_META] = root.obj if isinstance(root.obj, Configuration) else Configuration()
    configuration: Configuration = root.meta[_META]
    return configuration


def read_configuration(folder: Path, environ: Mapping[str, str] = os.environ) -> Configuration:
    """The files of a run. An error of theirs is for `check_configuration` to raise: some commands work all the same.

    Args:
        folder: the current directory.
    """
    try:
        return Configuration(tuple(read_config(path, root) for path, root in _places(folder, environ)))
    except CommodoreError as error:
        return Configuration((), error)


def check_configuration(ctx: click.Context) -> None:
    """See that the files of a run could be read, unless the command only explains something.

    Raises:
        CommodoreError: their errors.
    """
    error = configuration_of(ctx).error
    if error is not None and command_words(ctx) not in _FREE:
        raise error


def command_words(ctx: click.Context) -> tuple[str, ...]:
    """The words of a command without the program's name."""
    words: list[str] = []
    at: click.Context | None = ctx
    while at is not None and at.parent is not None:
        words.append(at.info_name or "")
        at = at.parent
    return tuple(reversed(words))


def configured(ctx: click.Context, option: click.Option) -> ConfigEntry | None:
    """The entry of the files that sets an option which neither the command line nor a variable sets.

    Raises:
        PolicyError: CMD-CLI-016, the path of a repository's entry leads out of it.
    """
    names = long_names(option)
    entries = list(configuration_of(ctx).entries(command_words(ctx), names))
    if STRICTER.intersection(names):
        entries.sort(key=lambda entry: entry[0].root is not None)
    return next((ConfigEntry(_in_folder(option, entry, file), entry.place) for file, entry in entries), None)


def long_names(option: click.Option) -> list[str]:
    """The names of an option in a file: its long ones that are shown, without `--`."""
    hidden = getattr(option, "hidden_flags", ())
    return [flag[2:] for flag in option.opts if flag.startswith("--") and flag not in hidden]


def read_config(path: Path, root: Path | None) -> ConfigFile:
    """Read a file.

    Args:
        root: see `ConfigFile`.

    Raises:
        InputError: CMD-CLI-013, it cannot be read; CMD-CLI-014, it has a name that fits nothing.
        PolicyError: CMD-CLI-015, an option that the user alone may set.
    """
    from commodore.base.yaml import compose

    try:
        if not path.is_file():  # a link to a terminal would be waited for
            raise ValueError("it is not a file")
        with path.open("rb") as opened:
            content = opened.read(_SIZE + 1)
        if len(content) > _SIZE:
            raise ValueError(f"it has more than {_SIZE} bytes")
        nodes = compose(content, place=str(path))
        if len(nodes) > 1:
            raise ValueError("it has more than one document")
    except CommodoreError as error:
        raise InputError(
            "CMD-CLI-013", error.message, hint=error.hint, locations=error.locations or [str(path)]
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(
            "CMD-CLI-013",
            f"the file {path} cannot be read: {error}",
            hint="correct or remove it",
            locations=[str(path)],
        ) from error
    reader = _Reader(path, root)
    entries = dict(reader.section(nodes[0], reader.schema, ())) if nodes and not _is_null(nodes[0]) else {}
    return ConfigFile(path, root, entries)


class _Reader:
    """Reads the nodes of a file by the published schema, which has all commands and their options."""

    def __init__(self, path: Path, root: Path | None) -> None:
        from commodore.base.yaml.json_schemas import published_schema

        self.path = path
        self.root = root
        self.schema = published_schema(SCHEMA)
        self.definitions: dict[str, Any] = self.schema["$defs"]

    def section(
        self, node: Any, schema: Mapping[str, Any], words: tuple[str, ...]
    ) -> Iterator[tuple[tuple[tuple[str, ...], str], ConfigEntry]]:
        """The entries of a command or a group and of all below it."""
        where = " ".join(words) or "the file"
        if not isinstance(node.value, list) or node.id != "mapping":
            raise self._error(node, f"{where} must be a map of options and commands")
        known: dict[str, Any] = schema["properties"]
        names: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in names:
                raise self._error(key, f"{where} has '{name}' twice", "keep one of them")
            names.add(name)
            if name not in known:
                hint = did_you_mean(name, known) or "`commodore help` and the help of a command list the names"
                raise self._error(key, f"{where} has no option and no command '{name}'", hint)
            part = self.definitions[known[name]["$ref"].rpartition("/")[2]] if "$ref" in known[name] else known[name]
            if "properties" in part:
                yield from self.section(value, part, (*words, name))
            else:
                yield (words, name), self._entry(name, value)

    def _entry(self, name: str, node: Any) -> ConfigEntry:
        place = self._place(node)
        if self.root is not None and name not in OF_REPOSITORIES:
            raise PolicyError(
                "CMD-CLI-015",
                f"{name} is for the user to decide, not for a file of a repository",
                hint=f"give --{name}, or set it in your own file, {user_file()}",
                locations=[place],
            )
        return ConfigEntry(self._value(node), place)

    def _value(self, node: Any) -> Any:
        from commodore.base.yaml import load

        if node.id == "sequence":
            return [self._value(inner) for inner in node.value]
        if node.id == "mapping":
            raise self._error(node, "the value of an option must not be a map")
        if node.style in _QUOTED:
            return node.value
        value = load(node.value or "null", place=str(self.path))
        # A version such as 1.30 must not lose its last digit, so numbers that would be written differently stay text.
        return value if value is None or isinstance(value, bool) or str(value) == node.value else node.value

    def _place(self, node: Any) -> Location:
        return Location(str(self.path), node.start_mark.line + 1, node.start_mark.column + 1)

    def _error(self, node: Any, message: str, hint: str = "") -> InputError:
        return InputError("CMD-CLI-014", message, hint=hint, locations=[self._place(node)])


def user_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own file."""
    folder = environ.get("XDG_CONFIG_HOME") or ""
    base = Path(folder) if os.path.isabs(folder) else Path(environ.get("HOME") or "~").expanduser() / ".config"
    return base / "commodore" / "config.yaml"


def _places(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, Path | None]]:
    """The files that exist: that of the repository, with its root, and the user's."""
    folders = [folder, *folder.parents]
    root = next((item for item in folders if os.path.lexists(item / ".git")), folder)
    for parent in folders:
        if os.path.lexists(parent / NAME):
            yield parent / NAME, root
            break
        if parent == root:
            break
    if os.path.lexists(own := user_file(environ)):
        yield own, None


def _is_null(node: Any) -> bool:
    return bool(node.id == "scalar" and node.tag.endswith(":null"))


def _in_folder(option: click.Option, entry: ConfigEntry, file: ConfigFile) -> Any:
    """The value of an entry; relative paths are below the file's folder."""
    if not isinstance(option.type, click.Path):
        return entry.value
    if isinstance(entry.value, list):
        return [_path(value, entry, file) for value in entry.value]
    return _path(entry.value, entry, file)


def _path(value: Any, entry: ConfigEntry, file: ConfigFile) -> Any:
    if value is None or isinstance(value, bool):
        return value  # no path: whoever converts it says so
    value = str(value)
    if "\0" in value:
        raise InputError("CMD-CLI-014", "a path must not have a zero byte", locations=[entry.place])
    path = file.path.parent / value
    if file.root is not None and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(file.root)):
        raise PolicyError(
            "CMD-CLI-016",
            f"the path {value} leads out of the repository",
            hint="name a path in the repository, or set the option in your own file",
            locations=[entry.place],
        )
    return os.path.relpath(path) if not os.path.isabs(value) else str(path)
