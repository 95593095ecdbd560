"""The chart `commodore-observe`, rendered and linted by the real helm."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from commodore.observe.cluster.metrics import Metrics
from tests.cli.conftest import commands
from tests.world.cluster import ROOT

CHART = ROOT / "charts" / "commodore-observe"
GOLDEN = ROOT / "tests" / "golden" / "charts"
MANIFESTS = ROOT / "commodore" / "observe" / "manifests.yaml"

IMAGE = {"image": {"repository": "registry.example.com/commodore-observe"}}
SETS: dict[str, dict[str, Any]] = {
    "default": {},
    "scheduled": {"schedule": "*/5 * * * *", "networkPolicy": {"enabled": True}},
    "writing": {"dryRun": False, "observeMode": "opt-out", "leaderElect": False, "replicaCount": 1},
    "namespaced": {"namespaces": ["shop", "spare"], "applicationNamespaces": ["argocd", "shop"]},
    "monitored": {
        "metrics": {
            "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
            "prometheusRule": {"enabled": True},
        },
        "networkPolicy": {"enabled": True},
        "common": {"labels": {"team": "web"}, "annotations": {"example.com/note": "a"}},
    },
    "two-clusters": {"argocdKubeconfig": {"secretName": "argocd"}, "rbac": {"stageNames": ["prod"]}},
    "placed": {
        "image": {"repository": "registry.example.com/observe", "tag": "1.2.3", "pullSecrets": [{"name": "pull"}]},
        "serviceAccount": {"create": False, "name": "other"},
        "rbac": {"extraRules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
        "extraArgs": ["--other-artifacts=warn"],
        "extraEnv": [{"name": "A", "value": "b"}],
        "extraVolumes": [{"name": "pause", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "pause", "mountPath": "/pause"}],
        "nodeSelector": {"a": "b"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
        ],
        "priorityClassName": "high",
        "podDisruptionBudget": {"enabled": False},
    },
}

Helm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    def run(*arguments: str, values: dict[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "values.yaml"
        file.write_text(json.dumps({**IMAGE, **(values or {})}), encoding="utf-8")
        command = [str(ROOT / ".tools" / "helm"), *arguments, "--values", str(file), "--namespace", "commodore-observe"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def rendered(helm: Helm, values: dict[str, Any]) -> list[dict[str, Any]]:
    shown = helm("template", "commodore-observe", str(CHART), values=values)
    assert shown.returncode == 0, shown.stderr
    return [item for item in yaml.safe_load_all(shown.stdout) if item]


@pytest.mark.parametrize("name", SETS)
def test_the_chart_renders_as_before(helm: Helm, name: str) -> None:
    """With PYTEST_UPDATE_GOLDEN set, the files are written anew."""
    shown = helm("template", "commodore-observe", str(CHART), values=SETS[name])
    assert shown.returncode == 0, shown.stderr
    file = GOLDEN / f"observe-{name}.yaml"
    if os.environ.get("PYTEST_UPDATE_GOLDEN"):
        file.write_text(shown.stdout, encoding="utf-8")
    assert shown.stdout == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SETS)
def test_what_it_renders_is_what_kubernetes_takes(helm: Helm, name: str) -> None:
    for item in rendered(helm, SETS[name]):
        if not item["apiVersion"].startswith("monitoring."):
            kubernetes_validate.validate(item, "1.37", strict=True)


@pytest.mark.parametrize("name", SETS)
def test_lint(helm: Helm, name: str) -> None:
    shown = helm("lint", "--strict", str(CHART), values=SETS[name])
    assert shown.returncode == 0, shown.stdout


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"dryrun": False}, "dryrun"),
        ({"observeMode": "all"}, "observeMode"),
        ({"image": {"name": "a"}}, "image"),
        ({"syncPeriod": "often"}, "syncPeriod"),
        ({"logging": {"level": "loud"}}, "level"),
    ],
)
def test_values_that_are_refused(helm: Helm, values: dict[str, Any], word: str) -> None:
    shown = helm("template", "commodore-observe", str(CHART), values=values)
    assert shown.returncode != 0
    assert word in shown.stderr


def test_the_image_is_required(helm: Helm) -> None:
    """A name without a registry would be somebody's on the public one."""
    shown = helm("template", "commodore-observe", str(CHART), values={"image": {}})
    assert shown.returncode != 0
    assert "image.repository is required" in shown.stderr


@pytest.mark.requirement("O24")
def test_as_installed_nothing_is_written(helm: Helm) -> None:
    (deployment,) = [item for item in rendered(helm, {}) if item["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {"--dry-run", "--observe-mode=opt-in"} <= set(container["args"])
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_manifests_are_what_the_chart_renders(helm: Helm) -> None:
    """`observe manifests` and the chart are one thing."""
    image = f"{IMAGE['image']['repository']}:0.1.0"
    plain = [item for item in yaml.safe_load_all(MANIFESTS.read_text(encoding="utf-8").replace("IMAGE", image)) if item]
    text = json.dumps(rendered(helm, {})).replace(
        '"app.kubernetes.io/managed-by": "Helm"', '"app.kubernetes.io/managed-by": "commodore"'
    )
    assert plain == json.loads(text)


@pytest.mark.parametrize("name", SETS)
def test_the_program_takes_what_the_chart_passes(helm: Helm, name: str) -> None:
    scheduled = "schedule" in SETS[name]
    word, kind = ("once", "CronJob") if scheduled else ("run", "Deployment")
    (command,) = [item.command for item in commands() if item.words == ("observe", word)]
    objects = rendered(helm, SETS[name])
    (workload,) = [item for item in objects if item["kind"] in ("CronJob", "Deployment")]
    assert workload["kind"] == kind
    template = workload["spec"]["jobTemplate"]["spec"]["template"] if scheduled else workload["spec"]["template"]
    (container,) = template["spec"]["containers"]
    assert container["args"][:2] == ["observe", word]
    command.make_context(word, container["args"][2:])
    if scheduled:
        assert not {"Service", "PodDisruptionBudget", "NetworkPolicy"} & {item["kind"] for item in objects}


METRIC = re.compile(r"kargo_observer_\w+")


def test_alerts_and_the_dashboard_ask_for_metrics_that_there_are(helm: Helm) -> None:
    known = {sample for metric in Metrics().registry.collect() for sample in _samples(metric)}
    alerts = (ROOT / "examples" / "observe" / "alerts.yaml").read_text(encoding="utf-8")
    dashboard = (ROOT / "examples" / "observe" / "dashboard.json").read_text(encoding="utf-8")
    in_chart = helm("template", "commodore-observe", str(CHART), values=SETS["monitored"]).stdout
    for text in (alerts, dashboard, in_chart):
        assert METRIC.findall(text)
        assert set(METRIC.findall(text)) <= known
    assert json.loads(dashboard)["panels"]
    rules = [item for item in rendered(helm, SETS["monitored"]) if item["kind"] == "PrometheusRule"]
    assert yaml.safe_load(alerts)["groups"] == rules[0]["spec"]["groups"]


def test_every_metric_is_on_the_page() -> None:
    page = (ROOT / "docs" / "how-to" / "observe-kargo.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(kargo_observer_\w+)`", page, re.MULTILINE))
    assert documented == {_name(metric) for metric in Metrics().registry.collect()}


def _name(metric: Any) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else str(metric.name)


def _samples(metric: Any) -> set[str]:
    return {_name(metric), f"{metric.name}_bucket", f"{metric.name}_count", f"{metric.name}_sum"}
