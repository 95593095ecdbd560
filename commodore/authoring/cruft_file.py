"""`.cruft.json`: the template of a repository, its commit, and its arguments."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.values.commits import is_commit

NAME = ".cruft.json"


@dataclass(frozen=True, slots=True)
class CruftFile:
    """The content of `.cruft.json`.

    Attributes:
        template: URL of the template.
        commit: the template's commit (full id) of the repository's files.
        checkout: the requested revision; None for the default branch.
        arguments: all arguments of the template, including derived ones, `_template` and `_commit`.
        directory: folder of the template in its repository; None for the root.
        skip: paths or patterns of files that updates do not change.
        other: everything else in the file, which is kept.
    """

    template: str
    commit: str
    checkout: str | None
    arguments: Mapping[str, Any]
    directory: str | None = None
    skip: tuple[str, ...] = ()
    other: Mapping[str, Any] | None = None

    def at(self, commit: str, checkout: str | None, arguments: Mapping[str, Any]) -> CruftFile:
        """Return the file after an update."""
        return replace(self, commit=commit, checkout=checkout, arguments=arguments)

    def to_bytes(self) -> bytes:
        """Return the file as bytes: cruft's keys in cruft's order, indented by two, with a newline at the end."""
        other = dict(self.other or {})
        context = {"cookiecutter": dict(self.arguments), **other.pop("context", {})}
        content = {
            "template": self.template,
            "commit": self.commit,
            "checkout": self.checkout,
            "context": context,
            "directory": self.directory,
            **({"skip": list(self.skip)} if self.skip else {}),
            **other,
        }
        return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()


def read_cruft_file(folder: Path, context: Context) -> CruftFile:
    """Read `.cruft.json` of a repository.

    Raises:
        InputError: it does not exist, or was not written by cruft or commodore.
    """
    path = folder / NAME
    if not path.is_file():
        raise InputError(
            "CMD-TPL-010",
            f"{folder} has no {NAME}, so it was not made from a template",
            hint="check the folder: it must be made by 'component new' or 'package new'",
        )
    if path.stat().st_size > context.limits.cruft_file_bytes:
        raise _invalid(path, f"it has more than {context.limits.cruft_file_bytes} bytes")
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _invalid(path, f"it is not JSON: {error}") from error
    return _parse(path, content)


def read_skips(folder: Path, cruft: CruftFile) -> tuple[str, ...]:
    """Return the paths that updates do not change: `skip` of `.cruft.json` and of `[tool.cruft]` in `pyproject.toml`.

    Raises:
        InputError: an entry is not a relative path or pattern.
    """
    path = folder / "pyproject.toml"
    listed: Any = []
    if path.is_file():
        try:
            listed = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("cruft", {}).get("skip", [])
        except (ValueError, AttributeError, RecursionError) as error:
            raise _invalid(path, str(error)) from error
    return tuple(dict.fromkeys((*cruft.skip, *_skip_list(path, listed))))


def _parse(path: Path, content: Any) -> CruftFile:
    if not isinstance(content, dict):
        raise _invalid(path, "it is not a JSON object")
    other = dict(content)
    template, commit, checkout = other.pop("template", None), other.pop("commit", None), other.pop("checkout", None)
    context = other.get("context")
    if not isinstance(template, str) or not template:
        raise _invalid(path, "'template' is not the URL of a template")
    if not isinstance(commit, str) or not is_commit(commit):
        raise _invalid(path, "'commit' is not a commit's full id")
    if checkout is not None and not isinstance(checkout, str):
        raise _invalid(path, "'checkout' is neither a revision nor null")
    if not isinstance(context, dict) or not isinstance(context.get("cookiecutter"), dict):
        raise _invalid(path, "'context.cookiecutter' does not hold the template's arguments")
    directory = other.pop("directory", None)
    if directory is not None and not (isinstance(directory, str) and _is_below(directory)):
        raise _invalid(path, "'directory' is neither a folder of the template's repository nor null")
    skip = _skip_list(path, other.pop("skip", None) or [])
    arguments = context["cookiecutter"]
    other["context"] = {name: value for name, value in context.items() if name != "cookiecutter"}
    return CruftFile(template, commit, checkout, arguments, directory or None, skip, other)


def _skip_list(path: Path, listed: Any) -> tuple[str, ...]:
    listed = [listed] if isinstance(listed, str) else listed
    if not isinstance(listed, list) or not all(isinstance(entry, str) and _is_below(entry) for entry in listed):
        raise _invalid(path, "'skip' is not a list of relative paths")
    return tuple(listed)


def _is_below(text: str) -> bool:
    path = PurePosixPath(text)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in text


def _invalid(path: Path, reason: str) -> InputError:
    return InputError(
        "CMD-TPL-011",
        f"{path} is invalid: {reason}",
        hint="restore its last valid version from git, or correct it",
        locations=[str(path)],
    )
