"""YAML in and out, one module per dialect.

`yaml_in` and `yaml_out` read and write catalogs, with the bytes of PyYAML's indented lists. `kube_yaml` reads as
Kubernetes does (sigs.k8s.io/yaml). `json_schemas` compares documents with the published schemas.
"""

from __future__ import annotations

from commodore.base.yaml.yaml_in import compose, compose_all, load, load_all, load_rendered
from commodore.base.yaml.yaml_out import Emitter, MultilineStyle, dump, dump_flush, dump_stream

__all__ = [
    "Emitter",
    "MultilineStyle",
    "compose",
    "compose_all",
    "dump",
    "dump_flush",
    "dump_stream",
    "load",
    "load_all",
    "load_rendered",
]
