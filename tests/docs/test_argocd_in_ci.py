"""The pipelines of the how-to: what their jobs run works in a checkout, and ends as the page says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.argocd.comparing.conftest import app, config
from tests.docs.tutorials import reader_environment
from tests.world.cluster import ROOT
from tests.world.repos import git

PAGE = (ROOT / "docs" / "how-to" / "argocd-in-ci.md").read_text(encoding="utf-8")
CLAIM = '{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}'


def pipelines() -> dict[str, str]:
    """The commands of each job, those aside that install the program or talk to a forge."""
    github, gitlab = (
        yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    )
    steps: list[dict[str, Any]] = github["jobs"]["diff"]["steps"]
    results = {
        "GitHub": "\n".join(step["run"] for step in steps if "argocd diff" in step.get("run", "")),
        "GitLab": "\n".join(gitlab["argocd-diff"]["script"]),
    }
    assert all(results.values())
    return results


@pytest.mark.parametrize("forge", ["GitHub", "GitLab"])
@pytest.mark.parametrize(("changed", "codes"), [("c.json", {"GitHub": 0, "GitLab": 1}), ("claim.json", {})])
def test_a_job(forge: str, changed: str, codes: dict[str, int], tmp_path: Path) -> None:
    remotes = tmp_path / "remotes"
    upstream = remotes / "team" / "shop.git"
    (upstream / "web").mkdir(parents=True)
    for name, text in {"web.json": app("web", "web"), "web/c.json": config(k="1"), "web/claim.json": CLAIM}.items():
        (upstream / name).write_text(text, encoding="utf-8")
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "one")
    (tmp_path / "bin").mkdir()
    environment = {
        **reader_environment(tmp_path / "bin"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{remotes}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://git.example.com/",
        "GITHUB_BASE_REF": "main",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }
    clone = ["git", "clone", "-q", "https://git.example.com/team/shop.git", "work"]
    subprocess.run(clone, cwd=tmp_path, env=environment, check=True)
    work = tmp_path / "work"
    git(work, "checkout", "-qb", "feature")
    (work / "web" / changed).write_text(config(name="other", k="2"), encoding="utf-8")
    git(work, "commit", "-qam", "two")
    script = ["bash", "-e", "-c", pipelines()[forge]]
    done = subprocess.run(script, cwd=work, env=environment, capture_output=True, text=True, check=False)
    danger = not codes
    # GitHub's job knows no warning: it fails by a danger alone.
    assert done.returncode == (codes[forge] if codes else {"GitHub": 1, "GitLab": 2}[forge]), done.stderr
    assert "removed" in done.stdout
    assert ("CMD-ARGO-711" in done.stderr) is danger
    assert "ConfigMap web/" in (work / "comment.md").read_text(encoding="utf-8")
    assert os.stat(work / "report.html").st_size > 1000
