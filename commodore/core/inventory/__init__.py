"""The hierarchy of a cluster: classes and targets on disk, and their rendering with reclass-rs."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.inventory.compiled import compiled_preview as compiled_preview
    from commodore.core.inventory.compiled import compiled_targets as compiled_targets
    from commodore.core.inventory.compiled import relative_to_root as relative_to_root
    from commodore.core.inventory.differences import ParameterDifference as ParameterDifference
    from commodore.core.inventory.differences import compare_parameters as compare_parameters
    from commodore.core.inventory.differences import render_difference as render_difference
    from commodore.core.inventory.files import class_files as class_files
    from commodore.core.inventory.filter_definitions import check_filter as check_filter
    from commodore.core.inventory.hierarchy import ClassLinks as ClassLinks
    from commodore.core.inventory.hierarchy import cluster_parameters as cluster_parameters
    from commodore.core.inventory.hierarchy import foreign_class_folders as foreign_class_folders
    from commodore.core.inventory.hierarchy import link_classes as link_classes
    from commodore.core.inventory.hierarchy import link_packages as link_packages
    from commodore.core.inventory.hierarchy import linked_component as linked_component
    from commodore.core.inventory.hierarchy import prune_classes as prune_classes
    from commodore.core.inventory.hierarchy import read_cluster_params as read_cluster_params
    from commodore.core.inventory.hierarchy import write_class as write_class
    from commodore.core.inventory.hierarchy import write_cluster_params as write_cluster_params
    from commodore.core.inventory.hierarchy import write_targets as write_targets
    from commodore.core.inventory.parameter_path import ParameterPath as ParameterPath
    from commodore.core.inventory.parameter_path import format_path as format_path
    from commodore.core.inventory.parameter_path import key_text as key_text
    from commodore.core.inventory.parameter_path import look_up as look_up
    from commodore.core.inventory.parameter_path import parse_path as parse_path
    from commodore.core.inventory.preview import Preview as Preview
    from commodore.core.inventory.preview import PreviewSources as PreviewSources
    from commodore.core.inventory.preview import open_preview as open_preview
    from commodore.core.inventory.removed import find_removed_variables as find_removed_variables
    from commodore.core.inventory.render import Inventory as Inventory
    from commodore.core.inventory.render import Node as Node
    from commodore.core.inventory.render import render_inventory as render_inventory
    from commodore.core.inventory.render import render_node as render_node
    from commodore.core.inventory.targets import InstanceMeta as InstanceMeta
    from commodore.core.inventory.targets import Target as Target
    from commodore.core.inventory.targets import bootstrap_target as bootstrap_target
    from commodore.core.inventory.targets import instance_target as instance_target
    from commodore.core.inventory.targets import standalone_target as standalone_target
else:
    __getattr__ = lazy_exports(__name__)
