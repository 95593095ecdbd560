"""Redirects of git's web servers. Git does not follow them itself, because it would follow them to any host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import urljoin, urlsplit

from commodore.core.confinement.policy import check_source
from commodore.core.sources.git.urls import redact
from commodore.core.sources.http import same_server

NOT_FOLLOWED = "http.followRedirects=false"
"""Git's setting that turns off redirects."""
TRACED = {"GIT_TRACE_CURL": "1", "GIT_TRACE_CURL_NO_DATA": "1", "GIT_TRACE_REDACT": "1"}
"""Variables that make git print the redirects of a server."""
_REFUSED = re.compile(r"unable to access '(https?://[^']*)': .*returned error: 30[12378]\b")
_LOCATION = re.compile(r"<= recv header: location: *(\S+)", re.IGNORECASE)
_ASKED = "/info/refs"


def left_behind(stderr: str, urls: Iterable[tuple[str, str]]) -> list[str]:
    """Return the spellings of the URL whose server returned a redirect, so that git failed.

    Args:
        urls: spellings, each with its URL after the user's replacements (`insteadOf`).
    """
    said = _REFUSED.search(stderr)
    if said is None:
        return []
    return [url for url, asked in urls if redact(asked).rstrip("/") == said[1].rstrip("/")]


def led_to(url: str, stderr: str, check: Callable[[str], None] | None) -> str:
    """Return the target of a redirect of a repository's URL, with the URL's credentials if it is on the same server.
    Empty if the target is not a repository, and for redirects from https to http.

    Args:
        url: the requested URL.
        stderr: git's messages with the variables `TRACED`.
        check: raises an error for a host that is not allowed; None for the default rule.

    Raises:
        PolicyError: the target is not allowed.
    """
    said = _LOCATION.findall(stderr)
    shown = redact(url).rstrip("/")
    parts, before = urlsplit(urljoin(shown + _ASKED, said[-1]) if said else ""), urlsplit(url)
    if not parts.path.endswith(_ASKED) or parts.scheme not in ("http", "https"):
        return ""
    parts = parts._replace(path=parts.path.removesuffix(_ASKED), query="", fragment="")
    base = parts.geturl()
    if parts.scheme == "http" and before.scheme == "https":
        return ""
    if check is None:
        check_source(base, f"what {shown} redirects to", named_by=url)
    elif parts.hostname != before.hostname:
        check(base)
    user_info = before.netloc.rpartition("@")[0]
    if user_info and same_server(shown, base):
        return parts._replace(netloc=f"{user_info}@{parts.netloc}").geturl()
    return base
