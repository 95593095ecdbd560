"""Where web servers lead that git asks. It follows none of them by itself, as it would do so to any host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import urljoin, urlsplit

from commodore.core.confinement.policy import check_source
from commodore.core.sources.git.urls import redact
from commodore.core.sources.http import same_server

NOT_FOLLOWED = "http.followRedirects=false"
"""Git's setting."""
TRACED = {"GIT_TRACE_CURL": "1", "GIT_TRACE_CURL_NO_DATA": "1", "GIT_TRACE_REDACT": "1"}
"""Variables with which git says where a server leads."""
_REFUSED = re.compile(r"unable to access '(https?://[^']*)': .*returned error: 30[12378]\b")
_LOCATION = re.compile(r"<= recv header: location: *(\S+)", re.IGNORECASE)
_ASKED = "/info/refs"


def left_behind(stderr: str, urls: Iterable[tuple[str, str]]) -> list[str]:
    """The spellings of the URL, among those a command may have asked, whose server led elsewhere, so that git has
    failed.

    Args:
        urls: spellings, each with the URL that settings of the user make of it (`insteadOf`).
    """
    said = _REFUSED.search(stderr)
    if said is None:
        return []
    return [url for url, asked in urls if redact(asked).rstrip("/") == said[1].rstrip("/")]


def led_to(url: str, stderr: str, check: Callable[[str], None] | None) -> str:
    """Where the server of a repository's URL leads, with the URL's credentials if it is the same server; empty for
    what is no repository, and from https to http.

    Args:
        url: that git has asked.
        stderr: what git has said when it was `TRACED`.
        check: raises an error for a host that is not allowed; None for the rule that holds without a policy.

    Raises:
        PolicyError: the server must not lead there.
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
