"""The ApplicationSet that deploys the chart of its cell to each cluster of a type."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from commodore.base.context import Context
from commodore.fleet.generating import check_known
from commodore.fleet.repository.config import read_config


@dataclass(frozen=True, slots=True)
class ApplicationSetOptions:
    """The options of an ApplicationSet.

    Attributes:
        label_prefix: the prefix of clusters' labels.
        cluster_values: further values of the charts, each with its label.
        template_engine: fasttemplate, or Go templates.
    """

    repo_url: str = "REPO_URL"
    revision: str = "HEAD"
    project: str = "default"
    label_prefix: str = ""
    cluster_values: tuple[tuple[str, str], ...] = ()
    template_engine: Literal["fast", "go"] = "fast"


def application_set(root: Path, kind: str, options: ApplicationSetOptions, context: Context) -> dict[str, Any]:
    """Return the ApplicationSet of a cluster type of the fleet at `root`.

    Raises:
        CommodoreError: as `read_config`; CMD-FLT-090, the type is unknown.
    """
    config = read_config(root, context.limits)
    check_known("cluster type", [kind], [type_.name for type_ in config.types])
    go = options.template_engine == "go"
    name, server = ("{{.name}}", "{{.server}}") if go else ("{{name}}", "{{server}}")

    def label(text: str) -> str:
        return f'{{{{index .metadata.labels "{text}"}}}}' if go else f"{{{{metadata.labels.{text}}}}}"

    def value(text: str) -> str:
        if not go:
            return f"{{{{values.{text}}}}}"
        return f"{{{{.values.{text}}}}}" if text.isidentifier() else f'{{{{index .values "{text}"}}}}'

    values = {dimension: label(f"{options.label_prefix}{dimension}") for dimension in config.singulars}
    cluster = {"name": name, **{dimension: value(dimension) for dimension in config.singulars}}
    cluster |= {key: label(f"{options.label_prefix}{text}") for key, text in options.cluster_values}
    generator = {
        "selector": {"matchLabels": {f"{options.label_prefix}cluster-type": kind}},
        "values": values,
    }
    source = {
        "repoURL": options.repo_url,
        "targetRevision": options.revision,
        "path": "/".join(["rendered", kind, *(value(dimension) for dimension in config.singulars)]),
        "helm": {"valuesObject": {"cluster": cluster}},
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": f"{kind}-apps", "namespace": "argocd"},
        "spec": {
            **({"goTemplate": True, "goTemplateOptions": ["missingkey=error"]} if go else {}),
            "generators": [{"clusters": generator}],
            "template": {
                "metadata": {"name": f"{name}-apps"},
                "spec": {
                    "project": options.project,
                    "source": source,
                    "destination": {"server": server, "namespace": "argocd"},
                    "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
                },
            },
        },
    }
