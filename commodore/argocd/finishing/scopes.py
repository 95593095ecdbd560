"""Cluster-wide kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from commodore.base.kubernetes import key_of

# Kinds of Kubernetes itself without namespaces, by group, of every version since 1.16.
_BUILT_IN: Mapping[str, str] = {
    "": "ComponentStatus Namespace Node PersistentVolume",
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy "
        "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"
    ),
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "extensions": "PodSecurityPolicy",
    "authentication.k8s.io": "SelfSubjectReview TokenReview",
    "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
    "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
    "internal.apiserver.k8s.io": "StorageVersion",
    "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
    "node.k8s.io": "RuntimeClass",
    "policy": "PodSecurityPolicy",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
    "resource.k8s.io": "DeviceClass DeviceTaintRule ResourceSlice",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    "storagemigration.k8s.io": "StorageVersionMigration",
}
_CLUSTER_WIDE = frozenset((group, kind) for group, kinds in _BUILT_IN.items() for kind in kinds.split())


class Scopes:
    """Cluster-wide kinds: of Kubernetes, of CRDs in view, and named ones.

    Args:
        named: `group/Kind`, or `Kind` of the core group.
        objects: searched for CRDs.
    """

    def __init__(self, named: Iterable[str] = (), objects: Iterable[Mapping[str, Any]] = ()) -> None:
        self._cluster_wide: dict[tuple[str, str], bool] = {}
        for data in objects:
            self._learn(data)
        for text in named:
            group, _, kind = text.rpartition("/")
            self._cluster_wide[group, kind] = True

    def is_cluster_wide(self, group: str, kind: str) -> bool:
        """Check if objects of a kind have no namespace. Unknown kinds have one."""
        known = self._cluster_wide.get((group, kind))
        return known if known is not None else (group, kind) in _CLUSTER_WIDE

    def _learn(self, data: Mapping[str, Any]) -> None:
        key = key_of(data)
        if (key.group, key.kind) != ("apiextensions.k8s.io", "CustomResourceDefinition"):
            return
        spec = data.get("spec")
        names = spec.get("names") if isinstance(spec, Mapping) else None
        if isinstance(spec, Mapping) and isinstance(names, Mapping):
            self._cluster_wide[str(spec.get("group")), str(names.get("kind"))] = spec.get("scope") == "Cluster"
