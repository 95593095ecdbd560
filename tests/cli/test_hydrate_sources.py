"""Anything that is read of sources next to Applications, and Applications that are not what their authors meant."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.cli.hydrated_place import Place
from tests.world.repos import git

SETTINGS = {
    "sourceHydrator.commitMessageTemplate": "Hydrate {{ .metadata.drySha | trunc 7 }}",
    "sourceHydrator.readmeMessageTemplate": "Of {{ .RepoURL }}",
    "commit.author.name": "Argo",
    "commit.author.email": "argo@example.com",
}


def config_map(**data: str) -> str:
    metadata = {"name": "argocd-cm", "namespace": "argocd"}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


@pytest.mark.requirement("H28")
def test_the_installation_of_the_sources_counts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an AppProject next to the Applications does; a file that is named counts more."""
    monkeypatch.delenv("GIT_AUTHOR_NAME")
    monkeypatch.delenv("GIT_AUTHOR_EMAIL")
    (place.folder / "argo.yaml").write_text(config_map(**SETTINGS))
    (place.folder / "b.yaml").unlink()
    assert place.run()[0] == 0
    first = git(place.remote.path, "rev-parse", "--short=7", "main")
    assert (
        git(place.remote.path, "log", "-1", "--format=%an <%ae> %s", "env/dev")
        == f"Argo <argo@example.com> Hydrate {first}"
    )
    assert git(place.remote.path, "show", "env/dev:a/README.md") == f"Of {place.remote.url}"
    named = place.folder.parent / "named.yaml"
    named.write_text(config_map(**{"sourceHydrator.commitMessageTemplate": "Named"}))
    place.change(2)
    assert place.run("--argocd-settings", str(named))[0] == 0
    assert git(place.remote.path, "log", "-1", "--format=%an %s", "env/dev") == "Argo Named"


def test_templates_of_settings_are_passed_over(place: Place) -> None:
    """A repository may have the chart that Argo CD is installed by."""
    text = "{{ if .Values.x }}\nkind: ConfigMap\nmetadata: {name: argocd-cm, n: {{ .Values.n }}}\n{{ end }}\n"
    (place.folder / "template.yaml").write_text(text)
    code, out, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", "plan", str(place.folder))
    assert (code, "CMD-ARGO-102" in err, "template.yaml" in err, "env/dev" in out) == (0, True, True, True)


@pytest.mark.requirement("H18")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": {"name": False}}, "metadata.name must be text, not false"),
        ({"dry": {"path": False}}, "spec.sourceHydrator.drySource.path must be text, not false"),
        ({"dry": {"targetRevision": 1.1}}, "spec.sourceHydrator.drySource.targetRevision must be text, not a number"),
        ({"sync": {"path": True}}, "spec.sourceHydrator.syncSource.path must be text, not true"),
    ],
)
def test_names_without_quotes(place: Place, change: dict[str, dict[str, Any]], message: str) -> None:
    """YAML reads `n` as false. Other branches are hydrated."""
    file = place.folder / "a.yaml"
    data = yaml.safe_load(file.read_text())
    hydrator = data["spec"]["sourceHydrator"]
    parts = {"metadata": data["metadata"], "dry": hydrator["drySource"], "sync": hydrator["syncSource"]}
    for name, fields in change.items():
        parts[name].update(fields)
    file.write_text(yaml.safe_dump(data))
    place.application("b", branch="env/b")
    code, out, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder))
    assert (code, message in err, "hint: write it in quotes" in err, "env/b  committed" in out) == (
        1,
        True,
        True,
        True,
    ), err


@pytest.mark.requirement("H15")
def test_a_dry_commit_is_warned_of_once(place: Place) -> None:
    """Not for each branch."""
    place.remote.commit({"x": "1"}, message="Broken \ufffd text")
    code, out, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder))
    assert (code, out.count("committed"), err.count("CMD-HYD-027")) == (0, 2, 1), err


@pytest.mark.requirement("H38", "H42")
def test_errors_name_the_lines_of_fields(place: Place) -> None:
    """Not the first ones of their files."""
    texts = [(place.folder / f"{name}.yaml").read_text() for name in "aa"]
    (place.folder / "b.yaml").unlink()
    stream = "\n---\n".join(("# two of one path", *texts))
    lines = stream.splitlines()
    (place.folder / "a.yaml").write_text(stream)
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "plan", str(place.folder)]
    code, _, err = place.call(*words)
    starts = [number for number, line in enumerate(lines, 1) if line == "  sourceHydrator:"]
    assert (code, "CMD-HYD-006" in err) == (1, True)
    (place.folder / "b.yaml").write_text(texts[0].replace("env/dev", "env/b").replace("path: a", "pth: a"))
    both = place.call(*words)[2]
    assert ("CMD-HYD-006" in both, "CMD-HYD-002" in both) == (True, True)
    (place.folder / "b.yaml").unlink()
    assert [line.rpartition(":")[2] for line in err.splitlines() if "  at " in line] == [str(start) for start in starts]
    (place.folder / "a.yaml").write_text(stream.replace("path: a", "path: a/../b"))
    code, _, err = place.call(*words)
    paths = [number for number, line in enumerate(lines, 1) if line == "      path: a"]
    assert [line.rpartition(":")[2] for line in err.splitlines() if "  at " in line] == [str(path) for path in paths]
    assert (code, "has a part '..'" in err) == (4, True)


@pytest.mark.requirement("H4")
def test_generators_read_what_is_hydrated(place: Place) -> None:
    """Also where the dry repository is on this machine."""
    generator = {"repoURL": place.remote.url, "revision": "main", "directories": [{"path": "apps/*"}]}
    dry = {"repoURL": place.remote.url, "targetRevision": "main", "path": "{{.path.path}}"}
    name = "{{.path.basename}}"
    hydrator = {"drySource": dry, "syncSource": {"targetBranch": "env/dev", "path": name}}
    template = {
        "metadata": {"name": name},
        "spec": {"project": "default", "destination": {"name": "in-cluster"}, "sourceHydrator": hydrator},
    }
    made = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "all", "namespace": "argocd"},
        "spec": {"goTemplate": True, "generators": [{"git": generator}], "template": template},
    }
    for file in place.folder.iterdir():
        file.unlink()
    (place.folder / "set.yaml").write_text(yaml.safe_dump(made))
    code, groups = place.run()
    assert (code, groups[0]["changed"]) == (0, ["a", "b"])
