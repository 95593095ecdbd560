"""List of repositories: one YAML document with a list of `owner/repository`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from commodore.authoring.sync.model import Item
from commodore.base.context import Context
from commodore.base.errors import InputError, Location, UsageError
from commodore.base.events import Warned
from commodore.base.printable import only_printable
from commodore.base.yaml import load

_ENTRY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+")
_SHOWN = 100


def read_list(path: Path, expression: str, context: Context) -> list[Item]:
    """Return the entries of a list that match the regular expression (search), each repository once, in order.

    Invalid entries become items with an error, so that they do not end the run.

    Raises:
        InputError: the file cannot be read, or is not a list.
        UsageError: `expression` is not a regular expression.
    """
    try:
        pattern = re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(
            "CMD-SYNC-005",
            f"--filter {expression!r} is not a regular expression: {error}",
            hint="a plain part of the name is one; write '.', '+', '*', '(' and '[' as '\\.' and so on",
        ) from error
    items: list[Item] = []
    seen: set[str] = set()
    for position, entry in enumerate(_entries(path, context), 1):
        item = _item(path, position, entry)
        if not pattern.search(item.name):
            continue
        if item.error is None and item.name.lower() in seen:
            context.announce(
                Warned(
                    "CMD-SYNC-008",
                    f"entry {position} of {path}, {item.name}, is listed more than once",
                    hint="it is synced once; remove the others",
                )
            )
            continue
        seen.add(item.name.lower())
        items.append(item)
    return items


def _entries(path: Path, context: Context) -> list[Any]:
    try:
        with path.open("rb") as file:
            text = file.read(context.limits.sync_list_bytes + 1)
    except OSError as error:
        raise InputError(
            "CMD-SYNC-002", f"the list {path} cannot be read: {error.strerror}", hint="check its name and permissions"
        ) from error
    if len(text) > context.limits.sync_list_bytes:
        raise InputError(
            "CMD-SYNC-002",
            f"the list {path} has more than {context.limits.sync_list_bytes} bytes",
            hint="check that it is the right file, else split it",
        )
    content = load(text, place=str(path))
    if not isinstance(content, list):
        raise InputError(
            "CMD-SYNC-003",
            f"{path} holds a {type(content).__name__.lower()} where a list is expected",
            hint="write one line per repository, like '- owner/component-name'",
            locations=[str(path)],
        )
    return content


def _item(path: Path, position: int, entry: Any) -> Item:
    if isinstance(entry, str) and _ENTRY.fullmatch(entry) and entry.partition("/")[2] not in (".", "..", ".git"):
        return Item(position, entry)
    if isinstance(entry, (dict, list)):
        shown = f"a {type(entry).__name__}"
    else:
        shown = repr(only_printable(str(entry)[:_SHOWN], "?"))
        shown += "" if isinstance(entry, str) else f" (a {type(entry).__name__.lower()})"
    error = InputError(
        "CMD-SYNC-004",
        f"entry {position} of {path}, {shown}, does not name a repository",
        hint="write it as 'owner/repository'",
        locations=[Location(str(path))],
    )
    return Item(position, shown, error)
