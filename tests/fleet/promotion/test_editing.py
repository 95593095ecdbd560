"""Values change, comments stay."""

from __future__ import annotations

import copy
import sys
import warnings
from typing import Any

import pytest
import yaml

from commodore.base.errors import InputError
from commodore.fleet.promotion.editing import set_values

TEXT = """\
# what it is
applications:
  web:
    source:
      targetRevision: "v1"  # quoted
      plain: 1
    options:
      - a
      - b  # last

    # behind the list
    other: yes
    empty: null
"""


class Apart(dict[int, Any]):
    """The memory of `deepcopy`, which forgets at once: aliases share nothing."""

    def __setitem__(self, key: int, value: Any) -> None:
        return None


def edited(text: str, changes: dict[tuple[object, ...], Any]) -> str:
    expected = copy.deepcopy(yaml.safe_load(text), Apart())
    for path, value in changes.items():
        inner = expected
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
        inner[path[-1]] = value
    with warnings.catch_warnings(action="error"):
        result = set_values(text.encode(), changes, expected, "f").decode()
    assert yaml.safe_load(result) == expected
    return result


WEB = ("applications", "web")


def test_a_file_without_a_last_newline_gets_none() -> None:
    text = TEXT.rstrip("\n")
    assert edited(text, {(*WEB, "source", "plain"): 2}) == text.replace("plain: 1", "plain: 2")


@pytest.mark.requirement("FP12")
def test_only_the_changed_line_changes() -> None:
    result = edited(TEXT, {(*WEB, "source", "targetRevision"): "v2"})
    assert result == TEXT.replace('"v1"', '"v2"')
    assert edited(TEXT, {(*WEB, "source", "plain"): 2}) == TEXT.replace("plain: 1", "plain: 2")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + TEXT,
        TEXT.replace("\n", "\r\n"),
        f"# first\n---\n{TEXT}",
        f"%YAML 1.1\n---\n{TEXT}",
        TEXT.replace("  ", "    "),
        TEXT + '    none:\n    tilde: ~\n    flow: {a: [b,c]}\n    long: one\n      line\n    escaped: "\\u00fc"\n',
        TEXT + "    08: a\n    1e3: b\n    y: c\n    yes: d\n    'on': e\n    017: f\n    time: 1:30\n    sum: +1\n",
        TEXT + "anchors:\n  one: &one {a: [1]}\n  two: {<<: *one, b: 1}\n  three: *one\n",
    ],
)
def test_only_the_changed_line_changes_in_any_form(text: str) -> None:
    result = edited(text, {(*WEB, "source", "targetRevision"): "v2"})
    assert result == text.replace('"v1"', '"v2"')


def test_keys_are_found_as_values_have_them() -> None:
    text = TEXT + "    08: a  # one\n    1e3: b  # two\n    0o17: c  # three\n"
    result = edited(text, {(*WEB, "08"): "z", (*WEB, "1e3"): "z", (*WEB, "0o17"): "z", (*WEB, "yes"): "new"})
    assert (
        result
        == text.replace(": a  #", ": z  #").replace(": b  #", ": z  #").replace(": c  #", ": z  #") + "    'yes': new\n"
    )


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ((*WEB, "source", "targetRevision"), ["# about", "chart: x", "<<:", "list: *list"]),
        ((*WEB, "list"), ["# about", "source: &source", "<<: *source"]),
        (("applications", "other", "list"), ["# about", "source: &source", "<<: *source", "list: [1]"]),
    ],
)
def test_what_an_anchor_is_used_for_elsewhere_stays(path: tuple[object, ...], kept: list[str]) -> None:
    text = """\
# about
applications:
  web:
    list: &list [1]
    source: &source
      targetRevision: v1
      chart: x
  other:
    list: *list
    source:
      <<: *source
      repoURL: y
"""
    result = edited(text, {path: [2] if path[-1] == "list" else "v2"})
    assert [word for word in kept if word not in result] == [], result


def test_new_keys_stand_before_the_comments_of_what_follows() -> None:
    text = """\
applications:
  web:
    source:
      list:
      - a  # one

    # about more
    more: {b: 1}  # two

  # about the other
  other: 1  # three
# the end
"""
    changes = {
        ("applications", "web", "source", "path"): "q",
        ("applications", "web", "new"): [1],
        ("applications", "third", "a", "b"): 2,
    }
    assert edited(text, changes) == text.replace("# one\n", "# one\n      path: q\n").replace(
        "# two\n", "# two\n    new:\n    - 1\n"
    ).replace("# three\n", "# three\n  third:\n    a:\n      b: 2\n")


@pytest.mark.parametrize("changed", ["web", "other"])
def test_what_a_map_has_from_a_merged_one_becomes_its_own(changed: str) -> None:
    text = """\
# about
applications:
  web: &web
    source:  # of both
      chart: x
  other:
    <<: *web  # like web
    project: p  # another one
"""
    result = edited(text, {("applications", changed, "source", "path"): "q"})
    assert [word for word in ("# about", "# of both", "# like web", "# another one") if word not in result] == [], (
        result
    )


def test_comments_beside_and_behind_items_stay_there() -> None:
    text = "a:\n- one  # first\n- two  # second\n# behind\nb: 1\n"
    assert edited(text, {("a",): ["one", "two", "three"]}) == text.replace("# behind", "- three\n# behind")
    text = "a:\n- name: x  # first\n  value: 1  # a number\nb: 1\n"
    assert edited(text, {("a",): [{"name": "x", "value": 2}]}) == text.replace("value: 1", "value: 2")


@pytest.mark.parametrize(
    "form",
    [
        "    options:\n      - a\n      - b  # last\n",
        "    options:\n    - a\n    - b  # last\n",
        "    options: [a, b]\n",
    ],
)
def test_lists_keep_their_form_and_what_stands_behind(form: str) -> None:
    text = TEXT.replace("    options:\n      - a\n      - b  # last\n", form)
    result = edited(text, {(*WEB, "options"): ["a", "b", "c"]})
    assert "# behind the list" in result
    kept = [line for line in text.splitlines() if "- b" not in line and "[a, b]" not in line]
    assert [line for line in kept if line not in result.splitlines()] == []


def test_new_keys_and_maps() -> None:
    result = edited(TEXT, {(*WEB, "source", "helm", "values", "n"): 1, ("applications", "other"): {"a": [1]}})
    for comment in ("# what it is", "# quoted", "# last", "# behind the list"):
        assert comment in result


@pytest.mark.parametrize(
    "value", ["yes", "on", "012", "1e3", "1_0", "null", "~", "2024-01-01", "=", "a: b", "", "#x", 1.5e21, True, None]
)
def test_any_scalar_means_the_same_to_all_readers(value: Any) -> None:
    edited(TEXT, {(*WEB, "source", "plain"): value})


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)
    with pytest.raises(InputError) as caught:
        edited(TEXT, {(*WEB, "source", "plain"): 2})
    assert caught.value.code == "CMD-FLT-025"
    assert "commodore-catalog[fleet]" in caught.value.hint
