"""Reports: complete within their size, and harmless whatever objects hold."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from commodore.base.documents import document, plain
from commodore.core.review import (
    Part,
    PlacedObject,
    Review,
    compare,
    html_report,
    json_report,
    markdown_report,
    review,
    review_of,
    text_report,
)
from tests.world.documents import check_documents

HOSTILE = (
    "https://a.example www.a.example "
    "\x1b[31m\x1b]8;;http://b\x07 \u202e `</details>` ``` <script>alert(1)</script> @team [x](y) |a|"
)


def config(name: str, **data: Any) -> PlacedObject:
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}, "data": data}
    return PlacedObject(content, f"manifests/{name}.yaml")


def namespace(name: str) -> PlacedObject:
    return PlacedObject({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def text(results: Review) -> str:
    return "\n".join(line.text for line in text_report(results))


def test_text_tells_what_changes() -> None:
    result = review(
        [config("a", x="1", y="one\ntwo\n", z='{"k": 1}'), namespace("gone")],
        [config("a", x="2", y="one\nthree\n", z='{"k": 2}'), config("b", x="1")],
    )
    assert (
        text(result)
        == """1 added, 1 changed, 1 removed; dangers: 1 critical
! critical: deletes-namespace: the namespace goes, with everything in it: Namespace gone

- Namespace gone
  ! deletes-namespace
    - apiVersion: v1
    - kind: Namespace
    - metadata:
    -   name: gone

~ ConfigMap n/a
    data.x
    - 1
    + 2
    data.y: lines
    @@ -1,2 +1,2 @@
     one
    -two
    +three
    data.z: in the document
      k
      - 1
      + 2

+ ConfigMap n/b
    + apiVersion: v1
    + data:
    +   x: '1'
    + kind: ConfigMap
    + metadata:
    +   name: b
    +   namespace: n"""
    )


def test_names_that_people_read() -> None:
    hook = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "sync-", "namespace": "n"}}
    schema = {"properties": {"a": {"items": {"properties": {"items": {"type": "x"}}}}}}
    content = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}}

    def definition(kind: str) -> PlacedObject:
        text = json.dumps([{"name": "v1", "schema": {"openAPIV3Schema": schema}}]).replace('"x"', f'"{kind}"')
        return PlacedObject({**content, "spec": {"versions": json.loads(text)}}, f"a/{kind}/c.yaml")

    result = review([PlacedObject({"a": 1}, "x.yaml"), definition("y")], [PlacedObject(hook), definition("z")])
    lines = text(result).splitlines()
    assert "+ Job n/sync-*" in lines
    assert "- document in x.yaml" in lines
    assert lines[lines.index("~ CustomResourceDefinition x") + 1] == "    in another file: a/{y => z}/c.yaml"
    moved = review([PlacedObject(hook, "a/b.yaml")], [PlacedObject(hook, "c/b.yaml")])
    assert text(moved).splitlines()[-1] == "> Job n/sync-* ({a => c}/b.yaml)"
    assert "    spec.versions[name=v1] schema of a[].items: type" in lines


def test_texts_without_a_newline_at_the_end() -> None:
    shown = text(review([config("a", x="one\ntwo")], [config("a", x="one\nthree")]))
    assert "No newline" not in shown
    assert "No newline" in text(review([config("a", x="one\ntwo")], [config("a", x="one\ntwo\n")]))


def test_no_change_is_one_line() -> None:
    assert text(review([config("a")], [config("a")])) == "no object differs"


def test_dangers_that_say_the_same_are_one_line_for_all_objects() -> None:
    lines = list(text_report(review([namespace(f"n{number}") for number in range(7)], [])))
    names = ", ".join(f"Namespace n{number}" for number in range(5))
    assert [line.text for line in lines if line.style == "danger"] == [
        f"! critical: deletes-namespace: the namespace goes, with everything in it: {names} and 2 more",
        "  ! deletes-namespace",
    ]


def test_folded_text_counts_the_lines_that_it_leaves_out() -> None:
    result = review([], [config("a", **{f"k{number}": "v" for number in range(50)})])
    whole, folded = ([line.text for line in text_report(result, folded=fold)] for fold in (False, True))
    assert folded[-1] == f"    … {len(whole) - len(folded) + 1} more lines"
    assert whole[: len(folded) - 1] == folded[:-1]
    short = review([config("a", x="1")], [config("a", x="2")])
    assert list(text_report(short, folded=True)) == list(text_report(short))


def test_long_values_are_cut_around_what_differs() -> None:
    def long(middle: str) -> PlacedObject:
        return config("a", x="p" * 9000 + middle + "s" * 9000)

    result = text(review([long("old")], [long("new")]))
    assert "old" in result
    assert "new" in result
    assert len(result) < 1000


@pytest.mark.parametrize("place", ["name", "value", "key", "file"])
def test_hostile_texts_are_harmless(place: str) -> None:
    parts = {"name": "a", "value": "v", "key": "k", place: HOSTILE}

    def placed(value: str) -> PlacedObject:
        return PlacedObject(config(parts["name"], **{parts["key"]: value}).content, parts.get("file", "f"))

    for result in (
        review([placed("old")], [placed(parts["value"])]),
        review([], [placed(parts["value"])]),
        review([placed(parts["value"])], []),
    ):
        shown = text(result)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)
        markdown = markdown_report(result)
        outside = re.sub(r"^(`{3,})diff\n.*?^\1$", "", markdown, flags=re.DOTALL | re.MULTILINE)
        assert "<script" not in outside
        assert not re.search(r"://|www\.", re.sub(r"<code>.*?</code>", "", outside))
        assert "@team" not in re.sub(r"<code>.*?</code>", "", outside)
        assert outside.count("<details>") == outside.count("</details>")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", markdown)
        json.dumps(plain(json_report(result)))
        page = html_report(result, title=HOSTILE)
        assert page.count("<script") == 2
        assert len(re.findall("</script", page, re.IGNORECASE)) == 2
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", page)


def test_values_of_any_depth_and_size_are_harmless() -> None:
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    result = review([config("a", x="s" * (1 << 20))], [config("a", x=deep), config("b", x=deep)])
    assert "deeply)" in text(result)
    assert len(markdown_report(result).encode()) <= 65_536
    assert "deeply)" in json.dumps(plain(json_report(result)))
    assert "deeply)" in html_report(result)


@pytest.mark.parametrize("budget", [4_096, 10_000, 65_536])
@pytest.mark.parametrize("count", [0, 1, 40, 400])
def test_markdown_keeps_its_size_and_tells_what_it_leaves_out(budget: int, count: int) -> None:
    old = [namespace(f"ns-{number}-{'x' * 50}") for number in range(count)]
    new = [
        config(f"c-{number}", **{f"k{number}-{inner}": HOSTILE * 3 for inner in range(number % 7)})
        for number in range(count)
    ]
    result = review(old, new)
    markdown = markdown_report(result, budget=budget, whole="report.html")
    assert len(markdown.encode()) <= budget
    opened = len(re.findall("^<details>", markdown, re.MULTILINE))
    assert opened == len(re.findall("^</details>", markdown, re.MULTILINE))
    fences = re.findall(r"^`{3,}", markdown, re.MULTILINE)
    assert len(fences) % 2 == 0
    if opened < len(result.groups):
        assert "Not everything fits here" in markdown
        assert "report.html" in markdown
    assert ("no object differs" in markdown) == (count == 0)


def test_the_most_dangerous_come_first() -> None:
    result = review([namespace("gone"), config("a", x="1")], [config("a", x="2"), config("b")])
    markdown = markdown_report(result)
    assert 0 < markdown.index("deletes-namespace") < markdown.index("n/a")


def test_json_names_every_change_and_its_group() -> None:
    result = plain(
        json_report(review([config("a", x="1"), config("b", x="1")], [config("a", x="2"), config("b", x="2")]))
    )
    assert [group["changes"] for group in result["groups"]] == [[0, 1]]
    assert result["changes"][0]["fields"] == [
        {"path": "data.x", "kind": "replaced", "hidden": False, "old": "1", "new": "2"}
    ]
    assert result["counts"]["changed"] == 2


def test_json_is_as_its_schema_says() -> None:
    odd = {"date": datetime.date(2020, 1, 1), "nan": float("nan"), "list": [{1: None}]}
    old = [namespace("gone"), config("a", x="k: 1\n", y="1"), config("b", x="1"), config("moved", q="1", r="2", s="3")]
    new = [
        config("a", x="k: 2\n", z=HOSTILE),
        PlacedObject(config("b", **odd).content, "other.yaml"),
        config("renamed", q="1", r="2", s="3"),
    ]
    result = document("catalog-diff", json_report(review(old, new)))
    text = json.dumps(result, allow_nan=False)
    assert json.loads(text) == result
    check_documents(text)
    with pytest.raises(jsonschema.ValidationError):
        check_documents(json.dumps({**result, "changes": [{"kind": "else"}]}))


def groups_of(page: str) -> Any:
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    return json.loads(data[1])


def test_html_holds_each_group_once_as_data() -> None:
    page = html_report(review([config("a", x="1"), config("b", x="1")], [config("a", x="2"), config("b", x="2")]))
    (group,) = groups_of(page)
    assert (group["title"], group["also"]) == ("~ ConfigMap n/a and 1 more", ["ConfigMap n/b"])
    assert ["add", "+ 2"] in group["lines"]
    assert not re.search(r"(src|href)=|url\(|@import|https?://", page)


def test_html_shows_what_is_unknown_first_and_one_application_alone() -> None:
    """Every Application of the table can be chosen by the name that the groups have."""
    old, new = ([PlacedObject(config("a", x=value).content, source="a/web")] for value in "12")
    result = review_of(compare(old, new), (), sources=True)
    parts = (Part("a/web", "changed", changed=1), Part(f"b/{HOSTILE}", "unknown", note=HOSTILE))
    page = html_report(replace(result, parts=parts))
    assert "<details open><summary>2 Applications</summary>" in page
    assert page.index('<tr class="unknown"><td>?') < page.index('value="a/web"')
    assert groups_of(page)[0]["apps"] == ["a/web"]
    assert HOSTILE not in page
    many = tuple(Part(f"a/{number}", "changed", changed=1) for number in range(20))
    assert "<details><summary>20 Applications</summary>" in html_report(replace(result, parts=many))
