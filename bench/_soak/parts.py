"""The components of made-up worlds: files, parameters, what Kapitan makes of them, filters."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from _soak.changes import State
from _soak.world import GIT_URL

Files = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Traits:
    """The common parts of a world's components: chance, and whether they read what others have fetched."""

    rng: random.Random
    crossing: bool


# Parameters of the component, `parameters.kapitan`, and filters.
Class = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]

_OBJECT = """\
local object(name, data) = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: name, namespace: 'soak' },
  data: data,
};
"""


def _jsonnet(name: str, output: str = "${_instance}") -> dict[str, Any]:
    return {
        "input_type": "jsonnet",
        "input_paths": [f"${{_base_directory}}/component/{name}.jsonnet"],
        "output_path": output,
    }


def _git(name: str, output: str, subdir: str = "") -> dict[str, Any]:
    more = {"subdir": subdir} if subdir else {}
    return {"type": "git", "source": f"{GIT_URL}/{name}.git", "ref": "main", "output_path": output, **more}


def _numbers(rng: random.Random, count: int) -> dict[str, Any]:
    return {f"key{number}": rng.randrange(1000) for number in range(count)}


def data_files(components: list[str], rng: random.Random) -> dict[str, Files]:
    """The repositories from which components fetch."""
    made: dict[str, Files] = {
        "data-one": {
            "notes.txt": f"first note {rng.randrange(100)}\nsecond note\n",
            "more/deep.json": _numbers(rng, 3),
            "tool.sh": State(b"#!/bin/sh\necho 1\n", 0o755),
            "current": State(b"notes.txt", link=True),
        },
        "data-two": {
            "sub/values.json": _numbers(rng, 4),
            "sub/text.txt": "some text 1\n",
            "elsewhere.txt": "unread 1\n",
        },
    }
    if "delta" in components:
        made["data-chart"] = {f"charts/web/{path}": content for path, content in _chart("web", rng).items()}
    if "epsilon" in components:
        made["data-base"] = _kustomization(rng)
    if "eta" in components:
        made["data-library"] = {
            "soaklib/main.libsonnet": f"{{ number: {rng.randrange(99)}, name(n): 'library-' + n }}\n"
        }
    return made


def _alpha_files(traits: Traits) -> Files:
    return {
        "component/main.jsonnet": "local kap = import 'lib/kapitan.libjsonnet';\n"
        "local parts = import 'parts.libsonnet';\n"
        "local alpha = import 'lib/alpha.libsonnet';\n"
        "local inv = kap.inventory();\nlocal params = inv.parameters.alpha;\n" + _OBJECT + "{\n"
        "  '10_own': object('own', { replicas: '%d' % params.replicas, note: params.note, made: alpha.make(3) }),\n"
        "  '20_fetched': object('fetched', { notes: importstr 'alpha/fetched/one/notes.txt' }),\n"
        "  '30_parts': [object('part-' + name, { value: '' + parts[name] }) for name in std.objectFields(parts)],\n"
        "  '40_names': object('names', { names: std.join(',', std.objectFields(params)) }),\n}\n",
        "component/parts.libsonnet": f"{{ first: {traits.rng.randrange(99)}, second: 'word', third: [1, 2, 3] }}\n",
        "component/unread.libsonnet": "{ unread: 1 }\n",
        "lib/alpha.libsonnet": "local number = 5;\n{ make(n):: 'alpha-%d' % (n * number), names: ['a', 'b'] }\n",
        "postprocess/label.jsonnet": "local com = import 'lib/commodore.libjsonnet';\n"
        "local labels = { team: std.extVar('team'), 'soak/label': 'v1' };\n"
        "local fix(object) = if object == null then null else object { metadata+: { labels+: labels } };\n"
        "com.fixupDir(std.extVar('output_path'), fix)\n",
    }


def _alpha_class(_traits: Traits) -> Class:
    fetched = "dependencies/alpha/fetched"
    return (
        {"replicas": 1, "note": "none", "secret": "?{vaultkv:${cluster:tenant}/${cluster:name}/alpha/secret}"},
        {
            "dependencies": [_git("data-one", f"{fetched}/one"), _git("data-two", f"{fetched}/two", "sub")],
            "compile": [_jsonnet("main")],
        },
        [
            {
                "type": "jsonnet",
                "filter": "postprocess/label.jsonnet",
                "path": "alpha",
                "filterargs": {"team": "team-${shared:number}"},
            }
        ],
    )


def _beta_files(traits: Traits) -> Files:
    values = "alpha/fetched/two/values.json" if traits.crossing else "beta/static/values.json"
    return {
        "static/values.json": _numbers(traits.rng, 2),
        "component/main.jsonnet": "local kap = import 'lib/kapitan.libjsonnet';\n"
        "local alpha = import 'lib/alpha.libsonnet';\n"
        f"local values = import '{values}';\n"
        "local theirs = import 'alpha/component/parts.libsonnet';\n"
        "local params = kap.inventory().parameters;\n" + _OBJECT + "{\n"
        "  main: object('beta', { weight: '%d' % params.beta.weight, replicas: '' + params.alpha.replicas }),\n"
        "  values: object('values', { [key]: '' + values[key] for key in std.objectFields(values) }),\n"
        "  theirs: object('theirs', { first: '' + theirs.first, made: alpha.make(params.shared.number) }),\n}\n",
        "static/plain.yaml": f"plain: {traits.rng.randrange(99)}\n",
        "static/run.sh": State(b"#!/bin/sh\necho 2\n", 0o755),
        "static/link.yaml": State(b"plain.yaml", link=True),
    }


def _beta_class(traits: Traits) -> Class:
    origin = "dependencies/alpha/fetched/one" if traits.crossing else "dependencies/alpha/lib"
    copied = {"input_type": "copy", "input_paths": [origin], "output_path": "beta/copied"}
    own = {"input_type": "copy", "input_paths": ["beta/static"], "output_path": "beta/static"}
    return {"weight": 1}, {"compile": traits.rng.sample([_jsonnet("main"), copied, own], 3)}, []


def _gamma_files(_traits: Traits) -> Files:
    return {
        "component/main.jsonnet": "local kap = import 'lib/kapitan.libjsonnet';\n"
        "local inv = kap.inventory();\nlocal params = inv.parameters.gamma;\n"
        "local all = kap.inventory_global();\n" + _OBJECT + "{\n"
        "  main: object(inv.parameters._instance, { size: '' + params.size, color: params.color }),\n"
        "  all: object('all', { targets: std.join(',', std.objectFields(all)) }),\n"
        "  alpha: object('alpha', { replicas: '' + all.alpha.parameters.alpha.replicas }),\n}\n",
        "templates/page.txt.j2": "size {{ inventory.parameters.gamma.size }}\n"
        "{% for word in inventory.parameters.shared.words %}- {{ word }}\n{% endfor %}\n",
        "templates/plain.txt": "just text 1\n",
    }


def _gamma_class(traits: Traits) -> Class:
    page = {"input_type": "jinja2", "input_paths": ["gamma/templates"], "output_path": "${_instance}/pages"}
    compiled = [_jsonnet("main"), page] if traits.rng.random() < 0.5 else [_jsonnet("main")]
    return {"=_metadata": {"multi_instance": True}, "size": 0, "color": "red 5"}, {"compile": compiled}, []


def _chart(name: str, rng: random.Random) -> Files:
    return {
        "Chart.yaml": {"apiVersion": "v2", "name": name, "version": "1.0.0", "appVersion": "2.0"},
        "values.yaml": f"replicas: {rng.randrange(9)}\ncolor: blue\n",
        "templates/_helpers.tpl": '{{- define "label" -}}\nlabel-{{ .Values.color }}\n{{- end -}}\n',
        "templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"
        'data:\n  label: {{ include "label" . }}\n  replicas: "{{ .Values.replicas }}"\n'
        '  file: {{ .Files.Get "notes.txt" | quote }}\n',
        "notes.txt": "chart note 1\n",
    }


def _delta_files(traits: Traits) -> Files:
    return {f"charts/own/{path}": content for path, content in _chart("own", traits.rng).items()}


def _delta_class(traits: Traits) -> Class:
    charts = ["${_base_directory}/charts/own"]
    dependencies = []
    if traits.rng.random() < 0.5:
        charts.append("${_base_directory}/fetched/charts/web")
        dependencies.append(_git("data-chart", "${_base_directory}/fetched/charts/web", "charts/web"))
    compiled = [
        {
            "input_type": "helm",
            "input_paths": [chart],
            "output_path": f"delta/{chart.rpartition('/')[2]}",
            "helm_params": {"name": "delta", "namespace": "${delta:namespace}"},
            "helm_values": "${delta:values}",
        }
        for chart in charts
    ]
    namespace = {
        "type": "builtin",
        "filter": "helm_namespace",
        "path": "delta/own/own/templates",
        "filterargs": {"namespace": "${delta:namespace}"},
    }
    parameters = {"namespace": "soak-delta", "values": {"replicas": 4, "color": "green"}}
    return parameters, {"dependencies": dependencies, "compile": compiled}, [namespace]


def _kustomization(rng: random.Random) -> Files:
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: base\ndata:\n  number: '{rng.randrange(99)}'\n"
    return {"deploy/kustomization.yaml": "resources:\n- config.yaml\n", "deploy/config.yaml": config}


def _epsilon_files(_traits: Traits) -> Files:
    remote = f"- {GIT_URL}/data-base.git//deploy?ref=main\n"
    return {
        "kustomize/base/kustomization.yaml": "resources:\n- own.yaml\n",
        "kustomize/base/own.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata:\n  a: 'one 1'\n",
        "kustomize/top/kustomization.yaml": "namePrefix: soak-\nresources:\n- ../base\n" + remote,
    }


def _epsilon_class(traits: Traits) -> Class:
    wrapped = {
        "input_type": "external",
        "input_paths": ["${_kustomize_wrapper}"],
        "output_path": "epsilon",
        "env_vars": {"INPUT_DIR": "${_base_directory}/kustomize/top"},
        "args": ["\\${compiled_target_dir}"],
    }
    built = {"input_type": "kustomize", "input_paths": ["epsilon/kustomize/base"], "output_path": "epsilon/built"}
    return {"tag": 1}, {"compile": [wrapped] if traits.rng.random() < 0.7 else [built]}, []


def _zeta_files(traits: Traits) -> Files:
    return {
        "kadet/__init__.py": "from kapitan.inputs.kadet import BaseObj, inventory\n\n\ndef main(input_params=None):\n"
        "    made = BaseObj()\n    made.root.main.number = inventory().parameters.zeta.number\n    return made\n",
        "files/keep.yaml": "keep: 1\n",
        "files/drop.yaml": f"drop: {traits.rng.randrange(99)}\n",
        "component/main.jsonnet": "local kap = import 'lib/kapitan.libjsonnet';\nlocal inv = kap.inventory();\n"
        "local loaded = std.parseJson(kap.yaml_load('zeta/files/keep.yaml'));\n"
        "local listed = kap.dir_files_list('zeta/files');\n"
        + _OBJECT
        + "{ main: object('zeta', { keep: '' + loaded.keep, listed: std.join(',', listed) }) }\n",
    }


def _zeta_class(traits: Traits) -> Class:
    copied = {"input_type": "copy", "input_paths": ["zeta/files"], "output_path": "zeta/files"}
    removed = {"input_type": "remove", "input_paths": ["compiled/zeta/zeta/files/drop.yaml"], "output_path": "."}
    kadet = {"input_type": "kadet", "input_paths": ["zeta/kadet"], "output_path": "zeta/kadet"}
    compiled = [_jsonnet("main"), copied, removed]
    return {"number": 3}, {"compile": [*compiled, kadet] if traits.rng.random() < 0.4 else compiled}, []


def _eta_files(traits: Traits) -> Files:
    library = {
        "source": {"git": {"remote": f"{GIT_URL}/data-library.git", "subdir": "soaklib"}},
        "version": "main",
        "name": "soaklib",
    }
    return {
        "jsonnetfile.json": {"version": 1, "dependencies": [library], "legacyImports": True},
        "component/main.jsonnet": "local lib = import 'soaklib/main.libsonnet';\n"
        "local alias = import 'lib/soak-alias.libsonnet';\n" + _OBJECT + "{ main: object(lib.name('eta'), "
        "{ number: '' + lib.number, alias: '' + alias.number }) }\n",
        "lib/eta.libsonnet": f"{{ number: {traits.rng.randrange(99)} }}\n",
    }


def _eta_class(_traits: Traits) -> Class:
    metadata = {"library_aliases": {"soak-alias.libsonnet": "eta.libsonnet"}}
    return {"=_metadata": metadata}, {"compile": [_jsonnet("main")]}, []


def _theta_files(traits: Traits) -> Files:
    deep = "alpha/fetched/one/more/deep.json" if traits.crossing else "alpha/component/parts.libsonnet"
    return {
        "component/main.jsonnet": "local kap = import 'lib/kapitan.libjsonnet';\n"
        "local params = kap.inventory().parameters;\n"
        + _OBJECT
        + "local all = std.manifestJsonMinified(params.shared);\n"
        "{ main: object('theta', { all: all, packed: std.toString(params.packed), "
        f"deep: importstr '{deep}' }}) }}\n",
        "component/app.jsonnet": "{ ['apps/%s' % std.extVar('target')]: { spec: { number: 1 } } }\n",
        "postprocess/extra.jsonnet": "local com = import 'lib/commodore.libjsonnet';\n"
        "local alpha = import 'dependencies/lib/alpha.libsonnet';\n"
        "local params = com.inventory().parameters;\n"
        "com.fixupDir(std.extVar('output_path'), function(o) o { extra: alpha.names + [params.shared.number] })\n",
    }


def _theta_class(traits: Traits) -> Class:
    extra = {"type": "jsonnet", "filter": "postprocess/extra.jsonnet", "path": "theta"}
    return (
        {"any": 1},
        {"compile": [_jsonnet("main"), _jsonnet("app", ".")]},
        [extra] if traits.rng.random() < 0.7 else [],
    )


FILES_OF: dict[str, Callable[[Traits], Files]] = {
    "alpha": _alpha_files,
    "beta": _beta_files,
    "gamma": _gamma_files,
    "delta": _delta_files,
    "epsilon": _epsilon_files,
    "zeta": _zeta_files,
    "eta": _eta_files,
    "theta": _theta_files,
}
CLASS_OF: dict[str, Callable[[Traits], Class]] = {
    "alpha": _alpha_class,
    "beta": _beta_class,
    "gamma": _gamma_class,
    "delta": _delta_class,
    "epsilon": _epsilon_class,
    "zeta": _zeta_class,
    "eta": _eta_class,
    "theta": _theta_class,
}
