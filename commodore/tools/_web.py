"""The way to release servers: small answers, and downloads that are hashed while they are written."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import IncompleteRead
from typing import IO, Any, TypeVar
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import requests
import urllib3

from commodore import __version__
from commodore.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.events import Announce, Noted
from commodore.limits import Limits
from commodore.tools._answers import StatusError, without_credentials

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({500, 502, 503, 504})
_CHUNK = 1 << 16
_REACH_HINT = "check the network and the proxy settings (HTTPS_PROXY, NO_PROXY)"

Progress = Callable[[int, int | None], None]
"""Is told how many bytes have come, and of how many if that is known."""

_Result = TypeVar("_Result")


class _PassingFault(Exception):
    """Carries an error that may be gone when the request is repeated."""

    def __init__(self, error: CommodoreError | StatusError) -> None:
        super().__init__(str(error))
        self.error = error


class _RequestsSession(requests.Session):
    """Leaves redirects to us: where they may lead is decided here."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


@dataclass(frozen=True, slots=True)
class _Limit:
    size: int
    seconds: float


class Web:
    """One HTTP session. The environment's proxies and certificate authorities count, an entry in `.netrc` does not.

    Args:
        timeout: seconds for connecting, and between two pieces of an answer.
        limits: sizes, times and the number of attempts.
        announce: hears of attempts that are repeated.
    """

    def __init__(self, timeout: float, limits: Limits, announce: Announce) -> None:
        self._timeout = timeout
        self._limits = limits
        self._announce = announce
        self._session = _RequestsSession()
        self._session.headers.update({"User-Agent": f"commodore/{__version__}"})
        self._session.auth = _leave_as_is
        self._session.verify = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR") or True

    def close(self) -> None:
        self._session.close()

    def read(self, url: str, size: int, headers: Mapping[str, str] | None = None) -> bytes:
        """A small answer, of at most `size` bytes.

        Args:
            headers: further headers, sent to the server of the URL and not to another one that it redirects to.

        Raises:
            StatusError: another status than 200.
            EnvironmentFault: CMD-TOOL-008, no answer; 014, it broke off.
            PolicyError: CMD-TOOL-015, it is too large; 016, a redirect leaves https.
        """

        def attempt() -> bytes:
            content = bytearray()
            with self._open(url, headers or {}) as response:
                for chunk in self._chunks(response, url, _Limit(size, self._limits.response_seconds), decode=True):
                    content += chunk
            return bytes(content)

        return self._repeat(attempt)

    def save(self, url: str, file: IO[bytes], size: int, progress: Progress) -> str:
        """Write what is at the URL to `file`, which is emptied first; returns its SHA-256.

        Raises: as `read`.
        """

        def attempt() -> str:
            digest, done = hashlib.sha256(), 0
            file.seek(0)
            file.truncate()
            with self._open(url, {"Accept-Encoding": "identity"}) as response:
                length = response.headers.get("Content-Length", "")
                total = int(length) if length.isdecimal() else None
                if total is not None and total > size:
                    raise _too_large(url, size)
                limit = _Limit(size, self._limits.tool_download_seconds)
                for chunk in self._chunks(response, url, limit, decode=False):
                    digest.update(chunk)
                    file.write(chunk)
                    done += len(chunk)
                    progress(done, total)
            file.flush()
            return digest.hexdigest()

        return self._repeat(attempt)

    def _repeat(self, attempt: Callable[[], _Result]) -> _Result:
        """Try again, with growing pauses, what failed in a way that may pass."""
        attempts = self._limits.request_attempts
        for number in range(1, attempts):
            try:
                return attempt()
            except _PassingFault as fault:
                pause = self._limits.request_backoff * 2 ** (number - 1)
                reason = fault.error.message if isinstance(fault.error, CommodoreError) else str(fault.error)
                self._announce(Noted(f"{reason}; trying again in {pause:g} s ({number} of {attempts - 1})", level=1))
                time.sleep(pause)
        try:
            return attempt()
        except _PassingFault as fault:
            raise fault.error from fault.__cause__

    @contextlib.contextmanager
    def _open(self, url: str, headers: Mapping[str, str]) -> Iterator[requests.Response]:
        """The answer with status 200 that redirects lead to."""
        first, shown = urlsplit(url), without_credentials(url)
        for _ in range(self._limits.redirects + 1):
            parts = urlsplit(url)
            same = (parts.scheme, parts.netloc) == (first.scheme, first.netloc)
            sent = {**headers, **_basic(url)} if same else {"Accept-Encoding": headers.get("Accept-Encoding", "gzip")}
            with self._send(without_credentials(url), sent) as response:
                location = response.headers.get("Location")
                if response.status_code in _REDIRECTS and location:
                    url = _redirected(url, location)
                    continue
                if response.status_code != requests.codes.ok:
                    error = StatusError(shown, response.status_code, response.headers)
                    raise _PassingFault(error) if response.status_code in _PASSING else error
                yield response
                return
        raise EnvironmentFault(
            "CMD-TOOL-011", f"{shown} redirects more than {self._limits.redirects} times", hint="try again later"
        )

    @contextlib.contextmanager
    def _send(self, url: str, headers: Mapping[str, str]) -> Iterator[requests.Response]:
        with self._explaining(url):
            response = self._session.get(
                url,
                headers=dict(headers),
                timeout=(self._timeout, self._timeout),
                allow_redirects=False,
                stream=True,
            )
        with response:
            yield response

    def _chunks(self, response: requests.Response, url: str, limit: _Limit, *, decode: bool) -> Iterator[bytes]:
        shown = without_credentials(url)
        deadline, size = time.monotonic() + limit.seconds, 0
        while True:
            with self._explaining(shown):
                chunk = response.raw.read1(_CHUNK, decode_content=decode)
            if not chunk:
                return
            size += len(chunk)
            if size > limit.size:
                raise _too_large(shown, limit.size)
            if time.monotonic() > deadline:
                raise EnvironmentFault(
                    "CMD-TOOL-008", f"{shown} had not arrived after {limit.seconds:g} s", hint=_REACH_HINT
                )
            yield chunk

    @contextlib.contextmanager
    def _explaining(self, url: str) -> Iterator[None]:
        try:
            yield
        except (OSError, urllib3.exceptions.HTTPError, UnicodeError) as error:
            raise _explain(error, url, self._timeout) from error


def _basic(url: str) -> dict[str, str]:
    """What a mirror's user and password become."""
    parts = urlsplit(url)
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _leave_as_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Having an authentication of its own keeps a session from looking into `.netrc`."""
    return request


def _redirected(url: str, location: str) -> str:
    """Where a redirect leads. Release servers keep files elsewhere, so other hosts are fine, but https stays https."""
    try:
        target = urldefrag(urljoin(url, location)).url
        scheme, host = urlsplit(target).scheme, urlsplit(target).hostname
        shown = without_credentials(target)
    except ValueError:
        scheme, host, target, shown = "", None, "", "a place that is no URL"
    if not host or scheme not in ("http", "https") or (scheme == "http" and url.startswith("https:")):
        raise PolicyError(
            "CMD-TOOL-016",
            f"{without_credentials(url)} redirects to {shown}, which is not https",
            hint="what comes from there could have been changed on the way; use another mirror",
        )
    return target


def _too_large(url: str, size: int) -> PolicyError:
    return PolicyError(
        "CMD-TOOL-015", f"{without_credentials(url)} is larger than {size} bytes", hint="is it the right file?"
    )


def _explain(error: Exception, url: str, timeout: float) -> Exception:
    """What requests, urllib3 or the operating system raised, as an error of ours."""
    causes = list(_causes(error))

    def caused_by(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    def unreachable(reason: str, hint: str = _REACH_HINT) -> EnvironmentFault:
        return EnvironmentFault("CMD-TOOL-008", f"cannot reach {url}: {reason}", hint=hint)

    if caused_by(requests.exceptions.InvalidProxyURL, requests.exceptions.ProxyError, urllib3.exceptions.ProxyError):
        return unreachable(f"the proxy does not let us through ({_innermost(causes)})")
    if caused_by(ssl.SSLError, urllib3.exceptions.SSLError) or type(error) is OSError:  # requests: a missing CA bundle
        hint = "set REQUESTS_CA_BUNDLE or SSL_CERT_FILE to a file with the certificate authority of the server"
        return unreachable(_innermost(causes), hint)
    if caused_by(requests.exceptions.Timeout, urllib3.exceptions.ReadTimeoutError, TimeoutError):
        return _PassingFault(
            unreachable(f"no answer within {timeout:g} s", f"raise --request-timeout, or {_REACH_HINT}")
        )
    if caused_by(IncompleteRead, urllib3.exceptions.IncompleteRead, urllib3.exceptions.DecodeError):
        return _PassingFault(EnvironmentFault("CMD-TOOL-014", f"{url} broke off before its end", hint=_REACH_HINT))
    return _PassingFault(unreachable(_innermost(causes)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was made of, outermost first. requests and urllib3 use three ways of wrapping."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, BaseException) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [getattr(current, "reason", None), *current.args, current.__cause__, current.__context__]


def _innermost(causes: list[BaseException]) -> str:
    """A short reason, in the operating system's words where it has some. Whole texts of libraries repeat URLs."""
    for cause in reversed(causes):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    last = causes[-1]
    return str(last.args[0] if last.args else type(last).__name__)[:200]
