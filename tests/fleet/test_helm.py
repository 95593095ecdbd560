"""The processes of helm: what they get, and what is said of one that does not end."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.limits import Limits
from commodore.fleet.helm import Helm, HelmRefused
from tests.world.context import make_context
from tests.world.folders import write_script

pytestmark = pytest.mark.tools

Making = Callable[..., Helm]


@pytest.fixture
def helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Making:
    """Gives a helm that is a script."""

    def make(script: str, **limits: Any) -> Helm:
        write_script(tmp_path / "bin" / "helm", script)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        return Helm(tmp_path, replace(make_context(), limits=Limits(**limits)))

    (tmp_path / "bin").mkdir()
    return make


def test_a_helm_that_does_not_end(helm: Making, tmp_path: Path) -> None:
    made = helm(f"echo $$ > {tmp_path}/pid\nexec sleep 1000", helm_timeout=0.3)
    with pytest.raises(EnvironmentFault, match=r"did not end within 0\.3 seconds") as caught:
        made.template("web", tmp_path, "{}")
    assert caught.value.code == "CMD-FLT-027"
    if (tmp_path / "pid").exists():  # it had begun by then
        assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_a_helm_that_writes_without_end(helm: Making, tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        helm("exec cat /dev/zero", program_output_bytes=1 << 20).template("web", tmp_path, "{}")
    assert caught.value.code == "CMD-FLT-128"


@pytest.mark.requirement("C12")
def test_helm_gets_nothing_of_the_user(helm: Making, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither home nor variables, no network by proxies, and memory within the bounds of renderings."""
    for name in ("AWS_SECRET_ACCESS_KEY", "HELM_PLUGINS", "KUBECONFIG", "MY_PASSWORD"):
        monkeypatch.setenv(name, "CANARY")
    printed = helm('env; echo "memory $(ulimit -d)"; cat', rendering_bytes=1 << 30).template("web", tmp_path, "a: b")
    assert "CANARY" not in printed
    seen = dict(line.partition("=")[::2] for line in printed.splitlines())
    assert seen["HOME"].startswith(str(tmp_path))
    assert seen["HOME"] != os.environ["HOME"]
    assert seen["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert printed.endswith("a: b")
    assert not Path(seen["HOME"]).exists()


def test_a_helm_that_is_killed(helm: Making, tmp_path: Path) -> None:
    with pytest.raises(HelmRefused, match="SIGKILL"):
        helm("kill -9 $$").template("web", tmp_path, "")
