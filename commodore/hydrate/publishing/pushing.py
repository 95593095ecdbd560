"""Pushes of branches and notes of a repository together, never forced."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from commodore.base.errors import EnvironmentFault
from commodore.core.sources.git import GitRights, Repository, last_words, redact_text, was_overtaken

_LOST_RACE = re.compile(r"cannot lock ref|incorrect old value|reference already exists|failed to lock")
"""Messages of servers for the refs of an atomic push that lost against another push."""
_ATOMIC_SIBLING = re.compile(r"\(atomic (push|transaction) fail(ed|ure)\)")
_NOT_ATOMIC = "the receiving end does not support --atomic push"
_UNKNOWN_USER = re.compile(r"could not read (Username|Password) for")
"""git would prompt: it has no credentials, or they were rejected."""
_WRONG_USER = re.compile(r"Authentication failed|Permission denied \(")
_HEADS = "refs/heads/"

Answer = Literal["pushed", "moved", "refused", "held"]


@dataclass(frozen=True, slots=True)
class PushAnswer:
    """The answer of a remote.

    Attributes:
        answers: by ref. `held` refs were not accepted because another ref was refused.
        words: the server's messages about refused refs.
        atomic: True if the server supports atomic pushes.
    """

    answers: Mapping[str, Answer]
    words: Mapping[str, str] = field(default_factory=dict)
    atomic: bool = True

    @property
    def all_there(self) -> bool:
        return all(answer == "pushed" for answer in self.answers.values())


def push(
    repository: Repository,
    refs: Mapping[str, str],
    expected: Mapping[str, str],
    rights: GitRights | None = None,
    *,
    dry: bool = False,
) -> PushAnswer:
    """Push commits to refs of a remote, atomically if the server supports it.

    Args:
        repository: its bare clone, which has the commits.
        refs: commits by full ref name.
        expected: the current commits by full ref name; an absent ref must not exist on the remote. A ref at another
            commit, or a deleted ref, counts as moved.
        rights: the credentials of the push; None for git's own configuration.
        dry: only check if the remote would accept the push.

    Raises:
        EnvironmentFault: CMD-HYD-051, the remote does not answer.
    """
    leased = {ref: (sha, expected.get(ref, "")) for ref, sha in refs.items()}
    answer = _push(repository, leased, rights, dry=dry, atomic=True)
    if answer.atomic:
        return answer
    notes = {ref: pair for ref, pair in leased.items() if not ref.startswith(_HEADS)}
    branches = {ref: pair for ref, pair in leased.items() if ref not in notes}
    first = _push(repository, branches, rights, dry=dry, atomic=False) if branches else PushAnswer({})
    taken = all(answer == "pushed" for answer in first.answers.values())
    second = _push(repository, notes, rights, dry=dry, atomic=False) if notes and taken else PushAnswer({})
    held: dict[str, Answer] = {} if taken else dict.fromkeys(notes, "held")
    return PushAnswer({**first.answers, **second.answers, **held}, {**first.words, **second.words}, atomic=False)


def _push(
    repository: Repository,
    refs: Mapping[str, tuple[str, str]],
    rights: GitRights | None,
    *,
    dry: bool,
    atomic: bool,
) -> PushAnswer:
    """Push refs once, each with its new commit and the expected commit.

    New commits are based on the expected ones, so the leases force nothing. Without leases, a push to a branch that was
    deleted meanwhile would restore its history.
    """
    options = ["--porcelain", "--no-follow-tags"]
    options += ["--atomic"] if atomic else []
    options += ["--dry-run"] if dry else []
    options += [f"--force-with-lease={ref}:{old}" for ref, (_, old) in sorted(refs.items())]
    specs = [f"{sha}:{ref}" for ref, (sha, _) in sorted(refs.items())]
    done = repository.push(options, specs, rights)
    if atomic and _NOT_ATOMIC in done.stderr:
        return PushAnswer({}, atomic=False)
    words = _server_words(done.stderr)
    result: dict[str, tuple[Answer, str]] = _read(done.text, lost_race=_LOST_RACE.search(words) is not None)
    if atomic and any(answer != "pushed" for answer, _ in result.values()):
        # Over HTTP, git reports only the refused ref.
        result = {**dict.fromkeys(refs, ("held", "")), **result}
    if set(result) != set(refs) or (done.returncode != 0 and all(answer == "pushed" for answer, _ in result.values())):
        raise _failure(repository, done.stderr, has_rights=rights is not None)
    reasons = {ref: words or why for ref, (answer, why) in result.items() if answer == "refused"}
    return PushAnswer({ref: answer for ref, (answer, _) in result.items()}, reasons)


def _failure(repository: Repository, stderr: str, *, has_rights: bool) -> EnvironmentFault:
    """Return the error of a push that the remote did not answer.

    Args:
        has_rights: True if credentials for pushes were given.
    """
    url = repository.display_url
    said = redact_text(last_words(stderr)) or "no reason was given"
    message, hint = f"{url} did not accept the push: {said}", "check the URL and the network, and run again"
    if has_rights and (_UNKNOWN_USER.search(stderr) or _WRONG_USER.search(stderr)):
        message = f"{url} refuses the credentials that --push-credentials has for it"
        hint = "check user name, password, token or key in the Secret, and whether they have expired"
    elif _UNKNOWN_USER.search(stderr):
        message = f"{url} requires credentials for pushes, and none are configured"
        hint = "pass a file with a Secret for this URL to --push-credentials, or configure a credential helper for git"
    elif _WRONG_USER.search(stderr):
        message = f"{url} refuses the credentials that git has for it: {said}"
        hint = "correct them, or name others for pushes by --push-credentials"
    return EnvironmentFault("CMD-HYD-051", message, hint=hint)


def _read(text: str, *, lost_race: bool) -> dict[str, tuple[Answer, str]]:
    """Parse the output of `git push --porcelain`: a flag, the refs, and a reason."""
    results: dict[str, tuple[Answer, str]] = {}
    for line in text.splitlines():
        flag, _, rest = line.partition("\t")
        names, _, summary = rest.partition("\t")
        if len(flag) != 1 or not names:
            continue
        ref = names.partition(":")[2]
        results[ref] = (_answer(flag, summary, lost_race=lost_race), summary)
    return results


def _answer(flag: str, summary: str, *, lost_race: bool) -> Answer:
    if flag in (" ", "=", "*"):
        return "pushed"
    if _ATOMIC_SIBLING.search(summary):
        return "held"
    return "moved" if lost_race or was_overtaken(summary) else "refused"


def _server_words(stderr: str) -> str:
    said = [line.removeprefix("remote:").strip() for line in stderr.splitlines() if line.startswith("remote:")]
    return redact_text(" ".join(filter(None, said)))
