"""The causes of failures of helm and kustomize, in short."""

from __future__ import annotations

import re

import pytest

from commodore.core.render.causes import cause_of

SAID = """
Error: accumulating resources: accumulation err='accumulating resources from '../a': '/r/a' must resolve to a file':
 recursed accumulation of path 'a': accumulating resources: accumulation err='accumulating resources from 'x.yaml':
 evalsymlink failure on 'a/x.yaml' : lstat a/x.yaml: no such file or directory': must build at directory
= a/x.yaml, which a kustomization names, does not exist = correct the entry

Error: invalid Kustomization: json: unknown field "resurces"
= a kustomization has the unknown field resurces = did you mean 'resources'

Error: invalid Kustomization: yaml: line 1: did not find expected node content
= a kustomization is invalid: line 1: did not find expected node content = correct it

Error: accumulating resources: accumulation err='accumulating resources from '../b': 'b' must resolve to a file':
 cycle detected: candidate root 'b' contains visited root 'b'
= the kustomization b refers to itself = remove the entry

Error: accumulating resources: accumulation err='accumulating resources from '../a.yaml': security; file 'k/a.yaml' is
 not in or below 'k/s'': must build at directory: 'k/a.yaml': file is not directory
= k/a.yaml is outside of k/s, the folder of the kustomization that names it = or move the file

Error: accumulating resources: accumulation err='accumulating resources from '../e': 'e' must resolve to a file':
 couldn't make target for path 'e': unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization'
 in directory 'e'
= the folder e, which a kustomization names, has no kustomization = add a kustomization.yaml

Error: accumulating resources: accumulating resources from 'a.yaml': MalformedYAMLError: yaml: line 1: did not find
 expected node content in File: a.yaml
= a.yaml is not valid YAML: line 1: did not find expected node content = correct the file

Error: accumulating resources: accumulation err='accumulating resources from 'a.yaml': missing Resource metadata':
 must build at directory: 'a.yaml': file is not directory
= a.yaml has no Kubernetes objects: missing Resource metadata = resources are files

Error: accumulating resources: accumulation err='merging resources from 'b.yaml': may not add resource with an already
 registered id: ConfigMap.v1.[noGrp]/a.[noNs]': must build at directory: 'b.yaml': file is not directory
= b.yaml has the object ConfigMap.v1.[noGrp]/a.[noNs], which another file has, too = remove or rename

Error: no resource matches strategic merge patch "X": no matches for Id ConfigMap.v1.[noGrp]/b.[noNs]; failed to find
 unique target for patch ConfigMap.v1.[noGrp]/b.[noNs]
= a patch matches no object: ConfigMap.v1.[noGrp]/b.[noNs] = correct kind

Error: accumulating resources: accumulation err='accumulating resources from 'https://h.example/x.yaml': Get
 "https://h.example/x.yaml": dial tcp: lookup h.example: no such host': must build at directory: evalsymlink failure on
 'k/https:/h.example' : lstat k/https:: no such file or directory
= https://h.example/x.yaml cannot be fetched = check the URL

Error: Error: unknown shorthand flag: 'c' in -c: unable to run: 'helm version -c --short' with
 env=[HELM_CONFIG_HOME=/tmp/x] (is 'helm' installed?): exit status 1
= this kustomize calls helm 3, and the installed helm is newer = install kustomize 5.8 or later

Error: nothing selected by x
= nothing selected by x = read its message
"""


@pytest.mark.parametrize("case", SAID.strip().split("\n\n"))
def test_kustomize(case: str) -> None:
    said, why, hint = re.split(r"\n?\s*= ", case.replace("\n ", " "))
    cause = cause_of("kustomize", said)
    assert cause[0] == why.strip()
    assert hint in cause[1]


def test_long_texts_are_cut() -> None:
    assert cause_of("kustomize", f"Error: {'x' * 500}")[0] == f"{'x' * 400} …"


INCLUDED = """
Error: template: web/templates/a.yaml:1:3: executing "web/templates/a.yaml" at <include "x" .>: error calling include:
 template: web/templates/_x.tpl:2:4: executing "x" at <.Values.a.b>: nil pointer evaluating interface {}.b
""".strip().replace("\n ", " ")


def test_helm() -> None:
    shown = "web/templates/_x.tpl:2:4 (used by web/templates/a.yaml:1:3): <.Values.a.b>: nil pointer evaluating"
    assert cause_of("helm", INCLUDED)[0] == f"{shown} interface {{}}.b"
    required = "execution error at (web/templates/a.yaml:1:3): need it"
    assert cause_of("helm", f"Error: {required}")[0] == required


def test_a_template_that_includes_itself() -> None:
    """Everything that helm says is the same step a thousand times, and the cause after it."""
    step = 'template: c/templates/a.yaml:1:19: executing "a" at <include "a" .>: error calling include: '
    said = f"Error: {step * 100}rendering template has a nested reference name: a: unable to execute template"
    assert cause_of("helm", said)[0] == "c/templates/a.yaml:1:19: the template 'a' includes itself without end"
    said = (
        'Error: template: c/templates/a.yaml:1:28: executing "a" at <{{template "a" .}}>: '
        "exceeded maximum template depth (100000)"
    )
    assert cause_of("helm", said)[0] == "c/templates/a.yaml:1:28: the template 'a' includes itself without end"
