"""The options that all commands share that compile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commodore.cli.console import Console

if TYPE_CHECKING:
    from commodore.stages import CompileOptions


def compile_options(values: Mapping[str, Any], console: Console, *, fetch: bool = True) -> CompileOptions:
    """How to compile, from a command's options (`commodore.settings.common.ENGINE`)."""
    from commodore.stages import CompileOptions

    policy = None
    if values["trust_policy"] is not None:
        from commodore.confinement import read_policy

        policy = read_policy(values["trust_policy"])
    return CompileOptions(
        fetch=fetch,
        processes=values["processes"],
        verbose=console.verbosity >= 3,
        cached=not values["no_cache"],
        shadow=values["shadow"],
        jsonnet_engine=values["jsonnet_engine"],
        policy=policy,
    )
