"""Access of commands to the Lieutenant API."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import UsageError
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import misplaced_option

if TYPE_CHECKING:
    from commodore.core.lieutenant import LieutenantClient
    from commodore.core.lieutenant.login import LoginOptions


def login_options(ctx: click.Context, values: Mapping[str, Any]) -> LoginOptions:
    """Return the login options from the options of a command, some of which may be absent."""
    from commodore.core.lieutenant.login import CallbackSettings, LoginOptions

    default = CallbackSettings()
    address, port = values.get("callback_address"), values.get("callback_port")
    callback = CallbackSettings(address or default.address, default.port if port is None else port)
    callback.addresses()
    prepared = address is not None or port is not None
    return LoginOptions(
        api_url=(values["api_url"] or "").strip() or None,
        client_id=values["oidc_client"],
        discovery_url=values["oidc_discovery_url"],
        timeout=ctx.find_root().obj["request_timeout"],
        callback=callback,
        device=True if values.get("device") else False if prepared else None,
        keyring=bool(values.get("keyring")),
    )


def connect(ctx: click.Context, values: Mapping[str, Any], console: Console) -> LieutenantClient:
    """A client for the API that the options name; it asks for a valid token before every request.

    A login that has expired is renewed. If that cannot be, or there was none, and there is a terminal, a login
    is begun, as by `commodore login`.

    Raises:
        CommodoreError: the API's URL is missing or wrong.
    """
    from commodore.core.lieutenant import LieutenantClient, TokenStore, given_token
    from commodore.core.lieutenant.login import TokenSource
    from commodore.core.results.caches import token_cache

    requested = login_options(ctx, values)
    source = TokenSource(
        lambda: given_token(values["api_token"], console.context),
        requested,
        TokenStore(token_cache(), console.context),
        console.context,
        may_log_in=sys.stdin.isatty() and sys.stderr.isatty(),
    )
    return LieutenantClient(values["api_url"], source, console.context, timeout=requested.timeout)


def read_dynamic_facts(entries: Sequence[str], console: Console) -> Mapping[str, Any]:
    """The dynamic facts of the command line."""
    from commodore.core.lieutenant import parse_dynamic_facts

    return parse_dynamic_facts(entries, console.context)


def check_dynamic_facts(entries: Sequence[str], ctx: click.Context) -> None:
    """Refuse an entry without `=`: most likely it is the working directory, which `-d` before the command names.

    Raises:
        UsageError: CMD-CLI-027, an entry has no `=`.
    """
    entry = next((entry for entry in entries if "=" not in entry), None)
    if entry is not None:
        raise UsageError(
            "CMD-CLI-027",
            f"invalid dynamic fact {entry!r}: expected KEY=VALUE",
            hint=f"if it is the working directory: {misplaced_option('-d', entry, ctx.command_path)}",
        )
