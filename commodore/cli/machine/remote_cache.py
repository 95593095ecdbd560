"""`commodore cache info`, `prune` and `verify` with `--remote`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commodore.base.errors import UsageError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import counted, printable_lines
from commodore.base.values.units import age_text, size_text
from commodore.cli.shell.compile_options import trust_options
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.core.results.caches.maintenance import PruneRules
    from commodore.core.results.remote_store import RemoteMaintenance
    from commodore.core.results.remote_store.maintenance import RemotePruned, RemoteSurvey, RemoteVerified


@dataclass(frozen=True, slots=True)
class RemoteInfo:
    """The contents of remote stores; `oldest` and `newest` are moments in UTC."""

    stores: Sequence[RemoteSurvey]


@dataclass(frozen=True, slots=True)
class RemotePrune:
    """The objects that went from remote stores, or with `--dry-run` would go."""

    dry_run: bool
    stores: Sequence[RemotePruned]


@dataclass(frozen=True, slots=True)
class RemoteVerify:
    """The objects of remote stores that were read again; damaged ones were removed, unless it is a `--dry-run`."""

    dry_run: bool
    stores: Sequence[RemoteVerified]


def show_info(console: Console, values: Mapping[str, Any]) -> None:
    """Show the content of the stores."""
    with console.working():
        results = [store.survey() for store in _stores(values)]
    if values["output_format"] == "json":
        console.document("cache-info-remote", RemoteInfo(results))
        return
    for result in results:
        ages = [age_text(time.time() - moment) for moment in (result.newest, result.oldest) if moment is not None]
        written = f", written {' to '.join(dict.fromkeys(ages))}" if ages else ""
        console.result(f"{printable_lines(result.url)}: {_objects(result.objects)}, {size_text(result.bytes)}{written}")


def show_pruned(console: Console, values: Mapping[str, Any], rules: PruneRules) -> None:
    """Remove objects by the rules. The age of an object is counted from its writing, as reads are not recorded."""
    dry_run: bool = values["dry_run"]
    before = time.time() - rules.older_than if rules.older_than is not None else None
    most = 0 if rules.everything else rules.max_bytes
    with console.working():
        results = [store.prune(before, most, dry_run=dry_run) for store in _stores(values)]
    if values["output_format"] == "json":
        console.document("cache-prune-remote", RemotePrune(dry_run, results))
        return
    verb = "would remove" if dry_run else "removed"
    for result in results:
        left = f"{_objects(result.left)} left, {size_text(result.left_bytes)}"
        removed = f"{verb} {_objects(result.removed)}, {size_text(result.removed_bytes)}"
        console.result(f"{printable_lines(result.url)}: {removed}; {left}")


def show_verified(console: Console, values: Mapping[str, Any]) -> int:
    """Verify all objects, and remove damaged ones. Returns the exit code."""
    from commodore.core.results.remote_store import RemoteOptions

    dry_run: bool = values["dry_run"]
    stores = _stores(values)
    trust = RemoteOptions(tuple(values["cache_url"]), **trust_options(values["cache_trust"])).reading().trust
    with console.working():
        results = [store.verify(trust, dry_run=dry_run) for store in stores]
    wrong = any(item.damaged or item.not_trusted for item in results)
    if values["output_format"] == "json":
        console.document("cache-verify-remote", RemoteVerify(dry_run, results))
        return int(wrong)
    for result in results:
        for name in result.damaged:
            console.result(f"damaged: {printable_lines(f'{result.url}/{name}')}")
        for name in result.not_trusted:
            console.result(f"not from a trusted key: {printable_lines(f'{result.url}/{name}')}")
    damaged, foreign = (
        sum(map(len, names)) for names in zip(*((o.damaged, o.not_trusted) for o in results), strict=True)
    )
    removed = "" if dry_run or not damaged else ", and removed"
    outcome = f"{damaged} damaged{removed}; {foreign} not from a trusted key" if wrong else "all are sound"
    console.status(f"Verified {_objects(sum(item.objects for item in results))}: {outcome}.")
    return int(wrong)


def _stores(values: Mapping[str, Any]) -> Sequence[RemoteMaintenance]:
    from commodore.core.results.remote_store import RemoteMaintenance

    if not values["cache_url"]:
        raise UsageError(
            "CMD-CACHE-029",
            "--remote needs a store",
            hint="name it by --cache-url or COMMODORE_CACHE_URL",
        )
    return [RemoteMaintenance(url, DEFAULT_LIMITS) for url in values["cache_url"]]


def _objects(count: int) -> str:
    return counted(count, "object")
