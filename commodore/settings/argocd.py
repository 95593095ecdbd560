"""The options of `argocd`."""

from __future__ import annotations

from commodore.settings.model import Setting

INSTALLATION = Setting(
    "argocd_settings",
    ("--argocd-settings",),
    "A YAML file with objects of the installation: the ConfigMaps argocd-cm and argocd-cmd-params-cm, cluster Secrets, "
    "AppProjects; may be repeated.",
    kind="file",
    multiple=True,
    metavar="FILE",
)
STRICT = Setting(
    "strict",
    ("--strict",),
    "Make errors of diagnostics that say that something could not be honoured.",
    kind="switch",
    default=False,
)
SHOWN = Setting(
    "diagnostics",
    ("--diagnostics",),
    "Which diagnostics standard error shows; errors always.",
    kind="choice",
    choices=("actionable", "all", "none"),
    default="actionable",
)
COMMON = (INSTALLATION, STRICT, SHOWN)


def output(*choices: str) -> Setting:
    """The form of a result; the first choice is the default."""
    return Setting(
        "out", ("-o", "--output-format"), "The form of the result.", kind="choice", choices=choices, default=choices[0]
    )


ARGOCD_SETTINGS = (*COMMON, output("text", "json", "yaml"))
