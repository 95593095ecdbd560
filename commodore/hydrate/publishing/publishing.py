"""Pushes of commits and notes to a repository, repeated if others push there at the same time."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial

from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.events import Warned
from commodore.core.sources.git import Author, RepositoryStore, redact
from commodore.hydrate.branches.destination import Destination, notes_head
from commodore.hydrate.branches.files import manifest_diff
from commodore.hydrate.branches.provenance import superseded
from commodore.hydrate.branches.records import NOTES, GroupNote, Note, read_note
from commodore.hydrate.model import CommitRequest, Outcome, PublishRules, Result
from commodore.hydrate.publishing.committing import BuiltCommit, Stamp, build, commit_notes, keep, stamp_of
from commodore.hydrate.publishing.pushing import PushAnswer, push

_HEADS = "refs/heads/"
_SHORTEST, _LONGEST = 0.05, 2.0  # seconds of a pause before the next attempt

Superseded = Callable[[Sequence[tuple[CommitRequest, str]]], Sequence[str]]
"""Returns why commits, each with the noted dry commit of its group, are superseded; empty if they are not."""


@dataclass(frozen=True, slots=True)
class Published:
    """The results of commits, and the repository afterwards.

    Attributes:
        results: by group id.
        seconds: the duration.
    """

    results: Mapping[str, Result]
    destination: Destination
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The commits and notes of one attempt to push.

    Attributes:
        number: the number of earlier attempts.
        built, failed: the commits, and the errors of other requests, by group.
        known: the dry commits in notes so far, by group.
        notes: new and changed notes by commit.
        refs: the commits to push by full ref name.
    """

    number: int
    built: Mapping[str, BuiltCommit] = field(default_factory=dict)
    failed: Mapping[str, CommodoreError] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)


def publish(
    to: Destination, requests: Sequence[CommitRequest], superseded: Superseded, *, dry: bool = False
) -> Published:
    """Create the requested commits, and push them with their notes.

    If the remote has moved meanwhile, everything is built again on its current state.

    Args:
        superseded: returns which requests are superseded. Called just before each push.
        dry: build without pushing.

    Raises:
        EnvironmentFault: CMD-HYD-051, the remote does not answer.
    """
    results: dict[str, Result] = {}
    there: dict[str, BuiltCommit] = {}
    number, checked = 0, dry
    stamp = cache(partial(stamp_of, to.git, dated_dry=to.writing.dated_dry))  # including commits that are built again
    while waiting := [request for request in requests if request.group not in results]:
        work = _build(to, waiting, stamp, number)
        results |= work.failed
        waiting = [item for item in waiting if item.group not in results]
        if dry or not work.refs:
            return _concluded(to, work, waiting, results, there=there, dry=dry)
        if not checked:
            checked = True
            if left := _left_superseded(to, work, waiting, superseded):
                results |= left
                continue
        answer = _push(to, work.refs)
        if answer.all_there:
            return _concluded(to, work, waiting, results, there=there)
        if not answer.atomic:
            parts = {
                item.group: work.built[item.group] for item in waiting if _is_there(work.built[item.group], answer)
            }
            there |= parts
            to = to.with_heads({**to.heads, **_branches(parts.values())})
            if answer.answers.get(NOTES) == "refused":
                why = f"the server refuses them: {answer.words.get(NOTES, '')}"
                to = _concluded_without_notes(to, work, waiting, results, there, why)
                waiting = [item for item in waiting if item.group not in results]
        if "refused" in answer.answers.values():
            results |= _refused(to, answer, work, waiting)
            continue
        number += 1
        if number >= to.context.limits.hydrate_push_attempts:
            return _given_up(to, work, waiting, results, there)
        time.sleep(random.uniform(_SHORTEST, min(_LONGEST, _SHORTEST * 2 ** (number + 1))))  # noqa: S311
        to = to.fetched()
        checked = False
    return Published(results, to)


def publish_all(
    store: RepositoryStore, work: Mapping[str, tuple[Destination, Sequence[CommitRequest]]], how: PublishRules
) -> dict[str, Published]:
    """Publish to several destinations concurrently, so that a slow one does not delay others.

    Args:
        store: the clones of the dry repositories.
    """
    one_by_one = threading.Lock()

    def reasons(asked: Sequence[tuple[CommitRequest, str]]) -> list[str]:
        if how.allow_older:
            return [""] * len(asked)
        with one_by_one:  # destinations may have sources in common
            return superseded(store, asked)

    def publish_one(to: Destination, requests: Sequence[CommitRequest]) -> Published:
        began = time.monotonic()
        try:
            done = publish(to, requests, reasons, dry=how.dry)
        except CommodoreError as error:
            done = Published(dict.fromkeys((request.group for request in requests), error), to)
        return replace(done, seconds=time.monotonic() - began)

    if len(work) < 2:  # a thread would react later to an interruption
        return {key: publish_one(*value) for key, value in work.items()}
    threads = next(iter(work.values()))[0].context.limits.git_threads
    with ThreadPoolExecutor(threads, thread_name_prefix="push") as pool:
        try:
            return dict(zip(work, pool.map(publish_one, *zip(*work.values(), strict=True)), strict=True))
        except BaseException:  # on an error or Ctrl-C, do not wait for other pushes
            pool.shutdown(wait=False, cancel_futures=True)
            store.close()
            raise


def check_push(to: Destination) -> None:
    """Check that the remote would accept a push, before anything is rendered for it.

    Raises:
        EnvironmentFault: CMD-HYD-050, it refuses; CMD-HYD-051, it does not answer.
    """
    branch = next(iter(sorted(to.heads)), None)
    if branch is None:
        return
    present = {_HEADS + branch: to.heads[branch]}
    asked = push(to.repository, present, present, to.rights, dry=True)
    for ref, answer in asked.answers.items():
        if answer == "refused":
            raise _refusal(to, ref, asked.words.get(ref, ""))


def _push(to: Destination, refs: Mapping[str, str]) -> PushAnswer:
    """Push; if the answer is lost, check on the remote if the push was accepted."""
    try:
        expected = {_HEADS + name: sha for name, sha in to.heads.items()}
        if notes := notes_head(to.git):
            expected[NOTES] = notes
        return push(to.repository, refs, expected, to.rights)
    except EnvironmentFault as error:
        try:
            state = to.repository.ask_again()
        except EnvironmentFault:
            raise error from None
        there = {_HEADS + name: sha for name, sha in state.branches.items()} | dict(state.notes)
        if any(there.get(ref) != sha for ref, sha in refs.items()):
            raise
        return PushAnswer(dict.fromkeys(refs, "pushed"))


def _build(
    to: Destination, waiting: Sequence[CommitRequest], stamp: Callable[[Author | None, str], Stamp], number: int
) -> _Attempt:
    """Build the requested commits and notes, each on the previous ones."""
    heads = dict(to.heads)
    built: dict[str, BuiltCommit] = {}
    failed: dict[str, CommodoreError] = {}
    notes = _Notes(to)
    for request in waiting:
        try:
            edits = to.edits(request.branch, request.scope)
            who = stamp(request.author, request.commit.date)
            made = build(to, request, heads, who, edits)
        except CommodoreError as error:
            failed[request.group] = error
            continue
        heads |= made.branches
        built[request.group] = made
        notes.add(request, made)
        last = who
    refs = {_HEADS + branch: sha for branch, sha in _branches(built.values()).items()}
    if notes.texts:
        refs[NOTES] = commit_notes(to.git, notes.texts, last)
    return _Attempt(number, built, failed, notes.known, notes.texts, refs)


class _Notes:
    """Collect the notes of commits that are built one after the other.

    Attributes:
        texts: by commit.
        known: the dry commit in the note so far, by group.
    """

    def __init__(self, to: Destination) -> None:
        self.texts: dict[str, str] = {}
        self.known: dict[str, str] = {}
        self._to = to
        self._noted: dict[str, str] = {}  # the commit of each note by branch

    def add(self, request: CommitRequest, built: BuiltCommit) -> None:
        """Add the note of a commit."""
        to = self._to
        if not to.writing.notes or not built.commit:
            return
        earlier = self._noted.get(request.branch, "")
        before = self._before(request, built)
        known = before or Note()
        self.known[request.group] = known.groups.get(request.group, GroupNote()).dry_sha
        note = known.with_group(request.group, GroupNote(request.commit.sha, request.inputs, request.branch))
        edited = known.edited if earlier else {path: edit.base for path, edit in to.all_edits(request.branch).items()}
        judged = {*built.removed, *(path.path for path in request.paths)}
        kept = {path: base for path, base in edited.items() if path not in judged}
        # A branch that begins at a commit of another one shares its note.
        shared = {} if earlier or request.branch in to.heads else known.edited
        note = replace(note, edited={**shared, **kept, **built.edited})
        if before is None or note != before or built.branches:
            self._noted[request.branch] = built.commit
            if earlier not in self._noted.values():
                self.texts.pop(earlier, None)
            self.texts[built.commit] = note.text()

    def _before(self, request: CommitRequest, built: BuiltCommit) -> Note | None:
        """Return the note of a commit's base.

        A new branch begins with the note of its base. Another branch may have the same commit, if it has the same
        content and was written in the same second; then its note exists already.
        """
        for commit in (built.commit, self._noted.get(request.branch, "")):
            if commit in self.texts:
                return read_note(self.texts[commit].encode())
        if request.branch in self._to.heads and built.commit not in self._to.heads.values():
            return self._to.note_of(request.branch)
        return self._to.past_of(built.commit, request.branch).note


def _left_superseded(
    to: Destination, work: _Attempt, waiting: Sequence[CommitRequest], superseded: Superseded
) -> dict[str, Result]:
    """Return the outcomes of superseded requests by group."""
    reasons = superseded([(item, work.known.get(item.group, "")) for item in waiting])
    return {
        value.group: Outcome("superseded", reason, to.heads.get(value.branch, ""), work.built[value.group].base)
        for value, reason in zip(waiting, reasons, strict=True)
        if reason
    }


def _is_there(built: BuiltCommit, answer: PushAnswer) -> bool:
    """Return True if a server has the branches of a commit, with or without atomic pushes."""
    return bool(built.branches) and all(answer.answers.get(_HEADS + name) == "pushed" for name in built.branches)


def _refused(
    to: Destination, answer: PushAnswer, work: _Attempt, waiting: Sequence[CommitRequest]
) -> dict[str, EnvironmentFault]:
    """Return the errors of commits that the server refused, by group; the commits are kept locally."""
    refused = {ref for ref, word in answer.answers.items() if word == "refused"}
    if refused == {NOTES}:
        error = _refusal(to, NOTES, answer.words.get(NOTES, ""), "add --no-notes if the server does not accept notes")
        return dict.fromkeys((item.group for item in waiting), error)
    errors: dict[str, EnvironmentFault] = {}
    for request in waiting:
        built = work.built[request.group]
        ref = next((_HEADS + branch for branch in built.branches if _HEADS + branch in refused), None)
        if ref is not None:
            kept = keep(to.git, request.group, built.commit)
            where = f"git -C {to.repository.path} push {redact(to.repository.url)} {kept}:{ref}"
            errors[request.group] = _refusal(to, ref, answer.words.get(ref, ""), f"the commit is kept: {where}")
    return errors


def _refusal(to: Destination, ref: str, words: str, hint: str = "") -> EnvironmentFault:
    said = f": {words}" if words else ""
    return EnvironmentFault(
        "CMD-HYD-050",
        f"{redact(to.repository.url)} refuses a push to {ref.removeprefix(_HEADS)}{said}",
        hint=hint or "check the rights of the user who pushes, and the protection of the branch",
    )


def _concluded_without_notes(
    to: Destination,
    work: _Attempt,
    waiting: Sequence[CommitRequest],
    results: dict[str, Result],
    there: Mapping[str, BuiltCommit],
    why: str,
) -> Destination:
    """Record the outcomes of commits that the server has, with a warning about missing notes."""
    pushed = [item for item in waiting if item.group in there]
    if not pushed:
        return to
    warned = Warned(
        "CMD-HYD-036",
        f"the branches of {redact(to.repository.url)} were pushed, the notes were not: {why}",
        hint="the next run tries again; add --no-notes if the server does not accept notes",
    )
    to.context.announce(warned)
    done = _concluded(to, replace(work, refs={}), pushed, {}, there=there)
    for group, result in done.results.items():
        if isinstance(result, Outcome):
            results[group] = replace(result, warnings=(*result.warnings, warned))
    return done.destination


def _given_up(
    to: Destination,
    work: _Attempt,
    waiting: Sequence[CommitRequest],
    results: dict[str, Result],
    there: Mapping[str, BuiltCommit],
) -> Published:
    """Record the outcomes after the last attempt."""
    to = _concluded_without_notes(to, work, waiting, results, there, "others have pushed some at the same time")
    for request in waiting:
        built = work.built[request.group]
        if request.group not in results and (built.branches or built.commit in work.notes):
            results[request.group] = EnvironmentFault(
                "CMD-HYD-054",
                f"others have pushed to {redact(to.repository.url)} before each of"
                f" {to.context.limits.hydrate_push_attempts} attempts",
                hint="run again",
            )
    left = [item for item in waiting if item.group not in results]
    return _concluded(to, replace(work, refs={}), left, results, there=there)


def _concluded(
    to: Destination,
    work: _Attempt,
    waiting: Sequence[CommitRequest],
    results: Mapping[str, Result],
    *,
    there: Mapping[str, BuiltCommit],
    dry: bool = False,
) -> Published:
    """Return the outcomes of commits that are on the remote now, or would be, and of superseded requests."""
    built = {item.group: there.get(item.group) or work.built[item.group] for item in waiting}
    if not dry and (notes := work.refs.get(NOTES)):
        to.git.run(["update-ref", NOTES, notes])
    outcomes: dict[str, Result] = {item.group: _outcome(to, work, item, built[item.group], dry=dry) for item in waiting}
    after = to if dry else to.with_heads({**to.heads, **_branches(built.values())})
    return Published({**results, **outcomes}, after)


_WOULD = {
    "committed": "would be committed",
    "created": "the branch would be created",
    "noted": "no manifest would change; the dry commit would be noted",
}
"""Reasons of a dry run, by the word of a run that pushes."""


def _outcome(to: Destination, work: _Attempt, request: CommitRequest, built: BuiltCommit, *, dry: bool) -> Outcome:
    word, reason = _word(request, built, is_noted=built.commit in work.notes)
    return Outcome(
        "planned" if dry and word != "unchanged" else word,
        _WOULD.get(word, reason) if dry else reason,
        built.commit,
        built.base,
        built.changed,
        built.removed,
        built.stale,
        _difference(to, built) if dry else (),
        work.number,
        built.counts,
        built.warnings,
    )


def _difference(to: Destination, built: BuiltCommit) -> tuple[str, ...]:
    paths = (*built.changed, *built.removed)
    old = to.manifests_of(built.base, paths) if built.base and paths else {}
    new = to.manifests_of(built.commit, built.changed) if built.changed else {}
    return manifest_diff(old, new, to.context.limits)


def _word(request: CommitRequest, built: BuiltCommit, *, is_noted: bool) -> tuple[str, str]:
    """Return the outcome's word for a built commit, and its reason."""
    if built.is_new:
        return "committed", "its manifests have changed"
    if request.branch in built.branches:
        return "created", f"the branch is new, with the manifests of {request.sync_branch}"
    if built.branches:
        return "created", f"{request.sync_branch} did not exist"
    return "noted" if is_noted else "unchanged", "no manifest has changed"


def _branches(built: Iterable[BuiltCommit]) -> dict[str, str]:
    """Return the branches of commits; later commits override earlier ones."""
    return {branch: sha for item in built for branch, sha in item.branches.items()}
