"""Charts from web servers."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.argocd import Options
from commodore.argocd.acquiring import Charts
from commodore.argocd.diagnostics import STRICT, Diagnostics
from commodore.argocd.operations.session import open_session
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.tools import locate_tool
from tests.argocd.conftest import Argo, chart
from tests.world.folders import write_script
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.registry import CHART, RegistryServer


class Repository(LoopbackServer):
    """A chart repository: its files by path, and the requested paths."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []

    def publish(self, members: dict[str, str], version: str = "1.2.3", **entry: str) -> None:
        archive = packed(members)
        self.files[f"/web-{version}.tgz"] = archive
        said = {"digest": hashlib.sha256(archive).hexdigest(), "url": f"web-{version}.tgz", **entry}
        text = f"  - {{name: web, version: {version}, digest: '{said['digest']}', urls: ['{said['url']}']}}\n"
        index = self.files.get("/index.yaml", b"entries:\n  web:\n").decode()
        self.files["/index.yaml"] = (index + text).encode()


class _Handler(LoopbackHandler):
    world: Repository

    def answer(self) -> None:
        self.world.asked.append(self.path)
        content = self.world.files.get(self.path)
        self.send(200 if content is not None else 404, {}, content or b"")


def packed(members: dict[str, str], links: dict[str, str] | None = None) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return raw.getvalue()


WEB = {f"web/{name}": text for name, text in chart().items()}


@pytest.fixture
def repository() -> Iterator[Repository]:
    with Repository() as server:
        yield server


@pytest.fixture
def charts(tmp_path: Path) -> Charts:
    return Charts(Context(ignore, DEFAULT_LIMITS), tmp_path)


@pytest.mark.requirement("D2", "D49")
def test_a_chart_is_fetched_once(repository: Repository, argo: Argo) -> None:
    repository.publish(WEB)
    argo.offline = False
    source = {"repoURL": repository.site, "chart": "web", "targetRevision": "1.2.3"}
    (config_map,) = argo.objects(source)
    assert config_map["metadata"]["name"] == "shop"
    assert repository.asked == ["/index.yaml", "/web-1.2.3.tgz"]
    argo.offline = True
    assert len(argo.objects(source)) == 1
    assert len(repository.asked) == 2
    with pytest.raises(CommodoreError) as caught:
        argo.objects({**source, "targetRevision": "2.0.0"})
    assert caught.value.code == "CMD-ARGO-310"


@pytest.fixture
def helm_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helm that prints its version as kustomize expects it."""
    program, real = tmp_path / "bin" / "helm", locate_tool("helm")
    assert real is not None
    version = '[ "$1" = version ] && { echo v3.19.4; exit; }'
    write_script(program, f'{version}\n[ "$1" = pull ] && exit 1\nexec {real.path} "$@"')
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.requirement("D48", "D49")
@pytest.mark.parametrize("more", ["", "helmGlobals: {chartHome: all}\n"])
@pytest.mark.parametrize("version", [", version: 1.2.3", ", version: 1.*", ""])
def test_one_cached_chart_serves_applications_and_kustomizations(
    repository: Repository, argo: Argo, helm_3: None, version: str, more: str
) -> None:
    """Kustomize finds the chart in the folder to which helm would pull it, so it needs no network."""
    repository.publish(WEB)
    repository.publish(WEB, "1.3.0-rc.1")
    argo.offline = False
    argo.objects({"repoURL": repository.site, "chart": "web", "targetRevision": "1.2.3"})
    asked = list(repository.asked)
    argo.offline = True
    argo.config["kustomize.buildOptions"] = "--enable-helm"
    entry = f"{{name: web, repo: '{repository.site}', releaseName: in-k{version}}}"
    argo.files({"app/kustomization.yaml": f"{more}helmCharts: [{entry}]\n"})
    before = sorted(argo.folder().rglob("*"))
    (item,) = argo.objects({"path": "app"})
    assert (item["metadata"]["name"], item["data"]["values"]) == ("in-k", '{"a":"chart"}')
    assert (repository.asked, sorted(argo.folder().rglob("*"))) == (asked, before)


def test_charts_of_a_kustomization_that_are_not_there(repository: Repository, argo: Argo) -> None:
    argo.config["kustomize.buildOptions"] = "--enable-helm"
    argo.files({"app/kustomization.yaml": f"helmCharts: [{{name: web, repo: '{repository.site}', version: 1.2.3}}]\n"})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "app"})
    assert (caught.value.code, "the chart web 1.2.3 of " in caught.value.message) == ("CMD-ARGO-310", True)


@pytest.mark.parametrize("requested", ["1.2.3", "1.*"])
@pytest.mark.parametrize("what", [(), ("oci",), ("charts",), ("all",)])
def test_a_chart_that_was_published_again(
    repository: Repository, tmp_path: Path, what: tuple[str, ...], requested: str
) -> None:
    """With refresh it is fetched again, once per run, and replaces the cached one."""
    values = []
    repository.publish(WEB)
    for number, anew in enumerate(((), what, ())):
        options = Options().having(refresh=anew)
        with open_session(options) as question:
            for again in "ab":
                scratch = tmp_path / f"{number}{again}"
                scratch.mkdir()
                charts = Charts(question.context, scratch, refreshes=question.repo_map.refreshes)
                folder = charts.chart(repository.site, "web", requested).folder
                values.append((folder / "values.yaml").read_text())
        repository.files.clear()
        repository.publish({**WEB, "web/values.yaml": "a: again\n"})
    new = "a: again\n" if {*what} & {"charts", "all"} else "a: chart\n"
    assert values == ["a: chart\n"] * 2 + [new] * 4
    assert repository.asked.count("/web-1.2.3.tgz") == (2 if {*what} & {"charts", "all"} else 1)


def test_a_chart_of_a_registry_that_was_pushed_again(tmp_path: Path) -> None:
    values = []
    with RegistryServer() as server:
        for number, anew in enumerate(((), ("charts",), ("oci",))):
            server.push("team/web", "1.2.3", [(CHART, packed({**WEB, "web/values.yaml": f"a: {number}\n"}))])
            scratch = tmp_path / str(number)
            scratch.mkdir()
            with open_session(Options().having(refresh=anew)) as question:
                charts = Charts(question.context, scratch, refreshes=question.repo_map.refreshes)
                folder = charts.chart(f"oci://{server.name}/team", "web", "1.2.3").folder
            values.append((folder / "values.yaml").read_text())
    assert values == ["a: 0\n", "a: 0\n", "a: 2\n"]


def test_a_range_means_offline_what_it_meant_before(repository: Repository, tmp_path: Path) -> None:
    repository.publish(WEB, "1.2.3")
    places = [tmp_path / name for name in "abc"]
    for place in places:
        place.mkdir()
    offline = Context(ignore, DEFAULT_LIMITS, offline=True)
    with pytest.raises(CommodoreError) as caught:
        Charts(offline, places[0]).chart(repository.site, "web", "1.*")
    assert caught.value.code == "CMD-ARGO-310"
    Charts(Context(ignore, DEFAULT_LIMITS), places[1]).chart(repository.site, "web", "1.*")
    repository.publish(WEB, "1.3.0")
    charts = Charts(offline, places[2])
    assert charts.chart(repository.site, "web", "1.*").version == "1.2.3"
    strict = Diagnostics(STRICT)
    strict.join(charts.diagnostics)
    (diagnostic,) = strict.collected()
    assert (diagnostic.code, diagnostic.severity) == ("CMD-ARGO-321", "error")
    assert "UTC" in diagnostic.message
    assert repository.asked == ["/index.yaml", "/web-1.2.3.tgz"]


def test_nothing_is_asked_anew_offline() -> None:
    options = Options(context=Context(ignore, DEFAULT_LIMITS, offline=True)).having(refresh=("all",))
    with pytest.raises(CommodoreError) as caught, open_session(options):
        pass
    assert caught.value.code == "CMD-ARGO-034"


@pytest.mark.requirement("D49")
@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ("1.*", "1.3.0"),
        ("~1.2.0", "1.2.3"),
        ("^1", "1.3.0"),
        (">=1.0 <1.3", "1.2.3"),
        ("*", "2.0.0"),
        ("2.1.0-rc.1", "2.1.0-rc.1"),
    ],
)
def test_ranges(requested: str, expected: str, repository: Repository, charts: Charts) -> None:
    for version in ("1.2.3", "1.3.0", "2.0.0", "2.1.0-rc.1"):
        repository.publish(WEB, version)
    assert charts.chart(repository.site, "web", requested).version == expected


@pytest.mark.parametrize("requested", [">=1.0 <", "latest", "9.*", ""])
def test_ranges_that_nothing_fits(requested: str, repository: Repository, charts: Charts) -> None:
    repository.publish(WEB)
    with pytest.raises(CommodoreError) as caught:
        charts.chart(repository.site, "web", requested)
    assert caught.value.code == "CMD-ARGO-314"


def test_a_v_does_not_count(repository: Repository, charts: Charts) -> None:
    repository.publish(WEB)
    assert charts.chart(repository.site, "web", "v1.2.3").version == "1.2.3"


@pytest.mark.parametrize(
    ("index", "code"),
    [
        (b"", "CMD-ARGO-315"),
        (b"entries: {}", "CMD-ARGO-315"),
        (b"entries: {web: []}", "CMD-ARGO-315"),
        (b"<html>", "CMD-ARGO-315"),
        (b"entries: [", "CMD-ARGO-315"),
        (b"a: &a [x, x]\nb: " + b"[" * 2000, "CMD-ARGO-315"),
        (b"entries: {web: [{version: 1.2.3, urls: ['../../web.tgz']}]}", "CMD-ARGO-311"),
        (b"entries: {web: [{version: 1.2.3}]}", "CMD-ARGO-315"),
        (b"entries: {web: [{version: 9.9.9, urls: [x]}]}", "CMD-ARGO-314"),
        (b"entries: {web: [{version: 1.2.3, urls: ['file:///etc/passwd']}]}", "CMD-ARGO-320"),
        (b"entries: {web: [{version: 1.2.3, urls: [none.tgz]}]}", "CMD-ARGO-311"),
    ],
)
def test_bad_indexes(index: bytes, code: str, repository: Repository, charts: Charts) -> None:
    repository.files["/index.yaml"] = index
    with pytest.raises(CommodoreError) as caught:
        charts.chart(repository.site, "web", "1.2.3")
    assert caught.value.code == code


@pytest.mark.parametrize(
    "index",
    [
        "a: b\nentries:\n  other:\n  - version: 9.9.9\n  web:\n  - version: 1.2.3\n    urls: [U]\n\n  zoo: []\n",
        "entries:\n  web:\n    - description: |\n        a\n\n# c\n      version: 1.2.3\n      urls: [U]\nend: 1\n",
        "entries: {web: [{version: 1.2.3, urls: [U]}]}\n",
        "entries:\n    web:\n    - {version: 1.2.3, urls: [U]}\n",
        "entries:\n  a: &a\n  - {version: 1.2.3, urls: [U]}\n  web: *a\n",
        "entries:\n  'web':\n  - {version: 1.2.3, urls: [U]}",
        "a: |\n  web:\n  - {version: 1.2.3, urls: [no]}\nentries:\n  web:\n  - {version: 1.2.3, urls: [U]}",
        "entries:\n  web:\n  - &v {version: 1.2.3, urls: [U]}\n  b:\n  - *v\n",
    ],
)
def test_forms_of_indexes(index: str, repository: Repository, charts: Charts) -> None:
    repository.publish(WEB)
    repository.files["/index.yaml"] = index.replace("U", "web-1.2.3.tgz").encode()
    assert charts.chart(repository.site, "web", "1.x").version == "1.2.3"


@pytest.mark.parametrize(
    ("members", "links"),
    [
        ({"web/../../x": "x", **WEB}, {}),
        ({"/etc/x": "x", **WEB}, {}),
        ({**WEB, "other/Chart.yaml": "x"}, {}),
        ({"Chart.yaml": "x"}, {}),
        (WEB, {"web/out": "/etc/passwd"}),
        (WEB, {"web/out": "../../../etc/passwd"}),
    ],
)
def test_archives_that_are_refused(
    members: dict[str, str], links: dict[str, str], repository: Repository, charts: Charts
) -> None:
    archive = packed(members, links)
    repository.publish(members, digest=hashlib.sha256(archive).hexdigest())
    repository.files["/web-1.2.3.tgz"] = archive
    with pytest.raises(CommodoreError) as caught:
        charts.chart(repository.site, "web", "1.2.3")
    assert caught.value.code == "CMD-ARGO-317"


def test_the_digest_of_the_index_counts(repository: Repository, charts: Charts) -> None:
    repository.publish(WEB, digest="0" * 64)
    with pytest.raises(CommodoreError) as caught:
        charts.chart(repository.site, "web", "1.2.3")
    assert caught.value.code == "CMD-ARGO-317"


@pytest.mark.parametrize("name", ["../x", "-x", "a b", ""])
def test_names_of_charts(name: str, repository: Repository, charts: Charts) -> None:
    with pytest.raises(CommodoreError) as caught:
        charts.chart(repository.site, name, "1.2.3")
    assert caught.value.code == "CMD-ARGO-315"


@pytest.mark.requirement("D49")
@pytest.mark.parametrize("scheme", ["oci://", ""])
def test_charts_of_a_registry(scheme: str, tmp_path: Path) -> None:
    with RegistryServer() as server:
        for version in ("1.2.3", "1.3.0_b", "2.0.0"):
            members = {f"web/{path}": text for path, text in chart(**{"values.yaml": version}).items()}
            server.push("team/web", version, [(CHART, packed(members))])
        url = f"{scheme}{server.name}/team"
        (tmp_path / "one").mkdir()
        charts = Charts(Context(ignore, DEFAULT_LIMITS), tmp_path / "one")
        exact = charts.chart(url, "web", "1.2.3")
        assert (exact.folder / "values.yaml").read_text() == "1.2.3"
        newest = charts.chart(url, "web", "1.x")
        assert (newest.version, (newest.folder / "values.yaml").read_text()) == ("1.3.0+b", "1.3.0_b")
        with pytest.raises(CommodoreError, match=r"has no version 3\.x of the chart web") as caught:
            charts.chart(url, "web", "3.x")
        assert caught.value.code == "CMD-ARGO-314"
        asked = len(server.asked)
        (tmp_path / "two").mkdir()
        offline = Charts(Context(ignore, DEFAULT_LIMITS, True), tmp_path / "two")
        assert (offline.chart(url, "web", "1.2.3").folder / "values.yaml").read_text() == "1.2.3"
        assert len(server.asked) == asked


class _Status(LoopbackHandler):
    world: Answering

    def answer(self) -> None:
        status, headers = self.world.reply
        self.send(status, headers, b"<html>")


class Answering(LoopbackServer):
    """A server with the same answer to every request."""

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        super().__init__(_Status)
        self.reply = status, headers


@pytest.mark.parametrize(
    ("status", "headers", "code"),
    [
        (401, {"WWW-Authenticate": "Basic"}, "CMD-ARGO-312"),
        (403, {}, "CMD-ARGO-312"),
        (404, {}, "CMD-ARGO-311"),
        (500, {}, "CMD-ARGO-311"),
        (200, {}, "CMD-ARGO-315"),
        (302, {"Location": "file:///etc/passwd"}, "CMD-ARGO-320"),
    ],
)
def test_servers_that_have_no_index(status: int, headers: dict[str, str], code: str, charts: Charts) -> None:
    with Answering(status, headers) as server, pytest.raises(CommodoreError) as caught:
        charts.chart(server.site, "web", "1.2.3")
    assert caught.value.code == code


@pytest.mark.parametrize(
    "url", ["https://charts.example.com", "oci://registry.example.com/charts", "registry.example.com/x"]
)
def test_charts_that_are_not_in_the_cache_offline(url: str, tmp_path: Path) -> None:
    with pytest.raises(CommodoreError) as caught:
        Charts(Context(ignore, DEFAULT_LIMITS, offline=True), tmp_path).chart(url, "web", "1.2.3")
    assert (caught.value.code, caught.value.family) == ("CMD-ARGO-310", "environment")
