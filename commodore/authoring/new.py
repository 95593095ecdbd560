"""`component new` and `package new`: create a repository from a template."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.authoring.arguments import Choices, new_arguments
from commodore.authoring.cruft_file import NAME, CruftFile
from commodore.authoring.rendering import File, render
from commodore.authoring.slug import Kind
from commodore.authoring.templates import bundled_url, open_template
from commodore.authoring.working_copy import WorkingCopy
from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError
from commodore.base.events import stage
from commodore.base.files.workspace import Workspace, folder_beside, guard_disk, is_inside, remove_tree
from commodore.core.sources.git import Git, Repository, RepositoryStore, commit, identity_environment, normalize

BRANCH = "master"
_MESSAGE = "Initial commit\n"


@dataclass(frozen=True, slots=True)
class NewRequest:
    """The new component or package.

    Attributes:
        name: title in the documentation; None for the slug.
        owner: account or organisation on GitHub.
        template_url: None for the bundled template.
        template_version: None for the template's default branch.
        output_dir: the parent of the new folder; None for the working directory's dependencies.
        trust_template: run code of a template that commodore does not know.
    """

    kind: Kind
    slug: str
    name: str | None = None
    owner: str = "projectsyn"
    choices: Choices = field(default_factory=Choices)
    template_url: str | None = None
    template_version: str | None = "main"
    output_dir: Path | None = None
    trust_template: bool = False


@dataclass(frozen=True, slots=True)
class Created:
    """A created repository: the folder, its files (sorted), and the URL of its `origin`."""

    folder: Path
    files: tuple[str, ...]
    remote: str


def create_repository(workspace: Workspace, request: NewRequest, context: Context) -> Created:
    """Make a component or package: a git repository with one commit on `master`, and `origin` set; nothing is pushed.

    Inside `dependencies` it is a worktree, like fetched ones; elsewhere it is an ordinary repository.

    Raises:
        InputError: a name or version is invalid, or the output folder does not exist.
        PolicyError: the folder or repository exists already, or the template is not trusted.
        EnvironmentFault: the template cannot be fetched, or the disk or git failed. Everything is removed.
    """
    kind, slug = request.kind, request.slug
    arguments = new_arguments(kind, slug, request.name, request.owner, request.choices, context)
    remote = normalize(kind.remote(request.owner, slug))
    target = _target(workspace, request)
    url = request.template_url or bundled_url(kind)
    with (
        stage(context.announce, "rendering the template"),
        open_template(url, kind, (request.template_version,), context, trust=request.trust_template) as template,
    ):
        revision = template.resolve(request.template_version)
        (rendering,) = render(template, [(revision, arguments)], context)
        cruft = CruftFile(template.url, revision, request.template_version, rendering.arguments)
    files = {**rendering.files, NAME: File(cruft.to_bytes())}
    if is_inside(target.parent, workspace.dependencies):
        with workspace.locked(context.limits):
            _create_worktree(workspace, target, remote, files, context)
    else:
        _create_ordinary(target, remote, files, context)
    return Created(target, tuple(sorted(files)), remote)


def _target(workspace: Workspace, request: NewRequest) -> Path:
    target = request.kind.folder(workspace, request.slug)
    if request.output_dir is not None:
        if not request.output_dir.is_dir():
            raise InputError(
                "CMD-TPL-031",
                f"the folder {request.output_dir} for the new {request.kind.name} does not exist",
                hint="create it first, or choose another one with --output-dir",
            )
        target = request.output_dir.resolve() / request.slug
    if os.path.lexists(target):
        raise PolicyError(
            "CMD-TPL-030",
            f"{target} already exists",
            hint="choose another slug, or move the folder away",
            locations=[str(target)],
        )
    return target


def _create_ordinary(target: Path, remote: str, files: Mapping[str, File], context: Context) -> None:
    """Make a repository in a temporary folder, and move it to its path when it is complete."""
    with folder_beside(target) as fresh:
        Git(fresh, context).run(["init", "--quiet", "--template=", f"--initial-branch={BRANCH}"])
        Git(fresh, context).run(["remote", "add", "origin", remote])
        _write(fresh, files, context)
        Git(fresh, context).run(["add", "--all", "--force", "--", "."])
        commit(fresh, _MESSAGE, None, context)
        with guard_disk(target):
            os.rename(fresh, target)


def _create_worktree(
    workspace: Workspace, target: Path, remote: str, files: Mapping[str, File], context: Context
) -> None:
    """Commit into the bare clone first, then check it out, so that there is never an incomplete working copy."""
    repository = RepositoryStore(workspace.repositories, replace(context, offline=True)).repository(remote)
    existed = repository.path.exists()
    if existed:
        _check_unused(repository, context)
    try:
        repository.ensure()
        with workspace.staging("new") as staging:
            folder = staging / "files"
            folder.mkdir()
            _write(folder, files, context)
            git = [f"--git-dir={repository.path}", f"--work-tree={folder}"]
            environment = {
                "GIT_INDEX_FILE": str(staging / "index"),
                **identity_environment(repository.path, None, context),
            }
            Git(folder, context).run([*git, "add", "--all", "--force", "."], environment=environment)
            tree = Git(folder, context).run([*git, "write-tree"], environment=environment).text
            make = ["commit-tree", "--no-gpg-sign", "-m", _MESSAGE.rstrip(), tree]
            sha = Git(repository.path, context).run(make, environment=environment).text
        add = ["worktree", "add", "--quiet", "-b", BRANCH, "--", str(target), sha]
        Git(repository.path, context).run(add)
    except BaseException:
        remove_tree(target)
        _undo(workspace, repository, existed, context)
        raise


def _check_unused(repository: Repository, context: Context) -> None:
    refs = Git(repository.path, context).run(["for-each-ref", "--count=1"], check=False)
    if refs.returncode != 0 or refs.stdout:
        raise PolicyError(
            "CMD-TPL-032",
            f"there is a clone of {repository.display_url} already, with another history",
            hint=f"choose another slug or owner; or, if nothing in it is missed, remove {repository.path}",
            locations=[str(repository.path)],
        )


def _undo(workspace: Workspace, repository: Repository, existed: bool, context: Context) -> None:
    if existed:
        for arguments in (["worktree", "prune"], ["update-ref", "-d", f"refs/heads/{BRANCH}"]):
            Git(repository.path, context).run(arguments, check=False)
        return
    remove_tree(repository.path)
    remove_empty_parents(repository.path, workspace.root)


def remove_empty_parents(path: Path, root: Path) -> None:
    """Remove the empty parents of `path` below `root`."""
    for parent in path.parents:
        if parent == root or not parent.is_relative_to(root):
            return
        with contextlib.suppress(OSError):
            parent.rmdir()
            continue
        return


def _write(folder: Path, files: Mapping[str, File], context: Context) -> None:
    copy = WorkingCopy(folder, "", context)
    for path, file in files.items():
        copy.write(path, file)
