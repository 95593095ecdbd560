"""The example of the reference works."""

from __future__ import annotations

import re
from pathlib import Path

from commodore.base.events import ignore
from commodore.core.lieutenant import load_cluster_file
from tests.world.context import make_context

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cluster-file.md"


def test_the_example_of_the_cluster_file_is_one(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    path = tmp_path / "cluster.yml"
    path.write_text(example)
    loaded = load_cluster_file(path, "c-example", {}, make_context(announce=ignore))
    assert loaded.catalog_url == (tmp_path / "repos" / "catalog.git").as_uri()
    assert loaded.tenant.id == "t-example"
