"""Every test runs in a clean environment: own home, no credentials, no settings of whoever runs it.

Tests that need the published tool take the fixture `peer`, the ones that need the real world the fixture `real`, those
that need clones of real components the fixture `components`: the paths in the variables COMMODORE_PEER, COMMODORE_REAL
and COMMODORE_COMPONENTS. Without these, tests marked so are skipped.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import settings

from tests.world.program import WorkerKeeper
from tests.world.sampling import EXHAUSTIVE

ROOT = Path(__file__).resolve().parent.parent

# Variables that go through to the tests; nothing else does.
KEPT = ("TMPDIR", "USER", "LOGNAME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CI")
KEPT_PREFIXES = ("PYTEST_", "COVERAGE_", "COV_CORE_", "HYPOTHESIS_")

# The programs that tests find in PATH, besides helm and kustomize in .tools and what a test puts there itself. Whatever
# else the machine has, a broken helm or a jb of another make, they do not see.
PROGRAMS = (ROOT / "tests" / "programs.txt").read_text(encoding="utf-8").split()

XDG_FOLDERS = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_RUNTIME_DIR": ".run",
}

MACHINE_PATH = os.environ.get("PATH", os.defpath)
OPT_IN = {name: os.environ.get(f"COMMODORE_{name.upper()}", "") for name in ("peer", "real", "components", "apiserver")}

# No deadlines: tests never measure time. In CI the examples are the same in every run.
settings.register_profile(
    "commodore", max_examples=50 if EXHAUSTIVE else 20, deadline=None, print_blob=True, derandomize="CI" in os.environ
)
settings.load_profile("commodore")


def pytest_configure() -> None:
    """A shell starts background jobs with Ctrl-C ignored, and processes inherit that: tests of Ctrl-C would hang."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Modules of tests/world that only hold data, or read and write files.
PLAIN_WORLD = {
    f"tests.world.{name}" for name in ("certificates", "context", "documents", "folders", "kargo", "sampling")
}

# Programs that were started since the current test began.
started: list[str] = []


def note_process(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that notes every program that is started from this process."""
    if event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
        started.append(str(arguments[0]))
    elif event in ("os.fork", "os.forkpty"):
        started.append("a fork")


sys.addaudithook(note_process)


@functools.cache
def helpers_of(module: ModuleType) -> frozenset[str]:
    """The modules of the tests that a module imports, at any depth; `subprocess` if one of them imports it."""
    names: set[str] = set()
    pending = [module]
    while pending:
        for value in list(vars(pending.pop()).values()):
            if isinstance(value, (ModuleType, FunctionType, type)):
                name = value.__name__ if isinstance(value, ModuleType) else value.__module__
                if name not in names and (name == "subprocess" or name.startswith("tests.")):
                    names.add(name)
                    pending += [sys.modules[name]] if name in sys.modules and name != "subprocess" else []
    return frozenset(names)


def means(item: pytest.Item) -> Iterator[str]:
    """The marks `world` and `tools` of a test: by its fixtures, and by the helpers that its module imports."""
    if not isinstance(item, pytest.Function):
        return
    fixtures = itertools.chain.from_iterable(item._fixtureinfo.name2fixturedefs.values())
    homes = {fixture.func.__module__ for fixture in fixtures} - {__name__}
    modules = [item.module, *(sys.modules[name] for name in homes if not name.startswith("_pytest."))]
    names = frozenset().union(*map(helpers_of, modules))
    if any(name.startswith("tests.world.") for name in names - PLAIN_WORLD):
        yield "world"
    if "subprocess" in names:
        yield "tools"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in means(item):
            item.add_marker(mark)
        for marker, value in OPT_IN.items():
            if item.get_closest_marker(marker) and not value:
                item.add_marker(pytest.mark.skip(reason=f"COMMODORE_{marker.upper()} is not set"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Refuse a test that starts a program without one of the marks, so that `-m "not world and not tools"` is right."""
    yield
    if started and not (item.get_closest_marker("world") or item.get_closest_marker("tools")):
        pytest.fail(f"starts {', '.join(sorted(set(started)))}: mark it with pytest.mark.tools", pytrace=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Iterator[None]:
    started.clear()
    yield


@pytest.fixture(scope="session")
def apiserver_binaries() -> Path:
    """The folder with kube-apiserver and etcd, for tests marked `apiserver`."""
    return Path(OPT_IN["apiserver"]).absolute()


@pytest.fixture(scope="session")
def shared_real() -> Path | None:
    """The folder of real inputs, if there is one."""
    return Path(OPT_IN["real"]).absolute() if OPT_IN["real"] else None


@pytest.fixture
def peer() -> Path:
    """The executable of the published tool, for tests marked `peer`."""
    return Path(OPT_IN["peer"]).absolute()


@pytest.fixture
def real() -> Path:
    """The folder with the real components, for tests marked `real`."""
    return Path(OPT_IN["real"]).absolute()


@pytest.fixture
def components() -> Path:
    """A folder with clones of component repositories, at any depth, for tests marked `components`."""
    return Path(OPT_IN["components"]).absolute()


@pytest.fixture(scope="session", autouse=True)
def clean_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same for what is built once for many tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name not in KEPT and not name.startswith(KEPT_PREFIXES):
                patch.delenv(name)
        patch.setenv("TZ", "UTC")
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_TERMINAL_PROMPT", "0")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "Tess Ter")
            patch.setenv(f"GIT_{role}_EMAIL", "tess@example.com")
        give_programs(patch, tmp_path_factory.mktemp("programs"))
        give_home(patch, tmp_path_factory.mktemp("home"))
        yield


@pytest.fixture(scope="session", autouse=True)
def kept_workers(clean_session: None) -> Iterator[None]:
    """Engines that are closed leave the process that has loaded Kapitan to the next one."""
    keeper = WorkerKeeper()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commodore.core.engine.engine.worker_pool", keeper.lend)
        yield
    keeper.close()


@pytest.fixture(scope="session")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths for the folders of tests, each of a new number.

    `mktemp` looks for the highest number among all folders that there are: with thousands of tests that takes longer
    than most of them.
    """
    root = tmp_path_factory.mktemp("tests", numbered=False)
    return (root / str(number) for number in itertools.count())


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, numbered: Iterator[Path]) -> Path:
    """An empty folder of the test, named after it."""
    path = next(numbered) / re.sub(r"\W", "_", request.node.name)[:30]
    path.mkdir(mode=0o700, parents=True)
    return path


@pytest.fixture(autouse=True)
def clean_environment(
    clean_session: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, numbered: Iterator[Path]
) -> None:
    """An own home (outside `tmp_path`, which starts empty) and `tmp_path` as the current directory."""
    give_home(monkeypatch, next(numbered))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def netrc() -> Path:
    """A `.netrc` with credentials for servers on loopback."""
    file = Path.home() / ".netrc"
    file.write_text("machine 127.0.0.1 login tess password secret\n")
    file.chmod(0o600)
    return file


def give_programs(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let PATH be the pinned tools and, in a new folder, links to what every machine has."""
    for name in PROGRAMS:
        if program := shutil.which(name, path=MACHINE_PATH):
            (folder / name).symlink_to(program)
    patch.setenv("PATH", f"{ROOT / '.tools'}{os.pathsep}{folder}")


def give_home(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Let HOME be `home`, and the XDG folders new folders in it."""
    home.mkdir(mode=0o700, exist_ok=True)
    patch.setenv("HOME", str(home))
    for variable, folder in XDG_FOLDERS.items():
        path = home / folder
        path.mkdir(mode=0o700, parents=True)
        patch.setenv(variable, str(path))
