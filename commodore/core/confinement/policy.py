"""What the code and the names in other people's repositories may do beyond reading files: the trust policy."""

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
"""What a component can be allowed, by the name that it has in a policy, and what it may then do."""

_ON_PATH = "leave it out, so that the program on PATH is taken"

_MKDIR = frozenset(("/bin/mkdir", "/usr/bin/mkdir"))


def is_common_program(program: str) -> bool:
    """True for `mkdir` and for the interpreter `${_python3}`, which public components start."""
    return program in _MKDIR or program == sys.executable


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """Who may do what. Without a policy file it is `DEFAULT_POLICY`.

    Components are named by their names, with `*` for any characters. An instance counts as its component.

    Args:
        external, kadet, shell, jinja2_filters, helm_options, kustomize_options: the components that have a capability;
            see `CAPABILITIES`.
        programs: absolute paths of programs that compile entries may name in place of those that are found (helm_path).
        hosts: the hosts that may be fetched from, with `*` for any characters. For the addresses of this machine and
            its link that does not count: they have to be named in full.
        near_hosts: whether the addresses of this machine and its link count like others.
        rendering_seconds, rendering_bytes: time and memory for one rendering; None for those of `Limits`.
        isolated: whether code that components bring (`external`, `kadet`, what helm and kustomize start) runs without
            network and with its own files only. None for where this machine can do that.
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
        """Whether it says which hosts may be fetched from; without that, all that are not near may."""
        return self.hosts != EVERY

    def allows(self, capability: str, component: str) -> bool:
        """Whether a component has one of the `CAPABILITIES`.

        Raises:
            ValueError: the capability is none of them.
        """
        if capability not in CAPABILITIES:
            raise ValueError(f"{capability} is no capability")
        return any(fnmatchcase(component, pattern) for pattern in getattr(self, capability))

    def rights(self, component: str) -> tuple[object, ...]:
        """All that this means for the results of a component, as plain values."""
        allowed = tuple(name for name in CAPABILITIES if self.allows(name, component))
        return (allowed, self.programs, self.hosts, self.near_hosts, self.isolated)

    def require(self, capability: str, component: str, what: str) -> None:
        """Refuse what a component may not do.

        Args:
            what: what it would do, as the subject of a message: `the command 'make'`.

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
        """Refuse a program that a compile entry or a dependency names, unless the policy does so, too.

        Args:
            instead: what its author may do, for the hint.

        Raises:
            PolicyError: it does not.
        """
        if program not in self.programs or not os.path.isabs(program):
            raise PolicyError(
                "CMD-CONF-008",
                f"{what} names the program {program!r}, which the trust policy does not name",
                hint=f"{instead}; or name its absolute path under `programs` in the trust policy",
            )

    def require_command(self, program: str) -> None:
        """Refuse a program of this machine that an `external` entry names by its absolute path.

        `mkdir` and the Python interpreter that runs this program are allowed: a component's own scripts may start them.

        Raises:
            PolicyError: it is another one, which the policy does not name.
        """
        if not is_common_program(program):
            self.require_program(program, "it", "put the command into a script of the component")

    def require_host(self, source: str, what: str) -> None:
        """Refuse a source that nothing may be fetched from. Paths on this machine are not concerned.

        Args:
            source: a URL, or git's `user@host:path`.
            what: what is fetched, as the subject of a message.

        Raises:
            PolicyError: its host is this machine or on its link and not named, or is none of the hosts.
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
"""What holds where nothing else is said."""


def check_source(url: str, what: str, *, named_by: str | None = None) -> None:
    """Refuse a source where no policy says what may be fetched: an address of this machine's link, and what a server
    may not lead to.

    Args:
        url: a URL, or git's `user@host:path`.
        what: what is fetched, as the subject of a message.
        named_by: the URL of the server that leads there; None for what a file names.

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
