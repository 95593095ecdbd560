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
    "argocd apps": "has the envelope commodore.argocd/apps/v1",
    "argocd appsets": "has the envelope commodore.argocd/appsets/v1",
    "argocd diagnostics": "has the envelope commodore.argocd/diagnostics/v1",
    "argocd diff": "has the envelope commodore.argocd/diff/v1 and a schema of its own",
    "argocd explain": "has the envelope commodore.argocd/explain/v1",
    "argocd images": "has the envelope commodore.argocd/images/v1",
    "argocd normalize": "has the envelope commodore.argocd/normalize/v1; YAML is a stream of objects",
    "argocd render": "has the envelope commodore.argocd/render/v1; YAML is a stream of objects",
    "argocd settings": "has the envelope commodore.argocd/settings/v1",
    "argocd test": "has the envelope commodore.argocd/test/v1",
    "argocd version": "has the envelope commodore.argocd/version/v1",
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
