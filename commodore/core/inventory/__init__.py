"""The hierarchy of a cluster: classes and targets on disk, and their rendering with reclass-rs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.inventory.compiled import compiled_preview, compiled_targets, relative_to_root
    from commodore.core.inventory.differences import Difference, compare_parameters, render_difference
    from commodore.core.inventory.files import class_files
    from commodore.core.inventory.filter_definitions import FilterProblem, check_filter
    from commodore.core.inventory.hierarchy import (
        ClassLinks,
        cluster_parameters,
        foreign_class_folders,
        link_classes,
        link_packages,
        linked_component,
        prune_classes,
        read_cluster_params,
        write_class,
        write_cluster_params,
        write_targets,
    )
    from commodore.core.inventory.parameter_path import ParameterPath, format_path, key_text, look_up, parse_path
    from commodore.core.inventory.preview import Preview, PreviewSources, open_preview
    from commodore.core.inventory.removed import find_removed_variables
    from commodore.core.inventory.render import Inventory, Node, render_inventory, render_node
    from commodore.core.inventory.targets import (
        InstanceMeta,
        Target,
        bootstrap_target,
        instance_target,
        standalone_target,
    )

__getattr__ = lazy_exports(
    __name__,
    {
        "compiled": ("compiled_preview", "compiled_targets", "relative_to_root"),
        "differences": ("Difference", "compare_parameters", "render_difference"),
        "files": ("class_files",),
        "filter_definitions": ("FilterProblem", "check_filter"),
        "hierarchy": (
            "ClassLinks",
            "cluster_parameters",
            "foreign_class_folders",
            "link_classes",
            "link_packages",
            "linked_component",
            "prune_classes",
            "read_cluster_params",
            "write_class",
            "write_cluster_params",
            "write_targets",
        ),
        "parameter_path": ("ParameterPath", "format_path", "key_text", "look_up", "parse_path"),
        "preview": ("Preview", "PreviewSources", "open_preview"),
        "removed": ("find_removed_variables",),
        "render": ("Inventory", "Node", "render_inventory", "render_node"),
        "targets": ("InstanceMeta", "Target", "bootstrap_target", "instance_target", "standalone_target"),
    },
)
__all__ = [
    "ClassLinks",
    "Difference",
    "FilterProblem",
    "InstanceMeta",
    "Inventory",
    "Node",
    "ParameterPath",
    "Preview",
    "PreviewSources",
    "Target",
    "bootstrap_target",
    "check_filter",
    "class_files",
    "cluster_parameters",
    "compare_parameters",
    "compiled_preview",
    "compiled_targets",
    "find_removed_variables",
    "foreign_class_folders",
    "format_path",
    "instance_target",
    "key_text",
    "link_classes",
    "link_packages",
    "linked_component",
    "look_up",
    "open_preview",
    "parse_path",
    "prune_classes",
    "read_cluster_params",
    "relative_to_root",
    "render_difference",
    "render_inventory",
    "render_node",
    "standalone_target",
    "write_class",
    "write_cluster_params",
    "write_targets",
]
