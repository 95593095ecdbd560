"""Every limit of the program, in one place. A limit that is hit is an error that names it, never a silent cut."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds, counts as plain numbers."""

    # Lieutenant
    request_timeout: float = 5.0  # one attempt of one API request (connect, and between two bytes)
    request_attempts: int = 4  # attempts of an idempotent API request
    request_backoff: float = 0.3  # first pause between attempts; doubles each time
    response_bytes: int = 64 << 20  # an API answer larger than this is refused

    # git
    git_threads: int = 8  # repositories fetched at the same time
    git_timeout: float = 600.0  # one git command that talks to a remote
    push_attempts: int = 3  # pushes tried when the remote has moved meanwhile

    # dependencies
    package_rounds: int = 16  # rounds of package discovery before it is called endless
    bundle_depth: int = 32  # nesting of jsonnetfile.json dependencies

    # inventory and output
    inventory_bytes: int = 512 << 20  # rendered parameters of all targets together
    output_file_bytes: int = 64 << 20  # one rendered manifest file
    name_length: int = 200  # a component, instance or package name

    # manifests
    yaml_depth: int = 256  # nesting of a YAML document that is read; deep ones would exhaust the stack

    # references
    path_segment_bytes: int = 255  # one folder or file name of a ref file; what common file systems allow

    # workspace
    lock_wait: float = 0.0  # how long a second run waits for the first one's lock; 0: it says who holds it

    # external tools
    tool_timeout: float = 10.0  # asking a tool for its version


DEFAULT_LIMITS = Limits()
