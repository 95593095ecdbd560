"""What is looked at, and how: the options that programs and the command line share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from commodore.argocd.acquiring import Providers
from commodore.argocd.comparing import Rules
from commodore.argocd.trees import SelfRevisions
from commodore.base.context import Context
from commodore.base.errors import UsageError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.review.object_diff import DEFAULT_NOISE, NoiseRule
from commodore.core.review.textdiff import CONTEXT


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a repository: a folder as it lies, or a commit.

    Attributes:
        path: the folder in which Applications are looked for. If it is in a checkout, sources may lie anywhere in it.
        revision: a branch, tag or commit of the repository around it; empty for the folder as it lies.
    """

    path: Path
    revision: str = ""

    @classmethod
    def folder(cls, path: Path | str) -> Tree:
        """A folder as it lies."""
        return cls(Path(path))

    @classmethod
    def commit(cls, repository: Path | str, revision: str) -> Tree:
        """A commit of a local repository, checked out or bare, which stays untouched."""
        return cls(Path(repository), revision)


def compared(
    target: Tree, base: str = "", folder: Path | None = None, repository: Path | None = None
) -> tuple[Tree | None, Tree]:
    """The trees of a comparison: the base, None for where the target left the default branch, and the target.

    Args:
        base: the revision to compare with, or a range such as `main..feature`, which names the target, too.
        folder: to compare with instead.
        repository: that of `base`; None for that of the target.

    Raises:
        UsageError: CMD-ARGO-023, more than two trees are named.
    """
    if base and folder is not None:
        raise _several("--base and --base-path both say what to compare with")
    if folder is not None:
        return Tree(folder), target
    first, dots, second = base.partition("..")
    if dots and target.revision:
        raise _several(f"--base {base} and --ref both say what is compared")
    if second.startswith("."):
        raise _several(f"--base {base} is no range of two dots")
    if dots:
        first, target = first or "HEAD", replace(target, revision=second or "HEAD")
    return (Tree(repository or target.path, first) if first else None), target


def _several(message: str) -> UsageError:
    return UsageError("CMD-ARGO-023", message, hint="write --base main --ref feature, or --base main..feature")


@dataclass(frozen=True, slots=True)
class Options:
    """How a tree is looked at; the defaults are those of the commands.

    Attributes:
        files: files with Applications that are looked at instead of a tree, as `--app`.
        sets: files with ApplicationSets that are expanded instead of those of a tree, as `--appset`.
        installation: YAML files with objects of the installation, as `--argocd-settings`.
        chart_values: files with values of the Argo CD chart of the installation, as `--argocd-values`.
        facts: files that say what generators would ask of forges, clusters and plugins.
        fixed_time: what templates of ApplicationSets are told is the time, as ISO 8601 has it; empty for what the
            clock of the providers says, or for nothing.
        self_urls: URLs of the repository that the tree is of, beside those of its remotes.
        self_revisions: at which revisions these mean the tree: empty, `HEAD`, the default branch and the branch of the
            tree (`branches`); `all`; those that are its commit (`declared`). The local repository has the others.
        repo_map: folders that stand for repositories, by URL; or texts, as `--repo-map` has them.
        entries: folders below the tree's that are rendered first.
        max_depth: how many rounds of rendering look for further Applications; 0 for none.
        project: a pattern of projects.
        labels: a selector of labels, as kubectl takes it.
        cluster: the address of the destination, or a pattern of its name.
        destination_namespace: a pattern of the namespace of the destination.
        plugin_policy: a file that says what becomes of the sources of plugins, as `--plugin-policy`.
        enable_plugins: whether programs run that the policy names.
        avp: whether the usual plugins for secrets of Vault are rendered with their placeholders.
        namespace: that of Argo CD, if nothing else is to say it.
        app_namespaces: patterns of the namespaces in which Applications count beside it.
        config_maps, parameters: files with the ConfigMaps `argocd-cm` and `argocd-cmd-params-cm`, as `--argocd-cm`.
        build_options: words for `kustomize build`, as `--kustomize-build-option`.
        repository_secrets: files with Secrets of repositories, as `--repo-secret`; credentials in them are not read.
        shipped_defaults: whether kinds are excluded that the manifests of Argo CD exclude.
        ignored_paths: patterns of files and folders that are not looked at for Applications.
        dry_sources: whether Applications that are hydrated stand for their dry source; None for comparisons alone.
        exact_tools: make it an error if a tool has another version than Argo CD runs.
        timeout: how many seconds a source may take to render.
        strip: what is taken out of objects after rendering, as `[GROUP/KIND:]POINTER`.
        order: of the objects of an Application: `name`, or that of their `source`; empty for the latter where the
            sources' own objects are asked for.
        argocd_version: the version of Argo CD that is followed, as `--argocd-version`.
        base_argocd_version: the same of the base of a comparison; empty for the same version.
        kube_version, api_versions: what charts are told of the cluster.
        api_versions_from_tree: whether charts that ask are told of the APIs of CustomResourceDefinitions in the tree.
        cluster_scoped: further kinds without namespace, as `GROUP/KIND`.
        kinds: objects of these kinds alone; all if there are none.
        left_out: no objects of these kinds.
        changed_only: compare only Applications that read a file that has changed.
        strict_changed_only: make it an error if it cannot be told what an Application reads, or which one reads a file.
        allow_unknown: make no error of what is unknown: definitions that cannot be read or expanded, Applications that
            do not render.
        changed_include, changed_ignore: patterns of the changed files that count, and of those that do not.
        changed_file: a file that lists the changed files, instead of a comparison of the trees.
        rules: whose ignore rules count in a comparison.
        noise: which differences are counted instead of shown.
        show_ignored: show noise and what rules ignore, too, marked as such.
        image_pointers: where objects name images beside what is known, as `GROUP/KIND:POINTER`.
        immutable: what of which kinds cannot be changed beside what is known, likewise; without a pointer, their
            `/spec/selector`.
        mask_kinds: where objects have secrets beside what is known, likewise.
        grouped: show equal changes of a comparison once.
        context_lines: how many lines of a text are shown around what differs in it.
        follow_renames: take an Application that goes and one that comes with the same sources and destination for one.
        hooks: whether hooks count.
        health: in tests, run the health scripts of the settings.
        schema: in tests, compare objects with the schemas of their kinds.
        twice: in tests, render everything twice, and nothing from the cache.
        events: tell of all that Applications need where it came from (CMD-ARGO-330), which differs between runs.
        strict: make errors of diagnostics that say that something could not be honoured.
        reuse: use what helm and kustomize wrote before, and keep what they write.
        jobs: how many Applications are rendered at the same time; 0 for one per usable CPU.
        credentials: a file with credentials of servers, as `--credentials`.
        refresh: what is asked anew though the cache has it, as `--refresh`: `git`, `charts`, `remotes`, `oci`, `all`.
        ambient_credentials: whether servers are asked with what git and others would use of the user's own.
        providers: what is given in place of the network.
        context: who listens, limits, whether there is network access, and what cancels.
    """

    files: tuple[Path, ...] = ()
    sets: tuple[Path, ...] = ()
    installation: tuple[Path, ...] = ()
    chart_values: tuple[Path, ...] = ()
    facts: tuple[Path, ...] = ()
    fixed_time: str = ""
    self_urls: tuple[str, ...] = ()
    self_revisions: SelfRevisions = "branches"
    repo_map: Mapping[str, Path] | tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    max_depth: int = 4
    project: str = ""
    labels: str = ""
    cluster: str = ""
    destination_namespace: str = ""
    plugin_policy: Path | None = None
    enable_plugins: bool = False
    avp: bool = False
    namespace: str = ""
    app_namespaces: tuple[str, ...] = ()
    config_maps: tuple[Path, ...] = ()
    parameters: tuple[Path, ...] = ()
    build_options: tuple[str, ...] = ()
    repository_secrets: tuple[Path, ...] = ()
    shipped_defaults: bool = False
    ignored_paths: tuple[str, ...] = ()
    dry_sources: bool | None = None
    exact_tools: bool = False
    timeout: float = DEFAULT_LIMITS.argocd_source_seconds
    strip: tuple[str, ...] = ()
    order: Literal["", "name", "source"] = ""
    argocd_version: str = ""
    base_argocd_version: str = ""
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    api_versions_from_tree: bool = True
    cluster_scoped: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    changed_only: bool = True
    strict_changed_only: bool = False
    allow_unknown: bool = False
    changed_include: tuple[str, ...] = ()
    changed_ignore: tuple[str, ...] = ()
    changed_file: Path | None = None
    rules: Rules = "both"
    noise: tuple[NoiseRule, ...] = DEFAULT_NOISE
    show_ignored: bool = False
    image_pointers: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    mask_kinds: tuple[str, ...] = ()
    grouped: bool = True
    context_lines: int = CONTEXT
    follow_renames: bool = False
    hooks: bool = True
    health: bool = True
    schema: bool = False
    twice: bool = False
    events: bool = False
    strict: bool = False
    reuse: bool = True
    jobs: int = 0
    credentials: Path | None = None
    ambient_credentials: bool = False
    refresh: tuple[str, ...] = ()
    providers: Providers = field(default_factory=Providers)
    context: Context = field(default_factory=lambda: Context(ignore, DEFAULT_LIMITS))
