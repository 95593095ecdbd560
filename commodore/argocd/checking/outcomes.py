"""What testing Applications comes to: each is rendered, and its project is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from commodore.argocd.checking.projects import Projects
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.diagnostics import Diagnostic, Diagnostics
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application
from commodore.argocd.rendering import Renderer
from commodore.errors import CommodoreError

_SKIPPED = frozenset(("CMD-ARGO-420",))  # what is not rendered by decision


@dataclass(frozen=True, slots=True)
class Outcome:
    """One Application.

    Attributes:
        name: `namespace/name`.
        objects: how many it has.
        problems: the errors, or why it is skipped.
    """

    name: str
    status: Literal["PASS", "FAIL", "SKIPPED"]
    objects: int
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Tester:
    """Tests Applications of one installation.

    Args:
        cluster_scoped: kinds without namespace, see `desired`.
        found: hears of everything.
    """

    settings: ArgoSettings
    renderer: Renderer
    cluster_scoped: Sequence[str]
    found: Diagnostics

    def run(self, applications: Sequence[Application], jobs: int) -> Iterator[Outcome]:
        """Test Applications, in their order.

        Args:
            jobs: see `Renderer.render_all`.
        """
        projects = Projects(self.settings, self.found, "error")
        for application, rendered in self.renderer.render_all(applications, jobs):
            label = f"{application.namespace or self.settings.namespace}/{application.name}"
            heard = Diagnostics()
            count = 0
            try:
                if isinstance(rendered, CommodoreError):
                    raise rendered
                tracked = manifests(application, rendered, self.settings, heard)
                objects = desired(application, tracked, self.settings, self.cluster_scoped, heard)
                count = len(objects)
                projects.check(application, objects, heard)
            except CommodoreError as error:
                heard.take(error, application=label)
            self.found.join(heard)
            problems = tuple(one for one in heard.found() if one.severity == "error")
            skipped = bool(problems) and all(one.code in _SKIPPED for one in problems)
            yield Outcome(label, "SKIPPED" if skipped else "FAIL" if problems else "PASS", count, problems)
