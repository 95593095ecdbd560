"""Every option that users know is there: names, short flags, variables, defaults."""

from __future__ import annotations

from typing import Any

import click
import pytest

from commodore.cli.shell.config_file import long_names
from commodore.cli.shell.help_text import HelpedOption
from tests.cli.conftest import commands

API = [
    ("api_url", ["--api-url"], "COMMODORE_API_URL", None),
    ("api_token", ["--api-token"], "COMMODORE_API_TOKEN", None),
    ("oidc_discovery_url", ["--oidc-discovery-url"], "COMMODORE_OIDC_DISCOVERY_URL", None),
    ("oidc_client", ["--oidc-client"], "COMMODORE_OIDC_CLIENT", None),
]

INVENTORY: list[tuple[str, list[str], str | None, Any]] = [
    ("verbose", ["--verbose", "-v"], None, 0),
    ("values", ["--values", "-f"], None, ()),
    ("allow_missing_classes", ["--allow-missing-classes", "--no-allow-missing-classes", "-A"], None, True),
]

TABLE: dict[str, list[tuple[str, list[str], str | None, Any]]] = {
    "": [
        ("verbose", ["--verbose", "-v"], None, 0),
        ("working_dir", ["--working-dir", "-d"], "COMMODORE_WORKING_DIR", "."),
        ("request_timeout", ["--request-timeout"], "COMMODORE_REQUEST_TIMEOUT", 5),
    ],
    "catalog clean": [("verbose", ["--verbose", "-v"], None, 0)],
    "catalog compile": [
        *API,
        ("verbose", ["--verbose", "-v"], None, 0),
        ("local", ["--local"], None, False),
        ("push", ["--push"], None, False),
        ("interactive", ["--interactive", "-i"], None, False),
        ("git_author_name", ["--git-author-name"], "GIT_AUTHOR_NAME", None),
        ("git_author_email", ["--git-author-email"], "GIT_AUTHOR_EMAIL", None),
        (
            "global_repo_revision_override",
            ["--global-repo-revision-override", "-g"],
            "GLOBAL_REPO_REVISION_OVERRIDE",
            None,
        ),
        (
            "tenant_repo_revision_override",
            ["--tenant-repo-revision-override", "-t"],
            "TENANT_REPO_REVISION_OVERRIDE",
            None,
        ),
        ("fetch_dependencies", ["--fetch-dependencies", "--no-fetch-dependencies", "-F"], None, True),
        ("migration", ["--migration", "-m"], None, None),
        ("dynamic_fact", ["--dynamic-fact", "-d"], None, ()),
        ("force", ["--force", "--no-force"], None, False),
        ("processes", ["--processes"], None, 0),
    ],
    "catalog list": [
        *API,
        ("verbose", ["--verbose", "-v"], None, 0),
        ("out", ["--out", "--output-format", "-o"], None, "table"),
        ("tenant", ["--tenant", "-t"], None, None),
        ("sort_by", ["--sort-by"], None, None),
    ],
    "component compile": [
        ("verbose", ["--verbose", "-v"], None, 0),
        ("values", ["--values", "-f"], None, ()),
        ("alias", ["--alias", "-a"], None, None),
        ("search_paths", ["--search-paths", "-J"], None, ()),
        ("output", ["--output", "-o"], None, "./"),
        ("repo_directory", ["--repo-directory", "-r"], None, None),
        ("name", ["--name", "-n"], None, None),
    ],
    "inventory show": [
        *INVENTORY,
        ("output_format", ["--output-format", "-o"], None, None),
    ],  # yaml, or text for a diff
    "inventory components": [*INVENTORY, ("output_format", ["--output-format", "-o"], None, "yaml")],
    "inventory packages": [*INVENTORY, ("output_format", ["--output-format", "-o"], None, "yaml")],
}

KNOWN = {" ".join(known.words): known.command for known in commands()}


@pytest.mark.parametrize("command", TABLE)
def test_options(command: str) -> None:
    options = {parameter.name: parameter for parameter in KNOWN[command].params}
    for name, flags, variable, default in TABLE[command]:
        option = options[name]
        assert isinstance(option, click.Option)
        assert sorted([*option.opts, *option.secondary_opts]) == sorted(flags), name
        assert list(option.envvar or []) == ([variable] if variable else []), name
        context = click.Context(KNOWN[command], help_option_names=["-h", "--help"])  # click keeps the option it makes
        assert option.process_value(context, option.get_default(context)) in (default, type_of(option, default)), name


def type_of(option: click.Option, default: Any) -> Any:
    return None if default is None else option.type_cast_value(click.Context(click.Command("x")), default)


def test_which_side_the_short_flag_of_fetching_is_on() -> None:
    """`-F` means the negative."""
    parser = KNOWN["catalog compile"].make_context("compile", ["c-one", "-F"], help_option_names=["-h", "--help"])
    assert parser.params["fetch_dependencies"] is False


@pytest.mark.parametrize("command", [name for name in KNOWN if name])
def test_every_command_is_described(command: str) -> None:
    """Every option has a help text, and every command takes -v."""
    for parameter in KNOWN[command].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help.endswith("."), parameter.name
    if not command.startswith("version"):
        assert "verbose" in {parameter.name for parameter in KNOWN[command].params}


def test_there_are_not_more_options_than_one_can_learn() -> None:
    """Counted once for all commands, by the first long name; those of files alone do not count (ADR 0036)."""
    options = {
        long_names(option)[0]
        for known in commands()
        for option in known.command.params
        if isinstance(option, HelpedOption) and not option.in_files
    }
    assert len(options) <= 263
