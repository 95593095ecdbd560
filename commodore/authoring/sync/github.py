"""GitHub's API by PyGithub, which is imported for the first request, as importing it is slow.

Retries repeat a whole step, which checks the state before it changes anything, so that a request whose response was
lost is not made twice. Requests are sequential, as GitHub requires.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from commodore.authoring.sync._answers import TemporaryFailure, explain, pause_asked_for
from commodore.authoring.sync.model import Halt
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, UsageError
from commodore.base.events import Noted
from commodore.version import __version__

if TYPE_CHECKING:
    from github.GithubObject import GithubObject
    from github.PaginatedList import PaginatedList
    from github.PullRequest import PullRequest
    from github.Repository import Repository as ApiRepository

_T = TypeVar("_T")
_Listed = TypeVar("_Listed", bound="GithubObject")
_TOKEN = re.compile(r"[!-~]+")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the API. `name` is its current name: after a renaming the API still accepts the old one."""

    name: str
    clone_url: str
    default_branch: str
    archived: bool
    handle: ApiRepository


@dataclass(frozen=True, slots=True)
class Pull:
    """An open pull request."""

    url: str
    body: str
    labels: frozenset[str]
    handle: PullRequest


@dataclass(frozen=True, slots=True)
class PullRequestContent:
    """The desired state of a pull request: `comment` is added unless it exists; empty for no comment."""

    title: str
    body: str
    base: str
    branch: str
    labels: Sequence[str]
    comment: str


class GitHub:
    """The API of a server with a token. Methods may be called from several threads.

    Raises:
        UsageError: the token or the URL is invalid.
    """

    def __init__(self, url: str, token: str | None, context: Context) -> None:
        self.url = _check_url(url)
        self.token = _check_token(token)
        self._context = context
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._api: Any = None

    def stop(self) -> None:
        """End all current and future pauses; waiting threads get `Halt`."""
        self._stopping.set()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._api is not None:
                self._api.close()

    def wait(self, seconds: float) -> None:
        """Pause for some seconds.

        Raises:
            Halt: the run was stopped.
        """
        if self._stopping.wait(seconds):
            raise Halt(EnvironmentFault("CMD-SYNC-027", "the run was stopped", hint="run again to continue it"))

    def repository(self, name: str) -> Repository | None:
        """Look up `owner/repository`; None if it does not exist, or is not visible with the token.

        Raises:
            CommodoreError: GitHub returned an error or no response.
            Halt: all other requests would fail, too.
        """

        def look() -> Repository | None:
            from github import UnknownObjectException

            try:
                handle = self._client().get_repo(name)
            except UnknownObjectException:
                return None
            full_name, url, branch = _texts(handle.full_name, handle.clone_url, handle.default_branch)
            return Repository(full_name, url, branch, bool(handle.archived), handle)

        return self._ask(name, look)

    def pull(self, repository: Repository, branch: str) -> Pull | None:
        """Return the open pull request of this branch of this repository, not of a fork's branch with the same name.

        Raises: see `repository`.
        """
        return self._ask(repository.name, lambda: self._find_pull(repository, branch))

    def publish(self, repository: Repository, content: PullRequestContent) -> tuple[Pull, bool]:
        """Open the pull request or update it. Returns it, and True if it is new.

        Title and labels that users have set stay.

        Raises: see `repository`.
        """

        def step() -> tuple[Pull, bool]:
            pull = self._find_pull(repository, content.branch)
            created = pull is None
            if pull is None:
                pull = _pull(
                    repository.handle.create_pull(
                        base=content.base, head=content.branch, title=content.title, body=content.body
                    )
                )
            elif pull.body != content.body:
                pull.handle.edit(body=content.body)
            missing = [label for label in dict.fromkeys(content.labels) if label.lower() not in pull.labels]
            if missing:
                pull.handle.add_to_labels(*missing)
            if content.comment and not self._has_comment(pull, content.comment):
                pull.handle.create_issue_comment(content.comment)
            return pull, created

        return self._ask(repository.name, step, changes=True)

    def is_current(self, repository: Repository, pull: Pull, content: PullRequestContent) -> bool:
        """Check if nothing of the pull request would change.

        Raises: see `repository`.
        """
        if pull.body != content.body or not {label.lower() for label in content.labels} <= pull.labels:
            return False
        return not content.comment or self._ask(repository.name, lambda: self._has_comment(pull, content.comment))

    def _client(self) -> Any:
        if self._api is None:
            from github import Auth, Github

            self._api = Github(
                auth=Auth.Token(self.token),
                base_url=self.url,
                timeout=self._context.limits.github_timeout,
                user_agent=f"commodore/{__version__}",
                per_page=100,
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=self._context.limits.github_writes or None,
            )
        return self._api

    def _ask(self, name: str, step: Callable[[], _T], *, changes: bool = False) -> _T:
        """Run a step, and retry temporary failures."""
        last = self._context.limits.github_attempts
        with self._lock:
            for attempt in range(1, last + 1):
                try:
                    if self._stopping.is_set():
                        self.wait(0)
                    return step()
                except (Halt, CommodoreError):
                    raise
                except Exception as error:  # PyGithub passes on those of requests, urllib3 and its own asserts
                    asked = pause_asked_for(error, attempt, self._context.limits)
                    failure = explain(error, name, self.url, changes=changes, asked=asked)
                    if not isinstance(failure, TemporaryFailure):
                        raise failure from error
                    if attempt == last or (asked or 0) > self._context.limits.github_wait:
                        raise failure.error from error
                pause = self._context.limits.github_backoff * 2 ** (attempt - 1) if asked is None else asked
                self._context.announce(Noted(f"{failure}; trying again in {pause:.0f} s ({attempt} of {last - 1})"))
                self.wait(pause)
        raise ValueError("github_attempts must be at least 1")

    def _find_pull(self, repository: Repository, branch: str) -> Pull | None:
        owner = repository.name.partition("/")[0]
        for pull in self._listed(repository.handle.get_pulls(state="open", head=f"{owner}:{branch}")):
            source = cast("ApiRepository | None", pull.head.repo)  # None: the fork was deleted
            if source is None or source.full_name.lower() != repository.name.lower():
                continue
            if pull.head.ref == branch:
                return _pull(pull)
        return None

    def _has_comment(self, pull: Pull, comment: str) -> bool:
        """Check if a pull request has a comment, regardless of line endings, which GitHub may change."""
        words = comment.split()
        return any((each.body or "").split() == words for each in self._listed(pull.handle.get_issue_comments()))

    def _listed(self, pages: PaginatedList[_Listed]) -> Iterator[_Listed]:
        """The entries of a list that arrives in pages.

        Iterating over the list itself would keep all entries in memory, and follow links to further pages for ever.

        Raises:
            EnvironmentFault: CMD-SYNC-029, it has more pages than the limit allows.
        """
        most = self._context.limits.github_pages
        for _ in range(most):
            if not pages._couldGrow():
                return
            self.wait(0)
            yield from pages._fetchNextPage()
        if pages._couldGrow():
            raise EnvironmentFault(
                "CMD-SYNC-029",
                f"a list of pull requests or comments of {self.url} has more than {most} pages",
                hint="raise github_pages with COMMODORE_LIMITS if it is that long",
            )


def _pull(handle: PullRequest) -> Pull:
    labels = frozenset(label.name.lower() for label in handle.labels)
    body = (handle.body or "").replace("\r\n", "\n")
    [url] = _texts(handle.html_url)
    return Pull(url, body, labels, handle)


def _texts(*values: object) -> tuple[str, ...]:
    """Check that values are strings: PyGithub returns None if they are missing in the API's response."""
    texts = tuple(value for value in values if isinstance(value, str) and value and value.isprintable())
    if len(texts) < len(values):
        raise ValueError("a value is missing in it")
    return texts


def _check_token(token: str | None) -> str:
    token = (token or "").strip()
    if not token:
        raise UsageError(
            "CMD-SYNC-001",
            "a token for GitHub is needed",
            hint="set it in the variable COMMODORE_GITHUB_TOKEN, or with --github-token",
        )
    if not _TOKEN.fullmatch(token):
        raise UsageError(
            "CMD-SYNC-001",
            "the token for GitHub contains characters that are not allowed in a token",
            hint="set the token itself in COMMODORE_GITHUB_TOKEN or with --github-token",
        )
    return token


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not host or not secure or parts.username or parts.password or parts.query or parts.fragment or " " in url:
        raise UsageError(
            "CMD-SYNC-007",
            "the URL of GitHub's API is invalid: it must begin with https://, and have no user, '?' or '#'",
            hint="set a URL like https://github.example.com/api/v3 with --github-url (COMMODORE_GITHUB_URL)",
        )
    return url.rstrip("/")
