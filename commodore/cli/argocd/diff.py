"""`commodore argocd diff`: the effect of a change of a repository on what Argo CD deploys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from commodore.base.documents import document, document_text
from commodore.base.errors import PolicyError
from commodore.cli.argocd.analysis import DIFFERENT, EQUAL, FAILED, Analysis, compared_by, write_file
from commodore.cli.argocd.settings import ARGOCD_DIFF
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options
from commodore.cli.shell.review import ARGOCD_TITLE, check_flags, dangers, markdown, show_review

if TYPE_CHECKING:
    from commodore.argocd import Difference

_STATES = ("added", "removed", "changed", "renamed", "unchanged", "unknown", "not-rendered")


@click.command("diff")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_DIFF)
@click.pass_context
def diff(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Show what differs between two trees in what Argo CD would deploy.

    The target is the working tree of --path, or the revision --ref of its repository; the base is --base, a
    revision, or --base-path, a folder; without them it is where the target left the default branch of origin. APP is
    NAME or NAMESPACE/NAME, or a pattern of these.

    Only Applications that read a changed file are rendered. Secrets are masked. Ends with exit code 0 if
    nothing differs, 1 if something does, 2 if anything failed.
    """
    from commodore import argocd

    base, between, target = (values["argocd_version"] or "").partition("..")
    if base and between:
        values |= {"base_argocd_version": base, "argocd_version": target or None}
    analysis = Analysis.of(ctx, values)
    console = analysis.console
    check_flags(values["fail_on"])
    with analysis.working():
        difference = argocd.diff(*compared_by(values), analysis.options, apps)
    console.status(f"Compared {difference.target} with {difference.base}.")
    _show(difference, values, console)
    code = analysis.finish(difference.diagnostics)
    if values["strict"] and any(application.state == "unknown" for application in difference.applications):
        code = FAILED
    if names := dangers(difference.review, values["fail_on"]):
        console.error(
            PolicyError(
                "CMD-ARGO-711",
                f"the change has dangers that --fail-on names: {', '.join(names)}",
                hint="see the report for the objects",
            )
        )
        code = FAILED
    if code == EQUAL and difference.changed and not values["no_exit_code"]:
        return DIFFERENT
    return code


def _show(difference: Difference, values: Mapping[str, Any], console: Console) -> None:
    for form, file in values["report"]:
        write_file(file, _report(difference, form, values))
        console.status(f"The report is in {file}.")
    if values["out"] == "text":
        show_review(difference.review, console, full=values["full"], command="commodore argocd diff")
        console.status(_counts(difference))
    elif values["out"] == "stat":
        from commodore.core.review import summary

        console.result(summary(difference.review))
    else:
        console.result(_report(difference, values["out"], values), newline=False)


def _counts(difference: Difference) -> str:
    counts = Counter[str](application.state for application in difference.applications)
    said = [f"{counts[state]} {state.replace('-', ' ')}" for state in _STATES if counts[state]]
    return f"Applications: {', '.join(said) or 'none'}."


def _report(difference: Difference, form: str, values: Mapping[str, Any]) -> str:
    from commodore.base.yaml import dump

    if form == "markdown":
        return markdown(difference.review, values, title=ARGOCD_TITLE, whole="commodore argocd diff")
    if form == "html":
        return f"{difference.html()}\n"
    if form == "sarif":
        return f"{difference.sarif()}\n"
    if form == "yaml":
        return dump(document("argocd-diff", difference))
    return f"{document_text('argocd-diff', difference)}\n"
