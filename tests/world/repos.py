"""Real git repositories that act as remotes, and the accidents that happen to remotes.

A `GitWorld` makes `Remote`s: bare repositories in a folder, reached by `file://` URLs. Their history is written by
`git fast-import`, so a commit costs one process and needs no working copy; the clock ticks a minute per commit. A new
repository is a few files, and a branch is most often one: neither takes git.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.world.folders import write_script
from tests.world.loopback import LoopbackHandler, LoopbackServer


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link in a commit."""

    target: str


@dataclass(frozen=True, slots=True)
class Script:
    """An executable file in a commit."""

    content: str


Content = str | bytes | Link | Script | None
"""What a commit does to a path; None removes it."""


CONFIG = """[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[uploadpack]
	allowAnySHA1InWant = true
[fastimport]
	unpackLimit = 1
"""


def git(folder: Path, *arguments: str, input: bytes | None = None, check: bool = True) -> str:
    """Run git as a user in a terminal would, and return what it printed, without the last line feed."""
    result = subprocess.run(["git", *arguments], cwd=folder, input=input, capture_output=True, check=False)
    if check and result.returncode != 0:
        raise AssertionError(f"git {' '.join(arguments)}: {result.stderr.decode()}")
    return result.stdout.decode().removesuffix("\n")


class GitWorld:
    """A folder full of remote repositories."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._seconds = 1_700_000_000

    def remote(
        self, name: str = "repo", files: Mapping[str, Content] | None = None, *, branch: str = "master"
    ) -> Remote:
        """A new remote with one commit of `files` on its default branch; without files it is empty."""
        path = self.root / f"{name}.git"
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (path / folder).mkdir(parents=True)
        (path / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
        (path / "config").write_text(CONFIG, encoding="utf-8")
        remote = Remote(self, path, branch)
        if files is not None:
            remote.commit(files)
        return remote

    def tick(self) -> int:
        """The next time, in seconds since 1970."""
        self._seconds += 60
        return self._seconds


@dataclass
class Remote:
    """A remote repository. `branch` is its default branch."""

    world: GitWorld
    path: Path
    branch: str

    @property
    def url(self) -> str:
        return f"file://{self.path}"

    def commit(self, files: Mapping[str, Content], *, branch: str | None = None, message: str = "Change") -> str:
        """Add a commit to a branch (the default one), which begins empty if it does not exist. Returns its id."""
        branch = branch or self.branch
        stream = [f"commit refs/heads/{branch}\n".encode(), self._signature("committer"), _data(message.encode())]
        if self.sha(branch, missing=""):
            stream.append(f"from refs/heads/{branch}^0\n".encode())
        for path, content in files.items():
            stream.append(_change(path, content))
        git(self.path, "fast-import", "--quiet", "--force", input=b"".join(stream))
        return self.sha(branch)

    def sha(self, name: str | None = None, *, missing: str | None = None) -> str:
        """The commit that a name stands for."""
        refs = self.path / "refs"
        if not (refs / "tags" / (name or self.branch)).exists():
            with contextlib.suppress(OSError):
                return (refs / "heads" / (name or self.branch)).read_text(encoding="ascii").strip()
            if missing is not None and name in (None, self.branch) and not (self.path / "packed-refs").exists():
                return missing
        result = git(self.path, "rev-parse", "--verify", "--quiet", f"{name or self.branch}^{{commit}}", check=False)
        if not result and missing is None:
            raise AssertionError(f"no {name} in {self.path}")
        return result or missing or ""

    def start_branch(self, name: str, at: str | None = None) -> None:
        """Make or move a branch, as a forced push does."""
        git(self.path, "update-ref", f"refs/heads/{name}", self.sha(at))

    def delete_branch(self, name: str) -> None:
        git(self.path, "update-ref", "-d", f"refs/heads/{name}")

    def tag(self, name: str, at: str | None = None, *, annotated: bool = False) -> None:
        """Make or move a tag."""
        arguments = ["--annotate", "--message", name] if annotated else []
        git(self.path, "tag", "--force", *arguments, name, at or self.branch)

    def delete_tag(self, name: str) -> None:
        git(self.path, "tag", "--delete", name)

    def change_default_branch(self, name: str) -> None:
        git(self.path, "symbolic-ref", "HEAD", f"refs/heads/{name}")
        self.branch = name

    def rewrite(self, files: Mapping[str, Content], *, branch: str | None = None) -> str:
        """Replace a branch by one new commit without parents, as a forced push after a rebase does."""
        git(self.path, "update-ref", "-d", f"refs/heads/{branch or self.branch}")
        return self.commit(files, branch=branch)

    def hook(self, name: str, script: str) -> None:
        """Let the server run a shell script on its side."""
        path = self.path / "hooks" / name
        write_script(path, script)

    def refuse_pushes(self, words: str) -> None:
        """Let the server refuse every push, saying why."""
        self.hook("pre-receive", f"echo '{words}' >&2; exit 1")

    def vanish(self) -> None:
        """The server is gone."""
        shutil.move(self.path, self.path.with_suffix(".gone"))

    def return_again(self) -> None:
        shutil.move(self.path.with_suffix(".gone"), self.path)

    def files(self, version: str | None = None) -> dict[str, str]:
        """All files of a commit."""
        names = git(self.path, "ls-tree", "-r", "--name-only", "-z", version or self.branch).split("\0")
        return {name: git(self.path, "show", f"{version or self.branch}:{name}") for name in names if name}

    def clone(self, folder: Path) -> Path:
        """An ordinary clone, as a user makes one."""
        git(self.path, "clone", "--quiet", self.url, str(folder))
        return folder

    def _signature(self, role: str) -> bytes:
        return f"{role} Tess Ter <tess@example.com> {self.world.tick()} +0000\n".encode()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _change(path: str, content: Content) -> bytes:
    if content is None:
        return f"D {path}\n".encode()
    if isinstance(content, Link):
        return f"M 120000 inline {path}\n".encode() + _data(content.target.encode())
    mode = "100755" if isinstance(content, Script) else "100644"
    text = content.content if isinstance(content, Script) else content
    return f"M {mode} inline {path}\n".encode() + _data(text if isinstance(text, bytes) else text.encode())


@contextlib.contextmanager
def failing_server(status: int) -> Iterator[str]:
    """A web server on loopback that answers every request with `status`; gives its URL."""

    class Handler(LoopbackHandler):
        def answer(self) -> None:
            self.send(status, {"WWW-Authenticate": "Basic"} if status == 401 else None)

    with LoopbackServer(Handler) as server:
        yield server.site


class GitCalls:
    """Every git command that is started from now on, seen by a program of that name in front of the real one."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = shutil.which("git")
        self._log = folder / "log"
        folder.mkdir(parents=True)
        program = folder / "git"
        write_script(program, f"printf '%s\\n' \"$*\" >>'{self._log}'\nexec '{real}' \"$@\"")
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def forget(self) -> None:
        """Begin to count anew."""
        self._log.unlink(missing_ok=True)

    @property
    def lines(self) -> str:
        """The command lines as they were."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    @property
    def verbs(self) -> list[str]:
        """The commands (`fetch`, `status`, ...) in order."""
        return [_verb(line.split(" ")) for line in self.lines.splitlines()]

    def count(self, verb: str) -> int:
        return self.verbs.count(verb)


def _verb(words: list[str]) -> str:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] == "-c" else words[1:]
    return words[0] if words else ""


def dying_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, script: str) -> Path:
    """A git before the real one that runs a script in place of one command, as often as the file returned is there.

    In the script, `$REAL` is the real git and `$@` its arguments.
    """
    shims = tmp_path / "dying"
    if not shims.exists():
        shims.mkdir()
        (shims / "real").symlink_to(shutil.which("git") or "")
        monkeypatch.setenv("PATH", f"{shims}{os.pathsep}{os.environ['PATH']}")
    armed = shims / "armed"
    armed.touch()
    program = shims / "git"
    lines = [
        "#!/bin/sh",
        f"REAL={shlex.quote(str((shims / 'real').readlink()))}",
        f"if [ -e {shlex.quote(str(armed))} ]; then case \" $* \" in *' {verb} '*)",
        script,
        "esac; fi",
        'exec "$REAL" "$@"',
    ]
    program.write_text("\n".join(lines) + "\n")
    program.chmod(0o755)
    return armed


class RoundTrips:
    """Every conversation with a remote, as the servers themselves note it: one `git upload-pack` is one connection.

    The variables of `environment` make git write down what it starts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self.environment = {"GIT_TRACE2_EVENT": str(folder)}

    def forget(self) -> None:
        """Begin to count anew."""
        for path in self._folder.iterdir():
            path.unlink()

    @property
    def commands(self) -> list[list[str]]:
        """The command lines of all git processes, sorted."""
        lines = [line for path in self._folder.iterdir() for line in path.read_text(encoding="utf-8").splitlines()]
        events = map(json.loads, lines)
        return sorted(event["argv"] for event in events if event["event"] == "start")

    @property
    def by_remote(self) -> dict[str, int]:
        """The number of connections to each remote, by the name of its folder without `.git`."""
        served = [words[-1] for words in self.commands if any(word.endswith("upload-pack") for word in words[:2])]
        return dict(Counter(Path(path).name.removesuffix(".git") for path in served))
