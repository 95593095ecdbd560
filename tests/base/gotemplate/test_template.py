"""Templates as Go runs them: recorded answers, limits, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commodore.base.gotemplate import (
    ExecutionProblem,
    LimitProblem,
    ParseProblem,
    RefusedFunction,
    RunLimits,
    Template,
    TemplateProblem,
    sprig,
)

ANSWERS = json.loads((Path(__file__).parent / "answers.json").read_text())


def result(template: str, values: Any, missing: str) -> tuple[str, str]:
    try:
        return Template(template).render(values, missing=missing), ""
    except TemplateProblem as problem:
        return "", problem.text


def test_recorded_answers_of_gos_own_library() -> None:
    """Every template with its values and its option for missing keys, as text/template with Sprig has answered."""
    assert len(ANSWERS) > 700
    different = [(t, v, m, o, e) for t, v, m, o, e in ANSWERS if result(t, v, m) != (o, e)]
    assert different == []


@pytest.mark.parametrize(
    ("template", "missing", "output"),
    [
        ("{{.x}}", "default", "<no value>"),
        ("{{.x.y}}", "default", "<no value>"),
        ("{{.x}}", "zero", "<no value>"),
        ("{{.n}}", "error", "<no value>"),
        ("{{.big}} {{.port}} {{.one}}", "error", "1e+06 8080 1"),
        ("{{print .n}}", "default", "<nil>"),
    ],
)
def test_missing_keys_and_numbers(template: str, missing: str, output: str) -> None:
    values = {"n": None, "big": 1000000.0, "port": 8080.0, "one": 1.0}
    assert Template(template).render(values, missing=missing) == output


@pytest.mark.parametrize(
    ("template", "output"),
    [
        ('{{b32dec "MQ=="}}', "illegal base32 data at input byte 4"),
        ('{{b32dec "1"}}', "illegal base32 data at input byte 0"),
        ('{{b32dec "MFRGG=A="}}', "illegal base32 data at input byte 5"),
        ('{{b32dec "MFRGG==="}}', "abc"),
        ('{{deepEqual (semver "1.2.3-a+b") (semver "1.2.3-a+b")}}', "true"),
        ('{{deepEqual (semver "1.2.3") (semver "v1.2.3")}}', "false"),
        ('{{has (semver "1.2.3") (list (semver "1.2.3"))}}', "true"),
        (
            '{{printf "%#v" (semver "v1.2.3-a+b")}}',
            '&semver.Version{major:0x1, minor:0x2, patch:0x3, pre:"a", metadata:"b", original:"v1.2.3-a+b"}',
        ),
    ],
)
def test_base32_and_versions_as_helm_has_them(template: str, output: str) -> None:
    assert Template(template).render({}) == output


@pytest.mark.parametrize(
    ("template", "missing", "message"),
    [
        ("{{.x}}", "error", 'template: base:1:2: executing "base" at <.x>: map has no entry for key "x"'),
        ("{{.x.y}}", "zero", 'template: base:1:4: executing "base" at <.x.y>: nil pointer evaluating interface {}.y'),
        (
            "a\n {{ eq .one 1 }}",
            "default",
            (
                'template: base:2:4: executing "base" at <eq .one 1>: error calling eq: '
                "incompatible types for comparison: float64 and int"
            ),
        ),
    ],
)
def test_errors_name_line_and_column(template: str, missing: str, message: str) -> None:
    with pytest.raises(ExecutionProblem) as caught:
        Template(template).render({"one": 1.0}, missing=missing)
    assert caught.value.text == message


@pytest.mark.parametrize("name", ["now", "uuidv4", "randAlphaNum", "genCA", "shuffle"])
def test_functions_that_differ_from_run_to_run_are_refused(name: str) -> None:
    with pytest.raises(RefusedFunction, match=name):
        Template("{{" + name + ' "x" }}').render({})


@pytest.mark.parametrize("name", ["env", "expandenv", "getHostByName"])
def test_functions_that_look_outside_do_not_exist(name: str) -> None:
    with pytest.raises(ParseProblem, match=f'function "{name}" not defined'):
        Template("{{" + name + ' "HOME" }}')


def test_the_current_time_is_refused_where_a_date_is_none() -> None:
    with pytest.raises(RefusedFunction):
        Template('{{ date "2006" "no date" }}').render({})


@pytest.mark.parametrize(
    "template",
    [
        '{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}',
        "{{range until 2000}}{{range until 2000}}{{end}}{{end}}",
        '{{ repeat 100000000 "x" }}',
        '{{range until 200}}{{ repeat 10000 "x" }}{{end}}',
        "{{ until 100000000 }}",
    ],
)
def test_endless_templates_reach_a_limit(template: str) -> None:
    with pytest.raises(LimitProblem):
        Template(template).render({})


def test_deep_nesting_is_a_limit_and_no_crash() -> None:
    with pytest.raises(LimitProblem):
        Template("{{if 1}}" * 5000 + "{{end}}" * 5000)


def test_limits_of_the_caller_count() -> None:
    with pytest.raises(LimitProblem, match="more than 3 characters"):
        Template("abcd").render({}, limits=RunLimits(output=3))


def test_the_time_is_looked_at_after_each_call() -> None:
    """A single search with a regular expression may take seconds."""
    with pytest.raises(LimitProblem, match="longer than 0 s"):
        Template("{{ upper .x }}").render({"x": "a"}, limits=RunLimits(seconds=0))


def test_values_stay_as_they_are() -> None:
    values: dict[str, Any] = {"m": {"a": 1.0}}
    template = Template('{{ set .m "b" 2 | toJson }}')
    assert [template.render(values), template.render(values)] == ['{"a":1,"b":2}'] * 2
    assert values == {"m": {"a": 1.0}}


@pytest.mark.parametrize(
    ("template", "output"),
    [
        ("{{ slice (list 1 2 3) 0 4 }}", "slice index out of bounds"),  # Go may have room for a fourth one
        ("{{ 1i }}", "complex numbers are not supported"),
        ('{{ date "2006" -9223372036854775808 }}', "out of range of dates"),
        ('{{ regexMatch "(?U)a" "a" }}', "false"),
    ],
)
def test_documented_differences(template: str, output: str) -> None:
    assert output in " ".join(result(template, {}, "default"))


def test_every_function_of_the_tables_is_there() -> None:
    names = set(sprig())
    assert {"and", "printf", "toJson", "semverCompare", "regexReplaceAll", "dateInZone", "urlParse", "dig"} <= names
    assert not names & {"env", "expandenv", "getHostByName"}
