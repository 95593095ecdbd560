"""Folders in which something is made: what killed processes leave goes at once, what somebody works in never does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from commodore.base.files.staging import staging, sweep, temporary_folder
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle import exports
from commodore.core.sources.fetching import CacheKey, DependencyCache
from commodore.core.sources.git import RepositoryStore
from tests.world.context import make_context
from tests.world.repos import GitWorld

AGE = DEFAULT_LIMITS.staging_age
ROOT = Path(__file__).resolve().parents[3]

HOLDER = """
import sys
from pathlib import Path
from types import FrameType
from typing import Any
from commodore.base.files.staging import staging, temporary_folder
with (staging(Path(sys.argv[1]), "new-", None) if len(sys.argv) > 1 else temporary_folder()) as folder:
    (folder / "half").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""

# Whoever loses a folder that it has just made fails to write into it.
BUSY = """
import sys
from pathlib import Path
from types import FrameType
from typing import Any
from commodore.base.files.staging import staging
for number in range(300):
    with staging(Path(sys.argv[1]), "new-", None) as folder:
        (folder / "content").write_text(str(number))
"""


INTERRUPTED = ("staging", "workspace", "shutil", "contextlib")


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def killed(*arguments: str) -> Path:
    """The folder that a process has left which was killed while it worked in it."""
    process = start(HOLDER, *arguments)
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (folder / "half").is_dir()
    return folder


def test_a_folder_is_private_and_goes(tmp_path: Path) -> None:
    root = tmp_path / "a" / "root"
    with staging(root, "new-", None) as folder:
        assert folder.parent == root
        assert (root.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o700, 0o700)
    assert list(root.iterdir()) == []


def test_an_interruption_while_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as the folder is there, before its lock is held."""
    make = Path.mkdir

    def interrupted(folder: Path, *arguments: int, **more: object) -> None:
        make(folder, *arguments, **more)  # type: ignore[arg-type]
        if folder.parent == tmp_path:
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), staging(tmp_path, "new-", AGE):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_goes_with_the_next_one(tmp_path: Path) -> None:
    left = killed(str(tmp_path))
    with staging(tmp_path, "new-", AGE) as folder:
        assert not left.exists()
        assert folder.is_dir()


def test_what_somebody_works_in_stays_however_old_it_is(tmp_path: Path) -> None:
    process = start(HOLDER, str(tmp_path))
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    os.utime(folder, (0, 0))
    with staging(tmp_path, "new-", AGE):
        sweep(tmp_path, "new-", 0)
        assert (folder / "half").is_dir()
    process.communicate()
    assert not folder.exists()


def test_temporary_folders_of_killed_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else lies there is not ours, old or not."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    left, other = killed(), tmp_path / "commodore-catalogs"
    other.mkdir()
    os.utime(other, (0, 0))
    with temporary_folder() as folder:
        assert not left.exists()
        assert folder.parent == tmp_path.resolve()
    assert list(tmp_path.iterdir()) == [other]


def test_folders_without_a_lock_go_by_their_age(tmp_path: Path) -> None:
    """Scripts and earlier versions make such ones."""
    for name in ("new-old", "new-young", "other-old"):
        (tmp_path / name).mkdir()
    (tmp_path / "new-file").touch()
    (tmp_path / "new-held-link").symlink_to(tmp_path / "other-old")
    for name in ("new-old", "new-file", "other-old"):
        os.utime(tmp_path / name, (0, 0))
    with staging(tmp_path, "new-", 1000):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new-file", "new-held-link", "new-young", "other-old"]


def test_many_at_once(tmp_path: Path) -> None:
    processes = [start(BUSY, str(tmp_path)) for _ in range(4)]
    failures = [said for process in processes if (said := process.communicate()[1])]
    assert failures == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cache", ["dependencies", "libraries", "repositories"])
def test_caches_are_rid_of_what_killed_runs_have_left(tmp_path: Path, cache: str) -> None:
    root, source = tmp_path / "cache", tmp_path / "source"
    source.mkdir()
    root.mkdir()
    left = killed(str(root))
    if cache == "dependencies":
        DependencyCache(root, DEFAULT_LIMITS).add(CacheKey("helm", "https://example.com", "1.0.0"), source)
    elif cache == "libraries":
        with exports.ExportCache(root, make_context()).staging():
            pass
    else:
        remote = GitWorld(tmp_path / "remotes").remote(files={"a": "1"})
        with RepositoryStore(tmp_path / "clones", make_context(), mirrors=root) as store:
            store.sync([(remote.url, "master")])
        assert list(root.glob("*/*/about.json"))
    assert not left.exists()


def interrupted_after(steps: int, root: Path) -> bool:
    """Make and remove a folder, and press Ctrl-C after that many steps. Returns whether it came to that."""
    left = steps

    def look(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if event == "call":
            frame.f_trace_opcodes = Path(frame.f_code.co_filename).stem in INTERRUPTED
        elif event == "opcode":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return look

    sys.settrace(look)
    try:
        with staging(root, "new-", None) as folder:
            (folder / "a").mkdir()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    assert left > 0, "the interruption is lost"
    return False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what was open is closed a bit later
def test_ctrl_c_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    """Also while a folder is closed, which shutil does once more then."""
    steps = 0
    with contextlib.ExitStack() as before:
        before.callback(sys.settrace, sys.gettrace())
        while interrupted_after(steps := steps + 1, tmp_path):
            assert list(tmp_path.iterdir()) == [], steps
