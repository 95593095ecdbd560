"""Reading the settings of an installation from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd.configuration.chart_values import objects_of_values
from commodore.argocd.configuration.customisations import read_overrides
from commodore.argocd.configuration.keys import CONFIG, PARAMETERS, key_lines, unknown_keys
from commodore.argocd.configuration.model import (
    DEFAULTS,
    PARAMETER_DEFAULTS,
    ArgoSettings,
    Level,
    LocatedValue,
    with_defaults,
)
from commodore.argocd.configuration.operator import KIND as OPERATED
from commodore.argocd.configuration.operator import config_maps_of
from commodore.argocd.configuration.profiles import NEWEST, Profile
from commodore.argocd.model.cluster import SECRET_TYPE, Cluster, read_cluster
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.plugins import PluginRule, rule_of_definition
from commodore.argocd.model.repository import REPOSITORY_TYPES, KnownRepository, read_repository
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import InputError, Location
from commodore.base.limits import Limits
from commodore.base.printable import some_of
from commodore.base.yaml.kube_yaml import read_documents, read_placed_documents

_SHOWN_PLACES = 10
PLUGIN = "plugin.yaml"
"""The key of a ConfigMap with the definition of a plugin."""


@dataclass
class Candidates:
    """Candidates for the settings of an installation, collected from files of several levels.

    Levels are added in descending precedence; a key that is set already is kept.

    Attributes:
        defaults: defaults of keys of `argocd-cm`, in addition to those of Argo CD.
        conflicts: the places of keys that a level sets to several values, the effective one first.
        lines: the lines of keys, by the places of their documents.
    """

    diagnostics: Diagnostics
    namespace: str = ""
    config: dict[str, LocatedValue] = field(default_factory=dict)
    parameters: dict[str, LocatedValue] = field(default_factory=dict)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    projects: list[tuple[Mapping[str, Any], Location]] = field(default_factory=list)
    profile: Profile = NEWEST
    plugins: list[PluginRule] = field(default_factory=list)
    repositories: dict[tuple[bool, str], KnownRepository] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    conflicts: dict[str, list[Location]] = field(default_factory=dict)
    lines: dict[Location, dict[str, int]] = field(default_factory=dict)

    def config_map(self, fields: Fields, level: Level) -> None:
        """Add a ConfigMap `argocd-cm` or `argocd-cmd-params-cm`."""
        metadata = fields.fields("metadata")
        table = self.config if metadata.text("name") == CONFIG else self.parameters
        if metadata.text("name") == CONFIG and not self.namespace:
            self.namespace = metadata.text("namespace")
        for key, value in fields.text_map("data").items():
            self._take(table, key, LocatedValue(value, level, self._place_of(key, fields.place)))

    def _place_of(self, key: str, place: Location) -> Location:
        line = self.lines.get(place, {}).get(key)
        return Location(place.place, line) if line is not None else place

    def secret(self, fields: Fields) -> None:
        """Add a Secret, if it is that of a cluster or a repository."""
        kind = fields.fields("metadata").text_map("labels").get(SECRET_TYPE)
        if kind == "cluster":
            cluster = read_cluster(fields.data, fields.place)
            self.clusters.setdefault(cluster.server, cluster)
        elif kind in REPOSITORY_TYPES:
            known = read_repository(fields.data, kind, fields.place)
            self.repositories.setdefault((known.template, known.url), known)

    def operated(self, value: Any, place: Location, level: Level) -> None:
        """Add an `ArgoCD`, from which the operator creates ConfigMaps."""
        for config_map in config_maps_of(value, place):
            self.config_map(Fields.of(config_map, "", place), level)

    def take(self, value: Mapping[str, Any], place: Location, level: Level = "tree") -> None:
        """Add an object with settings. Errors in it are reported. Of AppProjects with equal names, the first counts."""
        kind = value.get("kind")
        try:
            fields = Fields.of(value, "", place)
            if kind == "AppProject":
                name = fields.fields("metadata").text("name")
                if all(project["metadata"].get("name") != name for project, _ in self.projects):
                    self.projects.append((value, place))
            elif kind == OPERATED:
                self.operated(value, place, level)
            elif kind == "ConfigManagementPlugin":
                self.plugins += filter(None, [rule_of_definition(value, place)])
            elif kind == "ConfigMap" and PLUGIN in fields.fields("data"):
                for definition in read_documents(fields.fields("data").text(PLUGIN), place=place.place):
                    self.plugins += filter(None, [rule_of_definition(definition, place)])
            elif kind == "ConfigMap":
                self.config_map(fields, level)
            elif kind == "Secret":
                self._secret_of_tree(fields)
        except InputError as error:
            self.diagnostics.take(error)

    def _secret_of_tree(self, fields: Fields) -> None:
        try:
            self.secret(fields)
        except InputError as error:
            if fields.fields("metadata").text_map("labels").get(SECRET_TYPE) not in REPOSITORY_TYPES:
                raise
            message = f"the Secret of a repository cannot be read: {error.message}"
            self.diagnostics.add(Diagnostic("CMD-ARGO-124", message, "info", locations=(fields.place,)))

    def settings(self, namespace: str = "") -> ArgoSettings:
        """Return the settings, with defaults for missing keys."""
        places = {key: (setting.value, setting.place or Location(CONFIG)) for key, setting in self.config.items()}
        _check(self.config, self.diagnostics)
        for diagnostic in (*unknown_keys(CONFIG, self.config), *unknown_keys(PARAMETERS, self.parameters)):
            self.diagnostics.add(diagnostic)
        self._report_conflicts()
        return ArgoSettings(
            namespace=namespace or self.namespace or "argocd",
            config=with_defaults(self.config, {**DEFAULTS, **self.defaults}),
            parameters=with_defaults(self.parameters, PARAMETER_DEFAULTS),
            clusters=tuple(sorted(self.clusters.values(), key=lambda cluster: (cluster.name, cluster.server))),
            overrides=read_overrides(places, self.diagnostics),
            projects=tuple(self.projects),
            profile=self.profile,
            plugins=tuple(self.plugins),
            repositories=tuple(self.repositories.values()),
        )

    def _take(self, table: dict[str, LocatedValue], key: str, new: LocatedValue) -> None:
        known = table.get(key)
        if known is None:
            table[key] = new
            return
        assert known.place is not None
        assert new.place is not None
        if known.level != new.level:
            overridden = (*known.overridden, new.place)
            table[key] = LocatedValue(known.value, known.level, known.place, overridden)
        elif known.value != new.value:
            self.conflicts.setdefault(key, [known.place]).append(new.place)

    def _report_conflicts(self) -> None:
        """Report the settings with conflicting values, those of the same places together."""
        together: dict[tuple[Location, ...], list[str]] = {}
        for key, places in self.conflicts.items():
            together.setdefault(tuple(places), []).append(key)
        for where, keys in together.items():
            what = f"the setting {keys[0]} is" if len(keys) == 1 else f"the settings {some_of(keys)} are"
            times = "twice" if len(where) == 2 else f"{len(where)} times"
            self.diagnostics.add(
                Diagnostic(
                    "CMD-ARGO-120",
                    f"{what} set {times} to different values; the first one counts",
                    "warning",
                    hint="keep one of them, or leave the others out by ignore-path in .commodore.yaml",
                    locations=where[:_SHOWN_PLACES],
                )
            )


def lines_of(content: bytes, value: Any, line: int) -> dict[str, int]:
    """Return the lines of the settings of an object, if it is one of Argo CD's ConfigMaps.

    Args:
        content: the file.
        line: the first line of the document.
    """
    if not isinstance(value, Mapping) or value.get("kind") != "ConfigMap":
        return {}
    metadata, data = value.get("metadata"), value.get("data")
    is_ours = isinstance(metadata, Mapping) and metadata.get("name") in (CONFIG, PARAMETERS)
    return key_lines(content, line, data) if is_ours and isinstance(data, Mapping) else {}


def read_settings(files: Iterable[Path], limits: Limits, diagnostics: Diagnostics) -> ArgoSettings:
    """Read the settings of an installation from files only, see `read_candidates`."""
    return read_candidates(files, limits, diagnostics).settings()


def read_candidates(
    files: Iterable[Path], limits: Limits, diagnostics: Diagnostics, candidates: Candidates | None = None
) -> Candidates:
    """Read YAML streams with objects of an installation: ConfigMaps, ArgoCDs, cluster Secrets, AppProjects.

    Args:
        diagnostics: collects conflicts and invalid values.
        candidates: candidates that take precedence over the files, to which they are added.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103, an object in it is of another kind, or a field
            has a wrong type.
    """
    candidates = Candidates(diagnostics) if candidates is None else candidates
    for file in files:
        content = read_file(file, limits)
        for value, line in read_placed_documents(content, place=str(file)):
            place = Location(str(file), line)
            candidates.lines[place] = lines_of(content, value, line)
            _add(candidates, value, place)
    return candidates


def take_values(candidates: Candidates, files: Iterable[Path], limits: Limits) -> None:
    """Add the settings of files with values of the Argo CD chart, at the level of options.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read.
    """
    for file in files:
        content = read_file(file, limits)
        for value, line in read_placed_documents(content, place=str(file)):
            place = Location(str(file), line)
            for data in objects_of_values(value):
                candidates.lines.setdefault(place, {}).update(lines_of(content, data, line))
                candidates.take(data, place, "option")


def _add(candidates: Candidates, value: Any, place: Location) -> None:
    fields = Fields.of(value, "", place)
    kind, name = fields.text("kind"), fields.fields("metadata").text("name")
    if kind == "ConfigMap" and name in (CONFIG, PARAMETERS):
        candidates.config_map(fields, "option")
    elif kind == OPERATED:
        candidates.operated(value, place, "option")
    elif kind == "Secret":
        candidates.secret(fields)
    elif kind == "AppProject":
        candidates.projects.append((fields.data, place))
    else:
        raise InputError(
            "CMD-ARGO-103",
            f"{kind or 'an object without kind'} {name!r} is not a setting of Argo CD",
            hint=f"the file holds ConfigMaps {CONFIG} and {PARAMETERS}, ArgoCDs, Secrets of clusters and AppProjects",
            locations=[place],
        )


def read_file(file: Path, limits: Limits) -> bytes:
    """Return the content of a file that is named by an option or in a tree.

    Raises:
        InputError: CMD-ARGO-101, it cannot be read or is too large.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(limits.argocd_file_bytes + 1)  # one more shows a larger file
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            "CMD-ARGO-101", f"the file {file} cannot be read: {reason}", hint="check its path and permissions"
        ) from error
    if len(content) > limits.argocd_file_bytes:
        raise InputError(
            "CMD-ARGO-101",
            f"the file {file} is larger than {limits.argocd_file_bytes} bytes",
            hint="split it; objects of Argo CD are small",
        )
    return content


_METHODS = ("annotation", "label", "annotation+label")


def _check(config: Mapping[str, LocatedValue], diagnostics: Diagnostics) -> None:
    method = config.get("application.resourceTrackingMethod")
    if method is not None and method.value not in _METHODS:
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-121",
                f"application.resourceTrackingMethod is {method.value!r}, which counts as 'annotation'",
                "warning",
                hint=f"write one of {', '.join(_METHODS)}",
                locations=(method.place,) if method.place else (),
            )
        )
