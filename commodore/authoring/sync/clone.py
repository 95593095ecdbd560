"""Temporary clones of the repositories, with the token for git.

A clone is in a temporary folder, never in the user's dependencies. The token is passed to git by environment variables
of the few commands that talk to the server, never on a command line or in a file.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from commodore.authoring.sync.github import Repository
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError, UsageError
from commodore.base.printable import only_printable
from commodore.core.sources.git import NOT_FOLLOWED, Git, normalize, redact, redact_text, with_settings

_PORTS = {"http": 80, "https": 443}
_STAY = (NOT_FOLLOWED,)
"""Git settings: the token and the commits are sent to this server only."""


@dataclass(frozen=True, slots=True)
class GitAccess:
    """Git's access to the server of an API.

    Attributes:
        api_url: the API's URL; repositories must be on its host, or on that host without a leading `api.`.
        token: the token, which is sent to that host only.
    """

    api_url: str
    token: str
    context: Context

    def check(self, url: str) -> str:
        """Return the normalised URL of a repository, if it is on the API's site.

        Raises:
            PolicyError: it is not; nothing is fetched from there, and the token is not sent there.
            InputError: the URL is invalid.
        """
        normal = normalize(url)
        api, given = urlsplit(self.api_url), urlsplit(normal)
        hosts = {api.hostname, (api.hostname or "").removeprefix("api.")}
        same = given.hostname in hosts and given.scheme == api.scheme and _port(given) == _port(api)
        if not same or given.username or given.password:
            raise PolicyError(
                "CMD-SYNC-010",
                f"the API at {self.api_url} names a repository elsewhere: {redact(url)}",
                hint="check --github-url (COMMODORE_GITHUB_URL); the token is sent to that server only",
            )
        return normal

    def environment(self) -> dict[str, str]:
        """Return the variables that make git send the token, in addition to existing settings of the environment."""
        site = urlsplit(self.api_url)
        host = (site.hostname or "").removeprefix("api.")
        place = f"{f'[{host}]' if ':' in host else host}{f':{site.port}' if site.port else ''}"
        credentials = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        given = {"GIT_CONFIG_COUNT": os.environ.get("GIT_CONFIG_COUNT", "")}
        header = (f"http.{site.scheme}://{place}/.extraHeader", f"Authorization: Basic {credentials}")
        return with_settings(given, [header])


@dataclass(frozen=True, slots=True)
class Clone:
    """A shallow clone, checked out at the newest commit of the default branch.

    Attributes:
        base: that commit.
        branch: the branch of the pull request.
        remote_tip: the commit of this branch on the server; None if it does not exist there.
    """

    folder: Path
    url: str
    base: str
    branch: str
    remote_tip: str | None
    access: GitAccess

    def is_pushed(self) -> bool:
        """Check if the branch on the server already has the files of HEAD, directly on top of `base`."""
        if self.remote_tip is None:
            return False
        tree = self._git("rev-parse", "HEAD^{tree}")
        return self._header(self.remote_tip) == [f"tree {tree}", f"parent {self.base}"]

    def is_foreign(self) -> bool:
        """Check if the newest commit of the branch on the server is by another author."""
        if self.remote_tip is None:
            return False
        return self._git("log", "-1", "--format=%s", self.remote_tip) != self._git("log", "-1", "--format=%s", "HEAD")

    def push(self) -> None:
        """Push HEAD to the branch on the server, if it is still at `remote_tip`.

        Raises:
            EnvironmentFault: the server refuses, or the branch has moved meanwhile.
        """
        ref = f"refs/heads/{self.branch}"
        lease = f"--force-with-lease={ref}:{self.remote_tip or ''}"
        arguments = ["push", "--porcelain", "--no-verify", "--recurse-submodules=no", lease, "origin", f"HEAD:{ref}"]
        answer = Git(self.folder, self.access.context).run(
            arguments, environment=self.access.environment(), settings=_STAY, check=False
        )
        if answer.returncode == 0:
            return
        lines = [line.strip() for line in answer.stderr.splitlines() if line.strip()]
        said = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
        reasons = [line.rpartition("\t")[2] for line in answer.text.splitlines() if line.startswith("!")]
        words = "; ".join(word for word in (*reasons, *(said or lines)) if word)
        clean = redact_text(only_printable(words))[:500]
        hint = "check that the token may write to the repository (contents), and that the branch's rules allow it"
        if "workflow" in clean:
            hint = "the update changes GitHub workflows: the token needs the scope 'workflow' for that"
        raise EnvironmentFault(
            "CMD-SYNC-012", f"the push of '{self.branch}' to {redact(self.url)} was refused: {clean}", hint=hint
        )

    def _header(self, commit: str) -> list[str]:
        lines = self._git("cat-file", "commit", commit).split("\n\n")[0].splitlines()
        return [line for line in lines if line.startswith(("tree ", "parent "))]

    def _git(self, *arguments: str) -> str:
        return Git(self.folder, self.access.context).run(list(arguments)).text


def check_branch(branch: str, context: Context) -> str:
    """Return `branch` if it is a valid name of a branch.

    Raises:
        UsageError: it is not.
    """
    if not _is_branch(branch, context):
        raise UsageError(
            "CMD-SYNC-006",
            f"--pr-branch {branch!r} is not a valid name of a branch",
            hint="use letters, digits, '-' and '/'",
        )
    return branch


def make_clone(repository: Repository, folder: Path, branch: str, access: GitAccess) -> Clone | None:
    """Clone the newest commits of a repository into a new folder; None if it is empty.

    Raises:
        InputError: `branch` is the default branch, or a value of the API is invalid.
        PolicyError: the repository is not on the API's site.
        EnvironmentFault: it cannot be fetched.
    """
    url, default = access.check(repository.clone_url), repository.default_branch
    git = Git(folder, access.context)
    if not _is_branch(default, access.context):
        raise InputError(
            "CMD-SYNC-028",
            f"the default branch {default!r} of {repository.name} is invalid",
            hint="rename the default branch on GitHub, or remove the repository from the list",
        )
    if branch == default:
        raise InputError(
            "CMD-SYNC-011",
            f"'{branch}' is the default branch of {repository.name}, which is never pushed to",
            hint="choose another name for the branch of pull requests with --pr-branch",
        )
    initialise = ["init", "--quiet", "--template=", "--initial-branch=clone", "--", str(folder)]
    Git(folder.parent, access.context).run(initialise)
    git.run(["config", "remote.origin.url", url])
    refs = [f"refs/heads/{name}" for name in (default, branch)]
    answer = _talk(access, folder, url, ["ls-remote", "origin", *refs])
    tips = {ref: sha for sha, _, ref in (line.partition("\t") for line in answer.splitlines())}
    if refs[0] not in tips:
        return None
    specs = [f"+{ref}:refs/remotes/origin/{ref.removeprefix('refs/heads/')}" for ref in refs if ref in tips]
    _talk(access, folder, url, ["fetch", "--quiet", "--depth=1", "--no-tags", "origin", *specs])
    base = _commit(git, default)
    tip = _commit(git, branch) if refs[1] in tips else None
    checkout = ["checkout", "--quiet", "-B", "clone", base]
    git.run(checkout, environment={"GIT_LFS_SKIP_SMUDGE": "1"})
    return Clone(folder, url, base, branch, tip, access)


def _talk(access: GitAccess, folder: Path, url: str, arguments: list[str]) -> str:
    git = Git(folder, access.context, redact(url))
    return git.run(arguments, environment=access.environment(), settings=_STAY).text


def _commit(git: Git, branch: str) -> str:
    return git.run(["rev-parse", "--verify", f"refs/remotes/origin/{branch}^{{commit}}"]).text


def _is_branch(name: str, context: Context) -> bool:
    if not name or name.startswith("-") or not name.isprintable():
        return False
    arguments = ["check-ref-format", f"refs/heads/{name}"]
    return Git(Path("/"), context).run(arguments, check=False).returncode == 0


def _port(parts: SplitResult) -> int | None:
    return parts.port or _PORTS.get(parts.scheme)
