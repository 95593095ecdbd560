"""The identity of the program, and of an instance's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.static_key import settings_digest


def digest(root: str, kapitan: Any) -> str:
    return settings_digest({"parameters": {"kapitan": kapitan}}, PortablePaths({"root": Path(root)}, ()))


@pytest.mark.parametrize(
    "settings",
    [
        "{root}",
        {},
        {"compile": ["{root}/x"]},
        {"dependencies": [1, {"output_path": "{root}/x"}]},
        {"compile": [{"input_paths": ["{root}/x"], "output_path": ".", "helm_params": {"a": 1}}]},
    ],
    ids=["a text", "nothing", "an entry that is a text", "a dependency that is a number", "paths"],
)
def test_where_the_working_directory_is_counts_only_where_it_is_written_down(settings: Any) -> None:
    first, two = (digest(root, _at(settings, root)) for root in ("/work/one", "/work/two"))
    written_down = settings == "{root}" or (isinstance(settings, dict) and settings.get("compile") == ["{root}/x"])
    assert (first != two) is written_down


def _at(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace("{root}", root)
    if isinstance(value, list):
        return [_at(item, root) for item in value]
    return {key: _at(item, root) for key, item in value.items()} if isinstance(value, dict) else value
