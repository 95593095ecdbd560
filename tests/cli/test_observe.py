"""`commodore observe plan`."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from commodore.base.yaml.kube_yaml import write_documents
from tests.argocd.comparing.conftest import URL, app
from tests.world.kargo import (
    REPOSITORY,
    Object,
    application,
    at,
    drifted,
    freight,
    freight_name,
    request,
    stage,
    warehouse,
)
from tests.world.repos import git

Call = Callable[..., tuple[int, str, str]]

NOW = at(0)


@pytest.fixture
def given(tmp_path: Path) -> Callable[..., str]:
    """A file with some objects, as kubectl writes it."""

    def write(*objects: Object, name: str = "objects.yaml") -> str:
        file = tmp_path / name
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        file.write_text(json.dumps(listed) if name.endswith(".json") else write_documents([listed]), encoding="utf-8")
        return str(file)

    return write


def decisions(shown: str) -> list[dict[str, Any]]:
    load: list[dict[str, Any]] = json.loads(shown)["decisions"]
    return load


def test_a_decision_as_json(call: Call, given: Callable[..., str]) -> None:
    code, out, err = call("observe", "plan", given(*drifted()), "-o", "json", "--at", NOW)
    (decision,) = decisions(out)
    assert (code, err) == (0, "")
    assert {key: value for key, value in decision.items() if key not in ("promotion", "message")} == {
        "kind": "promote",
        "reason": "Promote",
        "stage": "shop/prod",
        "applications": ["argocd/web"],
        "drift": [{"repository": "registry.example.com/shop/web", "deployed": "2", "recorded": ["1"]}],
        "origin": "Warehouse/web",
        "freight": freight_name("2"),
        "candidates": [freight_name("2")],
        "retry_after": 60,
        "severity": "normal",
    }
    assert decision["promotion"]["metadata"]["name"].startswith("prod.")


def test_other_formats(call: Call, given: Callable[..., str]) -> None:
    file = given(*drifted(), name="objects.json")
    _, as_json, _ = call("observe", "plan", file, "-o", "json", "--at", NOW)
    _, as_yaml, _ = call("observe", "plan", file, "-o", "yaml", "--at", NOW)
    assert yaml.safe_load(as_yaml)["decisions"] == decisions(as_json)
    _, table, _ = call("observe", "plan", file, "--at", NOW)
    heading, row, message = table.splitlines()
    assert heading.split() == ["STAGE", "DECISION", "REASON", "DEPLOYED", "RECORDED", "FREIGHT", "APPLICATIONS"]
    assert row.split() == [
        *("shop/prod", "promote", "Promote", "web:2", "web:1", freight_name("2")[:7], "(alias-2)", "argocd/web")
    ]
    assert message.strip() == f"{freight_name('2')[:7]} (alias-2) of Warehouse/web has what runs"


@pytest.mark.requirement("O35")
def test_explain(call: Call, given: Callable[..., str]) -> None:
    objects = drifted(application(stage="shop:prod,shop:test"), stage("test"))
    code, out, _ = call("observe", "plan", given(*objects), "--explain", "shop/prod", "--at", NOW)
    assert code == 0
    assert out.startswith("Stage shop/prod: promote, Promote\n")
    assert re.search(r"^  ok  AwaitingSync +Promotion ", out, re.MULTILINE)
    assert re.search(rf"^  ok  FreightMissing +Warehouse/web: {freight_name('2')[:7]} \(alias-2\)$", out, re.MULTILINE)
    assert re.search(r"^  ->  Promote  ", out, re.MULTILINE)
    code, _, err = call("observe", "plan", given(*objects), "--explain", "nosuch")
    assert code == 2
    assert "known are: shop/prod, shop/test" in err


def test_emit(call: Call, given: Callable[..., str], tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    objects = drifted(application(stage="shop:prod,shop:test"), stage("test", steps=()))
    code, out, _ = call("observe", "plan", given(*objects), "-o", "json", "--at", NOW, "--out", str(folder))
    assert code == 0
    (file,) = folder.iterdir()
    promotion = decisions(out)[0]["promotion"]
    assert file.name == f"shop_{promotion['metadata']['name']}.yaml"
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == promotion
    code, _, err = call("observe", "plan", given(*objects), "--out", str(file))
    assert code == 3
    assert "CMD-OBS-005" in err


@pytest.mark.parametrize(
    ("objects", "code"),
    [
        (drifted(), 1),
        (drifted(application(stage="shop:gone")), 1),
        (drifted(application(sync="OutOfSync")), 0),
        (drifted(application(images=["registry.example.com/shop/web:1"])), 0),
    ],
)
def test_check(call: Call, given: Callable[..., str], objects: list[Object], code: int) -> None:
    assert call("observe", "plan", given(*objects), "--check", "--at", NOW)[0] == code
    assert call("observe", "plan", given(*objects), "--at", NOW)[0] == 0


def test_options_reach_the_planner(call: Call, given: Callable[..., str], tmp_path: Path) -> None:
    carrying = freight("2", commits=[{"repoURL": "r", "id": "c"}])
    newer = freight("3", discovered=5)
    pause = tmp_path / "pause"
    pause.touch()
    table: list[tuple[list[str], list[Object], str]] = [
        (["--observe-mode", "opt-in"], drifted(), "NotOptedIn"),
        (["--unsynced"], drifted(application(sync="OutOfSync")), "Promote"),
        (["--health", "Progressing"], drifted(application(health="Progressing")), "Promote"),
        (["--other-artifacts", "warn"], drifted(carrying), "Promote"),
        (["--allow-conflicts"], drifted(), "Promote"),
        ([], drifted(stage(autoPromotionEnabled=True), newer), "AutoPromotionWouldUndo"),
        (["--auto-promotion", "ignore"], drifted(stage(autoPromotionEnabled=True), newer), "Promote"),
        (["--kargo-version", "1.11.2"], drifted(stage(autoPromotionEnabled=True), newer), "Promote"),
        (["--kargo-version", "v1.10.4"], drifted(stage(autoPromotionEnabled=True), newer), "AutoPromotionWouldUndo"),
        (["--clock-margin", "1h"], drifted(), "AwaitingSync"),
        (["--dry-run"], drifted(), "DryRun"),
        (["--pause-file", str(pause)], drifted(), "Paused"),
        (["--settle", "1h"], drifted(), "Promote"),
    ]
    for flags, objects, reason in table:
        _, out, err = call("observe", "plan", given(*objects), "-o", "json", "--at", NOW, *flags)
        assert ([decision["reason"] for decision in decisions(out)], flags) == ([reason], flags), err


def test_scope(call: Call, given: Callable[..., str]) -> None:
    objects = [
        *drifted(application(labels={"team": "a"})),
        application("b", namespace="other", stage="spare:prod", labels={"team": "b"}),
    ]

    def stages(*flags: str) -> list[str]:
        _, out, _ = call("observe", "plan", given(*objects), "-o", "json", *flags)
        return [decision["stage"] for decision in decisions(out)]

    assert stages() == ["shop/prod", "spare/prod"]
    assert stages("-n", "shop,nosuch") == ["shop/prod"]
    assert stages("--application-namespace", "other") == ["spare/prod"]
    assert stages("--selector", "team=a") == ["shop/prod"]
    assert stages("--selector", "team!=a,team") == ["spare/prod"]
    assert stages("--selector", "!team") == []
    assert "CMD-OBS-006" in call("observe", "plan", given(*objects), "-n", "nosuch")[2]


@pytest.mark.parametrize(
    "flags",
    [
        ["--settle", "soon"],
        ["--clock-margin", "-1"],
        ["--at", "now"],
        ["--kargo-version", "new"],
        ["--selector", "a b"],
        ["--label-prefix", "a/b"],
    ],
)
def test_values_that_cannot_be_read(call: Call, given: Callable[..., str], flags: list[str]) -> None:
    code, _, err = call("observe", "plan", given(*drifted()), *flags)
    assert code == 2
    assert "CMD-OBS-030" in err
    assert flags[0] in err


@pytest.mark.requirement("O2")
def test_a_malformed_annotation_is_told_and_does_not_fail(call: Call, given: Callable[..., str]) -> None:
    code, out, err = call("observe", "plan", given(*drifted(application(stage="shop:prod,shop"))), "-o", "json")
    assert code == 0
    assert [decision["stage"] for decision in decisions(out)] == ["shop/prod"]
    assert "has an invalid entry 'shop' [CMD-OBS-004]" in err
    assert "AuthorizedStageInvalid" in err


def test_findings(call: Call, given: Callable[..., str]) -> None:
    """Anything that cannot be read or is there twice is reported, the rest is decided, and the exit code is 1."""
    twice = drifted()
    code, out, err = call("observe", "plan", given(*twice, stage(steps=())), "-o", "json", "--at", NOW)
    assert (code, decisions(out)[0]["reason"]) == (1, "Promote")
    assert "Stage shop/prod is there twice: the first one counts [CMD-OBS-003]" in err
    broken = stage()
    broken["status"]["freightHistory"] = "none"
    code, out, err = call("observe", "plan", given(*drifted(broken)), "-o", "json", "--at", NOW)
    assert (code, decisions(out)[0]["reason"]) == (1, "StageNotFound")
    assert "Stage prod: status.freightHistory must be a list, not text [CMD-OBS-002]" in err
    odd = application()
    odd["status"]["summary"]["images"] = "nginx"
    code, out, err = call("observe", "plan", given(*drifted(odd)), "-o", "json", "--at", NOW)
    assert (code, decisions(out)[0]["reason"]) == (1, "NothingDeployed")
    assert "Application web: status.summary.images must be a list" in err


@pytest.mark.parametrize(
    "text", ["[1]", "kind: [", "metadata: {}\nkind: Stage", "- a", "\x00", '{"kind": "List", "items": 1}']
)
def test_files_that_hold_no_objects(call: Call, tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text, encoding="utf-8")
    code, out, err = call("observe", "plan", str(file), "-o", "json")
    assert (code, decisions(out)) == (1, [])
    assert "CMD-OBS-002" in err
    assert "bad.yaml" in err


def test_nothing_to_decide_about(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
    code, _, err = call("observe", "plan", str(file))
    assert code == 1
    assert "CMD-OBS-001" in err
    code, _, err = call("observe", "plan", str(tmp_path / "nosuch.yaml"))
    assert code == 1
    assert "nosuch.yaml" in err


def test_folders_streams_and_lists_of_one_kind(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any mix of files: a folder, several documents, a list of one kind, standard input."""
    objects = drifted()
    folder = tmp_path / "objects"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.yaml").write_text(yaml.safe_dump_all(objects[:2]), encoding="utf-8")
    (folder / "notes.txt").write_text("- no object", encoding="utf-8")
    freights = {"apiVersion": "kargo.akuity.io/v1alpha1", "kind": "FreightList", "items": []}
    for item in objects[3:]:
        freights["items"].append({key: value for key, value in item.items() if key not in ("apiVersion", "kind")})  # type: ignore[attr-defined]
    (folder / "b.json").write_text(json.dumps(freights), encoding="utf-8")
    stdin = io.BytesIO(yaml.safe_dump(objects[2]).encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    code, out, err = call("observe", "plan", str(folder), str(folder / "b.json"), "-", "-o", "json", "--at", NOW)
    assert (code, err) == (0, "")
    assert [decision["reason"] for decision in decisions(out)] == ["Promote"]


def test_a_soak_ends_at_a_time(call: Call, given: Callable[..., str]) -> None:
    soaking = {"verifiedIn": {"test": {}}, "currentlyIn": {"test": {"since": at(50)}}}
    asks = stage(requests=[request(stages=["test"], requiredSoakTime="1h")])
    file = given(*drifted(asks, freight("2", status=soaking)))
    for time, reason in ((at(0), "FreightNotAvailable"), (at(-10), "Promote")):
        _, out, _ = call("observe", "plan", file, "-o", "json", "--at", time)
        assert decisions(out)[0]["reason"] == reason


def test_what_a_user_sees_of_odd_texts(call: Call, given: Callable[..., str]) -> None:
    """Control characters of objects do not reach the terminal."""
    odd = warehouse()
    odd["spec"]["subscriptions"][0]["image"]["repoURL"] = "a\x1b[31mb"
    code, out, err = call("observe", "plan", given(*drifted(odd)))
    assert code == 1
    assert "\x1b" not in out + err


def deployment(image: str) -> str:
    spec = {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}
    return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})


@dataclass(frozen=True)
class Checkout:
    """A repository that defines the Application `argocd/web`, a folder with a Deployment of image 2."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Checkout:
        (folder / "web").mkdir(parents=True)
        (folder / "app.json").write_text(app("web", "web"), encoding="utf-8")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "remote", "add", "origin", "https://git.example.com/team/shop.git")
        result = cls(folder)
        result.deploys(f"{REPOSITORY}:2")
        return result

    def deploys(self, image: str) -> None:
        (self.folder / "web" / "web.json").write_text(deployment(image), encoding="utf-8")
        git(self.folder, "add", ".")
        git(self.folder, "commit", "-qm", "change")

    @property
    def commit(self) -> str:
        return git(self.folder, "rev-parse", "HEAD").strip()

    def synced(self, name: str = "web", **changes: Any) -> Object:
        """The Application as the cluster has it, without Pods."""
        item = application(name, images=[], **changes)
        item["status"]["sync"]["revision"] = self.commit
        return item


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout.made(tmp_path / "checkout")


@pytest.fixture
def rendered(call: Call, given: Callable[..., str], checkout: Checkout) -> Callable[..., dict[str, Any]]:
    """The only decision about objects, with the images that the checkout renders."""

    def decide(*objects: Object, flags: Sequence[str] = ()) -> dict[str, Any]:
        where = ["--images-from", "rendered", "--path", str(checkout.folder), "--offline", *flags]
        code, out, err = call("observe", "plan", given(*drifted(*objects)), *where, "-o", "json", "--at", NOW)
        assert code == 0, err
        (decision,) = decisions(out)
        return decision

    return decide


@pytest.mark.requirement("O5")
def test_images_that_git_renders(
    call: Call, given: Callable[..., str], checkout: Checkout, rendered: Callable[..., dict[str, Any]]
) -> None:
    """They count whatever Pods run: none, or those of a finished Job too."""
    scaled_to_zero = checkout.synced()
    _, out, _ = call("observe", "plan", given(*drifted(scaled_to_zero)), "-o", "json", "--at", NOW)
    assert decisions(out)[0]["reason"] == "NothingDeployed"
    decision = rendered(scaled_to_zero)
    assert (decision["reason"], decision["freight"]) == ("Promote", freight_name("2"))
    crowded = checkout.synced()
    crowded["status"]["summary"]["images"] = [f"{REPOSITORY}:1", f"{REPOSITORY}:2"]
    assert rendered(crowded)["reason"] == "Promote"
    several = checkout.synced()
    several["status"]["sync"] = {"status": "Synced", "revisions": ["1.0.0", checkout.commit]}
    assert rendered(several)["reason"] == "Promote"


def test_only_what_is_synced_counts_as_rendered(checkout: Checkout, rendered: Callable[..., dict[str, Any]]) -> None:
    """Another commit than the synced one says nothing; changes that are not committed do not count."""
    synced = checkout.synced()
    before = checkout.commit
    (checkout.folder / "web" / "web.json").write_text("{", encoding="utf-8")
    assert rendered(synced)["reason"] == "Promote"
    checkout.deploys(f"{REPOSITORY}:3")
    decision = rendered(synced)
    assert (decision["kind"], decision["reason"], decision["promotion"]) == ("blocked", "ImagesUnknown", None)
    assert f"{checkout.commit[:12]} was rendered, and Argo CD has synced {before[:12]}" in decision["message"]
    assert rendered(synced, flags=["--ref", before])["reason"] == "Promote"
    without_repeated = application(images=[f"{REPOSITORY}:2"])
    assert "does not report which revision it has synced" in rendered(without_repeated)["message"]


def test_what_cannot_be_rendered_blocks_its_stage(checkout: Checkout, rendered: Callable[..., dict[str, Any]]) -> None:
    """Nothing is guessed of an Application that the repository lacks, or that is broken, next to others."""
    decision = rendered(checkout.synced(), checkout.synced("other"))
    assert (decision["reason"], decision["promotion"]) == ("ImagesUnknown", None)
    assert decision["message"].endswith("argocd/other: the repository defines no such Application")
    (checkout.folder / "web" / "broken.json").write_text("{", encoding="utf-8")
    checkout.deploys(f"{REPOSITORY}:2")
    decision = rendered(checkout.synced())
    assert (decision["reason"], "broken.json" in decision["message"]) == ("ImagesUnknown", True)


def test_a_source_elsewhere_counts_if_it_is_pinned_to_what_is_synced(
    checkout: Checkout, rendered: Callable[..., dict[str, Any]]
) -> None:
    sources = [{"repoURL": URL, "path": "web"}, {"repoURL": "https://git.example.com/other.git", "ref": "values"}]
    text = json.loads(app("web", "web"))
    del text["spec"]["source"]
    text["spec"]["sources"] = sources
    (checkout.folder / "app.json").write_text(json.dumps(text), encoding="utf-8")
    checkout.deploys(f"{REPOSITORY}:2")
    assert "HEAD was rendered, and Argo CD has synced" in rendered(checkout.synced())["message"]
    sources[1]["targetRevision"] = pinned = "0123456789" * 4
    (checkout.folder / "app.json").write_text(json.dumps(text), encoding="utf-8")
    checkout.deploys(f"{REPOSITORY}:2")
    both = checkout.synced()
    assert "0123456789" in rendered(both)["message"]
    both["status"]["sync"]["revisions"] = [checkout.commit, pinned]
    assert rendered(both)["reason"] == "Promote"


def test_what_is_rendered_with_a_doubt_is_not_known(
    checkout: Checkout, rendered: Callable[..., dict[str, Any]]
) -> None:
    """Everything that `argocd render --strict` makes an error of."""
    variable = {"name": "more", "value": "$NOSUCH"}
    source = {"repoURL": URL, "path": "web", "directory": {"jsonnet": {"extVars": [variable]}}}
    (checkout.folder / "app.json").write_text(app("web", "web", source=source), encoding="utf-8")
    (checkout.folder / "web" / "more.jsonnet").write_text("[]", encoding="utf-8")
    checkout.deploys(f"{REPOSITORY}:2")
    decision = rendered(checkout.synced())
    assert (decision["reason"], "has no variable NOSUCH" in decision["message"]) == ("ImagesUnknown", True)


def test_options_that_do_not_fit_images_that_git_renders(call: Call, given: Callable[..., str]) -> None:
    for flags in (
        ["--images-from", "rendered"],
        ["--path", "."],
        ["--images-from", "rendered", "--path", ".", "--unsynced"],
    ):
        code, _, err = call("observe", "plan", given(*drifted()), *flags)
        assert (code, "CMD-OBS-030" in err) == (2, True)
    code, _, err = call("observe", "once", "--images-from", "rendered")
    assert (code, "No such option" in err) == (2, True)


def test_planning_loads_neither_kapitan_nor_a_client(given: Callable[..., str]) -> None:
    program = (
        "import sys; from commodore.cli.main import run; run(sys.argv[1:]); "
        "loaded = {name.partition('.')[0] for name in sys.modules}; "
        "print(sorted(loaded & {'kapitan', 'lightkube', 'httpx', 'requests'}))"
    )
    arguments = ["observe", "plan", given(*drifted()), "--at", NOW]
    shown = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"


def test_compiling_does_not_load_the_observer() -> None:
    program = "import sys, commodore.catalog.pipeline; print([name for name in sys.modules if 'observe' in name])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
