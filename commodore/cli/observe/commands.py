"""`commodore observe`: report deployments from git to Kargo."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import CommodoreError, Findings, UsageError
from commodore.base.events import Warned
from commodore.base.printable import cells, printable, shortened
from commodore.cli.observe.settings import OBSERVE_MANIFESTS, OBSERVE_PLAN
from commodore.cli.shell.console import Console, console_of
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.observe import Decision, GivenObjects, StageWorld

_NAME, _MESSAGE = 300, 2000  # letters of others that a table shows: Kubernetes allows 253 for a name
_IMAGE = re.compile(r"[a-z0-9][\w./:-]*(:[\w.-]+|@sha256:[0-9a-f]{64})", re.ASCII)
_COLOURS = {"none": None, "wait": "yellow", "blocked": "red", "promote": "green"}


@click.group(
    cls=LazyGroup,
    lazy={
        "manifests": LazyCommand(
            "commodore.cli.observe.commands:observe_manifests", "Print the manifests of the controller."
        ),
        "once": LazyCommand("commodore.cli.observe.cluster:observe_once", "Look at all Stages of a cluster once."),
        "plan": LazyCommand(
            "commodore.cli.observe.commands:observe_plan", "Show promotions, and the reasons for none."
        ),
        "run": LazyCommand("commodore.cli.observe.cluster:observe_run", "Follow a cluster: the controller."),
    },
)
@options()
def observe() -> None:
    """Report deployments from git to Kargo.

    Finds images that Argo CD runs and a Stage of Kargo does not know of, and the Freight that has them. Promoting that
    Freight brings Kargo's books up to date; in git it changes nothing.
    """


@click.command("plan")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@options(*OBSERVE_PLAN)
@click.pass_context
def observe_plan(ctx: click.Context, /, files: tuple[Path, ...], **values: Any) -> int:
    """Show for each Stage the promotion, or the reason for none.

    FILES are files or folders with Applications, Stages, Freights, Warehouses and Promotions, as `kubectl get -A -o
    yaml` writes them; `-` is standard input. Without FILES the objects of a cluster are read. Nothing is written to a
    cluster. Ends with exit code 1 if an object in the files cannot be read or is there twice, or if the server refuses
    a Promotion of `--server-dry-run`.

    With --images-from rendered, what counts as deployed is what a git repository renders, whatever Pods run.
    """
    from commodore.cli.observe import options as given
    from commodore.cli.observe.rendered import checked_source, rendered_images
    from commodore.observe import plan_stage, with_rendered_images

    console = console_of(ctx)
    plan_options = given.plan_options(values)
    checked_source(values)
    now = _time(values["at"])
    worlds, findings = _worlds(console, files, values)
    if values["images_from"] == "rendered":
        requested = {str(application.application.meta) for world in worlds for application in world.applications}
        worlds = with_rendered_images(worlds, rendered_images(console, requested, values))
    decisions = [plan_stage(world, plan_options, now) for world in worlds]
    show_decisions(console, decisions, values)
    if values["folder"] is not None:
        _emit(values["folder"], decisions)
    refused = values["server_dry_run"] and not _try_out(console, decisions, values)
    if findings:
        console.error(Findings(findings))
    due = values["check"] and any(decision.kind in ("promote", "blocked") for decision in decisions)
    return int(bool(findings) or due or refused)


def _worlds(
    console: Console, files: Sequence[Path], values: dict[str, Any]
) -> tuple[list[StageWorld], Sequence[CommodoreError]]:
    """Return the state of each Stage from files, or else a cluster, and the problems of the files."""
    from commodore.cli.observe import options as given
    from commodore.observe import build_worlds, read_objects

    scope = given.scope(values)
    holds = given.holds(values)
    if files:
        objects = read_objects(_sources(files))
        worlds = build_worlds(objects.objects, scope, holds=holds, unreadable=objects.unreadable)
        _warn(console, objects, worlds)
        return worlds, objects.findings
    import asyncio

    from commodore.observe import cluster_worlds

    return asyncio.run(cluster_worlds(given.clusters(values), scope, holds)), ()


def _try_out(console: Console, decisions: Sequence[Decision], values: dict[str, Any]) -> bool:
    """Show the cluster's answers to the Promotions; returns False if it refuses one."""
    import asyncio

    from commodore.cli.observe import options as given
    from commodore.observe import try_out

    clusters = given.clusters(values)
    answers = asyncio.run(try_out(clusters, decisions, clusters.kargo.timeout))
    for stage, answer in answers.items():
        console.status(f"{stage}: the server's answer: {printable(answer) or 'accepted'}")
    return not any(answers.values())


def _sources(files: Sequence[Path]) -> list[Any]:
    from commodore.base.limits import DEFAULT_LIMITS
    from commodore.observe import ObjectText, read_files

    sources: list[Any] = read_files([file for file in files if str(file) != "-"], DEFAULT_LIMITS)
    if any(str(file) == "-" for file in files):
        sources.append(ObjectText("standard input", sys.stdin.buffer.read()))
    return sources


def _time(text: str | None) -> datetime:
    """The time to decide for.

    Raises:
        UsageError: CMD-OBS-030, the text is not a time.
    """
    from commodore.observe import read_time

    if text is None:
        return datetime.now(UTC)
    time = read_time(text)
    if time is None or time.year < 1970:
        raise UsageError(
            "CMD-OBS-030", f"the value '{text}' of --at cannot be read", hint="give a time like 2026-01-02T03:04:05Z"
        )
    return time


def _warn(console: Console, objects: GivenObjects, worlds: Sequence[StageWorld]) -> None:
    """Print the problems of the annotations of Applications."""
    from commodore.observe import Application, annotation_problems

    for application in (item for item in objects.objects if isinstance(item, Application)):
        for problem in annotation_problems(application):
            console.announce(Warned("CMD-OBS-004", f"{problem.reason}: {problem.message}", problem.hint))
    if not worlds:
        hint = "annotate Applications with kargo.akuity.io/authorized-stage: namespace:stage, or look at more of them"
        console.announce(Warned("CMD-OBS-006", "no Application names a selected Stage", hint))


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions about Stages."""

    decisions: Sequence[Decision]


def show_decisions(console: Console, decisions: Sequence[Decision], values: dict[str, Any]) -> None:
    """Write decisions in the requested format."""
    if values.get("explain"):
        decisions = _asked_for(decisions, values["explain"])
    if values["output_format"] in ("json", "yaml"):
        console.document("observe-plan", Decisions(decisions), form=values["output_format"])
    elif values.get("explain"):
        from commodore.observe import explain

        for decision in decisions:
            for line in explain(decision):
                console.result(shortened(printable(line), _MESSAGE))
    else:
        for line in _table(decisions):
            console.result(line)


def _asked_for(decisions: Sequence[Decision], requested: str) -> list[Decision]:
    """The decisions about one Stage, named with or without its namespace.

    Raises:
        UsageError: CMD-OBS-030, no Application names such a Stage.
    """
    results = [decision for decision in decisions if requested in (str(decision.stage), decision.stage.name)]
    if not results:
        known = ", ".join(str(decision.stage) for decision in decisions[:10]) or "none"
        raise UsageError("CMD-OBS-030", f"no Application names the Stage '{requested}'", hint=f"known are: {known}")
    return results


def _table(decisions: Sequence[Decision]) -> Iterator[str]:
    """Yield lines for people: one for each decision, with details if a user must act."""
    from commodore.observe import HEADINGS, decision_rows

    texts = (tuple(shortened(printable(text), _NAME) for text in row) for row in decision_rows(decisions))
    rows = [HEADINGS, *texts]
    widths = [max(cells(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for number, row in enumerate(rows):
        line = "  ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        if number == 0:
            yield click.style(line, bold=True)
            continue
        decision = decisions[number - 1]
        yield click.style(line, fg=_COLOURS[decision.kind]) if _COLOURS[decision.kind] else line
        if decision.kind != "none":
            yield f"    {shortened(printable(decision.message), _MESSAGE)}"


def _emit(folder: Path, decisions: Sequence[Decision]) -> None:
    """Write the Promotions that would be made.

    Raises:
        EnvironmentFault: CMD-OBS-005, the folder cannot be written to.
    """
    from commodore.base.errors import EnvironmentFault
    from commodore.base.files.workspace import write_atomically
    from commodore.base.yaml import dump

    try:
        root = folder.resolve()
        root.mkdir(parents=True, exist_ok=True)
        for decision in decisions:
            if decision.verdict.promotion is not None:
                meta = decision.verdict.promotion["metadata"]
                path = root / f"{meta['namespace']}_{meta['name']}.yaml"
                write_atomically(path, dump(decision.verdict.promotion).encode(), root=root)
    except OSError as error:
        raise EnvironmentFault(
            "CMD-OBS-005",
            f"the Promotions cannot be written to {folder}: {error.strerror}",
            hint="name a folder that can be written to",
        ) from error


@click.command("manifests")
@options(*OBSERVE_MANIFESTS)
@click.pass_context
def observe_manifests(ctx: click.Context, /, **values: Any) -> None:
    """Print the objects that install the controller, for `kubectl apply`.

    They are what the chart makes of its defaults, in the namespace `commodore-observe`: nothing is written until
    `--dry-run` is taken out of the Deployment. `--image` is required: no public registry has the image.
    """
    from importlib.resources import files

    image = values["image"] or ""
    if not _IMAGE.fullmatch(image):
        given = f"the value '{image}' of --image cannot be read" if image else "--image is missing"
        hint = "build examples/observe/Containerfile, push it to your registry, and give its name with a tag or digest"
        raise UsageError("CMD-OBS-030", given, hint=hint)
    text = files("commodore.observe").joinpath("manifests.yaml").read_text(encoding="utf-8")
    console_of(ctx).data(text.replace('image: "IMAGE"', f'image: "{image}"'), newline=False)
