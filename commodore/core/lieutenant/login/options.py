"""Options of a login. Imports nothing that only a login needs."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from commodore.base.errors import UsageError

DEFAULT_ADDRESS = "localhost"
DEFAULT_PORT = 18000
"""The default port, registered by installations at their identity providers."""

LOOPBACK = ("127.0.0.1", "::1")
"""The addresses of `localhost`."""


@dataclass(frozen=True, slots=True)
class CallbackSettings:
    """The address to listen on: `localhost` or an address of this machine, and a port (0: any free port)."""

    address: str = DEFAULT_ADDRESS
    port: int = DEFAULT_PORT

    def addresses(self) -> tuple[str, ...]:
        """The addresses to listen on; `localhost` has two, as browsers may try either.

        Raises:
            UsageError: address or port is invalid.
        """
        if not 0 <= self.port <= 65535:
            raise UsageError(
                "CMD-LOGIN-031", f"{self.port} is not a valid port", hint="--callback-port must be 0 to 65535"
            )
        if self.address == "localhost":
            return LOOPBACK
        try:
            return (str(ipaddress.ip_address(self.address.strip("[]"))),)
        except ValueError:
            raise UsageError(
                "CMD-LOGIN-031",
                f"{self.address!r} is not a valid address to listen on",
                hint="--callback-address must be 'localhost' or an IP address, like 0.0.0.0 in a container",
            ) from None


@dataclass(frozen=True, slots=True)
class LoginOptions:
    """Options of a login.

    Args:
        api_url: the Lieutenant API as spelt by the user, the key of stored tokens. Without it nothing is stored.
        timeout: seconds for one request.
        client_id, discovery_url: the identity provider; if neither is given, that of the API.
        callback: the address of the callback server.
        device: use the device flow; None: if this machine has no browser and the provider allows it.
        keyring: store the tokens in the keyring.
    """

    api_url: str | None
    timeout: float
    client_id: str | None = None
    discovery_url: str | None = None
    callback: CallbackSettings = field(default_factory=CallbackSettings)
    device: bool | None = None
    keyring: bool = False
