"""URLs of releases, and the latest version."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.events import Event, Warned
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.values.versions import Version
from commodore.core.tools import MANAGEABLE, Platform, Releases, check_mirror, latest_versions
from tests.world.context import make_context
from tests.world.releases import REPOSITORIES, ReleaseServer, Reply, failing

HASTY = replace(DEFAULT_LIMITS, request_attempts=1)
LINUX = Platform("linux", "arm64")
LIST = f"/api/repos/{REPOSITORIES['helm']}/releases"


@pytest.fixture
def releases(server: ReleaseServer, collected: list[Event]) -> Releases:
    return Releases(make_context(announce=collected.append, limits=HASTY), api=server.api, pins={})


def test_urls_of_the_projects() -> None:
    """As the projects document them."""
    known = Releases(make_context(), platform=LINUX)
    helm = known.asset("helm", Version(4, 1, 4))
    assert helm.url == "https://get.helm.sh/helm-v4.1.4-linux-arm64.tar.gz"
    assert helm.checksums == f"{helm.url}.sha256sum"
    assert helm.member == "linux-arm64/helm"
    assert helm.digest is not None
    kustomize = known.asset("kustomize", Version(5, 99, 0))
    base = "https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv5.99.0"
    assert kustomize.url == f"{base}/kustomize_v5.99.0_linux_arm64.tar.gz"
    assert kustomize.checksums == f"{base}/checksums.txt"
    assert kustomize.member == "kustomize"
    assert kustomize.digest is None


@pytest.mark.parametrize(
    ("mirror", "url"),
    [
        ("https://m.example.com", "https://m.example.com/helm/v4.1.4/helm-v4.1.4-linux-arm64.tar.gz"),
        ("https://m.example.com:8443/a/", "https://m.example.com:8443/a/helm/v4.1.4/helm-v4.1.4-linux-arm64.tar.gz"),
        (
            "https://m.example.com/{os}/{arch}/{file}",
            "https://m.example.com/linux/arm64/helm-v4.1.4-linux-arm64.tar.gz",
        ),
        (
            "https://{tool}.example.com/{version}/{file}",
            "https://helm.example.com/4.1.4/helm-v4.1.4-linux-arm64.tar.gz",
        ),
    ],
)
def test_urls_of_mirrors(mirror: str, url: str) -> None:
    asset = Releases(make_context(), mirror=mirror, platform=LINUX).asset("helm", Version(4, 1, 4))
    assert asset.url == url
    assert asset.checksums == f"{url}.sha256sum"


@pytest.mark.parametrize(
    "mirror",
    [
        "mirror.example.com",
        "ftp://mirror.example.com",
        "file:///srv/mirror",
        "https://",
        "https://m.example.com/{name}/{file}",
        "https://m.example.com/{tool}",
        "https://m.example.com/{file.__class__}",
        "https://m.example.com/{file",
        "https://m.example.com/a b",
        "https://m.example.com/\x1b[31m",
        "https://m.example.com:port/",
        "https://[::1/",
        "-https://m.example.com",
    ],
)
def test_what_cannot_be_a_mirror(mirror: str) -> None:
    with pytest.raises(InputError) as caught:
        check_mirror(mirror)
    assert caught.value.code == "CMD-TOOL-027"


def test_a_mirrors_password_is_in_no_message() -> None:
    with pytest.raises(InputError) as caught:
        check_mirror("https://me:secret@m.example.com/{tool}")
    assert "secret" not in caught.value.message
    assert "secret" not in repr(Releases(make_context(), token="secret"))


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [("Linux", "x86_64", "linux-amd64"), ("Darwin", "arm64", "darwin-arm64"), ("Linux", "aarch64", "linux-arm64")],
)
def test_platforms(system: str, machine: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert str(Platform.current()) == name


def test_the_latest_version(server: ReleaseServer, releases: Releases, collected: list[Event]) -> None:
    """Kustomize's latest release may be of another module of that repository."""
    for version in ("4.9.0", "4.10.0", "3.99.0"):
        server.announce("helm", version)
    server.announce("helm", "5.0.0-rc.1", prerelease=True)
    server.announce("helm", "5.0.0-rc.2")
    server.announce("helm", "6.0.0", draft=True)
    server.announce("helm", "nonsense")
    server.announce("kustomize", "5.8.1")
    server.announce("kustomize", "0.21.0", tag="api/v")
    server.announce("kustomize", "9.9.9", tag="v")
    expected = {"helm": Version(4, 10, 0), "kustomize": Version(5, 8, 1)}
    assert latest_versions(MANAGEABLE, releases) == expected
    assert collected == []


def test_answers_are_kept_for_a_while(server: ReleaseServer, releases: Releases, collected: list[Event]) -> None:
    server.announce("helm", "4.9.0")
    assert latest_versions(["helm"], releases) == latest_versions(["helm"], releases)
    assert server.asked(LIST) == 1
    server.announce("helm", "4.9.1")
    old = replace(releases, context=replace(releases.context, limits=replace(HASTY, tool_releases_age=0.0)))
    assert latest_versions(["helm"], old) == {"helm": Version(4, 9, 1)}
    server.script(failing(500), times=math.inf)
    assert latest_versions(["helm"], old) == {"helm": Version(4, 9, 1)}
    (warning,) = [event for event in collected if isinstance(event, Warned)]
    assert warning.code == "CMD-TOOL-030"


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"%s": 7}', b'{"%s": ["x", 1]}', b'{"%s": ["9.9.9", 99999999999]}'])
def test_a_broken_cache_is_no_answer(
    content: bytes, server: ReleaseServer, releases: Releases, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "commodore" / "releases.json"
    file.parent.mkdir()
    label = ("tools", file.name)
    file.write_bytes(seal(label, content.replace(b"%s", f"{server.api} helm".encode())))
    server.announce("helm", "4.9.0")
    assert latest_versions(["helm"], releases) == {"helm": Version(4, 9, 0)}
    assert json.loads(read_sealed(file, label) or b"")[f"{server.api} helm"][0] == "4.9.0"


def test_the_token_goes_to_the_api_alone(server: ReleaseServer, releases: Releases) -> None:
    server.announce("helm", "4.9.0")
    server.files["/moved"] = json.dumps([{"tag_name": "v4.9.0"}]).encode()
    other = server.site.replace("127.0.0.1", "localhost")
    server.script(Reply(301, b"", {"Location": f"{other}/moved"}), path=LIST)
    latest_versions(["helm"], replace(releases, token="secret"))
    sent = {request.path: request.headers.get("authorization") for request in server.requests}
    assert sent == {LIST: "Bearer secret", "/moved": None}


def test_the_token_is_sent_over_https_only(releases: Releases, tmp_path: Path) -> None:
    with ReleaseServer(tmp_path, tls=False) as plain:
        plain.announce("helm", "4.9.0")
        latest_versions(["helm"], replace(releases, token="secret", api=plain.api))
        assert [request.headers.get("authorization") for request in plain.requests] == [None]


def fault(releases: Releases) -> EnvironmentFault:
    answer = latest_versions(["helm"], releases)["helm"]
    assert isinstance(answer, EnvironmentFault)
    return answer


def test_a_rate_limit_is_named(server: ReleaseServer, releases: Releases) -> None:
    """It was a traceback."""
    server.script(failing(403, x_ratelimit_remaining="0", x_ratelimit_reset="1700000000"), times=math.inf)
    limited = fault(releases)
    assert limited.code == "CMD-TOOL-012"
    assert limited.message == "GitHub answers no more requests until 22:13 UTC"
    assert "COMMODORE_GITHUB_TOKEN" in limited.hint
    assert "COMMODORE_GITHUB_TOKEN" not in fault(replace(releases, token="t")).hint


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_token_is_named(status: int, server: ReleaseServer, releases: Releases) -> None:
    server.script(failing(status))
    refused = fault(replace(releases, token="secret"))
    assert refused.code == "CMD-TOOL-013"
    assert "secret" not in f"{refused.message} {refused.hint}"


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b"<html>", b"[]", b'[{"tag_name": 4}]', b"[" * 100_000])
def test_an_answer_without_sense(body: bytes, server: ReleaseServer, releases: Releases) -> None:
    server.script(Reply(200, body))
    assert fault(releases).code == "CMD-TOOL-026"


def test_nobody_answers() -> None:
    assert fault(Releases(make_context(limits=HASTY), api="https://127.0.0.1:9")).code == "CMD-TOOL-008"


def test_a_proxy_is_used(server: ReleaseServer, monkeypatch: pytest.MonkeyPatch, releases: Releases) -> None:
    """The usual variables count: here, of a proxy that is not there."""
    server.announce("helm", "4.9.0")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    refused = fault(releases)
    assert refused.code == "CMD-TOOL-008"
    assert "through the proxy" in refused.message
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert latest_versions(["helm"], releases) == {"helm": Version(4, 9, 0)}
