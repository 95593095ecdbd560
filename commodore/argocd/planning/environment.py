"""The build environment of a source, and `$NAME` in its fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from commodore.argocd.model.application import Application
from commodore.argocd.model.sources import Source

# `$$`, `${NAME}`, `$NAME`; a name is a word, or one of the characters that are parameters of a shell.
_REFERENCE = re.compile(
    r"\$(?:(\$)|\{([A-Za-z_][A-Za-z0-9_]*|[0-9*#@!?$-])\}|(\{\}?)|([A-Za-z_][A-Za-z0-9_]*|[0-9*#@!?-]))"
)

Unknown = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildEnvironment:
    """Variables by name.

    Attributes:
        unknown: called with the name of each undefined variable.
    """

    variables: dict[str, str]
    unknown: Unknown

    def substitute(self, text: str) -> str:
        """Replace the references in a text. Undefined variables are empty; `$$` is `$`."""

        def value(match: re.Match[str]) -> str:
            if match[1]:
                return "$"
            if match[3]:
                return ""
            name = match[2] or match[4]
            if name not in self.variables:
                self.unknown(name)
            return self.variables.get(name, "")

        return _REFERENCE.sub(value, text)


def build_environment(
    application: Application, instance: str, source: Source, revision: str, unknown: Unknown
) -> BuildEnvironment:
    """Return the variables that Argo CD sets for a source.

    Args:
        instance: the Application's instance name.
        revision: the commit, or the chart's version.
    """
    return BuildEnvironment(
        {
            "ARGOCD_APP_NAME": instance,
            "ARGOCD_APP_NAMESPACE": application.destination.namespace,
            "ARGOCD_APP_PROJECT_NAME": application.project,
            "ARGOCD_APP_REVISION": revision,
            "ARGOCD_APP_REVISION_SHORT": revision[:7],
            "ARGOCD_APP_REVISION_SHORT_8": revision[:8],
            "ARGOCD_APP_SOURCE_REPO_URL": source.repo_url,
            "ARGOCD_APP_SOURCE_PATH": source.path,
            "ARGOCD_APP_SOURCE_TARGET_REVISION": source.revision,
        },
        unknown,
    )
