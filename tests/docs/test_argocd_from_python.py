"""The how-to about the library of `argocd`: its examples run as they stand on the page, one after another."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from commodore import argocd
from tests.argocd.comparing.conftest import app, config
from tests.world.cluster import ROOT
from tests.world.folders import write_files
from tests.world.repos import git

PAGE = (ROOT / "docs" / "how-to" / "argocd-from-python.md").read_text(encoding="utf-8")


def test_the_examples_run_as_they_stand(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    platform = {"repoURL": "https://git.example.com/team/platform", "targetRevision": "main", "path": "monitoring"}
    plugin = {"repoURL": "https://git.example.com/team/shop", "path": "web", "plugin": {"name": "vault"}}
    files = {
        "web.json": app("web", "web"),
        "platform.json": app("platform", "", source=platform),
        "vault.json": app("vault", "", source=plugin),
        "web/config.json": config(k="1"),
        "web/claim.json": '{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}',
    }
    write_files(shop, files)
    git(shop, "init", "-q", "-b", "main")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "one")
    (shop / "web" / "claim.json").unlink()
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-X", "dev", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[:3] == ["argocd platform platform.json:1", "argocd vault vault.json:1", "argocd web web.json:1"]
    assert "error CMD-ARGO-310" in done.stdout
    assert "argocd/web changed deletes-volume" in lines
    assert lines[-3:] == ["argocd/platform ['alerts']", "argocd/vault ['from-plugin']", "argocd/web ['config']"]


def test_every_function_is_on_the_page() -> None:
    named = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    names = {name for name in argocd.__all__ if name.islower()}  # others are for other systems
    functions = {name for name in names if getattr(argocd, name).__module__ == "commodore.argocd.operations.api"}
    functions |= {"path_text"}
    assert named == functions
