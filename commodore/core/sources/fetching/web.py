"""Download files that are Kapitan dependencies (docs/adr/0018)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.core.sources.http import (
    PROXY_HINT,
    UNTRUSTED_HINT,
    Answer,
    Client,
    Meaning,
    Policy,
    Problem,
    netrc_credentials,
)

FETCH_HINT = "check the source, the version and the network; with fetched files at hand, go on without fetching"
_MEANINGS = {
    **dict.fromkeys(Problem, Meaning(EnvironmentFault, "CMD-ENG-028", FETCH_HINT)),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-ENG-028", UNTRUSTED_HINT),
    Problem.PROXY: Meaning(EnvironmentFault, "CMD-ENG-028", PROXY_HINT),
    Problem.TOO_LARGE: Meaning(PolicyError, "CMD-ENG-029", "is `source` the right file? fetch a smaller one"),
    Problem.REDIRECT_REFUSED: Meaning(
        PolicyError, "CMD-ENG-058", "what comes from there could have been changed on the way; correct the source"
    ),
}


def get_download(
    url: str, context: Context, headers: Mapping[str, str] | None = None, check: Callable[[str], None] | None = None
) -> Answer:
    """Return the response of a web server, of any status.

    Redirects to other servers are followed, but not from https to http. User name and password come from
    the URL, else from `.netrc`; they are sent to this server only.

    Args:
        check: validates the targets of redirects; see `Policy`.

    Raises:
        CommodoreError: no response, or it is not allowed; and errors of `check`.
    """
    limits = context.limits
    policy = Policy(
        limits.download_timeout,
        limits.download_seconds,
        limits.download_bytes,
        limits.request_attempts,
        rate=limits.download_rate,
        other_servers=True,
        check=check,
    )
    client = Client(context, _MEANINGS)
    try:
        return client.get(url, policy, headers=headers, credentials=netrc_credentials(url))
    finally:
        client.close()
