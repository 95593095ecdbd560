"""`commodore argocd diff`: what a change of a repository changes in what Argo CD deploys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import PolicyError
from commodore.cli.argocd.analysis import DIFFERENT, EQUAL, FAILED, Analysis, compared_by, document, write_file
from commodore.cli.argocd.settings import ARGOCD_DIFF
from commodore.cli.shell.console import Console
from commodore.cli.shell.options import options
from commodore.cli.shell.review import ARGOCD_TITLE, check_flags, dangers, markdown, show_review

if TYPE_CHECKING:
    from commodore.argocd import Diagnostic
    from commodore.argocd.comparing import Difference, Side

_STATES = ("added", "removed", "changed", "renamed", "unchanged", "unknown", "not-rendered")
_FILES = ("markdown", "html", "json", "sarif")


@click.command("diff")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_DIFF)
@click.pass_context
def diff(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Show what differs between two trees in what Argo CD would deploy.

    The target is the working tree of --path, or the revision --ref of its repository; the base is --base, a
    revision, or --base-path, a folder; without them it is where the target left the default branch of origin. APP is
    NAME or NAMESPACE/NAME, or a pattern of these.

    Only Applications are rendered that read a file that has changed. Secrets are masked. Ends with exit code 0 if
    nothing differs, 1 if something does, 2 if anything failed.
    """
    analysis = Analysis.of(ctx, values)
    console = analysis.console
    check_flags(values["fail_on"])
    with analysis.question() as asked:
        base, target = asked.sides(*compared_by(values))
        console.status(f"Comparing {target.shown} with {base.shown}.")
        difference = asked.compare((base, target), apps)
        found = asked.told()
    _show(difference, (base, target), values, console, found)
    code = analysis.finish(found)
    if values["strict"] and difference.count("unknown"):
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
    if code == EQUAL and difference.review.groups and not values["no_exit_code"]:
        return DIFFERENT
    return code


def _show(
    found: Difference,
    sides: tuple[Side, Side],
    values: Mapping[str, Any],
    console: Console,
    diagnostics: Sequence[Diagnostic],
) -> None:
    files = [(form, values[form]) for form in _FILES if values[form] is not None]
    for form, file in files:
        write_file(file, _report(found, sides, form, values, diagnostics))
        console.status(f"The report is in {file}.")
    if values["out"] == "text":
        show_review(found.review, console, full=values["full"], command="commodore argocd diff")
        console.status(_counts(found))
    elif values["out"] == "stat":
        from commodore.core.review.object_diff import summary

        console.result(summary(found.review))
    else:
        console.result(_report(found, sides, values["out"], values, diagnostics), newline=False)


def _counts(found: Difference) -> str:
    counts = Counter[str](one.state for one in found.applications)
    said = [f"{counts[state]} {state.replace('-', ' ')}" for state in _STATES if counts[state]]
    return f"Applications: {', '.join(said) or 'none'}."


def _report(
    found: Difference,
    sides: tuple[Side, Side],
    form: str,
    values: Mapping[str, Any],
    diagnostics: Sequence[Diagnostic],
) -> str:
    from commodore.argocd.comparing.document import difference_data
    from commodore.argocd.sarif import as_sarif
    from commodore.base.yaml import dump
    from commodore.core.review.object_diff import html_report

    if form == "markdown":
        return markdown(found.review, values, title=ARGOCD_TITLE, whole="commodore argocd diff")
    if form == "html":
        return f"{html_report(found.review, title=ARGOCD_TITLE)}\n"
    base, target = sides
    if form == "sarif":
        return f"{as_sarif(diagnostics, target.root, found)}\n"
    parts = {"sides": {"base": base.as_dict(), "target": target.as_dict()}, **difference_data(found)}
    data = document("diff", diagnostics, **parts)
    data["partial"] = data["partial"] or found.count("unknown") > 0
    return dump(data) if form == "yaml" else f"{json.dumps(data, indent=2)}\n"
