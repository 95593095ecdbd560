"""Verification of branches: the recorded dry commits are rendered again and compared with the branches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from commodore.base.errors import CommodoreError, InputError
from commodore.base.limits import Limits
from commodore.core.sources.git import Git, Repository
from commodore.hydrate.branches.destination import Destination
from commodore.hydrate.branches.files import manifest_diff
from commodore.hydrate.branches.layout import (
    MANIFEST,
    METADATA,
    OPTIONS,
    is_same_manifest,
    manifest,
    objects_of,
    read_metadata,
    recorded_source,
)
from commodore.hydrate.branches.provenance import read_commit
from commodore.hydrate.model import Group, Hydration, Pins, Reference
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.planning.plan import Plan
from commodore.hydrate.rendering.render import DryCommits, dry_commits_of

Answer = Literal["same", "different", "cannot"]


@dataclass(frozen=True, slots=True)
class PathCheck:
    """The check of an output path.

    Attributes:
        reason: why it differs or cannot be compared; empty if it is equal.
        diff: the lines of the diff from the rendered manifest to the branch's.
        changed_by: the commit and author of the last change after hydration; empty if unchanged.
        options_changed: why the options of rendering may have changed since; empty if they have not.
    """

    branch: str
    path: str
    answer: Answer
    reason: str = ""
    diff: tuple[str, ...] = ()
    changed_by: str = ""
    options_changed: str = ""


def check(plan: Plan, commit: str = "") -> list[PathCheck]:
    """Check each output path of each branch; nothing is published.

    Args:
        commit: a commit of a branch, instead of the head of each branch.

    Raises:
        InputError: CMD-HYD-016, no branch has the commit.
    """
    checks: list[PathCheck] = []
    known = False
    with dry_commits_of(plan.inputs) as dry_commits:
        for several in plan.by_branch():
            group = several[0].group
            destination = plan.destinations[group.key]
            head = destination.heads.get(group.branch, "")
            if commit and head:
                head = _past(destination.git, head, commit)
            known = known or bool(head)
            checked = _branch(several, head, destination, dry_commits) if head else []
            missing = [] if commit else _missing(several, {item.path for item in checked})
            checks += [*checked, *missing]
    if commit and not known:
        raise InputError(
            "CMD-HYD-016", f"no hydrated branch has the commit {commit}", hint="name a commit of such a branch"
        )
    return checks


def _past(git: Git, head: str, commit: str) -> str:
    """Return the full id of a commit if a branch has it."""
    full = git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"], check=False)
    if full.returncode != 0 or git.run(["merge-base", "--is-ancestor", full.text, head], check=False).returncode:
        return ""
    return full.text


def _branch(
    several: Sequence[PlannedGroup], commit: str, destination: Destination, dry_commits: DryCommits
) -> list[PathCheck]:
    branch = several[0].group.branch
    metadata = destination.metadata_of(commit)
    paths = sorted(path for path in metadata if path)
    manifests = destination.manifests_of(commit, paths)
    members = _members(several)
    checks = []
    for path in paths:
        if path not in members:
            checked = PathCheck(branch, path, "cannot", "no Application writes to it any more")
        else:
            data = read_metadata(metadata[path])
            checked = _path(*members[path], data, manifests.get(path, b""), dry_commits)
        checked = replace(checked, changed_by=_changed_by(destination.git, commit, path))
        if checked.options_changed and not checked.changed_by:
            checked = replace(checked, answer="cannot", reason=checked.options_changed, diff=())
        checks.append(checked)
    return checks


def _path(group: Group, member: Hydration, data: Mapping[str, Any], there: bytes, dry_commits: DryCommits) -> PathCheck:
    sha, dry = data.get("drySha"), dry_commits.inputs.run.dry(member)
    if not isinstance(sha, str) or not _has(dry, sha):
        return PathCheck(member.branch, member.path, "cannot", f"there is no dry commit {sha or 'recorded'}")
    source = data.get("drySource")
    there_named = source if isinstance(source, Mapping) else {}
    for was, now in (
        (there_named.get("path"), member.dry_path),
        (there_named.get("catalog"), member.catalog.cluster if member.catalog else ""),
    ):
        if isinstance(was, str) and was != now:
            reason = f"it was rendered from {was}, and {member.name} now names {now or 'no catalog'}"
            return PathCheck(member.branch, member.path, "cannot", reason)
    alone = replace(group, dry_sha=sha, members=(member,))
    pins = _recorded(member, data)
    if len(pins.additional) != len(member.additional):
        reason = f"it was rendered from other additional sources than {member.name} names now"
        return PathCheck(member.branch, member.path, "cannot", reason)
    context = dry_commits.context
    try:
        commit = read_commit(dry.path, sha, context)
        applications = {member.path: _as_recorded(dry_commits.inputs.application(member), data)}
        (output,) = dry_commits.render(alone, applications, commit, {member.path: pins})
    except CommodoreError as error:
        return PathCheck(member.branch, member.path, "cannot", error.message)
    if is_same_manifest(there, output.objects):
        return PathCheck(member.branch, member.path, "same")
    tools = _tools(data.get("tools"), output.metadata.get("tools"))
    return PathCheck(
        member.branch,
        member.path,
        "different",
        tools or "the objects differ",
        _diff(output.objects, there, member.path, context.limits),
        options_changed="" if tools else _options_changed(data, output.metadata),
    )


def _changed_by(git: Git, commit: str, path: str) -> str:
    hydrated = git.run(["log", "-1", "--format=%H", commit, "--", f"{path}/{METADATA}"]).text
    since = ["log", "-1", "--format=%H%x00%h by %an", f"{hydrated}..{commit}", "--", f"{path}/{MANIFEST}"]
    return git.run(since).text.partition("\0")[2]


def _members(several: Sequence[PlannedGroup]) -> dict[str, tuple[Group, Hydration]]:
    """Return the Applications that write to a branch by output path, each with its group."""
    groups = (item.group for item in several if item.decision != "abandoned")
    return {member.path: (group, member) for group in groups for member in group.members}


def _missing(several: Sequence[PlannedGroup], there: Collection[str]) -> list[PathCheck]:
    """Return the checks of output paths that are missing on their branch."""
    members = sorted(_members(several).items())
    return [
        PathCheck(member.branch, path, "cannot", "it is not hydrated yet")
        for path, (_, member) in members
        if path not in there
    ]


def _as_recorded(application: Mapping[str, Any], metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Application with the name, namespace and options recorded in metadata, if recorded."""
    recorded = recorded_source(metadata)
    options = recorded["source"].get("options")
    if not isinstance(options, Mapping):
        return application
    spec, hydrator = application["spec"], application["spec"]["sourceHydrator"]
    dry = {key: value for key, value in hydrator["drySource"].items() if key not in OPTIONS} | dict(options)
    names = {key: value for key, value in recorded["application"].items() if key in ("name", "namespace")}
    destination = {**spec.get("destination", {}), "namespace": recorded["namespace"]}
    return {
        **application,
        "metadata": {**application["metadata"], **names},
        "spec": {**spec, "destination": destination, "sourceHydrator": {**hydrator, "drySource": dry}},
    }


def _options_changed(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the reason why unrecorded options may have changed; empty without a reason."""
    if "options" in recorded_source(recorded)["source"]:
        return ""
    if recorded.get("commands") == now.get("commands"):
        return ""
    return "options have changed: it was rendered by other commands, and its metadata do not record its options"


def _recorded(member: Hydration, data: Mapping[str, Any]) -> Pins:
    """Return the commits that metadata record in addition to the dry commit."""
    try:
        reference = Reference(sha=str(data["references"][0]["commit"]["sha"])) if member.catalog else None
    except (LookupError, TypeError):
        reference = None
    listed = data.get("additionalSources")
    sources = [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []
    return Pins(reference, tuple(str(source.get("sha", "")) for source in sources))


def _has(repository: Repository, sha: str) -> bool:
    try:
        return repository.has_commits([sha]) or repository.fetch_commit(sha)
    except CommodoreError:
        return False


def _diff(rendered: Sequence[Mapping[str, Any]], there: bytes, path: str, limits: Limits) -> tuple[str, ...]:
    if objects_of(there) is None:
        return (f"{path}/{MANIFEST} is not a stream of objects",)
    return manifest_diff({path: manifest(rendered)}, {path: there}, limits)


def _tools(then: Any, now: Any) -> str:
    """Return the differences between versions of tools; empty if they are equal."""
    before, after = (item if isinstance(item, Mapping) else {} for item in (then, now))
    differing = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    shown = (f"{name} {before.get(name, 'unknown')} then, {after.get(name, 'none')} now" for name in differing)
    return ", ".join(shown)
