"""The way to release servers: small answers, and downloads that are hashed while they are written."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import IncompleteRead
from typing import IO, TypeVar
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import requests
import urllib3

from commodore.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.events import Announce, Noted
from commodore.http_session import REDIRECTS, Causes, open_session
from commodore.limits import Limits
from commodore.tools._answers import StatusError, without_credentials

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


@dataclass(frozen=True, slots=True)
class _Limit:
    size: int
    seconds: float


class Web:
    """One HTTP session.

    Args:
        timeout: seconds for connecting, and between two pieces of an answer.
        limits: sizes, times and the number of attempts.
        announce: hears of attempts that are repeated.
    """

    def __init__(self, timeout: float, limits: Limits, announce: Announce) -> None:
        self._timeout = timeout
        self._limits = limits
        self._announce = announce
        self._session = open_session()

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
                if response.status_code in REDIRECTS and location:
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
    causes = Causes(error)

    def unreachable(reason: str, hint: str = _REACH_HINT) -> EnvironmentFault:
        return EnvironmentFault("CMD-TOOL-008", f"cannot reach {url}: {reason}", hint=hint)

    if causes.are_in_proxy:
        return unreachable(f"the proxy does not let us through ({causes.reason})")
    if causes.are_in_trust:
        hint = "set REQUESTS_CA_BUNDLE or SSL_CERT_FILE to a file with the certificate authority of the server"
        return unreachable(causes.reason, hint)
    if causes.are_in_time:
        return _PassingFault(
            unreachable(f"no answer within {timeout:g} s", f"raise --request-timeout, or {_REACH_HINT}")
        )
    if causes.include(IncompleteRead, urllib3.exceptions.IncompleteRead, urllib3.exceptions.DecodeError):
        return _PassingFault(EnvironmentFault("CMD-TOOL-014", f"{url} broke off before its end", hint=_REACH_HINT))
    return _PassingFault(unreachable(causes.reason))
