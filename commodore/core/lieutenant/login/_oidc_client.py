"""HTTP client of an identity provider: its responses as JSON objects, and its refusals as errors."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.printable import printable
from commodore.core.sources.http import PROXY_HINT, UNTRUSTED_HINT, Meaning, Problem, is_loopback, without_credentials

if TYPE_CHECKING:
    from commodore.core.sources.http import Answer

_SHOWN = 300
_SECRET_LENGTH = 8
_REACH_HINT = (
    "check the network, the proxy settings and the discovery URL (--oidc-discovery-url, COMMODORE_OIDC_DISCOVERY_URL)"
)
_MEANINGS = {
    **dict.fromkeys(Problem, Meaning(EnvironmentFault, "CMD-LOGIN-010", _REACH_HINT)),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-LOGIN-010", UNTRUSTED_HINT),
    Problem.PROXY: Meaning(EnvironmentFault, "CMD-LOGIN-010", PROXY_HINT),
    Problem.REDIRECT_REFUSED: Meaning(
        PolicyError,
        "CMD-LOGIN-011",
        "no login was sent there; check the discovery URL (--oidc-discovery-url, COMMODORE_OIDC_DISCOVERY_URL)",
    ),
}


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """Response of an endpoint to a form. `error` is the error code of RFC 6749; empty on success."""

    value: Mapping[str, Any] = field(repr=False)
    error: str
    description: str


class ProviderClient:
    """A client of one identity provider.

    Args:
        timeout: seconds for one request.
        deadline: time of the monotonic clock after which nothing is awaited.
        attempts: the number of attempts of a GET.
    """

    def __init__(self, timeout: float, context: Context, *, deadline: float, attempts: int | None = None) -> None:
        from commodore.core.sources.http import Client, Policy  # its HTTP library is slow to import

        self.limits = limits = context.limits
        attempts = attempts or limits.request_attempts
        self.deadline = deadline
        self._policy = Policy(timeout, limits.response_seconds, limits.login_answer_bytes, attempts, deadline)
        self._http = Client(context, _MEANINGS, "application/json")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    @property
    def seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def get(self, url: str, what: str) -> dict[str, Any]:
        """Return the JSON object at `url`.

        Raises:
            EnvironmentFault: it cannot be fetched, or is not a JSON object.
            PolicyError: the URL is not encrypted, or redirects elsewhere.
        """
        check_url(url, what)
        answer = self._http.get(url, self._policy)
        if answer.status != 200:
            raise EnvironmentFault(
                "CMD-LOGIN-010",
                f"{without_credentials(url)} returned {answer.status} instead of {what}",
                hint=_REACH_HINT,
            )
        value = _object(answer)
        if value is None:
            raise unusable(f"{without_credentials(url)} did not return {what} as a JSON object")
        return value

    def post(self, url: str, body: str, what: str, secrets: Iterable[str] = (), *, empty: bool = False) -> FormAnswer:
        """Send a form; a refusal in the form of RFC 6749 is returned, not raised.

        Args:
            secrets: values to mask in messages if the response repeats them.
            empty: accept a successful response without content.

        Raises:
            EnvironmentFault: no response, or it is not a response of OAuth.
            PolicyError: the URL is not encrypted, or redirects elsewhere.
        """
        check_url(url, what)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self._http.post(url, self._policy, body.encode("ascii"), headers, {})
        value = _object(answer)
        if answer.status < 300 and value is None and not empty:
            raise unusable(f"{without_credentials(url)} did not return {what} as a JSON object")
        given = value or {}
        refusal = _shown(given.get("error"), secrets)
        if not 200 <= answer.status < 300 and not refusal:
            raise EnvironmentFault(
                "CMD-LOGIN-010",
                f"{without_credentials(url)} returned {answer.status} instead of {what}",
                hint="try again later" if answer.status >= 500 else _REACH_HINT,
            )
        return FormAnswer(given, refusal, _shown(given.get("error_description"), secrets))


def check_url(url: str, what: str) -> None:
    """Refuse to send tokens and codes over unencrypted connections, except within this machine.

    Raises:
        PolicyError: `url` is not an https URL with a host, or has a password.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or not url.isascii() or not url.isprintable() or " " in url or parts.username is not None:
        raise PolicyError(
            "CMD-LOGIN-002",
            f"the URL of {what} is not valid",
            hint="see --oidc-discovery-url (COMMODORE_OIDC_DISCOVERY_URL)",
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
        raise PolicyError(
            "CMD-LOGIN-002",
            f"the URL of {what}, {without_credentials(url)}, is not encrypted",
            hint="the URLs of an identity provider must use https",
        )


def refused(error: str, description: str) -> CommodoreError:
    """Return the error for a refusal by the identity provider. The arguments are printable."""
    said = f"{error}: {description}" if description else error
    if error == "access_denied":
        return InputError("CMD-LOGIN-020", f"the login was denied ({said})", hint="run the command again to try again")
    return EnvironmentFault(
        "CMD-LOGIN-021",
        f"the identity provider refused the login ({said})",
        hint="check the client (--oidc-client, COMMODORE_OIDC_CLIENT) and how it is registered there",
    )


def unusable(message: str) -> EnvironmentFault:
    """Return the error for an invalid response."""
    return EnvironmentFault("CMD-LOGIN-012", message, hint="is this the discovery URL of an OpenID Connect provider?")


def shortened(text: str) -> str:
    """Return text of the identity provider, shortened and printable for messages."""
    words = " ".join(printable(text).split())
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"


def _shown(value: object, secrets: Iterable[str]) -> str:
    text = value if isinstance(value, str) else ""
    for secret in secrets:
        # A short text is not a secret, and could be part of any word.
        text = text.replace(secret, "***") if len(secret) >= _SECRET_LENGTH else text
    return shortened(text)


def _object(answer: Answer) -> dict[str, Any] | None:
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
