"""`component test`, as authors and CI run it. A run takes about a second, so that one proves several rules."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.authoring.suite_world import TestedComponent, snapshot, write
from tests.world.cluster import CLASS, Running
from tests.world.repos import GitWorld, Script, git


@pytest.fixture
def demo(tmp_path: Path) -> TestedComponent:
    return TestedComponent(tmp_path / "component-demo")


def test_a_life_of_golden_trees(demo: TestedComponent) -> None:
    """Off, made, kept, broken, agreed anew."""
    demo.case("defaults")
    demo.case("other", {"answer": "43"})
    demo.commit()
    first = demo.check()
    assert (first.code, first.statuses) == (0, {"defaults": "ok", "other": "ok"})
    assert "no golden trees" in first.stderr
    assert demo.status() == ""

    made = demo.check("--case", "other", "--update")
    assert (made.code, made.statuses) == (0, {"other": "updated"})
    assert [
        (difference["kind"], difference["object"]["kind"]) for difference in made.cases["other"]["differences"]
    ] == [("added", "ConfigMap")]
    assert list(snapshot(demo.golden("other"))) == ["demo/demo/config.yaml"]

    missing = demo.check()
    assert (missing.code, missing.statuses) == (1, {"defaults": "failed", "other": "ok"})
    (error,) = missing.cases["defaults"]["errors"]
    assert (error["code"], "--case defaults --update" in error["hint"]) == ("CMD-TEST-006", True)

    demo.check("--update")
    demo.commit()
    demo.case("other", {"answer": "44"})
    write(demo.golden("other"), {"demo/stale.yaml": "a: b\n"})
    before = snapshot(demo.folder)
    broken = demo.check()
    assert (broken.code, broken.statuses) == (1, {"defaults": "ok", "other": "differs"})
    changed, gone = sorted(broken.cases["other"]["differences"], key=lambda difference: str(difference["kind"]))
    assert (changed["kind"], changed["object"]["name"], changed["file"]) == ("changed", "demo", "demo/demo/config.yaml")
    assert [line for line in changed["lines"] if line[0] in "+-"] == ["-  answer: '43'", "+  answer: '44'"]
    assert (gone["kind"], gone["file"]) == ("removed", "demo/stale.yaml")
    assert snapshot(demo.folder) == before

    assert demo.check("--update").statuses == {"defaults": "ok", "other": "updated"}
    assert demo.check().code == 0
    assert list(snapshot(demo.golden("other"))) == ["demo/demo/config.yaml"]


def test_what_people_and_ci_are_shown(demo: TestedComponent, tmp_path: Path) -> None:
    demo.case("defaults")
    demo.check("--update")
    write(demo.golden("defaults"), {"demo/demo/config.yaml": "was: different\n"})
    shown = demo.check("--junit", str(tmp_path / "results.xml"), text=True)
    assert shown.code == 1
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("differs  defaults (")
    assert lines[1:4] == ["  ~ text: demo/demo/config.yaml", "      @@ -1 +1,6 @@", "      -was: different"]
    assert lines[-2] == "finding: ConfigMap demo in demo/demo/config.yaml has no namespace [CMD-TEST-021] (defaults)"
    assert "1 test case of demo in" in shown.stderr
    assert shown.stderr.endswith(" s: 1 differs\n  hint: if this is intended, accept it with --update\n")
    (failure,) = ElementTree.parse(tmp_path / "results.xml").getroot().iter("failure")
    assert failure.get("type") == "differs"


def test_one_failing_case_stops_no_other(demo: TestedComponent) -> None:
    """And it keeps its golden tree, whatever the others do."""
    for case in ("a-class", "b-good", "c-jsonnet", "d-variable"):
        demo.case(case)
    demo.check("--update")
    demo.case("b-good", {"answer": "new"})
    write(demo.folder, {"tests/a-class.yml": "parameters: [", "tests/d-variable.yml": "parameters: {a: '${nowhere}'}"})
    demo.case("c-jsonnet", data_is_gone=True)
    main = demo.folder / "component" / "main.jsonnet"
    main.write_text(
        "local p = std.extVar;\n"
        + main.read_text()
        .replace(
            "data: parameters.data",
            "data: if std.objectHas(parameters, 'data_is_gone') then error 'gone' else parameters.data",
        )
        .replace("local p = std.extVar;\n", "")
    )
    golden = {case: snapshot(demo.golden(case)) for case in ("a-class", "c-jsonnet", "d-variable")}
    result = demo.check("--update")
    assert result.code == 1
    assert result.statuses == {"a-class": "failed", "b-good": "updated", "c-jsonnet": "failed", "d-variable": "failed"}
    assert {case: snapshot(demo.golden(case)) for case in golden} == golden
    (error,) = result.cases["c-jsonnet"]["errors"]
    assert "gone" in error["message"]
    # Errors are about the author's files, not about the copies that were compiled.
    assert "component-test-" not in result.stdout
    assert str(main) in json.dumps(error)


def test_a_wrong_case_changes_nothing(demo: TestedComponent) -> None:
    demo.case("defaults")
    demo.check("--update")
    before = snapshot(demo.folder)
    result = demo.check("--case", "default", "--update")
    assert (result.code, result.stdout, result.error["code"]) == (2, "", "CMD-TEST-001")
    assert result.error["hint"] == "did you mean 'defaults'?"
    assert snapshot(demo.folder) == before


def test_instances(demo: TestedComponent) -> None:
    """A golden tree says which instance its case is of; --alias says otherwise for all."""
    write(
        demo.folder,
        {"class/defaults.yml": {"parameters": {"demo": {"=_metadata": {"multi_instance": True}, "data": {}}}}},
    )
    demo.case("team")
    demo.case("plain")
    assert demo.check("--update", "--case", "team", "--alias", "first").code == 0
    assert demo.check("--update", "--case", "plain").code == 0
    assert list(snapshot(demo.golden("team"))) == ["first/first/config.yaml"]
    assert demo.check().statuses == {"plain": "ok", "team": "ok"}
    assert demo.check("--alias", "second").statuses == {"plain": "differs", "team": "differs"}


FETCHING = CLASS.replace(
    "kapitan:",
    """kapitan:
    dependencies:
      - type: git
        source: ${demo:remote}
        ref: ${demo:version}
        output_path: ${_base_directory}/fetched
      - type: git
        source: ${demo:remote}
        ref: ${demo:version}
        output_path: dependencies/demo/fetched""",
)
READING = """
local parameters = (import 'lib/kapitan.libjsonnet').inventory().parameters;
{ config: { here: importstr '../fetched/file', there: importstr 'demo/fetched/file', own: import 'demo.libsonnet' } }
"""


def test_cases_do_not_meet_and_leave_no_trace(demo: TestedComponent, tmp_path: Path) -> None:
    """Two cases fetch two versions to one place. What earlier compiles have left is neither used nor touched."""
    remote = GitWorld(tmp_path / "remotes").remote("charts", {"file": "one"})
    remote.tag("one")
    remote.commit({"file": "two"})
    write(
        demo.folder,
        {
            "class/demo.yml": FETCHING,
            "component/main.jsonnet": READING,
            "lib/demo.libsonnet": "'library'",
            "fetched/file": "left",
            "dependencies/demo/fetched/file": "left",
            ".gitignore": "/dependencies\n/fetched\n",
        },
    )
    for case, version in (("old", "one"), ("new", "master")):
        demo.case(case, remote=remote.url, version=version)
        expected = (
            f"here: {'one' if case == 'old' else 'two'}\nown: library\nthere: {'one' if case == 'old' else 'two'}\n"
        )
        write(demo.golden(case), {"demo/demo/config.yaml": expected})
    demo.commit()
    before, status = snapshot(demo.folder), demo.status()
    result = demo.check("-J", str(demo.folder / "lib"), "--processes", "2")
    assert (result.statuses, result.code) == ({"new": "ok", "old": "ok"}, 0), result.stdout
    assert (snapshot(demo.folder), demo.status()) == (before, status)


def test_uncommitted_work_counts_and_ignored_files_do_not(demo: TestedComponent) -> None:
    """Without git, all files are copied."""
    main = (
        "local kap = import 'lib/kapitan.libjsonnet';\n{ config: { names: kap.dir_files_list('component/extra') } }\n"
    )
    write(demo.folder, {"component/main.jsonnet": main, "component/extra/tracked": "", "component/extra/removed": ""})
    write(demo.folder, {".gitignore": "*.swp\n"})
    demo.case("defaults")
    demo.commit()
    write(demo.folder, {"component/extra/new": "", "component/extra/x.swp": "", "component/extra/removed": None})
    golden = demo.golden("defaults") / "demo" / "demo" / "config.yaml"
    demo.check("--update")
    assert golden.read_text() == "names:\n  - new\n  - tracked\n"
    (demo.folder / ".git").rename(demo.folder.parent / "gone")
    write(demo.folder, {".git": "gitdir: nowhere"})  # git refuses, as it does in the folders of another user
    demo.check("--update")
    assert golden.read_text() == "names:\n  - new\n  - tracked\n  - x.swp\n"


def test_libraries_are_vendored_once_per_requirement(demo: TestedComponent, tmp_path: Path) -> None:
    remote = GitWorld(tmp_path / "remotes").remote("libs", {"answer.libsonnet": "'one'"})
    remote.tag("one")
    remote.commit({"answer.libsonnet": "'two'"})
    requirement = {
        "version": 1,
        "legacyImports": True,
        "dependencies": [{"source": {"git": {"remote": remote.url, "subdir": ""}}, "version": "VERSION"}],
    }
    source = json.dumps(requirement).replace('"VERSION"', "std.extVar('version')")
    write(
        demo.folder,
        {
            "jsonnetfile.jsonnet": source,
            "component/main.jsonnet": "{ config: { answer: import 'libs/answer.libsonnet' } }\n",
        },
    )
    for case, version in (("a", "one"), ("b", "master"), ("c", "one"), ("d", 5)):
        demo.case(case, jsonnetfile_parameters={"version": version})
        write(demo.golden(case), {"demo/demo/config.yaml": f"answer: {'two' if case == 'b' else 'one'}\n"})
    result = demo.check()
    assert result.statuses == {"a": "ok", "b": "ok", "c": "ok", "d": "failed"}, result.stdout
    assert [error["code"] for error in result.cases["d"]["errors"]] == ["CMD-JB-020"]


def test_findings_matter_when_they_are_to(demo: TestedComponent) -> None:
    demo.case("defaults", {"secret": "?{vaultkv:t/c/key}"}, unused="?{vaultkv:t/c/unused}")
    demo.check("--update")
    result = demo.check()
    assert (result.code, result.statuses) == (0, {"defaults": "ok"})
    assert [finding["code"] for finding in result.cases["defaults"]["findings"]] == ["CMD-TEST-021", "CMD-TEST-023"]
    strict = demo.check("--strict")
    assert (strict.code, strict.statuses) == (1, {"defaults": "failed"})


def test_facts_reach_every_case(demo: TestedComponent) -> None:
    demo.case("a", {"cloud": "${facts:cloud}"})
    demo.case("b", {"cloud": "${facts:cloud}"})
    demo.check("--update", "--fact", "cloud=moon")
    for case in "ab":
        assert b"cloud: moon" in snapshot(demo.golden(case))["demo/demo/config.yaml"]


def test_a_component_below_its_repository(demo: TestedComponent, tmp_path: Path) -> None:
    """Links to neighbours in the repository stay in the copy."""
    write(tmp_path / "mono" / "shared", {"x.libsonnet": "'shared'"})
    (tmp_path / "mono" / "components").mkdir()
    own = demo.folder.rename(tmp_path / "mono" / "components" / "demo")
    (own / ".git").rename(tmp_path / "mono" / ".git")
    (own / "shared").symlink_to("../../shared")
    demo.folder = own
    write(own, {"component/main.jsonnet": "{ config: { x: import '../shared/x.libsonnet' } }\n"})
    demo.case("defaults")
    write(demo.golden("defaults"), {"demo/demo/config.yaml": "x: shared\n"})
    result = demo.check("--name", "demo")
    assert result.statuses == {"defaults": "ok"}, result.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_changes_nothing(number: signal.Signals, demo: TestedComponent, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    slow = CLASS + (
        "      - input_paths: ['${_base_directory}/slow']\n        input_type: external\n        output_path: .\n"
    )
    write(demo.folder, {"class/demo.yml": slow, "slow": Script("")})
    demo.case("defaults")
    write(demo.golden("defaults"), {"demo/demo/config.yaml": "was: different\n"})
    write(demo.folder, {"slow": f"#!/bin/sh\ntouch {ready}\nexec sleep 100\n"})
    (demo.folder / "slow").chmod(0o755)
    before = snapshot(demo.folder)
    (tmp_path / "tmp").mkdir()
    policy = tmp_path / "trust.toml"
    policy.write_text("isolated = false\n")  # so that the script can say that it runs
    running = Running(
        ["--log-format", "json", "component", "test", str(demo.folder), "--update", "--trust-policy", str(policy)],
        tmp_path,
        {"TMPDIR": str(tmp_path / "tmp")},
    )
    assert running.wait_for("compiling")
    for _ in range(600):
        if ready.exists() or running._process.poll() is not None:
            break
        signal.sigtimedwait([], 0.1)
    assert ready.exists()
    running.signal_group(number)
    result = running.finish()
    assert (result.code, result.stdout) == (130, "")
    assert snapshot(demo.folder) == before
    assert running.orphans() == []
    assert [path.name for path in (tmp_path / "tmp").iterdir() if path.name.startswith("component-test-")] == []
    assert git(demo.folder, "status", "--porcelain", "--ignored", "tests/golden/defaults/demo/demo")


def test_traces_name_the_authors_files(demo: TestedComponent) -> None:
    demo.case("defaults")
    main = demo.folder / "component" / "main.jsonnet"
    main.write_text(f"std.trace('deprecated', {{}}) + (\n{main.read_text(encoding='utf-8')}\n)", encoding="utf-8")
    shown = demo.check().stderr
    assert "deprecated" in shown
    assert f"{main}:1" in shown
