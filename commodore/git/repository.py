"""One remote repository: its bare clone, its refs, and what a version means in it (spec b 1.2-1.6, C12, C16, C17)."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from commodore.errors import CommodoreError, EnvironmentFault, InputError, did_you_mean
from commodore.events import Announce, Noted, Warned, ignore
from commodore.git import _refs
from commodore.git._export import write_tree
from commodore.git._refs import FULL_SHA, RemoteRefs, Revision
from commodore.git._remote_config import FETCH_REFSPEC, FETCH_TAGS, is_remote, set_remote
from commodore.git._repair import move_in, own_tips
from commodore.git.asking import RemoteState, ask
from commodore.git.keeping import keep_commits
from commodore.git.runner import Children, GitResult, run
from commodore.git.urls import normalize, redact, repository_key, shown
from commodore.git.versions import check_version
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.workspace import guard_disk, remove_tree, replace_tree

_FETCH_ALL = ("fetch", "--no-tags", "--prune", "--no-write-fetch-head", "origin", FETCH_REFSPEC, FETCH_TAGS)
FALLBACK_BRANCH = "master"


class Repository:
    """The bare clone of one remote repository.

    Args:
        url: where the repository is; kept in normal form, credentials included.
        path: the folder of the bare clone; it need not exist yet.
        offline: never talk to the remote.
        ask_remote: answers what the remote at a URL has; by default it is asked.

    Methods may be called from several threads; `lock` keeps several calls together.
    Those that talk to the remote raise EnvironmentFault when it fails.
    """

    def __init__(
        self,
        url: str,
        path: Path,
        *,
        announce: Announce = ignore,
        limits: Limits = DEFAULT_LIMITS,
        offline: bool = False,
        children: Children | None = None,
        ask_remote: Callable[[str], RemoteState] | None = None,
    ) -> None:
        self.url = normalize(url)
        self.key = repository_key(url)
        self.path = path
        self.offline = offline
        self.fetched = False
        self.limits = limits
        self.announce = announce
        self._children = children
        self.lock = threading.RLock()
        self._ready = False
        self._refs: RemoteRefs | None = None
        self._ask_remote = ask_remote
        self._state: RemoteState | None = None

    @property
    def display_url(self) -> str:
        """The URL without credentials, for people, metadata and logs."""
        return redact(self.url)

    def prefer_url(self, url: str) -> None:
        """Fetch from `url` from now on (it names the same repository)."""
        with self.lock:
            self.url = normalize(url)
            self._ready = False

    def ensure(self) -> None:
        """Create the bare clone, or open it, and set its remote: URL, refspec, and push URL (C25-C28).

        A push URL that does not belong to the URL any more is removed (spec b 1.3, weak points).

        Raises:
            EnvironmentFault: something else is in the folder's place, or the clone is damaged.
        """
        with self.lock:
            if self._ready:
                return
            if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
                self._make(fetch=False)
            elif not _looks_bare(self.path):
                raise EnvironmentFault(
                    "CMD-GIT-020",
                    f"{self.path}, which is no bare repository, is in the way of the clone of {self.display_url}",
                    hint="move the folder away and run again",
                    locations=[str(self.path)],
                )
            if not self.offline:
                self._configure(self.path)
            self._ready = True

    def fetch(self) -> None:
        """Bring branches and tags up to date with the remote: new ones come, moved ones move, deleted ones go.

        The former value of a tag that moved or went is kept under `refs/commodore/discarded`; a moved tag is warned
        about by name. Local branches are not touched.

        Raises:
            EnvironmentFault: offline and never fetched; or the remote does not answer.
        """
        with self.lock:
            self._refuse_offline("it must be fetched")
            self.ensure()
            before = self.refs()
            answer = self._run(_FETCH_ALL)
            if answer.stderr.strip():
                self._refs = None
                self._keep_lost_tags(before, self.refs())
            self.fetched = True

    def fetch_commit(self, sha: str) -> bool:
        """Ask the remote for one commit that no branch or tag contains. Returns whether it is here now."""
        if not FULL_SHA.match(sha):
            return False
        with self.lock:
            if self.offline:
                return self.has_commits([sha])
            self._run(["fetch", "--no-tags", "--no-write-fetch-head", "origin", sha], check=False)
            return self.has_commits([sha])

    def refs(self) -> RemoteRefs:
        """The remote's branches and tags as of the last fetch."""
        with self.lock:
            if self._refs is None:
                self.ensure_present()
                self._refs = _refs.read_refs(self.path, self.limits.git_timeout)
            return self._refs

    def ensure_present(self) -> None:
        """Open the bare clone; offline, a missing one is an error.

        Raises:
            EnvironmentFault: see `ensure`; or offline and there is no clone.
        """
        if self.offline and not self.path.exists():
            self._refuse_offline("there is no clone of it")
        self.ensure()

    @property
    def state(self) -> RemoteState | None:
        """What the remote has, if it was asked in this run."""
        return self._state

    def ask(self) -> RemoteState:
        """What the remote has; it is asked once per run.

        Raises:
            EnvironmentFault: offline, or the remote does not answer.
        """
        with self.lock:
            if self._state is None:
                self._refuse_offline("its remote must be asked")
                if self._ask_remote is not None:
                    self._state = self._ask_remote(self.url)
                else:
                    clone = self.path if is_remote(self.path / "config", self.url) else None
                    self._state = ask(self.url, clone, limits=self.limits, children=self._children)
            return self._state

    def is_current(self, version: str | None) -> bool:
        """Whether a fetch would not change what a version means, so that none is needed.

        Branches and tags that nobody wants may have moved at the remote; they are brought by a later fetch.
        """
        with self.lock:
            state, refs = self.ask(), self.refs()
            name = self.default_branch() if version is None else version
            if state.branches.get(name) != refs.branches.get(name) or state.tags.get(name) != refs.tags.get(name):
                return False
            if name in refs.branches or name in refs.tags:
                return True
            if FULL_SHA.match(name):
                return self.has_commits([name])
            return state.branches == refs.branches and state.tags == refs.tags and self._is_resolvable(name)

    def catch_up(self) -> bool:
        """Fetch what was left out because nobody had wanted it. Returns whether there was something."""
        with self.lock:
            state, refs = self._state, self.refs()
            if state is None or self.fetched or (state.branches == refs.branches and state.tags == refs.tags):
                return False
            self.fetch()
            return True

    def default_branch(self) -> str:
        """The branch the remote's HEAD names, asked from the remote once per run (offline: as last seen).

        Git before 2.48 cannot learn it while fetching. A remote that names none has the default branch `master`.
        """
        with self.lock:
            if self.offline:
                return self.refs().head or FALLBACK_BRANCH
            state = self.ask()
            head = state.head or self._guess_head(state)
            if self.refs().head != head and head in self.refs().branches:
                target = _refs.BRANCHES + head
                self._run(["symbolic-ref", _refs.BRANCHES + "HEAD", target])
                self._refs = None
            return head

    def resolve(self, version: str | None) -> Revision:
        """What a version means: a branch of the remote, else a tag, else a revision (C12; spec b 1.6).

        Local branches never count. `None` is the default branch. Tags are followed to their commit.

        Raises:
            InputError: there is no such version, or it is no commit, or git would take it for an option.
            EnvironmentFault: offline, and the clone has no such version.
        """
        if version is None:
            version = self.default_branch()
        check_version(version, self.display_url)
        refs = self.refs()
        found = _refs.match_name(version, refs)
        if found is not None:
            sha, kind = found
            if kind == "branch" or version in refs.commits:
                return Revision(version, sha, kind)
            return Revision(version, self._commit_of(sha, version), kind)
        default = refs.head or FALLBACK_BRANCH
        meant = _refs.expression(version, refs, default)
        if meant is None:
            raise self._unknown(version, refs)
        return Revision(version, self._commit_of(meant, version), "revision")

    def has_commits(self, shas: Sequence[str]) -> bool:
        """Whether all these commits (full ids) are in the bare clone."""
        if not shas:
            return True
        if not self.path.exists():
            return False
        if self._ready and self.refs().tips.issuperset(shas):
            return True
        answer = self._run(["cat-file", "--batch-check=%(objecttype)"], input="\n".join(shas).encode() + b"\n")
        return answer.text.splitlines() == ["commit"] * len(shas)

    def short_sha(self, sha: str) -> str:
        """A commit's abbreviation with at least six digits, for the commit message (spec a 8.5)."""
        known = self.refs().short.get(sha)
        return (
            known
            if known is not None
            else self._run(["rev-parse", "--short=6", "--verify", "--end-of-options", sha]).text
        )

    def export_tree(self, sha: str, subdir: str, destination: Path) -> None:
        """Write the files of a commit (below `subdir`, "" for all) to the folder `destination`, as `git archive` does.

        `export-ignore` and `export-subst` are honoured, no filter runs, and a former `destination` is replaced.

        Raises:
            InputError: the commit has no such folder, or a path or link in it leaves the folder.
        """
        write_tree(self.path, sha, subdir, destination, place=self.display_url, timeout=self.limits.git_timeout)

    def keep(self, shas: Iterable[str]) -> list[str]:
        """Protect commits from being lost by giving each a ref below `refs/commodore/discarded`. Returns the refs."""
        return keep_commits(self.path, shas, self.limits.git_timeout)

    def rebuild(self) -> bool:
        """Make a damaged clone anew from its remote, unless something in it could be lost by that.

        Worktrees and local branches are kept. Returns whether it was done.

        Raises:
            EnvironmentFault: the remote does not answer; the damaged clone is as it was.
        """
        with self.lock:
            tips = None if self.offline else own_tips(self.path)
            if tips is None or not self._make(fetch=True, tips=tips):
                return False
            self.fetched, self._refs = True, None
            self.announce(
                Warned(
                    "CMD-GIT-024",
                    f"the clone of {self.display_url} was damaged and was made anew; nothing in it was lost",
                    hint="if this happens again, check the disk",
                )
            )
            return True

    def _make(self, *, fetch: bool, tips: dict[str, str] | None = None) -> bool:
        """Make the clone beside its place and put it there when it is complete and has all objects of `tips`."""
        timeout = self.limits.git_timeout
        with guard_disk(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.path.parent))
        try:
            fresh.chmod(0o755)
            arguments = ["init", "--quiet", "--bare", "--template=", f"--initial-branch={FALLBACK_BRANCH}"]
            run([*arguments, "--", str(fresh)], cwd=fresh, timeout=timeout, children=self._children)
            self._configure(fresh)
            if fetch:
                run(_FETCH_ALL, cwd=fresh, timeout=timeout, children=self._children, about=self.display_url)
            if tips:
                check = "".join(f"{sha}\n" for sha in tips.values()).encode()
                answer = run(["cat-file", "--batch-check=%(objecttype)"], cwd=fresh, timeout=timeout, input=check)
                if any(line.endswith(" missing") for line in answer.text.splitlines()):
                    return False
                move_in(self.path, fresh, tips, timeout)
            replace_tree(fresh, self.path)
            return True
        finally:
            remove_tree(fresh)

    def _configure(self, bare: Path) -> None:
        set_remote(bare / "config", self.url, self.limits.git_timeout)

    def _keep_lost_tags(self, before: RemoteRefs, after: RemoteRefs) -> None:
        moved = [tag for tag, sha in before.tags.items() if after.tags.get(tag, sha) != sha]
        gone = [tag for tag in before.tags if tag not in after.tags]
        self.keep(before.tags[tag] for tag in moved + gone)
        for tag in sorted(moved):
            self.announce(
                Warned(
                    "CMD-GIT-022",
                    f"the tag '{shown(tag)}' of {self.display_url} has moved from {before.tags[tag][:10]}"
                    f" to {after.tags[tag][:10]}",
                    hint="whoever publishes versions should never move a tag; pin a commit if you must not follow",
                )
            )
        for tag in sorted(gone):
            self.announce(Noted(f"the tag '{shown(tag)}' is gone from {self.display_url}", level=1))

    @staticmethod
    def _guess_head(state: RemoteState) -> str:
        """For servers that do not say which branch HEAD is: one that points at the same commit."""
        same = sorted(name for name, sha in state.branches.items() if sha == state.head_sha)
        return next((name for name in (FALLBACK_BRANCH, "main", *same) if name in same), FALLBACK_BRANCH)

    def _is_resolvable(self, version: str) -> bool:
        try:
            self.resolve(version)
        except InputError:
            return False
        return True

    def _commit_of(self, expression: str, version: str) -> str:
        arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options"]
        answer = self._run([*arguments, expression + "^{commit}"], check=False)
        if answer.returncode == 0 and FULL_SHA.match(answer.text):
            return answer.text
        if self._run([*arguments, expression + "^{object}"], check=False).returncode == 0:
            raise InputError(
                "CMD-GIT-032",
                f"the version '{shown(version)}' of {self.display_url} is not a commit",
                hint="name a branch, a tag of a commit, or a commit",
            )
        raise self._unknown(version, self.refs())

    def _unknown(self, version: str, refs: RemoteRefs) -> CommodoreError:
        if self.offline:
            return EnvironmentFault(
                "CMD-GIT-025",
                f"the version '{shown(version)}' of {self.display_url} is not in its clone, and offline it cannot be"
                " fetched",
                hint="run once without offline mode, with the network there",
                locations=[str(self.path)],
            )
        hint = did_you_mean(version, {*refs.branches, *refs.tags}) or "name a branch, a tag or a commit of it"
        return InputError(
            "CMD-GIT-030", f"the version '{shown(version)}' was not found in {self.display_url}", hint=hint
        )

    def _refuse_offline(self, reason: str) -> None:
        if self.offline:
            raise EnvironmentFault(
                "CMD-GIT-023",
                f"cannot use {self.display_url} offline: {reason}",
                hint="run once without offline mode, with the network there",
            )

    def _run(self, arguments: Sequence[str], *, check: bool = True, input: bytes | None = None) -> GitResult:
        timeout = self.limits.git_timeout
        return run(
            arguments,
            cwd=self.path,
            timeout=timeout,
            input=input,
            check=check,
            children=self._children,
            about=self.display_url,
        )


def _looks_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "config").is_file()
