"""Go's text/template with Sprig's functions: what Helm charts and ApplicationSets are written in, without Go.

`Template` is parsed once and run many times. Values are JSON's: texts, floats, booleans, None, lists, maps.
"""

from __future__ import annotations

from commodore.gotemplate.evaluate import RunLimits
from commodore.gotemplate.functions.dates import clock_functions
from commodore.gotemplate.functions.regexps import search as search_regexp
from commodore.gotemplate.functions.yaml_text import to_yaml
from commodore.gotemplate.numbers import float_text
from commodore.gotemplate.printing import plain as printed
from commodore.gotemplate.problems import (
    CallProblem,
    ExecutionProblem,
    LimitProblem,
    ParseProblem,
    RefusedFunction,
    TemplateProblem,
)
from commodore.gotemplate.signatures import Function, Table, function
from commodore.gotemplate.template import Template, sprig
from commodore.gotemplate.values import StringMap, Strings, to_floats

__all__ = [
    "CallProblem",
    "ExecutionProblem",
    "Function",
    "LimitProblem",
    "ParseProblem",
    "RefusedFunction",
    "RunLimits",
    "StringMap",
    "Strings",
    "Table",
    "Template",
    "TemplateProblem",
    "clock_functions",
    "float_text",
    "function",
    "printed",
    "search_regexp",
    "sprig",
    "to_floats",
    "to_yaml",
]
