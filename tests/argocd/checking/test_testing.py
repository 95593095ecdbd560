"""Checks of `argocd test` in addition to rendering and projects: health scripts, schemas, random values."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from commodore import argocd
from commodore.argocd import Installation, Options, Tree
from commodore.argocd.checking.health import HealthScripts
from commodore.argocd.configuration import ArgoSettings, ResourceOverride
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.comparing.conftest import app, config
from tests.argocd.conftest import chart
from tests.world.folders import write_files

pytestmark = pytest.mark.tools

URL = "https://git.example.com/team/shop.git"
OFFLINE = Options(context=Context(ignore, DEFAULT_LIMITS, offline=True)).having(self_url=(URL,))


def report_of(folder: Path, scripts: dict[str, str] | None = None, **options: Any) -> argocd.Report:
    """Test an Application with a ConfigMap and a Database.

    Args:
        scripts: keys of `resource.customizations` with their values.
    """
    database = {
        "apiVersion": "acme.io/v1",
        "kind": "Database",
        "metadata": {"name": "d"},
        "spec": {"sizes": [1, 2], "on": True},
    }
    files = {"web.json": app("web", "web"), "web/c.json": config(k="1"), "web/d.json": json.dumps(database)}
    tree = Tree.folder(write_files(folder / "shop", files))
    config_map = folder / "cm.json"
    config_map.write_text(json.dumps({f"resource.customizations.{key}": text for key, text in (scripts or {}).items()}))
    return argocd.test(tree, OFFLINE.having(installation=Installation(argocd_cm=(config_map,)), **options))


def result(report: argocd.Report) -> tuple[str, str, str]:
    """Return the status of the Application, and the code and message of its first problem."""
    (outcome,) = report.applications
    problem = next(iter(outcome.problems), None)
    return outcome.status, problem.code if problem else "", problem.message if problem else ""


def test_an_object_of_several_applications(tmp_path: Path) -> None:
    """Applications that deploy the same object to one cluster take it from each other."""
    servers = {
        "a": "https://kubernetes.default.svc",
        "b": "https://kubernetes.default.svc",
        "c": "https://c.example.com",
    }
    files = {
        f"{name}.json": app(name, "web", destination={"server": server, "namespace": "shop"})
        for name, server in servers.items()
    }
    files["web/x.json"] = config(k="1")
    report = argocd.test(Tree.folder(write_files(tmp_path / "shop", files)), OFFLINE)
    assert [application.status for application in report.applications] == ["PASS"] * 3
    (told,) = (diagnostic for diagnostic in report.diagnostics if diagnostic.code == "CMD-ARGO-507")
    assert told.severity == "warning"
    assert told.message.startswith("argocd/a, argocd/b each give ConfigMap ")


SCRIPTS = {
    "return {status = 'Healthy', message = obj.metadata.name}": "",
    "return nil": "",
    "if #obj.spec.sizes == 2 and obj.spec.sizes[2] == 7 and obj.spec.on and obj.status == nil then return nil end": "",
    "local hs = {} hs.status = 'Progressing' return hs": "",
    "for k, v in pairs(obj.spec) do table.concat({k}) end return {status = 'Unknown', message = os.date('%Y')}": "",
    "return {status = 'Fine'}": "returns the status 'Fine'",
    "return 5": "it returns 5, expected a table",
    "return obj.status.phase": "attempt to index field 'status'",
    "error('no')": "fails: line",
    "return string.format('x')": "attempt to index global 'string'",
    "return ('x'):upper()": "attempt to index",
    "return io.open('/etc/passwd')": "attempt to index global 'io'",
    "os.execute('true')": "attempt to call field 'execute'",
    "loadstring('return 1')()": "attempt to call global 'loadstring'",
    "return python.eval('1')": "attempt to index global 'python'",
    "while true do end": "takes longer than 1 s",
    "local s = {} while true do s[#s + 1] = #s end": "",
}


def checked(overrides: dict[str, ResourceOverride], *objects: dict[str, Any]) -> list[Diagnostic]:
    diagnostics = Diagnostics()
    with HealthScripts(ArgoSettings(overrides=overrides), diagnostics) as scripts:
        scripts.check(objects, diagnostics, "argocd/web")
    return list(diagnostics.collected())


def thing(kind: str, group: str = "acme.io") -> dict[str, Any]:
    spec = {"sizes": [1, 7], "on": True}
    version = f"{group}/v1" if group else "v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "d"}, "spec": spec}


@pytest.mark.requirement("D22")
def test_health_scripts() -> None:
    overrides = {f"acme.io/Kind{number}": ResourceOverride(health=script) for number, script in enumerate(SCRIPTS)}
    problems = checked(overrides, *(thing(f"Kind{number}") for number in range(len(SCRIPTS))))
    said = {problem.message.split()[4].partition(".")[0]: problem for problem in problems}
    for number, (script, why) in enumerate(SCRIPTS.items()):
        problem = said.pop(f"Kind{number}", None)
        if "while true do s" in script:  # runs out of time or of memory, whichever is first
            assert problem is not None
            assert problem.code == "CMD-ARGO-902"
        elif why:
            assert problem is not None, script
            assert (problem.code, problem.severity, why in problem.message) == ("CMD-ARGO-902", "error", True), (
                problem.message
            )
        else:
            assert problem is None, problem
    assert said == {}


@pytest.mark.requirement("D22")
def test_which_script_runs() -> None:
    """The script of the kind runs, else one with a matching pattern; with more libraries on request."""
    bad, good = ResourceOverride(health="return 1"), ResourceOverride(health="return {status = 'Healthy'}")
    libraries = "return {status = string.upper('h') .. string.sub('ealthy', 1)}"
    overrides = {
        "a.io/*": bad,
        "a.io/Good": good,
        "b.io/Other": bad,
        "ConfigMap": bad,
        "c.io/Plain": ResourceOverride(health=libraries),
        "c.io/Open": ResourceOverride(health=libraries, use_open_libs=True),
    }
    kinds = (("Good", "a.io"), ("Any", "a.io"), ("Any", "b.io"), ("ConfigMap", ""), ("Plain", "c.io"), ("Open", "c.io"))
    problems = checked(overrides, *(thing(*kind) for kind in kinds))
    assert [problem.message.split()[4] for problem in problems] == ["Any.a.io", "ConfigMap", "Plain.c.io"]


@pytest.mark.requirement("D22")
def test_applications_with_scripts(tmp_path: Path) -> None:
    scripts = {"health.acme.io_Database": "return 1"}
    assert result(report_of(tmp_path, scripts))[:2] == ("FAIL", "CMD-ARGO-902")
    assert result(report_of(tmp_path, scripts, lua_health=False))[0] == "PASS"


@pytest.mark.requirement("D22")
def test_scripts_that_do_not_compile(tmp_path: Path) -> None:
    """With objects of the kind and without."""
    report = report_of(tmp_path, {"health.acme.io_Other": "if then"})
    assert result(report)[0] == "PASS"
    assert [diagnostic.code for diagnostic in report.diagnostics if diagnostic.severity == "error"] == ["CMD-ARGO-901"]
    assert report.partial


def test_without_lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "lupa" else find(name))
    assert result(report_of(tmp_path, {"health.ConfigMap": "return 1"}))[:2] == ("SKIPPED", "CMD-ARGO-904")
    assert result(report_of(tmp_path))[0] == "PASS"


def test_schemas(tmp_path: Path) -> None:
    bad = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": "x"}]}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "databases.acme.io"},
        "spec": {
            "group": "acme.io",
            "names": {"kind": "Database", "plural": "databases"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": {"type": "object", "properties": {"on": {"type": "string"}}}},
                        }
                    },
                }
            ],
        },
    }
    assert result(report_of(tmp_path, schema=True))[0] == "PASS"
    write_files(tmp_path / "shop", {"web/s.json": json.dumps(bad)})
    assert result(report_of(tmp_path))[0] == "PASS"
    status, code, message = result(report_of(tmp_path, schema=True, kube_version="1.33"))
    assert (status, code) == ("FAIL", "CMD-ARGO-903")
    assert "spec.ports[0].port" in message
    (tmp_path / "shop" / "web" / "s.json").unlink()
    write_files(tmp_path / "shop", {"crd.json": app("crd", "crd"), "crd/d.json": json.dumps(definition)})
    report = report_of(tmp_path, schema=True)
    assert [(application.application, application.status) for application in report.applications] == [
        ("argocd/crd", "PASS"),
        ("argocd/web", "FAIL"),
    ]
    assert "spec.on" in report.applications[1].problems[0].message


def test_what_differs_each_time(tmp_path: Path) -> None:
    template = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: r}\ndata: {a: {{ randAlphaNum 9 | quote }}, b: x}\n"
    files = {f"r/{name}": text for name, text in chart(**{"templates/all.yaml": template}).items()}
    write_files(tmp_path / "shop", {"r.json": app("r", "r"), **files})
    assert [application.status for application in report_of(tmp_path).applications] == ["PASS", "PASS"]
    random, plain = report_of(tmp_path, twice=True).applications
    assert (plain.status, random.status) == ("PASS", "FAIL")
    assert random.problems[0].code == "CMD-ARGO-415"
    assert random.problems[0].message == "ConfigMap r/r differs when it is rendered again: data.a"
