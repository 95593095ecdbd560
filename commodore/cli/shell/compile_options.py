"""The options that all commands share that compile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.strictness import check_allowed
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.catalog import CompileOptions
    from commodore.core.results.remote_store import RemoteOptions


def compile_options(values: Mapping[str, Any], console: Console, *, fetch: bool = True) -> CompileOptions:
    """Return the compile options from a command's options (`commodore.cli.shell.settings.common.ENGINE`)."""
    from commodore.catalog import CompileOptions

    policy = None
    if values["trust_policy"] is not None:
        from commodore.core.confinement import read_policy

        policy = read_policy(values["trust_policy"])
    return CompileOptions(
        fetch=fetch,
        processes=values["processes"],
        verbose=console.verbosity >= 3,
        cached=not values["no_cache"],
        shadow=values["shadow"],
        policy=policy,
        remote=_remote(values),
        allowed=check_allowed(values["allow"]),
    )


def trust_options(trust: str | None) -> dict[str, Any]:
    """Parse `--cache-trust` to fields of `RemoteOptions`."""
    return {"trust": Path(trust) if trust and trust != "any" else None, "trust_anyone": trust == "any"}


def _remote(values: Mapping[str, Any]) -> RemoteOptions | None:
    urls, mode = tuple(values["cache_url"]), values["cache_mode"]
    if not urls or mode == "off" or values["no_cache"]:
        return None
    from commodore.core.results.remote_store import RemoteOptions

    options = RemoteOptions(
        urls,
        write=mode == "write",
        key=values["cache_key"],
        **trust_options(values["cache_trust"]),
        exclude=frozenset(values["cache_exclude"]),
    )
    options.reading()  # what is wrong with them is reported before anything is begun
    options.signer()
    return options
