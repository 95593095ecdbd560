"""OCI artefacts with manifests, from a registry on this machine and from a caller."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from commodore.argocd import Providers
from commodore.argocd.acquiring import RepoMap, Repositories
from commodore.argocd.testing import MemoryArtefacts
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.world.registry import CHART, RegistryServer

TAR = "application/vnd.oci.image.layer.v1.tar"


def packed(files: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


def read(
    url: str, requested: str, folder: Path, *, offline: bool = False, providers: Providers | None = None
) -> tuple[str, str]:
    """Return the content of `web/a` in an artefact, and its revision."""
    folder.mkdir()
    repositories = Repositories(Context(ignore, DEFAULT_LIMITS, offline), RepoMap((), providers), folder)
    tree = repositories.tree(url, requested)
    return (tree.root / "web" / "a").read_text(encoding="utf-8"), tree.revision


@pytest.mark.requirement("D49")
def test_artefacts_of_a_registry(tmp_path: Path) -> None:
    with RegistryServer() as server:
        digests = {}
        for version in ("1.0.0", "1.2.0", "2.0.0", "latest"):
            digests[version] = server.push(
                "team/web", version, [(f"{TAR}+gzip", gzip.compress(packed({"web/a": version})))]
            )
        server.push("team/plain", "1.0.0", [(TAR, packed({"web/a": "plain"}))])
        server.push("team/chart", "1.0.0", [(CHART, gzip.compress(packed({"chart/web/a": "chart"})))])
        server.push("team/bad", "1.0.0", [(TAR, packed({"../a": "x"}))])
        server.push("team/two", "1.0.0", [(TAR, packed({"a": "x"})), (TAR, packed({"b": "x"}))])
        url = f"oci://{server.name}/team/web"
        for number, (requested, tag) in enumerate(
            (("1.0.0", "1.0.0"), ("1.*", "1.2.0"), ("", "latest"), (digests["2.0.0"], "2.0.0"))
        ):
            assert read(url, requested, tmp_path / str(number)) == (tag, digests[tag])
        for name in ("plain", "chart"):
            assert read(f"oci://{server.name}/team/{name}", "1.0.0", tmp_path / name)[0] == name
        asked = len(server.asked)
        assert read(url, digests["1.0.0"], tmp_path / "kept", offline=True)[0] == "1.0.0"
        assert len(server.asked) == asked
        for name, requested, code, offline in (
            ("web", "3.*", "CMD-ARGO-314", False),
            ("web", "1.0.0", "CMD-ARGO-310", True),
            ("bad", "1.0.0", "CMD-ARGO-317", False),
            ("two", "1.0.0", "CMD-OCI-006", False),
        ):
            with pytest.raises(CommodoreError) as caught:
                read(f"oci://{server.name}/team/{name}", requested, tmp_path / f"{name}-{code}", offline=offline)
            assert caught.value.code == code


@pytest.mark.requirement("D78")
def test_artefacts_of_a_caller(tmp_path: Path) -> None:
    given = MemoryArtefacts(tmp_path / "given", {("oci://x/y", "1.0.0"): {"web/a": "given"}})
    providers = Providers(artefacts=given)
    assert read("oci://x/y", "1.0.0", tmp_path / "one", offline=True, providers=providers) == ("given", "1.0.0")
    with pytest.raises(CommodoreError) as caught:
        read("oci://x/z", "1.0.0", tmp_path / "two", offline=True, providers=providers)
    assert caught.value.code == "CMD-ARGO-310"
