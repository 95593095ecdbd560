"""Working directories whose names mean something to shells, to helm, to patterns or to regular expressions."""

from __future__ import annotations

from pathlib import Path

from tests.world.cluster import CLASS, ClusterWorld
from tests.world.repos import Script

FILES = {
    "class/app.yml": CLASS
    + """
      - input_paths: ['${_base_directory}/extra/*.jsonnet']
        input_type: jsonnet
        output_path: ${_instance}/
      - input_paths: ['${_base_directory}/charts/c']
        input_type: helm
        output_path: ${_instance}/helm
        helm_values: {v: mine}
        helm_values_files: ['${_base_directory}/values.yaml']
        helm_params: {name: x}
      - input_paths: ['${_kustomize_wrapper}']
        input_type: external
        output_path: .
        env_vars: {INPUT_DIR: '${_base_directory}/k'}
        args: ['\\${compiled_target_dir}/${_instance}/k']
      - input_paths: ['${_base_directory}/run']
        input_type: external
        output_path: .
        args: ['"\\${compiled_target_dir}"/${_instance}', "'${_base_directory}/values.yaml'", two  words]
""",
    "extra/one.jsonnet": "{ one: {} }",
    "charts/c/Chart.yaml": "{apiVersion: v2, name: c, version: 1.0.0}\n",
    "charts/c/values.yaml": "{v: none, w: none}\n",
    "charts/c/templates/a.yaml": "{kind: A, v: {{ .Values.v }}, w: {{ .Values.w }}}\n",
    "values.yaml": "w: theirs\n",
    "k/kustomization.yaml": "resources: [r.yaml]\n",
    "k/r.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: k}}\n",
}
NAMES = ["it's", 'say "hi"', "a,b  c;$HOME`x`", "[x]", "100%s", "a\\b\\d", "lines\nand\nlines"]


def test_an_odd_working_directory_changes_nothing(tmp_path: Path) -> None:
    """Each of these names broke a compile, or lost files without a word."""
    world = ClusterWorld(tmp_path)
    remote = world.component("app", FILES, data={"a": "1"})
    remote.commit({"run": Script('#!/bin/sh\n[ $# = 4 ] && { cat "$2"; echo "x: $3 $4"; } > "$1/ran.yaml"\n')})
    world.work = tmp_path / "plain"
    plain = world.compile("--no-cache")
    assert plain.code == 0, plain.stderr
    expected = world.local_tree()
    assert {"manifests/app/ran.yaml", "manifests/app/helm/c/templates/a.yaml"} <= set(expected)
    assert len(expected) == 5
    for arguments in (["--no-cache"], [], []):
        world.work = tmp_path / "-".join(NAMES)
        result = world.compile(*arguments)
        assert result.code == 0, result.stderr
        assert world.local_tree() == expected
