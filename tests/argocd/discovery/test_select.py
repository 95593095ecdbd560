"""Choosing Applications by labels and destination."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.argocd.discovery import ApplicationFilter
from commodore.argocd.discovery.select import parse_select, parse_selector
from commodore.argocd.model import Cluster
from commodore.argocd.model.application import read_application
from commodore.base.errors import Location, UsageError

CLUSTERS = (Cluster("prod", "https://prod.example.com"),)


def fits(own: dict[str, str] | None = None, destination: dict[str, str] | None = None, **criteria: Any) -> bool:
    value = {
        "metadata": {"name": "a", "labels": own or {}},
        "spec": {
            "destination": destination or {"name": "prod", "namespace": "web-1"},
            "source": {"repoURL": "https://git.example.com/a", "path": "."},
        },
    }
    return ApplicationFilter(**criteria).fits(read_application(value, Location("a.yaml")), CLUSTERS)


@pytest.mark.parametrize(
    ("selector", "fitting"),
    [
        ("", True),
        ("team=a", True),
        ("team==a", True),
        ("team = b", False),
        ("team!=b,tier!=x", True),
        ("team!=a", False),
        ("team in (b, a),example.com/env notin (dev)", True),
        ("example.com/env notin (prod)", False),
        ("team", True),
        ("tier", False),
        ("!tier,! team", False),
        ("!tier", True),
        ("none notin (a)", True),
    ],
)
def test_labels(selector: str, fitting: bool) -> None:
    labels = {"team": "a", "example.com/env": "prod"}
    assert fits(labels, labels=parse_selector(selector)) is fitting


@pytest.mark.parametrize("text", ["=a", "a in b", "a in (b", "a=b c", "a,,b", "a>1"])
def test_what_is_no_selector(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_selector(text)
    assert caught.value.code == "CMD-ARGO-028"


def test_destinations() -> None:
    by_address = {"server": "https://prod.example.com/", "namespace": "web"}
    for cluster in ("prod", "p*", "https://prod.example.com", "https://prod.example.com/"):
        assert fits(cluster=cluster)
        assert fits(destination=by_address, cluster=cluster)
    assert not fits(cluster="test")
    assert not fits(destination={"server": "https://other.example.com", "namespace": "web"}, cluster="prod")
    assert fits(destination={"name": "new", "namespace": "web"}, cluster="new")
    assert (fits(namespace="web-*"), fits(namespace="web")) == (True, False)


@pytest.mark.requirement("D20")
def test_an_expression_chooses_by_project_destination_and_labels() -> None:
    chosen = parse_select("project=web-*, team=a,env in (dev,prod),cluster==https://a.example.com,namespace=shop")
    assert (chosen.project, chosen.cluster, chosen.namespace) == ("web-*", "https://a.example.com", "shop")
    assert chosen.labels == parse_selector("team=a,env in (dev,prod)")
    assert parse_select(" ") == ApplicationFilter()
    assert parse_select("label:project=x,projects!=y") == ApplicationFilter(
        labels=parse_selector("project=x,projects!=y")
    )


@pytest.mark.parametrize("text", ["project!=a", "cluster in (a,b)", "namespace=", "project=a,project=b", "a b", "x,,y"])
def test_expressions_that_choose_nothing(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_select(text)
    assert caught.value.code == "CMD-ARGO-028"
