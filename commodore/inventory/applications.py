"""The merged `applications` of a target (C5-C7).

reclass-rs remembers a removal (`~name`) that met nothing to remove and lets it swallow the *next* `name`. The rule
is the
opposite: a removal takes away earlier entries only, a later include wins. So lists that contain removals are merged
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commodore.events import Announce, Warned
from commodore.manifests import load_all


def merge_applications(files: Sequence[Path], rendered: tuple[str, ...], announce: Announce) -> tuple[str, ...]:
    """Merge the `applications` of class and target files given in merge order.

    Args:
        files: the files of the classes a target includes, in merge order, and last the target's own.
        rendered: what reclass made of them; returned as it is when no file removes anything.
        announce: hears of every entry that reclass-rs would have swallowed.
    """
    lists = [entries for path in files if (entries := _applications(path))]
    if not any(entry.startswith("~") for entries in lists for entry in entries):
        return rendered
    merged: dict[str, None] = {}
    for entries in lists:
        for entry in entries:
            if entry.startswith("~"):
                merged.pop(entry[1:], None)
            else:
                merged.setdefault(entry)
    for entry in sorted(set(merged) - set(rendered)):
        announce(
            Warned(
                "CMD-INV-007",
                f"{entry!r} in `applications` comes after its removal '~{entry}' and is therefore included",
                hint="remove the '~' entry if it is meant, or move it after the include if it should be removed",
            )
        )
    return tuple(merged)


def _applications(path: Path) -> list[str]:
    content = path.read_bytes()
    if b"applications" not in content:
        return []
    documents: list[Any] = load_all(content, place=str(path))
    if not documents or not isinstance(documents[0], dict):
        return []
    entries = documents[0].get("applications")
    return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []
