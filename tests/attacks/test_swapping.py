"""A folder that another process swaps for a link to elsewhere, between the look at it and its use.

The kernel stops the program at each change of the disk, so that the swap comes at the very moment it is to prove.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.attacks.conftest import program
from tests.world.cluster import ROOT, ClusterWorld
from tests.world.syscalls import Call, Tapped, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason="calls cannot be tapped here")


class Swapper:
    """Swaps a folder for a link to a copy of it, at the first change in it that comes after `skip` others."""

    def __init__(self, folder: Path, outside: Path, skip: int = 0) -> None:
        self._folder, self._outside, self._skip = folder, outside, skip
        self.before: dict[str, str] | None = None

    def __call__(self, call: Call) -> int:
        path = call.path.replace("/proc/self/", f"/proc/{call.pid}/")
        if self.before is None and os.path.realpath(os.path.dirname(path)) == str(self._folder):
            if self._skip == 0:
                shutil.copytree(self._folder, self._outside, symlinks=True)
                (self._outside / "precious").write_text("mine")
                self._folder.rename(self._folder.with_name("moved-away"))
                self._folder.symlink_to(self._outside)
                self.before = content(self._outside)
            self._skip -= 1
        return 0


def content(folder: Path) -> dict[str, str]:
    """Anything that is in a folder: names, and the texts of files and links."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes().hex()
        if path.is_file()
        else ""
        for path in sorted(folder.rglob("*"))
    }


def run(command: list[str], swapper: Swapper, directory: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit code and the code of the error."""
    with Tapped(command, swapper, directory=directory, environment=environment) as tapped:
        assert tapped.process.stderr is not None
        assert tapped.process.stdout is not None
        said = tapped.process.stderr.read().decode()
        tapped.process.stdout.read()
        code = tapped.process.wait()
    result = re.findall("CMD-[A-Z]+-[0-9]+", said)
    return code, result[-1] if result else said


SCRIPT = """
import sys
from pathlib import Path
from commodore.base.errors import CommodoreError
from commodore.base.files.workspace import *
from commodore.base.files.workspace import make_folder, move_entry
root = Path(sys.argv[1])
own = root / "one" / "two"
try:
    for _ in range(2):
        %s
except CommodoreError as error:
    sys.exit(f"{error.code}: {error.message}")
"""
CHANGES = {
    "write": "write_atomically(own / 'file', str(_).encode(), root=root)",
    "link": "link_relative(own / 'link', root / f'target{_}', root=root)",
    "folder": "make_folder(own / f'new{_}', root=root)",
    "move in": "move_entry(root / 'one' / f'other{_}', own / f'file{_}', root=root)",
    "remove": "remove_tree(own / f'file{_}', root=root)",
    "remove all": "remove_tree(own / f'folder{_}', root=root)",
    "replace": "replace_tree(root / f'tree{_}', own / 'folder0', root=root)",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_a_folder_that_is_swapped(tmp_path: Path, change: str) -> None:
    """The first change gets to the folder that was there, and none to the one that the link leads to."""
    root = tmp_path / "root"
    for name in ("one/two/folder0/x", "one/two/folder1/x", "one/two/file0", "one/two/file1", "tree0/y", "tree1/y"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    for name in ("one/other0", "one/other1"):
        (root / name).write_text(name)
    swapper = Swapper(root / "one" / "two", tmp_path / "outside")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT % CHANGES[change], str(root)]
    assert run(command, swapper, tmp_path, environment) == (1, "CMD-WORK-007")
    assert swapper.before is not None
    assert content(tmp_path / "outside") == swapper.before


FOLDERS = {
    "inventory/targets": "CMD-WORK-007",
    "inventory/classes/components": "CMD-WORK-007",
    "dependencies/lib": "CMD-WORK-007",
    "vendor": "CMD-WORK-003",  # the folder for what is new is not there
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_of_the_working_directory_that_is_swapped_in_a_run(
    world: ClusterWorld, tmp_path: Path, folder: str
) -> None:
    library = world.git.remote("library", {"x.libsonnet": "{ x: 1 }"})
    dependency = {"source": {"git": {"remote": library.url}}, "version": "master"}
    requirements = json.dumps({"version": 1, "dependencies": [dependency], "legacyImports": True})
    world.component("c-more", {"lib/c-more.libsonnet": "{}", "jsonnetfile.json": requirements})
    world.publish()
    swapper = Swapper(world.work / folder, tmp_path / "outside")
    words, environment = program(world.environment)
    assert run([*words, *world.command()], swapper, world.root, environment)[1] == FOLDERS[folder]
    assert swapper.before is not None
    assert content(tmp_path / "outside") == swapper.before
