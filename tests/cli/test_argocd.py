"""`commodore argocd`: exit codes, streams, forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Shown = tuple[int, str, str]
Call = Callable[..., Shown]

CONFIG = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {application.resourceTrackingMethod: %s}\n"


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], str]:
    def write(method: str) -> str:
        file = tmp_path / "settings.yaml"
        file.write_text(CONFIG % method, encoding="utf-8")
        return str(file)

    return write


@pytest.mark.requirement("D14", "D70")
def test_settings_with_their_places(call: Call, config: Callable[[str], str]) -> None:
    file = config("label")
    code, out, err = call("argocd", "settings", "--argocd-settings", file, "-o", "json")
    data = json.loads(out)
    assert (code, err, data["schema"], data["partial"]) == (0, "", "commodore.argocd/settings/v1", False)
    (row,) = (one for one in data["settings"] if one["key"] == "application.resourceTrackingMethod")
    assert (row["value"], row["level"], row["place"]) == ("label", "option", f"{file}:1")
    code, out, _ = call("argocd", "settings")
    assert code == 0
    assert "argocd-cm helm.enable: 'true' (default)\n" in out


@pytest.mark.requirement("D28", "D71", "D73", "D74")
def test_strict_and_diagnostics(call: Call, config: Callable[[str], str]) -> None:
    file = config("labels")
    code, _, err = call("argocd", "settings", "--argocd-settings", file)
    assert (code, err.splitlines()[0][:8]) == (0, "warning:")
    assert "[CMD-ARGO-121]" in err
    assert f"at {file}:1" in err
    assert call("argocd", "settings", "--argocd-settings", file, "--diagnostics", "none")[2] == ""
    code, _, err = call("argocd", "settings", "--argocd-settings", file, "--strict", "--diagnostics", "none")
    assert (code, err[:6]) == (2, "error:")


@pytest.mark.requirement("D73")
def test_every_failure_is_exit_code_2(call: Call, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("kind: Deployment\n", encoding="utf-8")
    code, out, err = call("argocd", "settings", "--argocd-settings", str(bad))
    assert (code, out) == (2, "")
    assert "[CMD-ARGO-103]" in err
    assert call("argocd", "settings", "--argocd-settings", str(tmp_path / "none.yaml"))[0] == 2
    assert call("argocd", "nonsense")[0] == 2


def test_diagnostics_as_json_lines(call: Call, config: Callable[[str], str]) -> None:
    code, _, err = call("--log-format", "json", "argocd", "settings", "--argocd-settings", config("labels"))
    assert code == 0
    assert [json.loads(line)["code"] for line in err.splitlines()] == ["CMD-ARGO-121"]
