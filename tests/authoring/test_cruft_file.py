"""`.cruft.json`, as cruft writes it and as commodore keeps it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commodore.authoring.cruft_file import CruftFile, read_cruft_file, read_skips
from commodore.base.errors import InputError
from commodore.base.limits import Limits
from tests.world.context import make_context

COMMIT = "5ae57721558399419f867334e31d23a7f7a892ba"
CONTENT: dict[str, Any] = {
    "template": "https://example.com/t.git",
    "commit": COMMIT,
    "checkout": "main",
    "context": {"cookiecutter": {"slug": "foo", "ünï": "é", "_commit": COMMIT}, "own": {"a": 1}},
    "directory": None,
}


def write(folder: Path, content: object) -> Path:
    (folder / ".cruft.json").write_text(
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2) + "\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.parametrize("more", [{}, {"skip": ["docs", "*.md"]}, {"directory": "sub/dir"}, {"own": [1]}])
def test_reading_and_writing_changes_nothing(tmp_path: Path, more: dict[str, Any]) -> None:
    write(tmp_path, CONTENT | more)
    assert read_cruft_file(tmp_path, make_context()).to_bytes() == (tmp_path / ".cruft.json").read_bytes()


def test_an_update_changes_what_it_says_and_keeps_the_rest(tmp_path: Path) -> None:
    cruft = read_cruft_file(write(tmp_path, CONTENT | {"skip": ["a"], "own": 1}), make_context())
    content = json.loads(cruft.at("f" * 40, None, {"slug": "bar"}).to_bytes())
    assert content == {
        **CONTENT,
        "commit": "f" * 40,
        "checkout": None,
        "context": {"own": {"a": 1}, "cookiecutter": {"slug": "bar"}},
        "skip": ["a"],
        "own": 1,
    }


def test_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_cruft_file(tmp_path, make_context())
    assert caught.value.code == "CMD-TPL-010"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "[" * 100_000,
        CONTENT | {"template": ""},
        CONTENT | {"commit": "main"},
        CONTENT | {"commit": COMMIT + "\n"},
        CONTENT | {"commit": "--output=x"},
        CONTENT | {"checkout": 3},
        CONTENT | {"context": {}},
        CONTENT | {"context": {"cookiecutter": []}},
        CONTENT | {"directory": "../x"},
        CONTENT | {"directory": "/x"},
        CONTENT | {"skip": ["../x"]},
        CONTENT | {"skip": 3},
    ],
)
def test_hostile_or_damaged_files(tmp_path: Path, content: object) -> None:
    with pytest.raises(InputError) as caught:
        read_cruft_file(write(tmp_path, content), make_context())
    assert caught.value.code == "CMD-TPL-011"
    assert [location.place for location in caught.value.locations] == [str(tmp_path / ".cruft.json")]


def test_size_is_limited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more than 10 bytes"):
        read_cruft_file(write(tmp_path, CONTENT), make_context(limits=Limits(cruft_file_bytes=10)))


def test_skips_of_both_files(tmp_path: Path) -> None:
    cruft = CruftFile("t", COMMIT, None, {}, skip=("a",))
    assert read_skips(tmp_path, cruft) == ("a",)
    (tmp_path / "pyproject.toml").write_text('[tool.cruft]\nskip = ["b", "a"]\n', encoding="utf-8")
    assert read_skips(tmp_path, cruft) == ("a", "b")


@pytest.mark.parametrize("text", ["[", "tool = 3", "a = " + "[" * 100_000, '[tool.cruft]\nskip = ["../x"]'])
def test_unusable_pyproject(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_skips(tmp_path, CruftFile("t", COMMIT, None, {}))
    assert caught.value.code == "CMD-TPL-011"
