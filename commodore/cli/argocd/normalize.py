"""`commodore argocd normalize`: objects without ignored fields."""

from __future__ import annotations

from typing import Any

import click

from commodore.cli.argocd.analysis import options_by, show_diagnostics
from commodore.cli.argocd.settings import ARGOCD_NORMALIZE
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options


@click.command("normalize")
@options(*ARGOCD_NORMALIZE)
@click.pass_context
def normalize(ctx: click.Context, /, **values: Any) -> int:
    """Show objects as they are compared: without the fields that rules of an Application and of the settings ignore.

    The rules are ignoreDifferences of the Application, resource.customizations and resource.compareoptions of the
    settings. Fields that knownTypeFields lists are written in the form of their type. Amounts in Kubernetes' own kinds
    stay as they are, as in Argo CD; diff compares them by value.
    """
    from commodore import argocd
    from commodore.base.yaml.kube_yaml import write_documents

    console = console_of(ctx)
    made = argocd.normalize(values["objects"], options_by({**values, "offline": True}, console))
    if values["out"] == "json":
        console.document("argocd-normalize", made)
    elif made.objects:
        console.data(write_documents(made.objects), newline=False)
    return show_diagnostics(made.diagnostics, values["diagnostics"], console)
