"""What the errors of requests, urllib3 and the operating system come down to."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from http.client import IncompleteRead
from typing import Any

import requests
import urllib3

from commodore.base.printable import printable
from commodore.core.sources.http.faults import Fault, Problem

_REASON_CHARACTERS = 200  # of what a library says at the most


def fault_of(error: BaseException, url: str, timeout: float) -> Fault:
    """The fault that an error of requests, urllib3 or the operating system is.

    Args:
        url: what was asked for, as it may be shown.
        timeout: seconds that were allowed for connecting, and between two pieces of the answer.
    """
    causes = Causes(error)
    if causes.are_in_proxy:
        return Problem.PROXY.fault(url, reason=causes.reason)
    if causes.are_in_trust:
        return Problem.UNTRUSTED.fault(url, reason=causes.reason)
    if causes.are_in_time:
        return Problem.NO_ANSWER.fault(url, seconds=timeout)
    if causes.include(urllib3.exceptions.DecodeError):
        return Problem.UNREADABLE.fault(url)
    if causes.include(requests.exceptions.InvalidURL, urllib3.exceptions.LocationValueError, UnicodeError):
        if requests.utils.get_environ_proxies(url):  # the URL was checked before it was used, that of the proxy was not
            return Problem.PROXY.fault(url, reason="its URL is malformed")
        return Problem.INVALID_URL.fault(url)
    if causes.include(IncompleteRead, urllib3.exceptions.IncompleteRead):
        return Problem.BROKEN_OFF.fault(url)
    return Problem.UNREACHABLE.fault(url, reason=causes.reason)


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
