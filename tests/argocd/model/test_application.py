"""Applications as written."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.argocd.model.application import check_application, read_application
from commodore.base.errors import InputError, Location

SOURCE = {"repoURL": "https://git.example.com/a.git", "path": "."}
SERVER = {"server": "https://kubernetes.default.svc/"}


def read(spec: dict[str, Any], name: Any = "a") -> Any:
    return read_application(
        {"metadata": {"name": name}, "spec": {"destination": SERVER, **spec}}, Location("a.yaml", 7)
    )


def test_the_defaults() -> None:
    application = read({"source": SOURCE})
    assert (application.project, application.destination.server) == ("default", "https://kubernetes.default.svc")
    assert (application.several, application.sources[0].explicit_type()) == (False, None)


def test_scalars_become_texts_as_for_kubernetes() -> None:
    """`namespace: n` without quotes is false, and then the text `false`."""
    numbers = {"path": 1234567.5, "targetRevision": 1.5}
    application = read({"source": {**SOURCE, **numbers}, "destination": {**SERVER, "namespace": False}})
    (source,) = application.sources
    assert (application.destination.namespace, source.revision, source.path) == ("false", "1.5", "1.2345675e+06")


def test_what_is_hydrated() -> None:
    hydrator = {
        "drySource": {"repoURL": "https://git.example.com/dry.git", "path": "x", "targetRevision": "main"},
        "syncSource": {"targetBranch": "env/prod", "path": "y"},
    }
    application = read({"sourceHydrator": hydrator})
    (source,) = application.sources
    assert (source.repo_url, source.revision, source.path) == ("https://git.example.com/dry.git", "env/prod", "y")
    value = {"metadata": {"name": "a"}, "spec": {"destination": SERVER, "sourceHydrator": hydrator}}
    (source,) = read_application(value, Location("a"), dry=True).sources
    assert (source.revision, source.path) == ("main", "x")


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"directory": {"recurse": False, "jsonnet": {}}}, None),
        ({"directory": {"include": "*"}}, "Directory"),
        ({"directory": {"jsonnet": {"libs": ["a"]}}}, "Directory"),
        ({"helm": {"valueFiles": []}}, None),
        ({"helm": {"valuesObject": {}}}, "Helm"),
        ({"kustomize": {"forceCommonLabels": True}}, None),
        ({"kustomize": {"namePrefix": "a"}}, "Kustomize"),
        ({"plugin": {}}, "Plugin"),
    ],
)
def test_blocks_that_say_nothing(block: dict[str, Any], expected: str | None) -> None:
    assert read({"source": {**SOURCE, **block}}).sources[0].explicit_type() == expected


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ({"source": []}, "CMD-ARGO-103", "spec.source "),
        ({"sources": {}}, "CMD-ARGO-103", "spec.sources "),
        ({"sources": [None]}, "CMD-ARGO-103", "spec.sources[0] "),
        ({"source": {**SOURCE, "repoURL": 5}}, "CMD-ARGO-103", "spec.source.repoURL "),
        ({"source": {**SOURCE, "helm": {"parameters": {"a": "b"}}}}, "CMD-ARGO-103", "spec.source.helm.parameters "),
        ({"source": {**SOURCE, "helm": {"skipCrds": "yes"}}}, "CMD-ARGO-103", "spec.source.helm.skipCrds "),
        ({"source": {}}, "CMD-ARGO-301", "spec.source "),
        ({"source": {"repoURL": "x"}}, "CMD-ARGO-301", "spec.source "),
        ({"source": {"repoURL": "x", "ref": "y"}}, "CMD-ARGO-301", "spec.source "),
        ({"source": {"repoURL": "x", "chart": "y"}}, "CMD-ARGO-303", "spec.source "),
        ({"sources": [{**SOURCE, "ref": "a b"}]}, "CMD-ARGO-304", "'a b'"),
        ({"sources": [{**SOURCE, "ref": "a"}, {**SOURCE, "ref": "a"}]}, "CMD-ARGO-304", "'a'"),
        ({"source": SOURCE, "destination": {}}, "CMD-ARGO-606", "neither server nor name"),
        ({"source": SOURCE, "destination": {**SERVER, "name": "x"}}, "CMD-ARGO-606", "both server and name"),
        ({"source": SOURCE, "ignoreDifferences": [{"jsonPointers": "x"}]}, "CMD-ARGO-103", "jsonPointers"),
    ],
)
def test_what_is_wrong_is_named(spec: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        check_application(read(spec))
    assert caught.value.code == code
    assert field in caught.value.message
    assert caught.value.locations == (Location("a.yaml", 7),)


def test_several_types() -> None:
    source = read({"source": {**SOURCE, "helm": {"releaseName": "x"}, "kustomize": {"namePrefix": "y"}}}).sources[0]
    with pytest.raises(InputError, match="Kustomize, Helm") as caught:
        source.explicit_type()
    assert caught.value.code == "CMD-ARGO-302"


@pytest.mark.parametrize("name", [None, "../x", "a" * 300, "Upper", 5, "a_b", ""])
def test_names(name: Any) -> None:
    with pytest.raises(InputError) as caught:
        read({"source": SOURCE}, name)
    assert caught.value.code == "CMD-ARGO-103"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (True, "write it in quotes: without quotes y, yes, on and true are true"),
        (False, "write it in quotes: without quotes n, no, off and false are false"),
        (1, "write it in quotes"),
        ([], "see the reference of Argo CD's fields"),
    ],
)
def test_booleans_in_place_of_texts_are_explained(value: Any, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_application({"metadata": {"name": value}, "spec": {}}, Location("a.yaml"))
    assert caught.value.hint == hint
