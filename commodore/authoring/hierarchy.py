"""`commodore init`: create an empty hierarchy, and a cluster file to compile it without an API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from commodore.authoring.rendering import File
from commodore.authoring.working_copy import WorkingCopy
from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError
from commodore.base.files.workspace import folder_beside, guard_disk
from commodore.base.names import check_name
from commodore.core.sources.git import Git, commit

BRANCH = "main"
GLOBAL, TENANT, CATALOG, CLUSTER_FILE = "global-defaults", "tenant-config", "catalog.git", "cluster.yml"
_MESSAGE = "Begin an empty hierarchy\n"

_GLOBAL_FILES = {
    "commodore.yml": """\
# Where the hierarchy begins: the classes of every cluster, in order. Later ones win.
classes:
  - global.common
  - global.distribution.${facts:distribution}
  - ${cluster:tenant}.common
  - ${cluster:tenant}.${cluster:name}
""",
    "common.yml": """\
# What all clusters have.
applications: []

parameters:
  # Where components come from, in which version:
  #   my-component:
  #     url: https://github.com/example/component-my-component.git
  #     version: v1.0.0
  components: {}
""",
    "distribution/none.yml": """\
# What clusters with the fact `distribution: none` have. Make one such file for each distribution.
parameters: {}
""",
}
_TENANT_COMMON = """\
# What all clusters of the tenant have.
applications: []
parameters: {}
"""
_TENANT_CLUSTER = """\
# What this cluster has. An entry of `applications` deploys a component.
applications: []
parameters: {}
"""
_CLUSTER = """\
# Replaces the Lieutenant API: commodore catalog compile %(cluster)s --cluster-file cluster.yml
cluster:
  id: %(cluster)s
  displayName: %(cluster)s
  tenant: %(tenant)s
  facts:
    cloud: none
    distribution: none
  gitRepo:
    url: ./catalog.git
tenant:
  id: %(tenant)s
  displayName: %(tenant)s
  gitRepo:
    url: ./tenant-config
  globalGitRepoURL: ./global-defaults
"""


@dataclass(frozen=True, slots=True)
class HierarchyRequest:
    """A new hierarchy: a folder that does not exist or is empty, and the ids of its first cluster and tenant."""

    folder: Path
    cluster: str
    tenant: str


def create_hierarchy(request: HierarchyRequest, context: Context) -> Path:
    """Make repositories for global defaults and a tenant with one commit each, an empty one for the catalog, and a
    cluster file that names them. Returns the cluster file. Nothing is pushed; after an error everything is removed.

    Raises:
        InputError: an id is invalid (CMD-NAME-001), or the parent folder does not exist (CMD-TPL-031).
        PolicyError: the folder is not empty (CMD-TPL-030).
        EnvironmentFault: the disk or git failed.
    """
    check_name(request.cluster, "cluster")
    check_name(request.tenant, "tenant")
    folder = request.folder.absolute()
    _check_place(folder)
    with folder_beside(folder) as fresh:
        with guard_disk(folder):
            names = {"cluster": request.cluster, "tenant": request.tenant}
            (fresh / CLUSTER_FILE).write_text(_CLUSTER % names, encoding="utf-8")
        _create_repository(fresh / GLOBAL, _GLOBAL_FILES, context)
        tenant_files = {"common.yml": _TENANT_COMMON, f"{request.cluster}.yml": _TENANT_CLUSTER}
        _create_repository(fresh / TENANT, tenant_files, context)
        Git(fresh, context).run(["init", "--quiet", "--bare", "--template=", f"--initial-branch={BRANCH}", CATALOG])
        with guard_disk(folder):
            os.rename(fresh, folder)
    return request.folder / CLUSTER_FILE


def _check_place(folder: Path) -> None:
    if not folder.parent.is_dir():
        raise InputError(
            "CMD-TPL-031",
            f"the folder {folder.parent} for the new hierarchy does not exist",
            hint="make it first, or name another one",
        )
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir() or any(folder.iterdir())):
        raise PolicyError(
            "CMD-TPL-030",
            f"{folder} already exists",
            hint="name a folder that does not exist, or is empty",
            locations=[str(folder)],
        )


def _create_repository(folder: Path, files: Mapping[str, str], context: Context) -> None:
    with guard_disk(folder):
        folder.mkdir()
    Git(folder, context).run(["init", "--quiet", "--template=", f"--initial-branch={BRANCH}"])
    copy = WorkingCopy(folder, "", context)
    for path, text in files.items():
        copy.write(path, File(text.encode()))
    Git(folder, context).run(["add", "--all", "--force", "--", "."])
    commit(folder, _MESSAGE, None, context)
