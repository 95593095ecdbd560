"""A place in which a cluster is compiled: a home with caches, a working directory, and a catalog repository."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _tools import home_environment

from _soak.world import CATALOG_URL, World, git

_LIMIT = 300
# What is different in each run, and by what word it is compared.
_PASSING = {
    re.compile(r"^Time: .*\n", re.MULTILINE): "",  # names only the stages that took long enough
    re.compile(r"^Instances: .*$", re.MULTILINE): "INSTANCES",  # says what came from the cache
    re.compile(r"\b\d+(\.\d+)? ?(ms|s|min)\b"): "TIME",
    re.compile(r"\b(commodore|tmp|new)[-_.]?[a-z0-9_]{8}\b"): "TEMPORARY",
    re.compile(r"\bcompile-[a-z0-9_]{8}(?=\.staging)"): "TEMPORARY",
    re.compile(r"\bkustomize-\d+"): "TEMPORARY",
    re.compile(r"(?<=commit )[0-9a-f]{7,}"): "COMMIT",
    re.compile(r"(?<=refs/commodore/discarded/)[0-9TZ]+-[0-9a-f]+"): "KEPT",
}
# Which of several wrong fields go-jsonnet evaluates first, and so the way there, is not the same in each run.
_CALLERS = re.compile(r"(\[CMD-ENG-015\]\n *at .*\n)(?: *at .*\n)*")
# The catalog's clone is prepared while dependencies are fetched: a run that fails may end before it has saved anything.
_SAVED = re.compile(r"^ *warning: .*\[CMD-CAT-012\]\n *hint: .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run.

    Attributes:
        code: the exit code; None if the run did not end in five minutes.
        words: what it said, without durations and the names of the place.
        trees: for each folder of results what every path in it is.
    """

    code: int | None
    words: str
    trees: dict[str, dict[str, str]]

    def differences(self, other: Outcome, *, words: bool = True, trees: bool = True) -> list[str]:
        """The differences, a line for each."""
        differences = []
        if self.code != other.code:
            differences.append(f"exit codes: {self.code} and {other.code}")
        # Instances are rendered in any order, so what is said of them comes in any order.
        if words and sorted(self.words.splitlines()) != sorted(other.words.splitlines()):
            differences.append("words")
        for folder in sorted(self.trees.keys() | other.trees.keys()) if trees else []:
            item, two = self.trees.get(folder, {}), other.trees.get(folder, {})
            differences += [
                f"{folder}/{path}: {item.get(path, 'nothing')} and {two.get(path, 'nothing')}"
                for path in sorted(item.keys() | two.keys())
                if item.get(path) != two.get(path)
            ]
        return differences


class Place:
    """The place in which a cluster is compiled; another place has other caches, another working directory and
    another catalog.
    """

    def __init__(self, folder: Path, world: World, command: Sequence[str], api: str) -> None:
        self.folder = folder
        self._world = world
        self._command = [*command, "catalog", "compile", world.cluster["id"]]
        self._api = api
        self.catalog = folder / "catalog.git"
        self.work = folder / "work"
        self._prepares_catalog = True
        git(folder.parent, "init", "--quiet", "--bare", "--template=", "--initial-branch=master", str(self.catalog))
        self.empty()

    def empty(self) -> None:
        """Remove everything but the catalog's repository."""
        for name in ("home", "tmp", "work"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()

    def start(self, options: Sequence[str]) -> subprocess.Popen[bytes]:
        """Begin to compile."""
        self._prepares_catalog = "--local" not in options
        home = self.folder / "home"
        environment = home_environment(home, COMMODORE_API_URL=self._api, COMMODORE_API_TOKEN="token")
        environment |= {"TMPDIR": str(self.folder / "tmp"), **self._world.environment}
        catalog = f'[url "file://{self.catalog}"]\n\tinsteadOf = {CATALOG_URL}\n'
        with (home / ".gitconfig").open("a") as file:
            file.write(self._world.configuration() + catalog)
        with (self.folder / "log").open("wb") as output:
            return subprocess.Popen(
                [*self._command, *options],
                cwd=self.work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def finish(self, running: subprocess.Popen[bytes]) -> Outcome:
        """Wait for a run that was begun here, and look at what it has left."""
        code: int | None
        try:
            code = running.wait(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        text = (self.folder / "log").read_text(errors="replace").replace(str(self.folder), "PLACE")
        for pattern, word in _PASSING.items():
            text = pattern.sub(word, text)
        if code:
            text = _CALLERS.sub(r"\1", _SAVED.sub("", text))
            self._forget_edits()
        trees = {name: self._tree(self.work / name) for name in ("compiled", "catalog")}
        trees["pushed"] = self._pushed()
        trees["TMPDIR"] = self._tree(self.folder / "tmp")
        return Outcome(code, text, trees)

    def _forget_edits(self) -> None:
        """Leave nothing in the catalog that a run which prepares it may have saved before it failed, or not."""
        if self._prepares_catalog and (self.work / "catalog" / ".git").exists():
            git(self.work / "catalog", "reset", "--quiet", "--hard")
            git(self.work / "catalog", "clean", "--quiet", "-fdx")

    def run(self, options: Sequence[str]) -> Outcome:
        """Compile."""
        return self.finish(self.start(options))

    def _tree(self, folder: Path) -> dict[str, str]:
        results: dict[str, str] = {}
        todo = [(folder, "")]
        while todo:
            here, prefix = todo.pop()
            if not here.is_dir():
                continue
            for entry in os.scandir(here):
                path = prefix + entry.name
                if path == ".git":
                    continue
                if entry.is_symlink():
                    results[path] = f"link to {os.readlink(entry.path)}".replace(str(self.folder), "PLACE")
                elif entry.is_dir():
                    results[path] = f"folder {entry.stat().st_mode & 0o777:o}"
                    todo.append((Path(entry.path), path + "/"))
                else:
                    content = Path(entry.path).read_bytes().replace(os.fsencode(self.folder), b"PLACE")
                    results[path] = f"{entry.stat().st_mode & 0o777:o} {hashlib.sha256(content).hexdigest()[:12]}"
        return results

    def _pushed(self) -> dict[str, str]:
        if not git(self.catalog, "for-each-ref"):
            return {}
        lines = git(self.catalog, "ls-tree", "-r", "-z", "HEAD").split("\0")
        return {path: what for what, _, path in (line.partition("\t") for line in lines if line)}
