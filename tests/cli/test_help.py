"""Help: headings, examples, names of options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import click
import pytest

from commodore.cli.main import GLOBAL, commodore
from commodore.cli.shell.examples import examples_of, page_of
from commodore.cli.shell.help_text import HelpedOption
from commodore.cli.shell.settings.headings import FIRST
from tests.cli.conftest import Known, Shown, commands
from tests.world.cluster import ROOT

Call = Callable[..., Shown]
KNOWN = commands()


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: " ".join(known.words) or "commodore")
def test_every_command_has_examples_and_a_page(known: Known) -> None:
    """The examples are command lines that the program takes, and fit a terminal."""
    path = " ".join(("commodore", *known.words))
    assert examples_of(path)
    assert (ROOT / page_of(path)).is_file()
    for example in examples_of(path):
        assert len(example) <= 78
        line = example.removeprefix('eval "$(').removesuffix(')"')
        words = shlex.split(line, comments=True)
        words = words[1 : next((place for place, word in enumerate(words) if word in ("|", ">")), None)]
        parse(commodore, words, "commodore")


def parse(command: click.Command, words: list[str], name: str, parent: click.Context | None = None) -> None:
    """Take a command line apart, without asking whether files exist."""
    context = click.Context(command, parent, info_name=name, help_option_names=["-h", "--help"])
    _, rest, _ = command.make_parser(context).parse_args(words)
    if isinstance(command, click.Group) and rest:
        result = command.get_command(context, rest[0])
        assert result is not None, rest
        parse(result, rest[1:], rest[0], context)
    else:
        assert [word for word in rest if word.startswith("-")] == []


def test_options_stand_under_headings(call: Call) -> None:
    code, out, _ = call("catalog", "compile", "--help-all")
    assert code == 0
    assert re.findall(r"^(\w.*):$", out, re.MULTILINE) == [
        "Examples",
        "What to compile",
        "From where",
        "Publishing",
        "Watching",
        "Output",
        "Safety",
        "Cache and speed",
        "Logging in",
        "Messages and help",
    ]
    first = dict(re.findall(r"^(\w.*):\n(?:  .*\n)*?  (?:-\w, )?(--[\w-]+)", out, re.MULTILINE))
    assert (first["From where"], first["Publishing"], first["Output"]) == ("--api-url", "--push", "--diff")
    assert out.rstrip().endswith("Documentation: docs/how-to/compile-and-push.md in commodore's repository")


@pytest.mark.parametrize("words", ["hydrate run", "hydrate plan", "hydrate check", "observe once", "observe run"])
def test_most_options_of_a_command_have_a_heading(call: Call, words: str) -> None:
    """Those without one are what is special about the command."""
    code, out, _ = call(*words.split(), "--help-all")
    plain = re.search(r"^Options:\n((?:  .*\n|\n(?=  ))*)", out, re.MULTILINE)
    assert (code, len(re.findall(r"^  --", plain[1], re.MULTILINE)) <= 3 if plain else True) == (0, True)
    assert out.index("Selection:") < out.index("Messages and help:")


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: " ".join(known.words) or "commodore")
def test_a_help_is_at_most_70_lines(known: Known, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(*known.words, "--help")
    every = call(*known.words, "--help-all")
    assert (code, every[0]) == (0, 0)
    assert len(out.splitlines()) <= 70
    if (more := re.search(r"^(\d+) more options: (.*) --help-all$", out, re.MULTILINE)) is None:
        assert every[1] == out
    else:
        shown, listed = (re.findall(r"^  (?:-\w, )?--[\w-]+", text, re.MULTILINE) for text in (out, every[1]))
        assert len(listed) - len(shown) == int(more[1]) > 0
        assert more[2] == " ".join(("commodore", *known.words))


def test_options_that_are_shown_first_exist() -> None:
    assert sorted(FIRST - {option.name for known in KNOWN for option in known.command.params} - {"help"}) == []


def test_few_options_stand_under_one_heading(call: Call) -> None:
    assert re.findall(r"^(\w.*):$", call("cache", "info", "--help")[1], re.MULTILINE) == ["Examples", "Options"]


@pytest.mark.parametrize("words", [(), ("catalog",), ("catalog", "compile"), ("help",)], ids=" ".join)
def test_help_by_words(call: Call, words: tuple[str, ...]) -> None:
    assert call("help", *words) == call(*words, "--help")


def test_help_of_what_there_is_not(call: Call) -> None:
    code, _, err = call("help", "catalog", "compil")
    assert (code, "there is no command 'commodore catalog compil'" in err) == (2, True)
    assert "did you mean 'compile'?" in err


def test_the_form_of_results_has_one_name() -> None:
    for known in KNOWN:
        for option in known.command.params:
            if "-o" in option.opts and isinstance(option.type, click.Choice):
                assert isinstance(option, HelpedOption)
                assert option.shown_flags == ["-o", "--output-format"], known.words


@pytest.mark.parametrize(
    ("words", "old"),
    [
        (["version"], "--out"),
        (["tool", "list", "-V"], "--out"),
        (["explain", "CMD-DEP-001"], "--output"),
        (["catalog", "list"], "--out"),
        (["fleet", "status"], "--output"),
        (["inventory", "lint", "."], "--format"),
    ],
)
def test_old_names_are_taken_and_not_shown(call: Call, words: list[str], old: str) -> None:
    """Anything that follows is the same, whatever it is."""
    assert call(*words, old, "json") == call(*words, "--output-format", "json")
    command = [word for word in words if word.isalpha()]
    shown = call(*command, "--help")[1]
    assert "-o, --output-format" in shown
    assert not re.search(rf"{old}[ ,]", shown.replace("--output FILE", ""))


def test_old_names_are_not_completed() -> None:
    context = click.Context(commodore, help_option_names=["-h", "--help"])
    command = commodore.get_command(context, "version")
    assert command is not None
    inner = click.Context(command, context, info_name="version")
    assert [item.value for item in command.shell_complete(inner, "--out")] == ["--output-format"]


def test_options_of_the_program_are_in_no_command() -> None:
    """A hint says where they belong; `-d` and the time-outs of other commands are others."""
    flags = {setting.flags[-1] for setting in GLOBAL}
    taken = {
        known.words: {name for parameter in known.command.params for name in parameter.opts}
        for known in KNOWN
        if known.words
    }
    own = [words for words, names in taken.items() if names & flags]
    assert {words[0] for words in own} <= {"observe"}
