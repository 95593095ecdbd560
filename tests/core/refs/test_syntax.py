"""Kapitan replaces and finds all references that are accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kapitan.refs.base import REF_TOKEN_TAG_PATTERN, RefController, Revealer

from commodore.base.errors import CommodoreError
from commodore.core.refs import build_refs, find_references, write_refs
from tests.world.context import make_context

VAULT = {"kapitan": {"secrets": {"vaultkv": {"VAULT_ADDR": "https://vault.example.com", "mount": "kv"}}}}


@given(st.text(alphabet="ab/.:|@-_= ?{}ü\\\0\n$", max_size=12))
def test_every_accepted_tag_is_recognised_by_kapitan(text: str) -> None:
    try:
        references = find_references({"a": f"?{{vaultkv:{text}}}"}, make_context(), target="t")
    except CommodoreError:
        return
    for reference in references:
        assert re.fullmatch(REF_TOKEN_TAG_PATTERN, reference.tag)
        assert ".." not in reference.file.split("/")
        assert not reference.file.startswith("/")


@pytest.mark.parametrize("tag", ["?{vaultkv:a/b/c}", "?{vaultkv:a//b}", "?{vaultkv:ü/k}", "?{vaultkv:a/b::a:b}"])
def test_kapitan_finds_the_ref_file_of_accepted_tags(tag: str, tmp_path: Path) -> None:
    """The reference is replaced by its path and eight digits."""
    references = find_references({"a": tag}, make_context(), target="t")
    write_refs(build_refs(references, VAULT), tmp_path / "refs")
    compiled = Revealer(RefController(str(tmp_path / "refs"))).compile_obj({"x": f"pw={tag}"}, target_name="t")
    assert re.fullmatch(rf"pw=\?{{vaultkv:{re.escape(references[0].path)}:[0-9a-f]{{8}}}}", compiled["x"])
