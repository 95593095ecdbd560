"""Templates that grow without end: texts and lists doubled again and again, and walks through them."""

from __future__ import annotations

import pytest

from commodore.argocd.appsets.functions import template_functions
from commodore.base.gotemplate import LimitProblem, Template

DOUBLED = "{{ $x := .a }}{{ range until 60 }}{{ $x = %s $x $x }}{{ end }}"
GROWING = {
    "printed": DOUBLED % "print" + "{{ len $x }}",
    "joined by spaces": DOUBLED % "cat" + "{{ len $x }}",
    "lists": "{{ $l := list .a }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}{{ len $l }}",
    "lists in lists as JSON": DOUBLED % "list" + "{{ toJson $x | len }}",
    "lists in lists": DOUBLED % "list" + "{{ $x }}",
    "lists in lists, copied": DOUBLED % "list" + "{{ deepCopy $x | len }}",
    "collected": '{{ $l := list }}{{ range until 9999 }}{{ $l = append $l (repeat 1000000 "a") }}{{ end }}{{ len $l }}',
    "replaced": '{{ $x := repeat 1000000 "a" }}{{ regexReplaceAll "a" $x $x | len }}',
}


@pytest.mark.parametrize("how", GROWING)
def test_what_grows_ends(how: str) -> None:
    with pytest.raises(LimitProblem):
        Template(GROWING[how], functions=template_functions()).render({"a": "b" * 8})


def test_what_is_large_but_fits() -> None:
    text = "{{ $l := list }}{{ range until 2000 }}{{ $l = append $l . }}{{ end }}{{ toJson $l | len }} {{ len $l }}"
    assert Template(text, functions=template_functions()).render({}) == "8891 2000"
