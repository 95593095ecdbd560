"""The observer of a cluster: follows the objects of Kargo and Argo CD, decides, and creates Promotions.

Needs the extra `observe`. No other package imports a client of Kubernetes.
"""

from __future__ import annotations

from commodore.observe.cluster.client import ClusterAccess
from commodore.observe.cluster.controller import ControllerOptions
from commodore.observe.cluster.creator import CreationOutcome
from commodore.observe.cluster.lease import LeaseTimes
from commodore.observe.cluster.reflector import Pauses
from commodore.observe.cluster.running import (
    Clusters,
    LeaseOptions,
    RunOptions,
    cluster_worlds,
    observe_once,
    observe_run,
    try_out,
)

__all__ = [
    "ClusterAccess",
    "Clusters",
    "ControllerOptions",
    "CreationOutcome",
    "LeaseOptions",
    "LeaseTimes",
    "Pauses",
    "RunOptions",
    "cluster_worlds",
    "observe_once",
    "observe_run",
    "try_out",
]
