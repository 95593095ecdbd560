"""Tutorials as scripts: what a reader does with the page in one hand, and what the page says will be seen.

A page is Markdown with two kinds of blocks that count, in order (docs/how-to/develop.md):

* ```` ```console ````: lines that begin with `$ ` are commands, the lines below are what they print.
* ```` ```{code-block} ```` with a `:caption:`: a file, written to the path that the caption names.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, run

from tests.world.cluster import ROOT
from tests.world.folders import write_script

BLOCK = re.compile(r"^```(console|\{code-block\} \w+\n:caption: (\S+))\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "\x1e"  # between what commands print: no text holds this character


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A file of the reader's. `path` is relative to the folder that the reader is in."""

    path: str
    content: str

    @property
    def shell(self) -> str:
        return f"printf %s {shlex.quote(self.content)} >{shlex.quote(self.path)}"


@dataclass(frozen=True, slots=True)
class Command:
    """A line that the reader types, and what is shown below it: empty if nothing is."""

    shell: str
    shown: str


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was taken, what it printed, and its exit code."""

    step: Command | WriteFile
    printed: str
    code: int

    def complaint(self) -> str:
        """Anything that is not as the page says, or an empty text.

        A command below which nothing is shown must succeed. Else all that it printed must be what is shown, where
        `…` stands for any text (in a line of its own: for any lines), and any duration for any other.
        """
        shown = self.step.shown if isinstance(self.step, Command) else ""
        if not shown:
            return f"exit code {self.code}: {self.printed}" if self.code else ""
        if re.fullmatch(_pattern(shown), _without_durations(self.printed)):
            return ""
        return f"{self.step.shell}\nprinted\n{self.printed}\nwhere the page shows\n{shown}"


def steps(page: str) -> Iterator[Command | WriteFile]:
    """Everything that a page tells to do, in order."""
    for kind, path, content in BLOCK.findall(page):
        if kind != "console":
            yield WriteFile(path, content)
            continue
        for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            yield Command(line, shown)


def reader_environment(programs: Path) -> dict[str, str]:
    """The environment of a reader who has installed `commodore`, in the folder `programs`."""
    write_script(programs / "commodore", f'exec {shlex.quote(sys.executable)} -m commodore "$@"')
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def follow(page: str, folder: Path, environment: Mapping[str, str]) -> list[Done]:
    """Take all steps of a page in one shell that begins in `folder`, like a reader, who goes on after an error too."""
    taken = list(steps(page))
    script = "".join(f"{step.shell}\nprintf '%s' {shlex.quote(END)}$?{shlex.quote(END)}\n" for step in taken)
    ended = run(
        ["bash", "--noprofile", "--norc", "-c", script],
        cwd=folder,
        env=dict(environment),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    parts = ended.stdout.split(END)
    assert len(parts) == 2 * len(taken) + 1, ended.stdout
    return [Done(step, printed, int(code)) for step, printed, code in zip(taken, parts[::2], parts[1::2], strict=False)]


def _pattern(shown: str) -> str:
    text = re.escape(_without_durations(shown))
    text = re.sub(r"^(?:\\ )*…\n", lambda match: r"(?:.*\n)*", text.replace("\\\n", "\n"), flags=re.MULTILINE)
    return text.replace("…", ".*")


def _without_durations(text: str) -> str:
    return re.sub(r"\b\d+\.\d s\b", "0.0 s", text)
