"""`commodore observe plan`, `once` and `run` against an API server on loopback."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.world.apiserver import free_port
from tests.world.kargo import application, drifted, freight, freight_name, stage
from tests.world.kubernetes import Running, serving, wait_until

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path) as running:
        yield running


def reasons(shown: str) -> list[str]:
    return [load["reason"] for load in json.loads(shown)["decisions"]]


def test_a_plan_of_a_cluster(call: Call, cluster: Running) -> None:
    """Only reading; the same as from files."""
    cluster.api.put(*drifted())
    where = ["--kubeconfig", str(cluster.kubeconfig)]
    code, out, err = call("observe", "plan", *where, "-o", "json", "--server-dry-run")
    assert (code, reasons(out)) == (0, ["Promote"])
    assert "the server's answer: accepted" in err
    assert cluster.api.all("promotions") == []
    cluster.api.kargo.may_promote = lambda _user: False
    _, _, err = call("observe", "plan", *where, "--server-dry-run")
    assert "is not permitted" in err
    assert {verb for verb, _ in cluster.api.requests} == {"list", "create"}


def test_kargos_version_is_found(call: Call, cluster: Running) -> None:
    cluster.api.put(*drifted(stage(autoPromotionEnabled=True), freight("3", discovered=5)))
    where = ["--kubeconfig", str(cluster.kubeconfig), "-o", "json"]
    assert reasons(call("observe", "plan", *where)[1]) == ["AutoPromotionWouldUndo"]
    assert reasons(call("observe", "plan", *where, "--kargo-version", "1.11")[1]) == ["Promote"]
    cluster.api.fields = {"autoPromotionHolds"}
    assert reasons(call("observe", "plan", *where)[1]) == ["Promote"]


@pytest.mark.requirement("O22")
def test_a_kargo_that_keeps_observed_state_is_noticed(
    call: Call, cluster: Running, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.api.put(*drifted())
    cluster.api.fields = {"observedFreight"}
    call("observe", "plan", "--kubeconfig", str(cluster.kubeconfig))
    assert "may not be needed any more" in caplog.text


@pytest.mark.requirement("O32")
def test_two_clusters(call: Call, cluster: Running, tmp_path: Path) -> None:
    with serving(tmp_path) as argocd:
        cluster.api.put(*drifted(without="Application"))
        argocd.api.put(application())
        where = ["--kubeconfig", str(cluster.kubeconfig), "--argocd-kubeconfig", str(argocd.kubeconfig)]
        assert reasons(call("observe", "plan", *where, "-o", "json")[1]) == ["Promote"]
        code, _, err = call("observe", "once", *where, "--settle", "0")
        assert (code, len(cluster.api.all("promotions"))) == (0, 1), err
        assert argocd.api.requests.keys() == {("list", "applications")}


@pytest.mark.parametrize(
    ("fault", "code"), [(403, "CMD-OBS-011"), (401, "CMD-OBS-011"), (404, "CMD-OBS-012"), (500, "CMD-OBS-013")]
)
def test_a_cluster_that_does_not_answer(call: Call, cluster: Running, fault: int, code: str) -> None:
    cluster.api.fail("list", "stages", code=fault, times=10)
    for command in (["plan"], ["once"]):
        exit_code, _, err = call("observe", *command, "--kubeconfig", str(cluster.kubeconfig))
        assert exit_code == 3
        assert code in err
        assert "stages.kargo.akuity.io" in err


def test_kubeconfigs(call: Call, cluster: Running, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("a: [", encoding="utf-8")
    away = tmp_path / "away"
    away.write_text(cluster.kubeconfig.read_text().replace(str(cluster.port), str(free_port())), encoding="utf-8")
    for flags, code in (
        (["--kubeconfig", str(tmp_path / "nosuch")], "CMD-OBS-010"),
        (["--kubeconfig", str(bad)], "CMD-OBS-010"),
        (["--kubeconfig", str(cluster.kubeconfig), "--context", "nosuch"], "CMD-OBS-010"),
        (["--kubeconfig", str(away)], "CMD-OBS-013"),
    ):
        exit_code, _, err = call("observe", "plan", *flags)
        assert (exit_code, code in err) == (3, True), err


def test_once(call: Call, cluster: Running) -> None:
    """Promotes what is due and no more; what is recorded afterwards is left alone."""
    cluster.api.put(*drifted())
    where = ["--kubeconfig", str(cluster.kubeconfig), "--settle", "0"]
    assert call("observe", "once", *where, "--dry-run")[0] == 0
    assert cluster.api.all("promotions") == []
    code, out, err = call("observe", "once", *where, "-o", "json")
    assert (code, reasons(out)) == (0, ["Promote"]), err
    (made,) = cluster.api.all("promotions")
    assert made["metadata"]["name"] in err
    assert "Promotions due: 1. Waiting 0s for their images to stay the same (--settle)." in err
    assert made["spec"]["freight"] == freight_name("2")
    cluster.api.run_kargo()
    assert reasons(call("observe", "once", *where, "-o", "json")[1]) == ["Converged"]
    assert len(cluster.api.all("promotions")) == 1


def test_once_that_is_refused(call: Call, cluster: Running) -> None:
    cluster.api.kargo.may_promote = lambda _user: False
    cluster.api.put(*drifted())
    code, _, err = call("observe", "once", "--kubeconfig", str(cluster.kubeconfig), "--settle", "0")
    assert code == 1
    assert "shop/prod: forbidden: admission webhook" in err
    code, _, err = call("observe", "plan", "--kubeconfig", str(cluster.kubeconfig), "--server-dry-run")
    assert (code, "the server's answer: refused (500)" in err) == (1, True), err


@pytest.mark.requirement("O19")
def test_once_ends_with_1_while_a_stage_is_blocked(call: Call, cluster: Running) -> None:
    cluster.api.put(*drifted(application(images=["registry.example.com/shop/web:7"])))
    code, out, _ = call("observe", "once", "--kubeconfig", str(cluster.kubeconfig), "-o", "json")
    assert (code, reasons(out)) == (1, ["FreightMissing"])
    assert [event["reason"] for event in cluster.api.all("events")] == ["FreightMissing"]


@pytest.fixture
def run(cluster: Running, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """The controller as a process of its own."""
    started = []

    def start(*flags: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "commodore", "observe", "run", "--kubeconfig", str(cluster.kubeconfig)]
        process = subprocess.Popen([*command, "--settle=0", *flags], stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_run(cluster: Running, run: Callable[..., subprocess.Popen[str]]) -> None:
    """Promotes, serves its pages, logs each change once, and ends in peace with its lease left to others."""
    cluster.api.put(*drifted())
    metrics, health = free_port(), free_port()
    pages = [f"--metrics-addr=127.0.0.1:{metrics}", f"--health-probe-bind-address=127.0.0.1:{health}"]
    process = run(*pages, "--log-format=json")
    wait_until(lambda: cluster.api.all("promotions"))
    for page in (f"{health}/healthz", f"{health}/readyz"):
        with urllib.request.urlopen(f"http://127.0.0.1:{page}") as answer:
            assert answer.read() == b"ok\n"

    def counted() -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics") as answer:
            return b'kargo_observer_promotions_created_total{namespace="shop",stage="prod"} 1.0' in answer.read()

    wait_until(counted)
    cluster.api.run_kargo()
    wait_until(lambda: any(item["reason"] == "PromotionCreated" for item in cluster.api.all("events")))
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = [json.loads(line) for line in err.splitlines()]
    told = [line["reason"] for line in lines if line.get("stage") == "shop/prod"]
    assert "Promote" in told
    assert all(value != other for value, other in itertools.pairwise(told))
    (lease,) = cluster.api.all("leases")
    assert lease["spec"]["holderIdentity"] == ""


@pytest.mark.parametrize("address", ["none", "0"])
def test_run_without_pages(cluster: Running, run: Callable[..., subprocess.Popen[str]], address: str) -> None:
    cluster.api.put(*drifted())
    process = run(f"--metrics-addr={address}", f"--health-probe-bind-address={address}")
    wait_until(lambda: cluster.api.all("promotions"))
    descriptors = Path(f"/proc/{process.pid}/fd").iterdir()
    sockets = {os.readlink(descriptor).removeprefix("socket:[").removesuffix("]") for descriptor in descriptors}
    rows = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()]
    assert [row[1] for row in rows if row[3] == "0A" and row[9] in sockets] == []  # 0A: listens


def test_without_the_extra(call: Call, cluster: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "lightkube" else real(name))
    for command in ("plan", "once", "run"):
        code, _, err = call("observe", command, "--kubeconfig", str(cluster.kubeconfig))
        assert (code, "CMD-OBS-015" in err) == (3, True)


def test_manifests(call: Call) -> None:
    code, out, _ = call("observe", "manifests", "--image", "registry.example.com:5000/observe:1.2.3")
    assert code == 0
    assert "kind: Deployment" in out
    assert '\n          image: "registry.example.com:5000/observe:1.2.3"\n' in out
    for image in ("observe", "--image", 'x:1"\n', ""):
        code, _, err = call("observe", "manifests", f"--image={image}")
        assert (code, "CMD-OBS-030" in err) == (2, True)
