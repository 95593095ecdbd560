"""Everything that people are shown of a change: names, secrets, noise, dangers and groups."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commodore.base.yaml import load
from commodore.core.review import (
    FLAGS,
    FieldChange,
    PlacedObject,
    Review,
    compare,
    field_changes,
    images_of,
    path_text,
    review,
    tally,
)


def placed(text: str, file: str = "a.yaml") -> PlacedObject:
    return PlacedObject(load(text, place="test"), file)


def reviewed(old: str, new: str) -> Review:
    return review([placed(old)] if old else [], [placed(new)] if new else [])


def changed(old: str, new: str) -> dict[str, FieldChange]:
    """The field changes between two documents, by path."""
    changes = field_changes(load(old, place="old"), load(new, place="new"))
    return {path_text(change.path): change for change in changes}


# Fields


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ("{a: 1}", "{a: 1.0}", {"a": "replaced"}),
        ("{a: true}", "{a: 1}", {"a": "replaced"}),
        ("{a: null}", "{}", {"a": "removed"}),
        ("{containers: [{name: x, image: i}, {name: y}]}", "{containers: [{name: y}, {name: x, image: j}]}",
         {"containers": "reordered", "containers[name=x].image": "replaced"}),
        ("{ports: [{containerPort: 80, name: a}]}", "{ports: [{containerPort: 80, name: b}]}",
         {"ports[containerPort=80].name": "replaced"}),
        ("{args: [--one, --two=2, --three]}", "{args: [--one, --two=3, --three]}", {"args[1]": "replaced"}),
        ("{args: [one, two]}", "{args: [zero, one, two]}", {"args[0]": "added"}),
        ("{env: [{name: A, value: '1'}]}", "{env: [{name: A, value: '1'}, {name: B}]}", {"env[name=B]": "added"}),
        ("{items: [{name: a}, {name: a}]}", "{items: [{name: a}]}", {"items[1]": "removed"}),
        ("{ports: [{port: 80}]}", "{ports: [{port: 80, protocol: TCP}]}", {"ports[port=80].protocol": "added"}),
        ("{args: [--a=1, --b=2]}", "{args: [--new=0, --a=2, --b=3]}",
         {"args[0]": "added", "args[1]": "replaced", "args[2]": "replaced"}),
        ("{envFrom: [{secretRef: {name: a}}, {configMapRef: {name: a}}]}",
         "{envFrom: [{secretRef: {name: a, optional: true}}, {configMapRef: {name: a}}]}",
         {"envFrom[secretRef.name=a].secretRef.optional": "added"}),
        ("{tolerations: [{key: a, effect: x, value: v}, {key: a, effect: y}]}",
         "{tolerations: [{key: a, effect: x, value: w}, {operator: Exists}, {key: a, effect: y}]}",
         {"tolerations[key=a,effect=x].value": "replaced", "tolerations[operator=Exists]": "added"}),
        ("{imagePullSecrets: [{name: a}]}", "{imagePullSecrets: [{name: b}, {name: a}]}",
         {"imagePullSecrets[name=b]": "added"}),
        ("{ownerReferences: [{uid: '1', name: a}]}", "{ownerReferences: [{uid: '1', name: b}]}",
         {"ownerReferences[uid=1].name": "replaced"}),
        ("{versions: [{name: v1, served: true}]}", "{versions: [{name: v2}, {name: v1, served: false}]}",
         {"versions[name=v2]": "added", "versions[name=v1].served": "replaced"}),
        ("{volumeClaimTemplates: [{metadata: {name: a}, spec: {x: 1}}]}",
         "{volumeClaimTemplates: [{metadata: {name: a}, spec: {x: 2}}]}",
         {"volumeClaimTemplates[metadata.name=a].spec.x": "replaced"}),
        ("{rules: [{groups: [g], resources: [a, b], verbs: [get, list]}, {urls: [/m], verbs: [put]}]}",
         "{rules: [{x: 1}, {urls: [/m], verbs: [put, get]}, {groups: [g], resources: [a, b, c], verbs: [get, list]}]}",
         {"rules": "reordered", "rules[0]": "added", "rules[2].resources[2]": "added", "rules[1].verbs[1]": "added"}),
        ("{rules: [{apiGroups: [''], resources: [pods], verbs: [get]}, {nonResourceURLs: [/m], verbs: [get]}]}",
         ("{rules: [{apiGroups: [''], resources: [pods, pods/log], verbs: [get]}, {apiGroups: [a], resources: [b]},"
         " {nonResourceURLs: [/m], verbs: [get, put]}]}"),
         {"rules[resources=pods].resources[1]": "added", "rules[resources=b,apiGroups=a]": "added",
          "rules[nonResourceURLs=/m].verbs[1]": "added"}),
        ("{rules: [{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [''], resources: [pods]}]}",
         "{rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}, {apiGroups: [''], resources: [pods]}]}",
         {"rules[0].verbs[1]": "added"}),
        ("{rules: [{alert: A, expr: x}, {alert: B, expr: x}]}",
         "{rules: [{alert: N}, {alert: A, expr: y}, {record: r}, {alert: B, expr: y}]}",
         {"rules[alert=A].expr": "replaced", "rules[alert=B].expr": "replaced", "rules[alert=N]": "added",
          "rules[record=r]": "added"}),
        ("{a.b/c: {'x y': 1}}", "{a.b/c: {'x y': 2}}", {"['a.b/c']['x y']": "replaced"}),
    ],
)  # fmt: skip
def test_fields_are_found_by_what_names_them(old: str, new: str, paths: dict[str, str]) -> None:
    assert {path: change.kind for path, change in changed(old, new).items()} == paths


def test_documents_in_texts_are_compared_inside() -> None:
    old, new = 'data: {c: "a: 1\\nb: [x]\\n"}', 'data: {c: "a: 2\\nb: [x]\\n"}'
    change = changed(old, new)["data.c"]
    assert [(path_text(inner.path), inner.old, inner.new) for inner in change.inside] == [("a", 1, 2)]
    assert changed("data: {c: 'a'}", "data: {c: 'b'}")["data.c"].inside == ()
    assert changed("data: {c: '{\"a\": 1}'}", "data: {c: '{\"a\": 1,'}")["data.c"].inside == ()


def test_values_of_any_depth_are_compared() -> None:
    def nested(leaf: Any) -> Any:
        for _ in range(10_000):
            leaf = [leaf]
        return {"a": leaf}

    (change,) = field_changes(nested(1), nested(2))
    assert change.kind == "replaced"
    assert field_changes(nested(1), nested(1)) == ()


# Objects


CONFIG = (
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: n}, data: {a: '1', b: '2', c: '3', d: '%s'}}"
)


def test_an_object_is_the_same_in_another_file_or_version_of_its_api() -> None:
    old = placed("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}", "one.yaml")
    new = placed("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}", "two.yaml")
    (change,) = compare([old], [new]).changes
    assert (change.kind, change.is_moved, [path_text(field.path) for field in change.fields]) == (
        "changed",
        True,
        ["apiVersion"],
    )
    (moved,) = compare([old], [PlacedObject(old.content, "two.yaml")]).changes
    assert (moved.kind, moved.fields) == ("moved", ())


def test_a_renamed_object_is_one_change() -> None:
    (change,) = reviewed(CONFIG % ("a-1", "x"), CONFIG % ("a-2", "y")).comparison.changes
    assert change.is_renamed
    assert {path_text(field.path) for field in change.fields} == {"metadata.name", "data.d"}


def test_the_name_of_a_renamed_object_may_be_in_other_places() -> None:
    account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: %s, labels: {name: %s}}}"
    (change,) = reviewed(account % ("a-1", "a-1"), account % ("a-2", "a-2")).comparison.changes
    assert change.is_renamed


def test_objects_that_have_little_in_common_are_two_changes() -> None:
    other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: n}, data: {x: '9', y: '8', z: '7'}}"
    assert [change.kind for change in reviewed(CONFIG % ("a", "x"), other).comparison.changes] == ["removed", "added"]


def test_several_objects_of_one_name_are_told_apart_by_what_they_hold() -> None:
    item, two = placed(CONFIG % ("a", "1")), placed(CONFIG % ("a", "2"))
    result = compare([item, two], [placed(CONFIG % ("a", "2"))])
    assert [(change.kind, change.old) for change in result.changes] == [("removed", item)]
    assert result.unchanged == 1


# Noise


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: n, labels: {helm.sh/chart: web-%(chart)s, app: web}}
spec:
  replicas: %(replicas)s
  selector: {matchLabels: {helm.sh/chart: fixed, app: %(selector)s}}
  template:
    metadata: {annotations: {checksum/config: '%(sum)s'}, labels: {app.kubernetes.io/version: '%(chart)s'}}
    spec: {containers: [{name: c, image: '%(image)s'}]}
"""
BEFORE = {"chart": "1", "replicas": "2", "selector": "web", "sum": "x", "image": "registry.example.com/web:1.2"}


def test_noise_is_set_apart_and_counted() -> None:
    result = reviewed(DEPLOYMENT % BEFORE, DEPLOYMENT % {**BEFORE, "chart": "2", "sum": "y"})
    assert (result.hidden, result.hidden_only, result.groups) == (3, 1, ())
    result = reviewed(DEPLOYMENT % BEFORE, DEPLOYMENT % {**BEFORE, "chart": "2", "replicas": "3"})
    assert (result.hidden, result.hidden_only, len(result.groups)) == (2, 0, 1)
    assert [path_text(field.path) for field in result.groups[0].changes[0].fields] == ["spec.replicas"]


def test_a_label_that_comes_or_goes_is_shown() -> None:
    old = "{kind: ConfigMap, metadata: {name: a, labels: {chart: x}}}"
    assert reviewed(old, "{kind: ConfigMap, metadata: {name: a, labels: {}}}").hidden == 0


def test_descriptions_of_definitions_are_noise() -> None:
    def definition(**schema: Any) -> str:
        return crd("Cluster", {"name": "v1", "schema": {"openAPIV3Schema": {"properties": schema}}})

    old = definition(a={"description": "x", "items": {"description": "x"}}, description={"description": "x"})
    new = definition(a={"description": "y", "items": {}}, description={"description": "y"})
    assert (reviewed(old, new).hidden, reviewed(old, new).groups) == (3, ())
    assert reviewed(definition(description={"type": "x"}), definition(description={"type": "y"})).hidden == 0
    assert reviewed(definition(description={}), definition()).hidden == 0


def test_what_differs_in_noise_alone_and_stands_elsewhere_is_moved() -> None:
    old = placed(DEPLOYMENT % BEFORE, "a/b/c.yaml")
    new = placed(DEPLOYMENT % {**BEFORE, "chart": "2"}, "a/d/c.yaml")
    (change,) = review([old], [new]).groups[0].changes
    assert (change.kind, len(change.hidden), change.fields) == ("moved", 2, ())


# Secrets


def shown(results: Review) -> str:
    return repr((results.comparison, results.groups))


def test_secrets_are_masked_on_both_sides_and_still_differ() -> None:
    def secret(value: str) -> str:
        return thing("Secret", stringData={"p": value, "q": "same-canary", "r": "?{vaultkv:t/c/k}"})

    result = reviewed(secret("old-canary"), secret("new-canary"))
    (field,) = result.comparison.changes[0].fields
    assert (field.old, field.new) == ("++++++++", "++++++++++++")
    assert "canary" not in shown(result)
    assert "?{vaultkv:t/c/k}" in shown(result)


@pytest.mark.parametrize(
    "part",
    [
        "data: {password: canary}",
        "spec: {containers: [{name: c, env: [{name: DB_PASSWORD, value: canary}]}]}",
        "spec: {containers: [{name: c, args: ['--token=canary', --verbose]}]}",
        'data: {config: "user: x\\nurl: https://me:canary@example.com/x\\n"}',
        'data: {key: "-----BEGIN RSA PRIVATE KEY-----\\ncanary\\n-----END RSA PRIVATE KEY-----\\n"}',
        "data: {h: 'Authorization: Bearer canarycanarycanary'}",
        "data: {j: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary}",
        "spec: {apiKey: canary, clientSecret: canary, DB_PASS: canary, passwords: [canary]}",
        "spec: {adminPassword: 7262262}\nstatus: canary-free",
        "spec: {args: [--token, canary]}",
        'data: {config: "a: 1\\npassword: canary\\n"}',
        'data: {config: "a: 1\\npassword: |\\n  canary\\nb: 2"}',
        'data: {config: "[db]\\npassword = canary\\n"}',
        'data: {config: "{{ x }}\\n  - password: canary\\n"}',
        'data: {config: "host=h password=canary user=u"}',
        'data: {config: "kind: Secret\\napiVersion: v1\\ndata:\\n  harmless: canary\\n"}',
        """metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration:
          '{"kind":"Secret","apiVersion":"v1","stringData":{"harmless":"canary"}}'}}""",
        "spec: {list: {kind: Secret, data: {harmless: canary}}}",
        "data: {u: 'https://hooks.slack.com/services/T0/B0/canary'}",
    ],
)
def test_what_looks_like_a_secret_is_masked_anywhere(part: str) -> None:
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, x: %s}\n"
    document = f"apiVersion: v1\nkind: Thing\nx: %s\n{part}\n".replace("canary-free", "y")
    assert "7262262" not in shown(reviewed(document % 1, document % 2))
    assert "canary" not in shown(reviewed(document % 1, document % 2))
    assert "canary" not in shown(reviewed("", document % 1))
    assert "canary" not in shown(reviewed(document % 1, text % "1"))


def test_secrets_in_documents_differ_still() -> None:
    def config(value: str) -> str:
        return thing("ConfigMap", data={"c": f"user: shown\npassword: {value}\n"})

    (field,) = reviewed(config("one-canary"), config("two-canary")).comparison.changes[0].fields
    assert [(path_text(inner.path), inner.old, inner.new) for inner in field.inside] == [
        ("password", "++++++++", "++++++++++++")
    ]
    assert reviewed(config("one"), config("one")).groups == ()


def test_names_of_secrets_are_no_secrets() -> None:
    def named(number: int) -> str:
        reference = {"name": "shown", "key": "token"}
        return thing("Thing", spec={"secretName": "shown", "tokenSecretRef": reference, "n": number})

    assert shown(reviewed(named(1), named(2))).count("shown") >= 4


# Dangers


def flags(old: str, new: str) -> list[str]:
    return [flag.name for flag in reviewed(old, new).flags]


def thing(kind: str, group: str = "", **rest: Any) -> str:
    """An object called x, as text."""
    return json.dumps({"apiVersion": f"{group}/v1".lstrip("/"), "kind": kind, "metadata": {"name": "x"}, **rest})


def crd(scope: str, *versions: dict[str, Any]) -> str:
    spec = {"scope": scope, "versions": list(versions)}
    return thing("CustomResourceDefinition", "apiextensions.k8s.io", spec=spec)


def role(resources: str, *verbs: str) -> str:
    rules = [{"apiGroups": [""], "resources": [resources], "verbs": list(verbs)}]
    return thing("Role", "rbac.authorization.k8s.io", rules=rules)


def named_role(*names: str) -> str:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": list(names)}]
    return thing("Role", "rbac.authorization.k8s.io", rules=rules)


def aggregated(value: str) -> str:
    labels = {"rbac.authorization.k8s.io/aggregate-to-edit": value}
    return thing("ClusterRole", "rbac.authorization.k8s.io", metadata={"name": "x", "labels": labels})


def binding(name: str, kind: str) -> str:
    subjects = [{"kind": kind, "name": "me"}]
    return thing("ClusterRoleBinding", "rbac.authorization.k8s.io", roleRef={"name": name}, subjects=subjects)


def hook(policy: str) -> str:
    webhooks = [{"name": "w", "failurePolicy": policy}]
    return thing("ValidatingWebhookConfiguration", "admissionregistration.k8s.io", webhooks=webhooks)


def pod(context: dict[str, Any], **spec: Any) -> str:
    return thing("Pod", spec={**spec, "containers": [{"name": "c", "image": "a:1", "securityContext": context}]})


def immutable(value: str) -> str:
    return thing("ConfigMap", immutable=True, data={"a": value})


V1, V2 = {"name": "v1", "served": True}, {"name": "v2"}


def deployment(**changes: str) -> str:
    return DEPLOYMENT % {**BEFORE, **changes}


IMAGE = "registry.example.com/web"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (thing("Namespace"), "", ["deletes-namespace"]),
        (thing("PersistentVolumeClaim"), "", ["deletes-volume"]),
        (thing("StatefulSet", "apps"), "", ["deletes-statefulset"]),
        (thing("NetworkPolicy", "networking.k8s.io"), "", ["deletes-network-policy"]),
        (thing("StorageClass", "storage.k8s.io"), "", ["deletes-storage-class"]),
        (thing("ConfigMap"), "", []),
        (thing("Namespace", "example.com"), "", []),
        (crd("Namespaced", V1), "", ["deletes-crd"]),
        (crd("Namespaced", V1), crd("Cluster", V1), ["crd-scope"]),
        (crd("Cluster", V1, V2), crd("Cluster", V2), ["crd-version-removed"]),
        (crd("Cluster", V1), crd("Cluster", {**V1, "served": False}), ["crd-not-served"]),
        (deployment(), deployment(selector="other"), ["immutable"]),
        (deployment(), deployment(replicas="0"), ["scaled-to-zero"]),
        (deployment(), deployment(image=f"{IMAGE}:1.1"), ["image-downgraded"]),
        (deployment(), deployment(image=IMAGE), ["image-unpinned"]),
        (deployment(image=f"{IMAGE}:1@sha256:0f"), deployment(image=f"{IMAGE}:1"), ["image-unpinned"]),
        (deployment(), deployment(image=f"{IMAGE}:1.10"), []),
        (role("pods", "get"), role("pods", "get", "delete"), ["rbac-widened"]),
        (role("*", "*"), role("pods", "get"), []),
        ("", role("secrets", "get"), ["rbac-widened"]),
        (named_role("a"), named_role("a", "b"), ["rbac-widened"]),
        (named_role("a", "b"), named_role("b"), []),
        (aggregated("false"), aggregated("true"), ["rbac-widened"]),
        ("", aggregated("true"), []),
        ("", role("pods", "get"), []),
        ("", binding("cluster-admin", "User"), ["rbac-widened"]),
        (binding("view", "User"), binding("view", "Group"), ["rbac-widened"]),
        (hook("Ignore"), hook("Fail"), ["webhook-fails-closed"]),
        (hook("Fail"), hook("Ignore"), []),
        (pod({}), pod({"privileged": True}, hostNetwork=True), ["privileged", "privileged"]),
        (immutable("1"), immutable("2"), ["immutable"]),
    ],
)
def test_flags(old: str, new: str, expected: list[str]) -> None:
    assert flags(old, new) == expected
    assert set(expected) <= set(FLAGS)


def test_verbs_of_a_resource_are_one_danger() -> None:
    (flag,) = reviewed(role("pods", "get"), role("pods", "get", "list", "watch")).flags
    assert flag.message == "newly allowed: list, watch pods"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("helm.sh/hook: pre-install", []),
        ("argocd.argoproj.io/hook: Sync", []),
        ("argocd.argoproj.io/sync-options: 'Prune=false,Replace=true'", []),
        ("other: x", ["immutable"]),
    ],
)
def test_what_is_made_anew_may_change(annotation: str, expected: list[str]) -> None:
    job = "{apiVersion: batch/v1, kind: Job, metadata: {name: x, annotations: {%s}}, spec: {template: {a: %s, b: %s}}}"
    result = reviewed(job % (annotation, 1, 1), job % (annotation, 2, 2)).flags
    assert [flag.name for flag in result] == expected
    assert all(flag.message.startswith("spec.template cannot") for flag in result)


def test_a_renamed_volume_claim_is_a_lost_one() -> None:
    claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {a: 1, b: 2, c: 3}}"
    assert flags(claim % "one", claim % "two") == ["deletes-volume"]


def test_noise_does_not_hide_dangers() -> None:
    old = DEPLOYMENT % BEFORE
    assert flags(old, DEPLOYMENT % {**BEFORE, "chart": "2", "replicas": "0"}) == ["scaled-to-zero"]


# Groups


def test_equal_changes_are_one_group() -> None:
    def deployments(replicas: int) -> list[PlacedObject]:
        return [
            PlacedObject(
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": f"d-{number}"},
                    "spec": {"replicas": replicas, "a": f"d-{number}"},
                }
            )
            for number in range(40)
        ]

    result = review(deployments(1), [*deployments(2), placed(CONFIG % ("a", "1"))])
    assert [len(group.changes) for group in result.groups] == [40, 1]


def test_hidden_noise_keeps_no_equal_changes_apart() -> None:
    def deployments(replicas: int, chart: str) -> list[PlacedObject]:
        return [
            placed((DEPLOYMENT % {**BEFORE, "replicas": str(replicas), "sum": f"{chart}-{name}"}).replace("web", name))
            for name in ("one", "two")
        ]

    assert [len(group.changes) for group in review(deployments(1, "a"), deployments(2, "b")).groups] == [2]


def test_objects_that_move_together_are_one_group() -> None:
    kinds = ("ConfigMap", "Service", "Role")
    old, new = ([placed(thing(kind), f"{folder}/{kind}.yaml") for kind in kinds] for folder in ("a/b", "a/c/d"))
    assert [len(group.changes) for group in review(old, new).groups] == [3]


def test_dangerous_groups_come_first() -> None:
    namespace = placed("{apiVersion: v1, kind: Namespace, metadata: {name: zz}}")
    result = review([namespace], [placed(CONFIG % (name, "1")) for name in "abc"])
    assert [flag.name for flag in result.groups[0].flags] == ["deletes-namespace"]


# Images


def test_images_of_containers_and_other_fields() -> None:
    content = load(
        "{spec: {image: x:1, template: {spec: {containers: [{name: c, image: y:2}, {name: d, image: 3}]}}}}", place="x"
    )
    assert [(use.place, use.image.text) for use in images_of(content)] == [("spec.image", "x:1"), ("c", "y:2")]


def test_images_of_variables_and_arguments() -> None:
    content = load(
        """
        spec:
          containers:
            - name: c
              args: [--acme-image=quay.io/a/b:1, --image-policy=x/y, --level=quay.io/a/c:1, --default-image=none]
              env: [{name: RELATED_IMAGE_X, value: quay.io/a/d:1}, {name: OTHER, value: quay.io/a/e:1}]
          agentImage: quay.io/a/f:1
          lastImage: none
        """,
        place="x",
    )
    assert sorted(use.image.text for use in images_of(content)) == [
        "quay.io/a/b:1",
        "quay.io/a/d:1",
        "quay.io/a/f:1",
    ]


@pytest.mark.parametrize(
    ("fields", "image"),
    [
        ("image: quay.io/a/b, version: v1", "quay.io/a/b:v1"),
        ("image: 'quay.io/a/b:2', tag: v1", "quay.io/a/b:2"),
        ("image: quay.io/a/b, version: 'sha256:0f'", "quay.io/a/b@sha256:0f"),
        ("image: quay.io/a/b, version: 1", "quay.io/a/b"),
    ],
)
def test_images_whose_version_stands_beside(fields: str, image: str) -> None:
    assert [use.image.text for use in images_of(load(f"{{spec: {{{fields}}}}}", place="x"))] == [image]


def test_a_tally_counts_the_same_and_shows_nothing() -> None:
    old, new = thing("Secret", stringData={"a": "canary"}), thing("Secret", stringData={"a": "other-canary"})
    result, counted = reviewed(old, new), tally([placed(old)], [placed(new)])
    assert counted.flags == result.flags
    assert [change.kind for change in counted.comparison.changes] == [
        change.kind for change in result.comparison.changes
    ]
    assert (counted.hidden, counted.hidden_only) == (result.hidden, result.hidden_only)
    assert "canary" not in shown(counted)


def application(prune: bool | None = None, project: str = "a", options: str = "") -> str:
    automated = "" if prune is None else f"\n  syncPolicy: {{automated: {{prune: {str(prune).lower()}}}}}"
    annotations = f", annotations: {{argocd.argoproj.io/sync-options: '{options}'}}" if options else ""
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a{annotations}}}\n"
        f"spec:\n  project: {project}\n  destination: {{name: here}}{automated}\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (application(), application(prune=False), ["sync-policy"]),
        (application(prune=False), application(prune=True), ["sync-policy"]),
        (application(prune=True), application(prune=False), []),
        (application(), application(project="b"), ["project-changed"]),
        (application(), application().replace("here", "there"), ["destination-changed"]),
        (application(options="Prune=false,Replace=true"), "", ["application-removed", "prune-blocked"]),
    ],
)
def test_dangers_of_applications(old: str, new: str, names: list[str]) -> None:
    assert flags(old, new) == names
