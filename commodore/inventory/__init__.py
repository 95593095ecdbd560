"""The hierarchy of a cluster: classes and targets on disk, and their rendering with reclass-rs."""

from commodore.inventory.files import class_files
from commodore.inventory.hierarchy import (
    ClassLinks,
    cluster_parameters,
    foreign_class_folders,
    link_classes,
    link_packages,
    prune_classes,
    read_cluster_params,
    write_class,
    write_cluster_params,
    write_targets,
)
from commodore.inventory.removed import find_removed_variables
from commodore.inventory.render import Inventory, Node, render_inventory, render_node
from commodore.inventory.targets import InstanceMeta, Target, bootstrap_target, instance_target, standalone_target

__all__ = [
    "ClassLinks",
    "InstanceMeta",
    "Inventory",
    "Node",
    "Target",
    "bootstrap_target",
    "class_files",
    "cluster_parameters",
    "find_removed_variables",
    "foreign_class_folders",
    "instance_target",
    "link_classes",
    "link_packages",
    "prune_classes",
    "read_cluster_params",
    "render_inventory",
    "render_node",
    "standalone_target",
    "write_class",
    "write_cluster_params",
    "write_targets",
]
