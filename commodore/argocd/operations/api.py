"""The API for programs: operations on trees with typed results (docs/how-to/argocd-from-python.md).

Nothing is printed and nothing depends on the current folder. A function raises only errors without any result (no such
folder, a name that matches no Application); all others are in `diagnostics` of the result.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from commodore.argocd import comparing
from commodore.argocd.acquiring import repository_identity
from commodore.argocd.checking import Outcome, Tester
from commodore.argocd.comparing import find_side
from commodore.argocd.comparing.images import changed_uses, uses_of
from commodore.argocd.configuration import choose_profile, read_file
from commodore.argocd.configuration.installed import installed_tools
from commodore.argocd.diagnostics import STRICT
from commodore.argocd.discovery import Listing as Listed
from commodore.argocd.discovery import LostDefinition, Origin, may_be_meant, read_applications
from commodore.argocd.model.application import Application
from commodore.argocd.operations.diagnosing import check_all
from commodore.argocd.operations.explaining import explain_application, listed_source
from commodore.argocd.operations.explaining_objects import explain_object
from commodore.argocd.operations.options import Options, Tree
from commodore.argocd.operations.rendered import RenderedApplication, RenderOptions, Stage, render_applications
from commodore.argocd.operations.results import (
    ApplicationChange,
    Diagnosis,
    Difference,
    Expansion,
    Expansions,
    Explanation,
    Images,
    ListedApplication,
    ListedOrigin,
    Listing,
    Normalized,
    Rendering,
    Report,
    RunImages,
    Settings,
    SettingValue,
    Version,
)
from commodore.argocd.operations.session import (
    Selection,
    Session,
    after_listing,
    after_rendering,
    compare,
    diagnostics,
    given_settings,
    listing_of,
    open_session,
    rendering,
    search_root,
    selected,
)
from commodore.argocd.rendering.value_layers import explain_value
from commodore.base.diagnostics import Diagnostics, Subject
from commodore.base.errors import CommodoreError, UsageError
from commodore.core.tools import installed_version
from commodore.version import __version__

_EMPTY = "CMD-ARGO-011"
_LIBRARIES = {"Jsonnet": "gojsonnet", "jq": "jq", "RE2": "google-re2", "Lua": "lupa"}


def list_applications(tree: Tree, options: Options | None = None, names: Sequence[str] = ()) -> Listing:
    """List the Applications that a tree defines: in files, by ApplicationSets, and rendered by other Applications.

    Args:
        names: names or patterns of Applications; empty for all.

    Raises:
        CommodoreError: the tree does not exist or cannot be read, or a name matches no Application.
    """
    with open_session(options or Options()) as session:
        chosen = selected(session, tree, names)
        described = tuple(_described(application, chosen.listing) for application in chosen.applications)
        return Listing(after_listing(session, chosen), described)


def expand(tree: Tree, options: Options | None = None, names: Sequence[str] = ()) -> Expansions:
    """Expand the ApplicationSets of a tree, or of the files in the options, to Applications.

    Args:
        names: names or patterns of ApplicationSets; empty for all.

    Raises:
        CommodoreError: as `list_applications`, or a name matches no ApplicationSet.
    """
    from commodore.argocd.operations.expanding import expand_sets

    with open_session(options or Options()) as session:
        expanded = expand_sets(session, tree, names)
        labels = {appset.name: f"{appset.namespace or 'argocd'}/{appset.name}" for appset in expanded.sets}
        made = (
            Expansion(labels[generated.set], generated.path, generated.data, generated.number, generated.params)
            for generated in expanded.made
        )
        return Expansions(diagnostics(session), tuple(made), expanded.sets)


def render(
    tree: Tree, options: Options | None = None, names: Sequence[str] = (), stage: Stage = "desired"
) -> Rendering:
    """Render Applications.

    Args:
        names: names or patterns of Applications; empty for all.
        stage: `desired`, as compared with the cluster; `manifests`, as rendered from sources, with tracking.

    Raises:
        CommodoreError: as `list_applications`.
    """
    with open_session(options or Options()) as session:
        chosen = selected(session, tree, names)
        applications = _rendered(session, chosen, stage)
        return Rendering(after_rendering(session, chosen), applications, chosen.listing.own)


def test(tree: Tree, options: Options | None = None, names: Sequence[str] = ()) -> Report:  # noqa: PT028
    """Test that Applications render, and that their AppProjects allow them.

    Raises:
        CommodoreError: as `render`.
    """
    with open_session(options or Options()) as session:
        chosen = selected(session, tree, names)
        kubernetes, checks = session.options.kubernetes, session.options.checks
        with rendering(session, chosen.listing) as opened:
            tester = Tester(
                opened.settings,
                opened.renderer,
                checks,
                session.diagnostics,
                kubernetes.kube_version,
                kubernetes.cluster_scoped,
            )
            outcomes = tuple(tester.run(chosen.applications, session.options.execution.jobs))
        lost = (_untested(lost) for lost in chosen.listing.lost if may_be_meant(lost, names))
        return Report(after_rendering(session, chosen), (*lost, *outcomes))


def diff(base: Tree | None, target: Tree, options: Options | None = None, names: Sequence[str] = ()) -> Difference:
    """Compare the objects that Argo CD would deploy from two trees.

    Args:
        base: None for the merge base of the target and the default branch of `origin`.

    Raises:
        CommodoreError: as `render`.
    """
    with open_session(options or Options()) as session:
        sides, difference, reported = compare(session, base, target, names)
        changes = tuple(_changed(verdict, difference) for verdict in difference.applications)
        dangers = tuple(dict.fromkeys(flag.name for flag in difference.review.flags))
        return Difference(reported, sides[0].shown, sides[1].shown, changes, dangers, difference, sides)


def images(
    tree: Tree, options: Options | None = None, names: Sequence[str] = (), *, base: Tree | None = None
) -> Images:
    """List the images of Applications, or with a base the images that differ.

    Raises:
        CommodoreError: as `render`.
    """
    with open_session(options or Options()) as session:
        places = session.options.comparison.image_places
        if base is not None:
            _, difference, reported = compare(session, base, tree, names)
            return Images(reported, tuple(changed_uses(difference, places)))
        chosen = selected(session, tree, names)
        uses = tuple(
            use
            for application in _rendered(session, chosen)
            for use in uses_of(application.name, (made.data for made in application.objects), places)
        )
        return Images(after_rendering(session, chosen), uses)


def run_images(
    tree: Tree, names: Collection[str], options: Options | None = None
) -> tuple[dict[str, RunImages], Diagnosis]:
    """List the images that Applications run at a commit, by `namespace/name`, and return the diagnosis.

    Args:
        names: the Applications, as `namespace/name`; undefined ones are left out.

    Raises:
        CommodoreError: as `list_applications`.
    """
    with open_session(options or Options()) as session:
        side = find_side(search_root(session, tree.path), tree.revision, session.scratch / "tree", session.context)
        listing = listing_of(session, side.at)
        chosen = [application for application in listing.applications if listing.label(application) in names]
        if len(chosen) < len(names):
            listing.report_failures(session.diagnostics, exclude=chosen)  # one of these may define a missing one
        collector = Diagnostics(STRICT)
        with rendering(session, listing, collector) as opened:
            rendered = list(opened.renderer.render_all(chosen, session.options.execution.jobs))
        doubts: dict[str, list[str]] = {}
        for diagnostic in collector.collected():
            if diagnostic.severity == "error":
                doubts.setdefault(diagnostic.subject.application, []).append(diagnostic.message)
        made: dict[str, RunImages] = {}
        for application, objects in rendered:
            label = listing.label(application)
            if isinstance(objects, CommodoreError) or label in doubts:
                problem = objects.message if isinstance(objects, CommodoreError) else "; ".join(doubts[label])
                made[label] = RunImages(problem=problem)
                continue
            made[label] = RunImages(
                tuple(use.image.text for use in uses_of(label, (rendered_object.data for rendered_object in objects))),
                tuple(
                    side.commit if repository_identity(source.repo_url) in listing.own else source.revision
                    for source in application.sources
                ),
            )
        return made, Diagnosis(diagnostics(session), side.root)


def settings(tree: Tree | None, options: Options | None = None) -> Settings:
    """Return the effective settings of a tree, each with its origin.

    Args:
        tree: None for only the settings of the files in the options.

    Raises:
        CommodoreError: as `list_applications`.
    """
    with open_session(options or Options()) as session:
        if tree is None:
            read, reported = given_settings(session), diagnostics(session)
        else:
            chosen = selected(session, tree)
            # A repository that has only settings is not an error here.
            read = chosen.listing.settings
            reported = tuple(diagnostic for diagnostic in after_listing(session, chosen) if diagnostic.code != _EMPTY)
        values = tuple(
            SettingValue(part, key, setting.value, setting.level, setting.place, setting.overridden)
            for part, key, setting in read.rows()
        )
        return Settings(reported, read.namespace, values, tuple(read.clusters), read.repositories)


def diagnose(tree: Tree, options: Options | None = None, *, rendered: bool = False, plugins: bool = False) -> Diagnosis:
    """Return all diagnostics of reading a tree.

    Args:
        rendered: also those of rendering all Applications and reading their ignore rules.
        plugins: the same for Applications that a plugin renders.

    Raises:
        CommodoreError: as `list_applications`.
    """
    with open_session(options or Options()) as session:
        chosen = selected(session, tree)
        if rendered or plugins:
            check_all(session, chosen, plugins=not rendered)
            reported = diagnostics(session)
        else:
            reported = after_listing(session, chosen)
        own = chosen.listing.own
        return Diagnosis(reported, next(iter(own.values())).root if own else Path())


def normalize(objects: Path | None, options: Options) -> Normalized:
    """Remove the fields that the rules of an Application and of the settings ignore from objects.

    Args:
        objects: a YAML file with objects.
        options: `search.app` is the file with the Application.

    Raises:
        UsageError: CMD-ARGO-021, there is not exactly one Application, or no file with objects.
        CommodoreError: a file cannot be read.
    """
    from commodore.argocd.normalising import Normaliser
    from commodore.argocd.normalising.normalise import read_objects

    collector, limits = _collector(options), options.context.limits
    profile = choose_profile(options.followed.argocd_version, {}, Diagnostics())
    settings = options.installation.candidates(profile, (), limits, collector).settings()
    applications = read_applications(options.search.app, limits, collector)
    if len(applications) != 1 or objects is None:
        raise UsageError(
            "CMD-ARGO-021",
            "expected one Application and a file with objects",
            hint="name them by --app and --objects",
        )
    with Normaliser(applications[0], settings, collector) as normaliser:
        result = [normaliser.normalise(data) for data in read_objects(read_file(objects, limits), str(objects))]
    return Normalized(collector.collected(), tuple(result))


def version(options: Options | None = None) -> Version:
    """Return the followed version of Argo CD, and the installed tools with the versions that Argo CD runs."""
    options = options or Options()
    collector = _collector(options)
    profile = choose_profile(options.followed.argocd_version, {}, collector)
    tools = tuple(installed_tools(profile, options.context))
    libraries = {name: installed_version(package) for name, package in _LIBRARIES.items()}
    return Version(collector.collected(), __version__, profile.name, tools, libraries, platform.python_version())


def explain(
    tree: Tree, application: str, options: Options | None = None, object_: str = "", value: str = ""
) -> Explanation:
    """Explain an Application: its origin, the origins of its sources, the files they read, and their objects.

    Args:
        object_: an object, as `KIND/NAME` or `KIND/NAMESPACE/NAME`, optionally with `/` and a JSON pointer, to explain
            after each stage.
        value: a value of its charts, such as `image.tag`, to explain by layers.

    Raises:
        CommodoreError: as `render`; CMD-ARGO-026, the name is a pattern that matches several; CMD-ARGO-029, the
            object or the pointer does not exist; CMD-ARGO-036, no layer has the value.
    """
    with open_session(options or Options()) as session:
        chosen = selected(session, tree, (application,))
        if len(chosen.applications) != 1:
            raise UsageError(
                "CMD-ARGO-026",
                f"{application!r} matches {len(chosen.applications)} Applications",
                hint="name one, as NAMESPACE/NAME",
            )
        with rendering(session, chosen.listing) as opened:
            made = explain_application(chosen.applications[0], chosen.listing, opened, session.diagnostics)
        shown = made.application
        if made.error is not None:
            session.diagnostics.take(made.error, Subject(application=made.application.name))
        if value:
            shown = replace(shown, value=explain_value(made.layers, value))
        if object_ and made.error is None:
            shown = replace(shown, object=explain_object(made.stages, object_))
        return Explanation(after_rendering(session, chosen), shown)


def _collector(options: Options) -> Diagnostics:
    return Diagnostics(STRICT if options.reporting.strict else ())


def _untested(lost: LostDefinition) -> Outcome:
    """Return the outcome of a lost definition, whose Applications are not tested."""
    name = lost.label if lost.kind == "Application" else f"{lost.kind} {lost.label}"
    return Outcome(name, "UNKNOWN", 0, (lost.reason,))


def _changed(verdict: comparing.Verdict, difference: comparing.Difference) -> ApplicationChange:
    """Return the change of an Application, with its objects as in reports: secrets are masked."""
    return ApplicationChange(
        verdict.name,
        verdict.state,
        verdict.note,
        tuple(dict.fromkeys(flag.name for flag in verdict.flags)),
        tuple(change for change in difference.review.comparison.changes if change.source == verdict.name),
        verdict.flags,
    )


def _described(application: Application, listing: Listed) -> ListedApplication:
    """Return an Application of a listing, with its origin."""
    controller = listing.settings
    return ListedApplication(
        name=application.name,
        namespace=application.namespace or controller.namespace,
        instance=controller.instance_name(application.namespace, application.name),
        project=application.project,
        destination=application.destination,
        labels=application.labels,
        sources=tuple(listed_source(index, source) for index, source in enumerate(application.sources, 1)),
        origin=ListedOrigin(
            **asdict(listing.origins.get(listing.label(application), Origin())),
            file=application.place.place,
            line=application.place.line,
        ),
    )


def _rendered(session: Session, chosen: Selection, stage: Stage = "desired") -> tuple[RenderedApplication, ...]:
    options = session.options
    render_options = RenderOptions(options.shown, stage, options.kubernetes.cluster_scoped, options.execution.jobs)
    with rendering(session, chosen.listing) as opened:
        return tuple(render_applications(chosen.applications, opened, render_options, session.diagnostics))
