"""The effect of a catalog's change on Argo CD: a compiled catalog is a repository of Applications and manifests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError, UsageError
from commodore.base.events import Warned
from commodore.cli.shell.console import Console
from commodore.cli.shell.review import ARGOCD_TITLE, show_review

if TYPE_CHECKING:
    from commodore.argocd import Difference
    from commodore.core.review import Review

_AGAIN = "commodore argocd diff --path catalog --base HEAD"


def check_argocd_diff(values: Mapping[str, Any]) -> None:
    """Refuse options that cannot be combined with `--argocd-diff`.

    Raises:
        UsageError: CMD-CLI-034, one of them writes to standard output, too.
    """
    if values["argocd_diff"] is None:
        return
    for option, given in (("--output-format json", values["output_format"] == "json"), ("--watch", values["watch"])):
        if given:
            raise UsageError(
                "CMD-CLI-034",
                f"--argocd-diff and {option} cannot be combined",
                hint="leave one of them out; `commodore argocd diff` makes the report of a catalog that is not pushed",
            )


def show_argocd_diff(folder: Path, form: str, console: Console) -> None:
    """Print the effect of a staged change of a catalog on Argo CD. Nothing is fetched.

    Errors are reported and do not fail the compile.
    """
    try:
        difference = _difference(folder, console)
    except CommodoreError as error:
        message = f"what the change means for Argo CD is unknown: {error.message}"
        console.announce(Warned(error.code, message, hint=error.hint))
        return
    _print(difference.review, form, console)
    console.diagnostics(difference.diagnostics)


def _print(review: Review, form: str, console: Console) -> None:
    from commodore.core.review import COMMENT_BYTES, html_report, markdown_report

    if form == "markdown":
        report = markdown_report(review, title=ARGOCD_TITLE, budget=COMMENT_BYTES, whole=_AGAIN)
        console.result(report, newline=False)
    elif form == "html":
        console.data(html_report(review, title=ARGOCD_TITLE))
    else:
        show_review(review, console, command=_AGAIN)


def _difference(folder: Path, console: Console) -> Difference:
    from commodore.argocd import Options, Tree, diff
    from commodore.base.files.staging import temporary_folder
    from commodore.cli.argocd.analysis import context_of
    from commodore.core.sources.git import Git

    context = context_of(console, offline=True)
    published = Git(folder, context).run(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], check=False)
    with temporary_folder() as empty:
        old = Tree(folder, "HEAD") if published.returncode == 0 else Tree(empty)
        return diff(old, Tree(folder), Options(context=context).having(self_revisions="all"))
