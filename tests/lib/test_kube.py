"""The three faces of the kube library, and that its helpers never show in manifests."""

from __future__ import annotations

import re

import pytest

from tests.lib.evaluation import PACKAGE, in_compile

HIDDEN = {
    "VerticalPodAutoscaler",
    "_Object",
    "_assert",
    "boolXor",
    "createVPAFor",
    "hyphenate",
    "mapToNamedList",
    "objectItems",
    "objectValues",
    "parseOctal",
    "podLabelsSelector",
    "podRef",
    "podsPorts",
    "siToNum",
    "toLower",
    "toUpper",
}


def test_hidden_fields_of_the_full_library() -> None:
    everything = set(in_compile("std.objectFieldsAll(full)"))
    assert everything - set(in_compile("std.objectFields(full)")) == HIDDEN
    assert len(everything) == 61


@pytest.mark.parametrize("file", ["lib/kube.libjsonnet", "lib/kube.libsonnet"])
def test_the_other_files_show_all_fields(file: str) -> None:
    everything = in_compile("std.objectFieldsAll(full)")
    assert in_compile(f"std.objectFields(import '{file}')") == everything
    assert in_compile(f"std.objectFieldsAll(import '{file}')") == sorted(
        [*everything, "_commodore_show_kube_libsonnet_deprecation"]
    )


def test_overrides_reach_constructors_of_the_full_library_only() -> None:
    override = "{ _Object(apiVersion, kind, name):: { mine: name } }"
    assert in_compile(f"(full + {override}).Namespace('n')") == {"mine": "n"}
    assert in_compile(f"(kube + {override}).Namespace('n').kind") == "Namespace"


def test_checks_can_be_switched_off_in_the_full_library_only() -> None:
    wrong = "ConfigMap('c') { data: { a: 1 } }"
    assert in_compile(f"unchecked.{wrong}.data") == {"a": 1}
    with pytest.raises(RuntimeError, match="ConfigMap c: data has values that are not strings"):
        in_compile(f"(kube + {{ _assert:: false }}).{wrong}")


def test_every_check_has_a_message() -> None:
    """An `assert` without a message tells nobody what to do."""
    text = (PACKAGE / "lib" / "kube-libsonnet" / "kube.libsonnet").read_text()
    checks = re.findall(r"assert .*?[,;]\n", text, flags=re.DOTALL)
    assert len(checks) > 10
    assert [check for check in checks if not re.search(r":\s+'", check)] == []
