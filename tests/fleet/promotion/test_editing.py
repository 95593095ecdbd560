"""Values change, comments stay."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import yaml

from commodore.errors import InputError
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


def edited(text: str, changes: dict[tuple[object, ...], Any]) -> str:
    wanted = yaml.safe_load(text)
    for path, value in changes.items():
        inner = wanted
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
        inner[path[-1]] = value
    found = set_values(text.encode(), changes, wanted, "f").decode()
    assert yaml.safe_load(found) == wanted
    return found


WEB = ("applications", "web")


def test_a_file_without_a_last_newline_gets_none() -> None:
    text = TEXT.rstrip("\n")
    assert edited(text, {(*WEB, "source", "plain"): 2}) == text.replace("plain: 1", "plain: 2")


@pytest.mark.requirement("FP12")
def test_only_the_changed_line_changes() -> None:
    found = edited(TEXT, {(*WEB, "source", "targetRevision"): "v2"})
    assert found == TEXT.replace('"v1"', '"v2"')
    assert edited(TEXT, {(*WEB, "source", "plain"): 2}) == TEXT.replace("plain: 1", "plain: 2")


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
    found = edited(text, {(*WEB, "options"): ["a", "b", "c"]})
    assert "# behind the list" in found
    kept = [line for line in text.splitlines() if "- b" not in line and "[a, b]" not in line]
    assert [line for line in kept if line not in found.splitlines()] == []


def test_new_keys_and_maps() -> None:
    found = edited(TEXT, {(*WEB, "source", "helm", "values", "n"): 1, ("applications", "other"): {"a": [1]}})
    for comment in ("# what it is", "# quoted", "# last", "# behind the list"):
        assert comment in found


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
