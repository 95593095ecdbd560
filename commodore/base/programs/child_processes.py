"""Start other programs: their environment variables, a limit for their memory, and interruptions meanwhile."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import os
import re
import resource
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

# Excludes variables with names of secrets from a family.
_ORDINARY = r"(?!\w*(TOKEN|PASSW|SECRET|CREDENTIAL|SQL_CONNECTION))"
_PROXIES = r"(https?|all|no|ftp)_proxy|(HTTPS?|ALL|NO|FTP)_PROXY"
_AUTHORITIES = r"(NIX_)?SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE"
# Read by loaders, resolvers and the shims of version managers.
_SYSTEM = (
    r"LD_(LIBRARY_PATH|PRELOAD)|DYLD_\w+|NSS_WRAPPER_(PASSWD|GROUP)|GLIBC_TUNABLES|LOCALE_ARCHIVE|LOCPATH"
    r"|OPENSSL_(CONF|MODULES)|RES_OPTIONS|LOCALDOMAIN|HOSTALIASES"
)
_MANAGERS = rf"{_ORDINARY}(ASDF|MISE|RTX|AQUA|NIX|HOMEBREW|DEVBOX|PYENV)_\w+"
_EVERYBODY = (
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|LANG|LANGUAGE|LC_\w+|TZ|ZONEINFO|TERM|TERMINFO|NO_COLOR|XDG_\w+"
    rf"|{_PROXIES}|{_AUTHORITIES}|{_SYSTEM}|{_MANAGERS}"
)
_DESKTOP = r"BROWSER|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|DESKTOP_SESSION|(KDE|GNOME|WSL)_\w+"
# Scripts for GIT_ASKPASS read passwords from variables that begin with GIT_, too.
_GIT = (
    r"GIT_\w+|SSH_\w+|GPG_\w+|GNUPGHOME|PINENTRY_USER_DATA|PASSWORD_STORE_\w+|KRB5\w*|VSCODE_GIT_\w+|GCM_\w+|EMAIL"
    r"|SUDO_UID"
)
# KUBECONFIG and similar name files with the namespace of a release and kubectl's defaults.
_TOOLS = (
    rf"{_ORDINARY}(HELM_(?!KUBE)|KUSTOMIZE_|KUBECTL_|GIT_)\w+|SSH_AUTH_SOCK|KUBECONFIG|KUBERC"
    r"|KUBERNETES_SERVICE_(HOST|PORT)|POD_NAMESPACE|GO(MAXPROCS|DEBUG|MEMLIMIT|GC)|DOCKER_CONFIG|REGISTRY_AUTH_FILE"
)
_PYTHON = r"PYTHON\w+|VIRTUAL_ENV|COVERAGE_\w+|RUST_\w+|MALLOC_\w+"
# References read KAPITAN_VAR_*; Kapitan logs in to registries, and completes the parameters of Vault.
_WORKERS = (
    rf"{_GIT}|{_DESKTOP}|{_TOOLS}|{_PYTHON}|KAPITAN_\w+|OCI_(USERNAME|PASSWORD)|{_ORDINARY}COMMODORE_\w+"
    r"|VAULT_(ADDR|NAMESPACE|SKIP_VERIFY|CLIENT_KEY|CLIENT_CERT|CACERT|CAPATH)"
)
_STORES = r"(AWS|GOOGLE|AZURE)_\w+"
LISTED = "COMMODORE_HELPER_VARIABLES"
"""The variable that lists further variables for credential helpers: names or patterns with `*`, separated by blanks or
commas.
"""


class Child(Enum):
    """Kinds of child processes, and the variables of each kind.

    All of them get paths, locale, proxies and certificate authorities. Tokens of this program, of forges and of clouds
    are not passed on.
    """

    PROGRAM = (_EVERYBODY, False)
    DESKTOP = (f"{_EVERYBODY}|{_DESKTOP}", False)
    PYTHON = (f"{_EVERYBODY}|{_PYTHON}", False)
    TOOL = (f"{_EVERYBODY}|{_TOOLS}", False)
    FETCHING_TOOL = (f"{_EVERYBODY}|{_TOOLS}", True)
    GIT = (f"{_EVERYBODY}|{_GIT}|{_DESKTOP}", True)
    WORKER = (f"{_EVERYBODY}|{_WORKERS}", True)
    WORKER_WITH_STORE = (f"{_EVERYBODY}|{_WORKERS}|{_STORES}", True)

    def __init__(self, names: str, starts_helpers: bool) -> None:
        self.names = re.compile(names)
        self.starts_helpers = starts_helpers


def absolute_folders(path: str) -> str:
    """Remove the relative and empty entries of PATH, which mean the current folder: no program may be started from the
    repository that the user, or a tool, happens to be in.
    """
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def child_environment(child: Child = Child.PROGRAM, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Select the caller's variables for a child process. Relative entries of PATH are removed.

    Programs that fetch also get the variables that the user lists in `LISTED`.
    """
    listed = environ.get(LISTED, "").replace(",", " ").split() if child.starts_helpers else []
    variables = {
        name: value
        for name, value in environ.items()
        if _is_for(child, name) or any(fnmatch.fnmatchcase(name, pattern) for pattern in listed)
    }
    if "PATH" in variables:
        variables["PATH"] = absolute_folders(variables["PATH"])
    return variables


@functools.cache
def _is_for(child: Child, name: str) -> bool:
    return child.names.fullmatch(name) is not None


def start_program(command: Sequence[str], *, env: Mapping[str, str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program, as `subprocess.Popen` does. If SIGINT or SIGTERM arrives meanwhile, the program is killed before
    the signal is handled: no caller could terminate it later.

    Args:
        env: see `child_environment`.
        options: those of `subprocess.Popen`.

    Raises:
        OSError: the program cannot be started.
    """
    with _interruptions_noted() as numbers:
        process = subprocess.Popen(command, env=env, **options)
        if numbers:
            with process:
                process.kill()
    return process


@contextlib.contextmanager
def _interruptions_noted() -> Iterator[list[int]]:
    """Collect the numbers of SIGINT and SIGTERM while the block runs, and deliver the signals after it."""
    numbers: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield numbers
        return

    def note(number: int, _frame: object) -> None:
        numbers.append(number)

    # Ignored signals stay ignored: a started program inherits that.
    handled: list[int] = [number for number in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(number))]
    before = [(number, signal.signal(number, note)) for number in handled]
    try:
        yield numbers
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        for received in numbers:
            signal.raise_signal(received)


def bound_memory(size: int) -> None:
    """Limit the memory of this process and its children to `size` bytes: they are terminated before the machine runs
    out.
    """
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(OSError, ValueError):  # a system without such a limit
        resource.setrlimit(resource.RLIMIT_DATA, (size if most == resource.RLIM_INFINITY else min(size, most), most))


def has_less_memory(size: int) -> bool:
    """Return True if the user's own limits leave a process fewer bytes."""
    limits = (resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    return any(limit not in (resource.RLIM_INFINITY, -1) and limit < size for limit in limits)
