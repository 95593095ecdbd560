"""Go's text/template with Sprig's functions, the language of Helm charts and ApplicationSets, without Go.

`Template` is parsed once and run many times. Values are JSON's: texts, floats, booleans, None, lists, maps.
"""

from __future__ import annotations

from commodore.base.gotemplate.evaluate import RunLimits
from commodore.base.gotemplate.functions.dates import clock_functions
from commodore.base.gotemplate.functions.regexps import search as search_regexp
from commodore.base.gotemplate.functions.yaml_text import to_yaml
from commodore.base.gotemplate.numbers import float_text
from commodore.base.gotemplate.printing import plain as printed
from commodore.base.gotemplate.problems import (
    CallProblem,
    ExecutionProblem,
    LimitProblem,
    ParseProblem,
    RefusedFunction,
    TemplateProblem,
)
from commodore.base.gotemplate.signatures import Function, Table, function
from commodore.base.gotemplate.template import Template, sprig
from commodore.base.gotemplate.values import StringMap, Strings, to_floats

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
