"""The merged `applications` of a target (docs/adr/0006).

reclass-rs remembers a removal (`~name`) without effect and applies it to the *next* `name`. Here, a removal only
removes earlier entries, and a later include wins. So lists that contain removals are merged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commodore.base.context import Context
from commodore.base.events import Warned
from commodore.base.strictness import OPTION

_CODE = "CMD-INV-007"

Lists = Sequence[Sequence[str]]


def has_removals(lists: Iterable[Iterable[str]]) -> bool:
    """Check if any list has removals, so that `merge_applications` is needed."""
    return any(entry.startswith("~") for entries in lists for entry in entries)


def merge_applications(lists: Lists, rendered: tuple[str, ...], context: Context) -> tuple[str, ...]:
    """Merge the `applications` of classes and targets given in merge order.

    Args:
        lists: the lists of the classes that a target includes, in merge order, and last the target's own.
        rendered: the result of reclass-rs. It is used to check that the lists are those of reclass-rs; if they are
            not, it is returned.
        context: announces every entry that reclass-rs would have removed.
    """
    if not has_removals(lists):
        return rendered
    if set(_merge_with_memory(lists)) != set(rendered):
        context.announce(
            Warned(
                "CMD-INV-016",
                "cannot determine the merge order of `applications` and their removals; reclass's own result is used",
                hint="a '~' entry before its include removes it here; put it into a class that is merged later",
            )
        )
        return rendered
    merged: dict[str, None] = {}
    for entry in (entry for entries in lists for entry in entries):
        if entry.startswith("~"):
            merged.pop(entry[1:], None)
        else:
            merged.setdefault(entry)
    swallowed = sorted(set(merged) - set(rendered))
    if swallowed and _CODE in context.allowed:
        listed = ", ".join(map(repr, swallowed))
        context.announce(Warned(_CODE, f"{listed} in `applications` comes after its removal and is left out: allowed"))
        return rendered
    for entry in swallowed:
        context.announce(
            Warned(
                _CODE,
                f"{entry!r} in `applications` comes after its removal '~{entry}' and is therefore included",
                hint="remove the '~' entry if it is intended, or move it after the include if it should be removed; "
                f"{OPTION} {_CODE} leaves it out, as syn-commodore does",
            )
        )
    return tuple(merged)


def _merge_with_memory(lists: Lists) -> list[str]:
    """Merge the lists like reclass-rs: a removal without effect applies to the next entry of its name."""
    merged: list[str] = []
    waiting: list[str] = []
    for entries in lists:
        own: list[str] = []
        removed: list[str] = []
        for entry in entries:
            _put(entry, own, removed)
        for entry in (*(f"~{name}" for name in removed), *own):
            _put(entry, merged, waiting)
    return merged


def _put(entry: str, items: list[str], waiting: list[str]) -> None:
    name = entry.removeprefix("~")
    if entry.startswith("~"):
        if name in items:
            items.remove(name)
        elif name not in waiting:
            waiting.append(name)
    elif name in waiting:
        waiting.remove(name)
    elif name not in items:
        items.append(name)
