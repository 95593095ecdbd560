"""Bringing commits and notes to one repository, however many others push there at the same time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.events import Warned
from commodore.core.sources.git import Author, Git, GitRights, Repository, redact
from commodore.hydrate.committing import Built, Committer, Stamp
from commodore.hydrate.differences import manifest_diff
from commodore.hydrate.edits import NO_EDITS, Edit, Edits, PastCommit, is_made_by_hydration, is_ours, of_scope
from commodore.hydrate.layout import METADATA
from commodore.hydrate.model import CommitRequest, Outcome, Scope, Writing
from commodore.hydrate.notes import NOTES, Note, NotedGroup, read_note
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


@dataclass(frozen=True, slots=True)
class _Head:
    """What is known of the head of a branch.

    Attributes:
        past: the commit and its ancestors, newest first.
        note: the nearest one; None without any.
    """

    past: tuple[PastCommit, ...]
    note: Note | None


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
        self._known: dict[str, _Head] = {}
        self._edited: dict[str, Mapping[str, Edit]] = {}
        self._pushed: dict[str, Built] = {}

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
        return self._head(head, branch).note if head else None

    def edits(self, branch: str, scope: Scope) -> Mapping[str, Edit]:
        """Files of a group on a branch that others have changed since they were hydrated, by output path."""
        return of_scope(self._edits(branch), scope)

    def _edits(self, branch: str) -> Mapping[str, Edit]:
        """Hydrated files on a branch that others have changed, whosever paths they are at."""
        head = self._heads.get(branch)
        if not head:
            return NO_EDITS
        if head not in self._edited:
            known = self._head(head, branch)
            is_noted = is_ours(known.past[0].note) and not (known.note and known.note.edited)
            finder = Edits(Git(self._repository.path, self._context), self._committer.blobs_at)
            self._edited[head] = NO_EDITS if is_noted else finder.find(known.past, known.note)
        return self._edited[head]

    def _head(self, head: str, branch: str) -> _Head:
        if head not in self._known:
            past = self._committer.past(head)
            if not self._writing.notes:
                past = [replace(one, note=b"") for one in past]
            content = next((one.note for one in past if one.note), b"")
            note = read_note(content) if content else None
            if content and note is None:
                self._context.announce(
                    Warned(
                        "CMD-HYD-035",
                        f"the note of the branch {branch} is not the JSON that is expected; it counts as absent",
                        hint="it is replaced with the next commit",
                    )
                )
            self._known[head] = _Head(tuple(past), note)
        return self._known[head]

    def hydrated_branches(self) -> list[str]:
        """The branches with metadata of hydrated commits in their roots, also those that others began there."""
        there = self._committer.blobs_at(f"{sha}:{METADATA}" for sha in self._heads.values())
        return [name for name, sha in self._heads.items() if f"{sha}:{METADATA}" in there]

    def noted_groups(self, branch: str) -> frozenset[str]:
        """The ids of groups that are noted to have been hydrated to a branch.

        Branches that others begin at a hydrated commit have its note, which names the branch that was hydrated. Without
        a note that names branches, a branch counts as hydrated while its newest commit is one of a hydration.
        """
        head = self._heads.get(branch)
        if not head:
            return frozenset()
        known = self._head(head, branch)
        groups = known.note.groups if known.note is not None else {}
        if any(one.branch for one in groups.values()):
            return frozenset(name for name, one in groups.items() if one.branch == branch)
        is_made = self.is_made_by_hydration(branch)
        is_alone = list(self._heads.values()).count(head) == 1
        return frozenset(groups or [branch]) if is_made and is_alone else frozenset()

    def is_made_by_hydration(self, branch: str) -> bool:
        """Whether the newest commit of a branch is one of a hydration."""
        head = self._heads.get(branch)
        if not head:
            return False
        place = f"{head}:{METADATA}"
        return is_made_by_hydration(self._head(head, branch).past[0], self._committer.blobs_at([place]).get(place))

    def is_noted(self, branch: str) -> bool:
        """Whether a hydration has seen the head of a branch."""
        head = self._heads.get(branch)
        return head is not None and is_ours(self._head(head, branch).past[0].note)

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
        self._warned, self._pushed = {}, {}
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
            if not answer.atomic:
                self._take_parts(answer, work, waiting, results)
            if self._take_refusals(answer, work, waiting, results):
                continue
            attempt += 1
            if attempt >= self._context.limits.hydrate_push_attempts:
                self._give_up(work, waiting, results)
                return results
            time.sleep(random.uniform(_SHORTEST, min(_LONGEST, _SHORTEST * 2 ** (attempt + 1))))  # noqa: S311
            self._look_again()
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
                edits = self.edits(request.branch, request.scope)
                built = self._committer.build(request, heads, self._stamp(request), edits)
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
        before = self._note_before(request, built, work)
        known = before or Note()
        work.known[request.group] = known.groups.get(request.group, NotedGroup()).dry_sha
        note = known.with_group(request.group, NotedGroup(request.commit.sha, request.inputs, request.branch))
        edited = known.edited if earlier else {path: edit.base for path, edit in self._edits(request.branch).items()}
        judged = {*built.removed, *(one.path for one in request.paths)}
        kept = {path: base for path, base in edited.items() if path not in judged}
        # A branch that begins at a commit of another one shares its note.
        shared = {} if earlier or request.branch in self._heads else known.edited
        note = replace(note, edited={**shared, **kept, **built.edited})
        if before is None or note != before or built.branches:
            work.noted[request.branch] = built.commit
            if earlier not in work.noted.values():
                work.notes.pop(earlier, None)
            work.notes[built.commit] = note.text()

    def _note_before(self, request: CommitRequest, built: Built, work: _Round) -> Note | None:
        """The note of what a commit stands on.

        A new branch begins with what is noted of its base. Another branch may have the same commit, if it holds the
        same and was written in the same second; then its note is there already.
        """
        for commit in (built.commit, work.noted.get(request.branch, "")):
            if commit in work.notes:
                return read_note(work.notes[commit].encode())
        if request.branch in self._heads and built.commit not in self._heads.values():
            return self.note_of(request.branch)
        return self._head(built.commit, request.branch).note

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
            refusal = self._refusal(NOTES, answer.words.get(NOTES, ""), "add --no-notes if the server takes no notes")
            results |= dict.fromkeys((one.group for one in waiting), refusal)
            waiting.clear()
        for request in list(waiting):
            built = work.built[request.group]
            ref = next((_HEADS + branch for branch in built.branches if _HEADS + branch in refused), None)
            if ref is not None:
                kept = self._committer.keep(request.group, built.commit)
                where = f"git -C {self._repository.path} push {redact(self._repository.url)} {kept}:{ref}"
                results[request.group] = self._refusal(ref, answer.words.get(ref, ""), f"the commit is kept: {where}")
                waiting.remove(request)
        return bool(refused)

    def _take_parts(
        self, answer: Pushed, work: _Round, waiting: list[CommitRequest], results: dict[str, Result]
    ) -> None:
        """Take in what a server has that does not take several refs together."""
        for request in list(waiting):
            built = work.built[request.group]
            if built.branches and all(answer.answers.get(_HEADS + name) == "pushed" for name in built.branches):
                self._pushed[request.group] = built
                self._heads |= built.branches
        there = [one for one in waiting if one.group in self._pushed]
        if there and answer.answers.get(NOTES) == "refused":
            self._conclude_without_notes(
                there, work, results, f"the server refuses them: {answer.words.get(NOTES, '')}"
            )
            waiting[:] = [one for one in waiting if one.group not in results]

    def _conclude_without_notes(
        self, requests: Sequence[CommitRequest], work: _Round, results: dict[str, Result], why: str
    ) -> None:
        warned = Warned(
            "CMD-HYD-036",
            f"the branches of {redact(self._repository.url)} were pushed, the notes were not: {why}",
            hint="the next run tries again; add --no-notes if the server takes no notes",
        )
        self._context.announce(warned)
        for request in requests:
            self._warned.setdefault(request.group, []).append(warned)
        self._conclude(replace(work, refs={}), requests, results)

    def _refusal(self, ref: str, words: str, hint: str) -> EnvironmentFault:
        said = f": {words}" if words else ""
        return EnvironmentFault(
            "CMD-HYD-050",
            f"{redact(self._repository.url)} refuses a push to {ref.removeprefix(_HEADS)}{said}",
            hint=hint or "check the rights of the user who pushes, and the protection of the branch",
        )

    def _give_up(self, work: _Round, waiting: Sequence[CommitRequest], results: dict[str, Result]) -> None:
        there = [one for one in waiting if one.group in self._pushed]
        if there:
            self._conclude_without_notes(there, work, results, "others have pushed some at the same time")
        for request in waiting:
            built = work.built[request.group]
            if request.group in results or not (built.branches or built.commit in work.notes):
                continue
            results[request.group] = EnvironmentFault(
                "CMD-HYD-054",
                f"others have pushed to {redact(self._repository.url)} before each of"
                f" {self._context.limits.hydrate_push_attempts} attempts",
                hint="run again",
            )
        left = [one for one in waiting if one.group not in results]
        self._conclude(replace(work, refs={}), left, results)

    def _look_again(self) -> None:
        self._repository.fetch()
        self._heads = dict(self._repository.refs().branches)
        self._heads.pop("HEAD", None)
        self._fetch_notes()

    def _fetch_notes(self) -> None:
        self._known.clear()
        self._edited.clear()
        if self._writing.notes:
            self._repository.fetch_ref(NOTES)

    def _conclude(
        self, work: _Round, waiting: Sequence[CommitRequest], results: dict[str, Result], *, dry: bool = False
    ) -> None:
        if not dry and (notes := work.refs.get(NOTES)):
            self._committer.take_notes(notes)
        if not dry:
            self._known.clear()
            self._edited.clear()
        for request in waiting:
            built = self._pushed.get(request.group) or work.built[request.group]
            if not dry:
                self._heads |= built.branches
            word, reason = _result(request, built, is_noted=built.commit in work.notes)
            results[request.group] = Outcome(
                "planned" if dry and word != "unchanged" else word,
                _WOULD.get(word, reason) if dry else reason,
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


_WOULD = {
    "committed": "would be committed",
    "created": "the branch would be created",
    "noted": "no manifest would change; the dry commit would be noted",
}
"""Reasons of a dry run, by the word of a run that pushes."""


def _result(request: CommitRequest, built: Built, *, is_noted: bool) -> tuple[str, str]:
    """The word for what was built, and why."""
    if built.is_new:
        return "committed", "its manifests have changed"
    if request.branch in built.branches:
        return "created", f"it was not there; its manifests are those of {request.sync_branch}"
    if built.branches:
        return "created", f"{request.sync_branch} was not there"
    return "noted" if is_noted else "unchanged", "no manifest has changed"
