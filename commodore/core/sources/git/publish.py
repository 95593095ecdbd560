"""The ordinary clone that a run publishes from, such as the cluster's catalog: update, commit and push.

It is updated, never cloned again, and a push is never forced.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError, Refused
from commodore.base.events import Noted, Warned
from commodore.base.files.workspace import folder_beside, replace_tree
from commodore.core.sources.git._bare_clone import unchanged_refs
from commodore.core.sources.git._empty_repository import FALLBACK_BRANCH
from commodore.core.sources.git._moves import Move, moving
from commodore.core.sources.git._recovery import recover
from commodore.core.sources.git._refs import NO_REFS, read_refs, write_refs
from commodore.core.sources.git._remote_config import FETCH_REFSPEC, PACKED, add_remote, is_remote, set_remote, talk
from commodore.core.sources.git.backups import OUTPUT, keep_commits
from commodore.core.sources.git.identity import Author, identity_environment
from commodore.core.sources.git.ls_remote import RemoteState
from commodore.core.sources.git.mirrors import Mirrors
from commodore.core.sources.git.runner import Git, GitResult, clean_text, last_words
from commodore.core.sources.git.staging import disregard_attributes
from commodore.core.sources.git.urls import redact, shown
from commodore.core.sources.git.versions import check_version

_FETCH = ("fetch", "--no-tags", "--prune", "--no-write-fetch-head")
# Git's reasons for a push that another push has overtaken: before it, during it.
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
        empty: the remote has no commit yet; the first push includes `sha`, an empty initial commit.
        remote: the URL with its credentials, which the clone does not have; empty without a remote.
    """

    path: Path
    url: str
    branch: str
    sha: str
    empty: bool
    remote: str = field(default="", repr=False, compare=False)


class PushOutcome(enum.Enum):
    """Outcome of a push that raised no error."""

    PUSHED = "pushed"
    MOVED = "moved"  # by another push meanwhile; the new commit is fetched, nothing else has changed


@dataclass(frozen=True, slots=True)
class WorkingClone:
    """An ordinary clone that is kept at the newest commit of the remote's default branch (`RepositoryStore`).

    Attributes:
        url: the remote's, in normal form.
        author: of the initial commit of an empty remote.
        ask_remote: queries the state of the remote at a URL, which is the `origin` of a folder.
        mirrors: the cache of fetched repositories; None without a cache.
    """

    url: str
    context: Context
    author: Author | None
    ask_remote: Callable[[str, Path], RemoteState]
    mirrors: Mirrors | None

    def bring(self, folder: Path, staging: Path | None) -> PublishedClone:
        """See `RepositoryStore.working_clone`."""
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise _in_the_way(folder, "a link or file is there")
        config = folder / ".git" / "config"
        git = Git(folder, self.context)
        if (folder / ".git").is_dir() and (is_remote(config, self.url) or _origin(git) == redact(self.url)):
            disregard_attributes(folder)
            recover(folder, self.context, alone=True)
            set_remote(config, self.url, self.context)
            return self._update(git)
        if self.context.offline:
            raise EnvironmentFault(
                "CMD-GIT-023",
                f"cannot use {redact(self.url)} offline: there is no clone of it in {folder}",
                hint="run once without offline mode, with the network there",
                locations=[str(folder)],
            )
        _refuse_to_lose(git)
        return self._clone_anew(folder, staging)

    def _clone_anew(self, folder: Path, staging: Path | None) -> PublishedClone:
        with folder_beside(folder, staging, parents=True) as fresh:
            git = Git(fresh, self.context)
            git.run(["init", "--quiet", "--template=", f"--initial-branch={FALLBACK_BRANCH}", "--", str(fresh)])
            disregard_attributes(fresh)
            add_remote(fresh / ".git" / "config", self.url)
            known = self._take_known(fresh)
            made = self._update(git)
            if self.mirrors is not None and not made.empty and made.sha not in known.values():
                self.mirrors.learn(self.url, fresh / ".git", read_refs(fresh / ".git", self.context), is_new=True)
            replace_tree(fresh, folder)
        return replace(made, path=folder)

    def _take_known(self, fresh: Path) -> Mapping[str, str]:
        """Fill a new clone from the cache of fetched repositories, after querying the remote. Returns the branches that
        it has now.
        """
        if self.mirrors is None or not self.mirrors.holds(self.url):
            return {}
        state = self.ask_remote(self.url, fresh)
        refs = self.mirrors.take(self.url, fresh / ".git")
        if refs is None:
            return {}
        branches = unchanged_refs(refs, state).branches
        write_refs(fresh / ".git", replace(NO_REFS, branches=branches))
        return branches

    def _update(self, git: Git) -> PublishedClone:
        state = _last_state(git) if self.context.offline else self.ask_remote(self.url, git.folder)
        branch = state.head or FALLBACK_BRANCH
        if branch not in state.branches:
            if state.branches:
                raise EnvironmentFault(
                    "CMD-GIT-054",
                    f"the default branch '{shown(branch)}' of {redact(self.url)} does not exist",
                    hint="set the default branch on the server to one that exists",
                )
            return self._begin(git, branch)
        sha = state.branches[branch]
        if not _is_there(git, branch, sha):
            sha = self._move(git, branch, sha)
        return PublishedClone(git.folder, redact(self.url), branch, sha, empty=False, remote=self.url)

    def _move(self, git: Git, branch: str, sha: str) -> str:
        if _sha(git, f"refs/remotes/origin/{branch}") != sha:
            talk(git, self.url, _FETCH, [FETCH_REFSPEC], settings=PACKED)
        sha = _sha(git, f"refs/remotes/origin/{branch}")
        _keep_unpushed(git)
        _check_out(git, branch, sha)
        git.run(["branch", "--quiet", f"--set-upstream-to=origin/{branch}", branch])
        git.run(["clean", "--quiet", "-ffdx"])
        return sha

    def _begin(self, git: Git, branch: str) -> PublishedClone:
        """Make the initial commit in the clone of an empty remote."""
        url = redact(self.url)
        self.context.announce(Noted(f"{url} is empty; it gets an initial commit with the first push"))
        if not self.context.offline:
            talk(git, self.url, _FETCH, [FETCH_REFSPEC])  # drop branches that the remote once had
        _keep_unpushed(git)
        tree = git.run(["hash-object", "-w", "-t", "tree", "--stdin"], input=b"").text
        environment = identity_environment(git.folder, self.author, self.context)
        # A message from standard input is used as it is: the published tool's has no newline at its end either.
        sha = git.run(["commit-tree", tree], environment=environment, input=b"Initial commit").text
        _check_out(git, branch, sha)
        git.run(["clean", "--quiet", "-ffdx"])
        return PublishedClone(git.folder, url, branch, sha, empty=True, remote=self.url)


def commit(folder: Path, message: str, author: Author | None, context: Context) -> str:
    """Commit what is staged, with `author` (None: git's own identity) as author and committer. Returns the commit."""
    git = Git(folder, context)
    arguments = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"]
    git.run(arguments, input=message.encode(), environment=identity_environment(folder, author, context))
    return _sha(git, "HEAD")


def push(folder: Path, branch: str, context: Context, *, url: str | None = None) -> PushOutcome:
    """Push HEAD to the remote's `branch`, never by force.

    `url` is the remote's, with the credentials that the clone does not have; by default it is the clone's.

    If the remote has moved meanwhile, its new state is fetched and `MOVED` is returned: update, build and push again.

    Raises:
        Refused: the rules of the remote refuse it, in its own words.
        EnvironmentFault: the remote cannot accept it, or cannot be reached.
    """
    check_version(branch, str(folder))
    arguments = ["push", "--porcelain", "--no-verify", "--recurse-submodules=no", "origin", f"HEAD:refs/heads/{branch}"]
    git = Git(folder, context)
    answer = git.run(arguments, check=False)
    if answer.returncode == 0:
        return PushOutcome.PUSHED
    rejected = next((line for line in answer.text.splitlines() if line.startswith("!")), None)
    if rejected is None:
        raise replace(git, about=redact(_origin(git))).fault(["push"], answer)
    if was_overtaken(rejected):
        before = _sha(git, f"refs/remotes/origin/{branch}")
        talk(git, url or _origin(git), _FETCH, [FETCH_REFSPEC])
        if _sha(git, f"refs/remotes/origin/{branch}") != before:
            return PushOutcome.MOVED
    raise _rejection(folder, branch, rejected, answer)


def was_overtaken(rejected: str) -> bool:
    """Check if a line of `git push --porcelain` about a ref reports that another push was faster."""
    return _MOVED.search(rejected) is not None


def unstage(folder: Path, context: Context) -> None:
    """Reset the index to HEAD; files stay as they are (a mixed reset)."""
    Git(folder, context).run(["reset", "--quiet", "--mixed"])


def _check_out(git: Git, branch: str, sha: str) -> None:
    names = ("rev-parse", "--verify", "--quiet")
    head, output = git.ask(*names, "HEAD"), git.ask(*names, OUTPUT)
    with moving(git.folder / ".git", Move(head or None, sha, branch, (output,) if output else ())) as ongoing:
        git.run(["checkout", "--quiet", "--force", "-B", branch, sha], inherit=(ongoing.handle,))
        ongoing.complete(sha)


def _last_state(git: Git) -> RemoteState:
    """Return the state of the remote as of the last fetch; the current branch is taken as the default branch."""
    answer = git.run(["for-each-ref", "--format=%(objectname) %(refname)", _KNOWN]).text
    known = (line.split(" ", 1) for line in answer.splitlines())
    branches = {name.removeprefix(_KNOWN): sha for sha, name in known}
    return RemoteState(branches, head=git.ask("symbolic-ref", "--quiet", "--short", "HEAD") or None)


_KNOWN = "refs/remotes/origin/"


def _is_there(git: Git, branch: str, sha: str) -> bool:
    """Check if the clone is clean, on the branch at this commit, and level with the remote's branch."""
    arguments = ["status", "--porcelain=v2", "--branch", "-z", "--ignored", "--untracked-files=all", "--no-renames"]
    headers = f"branch.oid {sha}", f"branch.head {branch}", f"branch.upstream origin/{branch}", "branch.ab +0 -0"
    return git.run(arguments).text.split("\0") == [*(f"# {line}" for line in headers), ""]


def _keep_unpushed(git: Git) -> None:
    if not _unpushed(git):
        return
    [ref] = keep_commits(git.folder, [_sha(git, "HEAD")], git.context)
    git.context.announce(
        Warned(
            "CMD-GIT-045",
            f"saved the unpushed commits of {git.folder} under refs/commodore/discarded before updating it",
            hint=f"show them with: git -C {git.folder} log {ref}",
        )
    )


def _unpushed(git: Git) -> list[str]:
    """Return local commits that the remote lacks, without the empty initial commit of this program."""
    if _sha(git, "HEAD") == "":
        return []
    arguments = ["log", "--max-count=20", "--format=%H %T %P", "HEAD", "--branches", "--not", "--remotes"]
    lines = git.run(arguments).text.splitlines()
    return [line.split(" ")[0] for line in lines if line.split(" ")[1:] != [_EMPTY_TREE, ""]]


_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def _refuse_to_lose(git: Git) -> None:
    """Refuse to replace a folder that holds anything else than pushed output of earlier runs."""
    folder = git.folder
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / ".git").is_dir():
        raise _in_the_way(folder, "a folder that is not a git clone is there")
    if _unpushed(git) or git.run(["rev-parse", "--verify", "--quiet", "refs/stash"], check=False).returncode == 0:
        raise _in_the_way(folder, "a clone of another repository with unpushed commits is there")


def _origin(git: Git) -> str:
    return git.ask("config", "--local", "--get", "remote.origin.url")


def _sha(git: Git, name: str) -> str:
    """Return the commit of a ref, or an empty string."""
    return git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _rejection(folder: Path, branch: str, rejected: str, answer: GitResult) -> CommodoreError:
    said = [line.removeprefix("remote:").strip() for line in answer.stderr.splitlines() if line.startswith("remote:")]
    words = "; ".join(line for line in said if line) or last_words(answer.stderr)
    reason = clean_text(rejected.rpartition("\t")[2])
    if was_overtaken(rejected) or "unpacker error" in rejected:  # a lock of another push, or a full disk of the server
        return EnvironmentFault(
            "CMD-GIT-056",
            f"the remote could not take the push to '{shown(branch)}': {reason}: {words}",
            hint="push again; if that fails, check the disk and the logs of the server",
            locations=[str(folder)],
        )
    return Refused(
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
