"""`commodore login`, `fetch-token` and `logout`: tokens for the Lieutenant API."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import InputError, UsageError
from commodore.base.printable import printable_lines
from commodore.cli.shell.console import console_of
from commodore.cli.shell.lieutenant import login_options
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import FETCH_TOKEN, LOGIN, LOGOUT

if TYPE_CHECKING:
    from commodore.core.lieutenant.login import Identity


@click.command("login")
@options(*LOGIN)
@click.pass_context
def login(ctx: click.Context, /, **values: Any) -> None:
    """Log in to the Lieutenant API.

    A browser is opened for the identity provider. Without a browser, a link or a code is shown. The tokens are kept
    for the other commands, which renew them while the identity provider permits it.

    Without --api-url the token is not kept but printed.
    """
    from commodore.core.lieutenant import TokenStore, normalise_api_url
    from commodore.core.lieutenant.login import current_login, log_in
    from commodore.core.results.caches import token_cache

    console = console_of(ctx)
    requested = login_options(ctx, values)
    if requested.api_url:
        normalise_api_url(requested.api_url)
    store = TokenStore(token_cache(), console.context)
    result = current_login(requested, store, console.context)
    if result is not None and requested.keyring and not store.uses_keyring(requested.api_url or ""):
        result = None  # it is to be kept elsewhere from now on
    made = result or log_in(requested, store, console.context)
    if not requested.api_url:
        console.data(made.id_token)
        return
    how = "Logged in" if result is None else "You are logged in"
    console.status(f"{how} to {requested.api_url} as {made.identity}{until(made.identity)}.")


@click.command("fetch-token")
@options(*FETCH_TOKEN)
@click.pass_context
def fetch_token(ctx: click.Context, /, **values: Any) -> None:
    """Print a token for the Lieutenant API, and nothing else, to standard output.

    It is the token of the last login if that is still valid or can be renewed. Otherwise you are asked to log in, if a
    terminal or a browser is there.
    """
    from commodore.core.lieutenant import TokenStore, normalise_api_url
    from commodore.core.lieutenant.login import current_login, has_browser, log_in
    from commodore.core.results.caches import token_cache

    console = console_of(ctx)
    requested = login_options(ctx, values)
    url = normalise_api_url(requested.api_url)
    store = TokenStore(token_cache(), console.context)
    result = current_login(requested, store, console.context)
    if result is None and not sys.stderr.isatty() and not has_browser():
        raise InputError(
            "CMD-LOGIN-060",
            f"no valid token for {url}, and no terminal for an interactive login",
            hint="log in with `commodore login` first",
        )
    console.data((result or log_in(requested, store, console.context)).id_token)


@click.command("logout")
@options(*LOGOUT)
@click.pass_context
def logout(ctx: click.Context, /, **values: Any) -> None:
    """Log out of the Lieutenant API: the tokens are removed, and revoked if the identity provider can do that."""
    from commodore.core.lieutenant import TokenStore
    from commodore.core.lieutenant.login import log_out, log_out_of_all
    from commodore.core.results.caches import token_cache

    console = console_of(ctx)
    requested = login_options(ctx, values)
    store = TokenStore(token_cache(), console.context)
    if values["all"]:
        ended = log_out_of_all(requested, store, console.context)
    elif requested.api_url:
        ended = [requested.api_url] if log_out(requested, store, console.context) else []
    else:
        raise UsageError(
            "CMD-LOGIN-061",
            "it is not clear which login to end",
            hint="name its API with --api-url (COMMODORE_API_URL), or end all with --all",
        )
    for url in ended:
        console.status(f"Logged out of {url}.")
    if not ended:
        console.status(
            printable_lines("There was no login" + (f" to {requested.api_url}." if not values["all"] else "."))
        )


def until(identity: Identity) -> str:
    """Until when a login lasts, in words; nothing if it does not end in a time that calendars know."""
    try:
        end = datetime.fromtimestamp(identity.expires, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f" until {end:%Y-%m-%d %H:%M} UTC"
