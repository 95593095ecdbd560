"""Parsing of Applications and of entries of `hydrate.yaml`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from commodore.argocd import GENERATE_PATHS, Fields
from commodore.base.errors import CommodoreError, InputError, Location, did_you_mean
from commodore.base.events import Warned
from commodore.base.fields import kind_of
from commodore.base.values.versions import is_exact
from commodore.core.lieutenant import Cluster
from commodore.core.sources.git import Author, normalize, redact, repository_key
from commodore.hydrate.branches.layout import check_branch, output_path
from commodore.hydrate.branches.texts import NO_TEXTS, Texts, read_template
from commodore.hydrate.model import Additional, Catalog, Hydration, revision_of

Clusters = Callable[[str], Cluster]
"""Returns the cluster with an id, or raises a CommodoreError."""

API_VERSION = "commodore.dev/v1alpha1"
CONFIG_KIND = "HydrateConfig"
_ENTRY_KIND = "HydrateEntry"  # the kind of entries of a `hydrate.yaml`, which allow more fields than Applications
_DRY = ("repoURL", "targetRevision", "path", "helm", "kustomize", "directory", "plugin")
_OPTIONS = ("helm", "kustomize", "directory")
_ADDITIONAL = ("repoURL", "targetRevision", "path", "chart", "ref", *_OPTIONS)
_SYNC = ("targetBranch", "path", "repoURL")
_NAMING = ("repoURL", "targetRevision", "path", "targetBranch", "chart", "ref", "name", "catalog")
_OTHER_SOURCE = re.compile(r"\$(?!ARGOCD_|\$)\w[^/]*/")
_OLD_WORDS = {"drySources": "drySource", "writeTo": "hydrateTo"}


def is_hydrated(application: Mapping[str, Any]) -> bool:
    """Return True if an Application has a source hydrator."""
    spec = application.get("spec")
    return isinstance(spec, Mapping) and spec.get("sourceHydrator") is not None


def read_hydration(
    application: Mapping[str, Any],
    place: Location,
    *,
    lenient: bool = False,
    options_in_git: bool = False,
    clusters: Clusters | None = None,
) -> Hydration:
    """Parse and check an Application with a source hydrator.

    Args:
        lenient: ignore a source in addition to `sourceHydrator`, as Argo CD does.
        options_in_git: refuse options of tools outside of the repository's files.
        clusters: returns clusters whose catalogs are hydrated; None if catalogs are not supported.

    Raises:
        InputError: CMD-HYD-002 to CMD-HYD-005, CMD-HYD-010, CMD-HYD-019, fields are missing, invalid, or not supported
            for hydration.
        PolicyError: CMD-HYD-007, CMD-HYD-008, it writes to a forbidden branch or path.
    """
    fields = Fields.of(application, "", place)
    metadata, spec = fields.fields("metadata"), fields.fields("spec")
    is_entry = application.get("kind") == _ENTRY_KIND
    if not lenient and (other := _other_source(spec)):
        raise InputError(
            "CMD-HYD-003",
            f"Application {metadata.text('name')} has both {other} and a source hydrator",
            hint=f"remove {other}, which Argo CD ignores then",
            locations=[place.at(other)],
        )
    hydrator = _hydrator(spec, metadata.text("name"), is_entry=is_entry)
    dry, sync, to = hydrator.fields("drySource"), hydrator.fields("syncSource"), hydrator.optional("hydrateTo")
    _check_known(sync, _SYNC)
    if is_entry and "catalog" in dry:
        origin = _catalog(hydrator, clusters)
    else:
        origin = _files(hydrator, options_in_git, is_entry=is_entry)
    branch = _branch(sync)
    if to is not None:
        _check_known(to, ("targetBranch",))
    target = branch if to is None else _branch(to)
    return Hydration(
        name=metadata.required("name"),
        namespace=metadata.text("namespace"),
        project=spec.text("project") or "default",
        dry_url=_git_url(origin.url, dry, "repoURL"),
        dry_revision=origin.revision,
        dry_path=dry.text("path"),
        url=_git_url(sync.text("repoURL") or origin.destination, sync, "repoURL"),
        sync_branch=branch,
        branch=target,
        path=output_path(sync.text("path"), sync.place.below(sync.at("path"))),
        target_namespace=spec.fields("destination").text("namespace"),
        settings=_settings(hydrator),
        generate_paths=metadata.text_map("annotations").get(GENERATE_PATHS, ""),
        place=place.below(hydrator.path),
        catalog=origin.catalog,
        additional=origin.additional,
    )


def _other_source(spec: Fields) -> str:
    """Return the field of an Application that Argo CD ignores because of its source hydrator; empty if absent."""
    return next((f"spec.{key}" for key in ("sources", "source") if key in spec), "")


def warn_of_other_sources(
    applications: Iterable[tuple[Mapping[str, Any], Location]], announce: Callable[[Warned], None]
) -> None:
    """Warn about Applications with an ignored source in addition to their source hydrator."""
    for application, place in applications:
        fields = Fields.of(application, "", place)
        if other := _other_source(fields.fields("spec")):
            message = f"{fields.fields('metadata').text('name')} has both {other} and a source hydrator"
            announce(Warned("CMD-HYD-003", f"Application {message}", hint=f"remove {other}, which is ignored"))


def _hydrator(spec: Fields, name: str, *, is_entry: bool) -> Fields:
    """Return the fields of a source hydrator; fields of an entry have the names of `hydrate.yaml`."""
    hydrator = spec.fields("sourceHydrator")
    if is_entry:
        hydrator = Fields(hydrator.data, f"entries.{name}", spec.place)
    _check_known(hydrator, ("drySource", "syncSource", "hydrateTo", *(["additionalSources"] if is_entry else [])))
    return hydrator


def _settings(hydrator: Fields) -> dict[str, Any]:
    """Return the fields that affect rendering, except fields with an attribute of `Hydration`."""
    dry = hydrator.fields("drySource")
    settings = {key: dry.raw(key) for key in (*_OPTIONS, "catalog", "ref") if key in dry}
    if "additionalSources" in hydrator:
        settings["additionalSources"] = hydrator.raw("additionalSources")
    return settings


class _Origin(NamedTuple):
    """The dry source, and the default destination repository."""

    url: str
    revision: str
    destination: str
    catalog: Catalog | None = None
    additional: tuple[Additional, ...] = ()


def _files(hydrator: Fields, options_in_git: bool, *, is_entry: bool) -> _Origin:
    dry = hydrator.fields("drySource")
    _check_known(dry, (*_DRY, "ref") if is_entry else _DRY)
    additional = tuple(_additional(item, dry, options_in_git) for item in hydrator.items("additionalSources"))
    _check_dry(dry, options_in_git, {str(item.data.get("ref")) for item in additional})
    url = _required(dry, "repoURL")
    return _Origin(url, dry.text("targetRevision"), url, additional=additional)


def _additional(fields: Fields, dry: Fields, options_in_git: bool) -> Additional:
    _check_known(fields, _ADDITIONAL)
    _check_options(fields, options_in_git)
    url, revision, chart = _required(fields, "repoURL"), fields.text("targetRevision"), fields.text("chart")
    if chart and not is_exact(revision):
        raise InputError(
            "CMD-HYD-043",
            f"{fields.at('targetRevision')} is {revision or 'missing'}: expected an exact version of the chart {chart}",
            hint="write an exact version: the same dry commit must render the same manifests",
            locations=[fields.place_of("targetRevision")],
        )
    if not chart:
        _git_url(url, fields, "repoURL")
        own = repository_key(url) == repository_key(_required(dry, "repoURL"))
        if own and revision and revision_of(revision) != revision_of(dry.text("targetRevision")):
            raise InputError(
                "CMD-HYD-043",
                f"{fields.at('targetRevision')} is {revision}, but the dry repository is only read at the dry commit",
                hint="remove targetRevision",
                locations=[fields.place_of("targetRevision")],
            )
    return Additional(url, revision, bool(chart), dict(fields.data))


def _catalog(hydrator: Fields, clusters: Clusters | None) -> _Origin:
    dry = hydrator.fields("drySource")
    _check_known(hydrator, ("drySource", "syncSource", "hydrateTo"))
    for key in dry.data:
        if key in _DRY and key != "targetRevision":
            raise InputError(
                "CMD-HYD-002",
                f"{dry.at('catalog')} and {dry.at(key)} exclude each other",
                hint=f"remove {key}: the cluster has the URLs of its configuration",
                locations=[dry.place_of(key)],
            )
    _check_known(dry, ("catalog", "targetRevision"))
    name = _required(dry, "catalog")
    if clusters is None:
        raise InputError(
            "CMD-HYD-039",
            f"{dry.at('catalog')} is {name}, and compiled catalogs cannot be written as folders",
            hint="use 'commodore hydrate run --dry-run', or 'commodore hydrate render --bundle'",
            locations=[dry.place_of("catalog")],
        )
    cluster = clusters(name)
    tenant = cluster.tenant
    return _Origin(
        tenant.config_url,
        dry.text("targetRevision") or cluster.tenant_revision or "",
        cluster.catalog_url,
        Catalog(cluster.id, tenant.global_url, cluster.global_revision or ""),
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The content of a `hydrate.yaml`, with its entries as Applications."""

    applications: tuple[Mapping[str, Any], ...]
    protect: tuple[str, ...] = ()
    texts: Texts = NO_TEXTS
    author: Author | None = None


def read_config(config: Mapping[str, Any], place: Location, folder: Path) -> Config:
    """Parse a `hydrate.yaml`.

    Args:
        folder: the base folder of template files.

    Raises:
        InputError: CMD-HYD-002, it is malformed; CMD-HYD-025, a template cannot be read.
    """
    fields = Fields.of(config, "", place)
    _check_known(fields, ("apiVersion", "kind", "defaults", "entries", "templates", "author", "protect"))
    templates, author = fields.fields("templates"), fields.optional("author")
    _check_known(templates, ("commitMessage", "readme"))
    texts = Texts(_template(templates, "readme", folder), _template(templates, "commitMessage", folder))
    who = Author(_required(author, "name"), _required(author, "email")) if author is not None else None
    return Config(tuple(_entries(fields)), fields.texts("protect"), texts, who)


def _template(fields: Fields, key: str, folder: Path) -> str:
    if not isinstance(fields.raw(key), Mapping):
        return fields.text(key)
    file = fields.fields(key)
    _check_known(file, ("file",))
    return read_template(folder / _required(file, "file"), folder)


def _entries(fields: Fields) -> Iterator[dict[str, Any]]:
    defaults = fields.fields("defaults").data
    names = set[str]()
    for entry in fields.items("entries"):
        _check_known(entry, ("name", "drySource", "additionalSources", "syncSource", "hydrateTo"))
        name = _required(entry, "name")
        if name in names:
            raise _wrong(f"{entry.at('name')}: duplicate entry {name}", entry.place_of("name"))
        names.add(name)
        parts = {key: value for key, value in entry.data.items() if key != "name"}
        # Common settings of files do not apply to a catalog.
        common = {key: value for key, value in defaults.items() if key != "drySource" or not _is_catalog(entry)}
        yield {
            "apiVersion": API_VERSION,
            "kind": _ENTRY_KIND,
            "metadata": {"name": name},
            "spec": {
                "destination": {"server": "https://kubernetes.default.svc"},
                "sourceHydrator": _merged(common, parts),
            },
        }


def _is_catalog(entry: Fields) -> bool:
    return "catalog" in entry.fields("drySource")


@dataclass(frozen=True, slots=True)
class ReadApplications:
    """The result of parsing Applications.

    Attributes:
        hydrations: each with its original Application.
        failed: the errors of other Applications, each with its branch.
    """

    hydrations: tuple[tuple[Hydration, Mapping[str, Any]], ...]
    failed: tuple[tuple[str, CommodoreError], ...]


def read_all(
    applications: Iterable[tuple[Mapping[str, Any], Location]],
    *,
    lenient: bool = False,
    options_in_git: bool = False,
    clusters: Clusters | None = None,
) -> ReadApplications:
    """Parse all Applications; an invalid one does not affect others."""
    hydrations: list[tuple[Hydration, Mapping[str, Any]]] = []
    failed: list[tuple[str, CommodoreError]] = []
    for data, place in applications:
        try:
            hydration = read_hydration(data, place, lenient=lenient, options_in_git=options_in_git, clusters=clusters)
            hydrations.append((hydration, data))
        except CommodoreError as error:
            failed.append((_branch_of(data), error))
    return ReadApplications(tuple(hydrations), tuple(failed))


def _branch_of(application: Mapping[str, Any]) -> str:
    """Return the branch of an Application that may be invalid otherwise; empty if absent."""
    spec = application.get("spec")
    hydrator = spec.get("sourceHydrator") if isinstance(spec, Mapping) else None
    for key in ("hydrateTo", "syncSource"):
        part = hydrator.get(key) if isinstance(hydrator, Mapping) else None
        if isinstance(part, Mapping) and isinstance(part.get("targetBranch"), str):
            return str(part["targetBranch"])
    return ""


def _check_dry(dry: Fields, options_in_git: bool, refs: Collection[str]) -> None:
    url = _required(dry, "repoURL")
    if url.startswith("oci://") or dry.raw("chart") is not None:
        raise InputError(
            "CMD-HYD-004",
            f"{dry.at('repoURL')} is {redact(url)}: expected a git repository",
            hint="only git repositories can be hydrated; commit a chart that depends on the chart to git",
            locations=[dry.place_of("repoURL")],
        )
    if "plugin" in dry:
        raise InputError(
            "CMD-HYD-005",
            f"{dry.at('plugin')} is rendered by a plugin, and plugins are not run",
            hint="use helm, kustomize or a directory",
            locations=[dry.place_of("plugin")],
        )
    _check_value_files(dry, refs)
    _check_options(dry, options_in_git)


def _check_options(source: Fields, options_in_git: bool) -> None:
    given = [key for key in _OPTIONS if key in source]
    if options_in_git and given:
        raise InputError(
            "CMD-HYD-010",
            f"{source.at(given[0])} sets options outside of the dry commit",
            hint="write them into .argocd-source.yaml in the path of the source",
            locations=[source.place_of(given[0])],
        )


def _check_value_files(dry: Fields, refs: Collection[str]) -> None:
    for name in dry.fields("helm").texts("valueFiles"):
        if _OTHER_SOURCE.match(name) and name[1:].partition("/")[0] not in refs:
            raise InputError(
                "CMD-HYD-019",
                f"{dry.at('helm')}.valueFiles names {name}, a file of another source; only the dry source is available",
                hint="commit an umbrella chart next to the values, with their chart as its dependency;"
                " an entry of a hydrate.yaml may have additionalSources",
                locations=[dry.place_of("helm")],
            )


def _git_url(url: str, fields: Fields, key: str) -> str:
    try:
        normalize(url)
    except CommodoreError as error:
        raise error.about(at=[fields.place_of(key)]) from error
    return url


def _branch(fields: Fields) -> str:
    return check_branch(_required(fields, "targetBranch"), fields.place.below(fields.at("targetBranch")))


def _required(fields: Fields, key: str) -> str:
    value = fields.text(key)
    if not value:
        raise _wrong(f"{fields.at(key)} is missing", fields.place_of(key))
    return value


def _check_known(fields: Fields, known: tuple[str, ...]) -> None:
    """Check that fields are known and that names are strings, as YAML reads `n` as false and 1.10 as 1.1."""
    for key, value in fields.data.items():
        if key in _NAMING and value is not None and not isinstance(value, str):
            raise InputError(
                "CMD-HYD-002",
                f"{fields.at(key)} must be text, not {kind_of(value)}",
                hint="write it in quotes",
                locations=[fields.place_of(key)],
            )
        if key not in known:
            renamed = f"it was renamed to {_OLD_WORDS[key]}" if key in _OLD_WORDS else ""
            hint = renamed or did_you_mean(key, known) or f"expected one of: {', '.join(known)}"
            raise InputError(
                "CMD-HYD-002", f"unknown field {fields.at(key)}", hint=hint, locations=[fields.place_of(key)]
            )


def _wrong(message: str, place: Location) -> InputError:
    return InputError(
        "CMD-HYD-002", message, hint="see docs/how-to/hydrate-branches.md for the fields", locations=[place]
    )


def _merged(defaults: Any, entry: Any) -> Any:
    """Merge mappings recursively; other values of the entry replace the defaults."""
    if not isinstance(defaults, Mapping) or not isinstance(entry, Mapping):
        return entry
    both = {**defaults, **entry}
    return {key: _merged(defaults[key], entry[key]) if key in defaults and key in entry else both[key] for key in both}
