"""The tools that are compared, what was measured of them, and the machine on which."""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _measure import Cost

ROOT = Path(__file__).resolve().parent.parent


class BenchError(Exception):
    """A measurement that cannot be made: what was missing or failed."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A command line that is measured; `path_prefix` is put in front of PATH for it alone."""

    name: str
    command: tuple[str, ...]
    path_prefix: Path | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured command: what it is called, what it took, and a digest of what it made ("" if of no interest)."""

    phase: str
    cost: Cost
    result: str = ""


# For each tool's name its samples of every round, in the order of the rounds.
Rounds = dict[str, list[list[Sample]]]


def make_tool(name: str, command: str, path_prefix: Path | None = None) -> Tool:
    """The tool behind a command line as a shell would take it; its program becomes an absolute path.

    Raises:
        BenchError: there is no such program.
    """
    words = shlex.split(command)
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise BenchError(f"no program {command!r}")
    if path_prefix is not None and not path_prefix.is_dir():
        raise BenchError(f"no folder {path_prefix}")
    return Tool(name, (os.path.abspath(program), *words[1:]), path_prefix)


def add_tool_options(parser: argparse.ArgumentParser) -> None:
    """The options that `choose_tools` reads."""
    parser.add_argument("--commodore", default="commodore", metavar="COMMAND", help="ours")
    parser.add_argument(
        "--peer", default=os.environ.get("COMMODORE_PEER"), metavar="COMMAND", help="the published tool"
    )
    parser.add_argument("--path-prefix", type=Path, metavar="FOLDER", help="put in front of PATH for the peer")


def choose_tools(arguments: argparse.Namespace) -> list[Tool]:
    """Ours, and the published tool if there is one.

    Raises:
        BenchError: there is no such program.
    """
    tools = [make_tool("commodore", arguments.commodore)]
    if arguments.peer:
        tools.append(make_tool("peer", arguments.peer, arguments.path_prefix))
    return tools


def check_phases(parser: argparse.ArgumentParser, phases: Sequence[str], known: Collection[str]) -> None:
    """End the program if a list of phases is not one."""
    if unknown := [phase for phase in phases if phase not in known]:
        parser.error(f"unknown phases: {', '.join(unknown)}")
    if phases[0] != "cold" or len(set(phases)) != len(phases):
        parser.error("--phases begins with cold and has each phase once")


def home_environment(home: Path, **more: str) -> dict[str, str]:
    """An environment with `home` as the home of everything, and nothing from outside but PATH.

    The folder is created, with a name for git in it.
    """
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@example.com\n")
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    } | more


def digest_tree(folder: Path) -> str:
    """A digest of the names and contents of all files below a folder, but for git's own."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(folder).parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{path.relative_to(folder)}\0{content}\n".encode())
    return whole.hexdigest()


def end_of(log: Path) -> str:
    """The last 20 lines of a file that a command wrote its output to."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])


def describe(tools: list[Tool], scratch: Path) -> dict[str, Any]:
    """The machine, the commit of this repository, and for each tool its version and Python."""
    changed = _first_line(["git", "-C", str(ROOT), "status", "--porcelain", "--", "commodore", "requirements"])
    commit = _first_line(["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"])
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _cpu_model(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "git": _first_line(["git", "--version"]).removeprefix("git version "),
        "commit": commit + (" with changes" if changed else ""),
        "tools": {tool.name: _describe_tool(tool, scratch) for tool in tools},
    }


def _describe_tool(tool: Tool, scratch: Path) -> dict[str, str]:
    # A virtual environment has its interpreter in the folder of its programs.
    python = Path(tool.command[0]).parent / "python"
    return {
        "version": _first_line([*tool.command, "--version"], home_environment(scratch / "home")),
        "python": _first_line([str(python), "--version"]).removeprefix("Python ") if python.exists() else "",
    }


def _first_line(command: list[str], environment: dict[str, str] | None = None) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    return next(iter(ended.stdout.strip().splitlines()), "") if ended.returncode == 0 else ""


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
