"""Tables of the built-in API of Kubernetes. Custom resources are not included.

From the public reference of the API and its deprecation guide
(https://kubernetes.io/docs/reference/using-api/deprecation-guide/). The schemas of `schemas` need an extra, and begin
with Kubernetes 1.25: earlier removals are listed here only, and a test compares the rest with the schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of a version of an API: the release, and the successor (empty for none)."""

    removed_in: str
    successor: str


_NAMESPACED: Final = {
    "": "ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController "
    "ResourceQuota Secret Service ServiceAccount",
    "apps": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "authorization.k8s.io": "LocalSubjectAccessReview",
    "autoscaling": "HorizontalPodAutoscaler",
    "batch": "CronJob Job",
    "coordination.k8s.io": "Lease",
    "discovery.k8s.io": "EndpointSlice",
    "events.k8s.io": "Event",
    "extensions": "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet",
    "networking.k8s.io": "Ingress NetworkPolicy",
    "policy": "PodDisruptionBudget",
    "rbac.authorization.k8s.io": "Role RoleBinding",
    "resource.k8s.io": "ResourceClaim ResourceClaimTemplate",
    "storage.k8s.io": "CSIStorageCapacity",
}

NAMESPACED: Final = frozenset((group, kind) for group, kinds in _NAMESPACED.items() for kind in kinds.split())
"""Built-in namespaced kinds, as (group, kind)."""

# apiVersion, removed in, successor, kinds
_REMOVED: Final = (
    ("apps/v1beta1", "1.16", "apps/v1", "ControllerRevision Deployment StatefulSet"),
    ("apps/v1beta2", "1.16", "apps/v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
    ("extensions/v1beta1", "1.16", "apps/v1", "DaemonSet Deployment ReplicaSet"),
    ("extensions/v1beta1", "1.16", "networking.k8s.io/v1", "NetworkPolicy"),
    ("extensions/v1beta1", "1.16", "", "PodSecurityPolicy"),
    ("extensions/v1beta1", "1.22", "networking.k8s.io/v1", "Ingress"),
    (
        "admissionregistration.k8s.io/v1beta1",
        "1.22",
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io/v1beta1", "1.22", "apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1beta1", "1.22", "apiregistration.k8s.io/v1", "APIService"),
    ("authentication.k8s.io/v1beta1", "1.22", "authentication.k8s.io/v1", "TokenReview"),
    (
        "authorization.k8s.io/v1beta1",
        "1.22",
        "authorization.k8s.io/v1",
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    ),
    ("certificates.k8s.io/v1beta1", "1.22", "certificates.k8s.io/v1", "CertificateSigningRequest"),
    ("coordination.k8s.io/v1beta1", "1.22", "coordination.k8s.io/v1", "Lease"),
    ("networking.k8s.io/v1beta1", "1.22", "networking.k8s.io/v1", "Ingress IngressClass"),
    (
        "rbac.authorization.k8s.io/v1beta1",
        "1.22",
        "rbac.authorization.k8s.io/v1",
        "ClusterRole ClusterRoleBinding Role RoleBinding",
    ),
    ("scheduling.k8s.io/v1beta1", "1.22", "scheduling.k8s.io/v1", "PriorityClass"),
    ("storage.k8s.io/v1beta1", "1.22", "storage.k8s.io/v1", "CSIDriver CSINode StorageClass VolumeAttachment"),
    ("autoscaling/v2beta1", "1.25", "autoscaling/v2", "HorizontalPodAutoscaler"),
    ("batch/v1beta1", "1.25", "batch/v1", "CronJob"),
    ("discovery.k8s.io/v1beta1", "1.25", "discovery.k8s.io/v1", "EndpointSlice"),
    ("events.k8s.io/v1beta1", "1.25", "events.k8s.io/v1", "Event"),
    ("node.k8s.io/v1beta1", "1.25", "node.k8s.io/v1", "RuntimeClass"),
    ("policy/v1beta1", "1.25", "policy/v1", "PodDisruptionBudget"),
    ("policy/v1beta1", "1.25", "", "PodSecurityPolicy"),
    ("autoscaling/v2beta2", "1.26", "autoscaling/v2", "HorizontalPodAutoscaler"),
    (
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "1.26",
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema PriorityLevelConfiguration",
    ),
    ("storage.k8s.io/v1beta1", "1.27", "storage.k8s.io/v1", "CSIStorageCapacity"),
    (
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "1.29",
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema PriorityLevelConfiguration",
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "1.32",
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema PriorityLevelConfiguration",
    ),
    ("authentication.k8s.io/v1beta1", "1.33", "authentication.k8s.io/v1", "SelfSubjectReview"),
    (
        "admissionregistration.k8s.io/v1beta1",
        "1.34",
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
    ),
    ("networking.k8s.io/v1beta1", "1.37", "networking.k8s.io/v1", "IPAddress ServiceCIDR"),
    ("storage.k8s.io/v1beta1", "1.37", "storage.k8s.io/v1", "VolumeAttributesClass"),
)

REMOVED: Final[Mapping[tuple[str, str], Removal]] = {
    (version, kind): Removal(removed_in, successor)
    for version, removed_in, successor, kinds in _REMOVED
    for kind in kinds.split()
}
"""Removed versions of the API, by (apiVersion, kind)."""
