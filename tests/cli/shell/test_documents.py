"""Each command that prints JSON or YAML for programs prints a document with a published schema."""

from __future__ import annotations

import click

from commodore.cli.shell.documents import DOCUMENTS
from tests.cli.conftest import commands

OTHERS = {  # commands that print the document of another command
    "fleet compile": "fleet-report",
    "hydrate commit": "hydrate-run",
    "inventory show": "inventory-show-diff",
    "observe once": "observe-plan",
}
EXCEPTIONS = {
    "": "the log",
    "catalog list": "prints what the published tool prints",
    "fleet applicationset": "an object of Kubernetes",
    "fleet preview": "objects of Kubernetes",
    "inventory components": "prints what the published tool prints",
    "inventory packages": "prints what the published tool prints",
    "observe run": "the log",
}


def test_each_command_with_json_prints_a_listed_document() -> None:
    without = set()
    for known in commands():
        choices = [
            choice
            for option in known.command.params
            if isinstance(option.type, click.Choice)
            for choice in option.type.choices
        ]
        name = OTHERS.get(" ".join(known.words), "-".join(known.words))
        if {"json", "yaml"} & set(choices) and name not in DOCUMENTS:
            without.add(" ".join(known.words))
    assert without == EXCEPTIONS.keys()
