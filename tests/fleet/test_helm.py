"""The processes of helm: what is said of one that does not end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import DEFAULT_LIMITS
from commodore.fleet.helm import Helm
from tests.world.folders import write_script


def test_a_helm_that_does_not_end(tmp_path: Path) -> None:
    program = tmp_path / "helm"
    write_script(program, f"echo $$ > {tmp_path}/pid\nexec sleep 1000")
    with (
        Helm(str(program), 1, replace(DEFAULT_LIMITS, helm_timeout=0.3)) as helm,
        pytest.raises(EnvironmentFault, match=r"did not end within 0\.3 seconds") as caught,
    ):
        helm.template("web", tmp_path, "{}")
    assert caught.value.code == "CMD-FLT-027"
    if (tmp_path / "pid").exists():  # it had begun by then
        assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()
