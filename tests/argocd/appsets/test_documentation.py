"""The examples of Argo CD's documentation of ApplicationSets, each with its documented result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.argocd.appsets.conftest import Sets

HEAD = """
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: guestbook, namespace: argocd}
spec:
  goTemplate: true
  goTemplateOptions: ["missingkey=error"]
"""
ADDONS = {
    "applicationset/examples/git-generator-directory/cluster-addons/argo-workflows/kustomization.yaml": "",
    "applicationset/examples/git-generator-directory/cluster-addons/prometheus-operator/Chart.yaml": "",
    "applicationset/examples/git-generator-directory/excludes/cluster-addons/exclude-helm-guestbook/Chart.yaml": "",
    "cluster-config/engineering/dev/config.json": '{"cluster": {"owner": "cluster-admin@company.com", '
    '"name": "engineering-dev", "address": "https://1.2.3.4"}, "asset_id": "11223344"}',
    "cluster-config/engineering/prod/config.json": '{"cluster": {"owner": "cluster-admin@company.com", '
    '"name": "engineering-prod", "address": "https://2.4.6.8"}, "asset_id": "11223355"}',
}


def template(name: str, path: str = "guestbook", server: str = "https://kubernetes.default.svc") -> str:
    return f"""
  template:
    metadata: {{name: '{name}'}}
    spec:
      project: my-project
      source: {{repoURL: https://github.com/argoproj/argo-cd.git, targetRevision: HEAD, path: '{path}'}}
      destination: {{server: '{server}', namespace: guestbook}}
"""


LIST = """
  generators:
  - list:
      elements:
      - {cluster: engineering-dev, url: https://1.2.3.4}
      - {cluster: engineering-prod, url: https://2.4.6.8}
"""
VALUES = """
  generators:
  - clusters: {selector: {matchLabels: {type: staging}}, values: {revision: HEAD, clusterName: '{{.name}}'}}
  - clusters: {selector: {matchLabels: {type: production}}, values: {revision: stable, clusterName: '{{.name}}'}}
"""
FOLDERS = """
  generators:
  - git:
      repoURL: https://github.com/argoproj/argo-cd.git
      revision: HEAD
      directories:
      - path: applicationset/examples/git-generator-directory/excludes/cluster-addons/*
      - path: applicationset/examples/git-generator-directory/cluster-addons/*
      - path: applicationset/examples/git-generator-directory/excludes/cluster-addons/exclude-helm-guestbook
        exclude: true
"""
FILES = """
  generators:
  - git:
      repoURL: https://github.com/argoproj/argo-cd.git
      revision: HEAD
      files: [{path: cluster-config/**/config.json}]
"""
MATRIX = """
  generators:
  - matrix:
      generators:
      - git:
          repoURL: https://github.com/argoproj/argo-cd.git
          revision: HEAD
          directories: [{path: applicationset/examples/git-generator-directory/cluster-addons/*}]
      - clusters: {selector: {matchLabels: {type: staging}}}
"""
FROM_FILES = """
  generators:
  - matrix:
      generators:
      - git:
          repoURL: https://github.com/argoproj/applicationset.git
          revision: HEAD
          files: [{path: cluster-config/**/config.json}]
      - clusters: {selector: {matchLabels: {type: '{{ .path.basename }}'}}}
"""
MERGE = """
  generators:
  - merge:
      mergeKeys: [server]
      generators:
      - clusters: {values: {kafka: 'true', redis: 'false'}}
      - clusters: {selector: {matchLabels: {use-kafka: 'false'}}, values: {kafka: 'false'}}
      - list: {elements: [{server: 'https://prod.example.com', values.redis: 'true'}]}
"""
NESTED_MERGE = """
  generators:
  - merge:
      mergeKeys: [server]
      generators:
      - clusters: {values: {kafka: 'true', redis: 'false'}}
      - clusters: {selector: {matchLabels: {use-kafka: 'false'}}, values: {kafka: 'false'}}
      - list: {elements: [{server: 'https://prod.example.com', values: {redis: 'true'}}]}
"""
POST = """
  generators:
  - list:
      elements:
      - {cluster: engineering-dev, url: https://1.2.3.4, env: staging}
      - {cluster: engineering-prod, url: https://2.4.6.8, env: prod}
    selector: {matchLabels: {env: staging}}
"""
SLUG = """
  generators:
  - list: {elements: [{branch: 'feat/a_really+long_pull_request_name_to_test_argo_slugification_and_branch_name'}]}
"""
INLINE = """
  generators:
  - list:
      elements:
      - {cluster: a, env: prod}
      - {cluster: b, env: test}
"""
CASES: list[Any] = [
    pytest.param(
        LIST + template("{{.cluster}}-guestbook", "examples/{{.cluster}}", "{{.url}}"),
        [
            ("engineering-dev-guestbook", "examples/engineering-dev", "https://1.2.3.4"),
            ("engineering-prod-guestbook", "examples/engineering-prod", "https://2.4.6.8"),
        ],
        id="list",
    ),
    pytest.param(
        VALUES + template("{{.name}}-{{.values.revision}}", "{{.values.clusterName}}", "{{.server}}"),
        [
            ("dev-HEAD", "dev", "https://dev.example.com"),
            ("prod-stable", "prod", "https://prod.example.com"),
        ],
        id="clusters with values",
    ),
    pytest.param(
        FOLDERS + template("{{.path.basename}}", "{{.path.path}}"),
        [
            (name, f"applicationset/examples/git-generator-directory/cluster-addons/{name}", None)
            for name in ("argo-workflows", "prometheus-operator")
        ],
        id="git directories with an excluded one",
    ),
    pytest.param(
        FILES + template("{{.cluster.name}}-guestbook", "{{.asset_id}}", "{{.cluster.address}}"),
        [
            ("engineering-dev-guestbook", "11223344", "https://1.2.3.4"),
            ("engineering-prod-guestbook", "11223355", "https://2.4.6.8"),
        ],
        id="git files",
    ),
    pytest.param(
        MATRIX + template("{{.path.basename}}-{{.name}}", "{{.path.path}}", "{{.server}}"),
        [
            (
                f"{name}-dev",
                f"applicationset/examples/git-generator-directory/cluster-addons/{name}",
                "https://dev.example.com",
            )
            for name in ("argo-workflows", "prometheus-operator")
        ],
        id="matrix of folders and clusters",
    ),
    pytest.param(
        FROM_FILES.replace("type:", "env:") + template("{{.name}}-{{index .path.segments 1}}", "x", "{{.server}}"),
        [
            ("dev-engineering", "x", "https://dev.example.com"),
            ("prod-engineering", "x", "https://prod.example.com"),
        ],
        id="matrix whose second generator uses the first",
    ),
    pytest.param(
        NESTED_MERGE + template("{{.name}}-{{.values.kafka}}-{{.values.redis}}", "x", "{{.server}}"),
        [
            ("dev-false-false", "x", "https://dev.example.com"),
            ("prod-true-true", "x", "https://prod.example.com"),
            ("in-cluster-true-false", "x", "https://kubernetes.default.svc"),
        ],
        id="merge",
    ),
    pytest.param(
        POST + template("{{.cluster}}-guestbook"),
        [("engineering-dev-guestbook", "guestbook", None)],
        id="post selector",
    ),
    pytest.param(
        SLUG
        + template("{{ cat .branch | slugify }}/{{ cat .branch | slugify 23 }}/{{ cat .branch | slugify 50 false }}"),
        [
            (
                (
                    "feat-a-really-long-pull-request-name-to-test-argo/feat-a-really-long-pull/"
                    "feat-a-really-long-pull-request-name-to-test-argo"
                ),
                "guestbook",
                None,
            )
        ],
        id="slugify",
    ),
    pytest.param(
        INLINE + template('{{.cluster}}-{{ if eq .env "prod" }}stable{{ else }}main{{ end }}'),
        [("a-stable", "guestbook", None), ("b-main", "guestbook", None)],
        id="conditions",
    ),
    pytest.param(
        INLINE + template("{{ printf `%s-%s` .cluster (.env | upper | lower | trunc 3) }}"),
        [("a-pro", "guestbook", None), ("b-tes", "guestbook", None)],
        id="functions",
    ),
]


@pytest.fixture
def documented(sets: Sets) -> Sets:
    sets.files(ADDONS)
    sets.cluster("dev", type="staging", env="dev", **{"use-kafka": "false"})
    sets.cluster("prod", type="production", env="prod")
    return sets


@pytest.mark.requirement("D26")
@pytest.mark.parametrize(("spec", "expected"), CASES)
def test_examples(documented: Sets, spec: str, expected: list[tuple[str, str, str | None]]) -> None:
    made = documented.expand(HEAD + spec)
    shown = [
        (generated.name, generated.data["spec"]["source"]["path"], generated.data["spec"]["destination"]["server"])
        for generated in made
    ]
    assert shown == [(name, path, server or "https://kubernetes.default.svc") for name, path, server in expected]
    errors = [diagnostic for diagnostic in documented.diagnostics.collected() if diagnostic.severity == "error"]
    # Kubernetes refuses some names of the documentation.
    assert [error for error in errors if error.code != "CMD-ARGO-214"] == []


def test_the_merge_example_in_the_simple_language(documented: Sets) -> None:
    spec = MERGE + template("{{name}}-{{values.kafka}}-{{values.redis}}", "x", "{{server}}")
    made = documented.expand(HEAD.replace("goTemplate: true", "goTemplate: false") + spec)
    assert [generated.name for generated in made] == ["dev-false-false", "prod-true-true", "in-cluster-true-false"]


PATCH = """
  generators:
  - list:
      elements:
      - {cluster: engineering-dev, autoSync: true, prune: true, valueFiles: [values.large.yaml, values.debug.yaml]}
      - {cluster: engineering-prod}
  templatePatch: |
    spec:
      source:
        helm:
          valueFiles:
          {{- range $valueFile := (default (list) (get . "valueFiles" | default (list))) }}
            - {{ $valueFile }}
          {{- end }}
    {{- if get . "autoSync" }}
      syncPolicy:
        automated:
          prune: {{ .prune }}
    {{- end }}
"""


def test_the_patch_that_switches_synchronisation_on(documented: Sets) -> None:
    dev, prod = documented.expand(HEAD + PATCH + template("{{.cluster}}-deployment"))
    assert dev.data["spec"]["syncPolicy"] == {"automated": {"prune": True}}
    assert dev.data["spec"]["source"]["helm"] == {"valueFiles": ["values.large.yaml", "values.debug.yaml"]}
    assert "syncPolicy" not in prod.data["spec"]


def test_clusters_as_one_list(documented: Sets) -> None:
    spec = """
  generators:
  - clusters: {selector: {matchExpressions: [{key: env, operator: Exists}]}, flatList: true}
"""
    (made,) = documented.expand(HEAD + spec + template("{{ range .clusters }}{{ .name }}-{{ end }}all"))
    assert made.name == "dev-prod-all"
