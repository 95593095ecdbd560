"""Dry commits: author, date, message, the reference of the trailers, signature, and superseded commits."""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.events import Announce, Warned
from commodore.base.values.commits import is_commit
from commodore.core.sources.git import Git, RemoteState, Repository, RepositoryStore, redact, redact_text
from commodore.hydrate.model import CommitRequest, DryCommit, Reference

_FORMAT = "%H%n%an <%ae>%n%aI"
_TRAILER = "Argocd-reference-commit-"
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_LONGEST_MESSAGE = 1 << 20


def read_commit(repository: Path, sha: str, context: Context) -> DryCommit:
    """Read the provenance of a commit.

    Args:
        repository: a repository with the commit.

    Raises:
        EnvironmentFault: git fails, for example because the commit is missing.
    """
    git = Git(repository, context)
    arguments = ["show", "--no-patch", "--no-mailmap", f"--format={_FORMAT}", "--end-of-options", sha]
    shown = git.run(arguments).stdout.decode("utf-8", "replace")
    full, author, date = shown.split("\n")[:3]
    message = _message(git.run(["cat-file", "commit", sha]).stdout, sha, context.announce)
    subject, body = split_message(message)
    trailers = _trailers(git, message)
    reference, recorded = read_reference(trailers, lambda what: _warn(context.announce, sha, what))
    return DryCommit(full, _one_line(author), _in_utc(date), subject, without_lines(body, recorded), reference)


def _message(raw: bytes, sha: str, announce: Announce) -> str:
    """Return the message of a commit; warn with CMD-HYD-027 if parts of it were dropped."""
    head, _, content = raw.partition(b"\n\n")
    named = re.search(rb"^encoding (\S+)$", head, re.MULTILINE)
    try:
        message = content.decode(named[1].decode("ascii") if named else "utf-8")
    except (UnicodeDecodeError, LookupError):
        message = content.decode("utf-8", "replace")
    kept = message.replace("\0", "\ufffd")[:_LONGEST_MESSAGE]
    if "\ufffd" in kept or len(kept) < len(message):
        announce(
            Warned(
                "CMD-HYD-027",
                f"the message of commit {sha[:7]} is too long, or is not valid UTF-8; the rest of it is recorded",
                hint="write messages in UTF-8",
            )
        )
    return kept


def reference_to(repository: Repository, sha: str, context: Context) -> Reference:
    """Return a commit of the global configuration as the reference of a catalog.

    Raises:
        EnvironmentFault: git fails.
    """
    commit = read_commit(repository.path, sha, context)
    url = repository.display_url if urlsplit(repository.url).scheme in ("http", "https") else ""  # others read by none
    return Reference(commit.author, commit.date, commit.subject, commit.body, commit.sha, url)


def check_signature(repository: Path, sha: str, tags: Iterable[str], context: Context) -> None:
    """Verify the signature of a commit, or of one of its tags, with git.

    Args:
        tags: names of tags, if the commit was requested by tag.

    Raises:
        PolicyError: CMD-HYD-053, the signature is missing or not good.
    """
    git = Git(repository, context)
    answer = git.run(["verify-commit", sha], check=False)
    is_good = answer.returncode == 0 or any(
        git.run(["rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}"], check=False).text == sha
        and git.run(["verify-tag", f"refs/tags/{tag}"], check=False).returncode == 0
        for tag in tags
    )
    if not is_good:
        said = redact_text(" ".join(answer.stderr.split())) or "it has no signature"
        raise PolicyError(
            "CMD-HYD-053",
            f"the signature of the dry commit {sha[:7]} is not good: {said}",
            hint="sign it, or make the key known: gpg --import, or gpg.ssh.allowedSignersFile for ssh",
        )


def superseded(store: RepositoryStore, requests: Sequence[tuple[CommitRequest, str]]) -> list[str]:
    """Return the reason for each request that is superseded, as its sources have moved on; empty for other requests.
    Each dry repository is queried once.

    Args:
        store: the clones of the dry repositories.
        requests: each with the dry commit in the note of its group; empty without a note.

    Raises:
        EnvironmentFault: a dry repository does not answer.
    """
    asked: dict[str, RemoteState] = {}
    reasons = []
    for request, known in requests:
        repository, sha, reason = store.repository(request.scope.dry_url), request.commit.sha, ""
        if request.follows:
            if repository.key not in asked:
                asked[repository.key] = repository.ask_again()
            tips = asked[repository.key].branches
            moved = [name for name in request.follows if tips.get(name) != sha]
            reason = _moved(repository, sha, moved[0], tips.get(moved[0], "")) if moved else ""
        elif known and known != sha and is_older(repository, sha, known):
            reason = f"it is hydrated from {known[:7]}, which is newer; add --allow-older to go back"
        reasons.append(reason)
    return reasons


def _moved(repository: Repository, sha: str, branch: str, tip: str) -> str:
    """Return the reason why a commit is superseded, as its branch is now at `tip` (empty: deleted)."""
    if tip and is_older(repository, sha, tip):
        return f"the branch {branch} of the sources has moved meanwhile; run again"
    what = "was rewritten" if tip else "is gone"
    repository.context.announce(
        Warned(
            "CMD-HYD-037",
            f"the branch {branch} of {repository.display_url} {what} while {sha[:7]} was hydrated from it",
            hint="nothing of that commit was pushed; run again if the branch is right",
        )
    )
    return f"the branch {branch} of the sources {what} meanwhile"


def is_older(repository: Repository, sha: str, known: str) -> bool:
    """Return True if a commit is an ancestor of another; False if either is unavailable."""
    try:
        repository.ensure_present()
        if not all(repository.has_commits([item]) or repository.fetch_commit(item) for item in (sha, known)):
            return False
    except EnvironmentFault:
        return False
    git = Git(repository.path, repository.context)
    return git.run(["merge-base", "--is-ancestor", sha, known], check=False).returncode == 0


def split_message(message: str) -> tuple[str, str]:
    """Split a message into its subject on one line and its body; a non-empty body ends with a line feed."""
    lines = message.strip("\n").split("\n")
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    subject = " ".join(line.strip() for line in lines[:end])
    body = "\n".join(lines[end:]).strip("\n")
    return _one_line(subject), f"{body}\n" if body else ""


def read_reference(
    trailers: list[tuple[str, str]], warn: Callable[[str], None]
) -> tuple[Reference | None, frozenset[str]]:
    """Return the reference of the trailers, and the lines used for it; other lines stay in the body."""
    values: dict[str, str] = {}
    recorded = set[str]()
    for key, value in trailers:
        name = key.removeprefix(_TRAILER)
        if name == key or name not in _PARTS:
            continue
        read = _PARTS[name](value)
        if read is None:
            warn(f"the trailer {key} is not {_MEANT[name]}")
            continue
        values[name] = read
        recorded.add(f"{key}: {value}")
    if not values:
        return None, frozenset()
    return Reference(**{"url" if name == "repourl" else name: value for name, value in values.items()}), frozenset(
        recorded
    )


def without_lines(body: str, lines: frozenset[str]) -> str:
    """Return a body without some of its lines."""
    if not lines:
        return body
    kept = "\n".join(line for line in body.split("\n") if line not in lines).rstrip("\n")
    return f"{kept}\n" if kept.strip() else ""


def _trailers(git: Git, message: str) -> list[tuple[str, str]]:
    if _TRAILER not in message:
        return []
    arguments = ["interpret-trailers", "--parse", "--no-divider"]
    data = message.encode("utf-8", "surrogateescape")
    result = git.run(arguments, input=data).text
    pairs = (line.partition(": ") for line in result.split("\n"))
    return [(key, value) for key, colon, value in pairs if colon]


def _mailbox(value: str) -> str | None:
    name, address = email.utils.parseaddr(value)
    if "@" not in address or not name or len(email.utils.getaddresses([value])) != 1:
        return None
    return f"{name} <{address}>"


def _date(value: str) -> str | None:
    if not _RFC_3339.fullmatch(value):
        return None
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return None
    return value


def _json_text(value: str) -> str | None:
    try:
        read = json.loads(value)
    except ValueError:
        return None
    return read if isinstance(read, str) else None


def _sha(value: str) -> str | None:
    return value if is_commit(value) else None


def _url(value: str) -> str | None:
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    return redact(value) if parts.scheme in ("http", "https") and parts.hostname else None


_PARTS: dict[str, Callable[[str], str | None]] = {
    "author": _mailbox,
    "date": _date,
    "subject": lambda value: value,
    "body": _json_text,
    "sha": _sha,
    "repourl": _url,
}
_MEANT = {
    "author": "one mailbox, such as Jo <jo@example.com>",
    "date": "a date and time (RFC 3339)",
    "body": "a JSON string",
    "sha": "a full commit id",
    "repourl": "an http or https URL",
}


def _in_utc(date: str) -> str:
    """Convert a date of git to UTC, independent of the machine's time zone."""
    return datetime.fromisoformat(date).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).strip()


def _warn(announce: Announce, sha: str, what: str) -> None:
    announce(
        Warned(
            "CMD-HYD-024", f"commit {sha[:7]}: {what}; it stays in the message", hint="correct it in the next commit"
        )
    )
