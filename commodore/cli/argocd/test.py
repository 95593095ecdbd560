"""`commodore argocd test`: render Applications and check them against their projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from commodore.base.printable import printable
from commodore.base.xml_report import Case, junit
from commodore.cli.argocd.analysis import FAILED, Analysis
from commodore.cli.argocd.settings import ARGOCD_TEST
from commodore.cli.shell.console import Console
from commodore.cli.shell.diagnostics import diagnostic_lines
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.argocd import Outcome, Report


@click.command("test")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_TEST)
@click.pass_context
def test(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Render Applications, check them against their AppProjects, and run the health scripts of the settings.

    Each Application is PASS, FAIL or SKIPPED; the latter two make exit code 2. An ApplicationSet that cannot be
    expanded, or an Application or file that cannot be read, is UNKNOWN, which does so unless --allow-unknown is given.
    Applications are chosen as for `render`.

    AppProjects are those in the files of --path and of --installation; without any, projects are not checked.

    --schema compares objects with the schemas of Kubernetes and of CustomResourceDefinitions among them, which needs
    the extra `validate`; --twice renders everything again, and names what differs. Scripts need the extra `argocd`.
    """
    from commodore import argocd

    analysis = Analysis.of(ctx, values)
    with analysis.working():
        report = argocd.test(analysis.tree, analysis.options, apps)
    _show(report, values["out"], analysis.console)
    shown = (
        [problem for application in report.applications for problem in application.problems]
        if values["out"] == "text"
        else []
    )
    code = analysis.finish(report.diagnostics, exclude=shown)
    accepted = ("PASS", "UNKNOWN") if values["allow_unknown"] else ("PASS",)
    return max(code, FAILED if any(application.status not in accepted for application in report.applications) else code)


def _show(report: Report, form: str, console: Console) -> None:
    outcomes = report.applications
    if form == "json":
        console.document("argocd-test", report)
    elif form == "junit":
        console.data(_junit(outcomes), newline=False)
    elif not outcomes:
        console.result("no Applications")
    else:
        for outcome in outcomes:
            objects = "1 object" if outcome.objects == 1 else f"{outcome.objects} objects"
            why = "; ".join(f"{problem.code}: {problem.message}" for problem in outcome.problems)
            console.result(printable(f"{outcome.status} {outcome.application} {why or objects}"))
            for problem in outcome.problems:
                for line in [*diagnostic_lines(problem)][1:]:
                    console.result(f"  {line}")
        counts = Counter[str](outcome.status for outcome in outcomes)
        statuses = ("PASS", "FAIL", "SKIPPED", *(["UNKNOWN"] if counts["UNKNOWN"] else []))
        console.result(", ".join(f"{counts[status]} {status}" for status in statuses))


def _junit(outcomes: Sequence[Outcome]) -> str:
    suite = {"name": "commodore argocd test", "tests": "", "failures": "", "skipped": ""}
    return junit(suite, list(map(_case, outcomes)))


def _case(tested: Outcome) -> Case:
    attributes = {"name": tested.application, "classname": "argocd"}
    if tested.status == "PASS":
        return Case(attributes)
    text = "\n".join(f"{problem.code}: {problem.message}" for problem in tested.problems)
    outcome: Literal["skipped", "failure"] = "skipped" if tested.status == "SKIPPED" else "failure"
    return Case(attributes, outcome, text.partition("\n")[0], text=text)
