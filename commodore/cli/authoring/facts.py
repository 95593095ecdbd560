"""Facts of a fake cluster, given by file and by flag."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import InputError, UsageError, did_you_mean
from commodore.cli.shell.console import Console
from commodore.cli.shell.lieutenant import read_dynamic_facts

if TYPE_CHECKING:
    from commodore.authoring import Facts

_KEYS = ("facts", "dynamic_facts")


def read_facts(values: Mapping[str, Any], console: Console) -> Facts:
    """The facts of `--facts`, and over them those of `--fact` and `--dynamic-fact`.

    Raises:
        InputError: the file has another form than two maps `facts` and `dynamic_facts`.
        UsageError: a `--fact` has another form than KEY=VALUE.
    """
    from commodore.authoring import Facts

    given = _read_file(values["facts_file"]) if values["facts_file"] is not None else {}
    static: dict[str, Any] = dict(given.get("facts") or {})
    for entry in values["fact"]:
        key, separator, value = entry.partition("=")
        if not separator or not key:
            raise UsageError(
                "CMD-CLI-022",
                f"--fact {entry!r} is not of the form KEY=VALUE",
                hint="write for example: --fact distribution=openshift4",
            )
        static[key] = value
    dynamic = {**(given.get("dynamic_facts") or {}), **read_dynamic_facts(values["dynamic_fact"], console)}
    return Facts(static, dynamic)


def _read_file(path: Path) -> Mapping[str, Any]:
    from commodore.base.yaml import load

    content = load(path.read_bytes(), place=str(path))
    if not isinstance(content, dict) or not all(isinstance(content.get(key) or {}, dict) for key in _KEYS):
        raise InputError(
            "CMD-CLI-023",
            f"{path} must be a map with `facts` and `dynamic_facts`, both maps",
            hint="write for example: facts: {distribution: openshift4}",
            locations=[str(path)],
        )
    for key in content:
        if key not in _KEYS:
            raise InputError(
                "CMD-CLI-024",
                f"{path} has the unknown key {key!r}",
                hint=did_you_mean(str(key), _KEYS) or "it may have `facts` and `dynamic_facts`",
                locations=[str(path)],
            )
    return content
