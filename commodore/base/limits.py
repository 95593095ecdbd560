"""Every limit of the program, in one place. A limit that is hit is an error that names it, never a silent cut.

The variable COMMODORE_LIMITS sets others, as in `COMMODORE_LIMITS="rendering_bytes=8GiB git_timeout=1800"`.
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
    retry_after: float = 30.0  # longest pause the API may ask for; if it asks for more we give up
    redirects: int = 5  # redirects followed for one API request
    token_bytes: int = 64 << 10  # a file with a token
    token_cache_bytes: int = 4 << 20  # the token cache
    cluster_file_bytes: int = 16 << 20  # a file that replaces the API

    # login
    login_seconds: float = 300.0  # a whole login, from its start until the user has logged in
    login_answer_bytes: int = 1 << 20  # one answer of an identity provider
    callback_request_seconds: float = 5.0  # one request to the callback, from connecting to its last header
    callback_page_seconds: float = 2.0  # sending the page that says how the login went
    clock_skew: int = 60  # how far the clocks of this machine and the identity provider may be apart
    device_interval: float = 5.0  # pause between two questions of the device flow, if the provider names none
    token_lock_wait: float = 30.0  # waiting for another process that works on the token file

    # git
    git_threads: int = 8  # repositories fetched at the same time
    git_questions: int = 32  # remotes asked at the same time what they have; by SSH no more than `git_threads`
    clean_files: int = 20_000  # files of a working copy whose times are compared before git is asked about changes
    git_timeout: float = 600.0  # one git command that talks to a remote
    git_question_seconds: float = 60.0  # one that only asks what a remote has
    git_slow_seconds: float = 45.0  # a git command that gets less than `git_slow_bytes` a second for so long ends
    git_slow_bytes: int = 1000  # see `git_slow_seconds`
    git_output_bytes: int = 128 << 20  # what a git command that talks to a remote writes, such as its refs
    git_messages_bytes: int = 16 << 20  # what it says of its work
    git_memory_bytes: int = 1 << 30  # memory of each of its processes
    git_file_bytes: int = 2 << 30  # one file that a fetch writes: the objects that it gets are one
    settled_seconds: float = 2.0  # a file written later than this may be written again without a new time of change
    mirror_packs: int = 50  # files of objects of one repository that are kept for other working directories
    mirror_bytes: int = 1 << 30  # the bytes in them; larger repositories are cloned from their remotes each time
    push_attempts: int = 3  # pushes tried when the remote has moved meanwhile
    hydrate_applications: int = 10_000  # of one commit on a hydrated branch
    hydrate_objects: int = 200_000  # of one commit on a hydrated branch
    hydrate_manifest_bytes: int = 64 << 20  # one manifest of a hydrated branch
    hydrate_commits: int = 100  # dry commits that are hydrated one by one in a run
    hydrate_bundle_bytes: int = 64 << 20  # one file of a bundle of commits that are wanted
    hydrate_grace: float = 30.0  # seconds for a push that goes on when a watcher is to end
    hydrate_push_attempts: int = 20  # the same of hydrated branches, to which many may push at once

    # dependencies
    package_rounds: int = 16  # rounds of package discovery before it is called endless
    bundle_depth: int = 32  # nesting of jsonnetfile.json dependencies
    bundle_packages: int = 1000  # packages that one jsonnetfile.json brings in, directly or through others
    bundle_package_bytes: int = 512 << 20  # the files of one package
    bundle_package_files: int = 100_000  # how many these are
    jsonnetfile_bytes: int = 4 << 20  # one jsonnetfile.json or jsonnetfile.lock.json
    jsonnetfile_timeout: float = 60.0  # evaluating the jsonnetfile.jsonnet of all components together
    jsonnetfile_memory: int = 1 << 30  # of the process that does that
    staging_age: float = 86400.0  # after this time what a killed run left in a shared cache may go
    url_length: int = 2048  # a remote, or a path made from one

    # inventory and output
    inventory_bytes: int = 512 << 20  # rendered parameters of all targets together, what is equal in several once
    hierarchy_seconds: float = 60.0  # rendering the targets that are rendered together, two for each processor
    hierarchy_bytes: int = 2 << 30  # memory of the process that does that
    target_bytes: int = 64 << 20  # rendered parameters of one target
    rendered_bytes: int = 64 << 20  # the same when they are kept for the next run; larger ones are rendered each time
    output_file_bytes: int = 64 << 20  # one rendered manifest file
    lint_file_bytes: int = 16 << 20  # one file that is linted
    explain_depth: int = 8  # references in references that an explanation follows
    explain_references: int = 60  # references that one explanation follows; the others are only named
    explain_candidates: int = 20  # parameters that are named for one field of a manifest

    # manifests
    yaml_depth: int = 256  # nesting of a YAML document that is read; deep ones would exhaust the stack
    yaml_nodes: int = 5_000_000  # values of one YAML document, or of one Kubernetes stream, its aliases resolved
    gotemplate_characters: int = 1 << 20  # what one run of a Go template writes
    gotemplate_steps: int = 1_000_000  # what it does
    gotemplate_depth: int = 100  # templates in templates
    gotemplate_seconds: float = 10.0  # a whole run, the last function that it calls apart
    regexp_seconds: float = 5.0  # one search with a regular expression that a repository brings
    rename_pairs: int = 10_000  # removed times added files; beyond it only unchanged files are seen as renamed
    diff_matches: int = 10_000_000  # pairs of equal lines in one file; beyond it the diff only tells how many differ

    # Argo CD
    argocd_file_bytes: int = 64 << 20  # a file with objects or settings that is given as an option
    argocd_index_bytes: int = 64 << 20  # the index of a chart repository
    argocd_download_seconds: float = 300.0  # one attempt of one download of a chart or file
    argocd_source_seconds: float = 60.0  # what rendering one source may take
    argocd_set_applications: int = 5000  # Applications of one ApplicationSet
    argocd_applications: int = 10_000  # Applications of one run
    argocd_scanned_bytes: int = 4 << 20  # a file of a tree that may define Applications

    # remote cache
    remote_connect_seconds: float = 5.0  # connecting to a store
    remote_object_seconds: float = 30.0  # one request about an object; a store that takes that long is not asked again
    remote_failures: int = 5  # requests in a row that fail before a store is not asked any more
    remote_lookup_seconds: float = 60.0  # everything that is fetched at one time
    remote_finish_seconds: float = 30.0  # what is not written so long after the end of a run is left out
    remote_threads: int = 32  # objects fetched at the same time
    remote_write_threads: int = 8  # results written at the same time
    remote_index_bytes: int = 16 << 20  # the list of what renderings of one subject have read
    remote_waiting: int = 10_000  # results that wait to be written; further ones are left out

    # fleet
    fleet_file_bytes: int = 4 << 20  # one file of a fleet's configuration, or of what is known about its state
    fleet_values: int = 100_000  # values in it, what aliases stand for counted each time
    program_output_bytes: int = 256 << 20  # what helm or kustomize may write at one time
    helm_timeout: float = 120.0  # rendering the chart of one cell
    fleet_lock_wait: float = 10.0  # for a workspace whose lock a program that another thread starts has for a moment
    dask_connect: float = 10.0  # for a scheduler to take a connection
    dask_wait: float = 60.0  # for a scheduler that does not answer any more, and for its first worker
    fleet_pauses: tuple[float, ...] = (5.0, 20.0)  # before a cluster is tried again; the last one for all further times
    status_age: float = 900.0  # older files with the state of applications are refused

    # workspace
    lock_wait: float = 0.0  # how long a second run waits for the first one's lock; 0: it says who holds it

    # watching
    watch_pause: float = 0.15  # between two looks at the files, at least
    watch_settled: float = 0.05  # a change counts when nothing has changed for so long
    watched_files: int = 200_000  # files looked at
    watch_lock_wait: float = 600.0  # how long a compile waits for another run in the same working directory

    # templates
    template_timeout: float = 120.0  # rendering a template at two commits, its hooks included
    template_files: int = 10_000  # files that a template makes
    template_bytes: int = 64 << 20  # the size of all of them
    cruft_file_bytes: int = 1 << 20  # a .cruft.json

    # sync
    sync_workers: int = 4  # repositories cloned and updated at the same time
    sync_list_bytes: int = 4 << 20  # the list of repositories
    sync_state_age: float = 86400.0  # an interrupted run older than this is not continued
    github_timeout: int = 30  # one attempt of one request to GitHub (connect, and between two bytes)
    github_attempts: int = 4  # attempts of a request that failed in a way that may pass
    github_backoff: float = 1.0  # first pause between attempts; doubles each time
    github_limited: float = 60.0  # first pause when GitHub limits the rate without saying for how long; doubles
    github_wait: float = 900.0  # longest pause GitHub may ask for; if it asks for more the run ends, to be continued
    github_writes: float = 1.0  # pause between two requests that change something, as GitHub asks for
    github_pages: int = 50  # pages of 100 pull requests or comments; GitHub keeps 2500 comments of one pull request
    comment_characters: int = 60_000  # of rejected patches in a comment; GitHub takes 65536

    # rendering
    rendering_seconds: float = 60.0  # one instance, with all that is started for it; a trust policy may say otherwise
    rendering_bytes: int = 2 << 30  # memory of the process that renders it, and of each that it starts; likewise
    input_file_bytes: int = 64 << 20  # one file that a template, a filter or a function of theirs reads

    # engine
    shapes: int = 16  # recorded read sets of one instance that are compared with the current files
    kustomizations: int = 1000  # folders that one kustomization is made of
    remembered_programs: int = 50  # programs whose digests are kept
    little_space_bytes: int = 1 << 30  # free space at the cache below which `doctor` warns
    result_cache_bytes: int = 5 << 30  # all kept results; those used least recently go beyond it
    result_check_age: float = 86400.0  # how often this is looked at, after runs that keep results
    cache_age: float = 30 * 86400.0  # what `cache prune` removes if it was not used for so long
    result_bytes: int = 64 << 20  # the rendered files of one instance; larger ones are rendered each time
    waiting_workers: int = 1  # instances that mostly wait for commands, compiled apart from what computes
    fetch_workers: int = 6  # Kapitan dependencies fetched at the same time, apart from what computes
    cached_files: int = 200_000  # files and folders of one dependency that is kept; larger ones are fetched each time
    cached_bytes: int = 512 << 20  # the bytes in them
    kept_trees: int = 8  # commits that are kept laid out; those used least recently go beyond it
    durations_bytes: int = 1 << 20  # the file that says how long instances took the last time
    download_timeout: float = 30.0  # connecting to a server of a dependency, and between two bytes
    download_seconds: float = 1800.0  # one attempt of one download, from the request to its last byte
    download_rate: float = 1024.0  # bytes per second over each `download_timeout`, at least; slower ones end
    download_bytes: int = 512 << 20  # one downloaded dependency
    archive_members: int = 200_000  # files and folders in one archive
    archive_bytes: int = 2 << 30  # one archive, unpacked

    # observing
    image_length: int = 4096  # one reference of an image
    observed_images: int = 5000  # images of one Application
    observed_bytes: int = 1 << 30  # one file with objects of Kargo and Argo CD
    authorized_stages: int = 100  # Stages that one Application names

    # external tools
    tool_timeout: float = 10.0  # asking a tool for its version
    tool_version_age: float = 86400.0  # then a tool is asked for its version again, though its file is the same
    tool_download_bytes: int = 256 << 20  # the archive of a tool
    tool_download_seconds: float = 900.0  # one download, from the request to its last byte
    tool_binary_bytes: int = 512 << 20  # the executable in it
    tool_archive_members: int = 1000  # files and folders in it
    tool_checksum_bytes: int = 1 << 20  # a file with checksums
    tool_releases_bytes: int = 32 << 20  # one page of a list of releases
    tool_releases_age: float = 3600.0  # so long an answer about the latest release counts
    tool_state_bytes: int = 1 << 20  # a file that says what is installed, what versions tools have, what is released
    tool_lock_wait: float = 600.0  # how long an installation waits for another one


VARIABLE = "COMMODORE_LIMITS"
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)(|KiB|MiB|GiB)", re.ASCII)


def read_limits(text: str) -> Limits:
    """Limits from words `NAME=NUMBER`, with blanks between them; sizes may end with KiB, MiB or GiB.

    Raises:
        ValueError: a word is wrong; the message says why.
    """
    given: dict[str, int | float] = {}
    kinds = {field.name: str(field.type) for field in fields(Limits) if field.type in ("int", "float")}
    for word in text.split():
        name, _, value = word.partition("=")
        match = _NUMBER.fullmatch(value)
        if name not in kinds:
            raise ValueError(f"there is no limit {name[:100]!r}")
        if match is None or len(value) > 24:
            raise ValueError(f"{name} must be a number, perhaps with KiB, MiB or GiB, not {value[:100]!r}")
        number = float(match[1]) * _UNITS[match[2]]
        given[name] = number if kinds[name] == "float" else int(number)
    return replace(Limits(), **given)  # type: ignore[arg-type]


def _usual() -> Limits:
    try:
        return read_limits(os.environ.get(VARIABLE, ""))
    except ValueError:  # the command line says so before it does anything
        return Limits()


DEFAULT_LIMITS = _usual()
"""The limits of commands."""
