"""Two trees with Applications, and their difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import Diagnostics
from commodore.argocd.comparing import Difference, Side
from commodore.argocd.operations.options import Options, Tree
from commodore.argocd.operations.session import compare, open_session
from commodore.base.context import Context
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.conftest import but_the_version
from tests.world.folders import write_files

URL = "https://git.example.com/team/shop.git"


def app(name: str, path: str, **spec: Any) -> str:
    """The text of an Application, as JSON."""
    import json

    whole = {
        "project": "default",
        "destination": {"server": "https://kubernetes.default.svc", "namespace": name},
        "source": {"repoURL": URL, "path": path},
        **spec,
    }
    value = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": whole,
    }
    return json.dumps(value)


def config(name: str = "config", **data: str) -> str:
    """The text of a ConfigMap."""
    import json

    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


@dataclass
class Trees:
    """A base and a target, each a folder that is read as the repository."""

    root: Path
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    sides: tuple[Side, Side] = field(init=False)

    def write(self, files: Mapping[str, str], side: str = "both") -> None:
        """Write files of a side or of both."""
        for name in ("base", "target") if side == "both" else (side,):
            write_files(self.root / name, files)

    def drop(self, name: str) -> None:
        """Remove a file of the target."""
        (self.root / "target" / name).unlink()

    def diff(self, names: Sequence[str] = (), **options: Any) -> Difference:
        """Compare the trees. Nothing is fetched."""
        for side in ("base", "target"):
            (self.root / side).mkdir(parents=True, exist_ok=True)
        context = Context(ignore, DEFAULT_LIMITS, offline=True)
        with open_session(Options(context=context).having(self_url=(URL,), **options)) as session:
            trees = (Tree.folder(self.root / name) for name in ("base", "target"))
            self.sides, difference, _ = compare(session, *trees, names)
        self.diagnostics = but_the_version(session.diagnostics)
        return difference

    def states(self, names: Sequence[str] = (), **options: Any) -> dict[str, str]:
        return {
            application.name.partition("/")[2]: application.state
            for application in self.diff(names, **options).applications
        }

    def codes(self) -> list[str]:
        return [diagnostic.code for diagnostic in self.diagnostics.collected()]


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


__all__ = ["Trees", "app", "config"]
