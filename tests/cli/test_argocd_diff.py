"""`commodore argocd diff`: exit codes, streams, reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.argocd.comparing.conftest import app, config
from tests.world.repos import git

Shown = tuple[int, str, str]
Call = Callable[..., Shown]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A checkout with two Applications of which one differs from `HEAD`."""
    folder = tmp_path / "shop"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        (folder / f"{name}.json").write_text(app(name, name), encoding="utf-8")
        (folder / name / "c.json").write_text(config(k="1"), encoding="utf-8")
    (folder / "a" / "claim.json").write_text(
        '{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}', encoding="utf-8"
    )
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://git.example.com/team/shop.git")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    (folder / "a" / "c.json").write_text(config(k="2"), encoding="utf-8")
    (folder / "a" / "claim.json").unlink()
    return folder


@pytest.fixture
def diff(call: Call, shop: Path) -> Call:
    return lambda *words: call("argocd", "diff", "--offline", "--path", str(shop), *words)


@pytest.mark.requirement("D70", "D71", "D72", "D73")
def test_exit_codes_and_streams(diff: Call, shop: Path) -> None:
    code, out, err = diff("--base", "HEAD")
    assert code == 1
    assert out.splitlines()[:2] == [
        "1 changed, 1 removed; dangers: 1 critical",
        "  ~ argocd/a  1 changed, 1 removed; dangers: deletes-volume",
    ]
    assert err.splitlines() == [
        f"Compared {shop} with HEAD ({git(shop, 'rev-parse', '--short=10', 'HEAD')}).",
        "Applications: 1 changed, 1 not rendered.",
    ]
    assert diff("--base", "HEAD", "--no-exit-code")[0] == 0
    assert diff("--base", "HEAD..HEAD")[:2] == (0, "no object differs\n")
    assert diff("--base", "nonsense")[0] == 2
    (shop / "a" / "broken.json").write_text("{", encoding="utf-8")
    code, out, _ = diff("--base", "HEAD", "-o", "json", "--all")
    data = json.loads(out)
    assert (code, data["partial"], [application["state"] for application in data["applications"]]) == (
        2,
        True,
        ["unknown", "unchanged"],
    )


@pytest.mark.requirement("D70")
def test_forms(diff: Call, tmp_path: Path) -> None:
    data = json.loads(diff("--base", "HEAD", "-o", "json")[1])
    assert data["schema"] == "argocd-diff"
    assert data["summary"]["objects"] == {"added": 0, "changed": 1, "removed": 1, "unchanged": 0}
    assert yaml.safe_load(diff("--base", "HEAD", "-o", "yaml")[1]) == data
    assert diff("--base", "HEAD", "-o", "stat")[1] == "1 changed, 1 removed; dangers: 1 critical\n"
    files = {form: tmp_path / f"report.{form}" for form in ("markdown", "html", "json", "sarif")}
    words = [word for form, file in files.items() for word in ("--report", f"{form}={file}")]
    assert diff("--base", "HEAD", *words)[0] == 1
    for form, file in files.items():
        assert diff("--base", "HEAD", "-o", form)[1] == file.read_text(encoding="utf-8")
    code, _, err = diff("--base", "HEAD", "--report", str(tmp_path / "none" / "report.sarif"))
    assert (code, "[CMD-WORK-003]" in err) == (2, True)
    code, _, err = diff("--base", "HEAD", "--report", str(tmp_path / "report"))
    assert (code, "ends in none of .json, .md, .html, .sarif; write FORM=FILE" in err) == (2, True)
    row = "| &#126; argocd/a | 1 changed, 1 removed; dangers: deletes-volume |"
    assert row in files["markdown"].read_text(encoding="utf-8")
    assert 'value="argocd/a">argocd/a</button>' in files["html"].read_text(encoding="utf-8")


@pytest.mark.requirement("D80")
def test_two_versions_of_argocd(diff: Call, call: Call, shop: Path) -> None:
    (shop / "b" / "c.yaml").write_text(f"# +argocd:skip-file-rendering\n{config(k='1')}", encoding="utf-8")
    git(shop, "rm", "-q", "b/c.json")
    git(shop, "add", "b")
    git(shop, "commit", "-qm", "two")
    assert diff("--base", "HEAD..HEAD", "--argocd-version", "3.0")[0] == 0
    code, out, _ = diff("--base", "HEAD..HEAD", "--argocd-version", "3.0..3.1")
    assert (code, out.splitlines()[:2]) == (1, ["1 removed", "  ~ argocd/b  1 removed"])
    code, _, err = diff("--base", "HEAD", "--argocd-version", "..3.1")
    assert (code, "[CMD-ARGO-027]" in err) == (2, True)
    code, _, err = call("argocd", "apps", "--offline", "--path", str(shop), "--argocd-version", "3.0..3.1")
    assert (code, "[CMD-ARGO-027]" in err) == (2, True)


def test_dangers_fail(diff: Call) -> None:
    code, _, err = diff("--base", "HEAD", "--fail-on", "deletes-volume", "--no-exit-code")
    assert (code, "[CMD-ARGO-711]" in err) == (2, True)
    assert diff("--base", "HEAD", "--fail-on", "deletes-crd")[0] == 1
    assert "[CMD-CLI-030]" in diff("--base", "HEAD", "--fail-on", "deletes-crds")[2]


@pytest.mark.requirement("D28")
def test_strict_makes_an_error_of_what_was_unknown_before(diff: Call, shop: Path) -> None:
    (shop / "b" / "broken.json").write_text("{", encoding="utf-8")
    git(shop, "add", "b")
    git(shop, "commit", "-qm", "two")
    assert diff("--base", "HEAD", "--all")[0] == 1
    assert diff("--base", "HEAD", "--all", "--strict")[0] == 2


def test_findings_of_one_cause_are_folded_and_those_of_before_are_counted(diff: Call, call: Call, shop: Path) -> None:
    plugin = {"generators": [{"plugin": {"configMapRef": {"name": "z"}}}], "template": json.loads(app("{{x}}", "x"))}
    for number in range(5):
        value = {"kind": "ApplicationSet", "metadata": {"name": f"s{number}"}, "spec": plugin}
        (shop / f"s{number}.json").write_text(
            json.dumps({"apiVersion": "argoproj.io/v1alpha1", **value}), encoding="utf-8"
        )
    err = call("argocd", "apps", "--offline", "--path", str(shop))[2]
    folded = "  and 4 more of this cause: s1, s2, s3, s4 (--diagnostics all shows each)"
    assert (err.count("[CMD-ARGO-202]"), err.splitlines()[1]) == (1, folded)
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "two")
    code, _, err = diff("--base", "HEAD")
    last = "5 findings were there before the change, too (--diagnostics all shows them)"
    assert (code, err.splitlines()[-1], "[CMD-ARGO-202]" in err) == (0, last, False)
    assert diff("--base", "HEAD", "--diagnostics", "all")[2].count("[CMD-ARGO-202]") == 5


@pytest.mark.requirement("D35", "D36")
def test_a_url_that_is_the_tree_itself(diff: Call, shop: Path) -> None:
    git(shop, "remote", "remove", "origin")
    code, out, err = diff("--base", "HEAD")
    assert (code, out, "[CMD-ARGO-805]" in err) == (0, "no object differs\n", True)
    assert "? 2 Applications  unknown: as before, https://git.example.com/team" in diff("--base", "HEAD", "--all")[1]
    assert diff("--base", "HEAD", "--repo-map", "https://git.example.com/team/shop=@")[0] == 1
