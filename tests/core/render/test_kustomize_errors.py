"""Anything that is reported of a build of kustomize that has failed."""

from __future__ import annotations

import pytest

from commodore.core.render.kustomize_errors import KustomizeFailure, read_kustomize_failure

# As kustomize 5 says it, on one line.
MISSING = (
    "Error: accumulating resources: accumulation err='accumulating resources from 'base': '/k/base' must resolve to a "
    "file': recursed accumulation of path '/k/base': accumulating resources: accumulation err='accumulating resources "
    "from 'missing.yaml': evalsymlink failure on '/k/base/missing.yaml' : lstat /k/base/missing.yaml: no such file or "
    "directory': must build at directory: not a valid directory: evalsymlink failure on '/k/base/missing.yaml' : lstat "
    "/k/base/missing.yaml: no such file or directory"
)
MALFORMED = (
    "accumulating resources: accumulation err='accumulating resources from 'base': '/k/base' must resolve to a file': "
    "recursed accumulation of path '/k/base': accumulating resources: accumulating resources from 'x.yaml': "
    "MalformedYAMLError: yaml: line 1: did not find expected node content in File: x.yaml"
)
TWICE = (
    "error: accumulating resources: accumulation err='accumulating resources from 'base': '/k/base' must resolve to a "
    "file': recursed merging from path '/k/base': may not add resource with an already registered id: X"
)
FIELD = (
    "error: accumulating resources: accumulation err='accumulating resources from 'b': '/k/b' must resolve to a file': "
    "couldn't make target for path '/k/b': invalid Kustomization: json: unknown field \"resource\""
)
NOWHERE = "must build at directory: not a valid directory: evalsymlink failure on '/k' : lstat /k: no such file"
UNKNOWN = "accumulating resources from 'x.yaml': "

CASES = {
    MISSING: (f"{UNKNOWN.replace('x.', 'missing.')}no such file or directory", "/k/base", "missing.yaml"),
    MALFORMED: (f"{UNKNOWN}{MALFORMED[MALFORMED.index('Malformed') :]}", "/k/base", "x.yaml"),
    TWICE: ("may not add resource with an already registered id: X", "/k/base", ""),
    FIELD: ('invalid Kustomization: json: unknown field "resource"', "/k/b", ""),
    NOWHERE: ("no such file", "", ""),
    "Error: no matches for Id": ("no matches for Id", "", ""),
}


@pytest.mark.parametrize("said", CASES, ids=["missing", "malformed", "twice", "field", "no folder", "unknown"])
def test_the_innermost_reason_is_told(said: str) -> None:
    assert read_kustomize_failure(said) == KustomizeFailure(*CASES[said])
