"""The observer beside a cluster: follows what Kargo and Argo CD have, decides, and makes Promotions.

Needs the extra `observe`. Nothing else in the program imports a client of Kubernetes.
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
