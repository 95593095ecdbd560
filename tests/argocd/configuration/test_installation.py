"""The file that describes an installation."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest

from commodore.argocd import Installation, read_installation
from commodore.base.errors import InputError
from commodore.base.limits import DEFAULT_LIMITS

PAGES = Path(__file__).resolve().parents[3] / "docs"
SCHEMA = json.loads((PAGES / "reference" / "installation-schema.json").read_text(encoding="utf-8"))


@pytest.mark.requirement("D15")
def test_all_fields_with_paths_relative_to_the_file(tmp_path: Path) -> None:
    lists = {
        "objects": ["a.yaml"],
        "values": ["/v.yaml"],
        "argocd_cm": ["cm/x.yaml"],
        "argocd_cmd_params_cm": ["p.yaml"],
    }
    content = {
        **lists,
        "repository_secrets": ["../s.yaml"],
        "namespace": "cd",
        "application_namespaces": ["team-*"],
        "kustomize_build_options": ["--enable-helm"],
        "shipped_defaults": True,
    }
    jsonschema.validate(content, SCHEMA)
    file = tmp_path / "installation.yaml"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert read_installation(file, DEFAULT_LIMITS) == Installation(
        namespace="cd",
        application_namespaces=("team-*",),
        objects=(tmp_path / "a.yaml",),
        values=(Path("/v.yaml"),),
        argocd_cm=(tmp_path / "cm" / "x.yaml",),
        argocd_cmd_params_cm=(tmp_path / "p.yaml",),
        repository_secrets=(tmp_path / ".." / "s.yaml",),
        kustomize_build_options=("--enable-helm",),
        shipped_defaults=True,
        place=str(file),
    )


def test_the_schema_has_the_fields() -> None:
    assert SCHEMA["properties"].keys() == {option.name for option in dataclasses.fields(Installation)} - {"place"}


@pytest.mark.parametrize("field", ["objects", "values", "argocd_cm", "argocd_cmd_params_cm", "repository_secrets"])
def test_files_of_a_repository_stay_in_it(tmp_path: Path, field: str) -> None:
    """A pull request may change the description, and the content of its files is shown."""
    (tmp_path / "r" / ".git").mkdir(parents=True)
    (tmp_path / "r" / "link").symlink_to(tmp_path)
    file = tmp_path / "r" / "argocd" / "installation.yaml"
    file.parent.mkdir()
    file.write_text(f"{field}: [../a.yaml]\n", encoding="utf-8")
    assert getattr(read_installation(file, DEFAULT_LIMITS), field) == (file.parent / ".." / "a.yaml",)
    for path in ("../../secret.yaml", "/secret.yaml", "../link/secret.yaml"):
        file.write_text(f"{field}: [{path}]\n", encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_installation(file, DEFAULT_LIMITS)
        assert (caught.value.code, "is outside" in caught.value.message) == ("CMD-ARGO-112", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("object: [a.yaml]", "unknown field object"),
        ("kind: ConfigMap", "unknown field kind"),
        ("namespace: [a]", "namespace must be text"),
        ("objects: a.yaml", "objects must be a list"),
        ("shipped_defaults: maybe", "shipped_defaults must be true or false"),
        ("namespace: a\n---\nnamespace: b", "has 2 documents"),
        ("namespace: a\nnamespace: b", "namespace"),
        ("- a", "must be a map"),
    ],
)
def test_what_is_no_description(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "installation.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_installation(file, DEFAULT_LIMITS)
    assert (caught.value.code, message in caught.value.message) == ("CMD-ARGO-112", True), caught.value.message
    assert caught.value.locations[0].place == str(file)
