"""The file that stands in for the API (docs/reference/cluster-file.md)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InputError, Location
from commodore.base.events import ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant import Cluster, list_cluster_file, load_cluster_file, parse_cluster, where_set
from tests.world.context import make_context
from tests.world.lieutenant import cluster, tenant


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def load(path: Path, cluster_id: str = "c-one", facts: dict[str, Any] | None = None) -> Cluster:
    return load_cluster_file(path, cluster_id, facts or {}, make_context(announce=ignore))


def refusal(path: Path, cluster_id: str = "c-one") -> CommodoreError:
    with pytest.raises(CommodoreError) as caught:
        load(path, cluster_id)
    assert str(path) in caught.value.message
    return caught.value


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "content",
    [
        {"cluster": cluster(), "tenant": tenant()},
        {"clusters": [cluster("c-two", "t-two"), cluster()], "tenants": [tenant("t-two"), tenant()]},
        {"clusters": [cluster()], "tenant": tenant()},
    ],
)
@pytest.mark.parametrize("dump", [yaml.safe_dump, json.dumps])
def test_the_file_gives_what_the_api_gives(content: dict[str, Any], dump: Any, tmp_path: Path) -> None:
    """The same cluster, whether from the API or from a file."""
    path = write(tmp_path / "cluster.yml", dump(content))
    assert load(path) == parse_cluster(cluster(), tenant(), {}, make_context(), source="x")


def test_listing_gives_all_clusters_as_written(tmp_path: Path) -> None:
    several = write(tmp_path / "several.yml", {"clusters": [cluster("c-b"), cluster("c-a", extra={"x": 1})]})
    assert list_cluster_file(several, make_context()) == [cluster("c-b"), cluster("c-a", extra={"x": 1})]
    assert list_cluster_file(write(tmp_path / "one.yml", {"cluster": cluster()}), make_context()) == [cluster()]
    assert list_cluster_file(write(tmp_path / "none.yml", {"tenant": tenant()}), make_context()) == []


def test_relative_repositories_are_meant_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my world"
    folder.mkdir()
    content = {
        "cluster": cluster(gitRepo={"url": "./repos/catalog.git", "type": "auto"}),
        "tenant": tenant(gitRepo={"url": "../tenant.git"}, globalGitRepoURL="./global"),
    }
    write(folder / "cluster.yml", content)
    monkeypatch.chdir(folder)
    for path in (folder / "cluster.yml", Path("cluster.yml")):
        loaded = load(path)
        base = tmp_path.resolve().as_uri()
        assert loaded.catalog_url == f"{base}/my%20world/repos/catalog.git"
        assert loaded.tenant.config_url == f"{base}/tenant.git"
        assert loaded.tenant.global_url == f"{base}/my%20world/global"
        assert list_cluster_file(path, make_context())[0]["gitRepo"] == {"url": loaded.catalog_url, "type": "auto"}


@pytest.mark.parametrize(
    "url", ["ssh://git@h/x.git", "git@h:x.git", "/abs/x.git", "file:///x", "repos/x", "https://h/./x"]
)
def test_other_repositories_are_left_alone(url: str, tmp_path: Path) -> None:
    path = write(tmp_path / "f", {"cluster": cluster(gitRepo={"url": url}), "tenant": tenant()})
    assert load(path).catalog_url == url


def test_an_unknown_cluster_gets_a_suggestion(tmp_path: Path) -> None:
    path = write(tmp_path / "f", {"clusters": [cluster("c-prod"), cluster("c-test")], "tenant": tenant()})
    error = refusal(path, "c-prd")
    assert (error.code, error.hint) == ("CMD-API-045", "did you mean 'c-prod'?")
    assert refusal(path, "xyz").hint == "it has c-prod, c-test"
    assert refusal(write(tmp_path / "g", {"tenant": tenant()})).hint == "it has no clusters"


def test_an_unknown_tenant_gets_a_suggestion(tmp_path: Path) -> None:
    tenants = [tenant("t-ones"), tenant("something-else")]
    error = refusal(write(tmp_path / "f", {"cluster": cluster(), "tenants": tenants}))
    assert (error.code, error.hint) == ("CMD-API-046", "did you mean 't-ones'?")
    assert refusal(write(tmp_path / "f", {"cluster": cluster()})).code == "CMD-API-044"


def test_the_only_tenant_must_be_the_right_one(tmp_path: Path) -> None:
    path = write(tmp_path / "f", {"cluster": cluster(), "tenant": tenant("t-two")})
    with pytest.raises(CommodoreError) as caught:
        load(path)
    assert caught.value.code == "CMD-API-022"
    assert str(caught.value.locations[0]) == str(path)


def test_an_unknown_key_gets_a_suggestion(tmp_path: Path) -> None:
    error = refusal(write(tmp_path / "f", {"cluser": cluster(), "tenant": tenant()}))
    assert (error.code, error.hint) == ("CMD-API-043", "did you mean 'cluster' or 'clusters'?")
    assert refusal(write(tmp_path / "f", "5: 6")).hint == "the keys are cluster, clusters, tenant, tenants"


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [("cluster", "fact", "facts"), ("cluster", "dynamic_facts", "dynamicFacts"), ("tenant", "gitrepo", "gitRepo")],
)
def test_a_misspelt_key_of_an_object_gets_a_suggestion(kind: str, wrong: str, right: str, tmp_path: Path) -> None:
    content = {"cluster": cluster(), "tenant": tenant()}
    content[kind][wrong] = content[kind].pop(right, {})
    error = refusal(write(tmp_path / "f", content))
    assert (error.code, error.hint) == ("CMD-API-043", f"did you mean {right!r}?")
    assert f"unknown key {wrong!r} in {kind} {content[kind]['id']!r}" in error.message


def test_other_keys_of_objects_are_ignored(tmp_path: Path) -> None:
    extra = {"annotations": {}, "fact": "next to the right one", "installURL": "x", "creationTimestamp": "x"}
    path = write(tmp_path / "f", {"cluster": cluster() | extra, "tenant": tenant() | {"compilePipeline": {}}})
    assert load(path).id == "c-one"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "CMD-API-042"),
        ("- a", "CMD-API-042"),
        ("cluster: x", "CMD-API-042"),
        ("cluster: {id: 5}", "CMD-API-042"),
        ("clusters: {id: c-one}", "CMD-API-042"),
        ("clusters: [{id: c-one}]\ntenants: 5", "CMD-API-042"),
        ("cluster: {id: c-one}\nclusters: []", "CMD-API-043"),
        ("clusters: [{id: c-one}, {id: c-one}]", "CMD-API-047"),
        ("cluster: {id: c-one, facts: {since: 2024-01-01}}", "CMD-API-048"),
        ("cluster: {id: c-one, facts: {1: x}}", "CMD-API-048"),
        ("cluster: {id: c-one, facts: !!binary aGk=}", "CMD-API-048"),
        ("cluster: &a {id: c-one, facts: {x: *a}}", "CMD-YAML-001"),
        ("cluster: [", "CMD-YAML-001"),
        ("cluster: !!python/object:os.system {}", "CMD-YAML-001"),
        ("{}\n---\n{}", "CMD-YAML-001"),
    ],
)
def test_a_malformed_file(content: str, code: str, tmp_path: Path) -> None:
    assert refusal(write(tmp_path / "f", content)).code == code


def test_incomplete_objects_are_all_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "f", "cluster: {id: c-one, tenant: t-one}\ntenant: {id: t-one}")
    with pytest.raises(Findings) as caught:
        load(path)
    assert len(caught.value.errors) == 7
    assert {str(error.locations[0]) for error in caught.value.errors} == {str(path)}


def test_aliases_do_not_take_forever(tmp_path: Path) -> None:
    lines = ["cluster:", "  id: c-one", "  a0: &a0 [x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    path = write(tmp_path / "f", "\n".join(lines))
    with pytest.raises(InputError, match="once its aliases are resolved"):
        list_cluster_file(path, make_context())


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path, Path("zero\0byte")):
        with pytest.raises(EnvironmentFault) as caught:
            load(path)
        assert caught.value.code == "CMD-API-040"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = write(tmp_path / "f", {"cluster": cluster()})
    with pytest.raises(CommodoreError) as caught:
        list_cluster_file(path, make_context(limits=Limits(cluster_file_bytes=10)))
    assert caught.value.code == "CMD-API-041"


def test_dynamic_facts_of_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path / "f", {"cluster": cluster(dynamicFacts=...), "tenant": tenant()})
    assert load(path, facts={"a": 1}).dynamic_facts == {"a": 1}


@pytest.mark.parametrize("several", [False, True])
def test_where_a_field_is_set(several: bool, tmp_path: Path) -> None:
    if several:
        text = yaml.safe_dump({"clusters": [cluster("c-two"), cluster()], "tenants": [tenant("t-two"), tenant()]})
    else:
        text = yaml.safe_dump({"cluster": cluster(), "tenant": tenant()})
    loaded = load(write(tmp_path / "cluster.yml", text))
    for owner, name in (("cluster", "c-one"), ("tenant", "t-one")):
        (place,) = where_set(loaded, owner, "gitRepo", "url")  # type: ignore[arg-type]
        assert place.line is not None
        assert place.column is not None
        written = text.splitlines()[place.line - 1][place.column - 1 :]
        assert written.startswith("url: ")
        assert written.endswith(f"/{name}.git")


def test_where_a_field_is_set_that_is_in_no_file(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "cluster.yml", {"cluster": cluster(), "tenant": tenant()}))
    assert where_set(loaded, "cluster", "nix") == [Location(str(tmp_path / "cluster.yml"))]
    of_api = parse_cluster(cluster(), tenant(), {}, make_context(), source="https://api.example.com")
    assert where_set(of_api, "tenant", "gitRepo", "url") == [Location("https://api.example.com")]
    assert where_set(replace(of_api, source=""), "tenant", "gitRepo", "url") == []


@pytest.mark.parametrize("text", ["[a]", "{cluster: [a]}", "{clusters: {a: b}}", "{cluster: {gitRepo: 1}}", "{"])
def test_where_a_field_is_set_in_a_file_that_was_edited_meanwhile(text: str, tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "cluster.yml", {"cluster": cluster(), "tenant": tenant()}))
    (tmp_path / "cluster.yml").write_text(text, encoding="utf-8")
    assert [location.place for location in where_set(loaded, "cluster", "gitRepo", "url")] == [
        str(tmp_path / "cluster.yml")
    ]
