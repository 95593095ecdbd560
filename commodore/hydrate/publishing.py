"""Bringing commits and notes to one repository, however many others push there at the same time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from commodore.context import Context
from commodore.errors import CommodoreError, EnvironmentFault
from commodore.events import Warned
from commodore.git import Author, Git, GitRights, Repository, redact
from commodore.hydrate.committing import Built, Committer, Stamp
from commodore.hydrate.differences import manifest_diff
from commodore.hydrate.layout import MANIFEST
from commodore.hydrate.model import CommitRequest, Outcome, Scope, Writing
from commodore.hydrate.notes import NOTES, Note, read_note
from commodore.hydrate.ownership import Owned, examine
from commodore.hydrate.pushing import Pushed, push

_HEADS = "refs/heads/"
_SHORTEST, _LONGEST = 0.05, 2.0  # seconds of a pause before the next attempt

Superseding = Callable[[Sequence[tuple[CommitRequest, str]]], Sequence[str]]
"""Why commits are not wanted, each with the dry commit that is noted for its group; empty for those that are."""
Result = Outcome | CommodoreError


@dataclass
class _Round:
    """What one attempt is to push.

    Attributes:
        noted: by branch, its head that gets a note.
        known: by group, the dry commit that is noted so far.
        retries: how many attempts there were before.
    """

    built: dict[str, Built] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    noted: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    retries: int = 0


class Destination:
    """A repository that is written to.

    Args:
        repository: its bare clone, brought up to date with the remote.
        rights: what pushes are let in by; None for git's own ways.
    """

    def __init__(
        self,
        repository: Repository,
        context: Context,
        writing: Writing,
        sign: str | None = None,
        rights: GitRights | None = None,
    ) -> None:
        self._repository = repository
        self._rights = rights
        self._context = context
        self._writing = writing
        self._committer = Committer(repository.path, context, writing, sign)
        self._heads = dict(repository.refs().branches)
        self._heads.pop("HEAD", None)
        self._stamps: dict[tuple[str, Author | None], Stamp] = {}
        self._warned: dict[str, list[Warned]] = {}

    @property
    def heads(self) -> Mapping[str, str]:
        """The remote's branches."""
        return self._heads

    def bring_notes(self) -> None:
        """Fetch the notes if the remote has others than the clone; offline those of the clone count.

        Raises:
            EnvironmentFault: the remote does not answer.
        """
        state = self._repository.state
        is_same = state is not None and state.notes.get(NOTES, "") == self._committer.notes_head()
        if not self._context.offline and not is_same:
            self._fetch_notes()

    def note_of(self, branch: str) -> Note | None:
        """What was last noted of a branch; None if nothing was."""
        head = self._heads.get(branch)
        content = self._committer.last_note(head) if head and self._writing.notes else b""
        note = read_note(content) if content else None
        if content and note is None:
            self._context.announce(
                Warned(
                    "CMD-HYD-035",
                    f"the note of the branch {branch} is not the JSON that is expected; it counts as absent",
                    hint="it is replaced with the next commit",
                )
            )
        return note

    def metadata_of(self, commit: str) -> dict[str, bytes]:
        """Each `hydrator.metadata` of a commit, by its folder; that of the root by an empty text."""
        return self._committer.metadata_of(commit)

    def manifests_of(self, commit: str, paths: Sequence[str]) -> dict[str, bytes]:
        """The manifests of a commit at output paths, by these; without those that are not there."""
        return self._committer.manifests_of(commit, paths)

    def owned(self, commit: str, scope: Scope) -> Owned:
        """The output paths of a commit, by whose they are."""
        metadata = self._committer.metadata_of(commit)
        metadata.pop("", None)
        return examine(metadata, scope, self._writing.adopt)

    def can_push(self) -> None:
        """See that the remote would take a push, before anything is rendered for it.

        Raises:
            EnvironmentFault: CMD-HYD-050, it refuses; CMD-HYD-051, it does not answer.
        """
        branch = next(iter(sorted(self._heads)), None)
        if branch is None:
            return
        present = {_HEADS + branch: self._heads[branch]}
        asked = push(self._repository, present, present, self._rights, dry=True)
        for ref, answer in asked.answers.items():
            if answer == "refused":
                raise self._refusal(ref, asked.words.get(ref, ""), "")

    def publish(
        self, requests: Sequence[CommitRequest], superseded: Superseding, *, dry: bool = False
    ) -> dict[str, Result]:
        """Make the commits that are wanted, and push them with their notes.

        When the remote has moved meanwhile, everything is built again on what it has now.

        Args:
            superseded: says which commits are not wanted any more. Asked just before each push.
            dry: build, and push nothing.

        Returns:
            What became of each request, by its group.

        Raises:
            EnvironmentFault: CMD-HYD-051, the remote does not answer.
        """
        results: dict[str, Result] = {}
        self._warned = {}
        waiting = list(requests)
        checked = dry
        attempt = 0
        while waiting:
            work = self._build(waiting, results)
            work.retries = attempt
            if dry or not work.refs:
                self._conclude(work, waiting, results, dry=dry)
                return results
            if not checked:
                checked = True
                if self._leave_superseded(waiting, work, superseded, results):
                    continue
            answer = self._push(work.refs)
            if answer.all_there:
                self._conclude(work, waiting, results)
                return results
            if self._take_refusals(answer, work, waiting, results):
                continue
            if not answer.atomic and all(answer.answers.get(ref) == "pushed" for ref in work.refs if ref != NOTES):
                self._warn_about_notes(waiting)
                work.refs.pop(NOTES, None)
                self._conclude(work, waiting, results)
                return results
            attempt += 1
            if attempt >= self._context.limits.hydrate_push_attempts:
                self._give_up(work, waiting, results)
                return results
            time.sleep(random.uniform(_SHORTEST, min(_LONGEST, _SHORTEST * 2 ** (attempt + 1))))  # noqa: S311
            self._look_again(work, waiting)
            checked = False
        return results

    def _push(self, refs: Mapping[str, str]) -> Pushed:
        """Push; when the answer is lost, ask the remote whether it has taken it."""
        try:
            expected = {_HEADS + name: sha for name, sha in self._heads.items()}
            if notes := self._committer.notes_head():
                expected[NOTES] = notes
            return push(self._repository, refs, expected, self._rights)
        except EnvironmentFault as error:
            try:
                state = self._repository.ask_again()
            except EnvironmentFault:
                raise error from None
            there = {_HEADS + name: sha for name, sha in state.branches.items()} | dict(state.notes)
            if any(there.get(ref) != sha for ref, sha in refs.items()):
                raise
            return Pushed(dict.fromkeys(refs, "pushed"))

    def _build(self, waiting: list[CommitRequest], results: dict[str, Result]) -> _Round:
        work = _Round()
        heads = dict(self._heads)
        for request in list(waiting):
            try:
                built = self._committer.build(request, heads, self._stamp(request))
            except CommodoreError as error:
                results[request.group] = error
                waiting.remove(request)
                continue
            heads |= built.branches
            work.built[request.group] = built
            work.refs |= {_HEADS + branch: sha for branch, sha in built.branches.items()}
            self._add_note(request, built, work)
        if work.notes:
            last = waiting[-1]
            work.refs[NOTES] = self._committer.note(work.notes, self._stamp(last))
        return work

    def _add_note(self, request: CommitRequest, built: Built, work: _Round) -> None:
        if not self._writing.notes or not built.commit:
            return
        earlier = work.noted.get(request.branch, "")
        before = read_note(work.notes[earlier].encode()) if earlier else self.note_of(request.branch)
        work.known[request.group] = before.groups.get(request.group, ("", ""))[0] if before is not None else ""
        note = (before or Note()).with_group(request.group, request.commit.sha, request.inputs)
        if before is None or note != before or built.branches:
            work.notes.pop(earlier, None)
            work.notes[built.commit] = note.text()
            work.noted[request.branch] = built.commit

    def _leave_superseded(
        self, waiting: list[CommitRequest], work: _Round, superseded: Superseding, results: dict[str, Result]
    ) -> bool:
        left = False
        asking = [(request, work.known.get(request.group, "")) for request in waiting]
        for request, reason in zip(list(waiting), superseded(asking), strict=True):
            if reason:
                head = self._heads.get(request.branch, "")
                results[request.group] = Outcome("superseded", reason, head, work.built[request.group].base)
                waiting.remove(request)
                left = True
        return left

    def _stamp(self, request: CommitRequest) -> Stamp:
        key = (request.commit.sha, request.author)
        if key not in self._stamps:
            self._stamps[key] = self._committer.stamp(request)
        return self._stamps[key]

    def _take_refusals(
        self, answer: Pushed, work: _Round, waiting: list[CommitRequest], results: dict[str, Result]
    ) -> bool:
        refused = {ref for ref, word in answer.answers.items() if word == "refused"}
        if refused == {NOTES}:
            raise self._refusal(NOTES, answer.words.get(NOTES, ""), "add --no-notes if the server takes no notes")
        for request in list(waiting):
            built = work.built[request.group]
            ref = next((_HEADS + branch for branch in built.branches if _HEADS + branch in refused), None)
            if ref is not None:
                kept = self._committer.keep(request.group, built.commit)
                where = f"git -C {self._repository.path} push {redact(self._repository.url)} {kept}:{ref}"
                results[request.group] = self._refusal(ref, answer.words.get(ref, ""), f"the commit is kept: {where}")
                waiting.remove(request)
        return bool(refused)

    def _refusal(self, ref: str, words: str, hint: str) -> EnvironmentFault:
        said = f": {words}" if words else ""
        return EnvironmentFault(
            "CMD-HYD-050",
            f"{redact(self._repository.url)} refuses a push to {ref.removeprefix(_HEADS)}{said}",
            hint=hint or "check the rights of the user who pushes, and the protection of the branch",
        )

    def _give_up(self, work: _Round, waiting: Sequence[CommitRequest], results: dict[str, Result]) -> None:
        for request in waiting:
            if not work.built[request.group].branches:
                continue
            results[request.group] = EnvironmentFault(
                "CMD-HYD-054",
                f"others have pushed to {redact(self._repository.url)} before each of"
                f" {self._context.limits.hydrate_push_attempts} attempts",
                hint="run again",
            )
        self._conclude(work, [one for one in waiting if one.group not in results], results)

    def _look_again(self, work: _Round, waiting: Sequence[CommitRequest]) -> None:
        before = dict(self._heads)
        self._repository.fetch()
        self._heads = dict(self._repository.refs().branches)
        self._heads.pop("HEAD", None)
        self._fetch_notes()
        for request in waiting:
            old, new = before.get(request.branch), self._heads.get(request.branch)
            if old and new and old != new:
                self._warn_about_changes(request, old, new)

    def _warn_about_changes(self, request: CommitRequest, old: str, new: str) -> None:
        paths = [f"{one.path}/{MANIFEST}" for one in request.paths]
        arguments = ["log", "-1", "--format=%h by %an", f"{old}..{new}", "--", *paths]
        said = Git(self._repository.path, self._context).ask(*arguments)
        if said:
            warned = Warned(
                "CMD-HYD-032",
                f"the commit {said} has changed hydrated manifests of the branch {request.branch} meanwhile; they"
                " are rendered again over it",
                hint="change the sources, not what is rendered of them",
            )
            self._warn(warned, [request])

    def _fetch_notes(self) -> None:
        if self._writing.notes:
            self._repository.fetch_ref(NOTES)

    def _warn_about_notes(self, requests: Sequence[CommitRequest]) -> None:
        warned = Warned(
            "CMD-HYD-036",
            f"the branches of {redact(self._repository.url)} were pushed, the notes were not: others have pushed"
            " some at the same time",
            hint="the next run writes them",
        )
        self._warn(warned, requests)

    def _warn(self, warned: Warned, requests: Sequence[CommitRequest]) -> None:
        self._context.announce(warned)
        for request in requests:
            self._warned.setdefault(request.group, []).append(warned)

    def _conclude(
        self, work: _Round, waiting: Sequence[CommitRequest], results: dict[str, Result], *, dry: bool = False
    ) -> None:
        if not dry and (notes := work.refs.get(NOTES)):
            self._committer.take_notes(notes)
        for request in waiting:
            built = work.built[request.group]
            if not dry:
                self._heads |= built.branches
            if built.branches:
                word, reason = ("planned", "would be committed") if dry else ("committed", "its manifests have changed")
            elif built.commit in work.notes:
                word, reason = "noted", "no manifest has changed"
            else:
                word, reason = "unchanged", "no manifest has changed"
            results[request.group] = Outcome(
                word,
                reason,
                built.commit,
                built.base,
                built.changed,
                built.removed,
                built.stale,
                self._difference(built) if dry else (),
                work.retries,
                built.counts,
                (*built.warnings, *self._warned.get(request.group, ())),
            )

    def _difference(self, built: Built) -> tuple[str, ...]:
        paths = (*built.changed, *built.removed)
        old = self.manifests_of(built.base, paths) if built.base and paths else {}
        new = self.manifests_of(built.commit, built.changed) if built.changed else {}
        return manifest_diff(old, new, self._context.limits)
