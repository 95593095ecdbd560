"""Variables of the environment that set options, and the ones that set none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from commodore.cli.main import CONTEXT, commodore
from commodore.cli.shell.help_text import HelpedOption
from commodore.cli.shell.variables import variables_of
from tests.cli.conftest import Known, commands
from tests.cli.hydrated_place import Place
from tests.world.repos import git

COMMANDS = commands()


def context_of(known: Known) -> click.Context:
    """The context of a command below those of its groups."""
    context = click.Context(commodore, info_name="commodore", **CONTEXT)  # type: ignore[arg-type]
    for word in known.words:
        assert isinstance(context.command, click.Group)
        command = context.command.get_command(context, word)
        assert command is not None
        context = click.Context(command, info_name=word, parent=context)
    return context


def test_a_variable_sets_one_option() -> None:
    """Names of variables are made of words with `_` between them: two options could get the same."""
    owners: dict[str, set[str]] = {}
    for known in COMMANDS:
        context = context_of(known)
        for option in known.command.params:
            if isinstance(option, HelpedOption):
                for name in variables_of(option, context):
                    owners.setdefault(name, set()).add(option.name or "")
    assert {name: options for name, options in owners.items() if len(options) > 1} == {}


@pytest.mark.parametrize("known", COMMANDS, ids=lambda known: " ".join(known.words))
def test_help_has_the_variable_of_each_option(known: Known) -> None:
    context = context_of(known)
    text = "".join(known.command.full_help(context).split())  # long names are broken
    for option in known.command.params:
        if isinstance(option, HelpedOption) and not option.hidden:
            assert any(name in text for name in variables_of(option, context)), option.name


@pytest.mark.requirement("H53")
@pytest.mark.parametrize(
    ("variable", "code", "words"),
    [
        ("COMMODORE_HYDRATE_DRY_RUN", 0, "would be committed"),
        ("COMMODORE_HYDRATE_RUN_DRY_RUN", 0, "would be committed"),
        ("COMMODORE_HYDRATE_DRYRUN", 2, "did you mean COMMODORE_HYDRATE_DRY_RUN?"),
        ("COMMODORE_HYDRATE_RUN_DRYRUN", 2, "did you mean COMMODORE_HYDRATE_RUN_DRY_RUN?"),
        ("COMMODORE_DRY_RUN", 2, "did you mean COMMODORE_HYDRATE_DRY_RUN?"),
        ("COMMODORE_DRYRUN", 2, "did you mean COMMODORE_HYDRATE_DRY_RUN?"),
        ("COMMODORE_HYDRATE_COLOUR", 2, "COMMODORE_HYDRATE_COLOUR"),
    ],
)
def test_a_variable_for_a_dry_run_never_pushes(
    place: Place, monkeypatch: pytest.MonkeyPatch, variable: str, code: int, words: str
) -> None:
    monkeypatch.setenv(variable, "1")
    before = git(place.remote.path, "show-ref")
    done, out, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder))
    assert (done, words in out + err) == (code, True)
    assert git(place.remote.path, "show-ref") == before


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("COMMODORE_HYDRATE_DRYRUN", "did you mean COMMODORE_HYDRATE_DRY_RUN?"),
        ("COMMODORE_API_TOKN", "did you mean COMMODORE_API_TOKEN?"),
        ("COMMODORE_CATALOG_COMPILE_PUHS", "did you mean COMMODORE_CATALOG_COMPILE_PUSH?"),
        ("COMMODORE_XYZZY", "the help of a command has the variables of its options"),
    ],
)
def test_a_variable_without_option_is_named(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, variable: str, hint: str
) -> None:
    monkeypatch.setenv(variable, "1")
    code, _, err = call("explain", "CMD-CLI-009")
    assert (code, err.split("\n")[:2]) == (
        0,
        [f"warning: the variable {variable} sets no option [CMD-CLI-009]", f"  hint: {hint}"],
    )


@pytest.mark.parametrize(
    "variable",
    [
        "COMMODORE_CATALOG_COMPILE_PUSH",
        "COMMODORE_CATALOG_PUSH",
        "COMMODORE_API_TOKEN",
        "COMMODORE_OBSERVE_SERVICE_HOST",
        "COMMODORE_OBSERVE_SERVICE_PORT_HTTP_METRICS",
        "COMMODORE_OBSERVE_PORT_8080_TCP_ADDR",
    ],
)
def test_variables_of_other_commands_and_of_services(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    assert call("explain", "CMD-CLI-009")[::2] == (0, "")


def test_the_version_is_not_a_variable(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """CI jobs pin a version by such a variable; the program must not print its own and end well."""
    monkeypatch.setenv("COMMODORE_VERSION", "1")
    assert call("-d", str(tmp_path), "hydrate", "run", str(tmp_path))[0] == 1
