"""Isolated programs, by either mechanism, and machines without one."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from commodore.base.errors import PolicyError
from commodore.core.confinement import BUBBLEWRAP, NAMESPACES, View, isolation, programs, start

pytestmark = pytest.mark.tools

PATH = "/usr/bin:/bin"
HERE = pytest.mark.skipif(isolation() != NAMESPACES, reason="this machine has no namespaces for all")


@pytest.fixture
def view(tmp_path: Path) -> View:
    """The system, a folder that may be written to, and one in it that is hidden but for one file."""
    for name in ("own/hidden/shown", "own/hidden/secret", "own/file", "other"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    own = str(tmp_path / "own")
    system = ("/usr", "/bin", "/lib", "/lib64", f"{own}/hidden/shown")
    return View(system, (own,), (f"{own}/hidden",), "/nowhere/home")


@pytest.fixture(params=[NAMESPACES, BUBBLEWRAP])
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to keep a program apart, one after the other."""
    if request.param == BUBBLEWRAP and shutil.which("bwrap", path=PATH) is None:
        pytest.skip("bubblewrap is not installed")
    monkeypatch.setattr(programs, "_find_isolation", lambda _path: request.param)
    monkeypatch.setenv("PATH", PATH)


def run(view: View, folder: Path, script: str) -> str:
    words = ["/bin/sh", "-c", script]
    options = {"cwd": folder, "env": {"PATH": PATH}, "capture_output": True, "text": True}
    return str(start(words, view=view, required=True, **options).stdout)


@HERE
@pytest.mark.usefixtures("means")
def test_a_view(view: View, tmp_path: Path) -> None:
    own = tmp_path / "own"
    assert run(view, own, f"cat hidden/shown; cat hidden/secret ../other {tmp_path}/other") == "own/hidden/shown"
    assert run(view, own, "ls; ls hidden; pwd").split() == ["file", "hidden", "shown", str(own)]
    assert (
        run(view, own, "echo new >file; echo x >/usr/x-of-a-test; echo y >/nowhere/home/y; cat /nowhere/home/y")
        == "y\n"
    )
    assert (own / "file").read_text() == "new\n"
    assert not Path("/usr/x-of-a-test").exists()
    assert set(run(view, own, "cat /proc/[0-9]*/comm").split()) <= {"bwrap", "cat", "sh"}
    assert run(view, own, "sed -n 's/:.*//p' /proc/net/dev").split() == ["lo"]
    assert int(run(view, own, "sed -n 's/CapEff:.//p' /proc/self/status"), 16) == 0


@HERE
@pytest.mark.usefixtures("means")
def test_a_working_directory_in_shared_memory() -> None:
    """The devices of the view come with an empty `/dev/shm`, in which the folder has to be all the same."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(os.path.realpath(name), "work")
        folder.mkdir()
        (folder / "file").write_text("mine")
        view = View(("/usr", "/bin", "/lib", "/lib64"), (str(folder),), ())
        assert (
            run(view, folder, "cat file; echo written >file; ls /dev/shm; ls ..") == f"mine{folder.parent.name}\nwork\n"
        )
        assert (folder / "file").read_text() == "written\n"


@HERE
@pytest.mark.usefixtures("means")
def test_a_home_that_is_not_there(view: View, tmp_path: Path) -> None:
    """It would lie in a folder that can be read alone, so it stays away."""
    other = tmp_path / "read"
    other.mkdir()
    homeless = View((*view.read, str(other)), view.write, view.hidden, str(other / "home"))
    assert run(homeless, tmp_path / "own", f"cat file; ls {other}") == "own/file"


@HERE
def test_how_it_ends(view: View, tmp_path: Path) -> None:
    """The exit code, the variables and standard input are the program's."""
    done = start(
        ["sh", "-c", "cat; env; exit 7"],
        view=view,
        env={"PATH": PATH, "X": "y"},
        input=b"in\n",
        capture_output=True,
    )
    assert done.returncode == 7
    assert {line.partition(b"=")[0] for line in done.stdout.splitlines()} - {b"PWD", b"SHLVL", b"_"} == {
        *(b"in", b"PATH", b"X"),
    }
    with pytest.raises(FileNotFoundError):
        start(["no-such-program"], view=view)


def test_a_machine_that_cannot_keep_programs_apart(view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    programs._find_isolation.cache_clear()
    try:
        with pytest.raises(PolicyError) as caught:
            start(["touch", str(tmp_path / "executed")], view=view, required=True)
        assert caught.value.code == "CMD-CONF-013"
        assert not (tmp_path / "executed").exists()
        assert start(["touch", str(tmp_path / "executed")], view=view).returncode == 0
        assert (tmp_path / "executed").exists()
    finally:
        programs._find_isolation.cache_clear()
