"""`.commodore.yaml` of a repository and `config.yaml` of the user: options that are always the same.

A file has options by their long names, and commands and groups with options of their own below them::

    api-url: https://api.syn.example.com
    argocd:
      installation: argocd/installation.yaml
      render:
        diagnostics: all

The repository may be another person's. Its file therefore sets no option of `USER_ONLY`, names no path outside of the
repository, and does not say where a token goes that comes from elsewhere. The user's own file may do all of that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from commodore.base.errors import CommodoreError, InputError, Location, PolicyError, did_you_mean
from commodore.cli.shell.dotenv import DESTINATIONS, USER_ONLY_VARIABLES

NAME = ".commodore.yaml"
SCHEMA = "commodore-file"

USER_ONLY = frozenset(
    {
        *(name.lower() for name in USER_ONLY_VARIABLES),
        *("adopt", "allow", "allow_conflicts", "allow_empty", "allow_mass_removal", "allow_none", "allow_older"),
        *("allow_removal", "allow_secret", "allow_unknown", "ambient_credentials", "api_token", "approve"),
        *("approved_by", "argocd_context", "argocd_kubeconfig", "auto_promotion", "callback_port", "context"),
        *("credentials", "device", "edited", "force", "github_token", "health_addr", "insecure_scheduler", "keyring"),
        *("kubeconfig", "listen", "listen_token", "metrics_addr", "other_artifacts", "pause_file", "push_credentials"),
        *("removed", "rewrite", "scheduler", "secrets", "server_dry_run", "sign", "unsynced"),
    }
)
"""Options that lower safety, carry a secret, write to others' places or say whom to trust."""

_SIZE = 1 << 20  # bytes of a file
_META = f"{__name__}.configuration"
_QUOTED = ("'", '"', "|", ">")  # styles of texts
_FREE = ("explain", "help")  # commands that explain what is wrong with a file work all the same


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
        CommodoreError: what is wrong with them.
    """
    error = configuration_of(ctx).error
    if error is not None and not set(command_words(ctx)) & set(_FREE):
        raise error


def command_words(ctx: click.Context) -> tuple[str, ...]:
    """The words of a command without the program's name."""
    words: list[str] = []
    at: click.Context | None = ctx
    while at is not None and at.parent is not None:
        words.append(at.info_name or "")
        at = at.parent
    return tuple(reversed(words))


def configured(ctx: click.Context, option: click.Option, given: Mapping[str, Any]) -> ConfigEntry | None:
    """The entry of the files that sets an option which neither the command line nor a variable sets.

    Args:
        given: values of the command line by the names of options.

    Raises:
        CommodoreError: CMD-CLI-015, an entry of a repository that is the user's to decide; CMD-CLI-016, one whose path
            leads out of the repository.
    """
    names = long_names(option)
    for file, entry in configuration_of(ctx).entries(command_words(ctx), names):
        if file.root is not None:
            _check_destination(option.name or "", entry, given, configuration_of(ctx))
        return ConfigEntry(_in_folder(option, entry, file), entry.place)
    return None


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
        if self.root is not None and name.replace("-", "_") in USER_ONLY:
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
        return node.value if node.style in _QUOTED else load(node.value or "null", place=str(self.path))

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
    root = next((one for one in folders if os.path.lexists(one / ".git")), folder)
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


def _check_destination(name: str, entry: ConfigEntry, given: Mapping[str, Any], configuration: Configuration) -> None:
    token, option = DESTINATIONS.get(name.upper(), ("", ""))
    if not token:
        return
    in_variables = any(key.endswith(f"_{token}") and value for key, value in os.environ.items())
    in_files = any(key == option[2:] for file in configuration.files for _, key in file.entries)
    if given.get(token.lower()) or in_variables or in_files:
        flag = f"--{name.replace('_', '-')}"
        raise PolicyError(
            "CMD-CLI-015",
            f"{flag} of a repository's file would get the token of {option}, which comes from elsewhere",
            hint=f"give {flag}, or set it in your own file, {user_file()}",
            locations=[entry.place],
        )


def _in_folder(option: click.Option, entry: ConfigEntry, file: ConfigFile) -> Any:
    """The value of an entry; relative paths are below the file's folder."""
    if not isinstance(option.type, click.Path):
        return entry.value
    if isinstance(entry.value, list):
        return [_path(str(value), entry, file) for value in entry.value]
    return _path(str(entry.value), entry, file)


def _path(value: str, entry: ConfigEntry, file: ConfigFile) -> str:
    path = file.path.parent / value
    if file.root is not None and not path.resolve().is_relative_to(file.root.resolve()):
        raise PolicyError(
            "CMD-CLI-016",
            f"the path {value} leads out of the repository",
            hint="name a path in the repository, or set the option in your own file",
            locations=[entry.place],
        )
    return os.path.relpath(path) if not os.path.isabs(value) else str(path)
