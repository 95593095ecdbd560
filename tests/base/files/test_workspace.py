"""The workspace: its lock, and changes of the disk that are complete or did not happen."""

from __future__ import annotations

import contextlib
import errno
import gc
import itertools
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.files import workspace
from commodore.base.files.workspace import (
    Workspace,
    exchange_tree,
    guard_disk,
    is_inside,
    link_relative,
    remove_tree,
    replace_tree,
    write_atomically,
)
from commodore.base.limits import DEFAULT_LIMITS, Limits


def run_python(code: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )


WAITER = """
import sys
from pathlib import Path
from commodore.base.limits import Limits
from commodore.base.files.workspace import Workspace
print("asking", flush=True)
with Workspace.at(Path(sys.argv[1])).locked(Limits(lock_wait=600)):
    print("mine")
"""

HOLDER = """
import sys
from pathlib import Path
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.files.workspace import Workspace
with Workspace.at(Path(sys.argv[1])).locked(DEFAULT_LIMITS):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the workspace at `tmp_path`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


class TestLock:
    def test_another_run_is_named(self, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
        with pytest.raises(PolicyError) as error, Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            pytest.fail("two runs in one workspace")
        assert error.value.code == "CMD-WORK-002"
        assert f"pid {holder.pid}, since 2" in error.value.message
        assert str(tmp_path) in error.value.message
        assert "--working-dir" in error.value.hint

    @pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
    def test_a_dead_holder_holds_nothing(
        self, tmp_path: Path, holder: subprocess.Popen[str], how: signal.Signals
    ) -> None:
        holder.send_signal(how)
        holder.wait()
        with Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            assert json.loads((tmp_path / ".commodore" / "lock").read_text())["pid"] == os.getpid()

    def test_a_second_run_can_wait(self, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
        waiting = subprocess.Popen(
            [sys.executable, "-c", WAITER, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "asking\n"
        assert holder.stdin is not None
        holder.stdin.close()
        assert waiting.communicate()[0] == "mine\n"
        assert waiting.returncode == 0
        holder.stdin = open(os.devnull)  # noqa: SIM115 - closed by the fixture

    def test_the_lock_is_free_after_a_run(self, tmp_path: Path) -> None:
        workspace = Workspace.at(tmp_path)
        with workspace.locked(DEFAULT_LIMITS):
            pass
        with pytest.raises(KeyError), workspace.locked(DEFAULT_LIMITS):
            raise KeyError
        with workspace.locked(DEFAULT_LIMITS):
            pass

    def test_one_process_cannot_run_twice_either(self, tmp_path: Path) -> None:
        workspace = Workspace.at(tmp_path)
        with workspace.locked(DEFAULT_LIMITS), pytest.raises(PolicyError) as error, workspace.locked(DEFAULT_LIMITS):
            pytest.fail("two runs in one workspace")
        assert f"pid {os.getpid()}" in error.value.message

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1, "started": "soon"}'])
    def test_a_damaged_lock_file_still_locks(self, tmp_path: Path, holder: subprocess.Popen[str], content: str) -> None:
        (tmp_path / ".commodore" / "lock").write_text(content)
        with pytest.raises(PolicyError) as error, Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            pytest.fail("two runs in one workspace")
        assert error.value.message == f"another run of commodore works in {tmp_path}"

    def test_the_lock_is_not_written_through_a_link(self, tmp_path: Path) -> None:
        precious = tmp_path / "precious"
        precious.write_text("keep")
        (tmp_path / ".commodore").mkdir()
        (tmp_path / ".commodore" / "lock").symlink_to(precious)
        with pytest.raises(EnvironmentFault) as error, Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            pytest.fail("locked through a link")
        assert error.value.code == "CMD-WORK-003"
        assert "symbolic link" in error.value.hint
        assert precious.read_text() == "keep"

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / ".commodore").write_text("")
        with pytest.raises(EnvironmentFault) as error, Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            pytest.fail("locked a file")
        assert str(tmp_path / ".commodore") in error.value.message


class TestStaging:
    def test_it_is_empty_and_goes_away(self, tmp_path: Path) -> None:
        with Workspace.at(tmp_path).staging("catalog") as folder:
            assert list(folder.iterdir()) == []
            (folder / "x").write_text("x")
        assert list((tmp_path / ".commodore").iterdir()) == []

    def test_it_may_have_been_moved_away(self, tmp_path: Path) -> None:
        with Workspace.at(tmp_path).staging("catalog") as folder:
            folder.rename(tmp_path / "kept")
        assert (tmp_path / "kept").is_dir()

    def test_the_next_run_sweeps_what_a_killed_one_left(self, tmp_path: Path) -> None:
        killed = run_python(
            "import os, signal, sys\nfrom pathlib import Path\nfrom commodore.base.limits import Limits\n"
            "from commodore.base.files.workspace import Workspace\nworkspace = Workspace.at(Path(sys.argv[1]))\n"
            "with workspace.locked(Limits()), workspace.staging('catalog') as folder:\n"
            "    (folder / 'half').write_text('x'); os.kill(os.getpid(), signal.SIGKILL)",
            str(tmp_path),
        )
        assert killed.returncode == -signal.SIGKILL
        state = tmp_path / ".commodore"
        assert len(list(state.iterdir())) == 2
        (state / "pending-report.json").write_text("{}")
        with Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            assert sorted(path.name for path in state.iterdir()) == ["lock", "pending-report.json"]

    def test_the_sweep_takes_staging_folders_only(self, tmp_path: Path) -> None:
        home = tmp_path / "wd" / ".commodore"
        (home / "work").mkdir(parents=True)
        (home / "work" / "precious").write_text("")
        (home / "x.staging").symlink_to(home / "work")
        with Workspace.at(tmp_path / "wd").locked(DEFAULT_LIMITS):
            pass
        assert (home / "work" / "precious").exists()
        assert (home / "x.staging").is_symlink()


class TestAt:
    def test_it_is_absolute_and_need_not_exist(self, tmp_path: Path) -> None:
        assert Workspace.at(Path("new")).root == tmp_path / "new"
        assert not (tmp_path / "new").exists()

    def test_links_are_resolved(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        assert Workspace.at(Path("link/x/..")).root == tmp_path / "real"

    def test_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(EnvironmentFault) as error:
            Workspace.at(tmp_path / "file")
        assert error.value.code == "CMD-WORK-001"
        assert "--working-dir" in error.value.hint

    def test_links_in_a_loop(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(EnvironmentFault):
            Workspace.at(tmp_path / "a" / "x")

    def test_every_path_follows_the_root(self, tmp_path: Path) -> None:
        """Changing the working directory moves every derived path."""
        workspace = Workspace(tmp_path / "w")
        names = [name for name in vars(Workspace) if isinstance(vars(Workspace)[name], property)]
        results = [getattr(workspace, name) for name in names if name not in ("generated", "own")]
        results += [*workspace.generated, *workspace.own]
        results += [
            workspace.component("c"),
            workspace.package("p"),
            workspace.target("t"),
            workspace.tenant_config("t"),
        ]
        assert len(results) > 20
        assert all(path.is_relative_to(tmp_path / "w") for path in results)
        assert workspace.component("c") == tmp_path / "w/dependencies/c"
        assert workspace.package("p") == tmp_path / "w/dependencies/pkg.p"
        assert workspace.target("t") == tmp_path / "w/inventory/targets/t.yml"


KILLED_AT_RENAMING = """
import os, signal, sys
from pathlib import Path
from commodore.base.files.workspace import link_relative, write_atomically
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
exec(sys.argv[1])
"""


class TestWriteAtomically:
    def test_content_mode_and_answer(self, tmp_path: Path) -> None:
        file = tmp_path / "a" / "b" / "file"
        assert write_atomically(file, b"x") is True
        assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"x", 0o644)
        before = file.stat().st_ino
        assert write_atomically(file, b"x") is False
        assert file.stat().st_ino == before
        assert write_atomically(file, b"y") is True
        assert file.read_bytes() == b"y"
        assert list(file.parent.iterdir()) == [file]

    def test_equal_content_does_not_keep_a_wrong_mode(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_bytes(b"secret")
        file.chmod(0o644)
        assert write_atomically(file, b"secret", mode=0o600) is True
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    @pytest.mark.parametrize("umask", [0o000, 0o077])
    def test_the_umask_does_not_matter(self, tmp_path: Path, umask: int) -> None:
        run_python(
            f"import os\nos.umask({umask})\nfrom pathlib import Path\n"
            "from commodore.base.files.workspace import write_atomically\nwrite_atomically(Path('file'), b'x')",
            cwd=tmp_path,
        )
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644

    @pytest.mark.parametrize("content", [b"keep", b"new"])
    def test_a_link_is_replaced_and_not_followed(self, tmp_path: Path, content: bytes) -> None:
        precious = tmp_path / "precious"
        precious.write_bytes(b"keep")
        (tmp_path / "file").symlink_to(precious)
        assert write_atomically(tmp_path / "file", content) is True
        assert not (tmp_path / "file").is_symlink()
        assert precious.read_bytes() == b"keep"

    def test_the_longest_names_fit(self, tmp_path: Path) -> None:
        assert write_atomically(tmp_path / ("ä" * 127), b"x")

    def test_a_pipe_is_not_read(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "file")
        assert write_atomically(tmp_path / "file", b"x")
        assert (tmp_path / "file").read_bytes() == b"x"

    def test_a_folder_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "file").mkdir()
        with pytest.raises(EnvironmentFault) as error:
            write_atomically(tmp_path / "file", b"x")
        assert error.value.code == "CMD-WORK-003"
        assert error.value.message.startswith(f"cannot use {tmp_path / 'file'}: ")
        assert "folder is in the way" in error.value.hint
        assert list(tmp_path.iterdir()) == [tmp_path / "file"]

    def test_a_full_disk_leaves_what_was_there(self, tmp_path: Path) -> None:
        """The limit for file sizes stands in for a full disk: the write fails half way."""
        (tmp_path / "file").write_bytes(b"old")
        result = run_python(
            "import resource, signal, sys\nfrom pathlib import Path\n"
            "from commodore.base.errors import EnvironmentFault\n"
            "from commodore.base.files.workspace import write_atomically\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
            "try:\n    write_atomically(Path('file'), b'x' * 10000)\n"
            "except EnvironmentFault as error:\n    print(error.code, error.message, error.hint)",
            cwd=tmp_path,
        )
        assert "CMD-WORK-003 cannot use file: File too large" in result.stdout
        assert "unchanged" in result.stdout
        assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]

    def test_killed_at_any_point_the_file_is_old_or_new(self, tmp_path: Path) -> None:
        """The process kills itself at each system call in turn; nothing partial ever carries the name."""
        seen = set()
        for point in range(6):
            (tmp_path / "file").write_bytes(b"old")
            run_python(
                "import os, signal, sys\nfrom pathlib import Path\nfrom commodore.base.files import workspace\n"
                "calls = iter(range(100))\n"
                "def dying(name):\n"
                "    real = getattr(os, name)\n"
                "    def call(*a, **k):\n"
                "        if next(calls) == int(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)\n"
                "        return real(*a, **k)\n"
                "    setattr(os, name, call)\n"
                "for name in ('fdopen', 'fchmod', 'dup', 'replace'): dying(name)\n"
                "workspace.write_atomically(Path('file'), b'new')",
                str(point),
                cwd=tmp_path,
            )
            seen.add((tmp_path / "file").read_bytes())
        assert seen == {b"old", b"new"}

    def test_what_a_killed_process_leaves_is_used_up(self, tmp_path: Path) -> None:
        killed = run_python(KILLED_AT_RENAMING, "write_atomically(Path('file'), b'a longer text')", cwd=tmp_path)
        assert killed.returncode == -signal.SIGKILL
        assert len(list(tmp_path.iterdir())) == 1
        assert write_atomically(tmp_path / "file", b"new", mode=0o600)
        assert (tmp_path / "file").read_bytes() == b"new"
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
        assert list(tmp_path.iterdir()) == [tmp_path / "file"]

    def test_writers_at_the_same_time(self, tmp_path: Path) -> None:
        """One process is in the middle of it while others write the same file: each of them writes all of its own."""
        program = (
            "import sys\nfrom pathlib import Path\n"
            "from commodore.base.files.workspace import write_atomically\n"
            "for number in range(200): write_atomically(Path('file'), sys.argv[1].encode() * (number + 1))"
        )
        writers = [
            subprocess.Popen([sys.executable, "-c", program, letter], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            for letter in "abc"
        ]
        while any(writer.poll() is None for writer in writers):
            with contextlib.suppress(FileNotFoundError):
                assert len(set((tmp_path / "file").read_bytes())) == 1
        for writer in writers:
            assert writer.communicate()[1] == ""
            assert writer.returncode == 0
        assert list(tmp_path.iterdir()) == [tmp_path / "file"]

    def test_nobody_holds_what_is_complete(self, tmp_path: Path) -> None:
        """Not even a process that was started in the middle of it and has inherited the file."""
        program = (
            "import fcntl, os, sys\nfrom pathlib import Path\n"
            "from commodore.base.files.workspace import write_atomically\n"
            "real, child = os.replace, []\n"
            "def replace(*names):\n"
            "    child.append(os.fork())\n"
            "    if child == [0]: sys.stdin.read(); os._exit(0)\n"
            "    real(*names)\n"
            "os.replace = replace\n"
            "write_atomically(Path('file'), b'x')\n"
            "with open('file') as file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as writer:
            assert writer.wait() == 0

    @pytest.mark.parametrize("kind", ["link", "folder", "pipe", "second name"])
    def test_what_is_in_the_way_of_the_new_file_stays(self, tmp_path: Path, kind: str) -> None:
        run_python(KILLED_AT_RENAMING, "write_atomically(Path('file'), b'x')", cwd=tmp_path)
        (place,) = tmp_path.iterdir()
        place.unlink()
        precious = tmp_path / "precious"
        precious.write_bytes(b"keep")
        make = {
            "link": lambda: place.symlink_to(precious),
            "folder": place.mkdir,
            "pipe": lambda: os.mkfifo(place),
            "second name": lambda: os.link(precious, place),
        }
        make[kind]()
        assert write_atomically(tmp_path / "file", b"new")
        assert (tmp_path / "file").read_bytes() == b"new"
        assert precious.read_bytes() == b"keep"
        assert os.path.lexists(place)


class TestLinkRelative:
    def test_it_is_relative_and_replaces(self, tmp_path: Path) -> None:
        target = tmp_path / "deps" / "c" / "c.yml"
        target.parent.mkdir(parents=True)
        target.write_text("c")
        link = tmp_path / "inventory" / "classes" / "c.yml"
        link_relative(link, target)
        assert os.readlink(link) == "../../deps/c/c.yml"
        before = os.lstat(link).st_ino
        link_relative(link, target)
        assert os.lstat(link).st_ino == before
        link_relative(link, tmp_path / "other")
        assert os.readlink(link) == "../../other"
        link.unlink()
        link.write_text("a file")
        link_relative(link, target)
        assert link.read_text() == "c"
        assert list(link.parent.iterdir()) == [link]

    def test_a_folder_that_is_a_link_itself(self, tmp_path: Path) -> None:
        """Relative links are followed from where they really lie."""
        (tmp_path / "disk" / "deep" / "inventory").mkdir(parents=True)
        (tmp_path / "wd").mkdir()
        (tmp_path / "wd" / "inventory").symlink_to(tmp_path / "disk" / "deep" / "inventory")
        (tmp_path / "wd" / "target").write_text("found")
        link_relative(tmp_path / "wd" / "inventory" / "link", tmp_path / "wd" / "target")
        assert (tmp_path / "wd" / "inventory" / "link").read_text() == "found"

    def test_a_folder_in_the_way_is_kept(self, tmp_path: Path) -> None:
        (tmp_path / "link").mkdir()
        (tmp_path / "link" / "work").write_text("")
        with pytest.raises(EnvironmentFault) as error:
            link_relative(tmp_path / "link", tmp_path / "target")
        assert error.value.code == "CMD-WORK-004"
        assert "move the folder away" in error.value.hint
        assert (tmp_path / "link" / "work").exists()

    def test_a_link_to_a_folder_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "old").mkdir()
        (tmp_path / "link").symlink_to("old")
        link_relative(tmp_path / "link", tmp_path / "new")
        assert os.readlink(tmp_path / "link") == "new"
        assert list((tmp_path / "old").iterdir()) == []

    def test_many_at_once(self, tmp_path: Path) -> None:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.starmap(link_relative, [(tmp_path / "link", tmp_path / f"target{n}") for n in range(20)])
        assert [path.name for path in tmp_path.iterdir()] == ["link"]


def tree(folder: Path, content: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "file").write_text(content)
    return folder


def test_what_a_killed_process_leaves_of_a_link_is_used_up(tmp_path: Path) -> None:
    run_python(KILLED_AT_RENAMING, "link_relative(Path('link'), Path('other'))", cwd=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    link_relative(tmp_path / "link", tmp_path / "target")
    assert list(tmp_path.iterdir()) == [tmp_path / "link"]
    assert os.readlink(tmp_path / "link") == "target"


def interrupted(number: int, function: Callable[[], object]) -> bool:
    """Run it, with Ctrl-C just before that line of the module that is executed; False if there are not so many."""
    left = number
    caught = False

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal left
        if frame.f_code.co_filename != workspace.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    def run() -> None:
        nonlocal caught
        sys.settrace(trace)
        try:
            function()
        except KeyboardInterrupt:
            caught = True
        finally:
            sys.settrace(None)

    # CPython keeps an exception as "being handled" in a thread if a trace function raises where a handler ends,
    # and each later exception of that thread would have it as its context
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return caught


@pytest.mark.parametrize(
    "write",
    [
        lambda place: write_atomically(place, b"new", 0o600, durable=True),
        lambda place: link_relative(place, place.parent.parent),
    ],
    ids=["file", "link"],
)
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # a file that Ctrl-C leaves to the collector
def test_ctrl_c_at_any_line_leaves_the_place_alone(tmp_path: Path, write: Callable[[Path], object]) -> None:
    gc.collect()
    gc.freeze()  # what other tests have left is not looked at again and again
    for number in itertools.count(1):
        place = tmp_path / str(number) / "place"
        place.parent.mkdir()
        place.write_text("old")
        again = interrupted(number, lambda place=place: write(place))  # type: ignore[misc]
        gc.collect()
        assert list(place.parent.iterdir()) == [place], number
        assert place.is_symlink() or place.read_text() in ("old", "new"), number
        if not again:
            break
    gc.unfreeze()
    assert number > 10


class TestReplaceTree:
    def test_first_and_second(self, tmp_path: Path) -> None:
        place = tmp_path / "out" / "compiled"
        replace_tree(tree(tmp_path / "stage" / "one", "one"), place)
        assert (place / "file").read_text() == "one"
        replace_tree(tree(tmp_path / "stage" / "two", "two"), place)
        assert (place / "file").read_text() == "two"
        assert list(place.parent.iterdir()) == [place]
        assert list((tmp_path / "stage").iterdir()) == []

    @pytest.mark.parametrize("kind", ["file", "link"])
    def test_what_is_no_folder_makes_way(self, tmp_path: Path, kind: str) -> None:
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "work").write_text("")
        place = tmp_path / "out" / "compiled"
        place.parent.mkdir()
        if kind == "file":
            place.write_text("")
        else:
            place.symlink_to(tmp_path / "precious")
        replace_tree(tree(tmp_path / "new", "new"), place)
        assert not place.is_symlink()
        assert (place / "file").read_text() == "new"
        assert (tmp_path / "precious" / "work").exists()

    def test_the_old_tree_comes_back(self, tmp_path: Path) -> None:
        place = tree(tmp_path / "out" / "compiled", "old")
        (tmp_path / "stage").mkdir()
        with pytest.raises(EnvironmentFault) as error:
            replace_tree(tmp_path / "stage" / "missing", place)
        assert error.value.code == "CMD-WORK-003"
        assert (place / "file").read_text() == "old"
        assert list(place.parent.iterdir()) == [place]
        assert list((tmp_path / "stage").iterdir()) == []

    @pytest.mark.parametrize("call", [1, 2])
    @pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
    def test_nothing_is_lost_when_renaming_fails(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, failure: type[BaseException]
    ) -> None:
        """The operating system fails, or the user interrupts, at each of the two renames."""
        place = tree(tmp_path / "out" / "compiled", "old")
        new = tree(tmp_path / "stage" / "new", "new")
        monkeypatch.setattr(os, "rename", failing(os.rename, call, failure))
        with pytest.raises((EnvironmentFault, KeyboardInterrupt)):
            replace_tree(new, place)
        assert (place / "file").read_text() == "old"
        assert [path.name for path in (tmp_path / "stage").iterdir()] == ["new"]

    def test_what_cannot_be_put_back_is_not_removed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        place = tree(tmp_path / "out" / "compiled", "old")
        new = tree(tmp_path / "stage" / "new", "new")
        monkeypatch.setattr(os, "rename", failing(os.rename, 2, OSError, forever=True))
        with pytest.raises(EnvironmentFault):
            replace_tree(new, place)
        assert [path.read_text() for path in tmp_path.rglob("old/file")] == ["old"]

    def test_killed_in_between_the_workspace_recovers(self, tmp_path: Path) -> None:
        """Anything that waits next to the staging folder is swept by the next run; nothing stays in the place's
        folder.
        """
        result = run_python(
            "import os, signal, sys\nfrom pathlib import Path\nfrom commodore.base import limits\n"
            "from commodore.base.files import workspace as module\n"
            "workspace = module.Workspace.at(Path(sys.argv[1]))\n"
            "workspace.compiled.mkdir()\n"
            "real, calls = os.rename, []\n"
            "def rename(*a):\n"
            "    calls.append(a)\n"
            "    if len(calls) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
            "    real(*a)\n"
            "with workspace.locked(limits.Limits()), workspace.staging('compile') as folder:\n"
            "    (folder / 'compiled').mkdir()\n"
            "    os.rename = rename\n"
            "    module.replace_tree(folder / 'compiled', workspace.compiled)",
            str(tmp_path),
        )
        assert result.returncode == -signal.SIGKILL, result.stderr
        with Workspace.at(tmp_path).locked(DEFAULT_LIMITS):
            assert [path.name for path in tmp_path.iterdir()] == [".commodore"]
            assert [path.name for path in (tmp_path / ".commodore").iterdir()] == ["lock"]


def failing(
    real: Callable[..., None], call: int, failure: type[BaseException], *, forever: bool = False
) -> Callable[..., None]:
    """A function that fails at the call of that number (and, if `forever`, at all that follow)."""
    calls: list[object] = []

    def attempt(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == call or (forever and len(calls) > call):
            raise failure(5, "Input/output error")
        real(*arguments)

    return attempt


class TestExchangeTree:
    def test_the_new_folder_is_there_and_the_old_one_gone(self, tmp_path: Path) -> None:
        for name in ("new", "place"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "file").write_text(name)
        exchange_tree(tmp_path / "new", tmp_path / "place")
        assert [path.name for path in tmp_path.iterdir()] == ["place"]
        assert (tmp_path / "place" / "file").read_text() == "new"

    def test_a_first_one(self, tmp_path: Path) -> None:
        (tmp_path / "new").mkdir()
        exchange_tree(tmp_path / "new", tmp_path / "below" / "place")
        assert (tmp_path / "below" / "place").is_dir()


class TestRemoveTree:
    def test_nothing_there_is_fine(self, tmp_path: Path) -> None:
        remove_tree(tmp_path / "nothing")
        (tmp_path / "file").write_text("")
        remove_tree(tmp_path / "file" / "below")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_each_kind(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "dangling").symlink_to("nowhere")
        tree(tmp_path / "folder" / "deep", "x")
        for path in sorted(tmp_path.iterdir()):
            remove_tree(path)
        assert list(tmp_path.iterdir()) == []

    def test_links_are_not_followed(self, tmp_path: Path) -> None:
        tree(tmp_path / "precious", "x")
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "link").symlink_to(tmp_path / "precious")
        (tmp_path / "link").symlink_to(tmp_path / "precious")
        remove_tree(tmp_path / "folder")
        remove_tree(tmp_path / "link")
        assert [path.name for path in tmp_path.iterdir()] == ["precious"]
        assert (tmp_path / "precious" / "file").exists()

    @pytest.mark.parametrize("depth", [1900, 5000])
    def test_folders_in_folders(self, tmp_path: Path, depth: int) -> None:
        """Deeper than calls nest, and than a path is long: an output path that was too long left them."""
        made = run_python(
            "import os\nos.mkdir('top')\nos.chdir('top')\n"
            f"for _ in range({depth}): os.mkdir('a'); os.chdir('a')\n"
            "open('file', 'w').close()",
            cwd=tmp_path,
        )
        assert made.returncode == 0, made.stderr
        remove_tree(tmp_path / "top")
        assert list(tmp_path.iterdir()) == []

    def test_protected_folders_and_files(self, tmp_path: Path) -> None:
        """Git's objects are read-only. Root may do everything, so that it becomes somebody else for this."""
        result = run_python(
            "import os\nfrom pathlib import Path\nfrom commodore.base.files.workspace import remove_tree\n"
            "for name, mode in (('top', 0o500), ('top/a', 0o555), ('top/a/b', 0), ('top/c', 0o300)):\n"
            "    Path(name).mkdir(mode=0o700, parents=True)\n"
            "for name in ('top/file', 'top/a/file', 'top/a/b/file', 'top/c/file'): Path(name).write_text('')\n"
            "for name in ('top/file', 'top/a/file'): Path(name).chmod(0o400)\n"
            "os.chmod('top/a/b', 0); os.chmod('top/c', 0o300); os.chmod('top/a', 0o555); os.chmod('top', 0o500)\n"
            "before = Path('.').stat().st_mode\n"
            "if os.getuid() == 0:\n"
            "    for entry in [Path('.'), *sorted(Path('.').rglob('*'))]: os.chown(entry, 65534, 65534)\n"
            "    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "remove_tree(Path('top'))\n"
            "assert os.listdir('.') == [] and Path('.').stat().st_mode == before\n"
            "print('gone')",
            cwd=tmp_path,
        )
        assert result.stdout == "gone\n", result.stderr


class TestGuardDisk:
    def test_the_place_and_the_cause_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(EnvironmentFault) as error, guard_disk(tmp_path):
            (tmp_path / "missing").read_text()
        assert error.value.message == f"cannot use {tmp_path}: No such file or directory"
        assert [str(location) for location in error.value.locations] == [str(tmp_path / "missing")]
        assert isinstance(error.value.__cause__, FileNotFoundError)

    def test_other_errors_pass(self, tmp_path: Path) -> None:
        with pytest.raises(PolicyError), guard_disk(tmp_path):
            raise PolicyError("CMD-X-001", "no")

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.ENOMEM, errno.EACCES, errno.EISDIR, errno.ELOOP])
    def test_known_causes_have_a_hint(self, tmp_path: Path, number: int) -> None:
        with pytest.raises(EnvironmentFault) as error, guard_disk(tmp_path):
            raise OSError(number, os.strerror(number))
        assert not error.value.hint.startswith("look at the reason")
        assert error.value.hint.endswith("; what was there before is unchanged")


class TestIsInside:
    @pytest.mark.parametrize("path", [".", "a", "a/../b", "in", "missing/x"])
    def test_inside(self, tmp_path: Path, path: str) -> None:
        root = tmp_path / "root"
        root.mkdir()
        (root / "in").symlink_to("a")
        assert is_inside(root / path, root)

    @pytest.mark.parametrize("path", ["..", "../rooted", "a/../..", "/etc/passwd", "out", "out/x", "up", "loop"])
    def test_outside(self, tmp_path: Path, path: str) -> None:
        root = tmp_path / "root"
        root.mkdir()
        (tmp_path / "rooted").mkdir()
        (root / "out").symlink_to("/etc")
        (root / "up").symlink_to("../rooted")
        (root / "loop").symlink_to("loop")
        assert not is_inside(root / path, root)


def test_limits_are_taken_into_account(tmp_path: Path) -> None:
    """Waiting has an end, which the limits name."""
    workspace = Workspace.at(tmp_path)
    with workspace.locked(DEFAULT_LIMITS), pytest.raises(PolicyError), workspace.locked(Limits(lock_wait=0.15)):
        pytest.fail("two runs in one workspace")
