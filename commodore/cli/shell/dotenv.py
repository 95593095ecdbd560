"""`.env` of the current folder: options that a user does not want to repeat.

The folder may be another person's, a repository that was just cloned for one. So the file sets options of this program
and nothing else; it does not say that code is run or something is pushed, and does not say where a token goes that
comes from elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from commodore.base.errors import InputError
from commodore.base.events import Announce, Warned
from commodore.cli.shell.settings.model import ENVIRONMENT_PREFIX

_OWN = frozenset(
    {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GLOBAL_REPO_REVISION_OVERRIDE", "TENANT_REPO_REVISION_OVERRIDE"}
)
"""Variables of options that do not begin with the program's prefix."""

DESTINATIONS = {"API_URL": ("API_TOKEN", "--api-token"), "GITHUB_URL": ("GITHUB_TOKEN", "--github-token")}
"""Ends of variables that say where a token goes: the end of the token's own variables, and its option."""

USER_ONLY_VARIABLES = (
    *("ADOPT", "ALLOW", "ALLOW_CONFLICTS", "ALLOW_EMPTY", "ALLOW_MASS_REMOVAL", "ALLOW_NONE", "ALLOW_OLDER"),
    *("ALLOW_REMOVAL", "ALLOW_SECRET", "ALLOW_UNKNOWN", "APPROVE", "APPROVED_BY", "AUTO_PROMOTION", "CACHE_KEY"),
    *("CACHE_MODE", "CACHE_TRUST", "CACHE_URL", "CALLBACK_ADDRESS", "CALLBACK_PORT", "CONTEXT", "CREDENTIALS"),
    *("EDITED", "ENABLE_PLUGINS", "FORCE", "HEALTH_ADDR", "HELPER_VARIABLES", "INSECURE_SCHEDULER", "KUBECONFIG"),
    *("LIMITS", "LISTEN", "LISTEN_TOKEN", "METRICS_ADDR", "MIRROR", "OIDC_CLIENT", "OIDC_DISCOVERY_URL"),
    *("OTHER_ARTIFACTS", "PAUSE_FILE", "PLUGIN_POLICY", "PUSH", "REMOVED", "REWRITE", "SCHEDULER", "SECRETS"),
    *("SERVER_DRY_RUN", "SIGN", "TRUST_POLICY", "TRUST_TEMPLATE", "UNSYNCED"),
)
"""Ends of variables that only the user's own environment and command line may set."""

_SIZE = 1 << 20


def load_dotenv(
    folder: Path,
    announce: Announce,
    *,
    arguments: Sequence[str] = (),
    environ: MutableMapping[str, str] = os.environ,
) -> None:
    """Set what `.env` of this folder (and of no parent) says; variables that are set already win.

    Values are taken as they are written: `${NAME}` stands for nothing.

    Args:
        announce: gets which variables are not taken, and why.
        arguments: of the command line, which may give a token.

    Raises:
        InputError: the file cannot be read.
    """
    file = folder / ".env"
    if not file.is_file():
        return
    results = {name: value for name, value in _read(file).items() if name not in environ}
    foreign = sorted(name for name in results if name not in _OWN and not name.startswith(f"{ENVIRONMENT_PREFIX}_"))
    refused = {name: reason for name in results if (reason := _refusal(name, results, environ, arguments))}
    if foreign:
        announce(
            Warned(
                "CMD-CLI-006",
                f"{file} sets {', '.join(foreign)}, which is not taken from there",
                hint="only options of commodore count in .env; export other variables yourself",
            )
        )
    for name, reason in sorted(refused.items()):
        announce(
            Warned(
                "CMD-CLI-007",
                f"{file} sets {name}, which is not taken from there: {reason}",
                hint="export the variable yourself, or use the option",
            )
        )
    environ.update({name: value for name, value in results.items() if name not in refused and name not in foreign})


def _read(file: Path) -> dict[str, str]:
    import io

    from dotenv import dotenv_values

    try:
        with file.open("rb") as opened:
            content = opened.read(_SIZE + 1)
        if len(content) > _SIZE or b"\0" in content:
            raise ValueError("it is not a list of variables")
        values = dotenv_values(stream=io.StringIO(content.decode()), interpolate=False)
    except (OSError, ValueError) as error:
        raise InputError(
            "CMD-CLI-004", f"the file {file} cannot be read: {error}", hint="correct or remove it"
        ) from error
    return {name: value for name, value in values.items() if value is not None}


def _refusal(name: str, results: Mapping[str, str], environ: Mapping[str, str], arguments: Sequence[str]) -> str | None:
    """Return the reason why a variable is ignored; None if it is accepted."""
    if _ends(name, USER_ONLY_VARIABLES):
        return "it is for the user to decide, not for a file in this folder"
    for destination, (token, option) in DESTINATIONS.items():
        if not _ends(name, (destination,)):
            continue
        given = any(_ends(other, (token,)) and value.strip() for other, value in environ.items())
        if given or any(argument.partition("=")[0] == option for argument in arguments):
            return "a token that comes from elsewhere would be sent there"
        if any(_ends(other, (token,)) and os.path.lexists(value.strip()) for other, value in results.items()):
            return "a file that the same .env names as the token would be sent there"
    return None


def _ends(name: str, words: Sequence[str]) -> bool:
    return name.startswith(f"{ENVIRONMENT_PREFIX}_") and name.endswith(tuple(f"_{word}" for word in words))
