"""Validated clusters and tenants of the API, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, raise_all
from commodore.base.events import Noted, Warned
from commodore.base.fields import kind_of
from commodore.base.names import RESERVED_CLASSES, check_name

REQUIRED_FACTS = ("cloud", "distribution")
"""Facts that are required for compiling a cluster."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """The tenant of a cluster. A revision of None means the remote's default branch."""

    id: str
    display_name: str
    config_url: str
    global_url: str
    global_revision: str | None
    config_revision: str | None


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster. The revisions are resolved: the cluster's own if it has the key, else its tenant's.

    `catalog_url` is as delivered; None as revision means the remote's default branch. `source` is the URL or file of
    these data, if any.
    """

    id: str
    display_name: str
    tenant: Tenant
    facts: Mapping[str, Any]
    dynamic_facts: Mapping[str, Any]
    catalog_url: str
    global_revision: str | None
    tenant_revision: str | None
    source: str = field(default="", compare=False)


def parse_cluster(
    cluster_object: object,
    tenant_object: object,
    fallback_dynamic_facts: Mapping[str, Any],
    context: Context,
    *,
    source: str,
) -> Cluster:
    """Check a cluster and its tenant, and return a `Cluster`.

    Args:
        cluster_object: the response of `GET /clusters/<id>`.
        tenant_object: the response of `GET /tenants/<id>`. None if it could not be requested: only errors of the
            cluster are reported then.
        fallback_dynamic_facts: used if the cluster has no key `dynamicFacts`.
        source: the URL or file of the objects, for errors.

    Raises:
        InputError, Findings: keys are missing or malformed, the two do not belong together, a required fact is missing
            or a name is not a valid path; all errors at once.
    """
    errors: list[CommodoreError] = []
    cluster = _Reader(cluster_object, _label(cluster_object, "cluster"), source, errors)
    cluster_id = cluster.name("id")
    display_name = cluster.text("displayName")
    tenant_id = cluster.name("tenant", reserved=True)
    catalog_url = cluster.nested("gitRepo", "the catalog repository").text("url", empty=False)
    facts = cluster.mapping("facts")
    cluster.require_facts(facts)
    dynamic_facts = cluster.mapping("dynamicFacts")

    tenant = _NO_TENANT if tenant_object is None else _read_tenant(tenant_object, source, errors)
    if tenant_id and tenant.id and tenant_id != tenant.id:
        cluster.complain(
            "CMD-API-022",
            f"belongs to tenant {tenant_id!r}, but the given tenant is {tenant.id!r}",
            "the `tenant` of the cluster and the `id` of the tenant must be the same",
        )
    global_revision = cluster.revision("globalGitRepoRevision", tenant.global_revision)
    tenant_revision = cluster.revision("tenantGitRepoRevision", tenant.config_revision)
    raise_all(errors)
    if tenant is _NO_TENANT:
        raise ValueError(f"no tenant object for {cluster_id}")
    _warn_of_values(cluster_id, facts, context)
    if not cluster.has("dynamicFacts"):
        dynamic_facts = dict(fallback_dynamic_facts)
    elif fallback_dynamic_facts:
        own = f"cluster {cluster_id} has dynamic facts of its own"
        context.announce(Noted(f"{own}; those of the command line are ignored"))
    return Cluster(
        id=cluster_id,
        display_name=display_name,
        tenant=tenant,
        facts=facts,
        dynamic_facts=dynamic_facts,
        catalog_url=catalog_url,
        global_revision=global_revision,
        tenant_revision=tenant_revision,
        source=source,
    )


_NO_TENANT = Tenant("", "", "", "", None, None)  # the reference to it is invalid, which is reported already


def _read_tenant(tenant_object: object, source: str, errors: list[CommodoreError]) -> Tenant:
    tenant = _Reader(tenant_object, _label(tenant_object, "tenant"), source, errors)
    return Tenant(
        id=tenant.name("id", reserved=True),
        display_name=tenant.text("displayName"),
        config_url=tenant.nested("gitRepo", "the tenant's configuration").text("url", empty=False),
        global_url=tenant.text("globalGitRepoURL", empty=False),
        global_revision=tenant.revision("globalGitRepoRevision"),
        config_revision=tenant.revision("tenantGitRepoRevision"),
    )


def _warn_of_values(cluster_id: str, facts: Mapping[str, Any], context: Context) -> None:
    """Warn about facts that are not strings: numbers come from unquoted YAML, where 4.10 has become 4.1 already."""
    for name, value in sorted(facts.items()):
        if not isinstance(value, str):
            context.announce(
                Warned(
                    "CMD-API-024",
                    f"fact {name!r} of cluster {cluster_id} is {kind_of(value)}, not text",
                    hint="write the value in quotes",
                )
            )


_SET_HINT = "set it in Lieutenant, or in the cluster file"
_TEXT_HINT = "in a cluster file, write the value in quotes"
_OBJECT_HINT = "in a cluster file, write `key: value` lines below it; docs/reference/cluster-file.md has an example"


class _Reader:
    """Reader of an object's values that collects errors; after an error it returns an unused empty value."""

    def __init__(self, value: object, label: str, source: str, errors: list[CommodoreError], prefix: str = "") -> None:
        self._source = source
        self._errors = errors
        self._prefix = prefix
        self._object: Mapping[str, Any] = {}
        self._sound = isinstance(value, Mapping)
        self._label = label
        if isinstance(value, Mapping):
            self._object = value
        elif prefix:
            self.complain(
                "CMD-API-021", f"has {kind_of(value)} as {prefix.rstrip('.')}, expected an object", _OBJECT_HINT
            )
        else:
            self.complain("CMD-API-021", f"is {kind_of(value)}, expected an object", _OBJECT_HINT)

    def has(self, key: str) -> bool:
        return key in self._object

    def text(self, key: str, *, empty: bool = True) -> str:
        """Return a required string; `empty` accepts an empty one."""
        value = self._object.get(key)
        if isinstance(value, str) and (value or empty):
            return value
        if value is None or value == "":
            if self._sound:
                self.complain("CMD-API-020", f"has no {self._prefix}{key}", _SET_HINT)
        else:
            self.complain("CMD-API-021", f"has {kind_of(value)} as {self._prefix}{key}, expected text", _TEXT_HINT)
        return ""

    def name(self, key: str, *, reserved: bool = False) -> str:
        """Return a required string that is used as a path."""
        value = self.text(key, empty=False)
        if value:
            kind = "tenant" if reserved else "cluster"
            try:
                check_name(value, kind, reserved=RESERVED_CLASSES if reserved else ())
            except InputError as error:
                self._report(error.code, error.message, error.hint)
        return value

    def revision(self, key: str, inherited: str | None = None) -> str | None:
        """Return a revision, the inherited one only if the key is missing; null and empty mean the default branch."""
        if key not in self._object:
            return inherited
        value = self._object[key]
        if value is not None and not isinstance(value, str):
            self.complain("CMD-API-021", f"has {kind_of(value)} as {self._prefix}{key}, expected text", _TEXT_HINT)
            return None
        return value or None

    def mapping(self, key: str) -> dict[str, Any]:
        value = self._object.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.complain(
                "CMD-API-021", f"has {kind_of(value)} as {self._prefix}{key}, expected an object", _OBJECT_HINT
            )
            return {}
        return dict(value)

    def nested(self, key: str, purpose: str) -> _Reader:
        value = self._object.get(key)
        if value is None:
            if self._sound:
                self.complain("CMD-API-020", f"has no {self._prefix}{key}.url, {purpose}", _SET_HINT)
            reader = _Reader({}, self._label, self._source, self._errors, f"{self._prefix}{key}.")
            reader._sound = False
            return reader
        return _Reader(value, self._label, self._source, self._errors, f"{self._prefix}{key}.")

    def require_facts(self, facts: Mapping[str, Any]) -> None:
        if not self._sound or (
            self._object.get("facts") is not None and not isinstance(self._object["facts"], Mapping)
        ):
            return  # reported already
        for fact in REQUIRED_FACTS:
            value = facts.get(fact)
            if value is None or value == "":
                self.complain("CMD-API-023", f"has no fact {fact!r}", "set the fact on the cluster in Lieutenant")
            elif not isinstance(value, str):
                self.complain("CMD-API-021", f"has {kind_of(value)} as fact {fact!r}, expected text", _TEXT_HINT)

    def complain(self, code: str, what: str, hint: str = "") -> None:
        self._report(code, f"{self._label} {what}", hint)

    def _report(self, code: str, message: str, hint: str = "") -> None:
        self._errors.append(InputError(code, message, hint=hint, locations=[self._source]))


def _label(value: object, kind: str) -> str:
    """Return the name of an object in messages: with its id if it has one."""
    name = value.get("id") if isinstance(value, Mapping) else None
    return f"{kind} {name!r}" if isinstance(name, str) and name else f"the {kind}"
