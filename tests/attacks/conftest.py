"""Attacks on the program, one small story each: what a stranger's repository, answer, folder or variable tries, and the
code it ends with.

Every item of this folder is one attack. It is refused with a documented code, unless it is marked `harmless` (it ends
without an error, and without an effect) or `allowed` (the policy lets it happen, and the documentation says why).
docs/explanation/security.md has the numbers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.world.cluster import ROOT, ClusterWorld
from tests.world.folders import write_script


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    """A cluster with one good component. The attack comes on top."""
    world = ClusterWorld(tmp_path / "world")
    world.component("c-good", data={"fine": "yes"})
    return world


@dataclass(frozen=True, slots=True)
class Witness:
    """A file outside of everything that the program may write. Code that is executed writes it."""

    path: Path

    @property
    def shell(self) -> str:
        """Everything that a shell would execute to write it."""
        return f"touch {self.path}"

    @property
    def python(self) -> str:
        """Everything that Python would execute to write it."""
        return f"open({str(self.path)!r}, 'w').close()"

    @property
    def was_written(self) -> bool:
        return self.path.exists()

    def program(self, path: Path) -> Path:
        """An executable that writes it, whatever its arguments are."""
        write_script(path, self.shell)
        return path


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    """Tells whether code of the attacker was executed."""
    return Witness(tmp_path / "executed")


ATTRIBUTES = "* text eol=crlf ident filter=evil working-tree-encoding=UTF-16LE-BOM export-subst merge=evil diff=evil\n"


@pytest.fixture
def odd_user(tmp_path: Path, witness: Witness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, attributes and ignore rules of a user that change files, or hide them."""
    (tmp_path / "attributes").write_text(ATTRIBUTES)
    (tmp_path / "ignored").write_text("*\n")
    (tmp_path / "settings").write_text(
        f"[core]\n\tattributesFile = {tmp_path}/attributes\n\texcludesFile = {tmp_path}/ignored\n\tautocrlf = true\n"
        "\teol = crlf\n\tsafecrlf = true\n\tfileMode = false\n\tsymlinks = false\n\tquotePath = true\n"
        f'[filter "evil"]\n\tclean = {witness.shell}\n\tsmudge = {witness.shell}\n\trequired\n[add]\n\tignoreErrors\n'
        "[user]\n\tname = x\n\temail = x@example.com\n[commit]\n\tcleanup = scissors\n[diff]\n\tnoprefix\n"
        "[status]\n\tshowUntrackedFiles = no\n[push]\n\tdefault = nothing\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))


@dataclass(frozen=True, slots=True)
class Secret:
    """A file of the user, outside of everything that a rendering may read."""

    path: Path
    text: str

    def is_in(self, *folders: Path) -> list[Path]:
        """The files below these folders that hold it."""
        return holding(self.text.encode(), folders)


@pytest.fixture
def secret(tmp_path: Path) -> Secret:
    """Something that must not get into a catalog, a cache or a message."""
    path = tmp_path / "private" / "credentials.yml"
    path.parent.mkdir()
    text = "canary-of-the-user"
    path.write_text(f"password: {text}\n", encoding="utf-8")
    return Secret(path, text)


def program(environment: Mapping[str, str] | None = None) -> tuple[list[str], dict[str, str]]:
    """The command line of the program as it is here, and the variables that it runs with."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    return [sys.executable, "-m", "commodore"], variables


def start_in(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own, in this folder, and wait for its end. It has nothing to read."""
    words, variables = program(environment)
    return subprocess.run(
        [*words, *arguments],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def holding(canary: bytes, folders: Iterable[Path]) -> list[Path]:
    """The files below these folders, and the links and names, that hold these bytes."""
    results = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
            content = str(path.readlink()).encode() if path.is_symlink() else b""
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
            if canary in name or canary in content:
                results.append(path)
    return results
