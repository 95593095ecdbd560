"""`catalog list` prints the bytes of the published tool."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

from commodore.base.events import ignore
from commodore.core.lieutenant import LieutenantClient, ListFormat, render_clusters
from tests.world.context import make_context
from tests.world.lieutenant import LieutenantServer, cluster

CLUSTERS: list[dict[str, Any]] = [
    {"id": "c-b", "tenant": "t-1", "displayName": "B ü", "facts": {"n": "012", "text": "a\nb\n"}, "list": [{"x": []}]},
    {"id": "c-a", "tenant": "t-22222222222", "displayName": "A"},
]


def test_json_is_indented_as_delivered() -> None:
    assert render_clusters([{"id": "c", "displayName": "ü", "a": [1]}], "json") == (
        '[\n  {\n    "id": "c",\n    "displayName": "\\u00fc",\n    "a": [\n      1\n    ]\n  }\n]\n'
    )
    assert render_clusters([], "json") == "[]\n"


@pytest.mark.parametrize("format", ["yaml", "yml"])
def test_yaml_is_sorted_with_an_empty_line_at_its_end(format: ListFormat) -> None:
    assert render_clusters(CLUSTERS, format) == (
        '- displayName: "B \\xFC"\n'
        "  facts:\n    n: '012'\n    text: 'a\n\n      b\n\n      '\n"
        "  id: c-b\n  list:\n  - x: []\n  tenant: t-1\n"
        "- displayName: A\n  id: c-a\n  tenant: t-22222222222\n\n"
    )
    assert render_clusters([], format) == "[]\n\n"


def test_yaml_has_no_aliases() -> None:
    shared = {"url": "x"}
    assert "&" not in render_clusters([{"id": "a", "gitRepo": shared}, {"id": "b", "gitRepo": shared}], "yaml")


def test_ids_stand_alone() -> None:
    assert render_clusters(CLUSTERS, "id") == "c-b\nc-a\n"
    assert render_clusters([], "id") == ""
    assert render_clusters([{"displayName": "no id"}, {"id": "c"}], "id") == "c\n"


def test_the_table() -> None:
    assert render_clusters(CLUSTERS, "table") == (
        "ID   DISPLAY NAME TENANT         \nc-b  B ü          t-1            \nc-a  A            t-22222222222  \n"
    )
    assert render_clusters([], "table") == "ID  DISPLAY NAME TENANT  \n"


def test_the_table_bears_what_is_missing() -> None:
    """A missing displayName used to end in a traceback."""
    assert render_clusters([{"id": "c-1"}, {"displayName": None, "tenant": 7}], "table") == (
        "ID   DISPLAY NAME TENANT  \nc-1                       \n                  7       \n"
    )


def test_width_is_counted_in_cells_of_the_terminal() -> None:
    """Wide characters used to move the columns."""
    rows = [{"id": "a", "displayName": "中文中文中文中文", "tenant": "t"}, {"id": "b", "displayName": "e\u0301"}]
    assert render_clusters(rows, "table").splitlines() == [
        "ID  DISPLAY NAME      TENANT  ",
        "a   中文中文中文中文  t       ",
        "b   e\u0301                         ",
    ]


def test_control_characters_do_not_reach_the_terminal() -> None:
    row = {"id": "c\n-evil", "displayName": "\x1b[31mred\x07\u202e", "tenant": "t"}
    table = render_clusters([row], "table")
    assert table.splitlines()[1].startswith("c -evil  [31mred ")
    assert render_clusters([row], "id") == "c -evil\n"
    assert "\x1b" not in render_clusters([row], "json") + render_clusters([row], "yaml")


@pytest.mark.peer
@pytest.mark.parametrize("format", get_args(ListFormat))
def test_bytes_equal_those_of_the_published_tool(peer: Path, format: ListFormat) -> None:
    rows = [*CLUSTERS, cluster(), cluster("c-two", displayName="x" * 13, odd="word " * 40, n=[1, 2.5, None, True])]
    with LieutenantServer(rows) as api:
        for tenant, sort_by in ((None, None), ("t-none", None), ("t-one", "displayName")):
            options = [*(["-t", tenant] if tenant else []), *(["--sort-by", sort_by] if sort_by else [])]
            printed = subprocess.run(
                [peer, "catalog", "list", "-o", format, *options],
                env={**os.environ, "COMMODORE_API_URL": api.url, "COMMODORE_API_TOKEN": "x"},
                check=True,
                capture_output=True,
            ).stdout
            asked = api.requests[-1].target
            with LieutenantClient(api.url, lambda: "x", make_context(announce=ignore)) as client:
                assert render_clusters(client.clusters(tenant, sort_by), format).encode() == printed
            assert api.requests[-1].target == asked
