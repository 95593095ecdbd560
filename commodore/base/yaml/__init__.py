"""Read and write YAML, with a module for each dialect.

* YAML 1.1 as Kapitan reads it (`yes` is true, `012` is ten), for catalogs, components and class files: `yaml_in` reads
  it, `compose` and `compose_all` with the place of each value. `yaml_out` writes it, with the bytes of PyYAML's
  indented lists.
* YAML as Kubernetes reads it (sigs.k8s.io/yaml: 1.1 and 1.2 mixed, converted to JSON), for manifests and values of
  charts: `kube_yaml` reads it, and writes it so that YAML 1.1 reads the same; `kube_scalars` has its scalars.
* YAML as helm's `toYaml` writes it, for templates: `gotemplate.functions.yaml_text`.
* YAML 1.2 with comments, for files that are edited: `ruamel.yaml`, in the editing modules.

Each reader reads plain documents through libyaml (`_quick`), and leaves the rest to PyYAML, whose loaders (`_loader`,
`_kube_loader`) define its meaning. `yaml_out` leaves unusual documents to `_pyyaml`.

`json_schemas` has the published JSON Schemas, and texts for the errors of a validator. `chart_files` reads the files
of a chart.
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
