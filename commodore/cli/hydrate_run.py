"""`commodore hydrate plan` and `run`."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._hydrate import NOTHING, SOURCES, Source, group_data, opened, tell_lost
from commodore.cli._hydrate_report import Shown, report
from commodore.cli._options import options
from commodore.cli.console import Console, console_of
from commodore.context import Context
from commodore.errors import CommodoreError, InputError, UsageError
from commodore.events import Warned
from commodore.printable import printable
from commodore.settings.hydrate import HYDRATE_PLAN, HYDRATE_RUN

if TYPE_CHECKING:
    from commodore.hydrate.publishing import Result
    from commodore.hydrate.running import Planned

Results = Sequence[tuple["Planned", "Result"]]

_JITTER = 0.1  # of the interval: several watchers do not ask at the same time for ever


@click.command("plan")
@SOURCES
@options(*HYDRATE_PLAN)
@click.pass_context
def plan(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Show the groups of Applications, and what would be done for each. Nothing is rendered, nothing is written.

    SOURCE is a file or folder with Applications, ApplicationSets or a hydrate.yaml, - for standard input, or a folder
    of a repository as URL[@REVISION][:PATH]; by default it is the current folder.
    """
    console = console_of(ctx)
    context = Context(console.announce, console.context.limits, values["offline"])
    with opened(ctx, sources, values, context) as hydrator:
        planned = hydrator.plan()
    code = 1 if values["check"] and any(one.decision != "hydrated" for one in planned) else 0
    code = max(code, tell_lost(hydrator, console))
    if values["out"] == "json":
        console.result(json.dumps({"groups": [group_data(one) for one in planned], "exit": code}, indent=2))
        return code
    for one in planned:
        console.result(printable(f"{one.group.branch}  {one.decision}: {one.reason}"))
        for member in one.group.members:
            console.result(printable(f"  {member.path}  {member.name} from {member.dry_path or '.'}"))
    branches = sorted({one.group.branch for one in planned})
    console.result(printable(f"Protect these branches from other pushes: {', '.join(branches)}"))
    return code


@click.command("run")
@SOURCES
@options(*HYDRATE_RUN)
@click.pass_context
def run(ctx: click.Context, /, sources: tuple[Source, ...], **values: Any) -> int:
    """Render Applications, commit what has changed to their branches, and push.

    SOURCE is a file or folder with Applications, ApplicationSets or a hydrate.yaml, - for standard input, or a folder
    of a repository as URL[@REVISION][:PATH]; by default it is the current folder. A group that fails does not hold back
    others. Clones are kept in the working directory.
    """
    console = console_of(ctx)
    if values["watch"]:
        _watch(ctx, sources, values, console)
        return 0
    if values["offline"]:
        values["dry_run"] = True
    context = Context(console.announce, console.context.limits, values["offline"])
    try:
        with opened(ctx, sources, values, context) as hydrator:
            results = hydrator.run()
    except InputError as error:
        if error.code != NOTHING or not values["allow_none"]:
            raise
        console.announce(Warned(error.code, error.message, error.hint))
        return report([], values, console)
    return report(_shown(results), values, console, tell_lost(hydrator, console))


def _watch(ctx: click.Context, sources: tuple[Source, ...], values: dict[str, Any], console: Console) -> None:
    """Hydrate again and again until the user ends it."""
    from commodore.hydrate.watching import Patience

    if any(str(one) == "-" for one in sources) or values["dry_sha"]:
        raise UsageError(
            "CMD-HYD-017",
            "--watch needs sources that can be read again, and takes no --dry-sha",
            hint="name files or folders with Applications, or leave --watch out",
        )
    patience = Patience(time.monotonic)
    try:
        while True:
            try:
                with opened(ctx, sources, values, console.context) as hydrator:
                    results = hydrator.run(patience.is_ready)
                patience.learn(results)
                tell_lost(hydrator, console)
                news = [one for one in results if one[0].decision not in ("hydrated", "waiting")]
                if news:
                    report(_shown(news), values, console)
            except CommodoreError as error:
                if error.exit_code == 70:
                    raise
                console.error(error)
            pause = values["interval"] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
            console.status(f"Looking again in {pause:.0f} s (Ctrl-C ends).")
            time.sleep(pause)
    except KeyboardInterrupt:
        console.status("Ended watching.")


def _shown(results: Results) -> Shown:
    return [(group_data(planned), planned.group.branch, result) for planned, result in results]
