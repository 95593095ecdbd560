"""The way to the API: one HTTP session that repeats what may be repeated and never gives the token away."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import IncompleteRead
from urllib.parse import urldefrag, urljoin

import requests
import urllib3
from urllib3.util.retry import Retry

from commodore.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.events import Announce, Noted
from commodore.http_session import REDIRECTS, Causes, open_session
from commodore.lieutenant._watch import WatchedAdapter
from commodore.lieutenant.api_url import same_server, without_credentials
from commodore.limits import Limits
from commodore.printable import printable

_REPEATED_STATUSES = frozenset({429, 502, 503, 504})
_CHUNK = 1 << 16
_REACH_HINT = "check the API URL (--api-url, COMMODORE_API_URL), the network and the proxy settings"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the API, read to its end. Header names are case-insensitive."""

    status: int
    phrase: str
    headers: Mapping[str, str]
    body: bytes


class Session:
    """One `requests` session. With a `deadline` (of the monotonic clock) nothing is waited for any longer then."""

    def __init__(self, timeout: float, limits: Limits, announce: Announce, *, deadline: float | None = None) -> None:
        self._timeout = timeout
        self._deadline = math.inf if deadline is None else deadline
        self._limits = limits
        self._announce = announce
        self._session = open_session()
        self._adapter = WatchedAdapter()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, self._adapter)
        self._session.headers.update({"Accept": "application/json"})

    def close(self) -> None:
        self._session.close()

    def get(self, url: str, headers: Mapping[str, str]) -> Answer:
        """The answer to a GET. Failures that may pass are repeated, with growing pauses.

        The urllib3 way of repeating ends with the headers; this one also covers answers that break off, and announces.

        Raises:
            EnvironmentFault: there is no answer, it is too large or too slow, or redirects do not end.
            PolicyError: a redirect leads away from the API.
        """
        attempts = self._limits.request_attempts
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            asked = 0.0
            try:
                answer = self._follow("GET", url, headers, None)
            except _PassingFault as fault:
                if last:
                    raise fault.error from fault.__cause__
                reason = fault.error.message
            else:
                asked = retry_after(answer)
                if last or answer.status not in _REPEATED_STATUSES or asked > self._limits.retry_after:
                    return answer
                reason = f"{url} returned {answer.status}"
            pause = max(asked, self._limits.request_backoff * 2 ** (attempt - 1))
            self._announce(Noted(f"{reason}; trying again in {pause:g} s ({attempt} of {attempts - 1})", level=1))
            time.sleep(max(0.0, min(pause, self._deadline - time.monotonic())))
        raise ValueError("request_attempts must be at least 1")

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a POST, which is sent once, and again only where the API redirects it.

        Raises: see `get`.
        """
        try:
            return self._follow("POST", url, headers, body)
        except _PassingFault as fault:
            raise fault.error from fault.__cause__

    def _follow(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        for _ in range(self._limits.redirects + 1):
            answer = self._send(method, url, headers, body)
            location = answer.headers.get("Location")
            if answer.status not in REDIRECTS or not location:
                return answer
            url = _redirected(method, url, location, answer.status)
        raise EnvironmentFault(
            "CMD-API-013",
            f"the Lieutenant API redirected more than {self._limits.redirects} times, last to {url}",
            hint="the API URL (--api-url, COMMODORE_API_URL) or a proxy's set-up is wrong",
        )

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        now = time.monotonic()
        deadline = min(now + self._limits.response_seconds, self._deadline)
        seconds = deadline - now
        timeout = min(self._timeout, seconds)
        if timeout <= 0:
            raise EnvironmentFault("CMD-API-007", f"there was no time left to ask {url}", hint=_REACH_HINT)
        try:
            with (
                self._adapter.watched(seconds),
                self._session.request(
                    method,
                    url,
                    data=body,
                    headers=dict(headers),
                    timeout=(timeout, timeout),
                    allow_redirects=False,
                    stream=True,
                ) as response,
            ):
                content = self._read(response, url, deadline, seconds)
                return Answer(response.status_code, response.reason or "", response.headers, content)
        except (OSError, urllib3.exceptions.HTTPError, UnicodeError) as error:
            if time.monotonic() >= deadline:
                raise _too_slow(url, seconds) from error
            raise _explain(error, url, timeout) from error

    def _read(self, response: requests.Response, url: str, deadline: float, seconds: float) -> bytes:
        content = bytearray()
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            content += chunk
            if len(content) > self._limits.response_bytes:
                raise EnvironmentFault(
                    "CMD-API-014", f"the answer of {url} is larger than {self._limits.response_bytes} bytes"
                )
            if time.monotonic() >= deadline:
                raise _too_slow(url, seconds)
        if time.monotonic() >= deadline:  # what ends now may have been cut
            raise _too_slow(url, seconds)
        return bytes(content)


class _PassingFault(Exception):
    """Carries an error that may be gone when the request is repeated."""

    def __init__(self, error: CommodoreError) -> None:
        super().__init__(error)
        self.error = error


def retry_after(answer: Answer) -> float:
    """How many seconds the API wants us to wait; 0 if it does not say."""
    try:
        return Retry().parse_retry_after(answer.headers.get("Retry-After", "0"))
    except (urllib3.exceptions.HTTPError, ValueError, OverflowError):
        return 0.0


def _redirected(method: str, url: str, location: str, status: int) -> str:
    """Where a redirect leads, if the token may go there: to the same server, and not from https to http."""
    try:
        target = urldefrag(urljoin(url, location)).url
        allowed, shown = same_server(url, target), printable(without_credentials(target))
    except ValueError:
        allowed, target, shown = False, "", "a place that is no URL"
    if not allowed:
        raise PolicyError(
            "CMD-API-012",
            f"the Lieutenant API redirects from {url} to {shown}; the token is not sent there",
            hint="if the API has moved there, give its new URL with --api-url (COMMODORE_API_URL)",
        )
    if method == "POST" and status == 303:
        raise EnvironmentFault(
            "CMD-API-013",
            f"{url} answers a report by a redirect to another page (303)",
            hint="a proxy in front of the API may want a login",
        )
    return target


def _explain(error: Exception, url: str, timeout: float) -> Exception:
    """What requests, urllib3 or the operating system raised, as an error of ours."""
    causes = Causes(error)
    if causes.are_in_proxy:
        return _proxy_fault(url, causes.reason)
    if causes.are_in_trust:
        return EnvironmentFault(
            "CMD-API-008",
            f"no trusted connection to {url}: {causes.reason}",
            hint="set REQUESTS_CA_BUNDLE or SSL_CERT_FILE to a file with the certificate authority of the API",
        )
    if causes.are_in_time:
        message = f"{url} did not answer within {timeout:.3g} s"
        return _PassingFault(
            EnvironmentFault("CMD-API-007", message, hint=f"give more time with --request-timeout, or {_REACH_HINT}")
        )
    if causes.include(urllib3.exceptions.DecodeError):
        return EnvironmentFault("CMD-API-015", f"the answer of {url} cannot be unpacked", hint=_REACH_HINT)
    if causes.include(requests.exceptions.InvalidURL, urllib3.exceptions.LocationValueError, UnicodeError):
        if requests.utils.get_environ_proxies(url):  # the URL of the API has been checked, that of the proxy has not
            return _proxy_fault(url, "its URL is malformed")
        return InputError("CMD-API-002", f"{url} is not a valid URL", hint=_REACH_HINT)
    if causes.include(IncompleteRead, urllib3.exceptions.IncompleteRead):
        return _PassingFault(EnvironmentFault("CMD-API-006", f"the answer of {url} broke off", hint=_REACH_HINT))
    message = f"cannot reach {url}: {causes.reason}"
    return _PassingFault(EnvironmentFault("CMD-API-006", message, hint=_REACH_HINT))


def _too_slow(url: str, seconds: float) -> EnvironmentFault:
    message = f"the answer of {url} was not complete after {seconds:.3g} s"
    return EnvironmentFault("CMD-API-007", message, hint=_REACH_HINT)


def _proxy_fault(url: str, why: str) -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-API-026",
        f"the proxy on the way to {url} does not let us through: {why}",
        hint="check HTTPS_PROXY, HTTP_PROXY and NO_PROXY",
    )
