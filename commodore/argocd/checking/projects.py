"""The rules of AppProjects: allowed repositories, destinations, kinds and namespaces."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.appsets import selects
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model import IN_CLUSTER, IN_CLUSTER_SERVER, Cluster
from commodore.argocd.model.application import Application
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.project import AllowedDestination, KindRule, Project, read_project
from commodore.argocd.rendering import Rendered
from commodore.base.diagnostics import Diagnostic, Diagnostics, Severity, Subject
from commodore.base.errors import InputError, Location, did_you_mean
from commodore.base.kubernetes import key_of
from commodore.base.values.globs import matches
from commodore.base.yaml.kube_yaml import read_documents
from commodore.core.sources.git import redact

DEFAULT = "default"


class Projects:
    """The AppProjects in view.

    Args:
        diagnostics: collects projects that cannot be read, and their fields that are not checked.
        severity: of diagnostics about Applications.
    """

    def __init__(self, settings: ArgoSettings, diagnostics: Diagnostics, severity: Severity = "warning") -> None:
        self._settings = settings
        self._severity = severity
        self._known: dict[str, Project] = {}
        for value, place in settings.projects:
            try:
                project = read_project(value, place)
            except InputError as error:
                diagnostics.take(error)
                continue
            self._known.setdefault(project.name, project)
            if project.runtime:
                names = ", ".join(project.runtime)
                message = f"{names} of the AppProject {project.name} matter only to a running Argo CD"
                diagnostics.add(Diagnostic("CMD-ARGO-608", message, "info", locations=(place,)))
        if not self._known:
            diagnostics.add(Diagnostic("CMD-ARGO-608", "no AppProject is in view, so projects are not checked", "info"))
        self._globals = tuple(_globals(settings, diagnostics))

    def check(self, application: Application, objects: Iterable[Rendered], diagnostics: Diagnostics) -> None:
        """Report repositories, objects and destinations that the project of an Application does not allow.

        Args:
            objects: as Argo CD compares them with the cluster, with their namespaces.
        """
        if not self._known:
            return
        report = _Report(application, self._settings, self._severity, diagnostics)
        project = self._of(application)
        if project is None:
            if application.project != DEFAULT:
                hint = did_you_mean(application.project, self._known) or f"there are {', '.join(sorted(self._known))}"
                report.add("CMD-ARGO-601", f"there is no AppProject {application.project}", hint)
            return
        self._check_namespace(application, project, report)
        for source in application.sources:
            if source.repo_url and not allows_repository(project, source.repo_url):
                message = f"the project {project.name} does not allow the repository {redact(source.repo_url)}"
                report.add("CMD-ARGO-602", message, "add it to spec.sourceRepos of the AppProject")
        self._check_objects(application, project, objects, report)

    def _of(self, application: Application) -> Project | None:
        project = self._known.get(application.project)
        if project is None:
            return None
        for selector, name in self._globals:
            other = self._known.get(name)
            if other is not None and name != project.name and selects(selector, project.labels, project.place):
                project = project.joined(other)
        return project

    def _check_namespace(self, application: Application, project: Project, report: _Report) -> None:
        namespace = application.namespace
        if namespace in ("", self._settings.namespace):
            return
        if not any(fits_namespace(pattern, namespace) for pattern in project.namespaces):
            message = f"the project {project.name} does not allow Applications in the namespace {namespace}"
            report.add("CMD-ARGO-605", message, "add it to spec.sourceNamespaces of the AppProject")

    def _check_objects(
        self, application: Application, project: Project, objects: Iterable[Rendered], report: _Report
    ) -> None:
        server, name = _cluster(application, self._settings.clusters)
        namespaces = {application.destination.namespace: ""}
        for rendered in objects:
            key = key_of(rendered.data)
            if not allows_kind(project, key.group, key.kind, key.name, namespaced=bool(key.namespace)):
                message = f"the project {project.name} does not allow {key.kind}"
                message += f" of {key.group}" if key.group else ""
                hint = "see the lists of kinds of the AppProject"
                report.add("CMD-ARGO-604", message, hint, str(key))
            if key.namespace:
                namespaces.setdefault(key.namespace, str(key))
        for namespace, subject in sorted(namespaces.items()):
            if allows_destination(project, server, name, namespace):
                continue
            where = f"the namespace {namespace} of {name or server}"
            if not server:
                message = f"the cluster {name} is unknown: whether {project.name} allows it cannot be checked"
                report.add("CMD-ARGO-607", message, "add its Secret to the objects of --installation")
                return
            message = f"the project {project.name} does not allow {where}"
            report.add("CMD-ARGO-603", message, "add it to spec.destinations of the AppProject", subject)
        self._check_scope(project, server, name, report)

    def _check_scope(self, project: Project, server: str, name: str, report: _Report) -> None:
        if not project.scoped:
            return
        owner = next((cluster.project for cluster in self._settings.clusters if cluster.server == server), None)
        if owner != project.name:
            message = (
                f"the project {project.name} allows only clusters of its own, and {name or server} is not one of them"
            )
            report.add("CMD-ARGO-603", message, "give the cluster's Secret the project")


class _Report:
    """Adds diagnostics about one Application."""

    def __init__(
        self, application: Application, settings: ArgoSettings, severity: Severity, diagnostics: Diagnostics
    ) -> None:
        self._label = settings.label(application.namespace, application.name)
        self._place = application.place
        self._severity = severity
        self._diagnostics = diagnostics

    def add(self, code: str, message: str, hint: str, subject: str = "") -> None:
        family = "policy" if self._severity == "error" else ""
        concerns = Subject(application=self._label, object=subject)
        self._diagnostics.add(Diagnostic(code, message, self._severity, hint, family, concerns, (self._place,)))


def allows_repository(project: Project, url: str) -> bool:
    """Check if a project allows a repository. A matching denial decides; a list of denials only allows the rest."""
    repository = repository_identity(url)
    allowed = False
    for pattern in project.repositories:
        denies = pattern.startswith("!")
        plain = pattern.removeprefix("!")
        fits = plain == "*" or matches(repository_identity(plain), repository, separator="/")
        if denies and fits:
            return False
        allowed = allowed or fits != denies
    return allowed


def allows_destination(project: Project, server: str, name: str, namespace: str) -> bool:
    """Check if a project allows a namespace of a cluster. Each part of an entry may be a denial."""
    allowed = False
    for destination in project.destinations:
        by_server, by_name = _fits(destination.server, server), _fits(destination.name, name)
        in_namespace = _fits(destination.namespace, namespace)
        cluster = by_server or by_name
        if _denies(destination, by_server, by_name, in_namespace):
            return False
        allowed = allowed or (cluster and in_namespace)
    return allowed


def _denies(destination: AllowedDestination, by_server: bool, by_name: bool, in_namespace: bool) -> bool:
    return (
        (destination.name.startswith("!") and not by_name)
        or (destination.server.startswith("!") and not by_server and in_namespace)
        or (destination.namespace.startswith("!") and not in_namespace and (by_server or by_name))
    )


def _fits(pattern: str, text: str) -> bool:
    """Check if a pattern, which may be a denial, matches a text. An empty pattern matches nothing."""
    if pattern.startswith("!"):
        return not matches(pattern[1:], text)
    return bool(pattern) and matches(pattern, text)


def allows_kind(project: Project, group: str, kind: str, name: str, *, namespaced: bool) -> bool:
    """Check if a project allows a kind. Cluster-wide kinds are allowed only if listed."""
    allowed = project.namespaced_kinds if namespaced else project.cluster_kinds or ()
    denied = project.namespaced_kinds_denied if namespaced else project.cluster_kinds_denied
    if any(_is(rule, group, kind, name) for rule in denied):
        return False
    return allowed is None or any(_is(rule, group, kind, name) for rule in allowed)


def _is(rule: KindRule, group: str, kind: str, name: str) -> bool:
    return (
        fnmatch.fnmatchcase(group, rule.group)
        and fnmatch.fnmatchcase(kind, rule.kind)
        and (not rule.name or fnmatch.fnmatchcase(name, rule.name))
    )


def fits_namespace(pattern: str, namespace: str) -> bool:
    """Check if a namespace matches a pattern, or a regular expression between slashes."""
    if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
        from commodore.base.gotemplate import CallProblem, search_regexp

        try:
            return search_regexp(pattern[1:-1], namespace) is not None
        except CallProblem:
            return False
    return matches(pattern, namespace)


def _cluster(application: Application, clusters: tuple[Cluster, ...]) -> tuple[str, str]:
    """Return address and name of the cluster of an Application, each empty if unknown."""
    destination = application.destination
    server = destination.address(clusters)
    names = {cluster.server: cluster.name for cluster in clusters}
    name = destination.name or names.get(server, IN_CLUSTER if server == IN_CLUSTER_SERVER else "")
    return server, name


def _globals(settings: ArgoSettings, diagnostics: Diagnostics) -> Iterable[tuple[Mapping[str, Any], str]]:
    """Yield the entries of `globalProjects`: the label selector of projects, and the name of the global project."""
    given = settings.config.get("globalProjects")
    if given is None or not given.value:
        return
    place = given.place or Location("globalProjects")
    try:
        content: Any = next(read_documents(given.value, place="globalProjects"), [])
        for entry in Fields({"globalProjects": content}, "", place).items("globalProjects"):
            yield entry.fields("labelSelector").data, entry.text("projectName")
    except InputError as error:
        diagnostics.take(error)
