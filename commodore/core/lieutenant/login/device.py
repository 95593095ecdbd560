"""Login with another device (RFC 8628): a code is shown, and entered on any device with a browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.events import Noted, PageToVisit
from commodore.core.lieutenant.login._oidc_client import ProviderClient, check_url, refused, shortened, unusable
from commodore.core.lieutenant.login.authorization import SCOPES
from commodore.core.lieutenant.login.exchange import TokenAnswer, read_tokens
from commodore.core.lieutenant.login.provider import IdentityProvider

_WHAT = "the device code"
_SLOWER = 5.0  # seconds that `slow_down` adds to the pause (RFC 8628 3.5)
_LONGEST = 60.0


class DeviceFlowRefused(Exception):
    """The provider does not allow the device flow for this client; `args[0]` is the error. Another flow may work."""


def log_in_with_device(
    provider: IdentityProvider,
    client_id: str,
    http: ProviderClient,
    context: Context,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> TokenAnswer:
    """Show a code, and poll for the tokens until the user has entered it.

    Raises:
        DeviceFlowRefused: the flow cannot be started.
        InputError: the login was denied.
        EnvironmentFault: the code has expired, the provider refuses, cannot be reached or returns an invalid response.
    """
    # Before the page is shown: the user may press Ctrl-C, which an import can delay.
    from oauthlib.oauth2 import DeviceClient

    started = _start(provider, client_id, http)
    keys = ("device_code", "user_code", "verification_uri")
    device_code, user_code, page = (_text(started, key) for key in keys)
    check_url(page, "the page where the code is entered")
    pause = _seconds(started.get("interval"), context.limits.device_interval)
    expiry = time.monotonic() + _seconds(started.get("expires_in"), http.seconds_left)
    context.announce(PageToVisit(page, shortened(user_code)))

    body = DeviceClient(client_id).prepare_request_body(device_code, include_client_id=True)
    failures = 0
    while True:
        pause = min(pause, _LONGEST)
        if time.monotonic() + pause > min(expiry, http.deadline):
            raise _expired()
        sleep(pause)
        try:
            answer = http.post(provider.token_endpoint, body, "the tokens", (device_code,))
        except EnvironmentFault as error:
            failures += 1
            if error.code != "CMD-LOGIN-010" or failures == context.limits.request_attempts:
                raise
            context.announce(Noted(f"{error.message}; still waiting", level=1))
            pause *= 2  # RFC 8628 3.5: poll less often
            continue
        failures = 0
        if not answer.error:
            return read_tokens(answer)
        if answer.error == "slow_down":
            pause += _SLOWER
        elif answer.error == "expired_token":
            raise _expired()
        elif answer.error != "authorization_pending":
            raise refused(answer.error, answer.description)


def _start(provider: IdentityProvider, client_id: str, http: ProviderClient) -> Mapping[str, Any]:
    """Request a code, and return the provider's response."""
    from oauthlib.common import urlencode

    if provider.device_endpoint is None:
        raise DeviceFlowRefused(
            InputError(
                "CMD-LOGIN-040",
                f"{provider.issuer} does not support the device flow",
                hint="run the command without --device",
            )
        )
    form = urlencode([("client_id", client_id), ("scope", SCOPES)])
    started = http.post(provider.device_endpoint, form, _WHAT)
    if started.error:
        raise DeviceFlowRefused(refused(started.error, started.description))
    return started.value


def _expired() -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-LOGIN-041",
        "the login timed out: the code was not entered in time",
        hint="run the command again for a new code",
    )


def _text(value: Any, key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text:
        raise unusable(f"the identity provider started a login with another device without {key}")
    return text


def _seconds(value: object, default: float) -> float:
    """Return a positive number of seconds, also if the provider's value is malformed."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1 << 30:
        return default
    return float(value)
