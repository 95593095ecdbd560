"""`commodore argocd normalize`: objects without what does not count in comparisons."""

from __future__ import annotations

import json
from typing import Any

import click

from commodore.base.errors import UsageError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.argocd.analysis import document, show_diagnostics
from commodore.cli.argocd.settings import ARGOCD_NORMALIZE
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options


@click.command("normalize")
@options(*ARGOCD_NORMALIZE)
@click.pass_context
def normalize(ctx: click.Context, /, **values: Any) -> int:
    """Show objects as they are compared: without what the rules of an Application and of the settings ignore.

    The rules are ignoreDifferences of the Application, resource.customizations and resource.compareoptions of the
    settings. Fields that knownTypeFields lists are written in the form of their type. Amounts in Kubernetes' own kinds
    stay as they are, as in Argo CD; diff compares them by value.
    """
    from commodore.argocd.configuration import read_file, read_settings
    from commodore.argocd.diagnostics import STRICT
    from commodore.argocd.normalising import Normaliser
    from commodore.argocd.normalising.normalise import read_objects
    from commodore.argocd.running import read_applications
    from commodore.base.diagnostics import Diagnostics
    from commodore.base.yaml.kube_yaml import write_documents

    console = console_of(ctx)
    found = Diagnostics(STRICT if values["strict"] else ())
    settings = read_settings(values["argocd_settings"], DEFAULT_LIMITS, found)
    applications = read_applications(values["app"], DEFAULT_LIMITS, found)
    if len(applications) != 1 or values["objects"] is None:
        raise UsageError(
            "CMD-ARGO-021",
            "one Application and a file with objects are needed",
            hint="name them by --app and --objects",
        )
    objects = read_objects(read_file(values["objects"], DEFAULT_LIMITS), str(values["objects"]))
    with Normaliser(applications[0], settings, found) as normaliser:
        result = [normaliser.normalise(one) for one in objects]
    told = found.found()
    if values["out"] == "json":
        data = document("normalize", told, objects=result)
        console.data(json.dumps(data, indent=2))
    elif result:
        console.data(write_documents(result), newline=False)
    return show_diagnostics(told, values["diagnostics"], console)
