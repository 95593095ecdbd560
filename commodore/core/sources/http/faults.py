"""Failures of requests, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from commodore.base.errors import CommodoreError


class Problem(Enum):
    """The kinds of failures with their messages. An HTTP status is not a failure: it is part of a response."""

    UNREACHABLE = "cannot reach {url}: {reason}"
    """The name does not resolve, the connection is refused, reset or closed."""
    UNTRUSTED = "TLS certificate verification failed for {url}: {reason}"
    """TLS verification failed, or the file of certificate authorities is missing."""
    PROXY = "cannot reach {url} through the proxy ({reason})"
    """A proxy refuses, cannot be reached, or its URL is malformed."""
    INVALID_URL = "{url} is not a valid URL of a web server"
    NO_ANSWER = "cannot reach {url}: no answer within {seconds:.3g} s"
    """Connecting, or waiting for the next piece of a response, took longer than `Policy.timeout`."""
    TOO_SLOW = "the answer of {url} was not complete after {seconds:.3g} s"
    """The time of `Policy.seconds` or `Policy.deadline` was over before the last byte."""
    TOO_FEW = "the answer of {url} comes at less than {limit} bytes per second"
    """The body came more slowly than `Policy.rate`."""
    NO_TIME = "no time left to contact {url}"
    """`Policy.deadline` was over before the request."""
    TOO_LARGE = "the answer of {url} is larger than {limit} bytes"
    """The body is larger than `Policy.size`."""
    BROKEN_OFF = "the answer of {url} broke off"
    """The body ended before its announced end."""
    UNREADABLE = "the answer of {url} cannot be unpacked: it broke off or is damaged"
    """The body is not compressed as its header says."""
    REDIRECT_REFUSED = "{url} redirects to {target}, {reason}"
    """A redirect leads from https to http, or to another server where the policy does not allow that."""
    REDIRECT_LOOP = "{url} redirects more than {limit} times, last to {target}"
    """More redirects than `Limits.redirects`."""
    REDIRECT_TO_PAGE = "{url} answers what was sent by a redirect to another page (303)"
    """A POST is answered with 303: what was sent did not arrive anywhere."""

    def fault(self, url: str, **words: str | float) -> Fault:
        """Return the fault with the values of its message; `url` has no credentials."""
        return Fault(self, self.value.format(url=url, **words))


# Certificates and proxies have the same remedy everywhere.
UNTRUSTED_HINT = "set REQUESTS_CA_BUNDLE or SSL_CERT_FILE to a file with the certificate authority of the server"
PROXY_HINT = "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"

_PASSING = frozenset({Problem.UNREACHABLE, Problem.NO_ANSWER, Problem.BROKEN_OFF})


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure. The message names the URL, without credentials, and the reason."""

    problem: Problem
    message: str

    @property
    def may_pass(self) -> bool:
        """Check if the failure is temporary, so that the same request may succeed later."""
        return self.problem in _PASSING


@dataclass(frozen=True, slots=True)
class Meaning:
    """A caller's error for a problem: its family, code and hint."""

    family: type[CommodoreError]
    code: str
    hint: str

    def error(self, fault: Fault) -> CommodoreError:
        """Return the error for a fault."""
        return self.family(self.code, fault.message, hint=self.hint)


Meanings = Mapping[Problem, Meaning]
"""The meaning of every problem; start with `dict.fromkeys(Problem, ...)`."""
