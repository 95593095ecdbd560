"""One remote repository: its bare clone, its refs, and the resolution of versions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from commodore.base.context import Context, GitRights
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError
from commodore.base.events import Warned
from commodore.base.values.commits import is_commit
from commodore.core.sources.git import _refs
from commodore.core.sources.git._bare_clone import (
    is_missing,
    looks_bare,
    make_clone,
    move_in,
    own_tips,
    restore_clone,
    unchanged_refs,
)
from commodore.core.sources.git._clean_note import WorktreeSnapshot
from commodore.core.sources.git._empty_repository import FALLBACK_BRANCH, Blueprint
from commodore.core.sources.git._export import write_tree
from commodore.core.sources.git._locks import clear_stale_locks, writing
from commodore.core.sources.git._refs import NO_REFS, RemoteRefs, Revision
from commodore.core.sources.git._remote_config import (
    FETCH_REFSPEC,
    FETCH_TAGS,
    PACKED,
    is_remote,
    push_access,
    set_remote,
    talk,
)
from commodore.core.sources.git.backups import keep_commits, keep_lost_tags
from commodore.core.sources.git.ls_remote import RemoteQueries, RemoteState, ask
from commodore.core.sources.git.mirrors import Mirrors
from commodore.core.sources.git.runner import Git, GitResult, reports_damage
from commodore.core.sources.git.urls import normalize, redact, repository_key, shown
from commodore.core.sources.git.versions import check_version, unknown_offline, unknown_version

_FETCH = ("fetch", "--no-tags", "--prune", "--no-write-fetch-head")
_ALL = (FETCH_REFSPEC, FETCH_TAGS)
_OTHER_FORMAT = "client sha1; server sha256"


class Repository:
    """The bare clone of one remote repository.

    Args:
        url: the repository's URL; stored in normal form, credentials included.
        path: the folder of the bare clone; it need not exist yet.
        queries: queries the states of remotes.
        blueprint: the template of new clones.
        mirrors: the cache of fetched repositories; None without a cache.

    Methods may be called from several threads; hold `lock` to make several calls atomic.
    Methods that talk to the remote raise EnvironmentFault if it fails.
    """

    def __init__(
        self,
        url: str,
        path: Path,
        context: Context,
        queries: RemoteQueries,
        *,
        blueprint: Blueprint,
        mirrors: Mirrors | None,
    ) -> None:
        self.url = normalize(url)
        self.key = repository_key(url)
        self.path = path
        self.fetched = False
        self.context = context
        self.lock = threading.RLock()
        self._ready = False
        self._refs: RemoteRefs | None = None
        self._queries = queries
        self._blueprint = blueprint
        self._mirrors = mirrors
        self._written: list[WorktreeSnapshot] = []
        self._state: RemoteState | None = None
        self._ambiguous: set[str] = set()
        self._names = {_has_suffix(self.url): self.url}

    @property
    def git(self) -> Git:
        """Git in the bare clone."""
        return Git(self.path, self.context, self.display_url)

    @property
    def display_url(self) -> str:
        """The URL without credentials, for messages, metadata and logs."""
        return redact(self.url)

    def has_written(self, snapshot: WorktreeSnapshot) -> None:
        """Record that git has just written the files of a working copy, as in this snapshot."""
        self._written.append(snapshot)

    def note_written(self) -> None:
        """Note the working copies that git wrote in this run as clean, so that the next run need not start git."""
        while self._written:
            self._written.pop().note_later()

    def prefer_url(self, url: str) -> None:
        """Fetch from `url` from now on (it names the same repository)."""
        with self.lock:
            self.url = normalize(url)
            self._names[_has_suffix(self.url)] = self.url
            self._ready = False

    def add_name(self, url: str) -> None:
        """Note another URL of the repository, which differs in `.git` at the end and may name another repository.

        This does not wait for threads that use the repository: the caller holds a lock that they may wait for.
        """
        self._names.setdefault(_has_suffix(normalize(url)), normalize(url))

    def _check_names(self, version: str | None) -> None:
        """Refuse a version that resolves differently at two URLs of which one ends in `.git`. A URL that cannot be
        reached is assumed to be the same repository: many servers know only one of the names.

        Raises:
            InputError: CMD-GIT-013.
        """
        other = self._names.get(not _has_suffix(self.url))
        if other is None or self.context.offline:
            return
        try:
            self._queries.answer(other, noted=False)
        except EnvironmentFault:
            return
        mine, theirs = self.ask(), self._queries.answer(other)
        name = "HEAD" if version is None else version
        same = (mine.head_sha, theirs.head_sha) if version is None else (mine.find(name), theirs.find(name))
        if same[0] != same[1] or (same[0] is None and (mine.branches, mine.tags) != (theirs.branches, theirs.tags)):
            raise InputError(
                "CMD-GIT-013",
                f"the repositories {self.display_url} and {redact(other)} would share the clone {self.path}, "
                f"but '{shown(name)}' is not the same in both",
                hint="name the repository in one way everywhere; if they are two, move one of them to another path",
            )

    def ensure(self) -> None:
        """Create the bare clone, or open it, and set its remote: URL, refspec, and push URL.

        A push URL that does not belong to the URL any more is removed.

        Raises:
            EnvironmentFault: the folder is not a clone, or the clone is damaged.
        """
        with self.lock:
            if self._ready:
                return
            if is_missing(self.path):
                restore_clone(self.path, self.url)
            if is_missing(self.path):
                self._make()
                self._refs = NO_REFS
            elif not looks_bare(self.path):
                raise EnvironmentFault(
                    "CMD-GIT-020",
                    f"{self.path} is in the way of the clone of {self.display_url}: it is not a bare repository",
                    hint="move the folder away and run again",
                    locations=[str(self.path)],
                )
            clear_stale_locks(self.path)
            if not self.context.offline:
                set_remote(self.path / "config", self.url, self.context)
            self._ready = True

    @property
    def can_be_mirrored(self) -> bool:
        """Return True if no clone exists yet and the cache of fetched repositories has the remote."""
        return self._mirrors is not None and is_missing(self.path) and self._mirrors.holds(self.url)

    def obtain(self) -> bool:
        """Open the clone like `ensure_present`; a missing one is made from the cache of fetched repositories.

        The remote is queried first, so that a caller gets nothing that the remote refuses, and only refs that it still
        has. Newer refs are left to `fetch`.

        Returns:
            True if a clone was made from the cache.

        Raises:
            EnvironmentFault: see `ensure_present`; or the remote cannot be reached.
        """
        with self.lock:
            made = not self.context.offline and self.can_be_mirrored and self._make(self._fill_from_mirror)
            self.ensure_present()
            return made

    def fetch(self) -> None:
        """Fetch branches and tags: add new ones, move moved ones, remove deleted ones.

        The former value of a moved or deleted tag is kept under `refs/commodore/discarded`; moved tags are named in a
        warning. Local branches are not touched.

        Raises:
            EnvironmentFault: offline and never fetched; or the remote cannot be reached.
        """
        with self.lock:
            self._refuse_offline("it must be fetched")
            self.ensure()
            before = self.refs()
            first = ("--no-auto-maintenance",) if before == NO_REFS else ()
            with writing(self.path):
                try:
                    answer = talk(self.git, self.url, [*_FETCH, *first], _ALL, settings=PACKED)
                except EnvironmentFault as fault:
                    if not first or _OTHER_FORMAT not in fault.message:
                        raise
                    self._name_objects_by_sha256()
                    answer = talk(self.git, self.url, [*_FETCH, *first], _ALL, settings=PACKED)
            if reports_damage(answer):
                raise self.git.fault(_FETCH, answer)
            if answer.stderr.strip():
                self._refs = None
                keep_lost_tags(self.path, before, self.refs(), self.display_url, self.context)
            self._fetched(is_new=before == NO_REFS)

    def _name_objects_by_sha256(self) -> None:
        """Set the object format of the remote in a clone that is still empty."""
        self.git.run(["config", "core.repositoryFormatVersion", "1"])
        self.git.run(["config", "extensions.objectFormat", "sha256"])

    def fetch_commit(self, sha: str) -> bool:
        """Fetch one commit that no branch or tag contains. Returns True if the clone has it now."""
        if not is_commit(sha):
            return False
        with self.lock:
            if self.context.offline:
                return self.has_commits([sha])
            with writing(self.path):
                arguments = ["fetch", "--no-tags", "--no-write-fetch-head"]
                answer = talk(self.git, self.url, arguments, [sha], check=False, settings=PACKED)
                if answer.returncode < 0:  # killed
                    raise self.git.fault(arguments, answer)
            return self.has_commits([sha])

    def fetch_ref(self, name: str) -> None:
        """Fetch one ref (full name) of the remote; it is removed from the clone if the remote does not have it.

        Raises:
            EnvironmentFault: the remote cannot be reached.
        """
        with self.lock:
            self._refuse_offline(f"{name} must be fetched")
            arguments = ["fetch", "--no-tags", "--no-write-fetch-head"]
            with writing(self.path):
                answer = talk(self.git, self.url, arguments, [f"+{name}:{name}"], check=False)
                if answer.returncode == 0:
                    return
                if "couldn't find remote ref" not in answer.stderr:
                    raise self.git.fault(arguments, answer)
                self.git.run(["update-ref", "-d", name])

    def push(self, options: Sequence[str], refs: Sequence[str], rights: GitRights | None = None) -> GitResult:
        """Push refs (`SOURCE:TARGET`) to the repository's own URL; the caller checks the result.

        Args:
            rights: the credentials of the push, instead of the URL's.
        """
        self._refuse_offline("commits are to be pushed to it")
        reached = push_access(self.url, rights)
        arguments = ["push", "--no-verify", "--recurse-submodules=no", *options, reached.name, *refs]
        answer = self.git.run(arguments, check=False, environment=reached.environment)
        with self.lock:
            self._refs = None
        return answer

    def refs(self) -> RemoteRefs:
        """The remote's branches and tags as of the last fetch."""
        with self.lock:
            if self._refs is None:
                self.ensure_present()
                self._refs = _refs.read_refs(self.path, self.context)
            return self._refs

    def ensure_present(self) -> None:
        """Open the bare clone; offline, a missing one is an error.

        Raises:
            EnvironmentFault: see `ensure`; or offline and without a clone.
        """
        if self.context.offline and not self.path.exists():
            self._refuse_offline("there is no clone of it")
        self.ensure()

    @property
    def state(self) -> RemoteState | None:
        """The state of the remote, if it was queried in this run."""
        return self._state

    def ask(self) -> RemoteState:
        """Return the state of the remote, which is queried once per run.

        Raises:
            EnvironmentFault: offline, or the remote cannot be reached.
        """
        with self.lock:
            if self._state is None:
                self._refuse_offline("its remote must be contacted")
                clone = self.path if is_remote(self.path / "config", self.url) else None
                self._state = self._queries.answer(self.url, clone)
            return self._state

    def ask_again(self) -> RemoteState:
        """Query the remote again, for callers that must know if it has changed during the run.

        Raises:
            EnvironmentFault: offline, or the remote cannot be reached.
        """
        self._refuse_offline("its remote must be contacted")
        return ask(self.url, self.context, self.path if self.path.exists() else None)

    def is_current(self, version: str | None) -> bool:
        """Check if a version resolves to the same commit at the remote, so that no fetch is needed.

        Branches and tags that are not used may have moved at the remote; a later fetch updates them.
        """
        with self.lock:
            state, refs = self.ask(), self.refs()
            name = self.default_branch() if version is None else version
            if state.branches.get(name) != refs.branches.get(name) or state.tags.get(name) != refs.tags.get(name):
                return False
            if name in refs.branches or name in refs.tags:
                return True
            if is_commit(name):
                return self.has_commits([name])
            return state.branches == refs.branches and state.tags == refs.tags and self._is_resolvable(name)

    def catch_up(self) -> bool:
        """Fetch refs that were not needed before. Returns True if there were any."""
        with self.lock:
            state, refs = self._state, self.refs()
            if state is None or self.fetched or (state.branches == refs.branches and state.tags == refs.tags):
                return False
            self.fetch()
            return True

    def default_branch(self) -> str:
        """Return the branch of the remote's HEAD, queried once per run (offline: as last seen); by default `master`.

        Git before 2.48 does not update it while fetching.
        """
        with self.lock:
            if self.context.offline:
                return self.refs().head or FALLBACK_BRANCH
            state = self.ask()
            head = state.head or state.guess_head()
            if self.refs().head != head and head in self.refs().branches:
                target = _refs.BRANCHES + head
                with writing(self.path):
                    self.git.run(["symbolic-ref", _refs.BRANCHES + "HEAD", target])
                self._refs = None
            return head

    def resolve(self, version: str | None) -> Revision:
        """Resolve a version: a branch of the remote, else a tag, else a revision.

        Local branches are ignored. `None` is the default branch. Tags are peeled to their commit.

        Raises:
            InputError: the version does not exist, is not a commit, or looks like an option of git; or it resolves
                differently at a URL that differs only in `.git` at the end.
            EnvironmentFault: offline, and the clone does not have the version; or its commit of another run that
                shares the remote states is gone.
        """
        if version is None or not is_commit(version):
            self._check_names(version)
        revision = self._look_up(self.default_branch() if version is None else version)
        if version is not None and is_commit(version):
            return revision
        sha = self._queries.settle(self.url, version or "HEAD", revision.sha)
        if sha != revision.sha and not (self.has_commits([sha]) or self.fetch_commit(sha)):
            raise EnvironmentFault(
                "CMD-GIT-039",
                f"commit {sha} of {self.display_url}, to which '{shown(revision.version)}' resolved when the run began,"
                " is gone",
                hint="start a new run, which uses the current commit",
            )
        return replace(revision, sha=sha)

    def _look_up(self, version: str) -> Revision:
        check_version(version, self.display_url)
        refs = self.refs()
        if version in refs.tips:
            return Revision(version, version, "revision")
        match = _refs.match_name(version, refs)
        if match is not None:
            sha, kind = match
            if kind == "branch" and refs.commits.get(version, sha) != sha:
                self._warn_of_two(version, sha, refs.commits[version])
            if kind == "branch" or version in refs.commits:
                return Revision(version, sha, kind)
            return Revision(version, self._commit_of(sha, version), kind)
        default = refs.head or FALLBACK_BRANCH
        meant = _refs.expression(version, refs, default)
        if meant is None:
            raise self._unknown(version, refs)
        return Revision(version, self._commit_of(meant, version), "revision")

    def _warn_of_two(self, version: str, branch: str, tag: str) -> None:
        if version in self._ambiguous:
            return
        self._ambiguous.add(version)
        name = shown(version)
        self.context.announce(
            Warned(
                "CMD-GIT-035",
                f"{self.display_url} has a branch and a tag '{name}': {branch[:10]}, which counts, and {tag[:10]}",
                hint="name the commit as the version, or ask the owner of the repository to rename one of the two",
            )
        )

    def has_commits(self, shas: Sequence[str]) -> bool:
        """Check if all these commits (full ids) are in the bare clone."""
        if not shas:
            return True
        if not self.path.exists():
            return False
        if self._ready and self.refs().tips.issuperset(shas):
            return True
        answer = self.git.run(["cat-file", "--batch-check=%(objecttype)"], input="\n".join(shas).encode() + b"\n")
        return answer.text.splitlines() == ["commit"] * len(shas)

    def short_sha(self, sha: str) -> str:
        """Return a commit's abbreviation of at least six digits, for the commit message."""
        known = self.refs().short.get(sha)
        return known or self.git.run(["rev-parse", "--short=6", "--verify", "--end-of-options", sha]).text

    def export_tree(self, sha: str, subdir: str, destination: Path) -> None:
        """Write the files of a commit (below `subdir`, "" for all) to the folder `destination`, as `git archive` does.

        `export-ignore` and `export-subst` are honoured, no filter runs, and an existing `destination` is replaced.

        Raises:
            InputError: the commit has no such folder, or a path or link in it leaves the folder.
        """
        write_tree(self.path, sha, subdir, destination, self.context, place=self.display_url)

    def keep(self, shas: Iterable[str]) -> list[str]:
        """Protect commits from garbage collection by refs below `refs/commodore/discarded`. Returns the refs."""
        return keep_commits(self.path, shas, self.context)

    def rebuild(self) -> bool:
        """Clone a damaged repository again from its remote, unless something in it could be lost.

        Worktrees and local branches are kept. Returns True if it was cloned again.

        Raises:
            EnvironmentFault: the remote cannot be reached; the damaged clone is unchanged.
        """
        with self.lock:
            tips = None if self.context.offline else own_tips(self.path)
            if tips is None or not self._make(lambda fresh: self._fill_again(fresh, tips)):
                return False
            self._refs = None
            self._fetched(is_new=True)
            self.context.announce(
                Warned(
                    "CMD-GIT-024",
                    f"the clone of {self.display_url} was damaged and has been cloned again; nothing in it was lost",
                    hint="if this happens again, check the disk",
                )
            )
            return True

    def _make(self, fill: Callable[[Path], bool] = lambda _: True) -> bool:
        return make_clone(self.path, self.url, self._blueprint, fill)

    def _fill_again(self, fresh: Path, tips: dict[str, str]) -> bool:
        """Fetch, then copy worktrees and own refs of the damaged clone if all their objects exist now."""
        talk(Git(fresh, self.context), self.url, _FETCH, _ALL, settings=PACKED)
        return move_in(self.path, fresh, tips, self.context)

    def _fill_from_mirror(self, fresh: Path) -> bool:
        assert self._mirrors is not None, "obtain has checked"
        if self._state is None:
            self._state = self._queries.answer(self.url, noted=False)
        refs = self._mirrors.take(self.url, fresh)
        if refs is None:
            return False
        self._refs = unchanged_refs(refs, self._state)
        _refs.write_refs(fresh, self._refs)
        return True

    def _fetched(self, *, is_new: bool = False) -> None:
        self.fetched = True
        if self._mirrors is not None:
            self._mirrors.learn(self.url, self.path, self.refs(), is_new=is_new)

    def _is_resolvable(self, version: str) -> bool:
        try:
            self.resolve(version)
        except InputError:
            return False
        return True

    def _commit_of(self, expression: str, version: str) -> str:
        arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
        answer = self.git.run([*arguments, expression + "^{commit}"], check=False)
        if answer.returncode == 0 and is_commit(answer.text):
            return answer.text
        if self.git.run([*arguments, expression + "^{object}"], check=False).returncode == 0:
            raise InputError(
                "CMD-GIT-032",
                f"the version '{shown(version)}' of {self.display_url} is not a commit",
                hint="name a branch, a tag of a commit, or a commit",
            )
        raise self._unknown(version, self.refs())

    def _unknown(self, version: str, refs: RemoteRefs) -> CommodoreError:
        if self.context.offline:
            return unknown_offline(version, self.display_url, self.path)
        return unknown_version(version, self.display_url, {*refs.branches, *refs.tags})

    def _refuse_offline(self, reason: str) -> None:
        if self.context.offline:
            raise EnvironmentFault(
                "CMD-GIT-023",
                f"cannot use {self.display_url} offline: {reason}",
                hint="run once without offline mode, with the network there",
            )


def _has_suffix(url: str) -> bool:
    """Return True if the path of a normalized URL ends in `.git`. Many servers add that ending."""
    return urlsplit(url).path.rstrip("/").endswith(".git")
