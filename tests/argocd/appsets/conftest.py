"""ApplicationSets with repositories, clusters and facts."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.argocd import ArgoSettings, Diagnostics
from commodore.argocd.appsets import Expander, Facts, Generated, read_facts, read_set
from commodore.argocd.configuration import NEWEST, LocatedValue, Profile
from commodore.argocd.model import Cluster
from commodore.argocd.model.cluster import SECRET_TYPE
from commodore.argocd.trees import Tree, folder_tree
from commodore.base.context import Context
from commodore.base.errors import Location
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.base.yaml.kube_yaml import read_documents
from tests.world.folders import write_files

GIT = "https://git.example.com/apps.git"
DESTINATION = {"server": "https://kubernetes.default.svc", "namespace": "x"}


@dataclass
class Sets:
    """The inputs for expanding ApplicationSets."""

    root: Path
    clusters: list[Cluster] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    parameters: dict[str, str] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    profile: Profile = NEWEST
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def files(self, files: Mapping[str, str | bytes], *, tracked: bool = True) -> None:
        """Write files of the repository `GIT`; tracked files are in its index."""
        self.root.mkdir(exist_ok=True)
        write_files(self.root, files)
        if tracked:
            for command in (["init", "-q"], ["add", "-A"]):
                subprocess.run(["git", *command], cwd=self.root, check=True)

    def cluster(self, name: str, **labels: str) -> None:
        """Add a cluster with a Secret; further fields of it are changed with `clusters`."""
        kind = {SECRET_TYPE: "cluster"}
        self.clusters.append(Cluster(name, f"https://{name}.example.com", labels=kind | labels))

    def fact_file(self, text: str) -> None:
        """Read facts from a file with this text."""
        self.root.mkdir(exist_ok=True)
        file = self.root.parent / "facts.yaml"
        file.write_text(text, encoding="utf-8")
        self.facts = read_facts([file], self.limits)

    def expand(self, text: str) -> list[Generated]:
        """Return the Applications of a set; errors are in `diagnostics`."""
        parameters = {key: LocatedValue(value, "option") for key, value in self.parameters.items()}
        settings = ArgoSettings(clusters=tuple(self.clusters), parameters=parameters, profile=self.profile)
        expander = Expander(
            settings, self._repository, self.facts, Context(ignore, self.limits, True), self.diagnostics
        )
        value = next(read_documents(text, place="set.yaml"))
        return expander.expand(read_set(value, Location("set.yaml", 1)))

    def _repository(self, url: str, revision: str) -> Tree:
        self.asked.append((url, revision))
        return folder_tree(self.root, Context(ignore, self.limits, True))

    def names(self, generators: Sequence[Any], name: str, *, go: bool = True, **spec: Any) -> list[str]:
        """Return the names from generators and a template of the name."""
        return [generated.name for generated in self.expand(set_text(generators, name, go=go, **spec))]

    def codes(self) -> list[str]:
        """Return the codes of the diagnostics, without their prefix."""
        return [diagnostic.code.removeprefix("CMD-ARGO-") for diagnostic in self.diagnostics.collected()]

    def warnings(self) -> list[str]:
        """Return the codes and messages of the warnings."""
        told = (diagnostic for diagnostic in self.diagnostics.collected() if diagnostic.severity == "warning")
        return [f"{diagnostic.code.removeprefix('CMD-ARGO-')} {diagnostic.message}" for diagnostic in told]

    def error(self) -> str:
        """Return the message of the only error."""
        (error,) = (error for error in self.diagnostics.collected() if error.severity == "error")
        return f"{error.code.removeprefix('CMD-ARGO-')} {error.message}"


def set_text(generators: Sequence[Any], name: str, *, go: bool = True, **spec: Any) -> str:
    """Return the text of an ApplicationSet."""
    template = {
        "metadata": {"name": name},
        "spec": {"project": "default", "source": {"repoURL": GIT, "path": "x"}, "destination": DESTINATION},
    }
    data = {
        "kind": "ApplicationSet",
        "metadata": {"name": "s", "namespace": "argocd"},
        "spec": {"goTemplate": go, "generators": list(generators), "template": template, **spec},
    }
    return yaml.safe_dump(data, sort_keys=False)


@pytest.fixture
def sets(tmp_path: Path) -> Sets:
    return Sets(tmp_path / "apps")
