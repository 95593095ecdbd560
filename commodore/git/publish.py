"""The ordinary clone that a run publishes from: the cluster's catalog.

It is kept and updated, never cloned again, and a push is never forced.
"""

from __future__ import annotations

import enum
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.events import Announce, Noted, Warned, ignore
from commodore.git._bare_clone import still_true
from commodore.git._empty_repository import FALLBACK_BRANCH
from commodore.git._moves import Move, moving
from commodore.git._recovery import recover
from commodore.git._refs import NO_REFS, read_refs, write_refs
from commodore.git._remote_config import FETCH_REFSPEC, PACKED, access, add_remote, is_remote, set_remote
from commodore.git.backups import OUTPUT, keep_commits
from commodore.git.identity import Author, identity_environment
from commodore.git.ls_remote import RemoteState, ask
from commodore.git.mirrors import Mirrors
from commodore.git.runner import Children, GitResult, clean_text, fault, last_words, run
from commodore.git.urls import normalize, redact, repository_key, shown
from commodore.git.versions import check_version
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.workspace import guard_disk, remove_tree, replace_tree

_FETCH = ("fetch", "--no-tags", "--prune", "--no-write-fetch-head")
# What git says when another push was quicker, in the order of the push: before it, during it.
_MOVED = re.compile(
    r"\((fetch first|non-fast-forward|stale info|cannot lock ref.*|failed to update ref|incorrect old value provided"
    r"|reference already exists|failed to lock.*|failed)\)"
)


@dataclass(frozen=True, slots=True)
class PublishedClone:
    """A clone on the remote's default branch.

    Attributes:
        path: the working copy.
        url: the remote's, without credentials.
        branch: the branch to push.
        sha: the commit the working copy is at.
        empty: the remote has no commit yet; the first push brings it `sha`, an empty initial commit, too.
        remote: the URL with its credentials, which the clone does not know; empty if it has none.
    """

    path: Path
    url: str
    branch: str
    sha: str
    empty: bool
    remote: str = field(default="", repr=False, compare=False)


class PushOutcome(enum.Enum):
    """How a push ended, if not with an error."""

    PUSHED = "pushed"
    MOVED = "moved"  # there was another push meanwhile; the clone knows the new commit, nothing else has changed


def clone_or_update(
    url: str,
    folder: Path,
    *,
    announce: Announce = ignore,
    limits: Limits = DEFAULT_LIMITS,
    author: Author | None = None,
    children: Children | None = None,
    staging: Path | None = None,
    ask_remote: Callable[[str, Path], RemoteState] | None = None,
    offline: bool = False,
    mirrors: Mirrors | None = None,
) -> PublishedClone:
    """Bring a clone of `url` to the newest commit of the remote's default branch, making it if need be.

    What is not committed in it is the output of an earlier run and is thrown away; unpushed commits are kept under
    `refs/commodore/discarded` and announced. An empty remote gets a local, parentless commit of the empty tree with
    the message `Initial commit` on `master`. Another thread can end the talk with the remote through
    `children`. A new clone is made in the folder `staging`, by default beside its place. `ask_remote` answers what the
    remote at a URL, which is the `origin` of a folder, has; by default it is asked. With `offline` there is no network
    access: the clone is brought to the newest commit that it knows of the branch it is on. A new clone takes from
    `mirrors` what other working directories have fetched, and leaves there what it has fetched itself.

    Raises:
        InputError: the URL is not usable.
        PolicyError: something else is in the folder's place and would be lost.
        EnvironmentFault: the remote does not answer, or the clone is damaged; or offline, and there is no clone.
    """
    wanted, _ = normalize(url), repository_key(url)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise _in_the_way(folder, "a link or file is there")
    config = folder / ".git" / "config"

    def ask_anew(url: str, clone: Path) -> RemoteState:
        return _last_state(clone, limits) if offline else ask(url, clone, limits=limits, children=children)

    ask_remote = ask_anew if offline or ask_remote is None else ask_remote
    update = _Update(wanted, announce, limits, author, children, ask_remote, offline)
    if (folder / ".git").is_dir() and (is_remote(config, wanted) or _origin(folder, limits) == redact(wanted)):
        recover(folder, limits=limits, announce=announce, alone=True)
        set_remote(config, wanted, limits.git_timeout)
        return update.run(folder)
    if offline:
        raise EnvironmentFault(
            "CMD-GIT-023",
            f"cannot use {redact(wanted)} offline: there is no clone of it in {folder}",
            hint="run once without offline mode, with the network there",
            locations=[str(folder)],
        )
    _refuse_to_lose(folder, limits)
    return _clone_anew(update, folder, staging, mirrors)


def _clone_anew(update: _Update, folder: Path, staging: Path | None, mirrors: Mirrors | None) -> PublishedClone:
    limits = update.limits
    with guard_disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=staging or folder.parent))
    try:
        fresh.chmod(0o755)
        arguments = ["init", "--quiet", "--template=", f"--initial-branch={FALLBACK_BRANCH}", "--", str(fresh)]
        run(arguments, cwd=fresh, timeout=limits.git_timeout)
        add_remote(fresh / ".git" / "config", update.url)
        known = _take_known(update, fresh, mirrors)
        made = update.run(fresh)
        if mirrors is not None and not made.empty and made.sha not in known.values():
            mirrors.learn(update.url, fresh / ".git", read_refs(fresh / ".git", limits.git_timeout), is_new=True)
        replace_tree(fresh, folder)
    finally:
        remove_tree(fresh)
    return replace(made, path=folder)


def _take_known(update: _Update, fresh: Path, mirrors: Mirrors | None) -> Mapping[str, str]:
    """Give a new clone what other working directories have fetched, after the remote was asked. Returns the branches
    that it knows now.
    """
    if mirrors is None or not mirrors.holds(update.url):
        return {}
    state = update.ask_remote(update.url, fresh)
    refs = mirrors.take(update.url, fresh / ".git")
    if refs is None:
        return {}
    branches = still_true(refs, state).branches
    write_refs(fresh / ".git", replace(NO_REFS, branches=branches))
    return branches


def commit(folder: Path, message: str, author: Author | None = None, *, limits: Limits = DEFAULT_LIMITS) -> str:
    """Commit what is staged, with `author` (None: git's own identity) as author and committer. Returns the commit."""
    arguments = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"]
    environment = identity_environment(folder, author, limits)
    run(arguments, cwd=folder, timeout=limits.git_timeout, input=message.encode(), environment=environment)
    return _sha(folder, "HEAD", limits)


def push(folder: Path, branch: str, *, url: str | None = None, limits: Limits = DEFAULT_LIMITS) -> PushOutcome:
    """Push HEAD to the remote's `branch`, never by force.

    `url` is the remote's, with the credentials that the clone does not know; by default it is the clone's.

    When the remote has moved meanwhile, its new state is fetched and `MOVED` returned: update, build again, push again.

    Raises:
        EnvironmentFault: the remote refused, in its own words, or does not answer.
    """
    check_version(branch, str(folder))
    arguments = ["push", "--porcelain", "--no-verify", "--recurse-submodules=no", "origin", f"HEAD:refs/heads/{branch}"]
    answer = run(arguments, cwd=folder, timeout=limits.git_timeout, check=False)
    if answer.returncode == 0:
        return PushOutcome.PUSHED
    rejected = next((line for line in answer.text.splitlines() if line.startswith("!")), None)
    if rejected is None:
        raise fault(["push"], answer, folder, redact(_origin(folder, limits)))
    if _MOVED.search(rejected):
        before = _sha(folder, f"refs/remotes/origin/{branch}", limits)
        _fetch(url or _origin(folder, limits), folder, limits)
        if _sha(folder, f"refs/remotes/origin/{branch}", limits) != before:
            return PushOutcome.MOVED
    raise _rejection(folder, branch, rejected, answer)


def unstage(folder: Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
    """Take everything out of the index that HEAD does not have; files stay as they are (a mixed reset)."""
    run(["reset", "--quiet", "--mixed"], cwd=folder, timeout=limits.git_timeout)


@dataclass(frozen=True, slots=True)
class _Update:
    """How a clone of `url` is brought to the newest commit of the remote's default branch."""

    url: str
    announce: Announce
    limits: Limits
    author: Author | None
    children: Children | None
    ask_remote: Callable[[str, Path], RemoteState]
    offline: bool

    def run(self, folder: Path) -> PublishedClone:
        """Do it, in the clone in `folder`."""
        state = self.ask_remote(self.url, folder)
        branch = state.head or FALLBACK_BRANCH
        if branch not in state.branches:
            if state.branches:
                raise EnvironmentFault(
                    "CMD-GIT-054",
                    f"the default branch '{shown(branch)}' of {redact(self.url)} does not exist",
                    hint="set the default branch on the server to one that exists",
                )
            return self._begin(folder, branch)
        sha = state.branches[branch]
        if not _is_there(folder, branch, sha, self.limits):
            sha = self._move(folder, branch, sha)
        return PublishedClone(folder, redact(self.url), branch, sha, empty=False, remote=self.url)

    def _move(self, folder: Path, branch: str, sha: str) -> str:
        limits, timeout = self.limits, self.limits.git_timeout
        if _sha(folder, f"refs/remotes/origin/{branch}", limits) != sha:
            _fetch(self.url, folder, limits, self.children, PACKED)
        sha = _sha(folder, f"refs/remotes/origin/{branch}", limits)
        _keep_unpushed(folder, self.announce, limits)
        self._check_out(folder, branch, sha)
        run(["branch", "--quiet", f"--set-upstream-to=origin/{branch}", branch], cwd=folder, timeout=timeout)
        run(["clean", "--quiet", "-ffdx"], cwd=folder, timeout=timeout)
        return sha

    def _begin(self, folder: Path, branch: str) -> PublishedClone:
        """Give the clone of an empty remote its initial commit."""
        limits, timeout, url = self.limits, self.limits.git_timeout, redact(self.url)
        self.announce(Noted(f"{url} is empty; it gets an initial commit with the first push"))
        if not self.offline:
            _fetch(self.url, folder, limits)  # forget branches that the remote had once
        _keep_unpushed(folder, self.announce, limits)
        tree = run(["hash-object", "-w", "-t", "tree", "--stdin"], cwd=folder, timeout=timeout, input=b"").text
        environment = identity_environment(folder, self.author, limits)
        # From standard input the message is taken as it is: the published tool's has no newline at its end either.
        message = b"Initial commit"
        sha = run(["commit-tree", tree], cwd=folder, timeout=timeout, environment=environment, input=message).text
        self._check_out(folder, branch, sha)
        run(["clean", "--quiet", "-ffdx"], cwd=folder, timeout=timeout)
        return PublishedClone(folder, url, branch, sha, empty=True, remote=self.url)

    def _check_out(self, folder: Path, branch: str, sha: str) -> None:
        limits, git_dir = self.limits, folder / ".git"
        names = ["rev-parse", "--verify", "--quiet"]
        head, output = (
            run([*names, name], cwd=folder, timeout=limits.git_timeout, check=False).text for name in ("HEAD", OUTPUT)
        )
        with moving(git_dir, Move(head or None, sha, branch, (output,) if output else ())) as going:
            arguments = ["checkout", "--quiet", "--force", "-B", branch, sha]
            run(arguments, cwd=folder, timeout=limits.git_timeout, inherit=(going.handle,))
            going.complete(sha)


def _last_state(folder: Path, limits: Limits) -> RemoteState:
    """What a clone knows of its remote; the branch it is on is taken for the default one."""
    timeout = limits.git_timeout
    answer = run(["for-each-ref", "--format=%(objectname) %(refname)", _KNOWN], cwd=folder, timeout=timeout).text
    known = (line.split(" ", 1) for line in answer.splitlines())
    branches = {name.removeprefix(_KNOWN): sha for sha, name in known}
    head = run(["symbolic-ref", "--quiet", "--short", "HEAD"], cwd=folder, timeout=timeout, check=False).text
    return RemoteState(branches, head=head or None)


_KNOWN = "refs/remotes/origin/"


def _is_there(folder: Path, branch: str, sha: str, limits: Limits) -> bool:
    """Whether the clone is on the branch at this commit, which is the remote's too, and has no file of its own."""
    arguments = ["status", "--porcelain=v2", "--branch", "-z", "--ignored", "--untracked-files=all", "--no-renames"]
    answer = run(arguments, cwd=folder, timeout=limits.git_timeout).text
    wanted = f"branch.oid {sha}", f"branch.head {branch}", f"branch.upstream origin/{branch}", "branch.ab +0 -0"
    return answer.split("\0") == [*(f"# {line}" for line in wanted), ""]


def _keep_unpushed(folder: Path, announce: Announce, limits: Limits) -> None:
    if not _unpushed(folder, limits):
        return
    [ref] = keep_commits(folder, [_sha(folder, "HEAD", limits)], limits.git_timeout)
    announce(
        Warned(
            "CMD-GIT-045",
            f"saved the unpushed commits of {folder} under refs/commodore/discarded before updating it",
            hint=f"look at them: git -C {folder} log {ref}",
        )
    )


def _unpushed(folder: Path, limits: Limits) -> list[str]:
    """Local commits that the remote lacks, without the empty initial commit that this program makes itself."""
    if _sha(folder, "HEAD", limits) == "":
        return []
    arguments = ["log", "--max-count=20", "--format=%H %T %P", "HEAD", "--branches", "--not", "--remotes"]
    lines = run(arguments, cwd=folder, timeout=limits.git_timeout).text.splitlines()
    return [line.split(" ")[0] for line in lines if line.split(" ")[1:] != [_EMPTY_TREE, ""]]


_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def _refuse_to_lose(folder: Path, limits: Limits) -> None:
    """Refuse to replace a folder that holds anything but output of earlier runs that the remote has."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / ".git").is_dir():
        raise _in_the_way(folder, "a folder that is no git clone is there")
    stash = run(["rev-parse", "--verify", "--quiet", "refs/stash"], cwd=folder, timeout=limits.git_timeout, check=False)
    if _unpushed(folder, limits) or stash.returncode == 0:
        raise _in_the_way(folder, "a clone of another repository with unpushed commits is there")


def _fetch(
    url: str, folder: Path, limits: Limits, children: Children | None = None, settings: Sequence[str] = ()
) -> None:
    reached = access(url)
    run(
        [*_FETCH, reached.name, FETCH_REFSPEC],
        cwd=folder,
        timeout=limits.git_timeout,
        environment=reached.environment,
        about=redact(url),
        children=children,
        settings=settings,
    )


def _origin(folder: Path, limits: Limits) -> str:
    arguments = ["config", "--local", "--get", "remote.origin.url"]
    return run(arguments, cwd=folder, timeout=limits.git_timeout, check=False).text


def _sha(folder: Path, name: str, limits: Limits) -> str:
    """The commit a ref stands for, or an empty string."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return run(arguments, cwd=folder, timeout=limits.git_timeout, check=False).text


def _rejection(folder: Path, branch: str, rejected: str, answer: GitResult) -> CommodoreError:
    said = [line.removeprefix("remote:").strip() for line in answer.stderr.splitlines() if line.startswith("remote:")]
    words = "; ".join(line for line in said if line) or last_words(answer.stderr)
    reason = clean_text(rejected.rpartition("\t")[2])
    return EnvironmentFault(
        "CMD-GIT-051",
        f"the remote refused the push to '{shown(branch)}': {reason}: {words}",
        hint="check your rights and the rules of the branch on the server",
        locations=[str(folder)],
    )


def _in_the_way(folder: Path, what: str) -> PolicyError:
    return PolicyError(
        "CMD-GIT-050",
        f"{folder} cannot become the clone to publish from: {what}",
        hint="push or move away what you need, remove the folder, then run again",
        locations=[str(folder)],
    )
