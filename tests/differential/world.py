"""The set-up of a case with a cluster: an API that knows it, configuration, components and its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.differential.case import Case, Files, as_yaml
from tests.world.lieutenant import cluster, tenant

SITE = "https://git.example.com"
SHOW = """
local inventory = (import 'lib/kapitan.libjsonnet').inventory().parameters;
{
  show: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: inventory._instance },
    data: { [key]: std.get(inventory, key) for key in ['app', 'two', 'cluster', 'facts', 'dynamic_facts'] },
  },
}
"""
CLASS = as_yaml(
    {
        "parameters": {
            "kapitan": {
                "compile": [
                    {
                        "input_paths": ["${_base_directory}/component/main.jsonnet"],
                        "input_type": "jsonnet",
                        "output_path": "${_instance}/",
                    }
                ]
            }
        }
    }
)
COMPILE = ("catalog", "compile", "c-one", "--api-url", "{api}", "--api-token", "opaque", "--processes", "1")
LOCAL = ("catalog", "compile", "c-one", "--local", "--processes", "1")


VAULT = {
    "VAULT_ADDR": "https://vault.example.com",
    "VAULT_SKIP_VERIFY": "false",
    "auth": "token",
    "engine": "kv-v2",
    "mount": "clusters/kv",
}


PATHS = "paths are shown without `./` and a slash at the end"
OWN_MEANING = "a name must not take parameters with a meaning of their own"
USED = "the revision that was used is shown"
DIFFERS = {
    "variable-revision": "a hierarchy without `parameters.components` includes nothing",
    "revision-cluster": USED,
    "revision-tenant": USED,
    "version-null": USED,
    "alias-null-version": USED,
    "migration-empty": "an empty option has no value",
    "api-null-dynamic": "null stands for no dynamic facts",
    "fact-a": "the name of a folder is not a dynamic fact",
    "version-head": "`HEAD` is the default branch",
    "path-slash": PATHS,
    "path-dot": PATHS,
    "alias-path": PATHS,
    "package-path-slash": PATHS,
    "instances-alias-blanks": "blanks do not count",
    "instances-blank": "blanks do not count",
    "no-defaults": "the defaults are taken as empty",
    "unused-function": "a function in a reference would create a secret in Vault",
    "unused-bar": "a function in a reference would create a secret in Vault",
    "unused-git": "the path of a reference must not mean anything to git",
    "vault-none": "ref files would name no Vault",
    "dotenv-push": "`.env` does not decide that something is pushed",
    "named-kapitan": OWN_MEANING,
    "named-reserved-facts": OWN_MEANING,
    "one-file": "of what two instances write, the last in name order wins",
}
_UNREAD = ("blanks", "unicode", "quotes", "comma", "dollar", "brace", "new-line", "escaped-reference")
REFERENCES = (
    ("unused", "CMD-REF-003", _UNREAD),
    ("used", "CMD-REF-003", ("blanks", "quotes")),
    ("unused", "CMD-REF-004", ("sub-variable",)),
    ("unused", "CMD-REF-006", ("five", "five-equal", "six", "embedded")),
    ("used", "CMD-REF-006", ("five",)),
    ("unused", "CMD-REF-018", ("no-key",)),
)
ALLOW = {
    "instances-alias-itself-and-bare": ("CMD-DEP-003",),
    "metadata-aliases-missing": ("CMD-DEP-036",),
    "library-prefix": ("CMD-DEP-031",),
    "one-file": ("CMD-CAT-001",),
    "jsonnet-text": ("CMD-ENG-012",),
    **{f"named-{name}": ("CMD-DEP-004",) for name in ("one-key", "alias-key")},
    **{f"{kind}-{name}": (code,) for kind, code, names in REFERENCES for name in names},
}


def at(name: str, version: Any = "master", **more: Any) -> dict[str, Any]:
    """The entry of a component or package."""
    return {"url": f"{SITE}/{name}.git", "version": version, **more}


def component(name: str, parameters: Mapping[str, Any] | None = None, **metadata: Any) -> Files:
    own: dict[str, Any] = {"x": 1, **(parameters or {})}
    if metadata:
        own["=_metadata"] = metadata
    return {
        f"class/{name}.yml": CLASS,
        "class/defaults.yml": as_yaml({"parameters": {name.replace("-", "_"): own}}),
        "component/main.jsonnet": SHOW,
    }


def world(
    name: str,
    command: tuple[str, ...] = COMPILE,
    *options: str,
    common: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    entry: Mapping[str, Any] | None = None,
    applications: tuple[Any, ...] = ("app",),
    parameters: Mapping[str, Any] | None = None,
    repositories: Mapping[str, Mapping[str, str]] | None = None,
    api: Mapping[str, Any] | None = None,
    organisation: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Case:
    """A compile of one cluster.

    Args:
        common: keys of the class `global.common`, in place of the ones below.
        own: the class of the cluster in the repository of its tenant.
        entry: what `parameters.components` has besides `app`.
        api: changes to the cluster that the API gives; `organisation`: to its tenant.
    """
    components = {"app": at("app"), **(entry or {})}
    described = {"components": {key: value for key, value in components.items() if value is not ...}}
    described["kapitan"] = {"secrets": {"vaultkv": VAULT}}
    base = {"applications": list(applications), "parameters": {**described, **(parameters or {})}, **(common or {})}
    made = {
        "defaults": {
            "commodore.yml": "classes: [global.common, '${cluster:tenant}.${cluster:name}']\n",
            "common.yml": as_yaml(base),
        },
        "tenant": {"c-one.yml": as_yaml(dict(own or {}))},
        "app": component("app"),
        "catalog": {},
    }
    for repository, files in (repositories or {}).items():
        made[repository] = {**made.get(repository, {}), **files}
    given = cluster("c-one", "t-one", **{"gitRepo": {"url": f"{SITE}/catalog.git"}, **(api or {})})
    links = {"gitRepo": {"url": f"{SITE}/tenant.git"}, "globalGitRepoURL": f"{SITE}/defaults.git"}
    return Case(
        f"world/{name}",
        (*command, *options),
        compared="world",
        clusters=[given],
        tenants=(tenant("t-one", **{**links, **(organisation or {})}),),
        repositories=made,
        allow=ALLOW.get(name, ()),
        **{"differs": DIFFERS.get(name, ""), **rest},
    )
