"""The trust policy: permissions of other people's repositories beyond reading files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

from commodore.base.errors import PolicyError
from commodore.core.confinement.hosts import host_of, is_near, is_on_link, may_lead

EVERY = ("*",)
"""Every component, or every host."""

CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "external": "run the commands of its compile entries of type `external`",
        "kadet": "run the Python modules of its compile entries of type `kadet`",
        "shell": "write its `external` commands for a shell, and set variables such as PATH for them",
        "jinja2_filters": "let templates use the Python functions in `lib/jinja2_filters.py`",
        "helm_options": "give helm options that run programs, contact servers or read other files, and values by URL",
        "kustomize_options": "give kustomize options that run programs or let it read files of other folders",
    }
)
"""The capabilities of a component, by their name in a policy, and what each permits."""

_ON_PATH = "leave it out, so that the program on PATH is taken"

_MKDIR = frozenset(("/bin/mkdir", "/usr/bin/mkdir"))


def is_common_program(program: str) -> bool:
    """Return True for `mkdir` and for the interpreter `${_python3}`, which public components start."""
    return program in _MKDIR or program == sys.executable


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """Permissions by component. Without a policy file it is `DEFAULT_POLICY`.

    Components are given by name, with `*` for any characters. An instance counts as its component.

    Args:
        external, kadet, shell, jinja2_filters, helm_options, kustomize_options: the components with a capability;
            see `CAPABILITIES`.
        programs: absolute paths of programs that compile entries may use instead of those on PATH (helm_path).
        hosts: the hosts that may be fetched from, with `*` for any characters. Addresses of this machine and its link
            have to be listed in full.
        near_hosts: patterns of `hosts` also match addresses of this machine and its link.
        rendering_seconds, rendering_bytes: time and memory for one rendering; None for those of `Limits`.
        isolated: code of components (`external`, `kadet`, programs that helm and kustomize start) runs without network
            and sees its own files only. None: if this machine can do that.
    """

    external: tuple[str, ...] = EVERY
    kadet: tuple[str, ...] = EVERY
    shell: tuple[str, ...] = ()
    jinja2_filters: tuple[str, ...] = ()
    helm_options: tuple[str, ...] = ()
    kustomize_options: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    hosts: tuple[str, ...] = EVERY
    near_hosts: bool = False
    rendering_seconds: float | None = None
    rendering_bytes: int | None = None
    isolated: bool | None = None

    @property
    def names_hosts(self) -> bool:
        """Return True if it lists the hosts to fetch from; without a list, all hosts that are not near are allowed."""
        return self.hosts != EVERY

    def allows(self, capability: str, component: str) -> bool:
        """Return True if a component has one of the `CAPABILITIES`.

        Raises:
            ValueError: the capability is unknown.
        """
        if capability not in CAPABILITIES:
            raise ValueError(f"unknown capability {capability!r}")
        return any(fnmatchcase(component, pattern) for pattern in getattr(self, capability))

    def rights(self, component: str) -> tuple[object, ...]:
        """Return everything in it that affects the results of a component, as plain values."""
        allowed = tuple(name for name in CAPABILITIES if self.allows(name, component))
        return (allowed, self.programs, self.hosts, self.near_hosts, self.isolated)

    def require(self, capability: str, component: str, what: str) -> None:
        """Refuse an action for which a component lacks a capability.

        Args:
            what: the action, as the subject of a message: `the command 'make'`.

        Raises:
            PolicyError: it does not have the capability.
        """
        if not self.allows(capability, component):
            raise PolicyError(
                "CMD-CONF-004",
                f"{what} is not allowed to component {component!r}: it would {CAPABILITIES[capability]}",
                hint=f"if you trust it, name the component under `{capability}` in the trust policy",
            )

    def require_program(self, program: str, what: str, instead: str = _ON_PATH) -> None:
        """Refuse a program that a compile entry or a dependency names, unless the policy lists it.

        Args:
            instead: the author's alternative, for the hint.

        Raises:
            PolicyError: the policy does not list it.
        """
        if program not in self.programs or not os.path.isabs(program):
            raise PolicyError(
                "CMD-CONF-008",
                f"{what} names the program {program!r}, which the trust policy does not name",
                hint=f"{instead}; or name its absolute path under `programs` in the trust policy",
            )

    def require_command(self, program: str) -> None:
        """Refuse a program of this machine that an `external` entry names by its absolute path.

        `mkdir` and the Python interpreter that runs this process are allowed: a component's own scripts may start them.

        Raises:
            PolicyError: it is another program, and the policy does not list it.
        """
        if not is_common_program(program):
            self.require_program(program, "it", "put the command into a script of the component")

    def require_host(self, source: str, what: str) -> None:
        """Refuse a source that may not be fetched. Paths on this machine are always allowed.

        Args:
            source: a URL, or git's `user@host:path`.
            what: the fetched object, as the subject of a message.

        Raises:
            PolicyError: its host is this machine or on its link, or is not one of the hosts.
        """
        host = host_of(source)
        if not host:
            return
        near = is_near(host) and not self.near_hosts
        if near and host not in self.hosts:
            raise _near(what, host, "if you mean it, name it under `hosts`")
        if not near and not any(fnmatchcase(host, pattern) for pattern in self.hosts):
            raise PolicyError(
                "CMD-CONF-012",
                f"{what} comes from {host}, which the trust policy does not name",
                hint="if you trust it, name it under `hosts`",
            )


DEFAULT_POLICY = TrustPolicy()
"""The policy without a policy file."""


def check_source(url: str, what: str, *, named_by: str | None = None) -> None:
    """Refuse, without a policy, an address of this machine's link, or a forbidden redirect of a server.

    Args:
        url: a URL, or git's `user@host:path`.
        what: the fetched object, as the subject of a message.
        named_by: the URL of the server that refers to it; None for a source named by a file.

    Raises:
        PolicyError: CMD-CONF-011.
    """
    host = host_of(url)
    if is_on_link(host) if named_by is None else not may_lead(named_by, url):
        raise _near(what, host, "name the server by an address of its network")


def _near(what: str, host: str, hint: str) -> PolicyError:
    return PolicyError(
        "CMD-CONF-011",
        f"{what} comes from {host}, an address of this machine or its link",
        hint=f"services there answer to programs of this machine; {hint}",
    )
