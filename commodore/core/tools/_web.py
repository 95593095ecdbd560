"""HTTP client for release servers: small responses, and downloads that are hashed while they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.core.sources.http import UNTRUSTED_HINT, Meaning, Problem

if TYPE_CHECKING:
    from commodore.core.sources.http import Answer, Policy

_REACH_HINT = "check the network and the proxy settings (HTTPS_PROXY, NO_PROXY)"
_BROKEN_OFF = Meaning(EnvironmentFault, "CMD-TOOL-014", _REACH_HINT)
_MEANINGS = {
    **dict.fromkeys(Problem, Meaning(EnvironmentFault, "CMD-TOOL-008", _REACH_HINT)),
    Problem.NO_ANSWER: Meaning(EnvironmentFault, "CMD-TOOL-008", f"raise --request-timeout, or {_REACH_HINT}"),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-TOOL-008", UNTRUSTED_HINT),
    Problem.BROKEN_OFF: _BROKEN_OFF,
    Problem.UNREADABLE: _BROKEN_OFF,
    Problem.TOO_LARGE: Meaning(PolicyError, "CMD-TOOL-015", "is it the right file?"),
    Problem.REDIRECT_REFUSED: Meaning(
        PolicyError, "CMD-TOOL-016", "what comes from there could have been changed on the way; use another mirror"
    ),
    Problem.REDIRECT_LOOP: Meaning(EnvironmentFault, "CMD-TOOL-011", "try again later"),
}

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes so far, and the total if it is known."""


class StatusError(Exception):
    """A response with another status than 200."""

    def __init__(self, url: str, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(f"{url} returned {status}")
        self.url = url
        self.status = status
        self.headers = headers

    def as_fault(self) -> EnvironmentFault:
        """Return the error for a status without a meaning of its own."""
        return EnvironmentFault("CMD-TOOL-011", f"{self.url} returned {self.status}", hint="try again later")


class Web:
    """One HTTP session. Release servers keep files elsewhere, so redirects to other hosts are followed.

    Args:
        timeout: seconds for connecting, and between two chunks of a response.
    """

    def __init__(self, timeout: float, context: Context) -> None:
        from commodore.core.sources.http import Client  # loads a slow library

        self._timeout = timeout
        self._limits = context.limits
        self._client = Client(context, _MEANINGS)

    def close(self) -> None:
        self._client.close()

    def read(
        self,
        url: str,
        size: int,
        headers: Mapping[str, str] | None = None,
        credentials: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return the body of a small response, of at most `size` bytes.

        Args:
            credentials: further headers, sent to the server of the URL only, not to others that it redirects to.

        Raises:
            StatusError: another status than 200.
            EnvironmentFault: CMD-TOOL-008, no response; 014, it was cut off.
            PolicyError: CMD-TOOL-015, it is too large; 016, a redirect leaves https.
        """
        policy = self._policy(self._limits.response_seconds, size)
        return _checked(self._client.get(url, policy, headers=headers, credentials=credentials)).body

    def save(self, url: str, file: IO[bytes], size: int, progress: Progress) -> str:
        """Download the URL to `file`, which is truncated first. Returns the SHA-256 of the content.

        Raises: as `read`.
        """
        hashed = _HashedFile(file, progress)
        _checked(self._client.get(url, self._policy(self._limits.tool_download_seconds, size), sink=hashed))
        file.flush()
        return hashed.digest.hexdigest()

    def _policy(self, seconds: float, size: int) -> Policy:
        from commodore.core.sources.http import Policy

        limits = self._limits
        return Policy(
            self._timeout, seconds, size, limits.request_attempts, rate=limits.download_rate, other_servers=True
        )


class _HashedFile:
    """A sink that writes a download to a file, from the start in each attempt, and computes its SHA-256."""

    def __init__(self, file: IO[bytes], progress: Progress) -> None:
        self._file = file
        self._progress = progress
        self._total: int | None = None
        self._done = 0
        self.digest = hashlib.sha256()

    def begin(self, total: int | None) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._total, self._done, self.digest = total, 0, hashlib.sha256()

    def write(self, chunk: bytes) -> None:
        self.digest.update(chunk)
        self._file.write(chunk)
        self._done += len(chunk)
        self._progress(self._done, self._total)


def _checked(answer: Answer) -> Answer:
    if answer.status != 200:
        raise StatusError(answer.url, answer.status, answer.headers)
    return answer
