"""How commands reach the Lieutenant API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.cli.console import Console

if TYPE_CHECKING:
    from commodore.lieutenant import LieutenantClient


def connect(ctx: click.Context, values: Mapping[str, Any], console: Console) -> LieutenantClient:
    """A client for the API that the options name; it asks for a valid token before every request.

    Raises:
        CommodoreError: the API's URL is missing or wrong.
    """
    from commodore.caches import token_cache
    from commodore.lieutenant import LieutenantClient, resolve_token

    url, given = values["api_url"], values["api_token"]
    return LieutenantClient(
        url,
        lambda: resolve_token(given, url, token_cache(), console.announce),
        timeout=ctx.find_root().obj["request_timeout"],
        announce=console.announce,
    )


def read_dynamic_facts(entries: Sequence[str], console: Console) -> Mapping[str, Any]:
    """The dynamic facts of the command line (spec a 4.3)."""
    from commodore.lieutenant import parse_dynamic_facts

    return parse_dynamic_facts(entries, console.announce)
