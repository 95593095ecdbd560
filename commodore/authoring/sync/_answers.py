"""Classification of GitHub's errors: pauses, retries, and errors for users."""

from __future__ import annotations

import time
from typing import Any

from commodore.authoring.sync.model import Halt
from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.limits import Limits
from commodore.base.printable import only_printable
from commodore.core.sources.git import redact_text
from commodore.core.sources.http import retry_after

_PASSING = frozenset({500, 502, 503, 504})
_SHOWN = 300
_URL_HINT = "check --github-url (COMMODORE_GITHUB_URL), the network and the proxy settings"


class TemporaryFailure(Exception):
    """A temporary failure, with the error to raise if retries do not help."""

    def __init__(self, error: CommodoreError | Halt) -> None:
        super().__init__(error.message if isinstance(error, CommodoreError) else str(error))
        self.error = error


def pause_asked_for(error: Exception, attempt: int, limits: Limits) -> float | None:
    """Return the pause in seconds that GitHub's rate limits require; None for other errors."""
    from github import GithubException

    if not isinstance(error, GithubException) or error.status not in (403, 429):
        return None
    headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
    if "retry-after" in headers:
        return retry_after({"Retry-After": headers["retry-after"]})
    if headers.get("x-ratelimit-remaining") == "0" and _number(headers.get("x-ratelimit-reset")) is not None:
        reset = _number(headers["x-ratelimit-reset"]) or 0.0
        return max(reset - time.time(), 0.0) + 1  # the reset happens within that second
    if int(error.status) == 429 or "rate limit" in _words(error).lower():
        return limits.github_limited * float(2 ** (attempt - 1))
    return None


def explain(error: Exception, name: str, url: str, *, changes: bool, asked: float | None) -> Exception:
    """Return the error for an exception of PyGithub: a `CommodoreError` or `Halt`, perhaps as `TemporaryFailure`."""
    import requests
    from github import GithubException

    if isinstance(error, GithubException):
        if asked is not None:
            return TemporaryFailure(Halt(_limited(asked)))
        return _refusal(error, name, url, changes)
    if isinstance(error, requests.exceptions.SSLError):
        return Halt(
            EnvironmentFault(
                "CMD-SYNC-024",
                f"TLS certificate verification failed for {url}",
                hint="set REQUESTS_CA_BUNDLE to a file with the certificate authority of the server",
            )
        )
    if isinstance(error, (requests.exceptions.RequestException, OSError)):
        timeout = isinstance(error, requests.exceptions.Timeout)
        what = f"{url} did not answer in time" if timeout else f"{url} cannot be reached"
        return TemporaryFailure(Halt(EnvironmentFault("CMD-SYNC-024", what, hint=_URL_HINT)))
    return EnvironmentFault(
        "CMD-SYNC-025",
        f"the response of {url} about {name} is invalid: {_clean(str(error) or type(error).__name__)}",
        hint=_URL_HINT,
    )


def _refusal(error: Any, name: str, url: str, changes: bool) -> Exception:
    """Return the error for a status of 400 and above."""
    status, words = error.status, _words(error)
    if status == 401:
        return Halt(
            EnvironmentFault(
                "CMD-SYNC-020",
                f"{url} does not accept the token: {words}",
                hint="it may be expired, or for another server: set COMMODORE_GITHUB_TOKEN again",
            )
        )
    if status in (403, 404) and changes:
        return EnvironmentFault(
            "CMD-SYNC-021",
            f"the token may not create or update pull requests of {name}: {words}",
            hint="it needs the scope 'public_repo' ('repo' for private ones), or to write pull requests and contents",
        )
    if status == 422:
        return EnvironmentFault(
            "CMD-SYNC-022",
            f"GitHub refuses the pull request of {name}: {words}",
            hint="check the branch and the rules of the repository",
        )
    fault = EnvironmentFault("CMD-SYNC-023", f"GitHub answers {status} for {name}: {words}", hint="try again later")
    return TemporaryFailure(fault) if status in _PASSING else fault


def _limited(asked: float) -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-SYNC-026",
        f"GitHub has limited the rate of requests and requests a pause of {asked:.0f} s",
        hint="run the same command again after that time: it continues where this run has ended",
    )


def _words(error: Any) -> str:
    """Return GitHub's message with its details."""
    data = error.data if isinstance(error.data, dict) else {"message": str(error.data or "")}
    said = [str(data.get("message") or "")]
    details = data.get("errors")
    said += [
        str(detail.get("message") or detail.get("code") or "") if isinstance(detail, dict) else str(detail)
        for detail in (details if isinstance(details, list) else [])
    ]
    return _clean("; ".join(each for each in said if each)) or "no reason is given"


def _clean(text: str) -> str:
    clean = redact_text(only_printable(text))
    return clean if len(clean) <= _SHOWN else clean[:_SHOWN] + "…"


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
