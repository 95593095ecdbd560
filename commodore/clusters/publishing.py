"""Publishing of a judged wave: its catalogs are pushed, and soak until the next wave may begin."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from commodore.base.events import ClusterBegun
from commodore.base.printable import some_of
from commodore.clusters.compiled import Compiled
from commodore.clusters.compiling import announce_outcome
from commodore.clusters.opening import Run
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.waves import Wave
from commodore.fleet import FleetState, read_states


def publish(run: Run, wave: Wave, clusters: Sequence[ClusterOutcome], compiled: Mapping[str, Compiled]) -> None:
    """Push the catalogs of a wave that have changed.

    Args:
        compiled: the catalogs staged by this process; others are compiled again, and pushed if they are unchanged.
    """
    changed = [cluster for cluster in clusters if cluster.state == "changed"]
    if not changed:
        return
    with ThreadPoolExecutor(min(wave.parallel, len(changed)), thread_name_prefix="publishing") as pool:
        try:
            staged = [compiled.get(item.id) or Compiled(item) for item in changed]
            for future in as_completed([pool.submit(_publish, run, item) for item in staged]):
                future.result()
        except BaseException:
            run.stop()
            raise


def _publish(run: Run, compiled: Compiled) -> None:
    item = compiled.outcome
    if run.stopped.is_set():
        return
    run.context.announce(ClusterBegun(item.id, item.wave, publishing=True))

    def pushing(commit: str) -> None:
        run.ledger.write("pushing", cluster=item.id, commit=commit)

    done = run.work.publish(compiled, run.ledger.state.commits.get(item.id, ()), pushing, run.context)
    if done.state != "cancelled":
        run.ledger.write("published", cluster=done)
    announce_outcome(run, done)


def soak(run: Run, wave: Wave, *, is_last: bool) -> str:
    """Wait after a wave was pushed. Returns the reason why no later wave may begin, or an empty text."""
    request, state = run.plan.request, run.ledger.state
    pushed = [
        outcome.id for outcome in state.outcomes.values() if outcome.wave == wave.name and outcome.state == "pushed"
    ]
    if not pushed or not wave.soak or (is_last and not request.status) or wave.name in state.soaked:
        return ""
    if wave.name not in state.soaking:
        run.ledger.write("soaking", wave=wave.name, until=time.time() + wave.soak)
    run.stopped.wait(max(0.0, run.ledger.state.soaking[wave.name] - time.time()))
    if request.status:
        ill = list(unhealthy(read_states(request.status, request.status_age, run.context.limits), pushed))
        if ill:
            return f"wave {wave.name} is not healthy: {some_of(ill)} (continue with --resume {run.folder.name})"
    run.ledger.write("soaked", wave=wave.name)
    return ""


def unhealthy(state: FleetState, clusters: Iterable[str]) -> Iterator[str]:
    """Return the reasons why clusters are not healthy and in sync. A cluster with unknown state is not."""
    for name in clusters:
        applications = state.cells.get(name)
        if not applications:
            yield f"{name}: unknown"
            continue
        for application, value in sorted(applications.items()):
            if (value.health, value.sync) != ("Healthy", "Synced"):
                yield f"{name}/{application}: {value.in_words}"
