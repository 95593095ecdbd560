"""A set-up of made-up clusters of any size: a hierarchy, components, charts, kustomizations, all in git repositories.

The same `Size` gives the same bytes and commit ids on every machine.
"""

from __future__ import annotations

from _synthetic.plan import Cluster, Component, Instance, Kind, Plan, Size, make_plan
from _synthetic.setup import Setup, change_parameter, generate, generate_classes, serve_charts

__all__ = [
    "Cluster",
    "Component",
    "Instance",
    "Kind",
    "Plan",
    "Setup",
    "Size",
    "change_parameter",
    "generate",
    "generate_classes",
    "make_plan",
    "serve_charts",
]
