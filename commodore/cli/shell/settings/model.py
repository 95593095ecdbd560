"""Options and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "switch", "count", "integer", "percent", "seconds", "path", "folder", "file", "choice", "report"]
Source = Literal["command line", "environment", "configuration file", "default"]

ENVIRONMENT_PREFIX = "COMMODORE"


@dataclass(frozen=True, slots=True)
class Setting:
    """One option.

    `flags` as typed (`--push`, or `--force/--no-force` for a pair); `kind` says what its value is (a `folder` or
    `file` must exist, a `report` is a file in one of the forms `choices`); `multiple` options repeat; a `secret` value
    is never shown. `aliases` are further names that are taken and not shown. An option with `bare` may be given without
    a value, and has this one then. One that `narrows` limits what a command does: without it more would be done, so an
    empty value of it is an error. One that is `in_files` describes a repository, not a run: `.commodore.yaml` or a
    variable sets it, not the command line.
    """

    name: str
    flags: tuple[str, ...]
    help: str
    kind: Kind = "text"
    default: Any = None
    environment: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    multiple: bool = False
    secret: bool = False
    aliases: tuple[str, ...] = ()
    bare: str | None = None
    narrows: bool = False
    in_files: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an option and its source, for messages."""

    setting: Setting
    value: Any
    source: Source

    def describe(self) -> str:
        """The option and its source in words, for messages; never the value of a secret."""
        shown = "…" if self.setting.secret else repr(self.value)
        return f"{self.setting.flags[-1].split('/')[0]} = {shown} ({self.source})"


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one invocation, by name."""

    values: Mapping[str, Value]

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    def source(self, name: str) -> Source:
        """The source of a setting's value."""
        return self.values[name].source
