"""The explanation of a manifest, from the files of a real compile, without guesses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.documents import plain
from commodore.base.errors import InputError, UsageError
from commodore.base.files.sealed import seal
from commodore.base.files.workspace import Workspace
from commodore.catalog.stages.explaining import ManifestExplanation, ParameterCandidate, explain_manifest
from commodore.catalog.stages.explaining.locate import catalog_files, find_manifest
from tests.world.cluster import ClusterWorld
from tests.world.context import make_context

MAIN = """
local inv = (import 'lib/kapitan.libjsonnet').inventory();
local params = inv.parameters.%s;
local text = importstr './words.txt';
{
  objects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one.two', namespace: 'a' }, data: params.data },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'a' }, 'two': 1 },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'b' }, image: params.registry + '/x' },
    { apiVersion: 'v1', kind: 'Made', metadata: { name: 'up', labels: { 'a.b/c': text } }, none: null, count: 1 },
  ],
}
"""
CLASS = """
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/component/main.jsonnet']
        input_type: jsonnet
        output_path: ${_instance}/deep
      - input_paths: ['${_base_directory}/component/words.txt']
        input_type: copy
        output_path: ${_instance}/text
  commodore:
    postprocess:
      filters:
        - {type: builtin, filter: helm_namespace, path: '${_instance}/deep', enabled: false,
           filterargs: {namespace: elsewhere}}
        - {type: builtin, filter: helm_namespace, path: nowhere, enabled: false, filterargs: {namespace: elsewhere}}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ClusterWorld:
    world = ClusterWorld(tmp_path_factory.mktemp("world"))
    world.environment = {"XDG_CACHE_HOME": str(world.root / "cache"), "XDG_CONFIG_HOME": str(world.root / "config")}
    files = {"class/app.yml": CLASS, "component/main.jsonnet": MAIN % "app", "component/words.txt": "word"}
    world.component(
        "app",
        files,
        metadata={"multi_instance": True},
        data={"host": "host.example.com", "on": "true"},
        registry="registry.example.com",
        unread="word",
    )
    world.applications.append("app as second")
    world.parameters["second"] = {"data": {"host": "other.example.com"}}
    for _ in range(2):  # what the cache gives has a record, too
        result = world.compile()
        assert result.code == 0, result.stderr
    return world


@pytest.fixture
def workspace(world: ClusterWorld) -> Workspace:
    return Workspace.at(world.work)


Explain = Callable[[str], ManifestExplanation]


@pytest.fixture
def explain(workspace: Workspace, tmp_path: Path) -> Explain:
    return lambda target: explain_manifest(workspace, target, tmp_path, make_context())


def test_who_made_it(world: ClusterWorld, explain: Explain) -> None:
    explanation = explain("manifests/second/deep/objects.yaml")
    assert (explanation.path, explanation.instance, explanation.component) == (
        "manifests/second/deep/objects.yaml",
        "second",
        "app",
    )
    assert (explanation.edited, explanation.reused, explanation.refusal) == (False, True, "")
    assert explanation.repository is not None
    remote = world.remotes["app"]
    assert (explanation.repository.url, explanation.repository.version) == (remote.url, "master")
    assert (explanation.repository.commit, explanation.repository.changed) == (remote.sha("master"), False)
    assert [(item.index, item.input_type, item.output_path) for item in explanation.entries] == [
        (0, "jsonnet", "second/deep")
    ]
    assert explanation.entries[0].input_paths == ("dependencies/second/component/main.jsonnet",)
    assert [(item.index, item.path, item.enabled) for item in explanation.filters] == [(0, "second/deep", False)]


def test_entries_are_told_apart_by_their_output_paths(explain: Explain) -> None:
    assert [item.input_type for item in explain("app/text/words.txt").entries] == ["copy"]
    assert explain("app/text/words.txt").filters == ()


def test_what_was_read(explain: Explain) -> None:
    """A parameter that is not read is not shown, independent of its value."""
    explanation = explain("second/deep/objects.yaml")
    read = {item.path: item.value for item in explanation.parameters if item.target == "second"}
    assert read[("app", "data")] == {"host": "other.example.com", "on": "true"}
    assert read[("app", "registry")] == "registry.example.com"
    assert ("app", "unread") not in read
    assert not any(item.changed for item in explanation.parameters)
    files = [item.path for item in explanation.files if item.exists]
    assert "dependencies/second/component/main.jsonnet" in files
    assert "dependencies/second/component/words.txt" in files
    assert not any(item.changed for item in explanation.files)
    commands = {item.path: item.command for item in explanation.parameters}
    assert commands[("app", "registry")] == ("inventory", "explain", "app.registry", "--instance", "second")
    own = {item.path: item.command for item in explain("app/deep/objects.yaml").parameters}
    assert own[("app", "registry")] == ("inventory", "explain", "app.registry")


@pytest.mark.parametrize(
    ("target", "namespace", "name", "number"),
    [
        ("ConfigMap/one.two", "a", "one.two", 0),
        ("configmap/a/one.two", "a", "one.two", 0),
        ("ConfigMap/a/one", "a", "one", 1),
        ("ConfigMap/b/one", "b", "one", 2),
        ("Made/up", "", "up", 3),
    ],
)
def test_objects_are_found_by_kind_and_name(
    target: str, namespace: str, name: str, number: int, explain: Explain
) -> None:
    explanation = explain(f"app/deep/objects.yaml#{target}")
    assert explanation.object is not None
    assert (explanation.object.namespace, explanation.object.name, explanation.field) == (namespace, name, None)
    lines = explanation.file.read_text().splitlines()
    assert explanation.object.line == [n for n, text in enumerate(lines, 1) if text == "apiVersion: v1"][number]


def candidates_of(explanation: ManifestExplanation) -> list[ParameterCandidate]:
    assert explanation.field is not None
    return list(explanation.field.candidates)


def test_a_field_with_the_value_of_a_parameter(explain: Explain) -> None:
    explanation = explain("second/deep/objects.yaml#ConfigMap/one.two.data.host")
    assert explanation.field is not None
    assert explanation.field.value == "other.example.com"
    assert explanation.file.read_text().splitlines()[explanation.field.line - 1] == "  host: other.example.com"
    (candidate,) = candidates_of(explanation)
    assert (candidate.target, candidate.path, candidate.whole) == ("second", ("app", "data", "host"), True)
    assert candidate.command == ("inventory", "explain", "app.data.host", "--instance", "second")


def test_a_map_with_the_value_of_a_parameter(explain: Explain) -> None:
    explanation = explain("app/deep/objects.yaml#ConfigMap/one.two.data")
    assert [item.path for item in candidates_of(explanation)] == [("app", "data")]


def test_a_field_that_a_text_of_a_parameter_occurs_in(explain: Explain) -> None:
    explanation = explain("app/deep/objects.yaml#ConfigMap/b/one.image")
    assert [(item.path, item.whole) for item in candidates_of(explanation)] == [(("app", "registry"), False)]


@pytest.mark.parametrize("field", ['metadata.labels."a.b/c"', "count", "none", "metadata.name"])
def test_a_field_of_the_templates_own_has_no_candidates(field: str, explain: Explain) -> None:
    """A parameter with the same value that was not read is not a candidate; nor is a number that looks like a text."""
    assert candidates_of(explain(f"app/deep/objects.yaml#Made/up.{field}")) == []


@pytest.mark.parametrize(
    ("target", "code", "hint"),
    [
        ("app/deep/object.yaml", "CMD-CAT-020", "'manifests/app/deep/objects.yaml'"),
        ("objects.yaml", "CMD-CAT-020", "'manifests/app/deep/objects.yaml'"),
        ("manifests/app", "CMD-CAT-020", "it is a folder; name one of its files: manifests/app/deep/objects.yaml"),
        ("", "CMD-CAT-020", "the folders app, second"),
        ("../../../etc/passwd", "CMD-CAT-020", "the folders app, second"),
        ("/etc/passwd", "CMD-CAT-020", "the folders app, second"),
        ("app/deep/objects.yaml#ConfigMop/one.two", "CMD-CAT-022", "'ConfigMap/one.two'"),
        ("app/deep/objects.yaml#Made/upp", "CMD-CAT-022", "'Made/up'"),
        ("app/deep/objects.yaml#Made", "CMD-CAT-022", "Made/up"),
        ("app/deep/objects.yaml#zzz/qqq", "CMD-CAT-022", "its objects are ConfigMap/one.two, ConfigMap/one"),
        ("app/deep/objects.yaml#ConfigMap/one", "CMD-CAT-022", "ConfigMap/NAMESPACE/NAME"),
        ("app/deep/objects.yaml#Made/up.metadata.nam", "CMD-CAT-023", "'name'"),
        ("app/deep/objects.yaml#Made/up.metadata.labels.a.b/c", "CMD-CAT-023", 'metadata.labels."a.b/c"'),
        ("app/deep/objects.yaml#Made/up.metadata[0]", "CMD-CAT-023", "it has labels, name"),
        ("app/deep/objects.yaml#Made/up.count.x", "CMD-CAT-023", ""),
        ("app/text/words.txt#Made/up", "CMD-CAT-022", "no object in it has a kind and a name"),
    ],
)
def test_what_is_not_there(target: str, code: str, hint: str, explain: Explain) -> None:
    with pytest.raises(InputError) as caught:
        explain(target)
    assert caught.value.code == code
    assert hint in caught.value.hint


def test_a_field_that_is_no_path(explain: Explain) -> None:
    with pytest.raises(UsageError) as caught:
        explain("app/deep/objects.yaml#Made/up.metadata[")
    assert caught.value.code == "CMD-INV-040"


def test_every_spelling_of_a_path(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace.root
    link = tmp_path / "link"
    link.symlink_to(root)
    for name, here in [
        ("manifests/app/text/words.txt", tmp_path),
        ("app/text/words.txt", tmp_path),
        ("words.txt", root / "catalog" / "manifests" / "app" / "text"),
        ("catalog/manifests/app/text/words.txt", tmp_path),
        ("compiled/app/app/text/words.txt", tmp_path),
        ("app/app/text/words.txt", tmp_path),
        (str(root / "compiled" / "app" / "app" / "text" / "words.txt"), tmp_path),
        (str(link / "catalog" / "manifests" / "app" / "text" / "words.txt"), tmp_path),
        ("link/catalog/manifests/app/text/words.txt", tmp_path),
        ("./manifests//app/../app/text/words.txt", tmp_path),
    ]:
        manifest = find_manifest(workspace, name, here)
        assert (manifest.path, manifest.instance) == ("app/text/words.txt", "app"), name
        assert manifest.file == root / "catalog" / "manifests" / "app" / "text" / "words.txt"


def test_links_that_lead_out_are_no_manifests(workspace: Workspace, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    link = workspace.manifests / "app" / "leak.yaml"
    link.symlink_to(secret)
    try:
        with pytest.raises(InputError) as caught:
            find_manifest(workspace, "app/leak.yaml", tmp_path)
    finally:
        link.unlink()
    assert caught.value.code == "CMD-CAT-020"


def test_a_file_that_nobody_has_rendered(workspace: Workspace, explain: Explain) -> None:
    stray = workspace.manifests / "app" / "stray.yaml"
    stray.write_text("a: 1\n")
    try:
        with pytest.raises(InputError) as caught:
            explain("app/stray.yaml")
    finally:
        stray.unlink()
    assert caught.value.code == "CMD-CAT-021"


def test_nothing_was_compiled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cluster has been compiled") as caught:
        explain_manifest(Workspace.at(tmp_path), "a.yaml", tmp_path, make_context())
    assert "compile a cluster first" in caught.value.hint


def test_what_has_changed_since_is_said(world: ClusterWorld, workspace: Workspace, explain: Explain) -> None:
    file = workspace.manifests / "app" / "text" / "words.txt"
    words = workspace.component("app") / "component" / "words.txt"
    defaults = workspace.component("app") / "class" / "defaults.yml"
    kept = {path: path.read_bytes() for path in (file, words, defaults)}
    try:
        file.write_text("edited")
        words.write_text("edited")
        defaults.write_text(defaults.read_text().replace("registry.example.com", "mirror.example.com"))
        explanation = explain("app/text/words.txt")
    finally:
        for path, content in kept.items():
            path.write_bytes(content)
    assert explanation.edited
    assert explanation.repository is not None
    assert explanation.repository.changed
    assert [item.path for item in explanation.parameters if item.changed] == [("app", "registry")]
    assert [item.path for item in explanation.files if item.changed] == ["dependencies/app/component/words.txt"]


def test_without_a_record(workspace: Workspace, explain: Explain) -> None:
    """A compile of an older version has left none, or somebody has removed it."""
    record = workspace.state / "records" / "second.json"
    kept = record.read_bytes()
    try:
        for content in (None, b"", b"{}", seal(("record", "second.json"), b'{"reads": 1}')):
            record.unlink() if content is None else record.write_bytes(content)
            explanation = explain("second/deep/objects.yaml#Made/up.count")
            assert (explanation.reused, explanation.parameters, explanation.files, explanation.component) == (
                None,
                (),
                (),
                "app",
            )
    finally:
        record.write_bytes(kept)


def test_as_data(explain: Explain) -> None:
    told = plain(explain("second/deep/objects.yaml#ConfigMap/one.two.data.host"))
    assert told["object"] == {"kind": "ConfigMap", "namespace": "a", "name": "one.two", "line": 1}
    assert told["field"]["candidates"][0]["path"] == "app.data.host"
    assert told["field"]["candidates"][0]["whole"] is True
    words: dict[str, Any] = plain(explain("second/text/words.txt"))
    assert words["object"] is None
    assert {"path": "app", "target": "second"} not in words["parameters"]
    assert words["repository"]["version"] == "master"


def test_all_manifests(workspace: Workspace) -> None:
    assert catalog_files(workspace) == [
        f"manifests/{name}/{file}" for name in ("app", "second") for file in ("deep/objects.yaml", "text/words.txt")
    ]
