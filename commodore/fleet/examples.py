"""The example fleet of `fleet init`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from commodore.base.errors import PolicyError
from commodore.base.files.workspace import write_atomically

_CONFIG: Final = """\
# The levels of the fleet, the outermost first.
dimensions:
  - environments
  - regions

# All nodes, in the order in which a patch reaches them.
sequence:
  environments:
    - name: dev
      regions:
        - name: eu-1
    - name: stage
      regions:
        - name: eu-1
        - name: us-1
    - name: prod
      promotion: manual # a patch enters it only with --approve
      regions:
        - name: eu-1
        - name: us-1

cluster_types:
  - name: workload
"""
_DEFAULTS: Final = """\
project: default
namespace: argocd
syncPolicy:
  automated:
    selfHeal: true
destination:
  name: "{{ .Values.cluster.name }}"
"""
_METADATA: Final = """\
name: podinfo
description: A small web application
owners: [platform]
"""
_PODINFO: Final = """\
applications:
  podinfo:
    source:
      repoURL: https://stefanprodan.github.io/podinfo
      chart: podinfo
      targetRevision: 6.9.0
      helm:
        valuesObject:
          replicaCount: 1 # enough for tests
          ui:
            message: "Hello from {{ .Values.cluster.region }}"
    destination:
      namespace: podinfo
"""
_OVERRIDE: Final = """\
applications:
  podinfo:
    source:
      helm:
        valuesObject:
          replicaCount: 3
"""
_PATCH: Final = """\
metadata:
  id: podinfo-6.9.2
  description: A new version of podinfo

applications:
  podinfo:
    source:
      targetRevision: 6.9.2
"""


def _in_manifests(text: str) -> str:
    """Escape expressions so that both passes of the generator leave them to Argo CD."""
    return text.replace("{{ .Values.cluster.name }}", "{{`{{ .Values.cluster.name }}`}}")


def _indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines())


def example_files(style: str) -> dict[str, str]:
    """Return the files of the example fleet, by path."""
    manifests = style == "manifests"
    defaults = f"defaults:\n{_indented(_DEFAULTS, 2)}"
    if manifests:
        defaults = f"applications:\n  default:\n{_indented(_in_manifests(_DEFAULTS), 4)}"
    return {
        "config/config.yaml": _CONFIG,
        f"config/workload/{'defaults' if manifests else 'application-defaults'}.yaml": defaults,
        "config/workload/podinfo/metadata.yaml": _METADATA,
        "config/workload/podinfo/values.yaml": _PODINFO,
        f"config/workload/podinfo/prod/{'override' if manifests else 'values'}.yaml": _OVERRIDE,
        "config/workload/podinfo/dev/patch-001.yaml": _PATCH,
        ".gitignore": "/.commodore/\n",
    }


def new_fleet(root: Path, style: str) -> list[str]:
    """Write the example fleet into a folder. Returns the written paths.

    Raises:
        PolicyError: CMD-FLT-096, one of its files exists already.
        EnvironmentFault: the operating system refused.
    """
    files = example_files(style)
    there = [path for path in files if (root / path).exists() and path != ".gitignore"]
    if there or (root / "config").exists():
        raise PolicyError(
            "CMD-FLT-096",
            f"{root / (there[0] if there else 'config')} exists already",
            hint="begin in an empty folder, named with --working-dir",
        )
    written = [path for path in files if not (root / path).exists()]
    for path in written:
        write_atomically(root / path, files[path].encode())
    return written
