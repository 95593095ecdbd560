"""Options of a comparison: further fields with images and secrets, renamed Applications, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commodore import argocd
from commodore.argocd import NoiseRule, Options, Tree
from commodore.base.context import Context
from commodore.base.documents import document_text
from commodore.base.errors import UsageError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.comparing.conftest import Trees, app, config

pytestmark = pytest.mark.tools

URL = "https://git.example.com/team/shop.git"
OFFLINE = Options(context=Context(ignore, DEFAULT_LIMITS, offline=True)).having(self_url=(URL,), changed_only=False)


def database(**spec: Any) -> str:
    return json.dumps({"apiVersion": "acme.io/v1", "kind": "Database", "metadata": {"name": "d"}, "spec": spec})


def compared(trees: Trees, **options: Any) -> argocd.Difference:
    base, target = (Tree.folder(trees.root / name) for name in ("base", "target"))
    return argocd.diff(base, target, OFFLINE.having(**options))


@pytest.fixture
def shop(trees: Trees) -> Trees:
    trees.write({"web.json": app("web", "web")})
    trees.write({"web/d.json": database(engine="acme/db:1", words=["one", "two"], size=1)}, "base")
    trees.write({"web/d.json": database(engine="acme/db", words=["one", "three"], size=2)}, "target")
    return trees


def test_image_pointers(shop: Trees) -> None:
    assert compared(shop).dangers == ()
    pointers = ("acme.io/Database:/spec/engine",)
    assert compared(shop, image_pointer=pointers).dangers == ("image-unpinned",)
    options = OFFLINE.having(image_pointer=pointers)
    uses = argocd.images(Tree.folder(shop.root / "target"), options).images
    assert [(use.image.text, use.place) for use in uses] == [("acme/db", "spec.engine")]
    base = Tree.folder(shop.root / "base")
    changed = argocd.images(Tree.folder(shop.root / "target"), options, base=base).images
    assert [(use.change, use.image.text) for use in changed] == [("changed", "acme/db")]


def test_immutable_places(shop: Trees) -> None:
    assert compared(shop, immutable=("acme.io/Database:/spec/size",)).dangers == ("immutable",)
    assert compared(shop, immutable=("acme.io/Database",)).dangers == ()
    shop.write({"web/d.json": database(selector={"a": "b"})}, "base")
    shop.write({"web/d.json": database(selector={"a": "c"})}, "target")
    assert compared(shop, immutable=("acme.io/Database",)).dangers == ("immutable",)
    assert compared(shop, immutable=("acme.io/Other",)).dangers == ()


def test_masked_places(shop: Trees) -> None:
    assert "three" in compared(shop).text()
    difference = compared(shop, mask_kind=("acme.io/Database:/spec/words/*",))
    for report in (
        difference.text(),
        difference.markdown(),
        difference.html(),
        document_text("argocd-diff", difference),
        difference.sarif(),
    ):
        assert "three" not in report
        assert "two" not in report
    assert "size" in difference.text()
    assert "+ ++++++++" in difference.text()


def test_hidden_places(shop: Trees) -> None:
    summary = compared(shop, noise=(NoiseRule("place", "/spec/*"),)).as_plain().summary
    assert (summary.objects.changed, summary.hidden_only) == (0, 1)
    difference = compared(shop, noise=(NoiseRule("place", "/spec/size"),))
    assert "size" not in difference.text()
    assert "engine" in difference.text()


def test_equal_changes_one_by_one(trees: Trees) -> None:
    for name in ("a", "b"):
        trees.write({f"{name}.json": app(name, name)})
        trees.write({f"{name}/c.json": config(k="1")}, "base")
        trees.write({f"{name}/c.json": config(k="2")}, "target")
    assert len(compared(trees).as_plain().groups) == 1
    assert len(compared(trees, group=False).as_plain().groups) == 2


def test_renamed_applications(trees: Trees) -> None:
    there = {"server": "https://kubernetes.default.svc", "namespace": "web"}
    trees.write({"a.json": app("old", "web", destination=there)}, "base")
    trees.write({"a.json": app("new", "web", destination=there)}, "target")
    trees.write({"web/c.json": config(k="1"), "b.json": app("same", "web2"), "web2/c.json": config(k="1")})
    states = {application.name: application.state for application in compared(trees).applications}
    assert states == {"argocd/new": "added", "argocd/old": "removed", "argocd/same": "unchanged"}
    difference = compared(trees, follow_renames=True)
    assert {application.name: (application.state, application.note) for application in difference.applications} == {
        "argocd/new": ("renamed", "was argocd/old"),
        "argocd/same": ("unchanged", ""),
    }
    assert "> argocd/new (was argocd/old)" in difference.text()
    kinds = {change.object.kind for change in difference.as_plain().applications[0].objects}
    assert kinds == {"Application"}  # its objects are tracked by another name, and that is all
    trees.write({"c.json": app("other", "web", destination=there)}, "target")
    assert "argocd/old" in {application.name for application in compared(trees, follow_renames=True).applications}


def test_a_sarif_log(shop: Trees) -> None:
    shop.write(
        {"web/claim.json": '{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}'}, "base"
    )
    shop.write({"bad.json": app("bad", "missing")}, "target")
    (run,) = json.loads(compared(shop).sarif())["runs"]
    results = {result["ruleId"]: result for result in run["results"]}
    assert set(results) >= {"deletes-volume", "CMD-ARGO-309"}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(results)
    danger = results["deletes-volume"]
    assert danger["level"] == "error"
    place = danger["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "web.json"
    assert place["physicalLocation"]["region"]["startLine"] == 1
    assert "PersistentVolumeClaim" in place["logicalLocations"][0]["fullyQualifiedName"]


@pytest.mark.parametrize("text", ["Database", "a/b/c:/x", "apps/:/x", ":/x", "Database:spec"])
def test_what_is_no_place(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected GROUP/KIND:/POINTER") as error:
        argocd.diff(Tree.folder(tmp_path), Tree.folder(tmp_path), OFFLINE.having(mask_kind=(text,)))
    assert error.value.code == "CMD-ARGO-030"


def test_lines_around_what_differs_in_a_text(trees: Trees) -> None:
    trees.write({"web.json": app("web", "web")})
    lines = [f"line {number}" for number in range(9)]
    trees.write({"web/c.json": config(text="\n".join(lines))}, "base")
    trees.write({"web/c.json": config(text="\n".join([*lines[:4], "new", *lines[5:]]))}, "target")
    for around in (0, 1, 3):
        shown = compared(trees, context_lines=around)
        for text in (shown.text(), shown.markdown(), str(shown.as_plain().groups), shown.html()):
            assert [number for number in range(9) if f" line {number}" in text.replace("-line", "")] == [
                number for number in range(4 - around, 5 + around) if number != 4
            ]
