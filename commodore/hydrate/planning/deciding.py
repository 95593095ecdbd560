"""Decisions about groups and their reasons, made before rendering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.core.sources.git import Git
from commodore.hydrate.branches.destination import Destination
from commodore.hydrate.branches.edits import NO_EDITS, Edit, as_text
from commodore.hydrate.branches.layout import path_data, read_metadata, recorded_source
from commodore.hydrate.branches.provenance import is_older
from commodore.hydrate.branches.records import GroupNote, Note
from commodore.hydrate.model import CommitRules, Group, Hydration, Pins, Scope
from commodore.hydrate.planning.groups import PlannedGroup, inputs_digest, is_affected
from commodore.hydrate.reading.inputs import Run

_SHOWN = 5
"""The maximum number of names in a reason."""


@dataclass(frozen=True, slots=True)
class Decider:
    """Decide if groups are rendered. Dry commits are compared once for all groups."""

    run: Run
    _changed: dict[tuple[str, str, str], list[str] | None] = field(default_factory=dict)

    @property
    def _writing(self) -> CommitRules:
        return self.run.job.publishing.writing

    def decide(self, group: Group, destination: Destination, scope: Scope, pins: Mapping[str, Pins]) -> PlannedGroup:
        """Return the decision for a group.

        Args:
            scope: the part of the branch that belongs to the group.
            pins: additional commits that its members are rendered from, by output path.
        """
        inputs = inputs_digest(group, self._options(pins))
        note = destination.note_of(group.branch) or Note()
        noted = note.groups.get(group.id, GroupNote())
        head = destination.heads.get(group.branch, "")
        stale = destination.owned(head, scope).stale if head and self._writing.removal != "keep" else ()
        edits = self._edits(group, destination, scope, stale)
        planned = PlannedGroup(group, "render", "", inputs, noted.dry_sha, stale, edits)
        decision, reason = self._decision(planned, noted, destination)
        if decision in ("hydrated", "unaffected"):
            if edits and not self._are_kept(group, destination, note, edits):
                decision, reason = "render", f"others have edited {as_text(edits)}"
            elif stale and self._writing.removal == "delete":
                decision, reason = "remove", f"no Application writes any more to {_listed(stale)}"
        return replace(planned, decision=decision, reason=reason)

    def _options(self, pins: Mapping[str, Pins]) -> dict[str, Any]:
        settings = {f"{part}/{key}": value.value for part, key, value in self.run.job.settings.rows()}
        rules = self.run.job.rules
        options: dict[str, Any] = {"readme": rules.texts.readme, "message": rules.texts.message, "settings": settings}
        options |= {"order": rules.order, "tools": dict(rules.tools)}
        if rules.set_namespace:
            options["setNamespace"] = True
        if pins:
            options["pins"] = {
                path: [pin.additional, pin.reference and pin.reference.sha] for path, pin in pins.items()
            }
        return options

    def _decision(self, planned: PlannedGroup, noted: GroupNote, destination: Destination) -> tuple[str, str]:
        group, known = planned.group, noted.dry_sha
        if self._writing.rewrite:
            return "render", "--rewrite"
        if self.run.job.hard or self.run.job.repo_map.find(group.first.dry_url) is not None:
            return "render", "rendering again was requested"
        if self._is_too_old(group, known):
            return "superseded", f"it is hydrated from {known[:7]}, which is newer; --allow-older goes back"
        if any(member.catalog for member in group.members):
            return "render", "a catalog depends on more than its dry commit, and is compiled in each run"
        missing = [name for name in (group.branch, group.first.sync_branch) if name not in destination.heads]
        if missing:
            return "render", f"there is no branch {missing[0]} yet"
        if (known, noted.inputs) == (group.dry_sha, planned.inputs):
            return "hydrated", f"it is hydrated from {group.dry_sha[:7]}"
        changed = self._changed_files(group, known) if known else None
        is_comparable = changed is not None and noted.inputs == planned.inputs
        if is_comparable and not is_affected(group, changed or ()):
            return "unaffected", f"no file of its Applications has changed since {known[:7]}"
        return "render", "; ".join(self._reasons(planned, noted, changed, destination))

    def _reasons(
        self, planned: PlannedGroup, noted: GroupNote, changed: list[str] | None, destination: Destination
    ) -> list[str]:
        """Return the reasons to render a group: the changes since it was hydrated."""
        group = planned.group
        reasons = []
        if not noted.dry_sha:
            reasons.append("there is no note of an earlier hydration")
        elif noted.dry_sha != group.dry_sha:
            reasons.append(f"new dry commit {group.dry_sha[:7]} after {noted.dry_sha[:7]}, {_effect(group, changed)}")
        if noted.dry_sha and noted.inputs != planned.inputs:
            reasons.append(_changed_inputs(planned, destination))
        return reasons

    def _edits(
        self, group: Group, destination: Destination, scope: Scope, stale: tuple[str, ...]
    ) -> Mapping[str, Edit]:
        """Return the edits that this group would overwrite."""
        edits = destination.edits(group.branch, scope)
        if not edits:
            return NO_EDITS
        written = {member.path for member in group.members}
        written |= set(stale) if self._writing.removal == "delete" else set()
        return {path: edit for path, edit in edits.items() if path in written}

    def _are_kept(self, group: Group, destination: Destination, note: Note, edits: Mapping[str, Edit]) -> bool:
        """Return True if edits are kept and an earlier run has noted it, so rendering is unnecessary."""
        is_seen = destination.is_noted(group.branch) and edits.keys() <= note.edited.keys()
        return self._writing.edited == "keep" and is_seen

    def _is_too_old(self, group: Group, known: str) -> bool:
        if not self.run.job.dry_sha or self.run.job.publishing.allow_older or known in ("", group.dry_sha):
            return False
        return is_older(self.run.dry(group.first), group.dry_sha, known)

    def _changed_files(self, group: Group, known: str) -> list[str] | None:
        """Return the files that differ between the noted dry commit and the current one; None if the former is gone."""
        key = (group.dry_key, known, group.dry_sha)
        if key not in self._changed:
            repository = self.run.dry(group.first)
            self._changed[key] = None
            if repository.has_commits([known]):
                arguments = ["diff", "--name-only", "-z", "--no-renames", known, group.dry_sha]
                text = Git(repository.path, self.run.context).run(arguments).stdout.decode("utf-8", "surrogateescape")
                self._changed[key] = [path for path in text.split("\0") if path]
        return self._changed[key]


def _changed_inputs(planned: PlannedGroup, destination: Destination) -> str:
    group = planned.group
    recorded = {
        path: read_metadata(content)
        for path, content in destination.metadata_of(destination.heads[group.branch]).items()
    }
    new = [member.name for member in group.members if member.path not in recorded]
    if new:
        return f"new Application {_listed(new)}"
    other = [member.name for member in group.members if _is_changed(member, recorded[member.path])]
    if other:
        return f"changed Application {_listed(other)}"
    if planned.stale:
        return f"no Application writes any more to {_listed(planned.stale)}"
    return "changed options, templates, settings or versions of tools"


def _is_changed(member: Hydration, metadata: Mapping[str, Any]) -> bool:
    """Return True if an Application differs from its recorded metadata; older versions recorded fewer fields."""
    recorded = recorded_source(metadata)
    return "options" in recorded["source"] and recorded != recorded_source(path_data(member, (), {}))


def _effect(group: Group, changed: list[str] | None) -> str:
    """Describe the effect of a dry commit on the folders of a group's Applications."""
    if changed is None:
        return "and the earlier one is gone"
    touched = [member.name for member in group.members if any(_is_below(path, member.dry_path) for path in changed)]
    if touched:
        return f"which changes files of {_listed(touched)}"
    return "which changes no file in the folders of its Applications: manifests change only if they read others"


def _is_below(path: str, folder: str) -> bool:
    base = folder.strip("/")
    return base in ("", ".") or path.startswith(f"{base.removeprefix('./')}/")


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
