"""Everything that a case of the differential suite is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

Compared = Literal["files", "stdout", "code", "world", "compiled", "checkouts"]
Files = dict[str, str]
Step = tuple[str, ...] | Mapping[str, Mapping[str, str]]
"""Words of a command line, or files that are committed to repositories (`work`: written to the working directory)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One command line in a folder of its own.

    Args:
        command: its words; `{out}` is an empty folder, `{api}` the URL of an API that gives `clusters` and `tenants`.
        files: the texts of files by path.
        links: the targets of links by path.
        compared: besides the exit code: the files below `{out}`, what is printed, nothing, or (`world`) everything
            that a catalog compile makes: working directory, pushed commits, reports to the API; `compiled`: the
            folders of that name; `checkouts`: files, state and commits of each checkout in the working directory.
        clusters: what the API lists.
        tenants: the API's tenants; with any, it also answers about single clusters and takes reports.
        repositories: the files of repositories at `https://git.example.com/NAME.git`, committed to `master` in this
            order; `NAME@x` is a commit on the branch x, `NAME#x` one more on `master` with the tag x.
        before: what happens first.
        environment: further variables.
        allow: the codes to lower in this program.
        differs: why the outcome is another one on purpose; empty if it must be equal.
    """

    name: str
    command: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    compared: Compared = "files"
    clusters: Any = None
    allow: tuple[str, ...] = ()
    differs: str = ""
    tenants: tuple[Mapping[str, Any], ...] = ()
    repositories: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    before: tuple[Step, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def as_yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False)
