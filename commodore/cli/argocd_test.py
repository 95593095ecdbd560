"""`commodore argocd test`: whether Applications render, and whether their projects allow what they want."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import click

from commodore.cli._argocd import FAILED, context_of, document, named_by, show_diagnostics
from commodore.cli._options import options
from commodore.cli.console import Console, console_of
from commodore.printable import printable
from commodore.settings.argocd import ARGOCD_TEST

if TYPE_CHECKING:
    from commodore.argocd import Diagnostic
    from commodore.argocd.checking import Outcome


@click.command("test")
@click.argument("apps", nargs=-1, metavar="[APP]...")
@options(*ARGOCD_TEST)
@click.pass_context
def test(ctx: click.Context, /, apps: tuple[str, ...], **values: Any) -> int:
    """Render Applications, and check what their AppProjects allow.

    Each Application is PASS, FAIL or SKIPPED; the latter two make exit code 2. Applications are chosen as for `render`.
    AppProjects are those in the files of --path and of --argocd-settings; without any, nothing but rendering is tested.
    """
    from commodore.argocd.acquiring import RepoMap, parse_repo_map
    from commodore.argocd.checking import Tester
    from commodore.argocd.diagnostics import Diagnostics
    from commodore.argocd.discovery import select
    from commodore.argocd.rendering import Capabilities
    from commodore.argocd.running import list_applications, open_run

    console = console_of(ctx)
    context = context_of(console, offline=values["offline"], reuse=not values["no_reuse"])
    found = Diagnostics()
    repo_map = RepoMap(parse_repo_map(values["repo_map"]))
    capabilities = Capabilities(values["kube_version"] or "", values["api_version"])
    listing = list_applications(named_by(values, context), context, found, repo_map, capabilities)
    settings = listing.settings
    wanted = select(listing.applications, apps, controller=settings.namespace, project=values["project"] or "")
    listing.tell_failures(found, but=wanted)
    with open_run(settings, repo_map, capabilities, context, found, listing.own) as run:
        tester = Tester(settings, run.renderer, values["cluster_scoped"], found)
        outcomes = list(tester.run(wanted, values["jobs"]))
    _show(outcomes, values["out"], console, found.found(strict=values["strict"]))
    code = show_diagnostics(found, values, console)
    return max(code, FAILED if any(one.status != "PASS" for one in outcomes) else code)


def _show(outcomes: Sequence[Outcome], form: str, console: Console, found: Sequence[Diagnostic]) -> None:
    if form == "json":
        rows = [
            {
                "application": one.name,
                "status": one.status,
                "objects": one.objects,
                "problems": [problem.as_dict() for problem in one.problems],
            }
            for one in outcomes
        ]
        console.result(json.dumps(document("test", found, applications=rows), indent=2))
    elif form == "junit":
        console.result(_junit(outcomes))
    elif not outcomes:
        console.result("no Applications")
    else:
        for one in outcomes:
            objects = "1 object" if one.objects == 1 else f"{one.objects} objects"
            why = "; ".join(f"{problem.code}: {problem.message}" for problem in one.problems)
            console.result(printable(f"{one.status} {one.name} {why or objects}"))
        counts = ((sum(one.status == status for one in outcomes), status) for status in ("PASS", "FAIL", "SKIPPED"))
        console.result(", ".join(f"{count} {status}" for count, status in counts))


def _junit(outcomes: Sequence[Outcome]) -> str:
    failed, skipped = (sum(one.status == status for one in outcomes) for status in ("FAIL", "SKIPPED"))
    suite = ElementTree.Element(
        "testsuite", name="commodore argocd test", tests=str(len(outcomes)), failures=str(failed), skipped=str(skipped)
    )
    for one in outcomes:
        case = ElementTree.SubElement(suite, "testcase", name=printable(one.name), classname="argocd")
        if one.status != "PASS":
            text = "\n".join(printable(f"{problem.code}: {problem.message}") for problem in one.problems)
            kind = "failure" if one.status == "FAIL" else "skipped"
            ElementTree.SubElement(case, kind, message=text.partition("\n")[0]).text = text
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=False)
