"""All limits of the program. Exceeding a limit is an error that names it, never a silent truncation.

The variable COMMODORE_LIMITS overrides them, as in `COMMODORE_LIMITS="rendering_bytes=8GiB git_timeout=1800"`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds, counts as plain numbers."""

    # Lieutenant
    request_timeout: float = 5.0  # one attempt of one API request (connect, and between two bytes)
    request_attempts: int = 4  # attempts of an idempotent API request
    request_backoff: float = 0.3  # first pause between attempts; doubles each time
    completion_timeout: float = 2.0  # what the shell may wait for the names of clusters
    response_bytes: int = 64 << 20  # an API answer larger than this is refused
    response_seconds: float = 60.0  # one API answer, from the request to its last byte
    retry_after: float = 30.0  # longest accepted pause of the API; a longer one ends the run
    redirects: int = 5  # redirects followed for one API request
    token_bytes: int = 64 << 10  # a file with a token
    token_cache_bytes: int = 4 << 20  # the token cache
    cluster_file_bytes: int = 16 << 20  # a file that replaces the API

    # login
    login_seconds: float = 300.0  # a whole login, from its start until the user has logged in
    login_answer_bytes: int = 1 << 20  # one answer of an identity provider
    callback_request_seconds: float = 5.0  # a request to the callback, from the connection to its last header
    callback_page_seconds: float = 2.0  # sending the page with the result of the login
    clock_skew: int = 60  # difference between the clocks of this machine and the identity provider
    device_interval: float = 5.0  # poll interval of the device flow, unless the provider sets it
    token_lock_wait: float = 30.0  # waiting for another process that works on the token file

    # git
    git_threads: int = 8  # repositories fetched at the same time
    git_questions: int = 32  # remotes whose refs are listed at the same time; at most `git_threads` by SSH
    clean_files: int = 20_000  # files of a working copy whose times are compared before git checks for changes
    git_timeout: float = 600.0  # one git command that talks to a remote
    git_question_seconds: float = 60.0  # one that only lists a remote's refs
    git_slow_seconds: float = 45.0  # a git command with less than `git_slow_bytes` per second for this time is stopped
    git_slow_bytes: int = 1000  # see `git_slow_seconds`
    git_output_bytes: int = 128 << 20  # output of a git command that talks to a remote, such as its refs
    git_messages_bytes: int = 16 << 20  # its stderr
    git_memory_bytes: int = 1 << 30  # memory of each of its processes
    git_file_bytes: int = 2 << 30  # a file written by a fetch: all fetched objects are a single file
    settled_seconds: float = 2.0  # a file that is younger may be changed without a new modification time
    mirror_packs: int = 50  # packs of a repository shared with other working directories
    mirror_bytes: int = 1 << 30  # the bytes in them; larger repositories are cloned from their remotes each time
    push_attempts: int = 3  # attempts to push to a remote that moves meanwhile
    hydrate_applications: int = 10_000  # of one commit on a hydrated branch
    hydrate_objects: int = 200_000  # of one commit on a hydrated branch
    hydrate_manifest_bytes: int = 64 << 20  # one manifest of a hydrated branch
    hydrate_commits: int = 100  # dry commits hydrated one by one in a run
    hydrate_bundle_bytes: int = 64 << 20  # a file in a bundle of requested commits
    hydrate_grace: float = 30.0  # seconds for a running push when a watcher stops
    hydrate_push_attempts: int = 20  # attempts to push to hydrated branches, which have many writers

    # dependencies
    package_rounds: int = 16  # rounds of package discovery before it counts as endless
    bundle_depth: int = 32  # nesting of jsonnetfile.json dependencies
    bundle_packages: int = 1000  # direct and transitive packages of one jsonnetfile.json
    bundle_package_bytes: int = 512 << 20  # the files of one package
    bundle_package_files: int = 100_000  # the number of these files
    jsonnetfile_bytes: int = 4 << 20  # one jsonnetfile.json or jsonnetfile.lock.json
    jsonnetfile_timeout: float = 60.0  # evaluating the jsonnetfile.jsonnet of all components together
    jsonnetfile_memory: int = 1 << 30  # of the process that does that
    staging_age: float = 86400.0  # after this time leftovers of killed runs in a shared cache may be removed
    url_length: int = 2048  # a remote, or a path made from one

    # inventory and output
    inventory_bytes: int = 512 << 20  # rendered parameters of all targets together, equal ones counted once
    hierarchy_seconds: float = 60.0  # rendering the targets that are rendered together, two for each processor
    hierarchy_bytes: int = 2 << 30  # memory of the process that does that
    target_bytes: int = 64 << 20  # rendered parameters of one target
    rendered_bytes: int = 64 << 20  # the same in the cache; larger ones are rendered each time
    output_file_bytes: int = 64 << 20  # one rendered manifest file
    lint_file_bytes: int = 16 << 20  # one file that is linted
    explain_depth: int = 8  # references in references that an explanation follows
    explain_references: int = 60  # references that one explanation follows; the others are only named
    explain_candidates: int = 20  # parameters listed for one field of a manifest

    # manifests
    yaml_depth: int = 256  # nesting of a YAML document that is read; deep ones would exhaust the stack
    yaml_nodes: int = 5_000_000  # values of one YAML document, or of one Kubernetes stream, its aliases resolved
    gotemplate_characters: int = 1 << 20  # output of a run of a Go template
    gotemplate_steps: int = 1_000_000  # its steps
    gotemplate_depth: int = 100  # templates in templates
    gotemplate_seconds: float = 10.0  # a whole run, without the last called function
    regexp_seconds: float = 5.0  # a search with a regular expression from a repository
    rename_pairs: int = 10_000  # removed times added files; beyond it only renames with unchanged content are detected
    diff_matches: int = 10_000_000  # pairs of equal lines in one file; beyond it the diff is only a count

    # Argo CD
    argocd_file_bytes: int = 64 << 20  # a file with objects or settings that is given as an option
    argocd_index_bytes: int = 64 << 20  # the index of a chart repository
    argocd_download_seconds: float = 300.0  # one attempt of one download of a chart or file
    argocd_source_seconds: float = 60.0  # rendering one source
    argocd_set_applications: int = 5000  # Applications of one ApplicationSet
    argocd_applications: int = 10_000  # Applications of one run
    argocd_scanned_bytes: int = 4 << 20  # a file of a tree that may define Applications

    # remote cache
    remote_connect_seconds: float = 5.0  # connecting to a store
    remote_object_seconds: float = 30.0  # a request for an object; a slower store is not used again
    remote_failures: int = 5  # consecutive failures after which a store is not used any more
    remote_lookup_seconds: float = 60.0  # all objects of one lookup
    remote_finish_seconds: float = 30.0  # writes pending longer after the end of a run are dropped
    remote_threads: int = 32  # objects fetched at the same time
    remote_write_threads: int = 8  # results written at the same time
    remote_index_bytes: int = 16 << 20  # the list of inputs of one subject's renderings
    remote_waiting: int = 10_000  # results waiting to be written; further ones are dropped

    # fleet
    fleet_file_bytes: int = 4 << 20  # a file of a fleet's configuration or state
    fleet_values: int = 100_000  # values in it, aliases expanded
    program_output_bytes: int = 256 << 20  # output of a run of helm or kustomize
    helm_timeout: float = 120.0  # rendering the chart of one cell
    fleet_lock_wait: float = 10.0  # for a workspace's lock, which a program of another thread inherits for a moment
    dask_connect: float = 10.0  # for a scheduler to take a connection
    dask_wait: float = 60.0  # for a scheduler without response, and for its first worker
    fleet_pauses: tuple[float, ...] = (5.0, 20.0)  # before a cluster is retried; the last one for all further retries
    status_age: float = 900.0  # older files with the state of applications are refused

    # workspace
    lock_wait: float = 0.0  # waiting for the lock of another run; 0: report its holder at once

    # watching
    watch_pause: float = 0.15  # least pause between two scans of the files
    watch_settled: float = 0.05  # a change is processed after this time without further changes
    watched_files: int = 200_000  # scanned files
    watch_lock_wait: float = 600.0  # waiting for another run in the same working directory

    # templates
    template_timeout: float = 120.0  # rendering a template at two commits, its hooks included
    template_files: int = 10_000  # files rendered from a template
    template_bytes: int = 64 << 20  # the size of all of them
    cruft_file_bytes: int = 1 << 20  # a .cruft.json

    # sync
    sync_workers: int = 4  # repositories cloned and updated at the same time
    sync_list_bytes: int = 4 << 20  # the list of repositories
    sync_state_age: float = 86400.0  # an interrupted run older than this is not continued
    github_timeout: int = 30  # one attempt of one request to GitHub (connect, and between two bytes)
    github_attempts: int = 4  # attempts of a request that failed temporarily
    github_backoff: float = 1.0  # first pause between attempts; doubles each time
    github_limited: float = 60.0  # first pause after a rate limit without a given duration; doubles
    github_wait: float = 900.0  # longest accepted pause of GitHub; a longer one ends the run, to be continued
    github_writes: float = 1.0  # pause between two writing requests, as GitHub requires
    github_pages: int = 50  # pages of 100 pull requests or comments; GitHub keeps 2500 comments of one pull request
    comment_characters: int = 60_000  # of rejected patches in a comment; GitHub takes 65536

    # rendering
    rendering_seconds: float = 60.0  # one instance, with its programs; a trust policy may override it
    rendering_bytes: int = 2 << 30  # memory of its process, and of each of its programs; a trust policy may override it
    input_file_bytes: int = 64 << 20  # a file read by a template, a filter or their functions

    # engine
    shapes: int = 16  # recorded read sets of one instance that are compared with the current files
    kustomizations: int = 1000  # folders of one kustomization
    remembered_programs: int = 50  # programs with remembered digests
    little_space_bytes: int = 1 << 30  # free space at the cache below which `doctor` warns
    result_cache_bytes: int = 5 << 30  # all cached results; beyond it the least recently used ones are removed
    result_check_age: float = 86400.0  # interval of checking this, after runs that cache results
    cache_age: float = 30 * 86400.0  # `cache prune` removes entries that were not used for this time
    result_bytes: int = 64 << 20  # the rendered files of one instance; larger ones are rendered each time
    waiting_workers: int = 1  # workers for instances that mostly wait for commands
    fetch_workers: int = 6  # Kapitan dependencies fetched at the same time
    cached_files: int = 200_000  # files and folders of a cached dependency; larger ones are fetched each time
    cached_bytes: int = 512 << 20  # the bytes in them
    kept_trees: int = 8  # checked out commits; beyond it the least recently used ones are removed
    durations_bytes: int = 1 << 20  # the file with the last durations of instances
    download_timeout: float = 30.0  # connecting to a server of a dependency, and between two bytes
    download_seconds: float = 1800.0  # one attempt of one download, from the request to its last byte
    download_rate: float = 1024.0  # bytes per second over each `download_timeout`; slower downloads are stopped
    download_bytes: int = 512 << 20  # one downloaded dependency
    archive_members: int = 200_000  # files and folders in one archive
    archive_bytes: int = 2 << 30  # one archive, unpacked

    # observing
    image_length: int = 4096  # one reference of an image
    observed_images: int = 5000  # images of one Application
    observed_bytes: int = 1 << 30  # one file with objects of Kargo and Argo CD
    authorized_stages: int = 100  # Stages named by one Application

    # external tools
    tool_timeout: float = 10.0  # calling a tool for its version
    tool_version_age: float = 86400.0  # after this time an unchanged tool is called for its version again
    tool_download_bytes: int = 256 << 20  # the archive of a tool
    tool_download_seconds: float = 900.0  # one download, from the request to its last byte
    tool_binary_bytes: int = 512 << 20  # the executable in it
    tool_archive_members: int = 1000  # files and folders in it
    tool_checksum_bytes: int = 1 << 20  # a file with checksums
    tool_releases_bytes: int = 32 << 20  # one page of a list of releases
    tool_releases_age: float = 3600.0  # validity of a lookup of the latest release
    tool_state_bytes: int = 1 << 20  # a file with installed tools, versions or releases
    tool_lock_wait: float = 600.0  # waiting for another installation


VARIABLE = "COMMODORE_LIMITS"
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)(|KiB|MiB|GiB)", re.ASCII)


def read_limits(text: str) -> Limits:
    """Parse limits from words `NAME=NUMBER`, separated by blanks; sizes may end with KiB, MiB or GiB.

    Raises:
        ValueError: a word is invalid; the message has the reason.
    """
    given: dict[str, int | float] = {}
    kinds = {field.name: str(field.type) for field in fields(Limits) if field.type in ("int", "float")}
    for word in text.split():
        name, _, value = word.partition("=")
        match = _NUMBER.fullmatch(value)
        if name not in kinds:
            raise ValueError(f"unknown limit {name[:100]!r}")
        if match is None or len(value) > 24:
            raise ValueError(f"{name} must be a number, optionally with KiB, MiB or GiB, not {value[:100]!r}")
        number = float(match[1]) * _UNITS[match[2]]
        given[name] = number if kinds[name] == "float" else int(number)
    return replace(Limits(), **given)  # type: ignore[arg-type]


def _usual() -> Limits:
    try:
        return read_limits(os.environ.get(VARIABLE, ""))
    except ValueError:  # the command line reports it before it starts
        return Limits()


DEFAULT_LIMITS = _usual()
"""The default limits of commands."""
