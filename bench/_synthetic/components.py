"""The repositories of components of each kind, and of the kustomizations that some of them fetch."""

from __future__ import annotations

import random
from typing import Any

import yaml

from _synthetic.charts import CHART_VERSION, CHARTS_URL
from _synthetic.padding import pad
from _synthetic.plan import Component

GIT_URL = "https://git.example.com"
VERSION = "v1.0.0"

_APP = """\
local kap = import 'lib/kapitan.libjsonnet';
local argocd = import 'lib/argocd.libjsonnet';
local inv = kap.inventory();
local params = inv.parameters.KEY;
local instance = inv.parameters._instance;

{ ['apps/%s' % instance]: argocd.App(instance, params.namespace) }
"""

_LIBRARY = """\
{
  App(name, namespace):: {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: name, namespace: 'syn' },
    spec: {
      destination: { namespace: namespace, server: 'https://kubernetes.default.svc' },
      project: 'syn',
      source: { path: 'manifests/' + name },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
    },
  },
}
"""

_MAIN = """\
local com = import 'lib/commodore.libjsonnet';
local kap = import 'lib/kapitan.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
local inv = kap.inventory();
local params = inv.parameters.KEY;
local instance = inv.parameters._instance;
local generation = { metadata+: { annotations+: { 'bench.example.com/generation': inv.parameters.bench.generation } } };

local config(name) = kube.ConfigMap(name) + generation {
  data: { [key]: std.manifestJsonMinified(params.config[key]) for key in std.objectFields(params.config) },
};

local workload(name, options) = kube.Deployment(name) + generation {
  spec+: {
    replicas: options.replicas,
    template+: { spec+: {
      containers_+: {
        main: kube.Container('main') {
          image: '%s/%s' % [inv.parameters.global.registry, options.image],
          env_+: { INSTANCE: instance, CLOUD: CLOUD },
          ports_+: { http: { containerPort: 8080 } },
          volumeMounts_+: { config: { mountPath: '/etc/config' } },
        },
      },
      volumes_+: { config: kube.ConfigMapVolume(config(name)) },
    } },
  },
};

local alerts = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: instance },
  spec: { groups: [
    { name: key, rules: params.settings[key].rules }
    for key in std.objectFields(params.settings)[0:20]
    if params.settings[key].enabled
  ] },
};

{
  '00_namespace': kube.Namespace(params.namespace) + generation,
  [if std.objectHas(params, 'password') then '05_secret']: com.namespaced(params.namespace, kube.Secret('password') {
    stringData: { password: params.password },
  }),
  [if std.length(params.settings) > 0 then '90_alerts']: com.namespaced(params.namespace, alerts),
} + {
  ['10_' + name]: [
    com.namespaced(params.namespace, object)
    for deployment in [workload(name, params.workloads[name])]
    for object in [deployment, config(name), kube.Service(name) { target_pod:: deployment.spec.template }]
  ]
  for name in std.objectFields(params.workloads)
}
"""

_KUSTOMIZATION = """\
local kap = import 'lib/kapitan.libjsonnet';
local inv = kap.inventory();
local params = inv.parameters.KEY;

{
  kustomization: {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: params.namespace,
    namePrefix: params.prefix,
    commonAnnotations: { 'bench.example.com/generation': inv.parameters.bench.generation },
    images: [{ name: 'agent', newName: inv.parameters.global.registry + '/agent', newTag: params.tag }],
    resources: ['../manifests/VERSION'],
  },
}
"""

_FILTER = """\
local com = import 'lib/commodore.libjsonnet';

local labelled(object) = object { metadata+: { labels+: { 'bench.example.com/team': std.extVar('team') } } };

com.fixupDir(std.extVar('output_path'), labelled)
"""

_IGNORED = "/helmcharts/\n/manifests/\n/kustomize/\n"


def component_files(component: Component, padding: int) -> dict[str, str]:
    """The files of a component's repository; `padding` is how many bytes its defaults hold that are there for size."""
    name, key = component.name, component.key
    files = {
        "class/defaults.yml": dump({"parameters": {key: defaults(component, padding)}}),
        f"class/{name}.yml": dump({"parameters": _class(component)}),
        "component/app.jsonnet": _APP.replace("KEY", key),
        # A third of the components reads a fact.
        "component/main.jsonnet": _MAIN.replace("KEY", key).replace(
            "CLOUD: CLOUD", "CLOUD: inv.parameters.facts.cloud" if component.number % 3 == 2 else "CLOUD: 'any'"
        ),
        ".gitignore": _IGNORED,
    }
    if component.number == 0:
        files["lib/argocd.libjsonnet"] = _LIBRARY
    if component.kind == "kustomize":
        script = _KUSTOMIZATION.replace("KEY", key).replace("VERSION", VERSION)
        files["component/kustomization.jsonnet"] = script
    if _has_filter(component):
        files["postprocess/label.jsonnet"] = _FILTER
    return files


def defaults(component: Component, padding: int) -> dict[str, Any]:
    """A component's own parameters."""
    rng = random.Random(f"component {component.name}")
    # A component of another kind has a workload in addition to what it fetches.
    names = ("api", "worker", "web", "cron", "proxy", "store")
    count = rng.randrange(2, 7) if component.kind == "jsonnet" else 1
    own: dict[str, Any] = {
        "=_metadata": {"multi_instance": True},
        "namespace": "${_instance}",
        "workloads": {
            name: {"replicas": rng.randrange(1, 4), "image": f"{component.name}-{name}:v1.{rng.randrange(30)}.0"}
            for name in names[:count]
        },
        "config": {f"option_{number}": {"value": rng.randrange(10**6)} for number in range(rng.randrange(3, 12))},
        "settings": pad(component.name, padding) if padding > 0 else {},
    }
    if component.personal:
        own["password"] = "?{vaultkv:${cluster:tenant}/${cluster:name}/${_instance}/password}"
    if component.kind == "helm":
        own["helm_values"] = {
            "replicas": 1,
            "registry": "${global:registry}",
            "generation": "${bench:generation}",
            "env": {"HOST": f"{component.name}.${{cluster:name}}.example.com"} if component.personal else {},
            "resources": {"requests": {"cpu": f"{rng.randrange(1, 10) * 50}m", "memory": "64Mi"}},
        }
    if component.kind == "kustomize":
        own |= {"prefix": "${_instance}-", "tag": f"v2.{rng.randrange(30)}.0"}
    return own


def _class(component: Component) -> dict[str, Any]:
    compiled: list[dict[str, Any]] = [
        _jsonnet("app", "."),
        _jsonnet("main", "${_instance}"),
    ]
    filters: list[dict[str, Any]] = []
    kapitan: dict[str, Any] = {"compile": compiled}
    if component.kind == "helm":
        _add_chart(component, kapitan, filters)
    if component.kind == "kustomize":
        _add_kustomization(component, kapitan)
    if _has_filter(component):
        args = {"team": "${bench:team}"}
        path = "${_instance}/10_kustomize" if component.kind == "kustomize" else _templates(component)
        filters.append({"type": "jsonnet", "filter": "postprocess/label.jsonnet", "path": path, "filterargs": args})
    return {"kapitan": kapitan} | ({"commodore": {"postprocess": {"filters": filters}}} if filters else {})


def _add_chart(component: Component, kapitan: dict[str, Any], filters: list[dict[str, Any]]) -> None:
    chart = f"${{_base_directory}}/helmcharts/{component.name}/{CHART_VERSION}"
    source = {"source": CHARTS_URL, "chart_name": component.name, "version": CHART_VERSION}
    kapitan["dependencies"] = [{"type": "helm", **source, "output_path": chart}]
    kapitan["compile"].append(
        {
            "input_type": "helm",
            "input_paths": [chart],
            "output_path": "${_instance}/10_helm",
            "helm_params": {"name": "${_instance}", "namespace": f"${{{component.key}:namespace}}"},
            "helm_values": f"${{{component.key}:helm_values}}",
        }
    )
    roles = [{"kind": kind, "name": "${_instance}"} for kind in ("ClusterRole", "ClusterRoleBinding")]
    args = {"namespace": f"${{{component.key}:namespace}}", "create_namespace": "false", "exclude_objects": roles}
    filters.append(
        {"type": "builtin", "filter": "helm_namespace", "path": _templates(component), "filterargs": args},
    )


def _add_kustomization(component: Component, kapitan: dict[str, Any]) -> None:
    kapitan["dependencies"] = [
        {
            "type": "git",
            "source": f"{GIT_URL}/manifests/{component.name}.git",
            "ref": VERSION,
            "subdir": "deploy",
            "output_path": f"${{_base_directory}}/manifests/{VERSION}",
        }
    ]
    kapitan["compile"] += [
        _jsonnet("kustomization", "${_base_directory}/kustomize"),
        {
            "input_type": "external",
            "input_paths": ["${_kustomize_wrapper}"],
            "output_path": "${_instance}/10_kustomize",
            "env_vars": {"INPUT_DIR": "${_base_directory}/kustomize"},
            "args": ["\\${compiled_target_dir}"],
        },
    ]


def _jsonnet(name: str, output: str) -> dict[str, Any]:
    script = f"${{_base_directory}}/component/{name}.jsonnet"
    return {"input_type": "jsonnet", "input_paths": [script], "output_path": output}


def _templates(component: Component) -> str:
    return f"${{_instance}}/10_helm/{component.name}/templates"


def _has_filter(component: Component) -> bool:
    """A filter in Jsonnet: for every kustomization, and for every second chart."""
    return component.kind == "kustomize" or (component.kind == "helm" and component.number % 2 == 0)


def manifests_files(component: Component) -> dict[str, str]:
    """The repository that a component with a kustomization fetches."""
    rng = random.Random(f"manifests {component.name}")
    files = {}
    for number in range(rng.randrange(4, 12)):
        app = {"app": f"agent-{number}"}
        container = {"name": "agent", "image": "agent", "args": [f"--shard={number}", f"--salt={rng.randrange(10**6)}"]}
        template = {"metadata": {"labels": app}, "spec": {"containers": [container]}}
        meta = {"name": f"agent-{number}", "labels": app}
        objects: list[dict[str, Any]] = [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
            {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": meta,
                "spec": {"selector": {"matchLabels": app}, "template": template},
            },
        ]
        files[f"deploy/agent-{number}.yaml"] = yaml.safe_dump_all(objects, sort_keys=True)
    resources = sorted(name.removeprefix("deploy/") for name in files)
    about = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
    files["deploy/kustomization.yaml"] = dump(about)
    return files


def dump(content: Any) -> str:
    """A YAML file with the keys as they are ordered, and nothing that is said once and referred to later."""
    return yaml.dump(content, Dumper=_Plain, sort_keys=False, width=10**6)


class _Plain(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True
