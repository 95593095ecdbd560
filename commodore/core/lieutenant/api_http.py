"""HTTP requests to the API: limits, and errors of failures."""

from __future__ import annotations

import math

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.limits import Limits
from commodore.core.sources.http import PROXY_HINT, UNTRUSTED_HINT, Client, Meaning, Policy, Problem

_REACH_HINT = "check the API URL (--api-url, COMMODORE_API_URL), the network and the proxy settings"

_LATE = Meaning(EnvironmentFault, "CMD-API-007", _REACH_HINT)
_MEANINGS = {
    **dict.fromkeys(Problem, Meaning(EnvironmentFault, "CMD-API-006", _REACH_HINT)),
    Problem.NO_ANSWER: Meaning(EnvironmentFault, "CMD-API-007", f"raise --request-timeout, or {_REACH_HINT}"),
    Problem.TOO_SLOW: _LATE,
    Problem.NO_TIME: _LATE,
    Problem.INVALID_URL: Meaning(InputError, "CMD-API-002", _REACH_HINT),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-API-008", UNTRUSTED_HINT),
    Problem.PROXY: Meaning(EnvironmentFault, "CMD-API-026", PROXY_HINT),
    Problem.TOO_LARGE: Meaning(EnvironmentFault, "CMD-API-014", "is this the URL of a Lieutenant API?"),
    Problem.UNREADABLE: Meaning(EnvironmentFault, "CMD-API-015", _REACH_HINT),
    Problem.REDIRECT_REFUSED: Meaning(
        PolicyError,
        "CMD-API-012",
        "the token was not sent there; if the API has moved, set its new URL with --api-url (COMMODORE_API_URL)",
    ),
    Problem.REDIRECT_LOOP: Meaning(
        EnvironmentFault, "CMD-API-013", "the API URL (--api-url, COMMODORE_API_URL) or a proxy's set-up is wrong"
    ),
    Problem.REDIRECT_TO_PAGE: Meaning(
        EnvironmentFault, "CMD-API-013", "a proxy in front of the API may require a login"
    ),
}


def api_client(context: Context) -> Client:
    """Return a client for the API, which the caller closes. Its errors have the codes of the API."""
    return Client(context, _MEANINGS, "application/json")


def api_policy(timeout: float, limits: Limits, deadline: float = math.inf) -> Policy:
    """Return the limits of one request. Only redirects to the API's server are followed, because of the token."""
    return Policy(timeout, limits.response_seconds, limits.response_bytes, limits.request_attempts, deadline)
