"""How to log in: what the options of a command say. Loads nothing that only a login needs."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from commodore.base.errors import UsageError

DEFAULT_ADDRESS = "localhost"
DEFAULT_PORT = 18000
"""The port that installations have registered at their identity providers."""

LOOPBACK = ("127.0.0.1", "::1")
"""The addresses of `localhost`."""


@dataclass(frozen=True, slots=True)
class CallbackSettings:
    """Where to listen: `localhost`, or an address of this machine, and a port (0: any that is free)."""

    address: str = DEFAULT_ADDRESS
    port: int = DEFAULT_PORT

    def addresses(self) -> tuple[str, ...]:
        """The addresses to listen on; `localhost` has two, as browsers may try either.

        Raises:
            UsageError: address or port cannot be one.
        """
        if not 0 <= self.port <= 65535:
            raise UsageError(
                "CMD-LOGIN-031", f"{self.port} is not a valid port", hint="--callback-port takes 0 to 65535"
            )
        if self.address == "localhost":
            return LOOPBACK
        try:
            return (str(ipaddress.ip_address(self.address.strip("[]"))),)
        except ValueError:
            raise UsageError(
                "CMD-LOGIN-031",
                f"{self.address!r} is not a valid address to listen on",
                hint="--callback-address takes 'localhost' or an IP address, like 0.0.0.0 in a container",
            ) from None


@dataclass(frozen=True, slots=True)
class LoginOptions:
    """How to log in.

    Args:
        api_url: the Lieutenant API as the user spelt it; tokens are kept by it. Without one nothing is kept.
        timeout: seconds for one request.
        client_id, discovery_url: the identity provider; if neither is given the API is asked.
        callback: where the browser comes back to.
        device: whether to use the device flow; None: if there is no browser here and the provider allows it.
        keyring: keep the tokens in the keyring.
    """

    api_url: str | None
    timeout: float
    client_id: str | None = None
    discovery_url: str | None = None
    callback: CallbackSettings = field(default_factory=CallbackSettings)
    device: bool | None = None
    keyring: bool = False
