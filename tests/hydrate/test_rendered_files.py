"""Files of hydrated branches: order, templates, and secrets that stay out."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from commodore.base.errors import InputError
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.records import GroupNote, Note, read_note
from commodore.hydrate.branches.texts import Texts
from commodore.hydrate.model import PathCounts
from commodore.hydrate.rendering.secrets import find_private_keys, find_secrets
from tests.hydrate.conftest import config_map, dry, output

ROOT = layout.root_data("https://jo:secret@git.example.com/dry.git?x=1", dry())


@pytest.mark.requirement("H25")
def test_manifests_are_sorted() -> None:
    objects: list[dict[str, Any]] = [config_map("b"), {**config_map("a"), "kind": "Secret"}, config_map("a")]
    objects[0]["metadata"]["namespace"] = "x"
    objects[2]["status"] = None
    result = layout.ordered(objects, "seed")
    assert [(item["metadata"]["name"], item["kind"]) for item in result] == [
        ("a", "ConfigMap"), ("a", "Secret"), ("b", "ConfigMap"),
    ]  # fmt: skip
    assert "status" not in result[0]
    assert [item["metadata"]["name"] for item in layout.ordered(objects, "source")] == ["b", "a", "a"]
    assert layout.manifest([]) == b""


def test_changes_are_counted_by_object() -> None:
    """Several objects may have one key; the order and the form of the old manifest do not matter."""
    old = [config_map("gone"), config_map("same"), config_map("twice"), {**config_map("twice"), "data": {"a": "1"}}]
    new = [config_map("twice"), {**config_map("twice"), "data": {"a": "2"}}, config_map("same"), config_map("come")]
    new += [{**config_map("come"), "data": {}}]
    changes = layout.count_changes(json.dumps(old[0]).encode() + b"\n---\n" + layout.manifest(old[1:]), new)
    assert changes == PathCounts(objects=5, added=2, removed=1, changed=1)
    assert layout.count_changes(b"a: [", new) == PathCounts(objects=5, added=5, removed=1, changed=0)
    assert layout.is_same_manifest(layout.manifest(new), new[::-1])


@pytest.mark.requirement("H29")
def test_metadata_names_the_sources_without_credentials() -> None:
    assert ROOT["repoURL"] == "https://git.example.com/dry.git"
    text = layout.metadata({**ROOT, "subject": "<&ä"}).decode()
    assert list(layout.read_metadata(text.encode())) == ["repoURL", "drySha", "author", "date", "subject"]
    assert '"<&ä"' in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, b"**/README.md linguist-generated=true\n**/hydrator.metadata linguist-generated=true\n"),
        (b"x", b"x\n**/README.md linguist-generated=true\n**/hydrator.metadata linguist-generated=true\n"),
    ],
)
def test_attributes_are_added(old: bytes | None, new: bytes) -> None:
    assert layout.attributes(old) == new
    assert layout.attributes(new) == new


@pytest.mark.requirement("H27")
def test_texts_that_are_built_in() -> None:
    commit = dry()
    told = Texts()
    told.check()
    readme = told.readme_of(output("a"), {**ROOT, "subject": commit.subject}, commit)
    assert "# a\n" in readme
    assert f"git checkout {commit.sha}\n```\n" in readme
    assert told.message_of(ROOT) == "0000000: Change 1\n\nCo-authored-by: Jo <jo@example.com>"


@pytest.mark.requirement("H27")
def test_templates() -> None:
    texts = Texts("{{ .RepoURL }} {{ .DrySHA | trunc 3 }}", "{{ .metadata.subject | upper }}")
    assert texts.readme_of(output("a"), ROOT, dry()) == "https://git.example.com/dry.git 000\n"
    assert texts.message_of(ROOT) == "CHANGE 1"


@pytest.mark.requirement("H27")
def test_a_message_has_the_metadata_as_argo_cd_gives_it() -> None:
    """A map without empty values: its keys are in order, and `<` is written for HTML."""
    told = Texts(message="{{ .metadata | toJson }}").message_of({**ROOT, "body": "", "references": []})
    assert told == (
        '{"author":"Jo \\u003cjo@example.com\\u003e","date":"2026-01-02T03:04:05Z",'
        f'"drySha":"{dry().sha}","repoURL":"https://git.example.com/dry.git","subject":"Change 1"}}'
    )


def test_a_body_stands_between_empty_lines() -> None:
    message = Texts().message_of({**ROOT, "body": "More.\n\nAnd more.\n"})
    assert message == "0000000: Change 1\n\nMore.\n\nAnd more.\n\nCo-authored-by: Jo <jo@example.com>"


@pytest.mark.parametrize("key", ["subject", "body"])
def test_a_message_of_a_mebibyte(key: str) -> None:
    """It must not fail the template: the branch would wait for the next dry commit."""
    long = {**ROOT, key: "ö" * (1 << 19)}
    message = Texts().message_of(long)
    assert len(message.encode()) <= 64 << 10
    assert message.endswith("ö\n\nCo-authored-by: Jo <jo@example.com>")
    commit = replace(dry(), **{key: long[key]})
    assert len(Texts(readme="{{ .Subject }}{{ .Body }}").readme_of(output("a"), long, commit)) < 64 << 10


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (Texts(readme="{{ .Nope }}"), "CMD-HYD-025"),
        (Texts(readme="{{ if }}"), "CMD-HYD-025"),
        (Texts(message="{{ now }}"), "CMD-HYD-025"),
        (Texts(message="{{ env \"HOME\" }}"), "CMD-HYD-025"),
        (Texts(message=" {{/* nothing */}} "), "CMD-HYD-026"),
    ],
)  # fmt: skip
def test_templates_that_do_not_work(texts: Texts, code: str) -> None:
    with pytest.raises(InputError) as caught:
        texts.check()
    assert caught.value.code == code


@pytest.mark.requirement("H44")
def test_secrets_are_found() -> None:
    def secret(name: str, **fields: Any) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "n"}, **fields}

    encoded = base64.b64encode(b"<path:x#y>").decode()
    objects = [
        secret("value", stringData={"password": "hunter2", "empty": ""}),
        secret("encoded", data={"key": "aHVudGVyMg=="}),
        secret("placeholder", stringData={"a": "<path:x#y>", "b": "?{vaultkv:x}"}, data={"c": encoded}),
        secret("token", type="kubernetes.io/service-account-token"),
        secret("allowed", stringData={"a": "x"}),
        {**secret("sealed", data={"a": "x"}), "apiVersion": "bitnami.com/v1alpha1", "kind": "SealedSecret"},
    ]
    secrets = find_secrets(objects, ["n/allow*"])
    assert [(item.name, item.keys) for item in secrets] == [
        ("Secret n/value", ("stringData.password",)), ("Secret n/encoded", ("data.key",)),
    ]  # fmt: skip
    (key,) = find_private_keys([config_map("x", k="a\n-----BEGIN RSA PRIVATE KEY-----\n"), *objects])
    assert key.keys == ("data.k",)


@pytest.mark.requirement("H47")
def test_notes() -> None:
    first, second = GroupNote("a" * 40, "sha256:1", "env/dev"), GroupNote("b" * 40, "sha256:2")
    note = replace(Note().with_group("g", first).with_group("h", second), edited={"p": "c" * 40})
    assert read_note(note.text().encode()) == note
    assert (note.dry_sha, note.groups["g"]) == ("b" * 40, first)
    assert read_note(b'{"drySha": "x"}') == Note("x")
    assert read_note(b"[]") is None
    assert read_note(b'{"drySha": "x", "commodore": {"layout": 1, "groups": []}}') is None
