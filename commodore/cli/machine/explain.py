"""`commodore explain`: meaning, cause and fix of an error code."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from commodore.cli.shell.completion import complete_error_codes
from commodore.cli.shell.console import console_of
from commodore.cli.shell.error_pages import ErrorPage, ErrorRoom, find_error_page, read_error_rooms
from commodore.cli.shell.options import options
from commodore.cli.shell.settings.common import EXPLAIN

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ", re.MULTILINE)
_WIDEST = 100
_PAGES = "reference/errors"


@dataclass(frozen=True, slots=True)
class ExplainedCode:
    """An error code and its meaning; `exit_code` is null for warnings and findings, `text` is Markdown."""

    code: str
    title: str
    family: str
    exit_code: int | None
    text: str


@dataclass(frozen=True, slots=True)
class ListedCodes:
    """Error codes with their titles."""

    codes: Sequence[ErrorPage]


@click.command("explain")
@click.argument("code", required=False, shell_complete=complete_error_codes)
@options(*EXPLAIN)
@click.pass_context
def explain(ctx: click.Context, /, code: str | None, **values: Any) -> None:
    """Explain the error code CODE: its meaning, its cause and its fix.

    CODE is in brackets after an error or warning, like CMD-DEP-012; dep-12 is enough. With the name of a
    part of the program, like DEP, its codes are listed; without CODE all of them.
    """
    console = console_of(ctx)
    rooms = read_error_rooms()
    listed = tuple(room for room in rooms if code is None or room.name == code.upper().removeprefix("CMD-"))
    output = values["out"]
    if listed and output == "json":
        console.document("explain-list", ListedCodes([page for room in listed for page in room.pages]))
        return
    if listed:
        console.result({"text": _list_text, "markdown": _list_markdown}[output](listed))
        return
    assert code is not None
    page = find_error_page(code)
    if output == "json":
        text = "\n\n".join(page.paragraphs)
        console.document("explain", ExplainedCode(page.code, page.title, page.family, page.exit_code, text))
        return
    console.result({"text": _page_text, "markdown": _page_markdown}[output](page))


def _page_text(page: ErrorPage) -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines = [click.style(f"{page.code}: {page.title}", bold=True), click.style(page.kind, dim=True)]
    for paragraph in page.paragraphs:
        lines += ["", *_wrapped(paragraph, width)]
    return "\n".join(lines)


def _wrapped(block: str, width: int) -> Iterator[str]:
    """One block of Markdown for a terminal."""
    if block.startswith("```"):
        yield from (f"  {line}" for line in block.splitlines()[1:-1])
        return
    starts = [match.start() for match in _ITEM.finditer(block)]
    for start, end in zip([0, *starts], [*starts, len(block)], strict=True):
        yield from _filled(plain(block[start:end], code="cyan").split(), width, "  " if start in starts else "")


def _filled(words: Iterable[str], width: int, indent: str) -> Iterator[str]:
    """Words in lines of a width, which colours do not count for."""
    line = ""
    for word in words:
        if line and len(click.unstyle(line)) + 1 + len(click.unstyle(word)) > width:
            yield line
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def plain(markdown: str, *, code: str | None = None) -> str:
    """Text without the marks of Markdown, in one line; a link becomes its text and the page it leads to.

    Args:
        code: the colour of text in backticks, applied to each word.
    """

    def named(match: re.Match[str]) -> str:
        text, target = match.groups()
        if "://" not in target:
            page = posixpath.normpath(posixpath.join(_PAGES, target.partition("#")[0].removesuffix(".md")))
            target = f"{page} in the documentation"
        return f"{text} ({target})" if text else target

    def coloured(match: re.Match[str]) -> str:
        return " ".join(click.style(word, fg=code) if code else word for word in match[2].split())

    return " ".join(_SPAN.sub(coloured, _LINK.sub(named, markdown)).split())


def _page_markdown(page: ErrorPage) -> str:
    return "\n\n".join([f"## {page.code}: {page.title}", f"*{page.kind}*", *page.paragraphs])


def _list_text(rooms: Iterable[ErrorRoom]) -> str:
    blocks = []
    for room in rooms:
        width = max((len(page.code) for page in room.pages), default=0)
        lines = [click.style(f"{room.name}: {room.title}", bold=True)]
        lines += [f"  {page.code:<{width}}  {plain(page.title)}" for page in room.pages]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _list_markdown(rooms: Iterable[ErrorRoom]) -> str:
    blocks = []
    for room in rooms:
        blocks += [f"# {room.name}: {room.title}", "\n".join(f"- `{page.code}`: {page.title}" for page in room.pages)]
    return "\n\n".join(blocks)
