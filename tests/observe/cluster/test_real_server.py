"""The observer as a process against a real API server: rights, the webhook, restarts, two replicas, size.

Needs COMMODORE_APISERVER, the folder that `scripts/apiserver` prints; with COMMODORE_REAL the published definitions of
Kargo and Argo CD are used instead of small ones.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.world.apiserver import ApiServer, definitions, free_port, webhook
from tests.world.certificates import make_certificate
from tests.world.kargo import REPOSITORY, Object, application, drifted, freight, freight_name, stage, warehouse
from tests.world.kubernetes import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent.parent

pytestmark = [pytest.mark.apiserver, pytest.mark.xdist_group("apiserver")]


@pytest.fixture(scope="session")
def server(
    apiserver_binaries: Path, shared_real: Path | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiServer]:
    """One server for all tests, with Kargo's webhook, and the chart's rights for the user `observer`."""
    folder = tmp_path_factory.mktemp("apiserver")
    running = ApiServer(apiserver_binaries, folder)
    try:
        running.start()
        running.install(definitions(shared_real))
        running.namespace("commodore-observe")
        for user in ("observer", "observer-2"):
            running.grant([item for item in chart() if item["apiVersion"].startswith("rbac.")], user)
        with webhook(running, make_certificate(folder)):
            yield running
    finally:
        running.stop()


def chart(*values: str) -> list[Object]:
    """The objects of the chart."""
    command = [
        str(ROOT / ".tools" / "helm"),
        "template",
        "commodore-observe",
        str(ROOT / "charts" / "commodore-observe"),
    ]
    command += ["--namespace", "commodore-observe", *values]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    return [item for item in yaml.safe_load_all(shown.stdout) if item]


class Project:
    """A namespace of its own for one test, and its objects."""

    def __init__(self, server: ApiServer, name: str) -> None:
        self.server = server
        self.name = name
        server.namespace(name)

    def put(self, *objects: Object) -> None:
        self.server.put(*(self.moved(item) for item in objects))

    def moved(self, item: Object) -> Object:
        """The object in this namespace."""
        text = json.dumps(item).replace('"namespace": "shop"', f'"namespace": "{self.name}"')
        text = text.replace('"namespace": "argocd"', f'"namespace": "{self.name}"').replace('"shop:', f'"{self.name}:')
        moved: Object = json.loads(text)
        return moved

    def all(self, plural: str) -> list[Object]:
        return self.server.all(plural, self.name)

    def reasons(self) -> list[str]:
        return [str(item["reason"]) for item in self.all("events")]

    def converges(self, count: int) -> None:
        """Kargo finishes what was promoted, and Stages know what runs; exactly so many Promotions were made."""
        wait_until(lambda: len(self.all("promotions")) >= count, 120)
        self.server.run_kargo(self.name)
        wait_until(lambda: all(self.recorded(item) == "2" for item in self.all("stages")))
        assert len(self.all("promotions")) == count

    def recorded(self, entry: Object) -> str:
        (item,) = entry["status"]["freightHistory"][0]["items"].values()
        return str(item["images"][0]["tag"])


@pytest.fixture
def project(server: ApiServer, request: pytest.FixtureRequest) -> Project:
    words = request.node.name.removeprefix("test_")
    version = "".join(letter for letter in words.partition("[")[2] if letter.isdigit())
    return Project(server, f"{words.partition('[')[0].replace('_', '-')[:45].rstrip('-')}-{version or 'x'}")


class Observer:
    """`commodore observe run` as a process."""

    def __init__(self, project: Project, folder: Path, user: str, *flags: str) -> None:
        self.metrics_port, self.health_port = free_port(), free_port()
        self.log = folder / f"{user}-{self.metrics_port}.log"
        command = [sys.executable, "-m", "commodore", "observe", "run", *common(project, user)]
        command += [
            "--settle=0",
            f"--metrics-addr=127.0.0.1:{self.metrics_port}",
            "--log-format=json",
            "--lease=commodore-observe/commodore-observe",
        ]
        command += [f"--health-addr=127.0.0.1:{self.health_port}", *flags]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def page(self, path: str) -> tuple[int, str]:
        port = self.metrics_port if path == "/metrics" else self.health_port
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""
        except OSError:
            return 0, ""

    def is_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            return self.page("/readyz")[0] == 200

        wait_until(ready, 120)

    def metric(self, start: str) -> float:
        return sum(
            float(line.rpartition(" ")[2]) for line in self.page("/metrics")[1].splitlines() if line.startswith(start)
        )

    def converged(self, project: Project) -> float:
        return self.metric(f'kargo_observer_stage_state{{namespace="{project.name}",reason="Converged"')

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


def common(project: Project, user: str) -> list[str]:
    kubeconfig = project.server.kubeconfig(user, "commodore-observe")
    return [f"--kubeconfig={kubeconfig}", f"--namespace={project.name}", f"--application-namespace={project.name}"]


Start = Callable[..., Observer]


@pytest.fixture
def start(project: Project, tmp_path: Path) -> Iterator[Start]:
    with contextlib.ExitStack() as stack:

        def started(*flags: str, user: str = "observer") -> Observer:
            lease = () if any("lease-name" in flag for flag in flags) else ("--no-leader-elect",)
            observer = Observer(project, tmp_path, user, *lease, *flags)

            def killed() -> None:
                with contextlib.suppress(ProcessLookupError):
                    observer.process.send_signal(signal.SIGCONT)
                observer.process.kill()
                observer.process.wait()

            stack.callback(killed)
            return observer

        yield started


@pytest.fixture(params=["1.10", "1.11"])
def version(server: ApiServer, request: pytest.FixtureRequest) -> str:
    server.kargo.version = request.param
    return str(request.param)


@pytest.mark.requirement("O12", "O14", "O24")
def test_one_drift_one_promotion(project: Project, start: Start, version: str) -> None:
    """With the rights of the chart and no others: read, promote, tell, measure."""
    project.put(*drifted())
    observer = start()
    observer.is_ready()
    project.converges(1)
    (made,) = project.all("promotions")
    assert made["spec"]["freight"] == freight_name("2")
    wait_until(lambda: "PromotionCreated" in project.reasons())
    wait_until(lambda: observer.converged(project) == 1)
    assert observer.metric("kargo_observer_promotions_created_total") == 1
    assert not [line for line in observer.page("/metrics")[1].splitlines() if 'code="403"' in line]
    assert observer.page("/healthz")[0] == 200
    assert observer.end() == 0


@pytest.mark.requirement("O24")
def test_nothing_more_is_allowed(project: Project) -> None:
    """Everything that the chart's roles do not give."""
    project.put(*drifted())
    path = project.server.path
    name = project.name
    leases = "/apis/coordination.k8s.io/v1/namespaces/commodore-observe/leases"
    calls: list[tuple[str, str, Any]] = [
        ("PUT", path("stages", name, "prod"), {}),
        ("PUT", f"{path('stages', name, 'prod')}/status", {}),
        ("DELETE", path("stages", name, "prod"), None),
        ("PUT", path("applications", name, "web"), {}),
        ("POST", path("freights", name), {}),
        ("DELETE", path("freights", name, freight_name("2")), None),
        ("DELETE", f"{path('promotions', name)}/any", None),
        ("PUT", f"{path('promotions', name)}/any", {}),
        ("GET", path("secrets", name), None),
        ("GET", path("configmaps", name), None),
        ("GET", path("events", name), None),
        ("GET", "/api/v1/namespaces", None),
        ("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", None),
        ("GET", leases, None),
        ("GET", f"{leases}/other", None),
        ("DELETE", f"{leases}/commodore-observe", None),
        ("GET", f"/apis/coordination.k8s.io/v1/namespaces/{name}/leases/commodore-observe", None),
    ]
    answers = {
        (method, where): project.server.ask(method, where, body, user="observer")[0] for method, where, body in calls
    }
    assert answers == dict.fromkeys(answers, 403)


@pytest.mark.requirement("O14")
def test_the_right_to_promote_is_asked_for(project: Project, start: Start) -> None:
    """Kargo's webhook refuses whoever may create Promotions but not promote the Stage, and this is reported."""
    narrow = chart("--set", "rbac.stageNames={other}", "--set", f"namespaces={{{project.name}}}")
    project.server.grant([item for item in narrow if item["metadata"].get("namespace") == project.name], "observer-4")
    reading = [
        item for item in chart("--set", f"applicationNamespaces={{{project.name}}}") if item["kind"].startswith("Role")
    ]
    project.server.grant(
        _renamed([item for item in reading if item["metadata"]["namespace"] == project.name]), "observer-4"
    )
    project.put(*drifted())
    start(user="observer-4")
    wait_until(lambda: "PromotionForbidden" in project.reasons())
    assert project.all("promotions") == []


def _renamed(objects: list[Object]) -> list[Object]:
    for item in objects:
        item["metadata"]["name"] += "-applications"
        if "roleRef" in item:
            item["roleRef"]["name"] += "-applications"
    return objects


@pytest.mark.requirement("O33")
def test_a_namespaced_installation(project: Project, start: Start, tmp_path: Path) -> None:
    """Roles in the named namespaces are enough, and nothing is asked for in the whole cluster."""
    objects = chart("--set", f"namespaces={{{project.name}}}", "--set", f"applicationNamespaces={{{project.name}}}")
    roles = [item for item in objects if item["apiVersion"].startswith("rbac.")]
    assert {role["kind"] for role in roles} == {"Role", "RoleBinding"}
    here = [role for role in roles if role["metadata"]["namespace"] == project.name]
    project.server.grant(here, "observer-3")
    project.put(*drifted())
    start(user="observer-3").is_ready()
    project.converges(1)


def test_the_server_is_killed_and_comes_back(project: Project, start: Start) -> None:
    project.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    observer = start()
    observer.is_ready()
    project.server.kill_server()
    wait_until(lambda: observer.metric("kargo_observer_watch_restarts_total") > 0)
    project.server.start_server()
    project.put(application())
    project.converges(1)
    assert observer.process.poll() is None


def test_the_server_goes_away_during_the_create(project: Project, start: Start) -> None:
    """The webhook has been asked when the server is killed: whether the Promotion was made is found out first."""
    project.put(*drifted())
    asked = project.server.kargo
    original = asked.admit
    asked_before: list[bool] = []
    killed = threading.Event()

    def admit(promotion: Object, user: str = "observer") -> Object:
        if not asked_before:
            asked_before.append(True)
            project.server.kill_server()
            killed.set()
        return original(promotion, user)

    asked.admit = admit  # type: ignore[method-assign]
    try:
        start()
        assert killed.wait(60)
        project.server.start_server()
    finally:
        asked.admit = original  # type: ignore[method-assign]
    project.converges(1)


@pytest.mark.requirement("O37")
def test_two_replicas_and_a_leader_that_is_killed(project: Project, start: Start, version: str) -> None:
    project.put(*drifted())
    lease = f"--lease=commodore-observe/{project.name}"
    allow_lease(project)
    first = start(lease)
    wait_until(lambda: first.metric("kargo_observer_leader") == 1)
    second = start(lease, user="observer-2")
    second.is_ready()
    project.converges(1)
    first.end(signal.SIGKILL)
    wait_until(lambda: second.metric("kargo_observer_leader") == 1, 120)
    project.put(application(images=[f"{REPOSITORY}:3"], synced=-500_000), freight("3"))
    wait_until(lambda: len(project.all("promotions")) == 2)
    assert second.metric("kargo_observer_promotions_created_total") == 1


def test_a_leader_that_is_paused_ends_when_it_wakes(project: Project, start: Start) -> None:
    project.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    lease = f"--lease=commodore-observe/{project.name}"
    allow_lease(project)
    first = start(lease)
    wait_until(lambda: first.metric("kargo_observer_leader") == 1)
    second = start(lease, user="observer-2")
    second.is_ready()
    first.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: second.metric("kargo_observer_leader") == 1, 120)
    project.put(application())
    wait_until(lambda: len(project.all("promotions")) == 1)
    first.process.send_signal(signal.SIGCONT)
    assert first.process.wait(60) == 3
    assert "CMD-OBS-021" in first.log.read_text(encoding="utf-8")
    project.converges(1)


def allow_lease(project: Project) -> None:
    """The chart allows one lease by its name; tests have a name each."""
    roles = chart()
    for role in roles:
        if role["kind"] == "Role":
            role["rules"][1]["resourceNames"] = [project.name]
    leader = [item for item in roles if item["kind"] in ("Role", "RoleBinding")]
    for role in leader:
        role["metadata"]["name"] = f"{project.name}-leader"
        if "roleRef" in role:
            role["roleRef"]["name"] = f"{project.name}-leader"
    for user in ("observer", "observer-2"):
        project.server.grant(leader, user)


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "commodore", "observe", *arguments], capture_output=True, text=True)


def test_plan_and_once(project: Project, version: str) -> None:
    project.put(*drifted())
    where = common(project, "observer")
    planned = call("plan", *where, "-o", "json", "--server-dry-run", "--check")
    assert planned.returncode == 1, planned.stderr
    assert [load["reason"] for load in json.loads(planned.stdout)["decisions"]] == ["Promote"]
    assert "the server's answer: accepted" in planned.stderr
    assert project.all("promotions") == []
    assert call("once", *where, "--settle=0", "--dry-run").returncode == 0
    assert project.all("promotions") == []
    done = call("once", *where, "--settle=0", "--lease=nosuch", "--no-leader-elect")
    assert done.returncode == 0, done.stderr
    project.converges(1)
    assert call("plan", *where, "--check").returncode == 0


def test_a_thousand_applications_on_two_hundred_stages(project: Project, start: Start) -> None:
    """Exactly one Promotion for each drift, with requests and memory within bounds."""
    stages = [f"s{number:03}" for number in range(200)]
    project.put(warehouse(), freight("1", discovered=120), freight("2"), *(stage(item) for item in stages))
    project.put(*(application(f"{item}-{part}", stage=f"shop:{item}") for item in stages for part in range(5)))
    observer = start("--max-promotions=100000")
    project.converges(200)
    wait_until(
        lambda: observer.converged(project) == 200,
        120,
    )
    assert sorted(item["spec"]["stage"] for item in project.all("promotions")) == stages
    assert observer.metric('kargo_observer_api_requests_total{code="200",resource="applications",verb="list"') == 2
    assert observer.metric('kargo_observer_api_requests_total{code="201",resource="promotions",verb="create"') == 200
    status = Path(f"/proc/{observer.process.pid}/status")
    if status.exists():
        resident = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        assert int(resident.split()[1]) < 200 * 1024, resident
