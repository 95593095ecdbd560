"""Dangers of a change, each with a stable name: data loss, a refusal by the API server, or wider permissions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commodore.base.documents import ABSENT
from commodore.base.kubernetes.objects import ObjectKey
from commodore.base.values.versions import goes_back
from commodore.core.review.images import images_of
from commodore.core.review.model import (
    Comparison,
    FieldChange,
    Key,
    ObjectChange,
    Path,
    PlacedObject,
    path_text,
    step_name,
)
from commodore.core.review.pointers import KindPointer

Severity = Literal["critical", "high", "medium"]

FLAGS: Mapping[str, Severity] = {
    "deletes-crd": "critical",
    "deletes-namespace": "critical",
    "deletes-volume": "critical",
    "deletes-statefulset": "critical",
    "crd-version-removed": "critical",
    "crd-scope": "critical",
    "application-removed": "high",
    "mass-removal": "high",
    "destination-changed": "high",
    "deletes-storage-class": "high",
    "deletes-network-policy": "high",
    "crd-not-served": "high",
    "immutable": "high",
    "rbac-widened": "high",
    "privileged": "high",
    "scaled-to-zero": "high",
    "webhook-fails-closed": "high",
    "project-changed": "medium",
    "sync-policy": "medium",
    "prune-blocked": "medium",
    "image-downgraded": "medium",
    "image-unpinned": "medium",
}
"""Every flag with its severity, the worst first."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A danger of one change.

    Attributes:
        name: one of `FLAGS`.
        key: the object.
        message: a description of the danger. It may hold text of the objects, which is not safe to print.
        source: the origin of the object; empty if unknown.
    """

    name: str
    key: ObjectKey
    message: str
    source: str = ""

    @property
    def severity(self) -> Severity:
        return FLAGS[self.name]


@dataclass(frozen=True, slots=True)
class FlagRules:
    """Fields in addition to the built-in ones.

    Attributes:
        images: fields with container images.
        immutable: immutable fields.
    """

    images: tuple[KindPointer, ...] = ()
    immutable: tuple[KindPointer, ...] = ()


_NOTHING_ELSE = FlagRules()


def flags_of(comparison: Comparison, rules: FlagRules = _NOTHING_ELSE) -> tuple[Flag, ...]:
    """Return the dangers of a comparison, the worst first. The comparison has to be unmasked and complete."""
    return in_flag_order(flag for change in comparison.changes for flag in change_flags(change, rules))


def in_flag_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Sort flags, the worst first."""
    worst = list(FLAGS)
    return tuple(sorted(flags, key=lambda flag: (worst.index(flag.name), flag.key, flag.source, flag.message)))


def change_flags(change: ObjectChange, rules: FlagRules = _NOTHING_ELSE) -> Iterator[Flag]:
    """Yield the dangers of an object's change. A renamed object counts as removed and added."""
    if change.old is not None and (change.new is None or change.is_renamed):
        yield from _removal(change.old_key, change.old)
    if change.new is None:
        return
    old = change.old.content if change.old is not None else None
    fields = (*change.fields, *change.hidden)
    dangers: list[tuple[str, str]] = [
        *_images(old, change.new.content, rules.images),
        *_privileges(old, change.new.content),
    ]
    dangers += _rbac(change.new_key, old, change.new.content)
    dangers += _webhooks(change.new_key, old, change.new.content)
    dangers += _application(change.new_key, old, change.new.content)
    if old is not None:
        dangers += _crd(change.new_key, old, change.new.content)
        dangers += _scale(old, change.new.content)
        if not change.is_renamed and not _is_replaced(change.new.content):
            dangers += _immutable(change.new_key, old, fields)
            dangers += _watched(old, fields, rules.immutable)
    for name, message in dict.fromkeys(dangers):
        yield Flag(name, change.new_key, message, change.new.source)


_APPLICATION = ("argoproj.io", "Application")
_REMOVALS = {
    ("", "Namespace"): ("deletes-namespace", "the namespace goes, with everything in it"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("deletes-crd", "the kind goes, with all objects of it"),
    ("", "PersistentVolumeClaim"): ("deletes-volume", "the claim goes, with its data unless the volume is retained"),
    ("", "PersistentVolume"): ("deletes-volume", "the volume goes"),
    ("apps", "StatefulSet"): ("deletes-statefulset", "the stateful set goes, with its pods"),
    ("storage.k8s.io", "StorageClass"): (
        "deletes-storage-class",
        "claims of this class cannot be provisioned any more",
    ),
    _APPLICATION: ("application-removed", "the Application goes, with its objects if it has the resources finalizer"),
    **dict.fromkeys(
        (
            ("networking.k8s.io", "NetworkPolicy"),
            ("policy.networking.k8s.io", "AdminNetworkPolicy"),
            ("cilium.io", "CiliumNetworkPolicy"),
            ("cilium.io", "CiliumClusterwideNetworkPolicy"),
        ),
        ("deletes-network-policy", "traffic that the policy refused is allowed"),
    ),
}


def _removal(key: ObjectKey, old: PlacedObject) -> Iterator[Flag]:
    if removal := _REMOVALS.get((key.group, key.kind)):
        yield Flag(removal[0], key, removal[1], old.source)
    options = str(_at(old.content, "metadata", "annotations", "argocd.argoproj.io/sync-options") or "")
    if {"Prune=false", "Delete=false"} & set(re.split(r"[,\s]+", options)):
        yield Flag("prune-blocked", key, "it stays in the cluster: its sync options request it", old.source)


def _at(value: Any, *path: str) -> Any:
    """Return the value at a path of keys; None if it is missing."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _maps(value: Any) -> list[dict[Any, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_STATEFULSET_MUTABLE = frozenset(
    {
        "replicas",
        "template",
        "updateStrategy",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
    }
)
_IMMUTABLE: Mapping[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    ("apps", "Deployment"): (("spec", "selector"),),
    ("apps", "DaemonSet"): (("spec", "selector"),),
    ("apps", "ReplicaSet"): (("spec", "selector"),),
    ("batch", "Job"): (("spec", "selector"), ("spec", "template"), ("spec", "completionMode")),
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    ("storage.k8s.io", "StorageClass"): (("parameters",), ("provisioner",), ("reclaimPolicy",), ("volumeBindingMode",)),
    ("", "Service"): (("spec", "clusterIP"),),
    ("", "PersistentVolumeClaim"): (
        ("spec", "storageClassName"),
        ("spec", "accessModes"),
        ("spec", "volumeName"),
        ("spec", "volumeMode"),
        ("spec", "selector"),
        ("spec", "dataSource"),
    ),
}


def _is_replaced(content: Any) -> bool:
    """Return True if the object is recreated anyway: a hook of Helm or Argo CD, or an object with Argo CD's replace
    option.
    """
    annotations = _at(content, "metadata", "annotations")
    if not isinstance(annotations, dict):
        return False
    options = str(annotations.get("argocd.argoproj.io/sync-options", ""))
    hook = annotations.keys() & {"helm.sh/hook", "argocd.argoproj.io/hook"}
    return bool(hook) or "Replace=true" in options or "Force=true" in options


def _immutable(key: ObjectKey, old: Any, fields: Sequence[FieldChange]) -> Iterator[tuple[str, str]]:
    frozen = key.kind in ("ConfigMap", "Secret") and not key.group and _at(old, "immutable") is True
    for field in fields:
        names = _names(field.path)
        paths = [path for path in _IMMUTABLE.get((key.group, key.kind), ()) if names[: len(path)] == path]
        fixed = bool(paths)
        if (key.group, key.kind) == ("apps", "StatefulSet"):
            fixed = names[:1] == ("spec",) and len(names) > 1 and names[1] not in _STATEFULSET_MUTABLE
        if frozen:
            fixed = names[:1] in (("data",), ("binaryData",), ("stringData",), ("immutable",))
        if key.kind == "Service" and field.old in (ABSENT, ""):
            fixed = False  # an address chosen by the API server is not in the manifest
        if fixed:
            what = ".".join(paths[0]) if paths else path_text(field.path)
            yield "immutable", f"{what} cannot be changed: the API server refuses it"


def _watched(old: Any, fields: Sequence[FieldChange], places: Sequence[KindPointer]) -> Iterator[tuple[str, str]]:
    matches = [place for place in places if place.fits(old)]
    for field in fields:
        names = tuple(map(step_name, field.path))
        for place in matches:
            if place.covers(names):
                yield "immutable", f"{path_text(field.path)} cannot be changed: it is listed by `immutable`"


def _names(path: Path) -> tuple[str, ...]:
    return tuple(str(step.key) for step in path if isinstance(step, Key))


def _scale(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    before, after = _at(old, "spec", "replicas"), _at(new, "spec", "replicas")
    if type(after) is int and after == 0 and before != 0:
        yield "scaled-to-zero", f"spec.replicas goes from {'its default' if before is None else before} to 0"


def _images(old: Any, new: Any, places: Sequence[KindPointer]) -> Iterator[tuple[str, str]]:
    before = {(use.place, use.image.registry, use.image.repository): use.image for use in images_of(old, places)}
    for use in images_of(new, places):
        was = before.get((use.place, use.image.registry, use.image.repository))
        if was is not None and was.text == use.image.text:
            continue
        if not use.image.is_pinned or (was is not None and was.digest and not use.image.digest):
            yield "image-unpinned", f"{use.place}: {use.image.text} does not name one version"
        if was is not None and goes_back(was.tag, use.image.tag):
            yield "image-downgraded", f"{use.place}: {was.text} becomes the older {use.image.text}"


def _pod_specs(content: Any) -> Iterator[dict[Any, Any]]:
    for path in (("spec",), ("spec", "template", "spec"), ("spec", "jobTemplate", "spec", "template", "spec")):
        spec = _at(content, *path)
        if isinstance(spec, dict) and isinstance(spec.get("containers"), list):
            yield spec


def _privileges_of(content: Any) -> set[str]:
    privileges: set[str] = set()
    for spec in _pod_specs(content):
        privileges |= {name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name) is True}
        for volume in _maps(spec.get("volumes")):
            if isinstance(host := volume.get("hostPath"), dict):
                privileges.add(f"hostPath {host.get('path')}")
        if _at(spec, "securityContext", "runAsUser") == 0:
            privileges.add("root (runAsUser 0)")
        for container in [*_maps(spec.get("containers")), *_maps(spec.get("initContainers"))]:
            privileges |= _container_privileges(container)
    return privileges


def _container_privileges(container: dict[Any, Any]) -> set[str]:
    context = container.get("securityContext")
    name = container.get("name")
    privileges: set[str] = set()
    if _at(context, "privileged") is True:
        privileges.add(f"privileged container {name}")
    if _at(context, "allowPrivilegeEscalation") is True:
        privileges.add(f"privilege escalation in {name}")
    if type(_at(context, "runAsUser")) is int and _at(context, "runAsUser") == 0:
        privileges.add(f"root in {name}")
    added = _at(context, "capabilities", "add")
    if isinstance(added, list):
        privileges |= {f"capability {capability} of {name}" for capability in added}
    return privileges


def _privileges(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    for privilege in sorted(_privileges_of(new) - _privileges_of(old)):
        yield "privileged", f"newly granted: {privilege}"


_RBAC = "rbac.authorization.k8s.io"
_STRONG_VERBS = frozenset({"*", "escalate", "bind", "impersonate"})


def _grants(content: Any) -> set[tuple[str, ...]]:
    """Return the permissions of a role, one grant for each API group, resource, verb and object name."""
    grants: set[tuple[str, ...]] = set()
    for rule in _maps(_at(content, "rules")):
        groups, resources, verbs, urls = (
            [str(item) for item in value] if isinstance(value := rule.get(field), list) else []
            for field in ("apiGroups", "resources", "verbs", "nonResourceURLs")
        )
        names = rule.get("resourceNames")
        only = [str(name) for name in names] if isinstance(names, list) and names else [""]
        grants |= set(itertools.product(groups, resources, verbs, only))
        grants |= {("", url, verb, "") for url in urls for verb in verbs}
    return grants


def _is_covered(grant: tuple[str, ...], known: set[tuple[str, ...]]) -> bool:
    group, resource, verb, only = grant
    return any(
        (one_group in (group, "*"))
        and (one_resource in (resource, "*"))
        and (one_verb in (verb, "*"))
        and one_only in (only, "")
        for one_group, one_resource, one_verb, one_only in known
    )


def _rbac(key: ObjectKey, old: Any, new: Any) -> Iterator[tuple[str, str]]:
    if key.group != _RBAC:
        return
    if key.kind in ("Role", "ClusterRole"):
        yield from _aggregation(old, new)
        known = _grants(old)
        yield from _widened(_grants(new), known, is_new=old is None)
    elif key.kind in ("RoleBinding", "ClusterRoleBinding"):
        yield from _binding(old, new)


def _widened(grants: set[tuple[str, ...]], known: set[tuple[str, ...]], *, is_new: bool) -> Iterator[tuple[str, str]]:
    """Yield the new permissions; of a new role only the far-reaching ones."""
    verbs_by_object: dict[tuple[str, ...], list[str]] = {}
    for group, resource, verb, only in sorted(grants - known):
        strong = verb in _STRONG_VERBS or "*" in (group, resource) or resource == "secrets"
        if (strong or not is_new) and not _is_covered((group, resource, verb, only), known):
            verbs_by_object.setdefault((group, resource, only), []).append(verb)
    for (group, resource, only), verbs in verbs_by_object.items():
        what = f"{resource}.{group}" if group else resource
        yield "rbac-widened", f"newly allowed: {', '.join(verbs)} {what}{f' ({only})' if only else ''}"


_AGGREGATED = "rbac.authorization.k8s.io/aggregate-to-"


def _aggregation(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yield the roles that newly aggregate the permissions of this one."""
    before, after = ({**(_at(side, "metadata", "labels") or {})} for side in (old, new))
    for label, value in sorted(after.items(), key=str):
        if str(label).startswith(_AGGREGATED) and value == "true" and before.get(label) != "true":
            role = str(label).removeprefix(_AGGREGATED)
            if old is not None or role not in ("view", "edit", "admin"):
                yield "rbac-widened", f"everybody with the role {role} newly has the rights of this one"


def _binding(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    known = {_subject(subject) for subject in _maps(_at(old, "subjects"))}
    role = _at(new, "roleRef", "name")
    changed = old is None or _at(old, "roleRef", "name") != role
    for subject in _maps(_at(new, "subjects")):
        is_new = _subject(subject) not in known
        if (is_new or changed) and role == "cluster-admin":
            yield "rbac-widened", f"{_subject(subject)} is bound to cluster-admin"
        elif is_new and (old is not None or subject.get("kind") == "Group"):
            yield "rbac-widened", f"{_subject(subject)} is newly bound to {role}"


def _subject(subject: dict[Any, Any]) -> str:
    namespace = subject.get("namespace")
    return f"{subject.get('kind')} {f'{namespace}/' if namespace else ''}{subject.get('name')}"


def _webhooks(key: ObjectKey, old: Any, new: Any) -> Iterator[tuple[str, str]]:
    if key.group != "admissionregistration.k8s.io":
        return
    known = {webhook.get("name"): _fails_closed(webhook) for webhook in _maps(_at(old, "webhooks"))}
    for webhook in _maps(_at(new, "webhooks")):
        if _fails_closed(webhook) and not known.get(webhook.get("name")):
            yield "webhook-fails-closed", f"{webhook.get('name')}: requests are refused while it does not answer"


def _fails_closed(webhook: dict[Any, Any]) -> bool:
    return bool(webhook.get("failurePolicy", "Fail") == "Fail")


def _application(key: ObjectKey, old: Any, new: Any) -> Iterator[tuple[str, str]]:
    if (key.group, key.kind) != _APPLICATION or old is None:
        return
    before, after = _at(old, "spec"), _at(new, "spec")
    for field in ("server", "name", "namespace"):
        was, now = _at(before, "destination", field), _at(after, "destination", field)
        if was != now:
            yield (
                "destination-changed",
                f"spec.destination.{field} becomes {now or 'empty'}",
            )
    if _at(before, "project") != _at(after, "project"):
        yield "project-changed", f"the project becomes {_at(after, 'project') or 'default'}"
    if _at(before, "syncPolicy", "automated") is None and _at(after, "syncPolicy", "automated") is not None:
        yield "sync-policy", "changes are applied without being asked for from now on"
    for field in ("prune", "selfHeal"):
        path = ("syncPolicy", "automated", field)
        if _at(after, *path) is True and _at(before, *path) is not True:
            yield "sync-policy", f"{field} is switched on"


def _crd(key: ObjectKey, old: Any, new: Any) -> Iterator[tuple[str, str]]:
    if (key.group, key.kind) != ("apiextensions.k8s.io", "CustomResourceDefinition"):
        return
    if _at(old, "spec", "scope") != _at(new, "spec", "scope"):
        yield "crd-scope", f"the scope becomes {_at(new, 'spec', 'scope')}"
    after = {version.get("name"): version for version in _maps(_at(new, "spec", "versions"))}
    for version in _maps(_at(old, "spec", "versions")):
        name = version.get("name")
        if name not in after:
            yield "crd-version-removed", f"the version {name} goes"
        elif version.get("served") is True and after[name].get("served") is False:
            yield "crd-not-served", f"the version {name} is served no longer"


__all__ = ["FLAGS", "Flag", "Severity", "FlagRules", "change_flags", "flags_of"]
