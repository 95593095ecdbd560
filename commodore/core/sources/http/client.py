"""HTTP client for all requests of the program itself."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urldefrag, urljoin, urlsplit

import requests
import urllib3

from commodore.base.context import Context
from commodore.base.events import Noted
from commodore.base.printable import printable
from commodore.core.confinement.hosts import may_lead
from commodore.core.sources.http.causes import fault_of
from commodore.core.sources.http.connections import WatchedAdapter, open_session
from commodore.core.sources.http.faults import Fault, Meanings, Problem
from commodore.core.sources.http.retries import REPEATED_STATUSES, retry_after
from commodore.core.sources.http.urls import same_server, split_credentials, without_credentials

_REDIRECTS = frozenset({301, 302, 303, 307, 308})  # the statuses whose `Location` is followed
_CHUNK = 1 << 16
_TOTAL_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of a request. `Limits` has those of redirects and pauses.

    Attributes:
        timeout: seconds for connecting, and between two pieces of a response.
        seconds: seconds for one attempt with its redirects, from the request to the last byte of the response.
        size: the maximum bytes of a body, decompressed.
        attempts: attempts of a GET, at least 1. A POST is sent once.
        deadline: time of the monotonic clock after which nothing is awaited, including pauses and further attempts.
        rate: the minimum bytes per second of a body over each period of `timeout`; the head of a response may take two
            such periods.
        other_servers: follow a GET's redirects to other servers, without credentials.
        check: called with the target URL of each redirect; its errors end the request. Without it, redirects to this
            machine or its link are refused (`may_lead`).
    """

    timeout: float
    seconds: float
    size: int
    attempts: int
    deadline: float = math.inf
    rate: float = 0.0
    other_servers: bool = False
    check: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete response. Header names are case-insensitive. `url` has no credentials."""

    url: str
    status: int
    phrase: str
    headers: Mapping[str, str]
    body: bytes


class Sink(Protocol):
    """Receives the body of a response of status 200 in chunks, as it is sent."""

    def begin(self, total: int | None) -> None:
        """Begin an attempt, and discard former chunks. `total` is the number of bytes, if it is known."""

    def write(self, chunk: bytes) -> None:
        """Add the next chunk."""


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    url: str
    headers: Mapping[str, str]
    credentials: Mapping[str, str]
    body: bytes | None = None
    sink: Sink | None = None

    @property
    def shown(self) -> str:
        return without_credentials(self.url)


@dataclass(frozen=True, slots=True)
class _Clock:
    """The time limit of one attempt: `deadline` is `seconds` after its start, by the monotonic clock."""

    timeout: float
    seconds: float
    deadline: float

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    def at_most(self, seconds: float) -> _Clock:
        """Return a clock that starts now, with a limit of its own, and ends with this clock at the latest."""
        return self if seconds >= self.seconds else replace(self, seconds=seconds, deadline=time.monotonic() + seconds)


class _TransferRate:
    """Check of a body's transfer rate, in bytes per second, over each period of so many seconds."""

    def __init__(self, rate: float, seconds: float) -> None:
        self._rate = rate
        self._seconds = seconds
        self._start = time.monotonic()
        self._bytes = 0

    def is_kept(self, count: int) -> bool:
        """Count these bytes, and return False if the rate was too low."""
        self._bytes += count
        elapsed = time.monotonic() - self._start
        if elapsed < self._seconds:
            return True
        kept = self._bytes >= self._rate * elapsed
        self._start, self._bytes = self._start + elapsed, 0
        return kept


class _Failed(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Client:
    """One HTTP session, for one thread. The caller closes it.

    Args:
        context: announces repeated attempts; limits redirects and pauses.
        meanings: the errors that `get` and `post` raise for problems.
        accept: the accepted content type.
    """

    def __init__(self, context: Context, meanings: Meanings, accept: str = "*/*") -> None:
        self._context = context
        self._meanings = meanings
        self._adapter = WatchedAdapter()
        self._session = open_session(self._adapter)
        self._session.headers.update({"Accept": accept})

    def close(self) -> None:
        """Close the open connections."""
        self._session.close()

    def get(
        self,
        url: str,
        policy: Policy,
        *,
        headers: Mapping[str, str] | None = None,
        credentials: Mapping[str, str] | None = None,
        sink: Sink | None = None,
    ) -> Answer:
        """Return the response to a GET. Temporary failures are retried with growing pauses, or those of `Retry-After`.

        Args:
            url: the URL; a user name and a password in it override `credentials`.
            headers: headers sent to all servers, also after redirects.
            credentials: headers sent to the URL's server only.
            sink: receives the body of a response of status 200, instead of `Answer.body`.

        Raises:
            CommodoreError: the error of the problem's meaning.
        """
        return self._ask(_Request("GET", url, headers or {}, credentials or {}, sink=sink), policy)

    def post(
        self, url: str, policy: Policy, body: bytes, headers: Mapping[str, str], credentials: Mapping[str, str]
    ) -> Answer:
        """Return the response to a POST, which is sent once, and again only to the target of a redirect.

        Raises: as `get`.
        """
        return self._ask(_Request("POST", url, headers, credentials, body), replace(policy, attempts=1))

    def _authorities(self, url: str) -> str | None:
        """Return the file of the certificate authorities of a server; None for those of the session."""
        given = self._context.access
        file = given.authorities(url) if given is not None else None
        return str(file) if file is not None else None

    def _ask(self, request: _Request, policy: Policy) -> Answer:
        try:
            return self._repeat(_prepared(request), policy)
        except _Failed as failed:
            raise self._meanings[failed.fault.problem].error(failed.fault) from failed.__cause__

    def _repeat(self, request: _Request, policy: Policy) -> Answer:
        """Retry and announce attempts. urllib3 retries only until the headers; this covers truncated bodies, too."""
        limits = self._context.limits
        for attempt in range(1, policy.attempts + 1):
            last = attempt == policy.attempts
            asked = 0.0
            try:
                answer = self._follow(request, policy)
            except _Failed as failed:
                if last or not failed.fault.may_pass:
                    raise
                reason = failed.fault.message
            else:
                asked = retry_after(answer.headers)
                if last or answer.status not in REPEATED_STATUSES or asked > limits.retry_after:
                    return answer
                reason = f"{answer.url} returned {answer.status}"
            pause = max(asked, limits.request_backoff * 2 ** (attempt - 1))
            again = f"trying again in {pause:g} s ({attempt} of {policy.attempts - 1})"
            self._context.announce(Noted(f"{reason}; {again}", level=1))
            time.sleep(max(0.0, min(pause, policy.deadline - time.monotonic())))
        raise ValueError("at least one attempt must be allowed")

    def _follow(self, request: _Request, policy: Policy) -> Answer:
        """Make one attempt: follow redirects and return the final response."""
        now = time.monotonic()
        deadline = min(now + policy.seconds, policy.deadline)
        clock = _Clock(min(policy.timeout, deadline - now), deadline - now, deadline)
        if clock.timeout <= 0:
            raise _Failed(Problem.NO_TIME.fault(request.shown))
        first, redirects = request, self._context.limits.redirects
        with self._adapter.watched(clock.seconds):
            for _ in range(redirects + 1):
                answer = self._send(request, policy, clock)
                location = answer.headers.get("Location")
                if answer.status not in _REDIRECTS or not location:
                    return answer
                request = _redirected(first, request, location, answer.status, policy)
        raise _Failed(Problem.REDIRECT_LOOP.fault(first.shown, limit=redirects, target=request.shown))

    def _send(self, request: _Request, policy: Policy, clock: _Clock) -> Answer:
        encoding = {"Accept-Encoding": "identity"} if request.sink is not None else {}
        head = clock.at_most(2 * clock.timeout if policy.rate else math.inf)
        with self._adapter.watched(head.seconds), _explaining(request, head):
            response = self._session.request(
                request.method,
                request.url,
                data=request.body,
                headers={**request.headers, **request.credentials, **encoding},
                timeout=(clock.timeout, clock.timeout),
                verify=self._authorities(request.url),
                allow_redirects=False,
                stream=True,
            )
        with response:
            if head.is_over:  # a response that ends now may be truncated
                raise _too_slow(request, head)
            sink = request.sink if response.status_code == requests.codes.ok else None
            body = bytearray()
            if sink is not None:
                sink.begin(_total(response))
            for chunk in _chunks(response, request, policy, clock):
                if sink is not None:
                    sink.write(chunk)
                else:
                    body += chunk
            headers = response.headers
            return Answer(request.shown, response.status_code, response.reason or "", headers, bytes(body))


def _prepared(request: _Request) -> _Request:
    """Return the request with the user name and password of its URL as credentials."""
    try:
        bare, own = split_credentials(request.url)
    except ValueError:
        raise _Failed(Problem.INVALID_URL.fault("the URL of the request")) from None
    request = replace(request, url=bare, credentials={**request.credentials, **own})
    if urlsplit(bare).scheme not in ("http", "https"):
        raise _Failed(Problem.INVALID_URL.fault(request.shown))
    return request


def _chunks(response: requests.Response, request: _Request, policy: Policy, clock: _Clock) -> Iterator[bytes]:
    """Yield the chunks of the body, decompressed unless they are for a sink."""
    limit, pace = policy.size, _TransferRate(policy.rate, clock.timeout)
    too_large = _Failed(Problem.TOO_LARGE.fault(request.shown, limit=limit))
    if (_total(response) or 0) > limit:
        raise too_large
    size = 0
    while True:
        with _explaining(request, clock):
            chunk = response.raw.read1(_CHUNK, decode_content=request.sink is None)
        size += len(chunk)
        if size > limit:
            raise too_large
        if clock.is_over:  # a response that ends now may be truncated
            raise _too_slow(request, clock)
        if not chunk:
            return
        if not pace.is_kept(len(chunk)):
            raise _Failed(Problem.TOO_FEW.fault(request.shown, limit=f"{policy.rate:g}"))
        yield chunk


def _total(response: requests.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and len(length) <= _TOTAL_DIGITS else None


@contextlib.contextmanager
def _explaining(request: _Request, clock: _Clock) -> Iterator[None]:
    """Raise errors of requests, urllib3 and the operating system in the block as faults."""
    try:
        yield
    except (OSError, urllib3.exceptions.HTTPError, UnicodeError) as error:
        if clock.is_over:
            raise _too_slow(request, clock) from error
        raise _Failed(fault_of(error, request.shown, clock.timeout)) from error


def _too_slow(request: _Request, clock: _Clock) -> _Failed:
    return _Failed(Problem.TOO_SLOW.fault(request.shown, seconds=clock.seconds))


def _redirected(first: _Request, request: _Request, location: str, status: int, policy: Policy) -> _Request:
    """Return the request of a redirect: never from https to http, and with credentials to the same server only."""
    try:
        target = urldefrag(urljoin(request.url, location)).url
        parts, same = urlsplit(target), same_server(first.url, target)
        shown, bare = printable(without_credentials(target)), split_credentials(target)[0]
    except ValueError:
        raise _Failed(
            Problem.REDIRECT_REFUSED.fault(request.shown, target="another place", reason="which is not a valid URL")
        ) from None
    if not parts.hostname or parts.scheme not in ("http", "https"):
        reason = "which is not a web server"
    elif parts.scheme == "http" and request.url.startswith("https:"):
        reason = "which is not https"
    elif not same and (not policy.other_servers or request.method != "GET"):
        reason = "another server, which must not receive credentials"
    elif policy.check is None and not may_lead(request.url, target):
        reason = "an address of this machine or its link"
    elif request.method == "POST" and status == 303:
        raise _Failed(Problem.REDIRECT_TO_PAGE.fault(request.shown))
    else:
        if policy.check is not None:
            policy.check(target)
        # Credentials that were dropped once are not sent again.
        return replace(request, url=bare, credentials=request.credentials if same else {})
    raise _Failed(Problem.REDIRECT_REFUSED.fault(request.shown, target=shown, reason=reason))
