"""`component update` and `package update`: update a repository to the newest version of its template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.authoring.arguments import Choices, choose, complete
from commodore.authoring.cruft_file import NAME, CruftFile, read_cruft_file, read_skips
from commodore.authoring.rendering import File, render
from commodore.authoring.slug import Kind, check_slug
from commodore.authoring.templates import OpenTemplate, Template, bundled_url, open_template
from commodore.authoring.three_way_merge import Merge, merge, settle, without
from commodore.authoring.working_copy import WorkingCopy
from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import stage
from commodore.core.sources.git import commit, unstage


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """An update.

    Attributes:
        folder: the folder with `.cruft.json`; may be below the root of its git repository.
        template_version: the revision to follow from now on; None keeps the stored one.
        commit: commit the result; otherwise the changes are not staged.
        trust_template: run code of a template that commodore does not know.
        settle: resolve conflicts without a user: keep the author's side, and report the rest in `Updated.rejected`.
    """

    kind: Kind
    folder: Path
    choices: Choices = field(default_factory=Choices)
    template_version: str | None = None
    commit: bool = True
    trust_template: bool = False
    settle: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """Result of an update.

    Attributes:
        slug: the slug of the component or package.
        changes: pairs of git's status letter (`A`, `D`, `M`, `T`) and path; empty: it was up to date.
        diff: the same as a unified diff.
        version: the template's version for messages: revision and abbreviated commit.
        commit: the new commit; None without one.
        only_version: only the note of the template's version has changed.
        rejected: conflicting changes of the template that were left out (`UpdateRequest.settle`), as a unified diff.
    """

    slug: str
    changes: tuple[tuple[str, str], ...]
    diff: str
    version: str
    commit: str | None
    only_version: bool
    rejected: str = ""


def update_repository(request: UpdateRequest, context: Context, *, templates: OpenTemplate = open_template) -> Updated:
    """Merge the changes of the template into a repository. No remote of the repository is read or changed.

    Several updates can share the templates that `templates` opens.

    Raises:
        InputError: `.cruft.json` is missing or invalid, the version does not exist; or the merge has conflicts
            (CMD-TPL-017): the result is in the working copy, with conflicts marked in files and index.
        PolicyError: uncommitted or other files are in the way, or the template is not trusted; nothing was changed.
        EnvironmentFault: the template cannot be fetched, or the disk or git failed.
    """
    cruft = read_cruft_file(request.folder, context)
    slug = check_slug(cruft.arguments.get("slug"), request.kind)
    copy = WorkingCopy.at(request.folder, context)
    copy.check_clean()
    stored = complete(cruft.arguments, request.kind, copy.folder)
    chosen = choose(stored, request.choices, context)
    checkout = request.template_version or cruft.checkout
    with (
        stage(context.announce, "merging the template"),
        templates(
            cruft.template,
            request.kind,
            (checkout, cruft.commit),
            trust=request.trust_template,
            context=context,
        ) as template,
    ):
        revision = template.resolve(checkout)
        version = f"{checkout or 'default branch'} ({revision[:7]})"
        if revision == cruft.commit and checkout == cruft.checkout and chosen == stored:
            return Updated(slug, (), "", version, None, only_version=False)
        _check_known(template, cruft, request.kind)
        merged, arguments = _merge(template, cruft, copy, stored, (revision, chosen), context)
    merged, rejected = settle(merged, context) if request.settle else (merged, "")
    same = _apart_from_marks(arguments) == _apart_from_marks(cruft.arguments)
    only_version = not merged and same and checkout == cruft.checkout
    updated = cruft.at(revision, checkout, arguments)
    if updated != cruft:
        merged.writes[NAME] = File(updated.to_bytes())
    if not merged:
        return Updated(slug, (), "", version, None, only_version=False)
    copy.check_free(merged)
    copy.apply(merged)
    changes, diff = copy.staged()
    _stop_at_conflicts(copy, merged)
    made = _finish(copy, version, request.commit)
    return Updated(slug, tuple(changes), diff, version, made, only_version, rejected)


def _finish(copy: WorkingCopy, version: str, should_commit: bool) -> str | None:
    """Commit the staged changes if `should_commit` is set; else unstage them."""
    if should_commit:
        message = f"Update from template\n\nTemplate version: {version}\n"
        return commit(copy.folder, message, None, copy.context)
    unstage(copy.folder, copy.context)
    return None


def _merge(
    template: Template,
    cruft: CruftFile,
    copy: WorkingCopy,
    stored: Mapping[str, Any],
    request: tuple[str, Mapping[str, Any]],
    context: Context,
) -> tuple[Merge, Mapping[str, Any]]:
    """Return the changes, and the template's new arguments."""
    pairs = [(cruft.commit, stored), request]
    before, now = render(template, pairs, context, directory=cruft.directory)
    skips = (*read_skips(copy.folder, cruft), NAME)
    base, theirs = without(before.files, skips), without(now.files, skips)
    return merge(base, copy.read(sorted({*base, *theirs})), theirs, context), now.arguments


def _check_known(template: Template, cruft: CruftFile, kind: Kind) -> None:
    if not template.has(cruft.commit):
        bundled = template.url == bundled_url(kind)
        raise InputError(
            "CMD-TPL-016",
            f"commit {cruft.commit[:10]} of .cruft.json is not part of the template {template.url}",
            hint="it was made by a newer commodore; use that version"
            if bundled
            else "set 'commit' in .cruft.json to the version of the template that the files come from",
        )


def _apart_from_marks(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in ("_commit", "_template")}


def _stop_at_conflicts(copy: WorkingCopy, merged: Merge) -> None:
    if not merged.conflicts:
        return
    listed = []
    for path, conflict in merged.conflicts.items():
        if conflict.theirs is None:
            what = " (changed here, deleted by the template)"
        else:
            what = "" if conflict.result != conflict.ours else " (not text; yours was kept)"
        listed.append(f"{path}{what}")
    raise InputError(
        "CMD-TPL-017",
        f"the template's changes conflict with those of {copy.folder}: {', '.join(listed)}",
        hint="everything else is merged and staged: resolve the conflicts, 'git add' these files, and commit; "
        "or 'git reset --hard' to go back",
        locations=[str(copy.folder / path) for path in merged.conflicts],
    )
