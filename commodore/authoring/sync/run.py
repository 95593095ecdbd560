"""Sync of many repositories: parallel clones and updates, sequential changes on the server."""

from __future__ import annotations

import base64
import contextlib
import functools
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, replace

from commodore.authoring.sync._templates import SharedTemplates
from commodore.authoring.sync.clone import GitAccess, check_branch
from commodore.authoring.sync.github import GitHub
from commodore.authoring.sync.item import Change, SyncWork, prepare, publish
from commodore.authoring.sync.list_file import read_list
from commodore.authoring.sync.model import CHANGED, Halt, Item, ItemResult, SyncRequest, SyncResult
from commodore.authoring.sync.state import State, open_state
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import Announce, Event, Noted, StageAdvanced, Warned, stage
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import Workspace, remove_tree

STAGE = "updating repositories"

Report = Callable[[ItemResult], None]
"""Called with each result as soon as it is available, in the list's order."""


def ignore_result(result: ItemResult) -> None:
    """Ignore a result."""


def sync_repositories(
    workspace: Workspace, request: SyncRequest, context: Context, *, report: Report = ignore_result
) -> SyncResult:
    """Update every repository of a list from its template, and open pull requests with the changes.

    The error of a repository is part of its result and does not end the run. The same request continues an interrupted
    run: `.commodore/sync-<digest>.json` in the workspace holds its results.

    Raises:
        UsageError: the token, the API's URL, the branch or the filter is invalid.
        InputError: the list cannot be read.
        EnvironmentFault: the disk failed.
    """
    if request.template_version and not request.dry_run:
        context.announce(
            Warned(
                "CMD-SYNC-009",
                "--template-version makes this a dry run: pull requests follow the stored version",
                hint="add --dry-run to make that explicit; to change the stored version, use 'update'",
            )
        )
        request = replace(request, dry_run=True)
    check_branch(request.branch, context)
    context = context.with_announce(_announcing_without_token(context.announce, _without_token(request.token)))
    github = GitHub(request.github_url, request.token, context)
    items = read_list(request.list_file, request.filter, context)
    state = open_state(workspace, request, context)
    access = GitAccess(github.url, github.token, context.nested())
    try:
        with temporary_folder() as place, stage(context.announce, STAGE, len(items)), SharedTemplates() as templates:
            work = SyncWork(request, github, access, templates, place, context)
            return _run(work, items, state, report)
    finally:
        github.close()


def _run(work: SyncWork, items: Sequence[Item], state: State, report: Report) -> SyncResult:
    results: list[ItemResult] = []
    halted: CommodoreError | None = None
    try:
        with contextlib.closing(_results(work, items, state)) as coming:
            for result in coming:
                state.add(result)
                results.append(result)
                report(result)
                work.context.announce(StageAdvanced(STAGE, result.name))
    except Halt as halt:
        halted = _rewritten(halt.error, _without_token(work.github.token))
        for item in items[len(results) :]:
            result = state.finished.get(item.name) or ItemResult(item.name, "postponed", "the run has ended before it")
            results.append(result)
            report(result)
        return SyncResult(tuple(results), halted)
    state.remove()
    return SyncResult(tuple(results))


def _results(work: SyncWork, items: Sequence[Item], state: State) -> Generator[ItemResult]:
    """Yield the result of each item in order; a few further items are prepared in parallel."""
    pool = ThreadPoolExecutor(work.context.limits.sync_workers, thread_name_prefix="sync")
    coming = iter([item for item in items if item.name not in state.finished])
    ahead: deque[Future[ItemResult | Change]] = deque()
    changed = 0
    try:
        for item in items:
            if item.name in state.finished:
                yield state.finished[item.name]
                continue
            while len(ahead) < 2 * work.context.limits.sync_workers and (following := next(coming, None)) is not None:
                ahead.append(pool.submit(prepare, work, following))
            try:
                outcome = ahead.popleft().result()
                if isinstance(outcome, Change):
                    changed = _pause(work, changed)
                    outcome = publish(work, outcome)
            except CommodoreError as error:
                # The error names the repository instead of the temporary folder.
                told = _rewritten(error, functools.partial(_renamed, str(work.folder(item)), item.name))
                outcome = ItemResult(item.name, "failed", told.message, error=told)
            changed += outcome.status in CHANGED
            yield _result_without_token(outcome, _without_token(work.github.token))
            remove_tree(work.folder(item))
    except BaseException:  # Ctrl-C, or an error that concerns all repositories
        work.github.stop()
        work.access.context.cancellation.cancel()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _renamed(folder: str, name: str, text: str) -> str:
    return text.replace(folder, name)


def _pause(work: SyncWork, changed: int) -> int:
    """Pause before the next change if a batch is complete. Returns the number of changes since the last pause."""
    request = work.request
    if request.dry_run or not request.batch_size or not request.pause or changed < request.batch_size:
        return changed
    work.context.announce(Noted(f"pausing for {request.pause:g} s after {changed} changed repositories"))
    work.github.wait(request.pause)
    return 0


_Rewrite = Callable[[str], str]

_SHORTEST = 8  # characters; a shorter text is not a token, and could be part of any word


def _without_token(token: str | None) -> _Rewrite:
    """Return a function that removes a token from a text, as it is and as git sends it."""
    token = (token or "").strip()
    if len(token) < _SHORTEST:
        return lambda text: text
    sent = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return lambda text: text.replace(token, "…").replace(sent, "…")


def _rewritten(error: CommodoreError, rewrite: _Rewrite) -> CommodoreError:
    """Return an error with rewritten texts."""
    if isinstance(error, Findings):
        return Findings(_rewritten(cause, rewrite) for cause in error.errors)
    locations = [replace(each, place=rewrite(each.place)) for each in error.locations]
    return type(error)(error.code, rewrite(error.message), hint=rewrite(error.hint), locations=locations)


def _result_without_token(result: ItemResult, rewrite: _Rewrite) -> ItemResult:
    """Return a result with rewritten texts."""
    error = _rewritten(result.error, rewrite) if result.error is not None else None
    return replace(result, reason=rewrite(result.reason), url=rewrite(result.url), error=error)


def _announcing_without_token(announce: Announce, rewrite: _Rewrite) -> Announce:
    """Return a listener that rewrites the texts of events."""

    def announce_rewritten(event: Event) -> None:
        texts = {
            field.name: rewrite(text) for field in fields(event) if isinstance(text := getattr(event, field.name), str)
        }
        announce(replace(event, **texts))

    return announce_rewritten
