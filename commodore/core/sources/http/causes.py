"""Classification of errors of requests, urllib3 and the operating system."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from http.client import IncompleteRead
from typing import Any

import requests
import urllib3

from commodore.base.printable import printable
from commodore.core.sources.http.faults import Fault, Problem

_REASON_CHARACTERS = 200  # at most, of a library's message


def fault_of(error: BaseException, url: str, timeout: float) -> Fault:
    """Return the fault of an error of requests, urllib3 or the operating system.

    Args:
        url: the requested URL, without credentials.
        timeout: the time limit in seconds for connecting, and between two pieces of the response.
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
        if requests.utils.get_environ_proxies(url):  # the request's URL was validated before, the proxy's was not
            return Problem.PROXY.fault(url, reason="its URL is malformed")
        return Problem.INVALID_URL.fault(url)
    if causes.include(IncompleteRead, urllib3.exceptions.IncompleteRead):
        return Problem.BROKEN_OFF.fault(url)
    return Problem.UNREACHABLE.fault(url, reason=causes.reason)


class Causes:
    """An error of requests, urllib3 or the operating system with all its causes."""

    def __init__(self, error: BaseException) -> None:
        self._error = error
        self._causes = tuple(_unwrap(error))

    def include(self, *kinds: type[BaseException]) -> bool:
        """Check if the error or one of its causes has one of these types."""
        return any(isinstance(cause, kinds) for cause in self._causes)

    @property
    def are_in_proxy(self) -> bool:
        """Check if a proxy refused the connection, or its URL is invalid."""
        invalid = requests.exceptions.InvalidProxyURL
        return self.include(invalid, requests.exceptions.ProxyError, urllib3.exceptions.ProxyError)

    @property
    def are_in_trust(self) -> bool:
        """Check if the connection is not trusted. requests reports a missing CA bundle by a bare OSError."""
        return self.include(ssl.SSLError, urllib3.exceptions.SSLError) or type(self._error) is OSError

    @property
    def are_in_time(self) -> bool:
        """Check if a timeout was exceeded."""
        return self.include(requests.exceptions.Timeout, urllib3.exceptions.ReadTimeoutError, TimeoutError)

    @property
    def reason(self) -> str:
        """A short reason, in the operating system's words if there are any. Full messages of libraries repeat URLs."""
        for cause in reversed(self._causes):
            if isinstance(cause, ssl.SSLCertVerificationError):
                return cause.verify_message
            if isinstance(cause, OSError) and cause.strerror:
                return cause.strerror
        last = self._causes[-1]
        return printable(str(last.args[0] if last.args else type(last).__name__))[:_REASON_CHARACTERS]


def _unwrap(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, outermost first. requests and urllib3 wrap errors in three ways."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, BaseException) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [getattr(current, "reason", None), *current.args, current.__cause__, current.__context__]
