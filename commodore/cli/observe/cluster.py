"""`commodore observe once` and `commodore observe run`: the observer on a cluster."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import click

from commodore.base.printable import printable
from commodore.cli.observe import options as given
from commodore.cli.observe.commands import show_decisions
from commodore.cli.observe.settings import OBSERVE_ONCE, OBSERVE_RUN
from commodore.cli.shell.console import console_of
from commodore.cli.shell.options import options
from commodore.observe import show_duration

_FIELDS = ("stage", "reason", "drift", "freight")


@click.command("once")
@options(*OBSERVE_ONCE)
@click.pass_context
def observe_once(ctx: click.Context, /, **values: Any) -> int:
    """Look at all Stages of a cluster once, and make the Promotions that are due.

    Promotions are made for images that stay the same for the time of `--settle`. It holds the lease of the controller
    meanwhile, and ends with exit code 4 if another observer keeps it. At most `--max-promotions` are made within a
    minute, with those of earlier passes; others are left for the next pass. Events are recorded as the controller does.
    Needs the extra `observe`. Ends with exit code 1 if a Stage is blocked or a Promotion that is due could not be made.
    """
    clusters = given.clusters(values)
    from commodore.observe import cluster

    console = console_of(ctx)
    controller = given.controller_options(values)
    settle = show_duration(controller.plan.settle)

    def say(due: int) -> None:
        console.status(f"Promotions due: {due}. Waiting {settle} for their images to stay the same (--settle).")

    lease = given.lease_options(values)
    done = asyncio.run(cluster.observe_once(clusters, controller, given.holds(values), lease, on_wait=say))
    show_decisions(console, [decision for decision, _ in done], values)
    failed = False
    for decision, outcome in done:
        failed |= decision.kind == "blocked"
        if outcome is not None:
            failed |= outcome.kind not in ("created", "exists", "changed", "left")
            console.status(f"{decision.stage}: {printable(str(outcome))}")
    return int(failed)


@click.command("run")
@options(*OBSERVE_RUN)
@click.pass_context
def observe_run(_ctx: click.Context, /, **values: Any) -> int:
    """Follow a cluster, and make Promotions when they are due, until it is ended.

    One line is logged for each change of a decision. Metrics are at `/metrics` of `--metrics-addr`, probes at
    `/healthz` and `/readyz` of `--health-addr`. Needs the extra `observe`. Ends with exit code 3 if the lease is lost.
    """
    clusters = given.clusters(values)
    from commodore.core.serving import read_address
    from commodore.observe import cluster

    metrics, health = (_address(values[name]) for name in ("metrics_addr", "health_addr"))
    for address in filter(None, (metrics, health)):
        read_address(address)
    run = cluster.RunOptions(
        controller=given.controller_options(values),
        holds=given.holds(values),
        metrics_address=metrics,
        health_address=health,
        lease=given.lease_options(values),
    )
    _log_to_stderr(values["log_format"], values["log_level"])
    asyncio.run(cluster.observe_run(clusters, run))
    return 0


def _address(text: str) -> str:
    """An address; empty for none. Kubernetes' own controllers write `0` for none."""
    return "" if text in ("none", "0") else text


def _log_to_stderr(form: str, level: str) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if form == "json" else _Text("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("commodore.observe")
    log.handlers = [handler]
    log.setLevel(level.upper())
    log.propagate = False


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "message": printable(record.getMessage()),
            **{name: getattr(record, name) for name in _FIELDS if hasattr(record, name)},
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)
