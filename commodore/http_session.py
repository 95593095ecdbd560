"""What every HTTP session of ours starts from, and what its failures come down to."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from typing import Any

import requests
import urllib3

from commodore import __version__
from commodore.printable import printable

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""The statuses with which a `Location` says where to go on."""

_REASON_CHARACTERS = 200  # of what a library says at the most


def open_session() -> requests.Session:
    """A session that follows no redirects: where they may lead is for its user to decide.

    The environment counts where it says how to reach a server: proxies and certificate authorities, of which
    `SSL_CERT_FILE` and `SSL_CERT_DIR` are used if `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE` are not set. It does not
    count where it says who we are: an entry in `.netrc` is never sent.
    """
    session = _Session()
    session.headers.update({"User-Agent": f"commodore/{__version__}"})
    session.auth = _leave_as_is
    session.verify = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR") or True
    return session


class _Session(requests.Session):
    """requests looks into redirects even where it is told not to follow them; a malformed one must not raise there."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def _leave_as_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Having an authentication of its own keeps a session from looking into `.netrc`."""
    return request


class Causes:
    """An error of requests, urllib3 or the operating system, with everything it was made of."""

    def __init__(self, error: BaseException) -> None:
        self._error = error
        self._causes = tuple(_unwrap(error))

    def include(self, *kinds: type[BaseException]) -> bool:
        """Whether the error, or a cause of it, is one of these."""
        return any(isinstance(cause, kinds) for cause in self._causes)

    @property
    def are_in_proxy(self) -> bool:
        """Whether a proxy did not let us through, or its URL is none."""
        invalid = requests.exceptions.InvalidProxyURL
        return self.include(invalid, requests.exceptions.ProxyError, urllib3.exceptions.ProxyError)

    @property
    def are_in_trust(self) -> bool:
        """Whether the connection is not trusted. requests tells a missing CA bundle by a bare OSError."""
        return self.include(ssl.SSLError, urllib3.exceptions.SSLError) or type(self._error) is OSError

    @property
    def are_in_time(self) -> bool:
        """Whether something took too long."""
        return self.include(requests.exceptions.Timeout, urllib3.exceptions.ReadTimeoutError, TimeoutError)

    @property
    def reason(self) -> str:
        """A short reason, in the operating system's words where it has some. Whole texts of libraries repeat URLs."""
        for cause in reversed(self._causes):
            if isinstance(cause, ssl.SSLCertVerificationError):
                return cause.verify_message
            if isinstance(cause, OSError) and cause.strerror:
                return cause.strerror
        last = self._causes[-1]
        return printable(str(last.args[0] if last.args else type(last).__name__))[:_REASON_CHARACTERS]


def _unwrap(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was made of, outermost first. requests and urllib3 use three ways of wrapping."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, BaseException) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [getattr(current, "reason", None), *current.args, current.__cause__, current.__context__]
