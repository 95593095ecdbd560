"""`commodore cache`: content, cleanup and verification of the caches."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import UsageError
from commodore.base.printable import counted, printable_lines
from commodore.cli.machine.cache_settings import CACHE_INFO, CACHE_KEY, CACHE_PRUNE, CACHE_VERIFY
from commodore.cli.shell.console import console_of
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.core.results.caches.maintenance import Pruned, Survey, Verified


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The contents of the caches.

    Attributes:
        sections: the parts of the cache; `oldest` and `newest` are moments in UTC.
    """

    folder: Path
    sections: Sequence[Survey]


@dataclass(frozen=True, slots=True)
class CachePruned:
    """The entries that went, or with `--dry-run` would go."""

    dry_run: bool
    sections: Sequence[Pruned]


@dataclass(frozen=True, slots=True)
class CacheVerified:
    """The entries that were read again; damaged ones were removed, unless it is a `--dry-run`."""

    dry_run: bool
    sections: Sequence[Verified]


@click.group(
    cls=LazyGroup,
    lazy={
        "info": LazyCommand("commodore.cli.machine.cache:cache_info", "Show the content of the caches."),
        "prune": LazyCommand("commodore.cli.machine.cache:cache_prune", "Remove entries that were not used recently."),
        "key": LazyCommand(
            "commodore.cli.machine.cache:cache_key", "Show the line that trusts a key of the remote cache."
        ),
        "verify": LazyCommand(
            "commodore.cli.machine.cache:cache_verify", "Verify all entries, and remove damaged ones."
        ),
    },
)
@options()
def cache() -> None:
    """Manage the caches that all working directories share.

    They are in `$XDG_CACHE_HOME/commodore`, and may be removed at any time: missing entries are recreated.
    """


@click.command("info")
@options(*CACHE_INFO)
@click.pass_context
def cache_info(ctx: click.Context, /, **values: Any) -> None:
    """Show the content of the caches: entries, sizes, and times of the last use."""
    if values["remote"]:
        from commodore.cli.machine.remote_cache import show_info

        show_info(console_of(ctx), values)
        return
    from commodore.cli.machine.cache_rooms import stores
    from commodore.core.results.caches import cache_folder
    from commodore.core.results.caches.maintenance import survey

    console = console_of(ctx)
    result = survey(stores(console.context))
    if values["output_format"] == "json":
        console.document("cache-info", CacheInfo(cache_folder(), result))
        return
    console.result(printable_lines(str(cache_folder())))
    rows = [("", "entries", "size", "last used", "oldest use")]
    rows += [_survey_row(item) for item in result if item.bytes or item.entries or item.elsewhere]
    rows.append(("total", "", _size(sum(item.bytes for item in result)), "", ""))
    for line in _table(rows, frozenset({1, 2})):
        console.result(line)


@click.command("prune")
@options(*CACHE_PRUNE)
@click.pass_context
def cache_prune(ctx: click.Context, /, **values: Any) -> None:
    """Remove entries that were not used for 30 days, or that the options select.

    Runs may go on meanwhile. Installed tools and tokens stay.
    """
    from commodore.base.limits import DEFAULT_LIMITS
    from commodore.base.values.units import parse_age, parse_size
    from commodore.cli.machine.cache_rooms import stores
    from commodore.core.results.caches.maintenance import PruneRules, prune

    console = console_of(ctx)
    age, size = values["older_than"], values["max_size"]
    if values["everything"] and (age is not None or size is not None):
        raise UsageError(
            "CMD-CACHE-004", "--all cannot be combined with --older-than and --max-size", hint="give one of them"
        )
    rules = PruneRules(
        parse_age(age) if age is not None else None,
        parse_size(size) if size is not None else None,
        everything=values["everything"],
    )
    if rules == PruneRules():
        rules = PruneRules.usual(DEFAULT_LIMITS)
    if values["remote"]:
        from commodore.cli.machine.remote_cache import show_pruned

        show_pruned(console, values, rules)
        return
    with console.working():
        done = prune(stores(console.context), rules, console.context, dry_run=values["dry_run"])
    if values["output_format"] == "json":
        console.document("cache-prune", CachePruned(values["dry_run"], done))
        return
    rows = [("", "would go" if values["dry_run"] else "removed", "size", "left", "size")]
    rows += [
        (item.name, str(item.removed), _size(item.removed_bytes), str(item.left), _size(item.left_bytes))
        for item in done
    ]
    for line in _table(rows, frozenset({1, 2, 3, 4})) if done else ():
        console.result(line)
    count, freed = sum(item.removed for item in done), sum(item.removed_bytes for item in done)
    verb = "Would remove" if values["dry_run"] else "Removed"
    console.status(f"{verb} {counted(count, 'entry', 'entries')}, {_size(freed)}.")


@click.command("key")
@click.argument("file", type=click.Path(path_type=Path))
@options(*CACHE_KEY)
@click.pass_context
def cache_key(ctx: click.Context, /, file: Path, new: bool) -> None:
    """Show the line for the file of --cache-trust that lets results be used which this private key has signed."""
    from commodore.base.files.workspace import guard_disk
    from commodore.core.results.remote_store import new_key, read_signer

    if new:
        with guard_disk(file), open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(new_key())
    console_of(ctx).data(read_signer(file).trust_line)


@click.command("verify")
@options(*CACHE_VERIFY)
@click.pass_context
def cache_verify(ctx: click.Context, /, **values: Any) -> int:
    """Verify all entries of the caches, and remove damaged ones.

    Runs verify the entries that they use, and recreate damaged ones; this checks all. The exit code is 1 if
    something was damaged.
    """
    from commodore.cli.machine.cache_rooms import stores
    from commodore.core.results.caches.maintenance import verify

    console, dry_run = console_of(ctx), values["dry_run"]
    if values["remote"]:
        from commodore.cli.machine.remote_cache import show_verified

        return show_verified(console, values)
    with console.working():
        result = verify(stores(console.context), console.context, dry_run=dry_run)
    damaged = [path for item in result for path in item.damaged]
    if values["output_format"] == "json":
        console.document("cache-verify", CacheVerified(dry_run, result))
        return 1 if damaged else 0
    for path in damaged:
        console.result(f"damaged: {printable_lines(str(path))}")
    count = sum(item.entries for item in result)
    outcome = f"{len(damaged)} damaged" + (", and removed" if not dry_run else "") if damaged else "all are sound"
    console.status(f"Verified {counted(count, 'entry', 'entries')}: {outcome}.")
    return 1 if damaged else 0


def _survey_row(item: Survey) -> tuple[str, str, str, str, str]:
    from commodore.base.values.units import age_text

    now = time.time()
    if item.elsewhere:
        return item.name, "", "", "a link that leads out of the cache", ""
    if item.entries is None:
        return item.name, "", _size(item.bytes), "see 'commodore tool list'", ""
    ages = [age_text(now - seconds) if seconds is not None else "" for seconds in (item.newest, item.oldest)]
    return item.name, str(item.entries), _size(item.bytes), ages[0], ages[1]


def _size(size: int) -> str:
    from commodore.base.values.units import size_text

    return size_text(size)


def _table(rows: Sequence[Sequence[str]], right: frozenset[int]) -> list[str]:
    """Columns; those named by their index are set to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        texts = [
            text.rjust(width) if column in right else text.ljust(width) for column, (text, width) in enumerate(cells)
        ]
        lines.append("  ".join(texts).rstrip())
    return lines
