"""Fleets for tests: a small one that is sound, which tests change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import Event
from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.fleet.cells import merge_fleet
from commodore.fleet.generating import Generated, GenerateOptions, Selection, generate
from commodore.fleet.patches import check_patches
from commodore.fleet.repository.apps import read_fleet
from tests.world.folders import write_files

CONFIG = """\
dimensions: [environments, sectors, regions]
sequence:
  environments:
    - name: int
      sectors:
        - name: int-1
          regions: [{name: r1}, {name: r2}]
        - name: int-2
          regions: [r1]
    - name: prod
      promotion: manual
      sectors:
        - name: prod-1
          regions: [r1]
        - name: prod-2
          promotion: manual
          regions: [r1, eu]
cluster_types:
  - main
"""
CELLS = ("int/int-1/r1", "int/int-1/r2", "int/int-2/r1", "prod/prod-1/r1", "prod/prod-2/r1", "prod/prod-2/eu")
DEFAULTS = "project: default\ndestination: {name: in-cluster}\n"
WEB = """\
applications:
  web:
    source:
      repoURL: https://charts.example.com
      chart: web
      targetRevision: v4.17.0
      helm:
        valuesObject: {cpu: 1, image: {tag: a}}
    syncPolicy:
      syncOptions: [CreateNamespace=true, ServerSideApply=true]
"""
DB = """\
applications:
  db:
    source: {repoURL: https://charts.example.com, chart: db, targetRevision: v1.13.3}
"""
APP = "config/main/web"


def charts(**changes: str | None) -> dict[str, str]:
    """The sound fleet in the style of charts, with some files changed, added or (None) left out."""
    defaults = "defaults:\n" + "".join(f"  {line}\n" for line in DEFAULTS.splitlines())
    return _changed(
        {
            "config/config.yaml": CONFIG,
            "config/main/application-defaults.yaml": defaults,
            f"{APP}/values.yaml": WEB,
            "config/main/db/values.yaml": DB,
        },
        changes,
    )


def manifests(**changes: str | None) -> dict[str, str]:
    """The same in the style of manifests."""
    defaults = "applications:\n  default:\n" + "".join(f"    {line}\n" for line in DEFAULTS.splitlines())
    files = {path: text for path, text in charts().items() if "application-defaults" not in path}
    return _changed({**files, "config/main/defaults.yaml": defaults}, changes)


def _changed(files: dict[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    return {path: text for path, text in {**files, **changes}.items() if text is not None}


def patch(text: str, metadata: str = "") -> str:
    """A patch of `web` in the plain form: the fields of the application, and metadata, both as lines of YAML."""
    about = "metadata:\n" + "".join(f"  {line}\n" for line in metadata.splitlines()) if metadata else ""
    return f"{about}applications:\n  web:\n" + "".join(f"    {line}\n" for line in text.splitlines())


class World:
    """A folder with a fleet, and what running says about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list[Event] = []
        self.context = Context(self.events.append, Limits())
        self.workspace = Workspace.at(root)

    def lay(self, files: Mapping[str, str]) -> World:
        write_files(self.root, files)
        return self

    def generate(self, selection: Selection | None = None, **options: Any) -> Generated:
        return generate(
            self.workspace, GenerateOptions(selection or Selection(), cached=False, **options), self.context
        )

    def refused(self, **options: Any) -> list[CommodoreError]:
        """The errors that generating ends with."""
        with pytest.raises(CommodoreError) as caught:
            self.generate(**options)
        return list(caught.value.errors) if isinstance(caught.value, Findings) else [caught.value]

    def merged(self) -> tuple[dict[str, dict[str, Any]], Diagnostics]:
        """The merged values by cell, and all that was found, without helm."""
        report = Diagnostics()
        fleet = read_fleet(self.root, report, DEFAULT_LIMITS)
        check_patches(fleet, report)
        cells = merge_fleet(fleet, fleet.config.cells(), [kind.name for kind in fleet.types], report)
        return {"/".join(cell.cell): cell.values for cell in cells}, report

    def rendered(self) -> dict[str, bytes]:
        top = self.root / "rendered"
        return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}

    def config(self) -> dict[str, bytes]:
        top = self.root / "config"
        return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}

    def values(self, cell: str, kind: str = "main") -> Any:
        return yaml.safe_load((self.root / "rendered" / kind / cell / "values.yaml").read_bytes())


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def codes(report: Diagnostics) -> list[str]:
    """The codes of all that was found."""
    return [item.code for item in (*report.added("error"), *report.added("warning"), *report.added("info"))]
