"""Remotes and names, what goes beyond jsonnet-bundler (5.7), and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle.remotes import check_version, clean_subdir, parse_remote

HERE = Location("jsonnetfile.json: dependencies[0]")

KNOWN_TO_JB = [
    ("https://github.com/org/lib", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("https://github.com/org/lib.git", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("https://github.com/org/lib/", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("http://github.com/org/lib", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("https://user:pw@github.com/org/lib.git", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("github.com/org/lib", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("https://github.com/org/lib/tree/main", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("https://github.com/org/lib.git/folder", "https://github.com/org/lib.git", "github.com/org/lib"),
    ("https://gitlab.example.com/a/b/lib.git", "https://gitlab.example.com/a/b/lib.git", "gitlab.example.com/a/b/lib"),
    ("git@github.com:org/lib.git", "ssh://git@github.com/org/lib.git", "github.com/org/lib"),
    ("ssh://git@github.com/org/lib.git", "ssh://git@github.com/org/lib.git", "github.com/org/lib"),
    (
        "ssh://git@git.example.com:2222/a/b/c.git",
        "ssh://git@git.example.com:2222/a/b/c.git",
        "git.example.com:2222/a/b/c",
    ),
    ("ssh://git@github.com/org/lib", "https://github.com/org/lib.git", "github.com/org/lib"),
]

BEYOND_JB = [
    ("https://gitlab.example.com/a/b/lib", "https://gitlab.example.com/a/b/lib.git", "gitlab.example.com/a/b/lib"),
    ("http://localhost:8080/org/lib.git", "http://localhost:8080/org/lib.git", "localhost:8080/org/lib"),
    ("http://127.0.0.1:8080/org/lib", "http://127.0.0.1:8080/org/lib", "127.0.0.1:8080/org/lib"),
    (
        "https://git.example.com:8443/a/b/lib.git",
        "https://git.example.com:8443/a/b/lib.git",
        "git.example.com:8443/a/b/lib",
    ),
    (
        "ssh://git@git.example.com:2222/org/lib",
        "ssh://git@git.example.com:2222/org/lib",
        "git.example.com:2222/org/lib",
    ),
    ("ssh://deploy:pw@gitea/org/lib.git", "ssh://deploy@gitea/org/lib.git", "gitea/org/lib"),
    ("git@github.com:org/lib", "ssh://git@github.com/org/lib.git", "github.com/org/lib"),
    ("deploy@gitea:org/lib", "ssh://deploy@gitea/org/lib", "gitea/org/lib"),
    ("file:///srv/git/lib.git", "file:///srv/git/lib.git", "srv/git/lib"),
    ("file://localhost/srv/git/lib", "file:///srv/git/lib", "srv/git/lib"),
    ("/srv/git/lib.git", "/srv/git/lib.git", "srv/git/lib"),
]


@pytest.mark.parametrize(("text", "url", "identity"), KNOWN_TO_JB + BEYOND_JB)
def test_remotes_and_names(text: str, url: str, identity: str) -> None:
    remote = parse_remote(text, HERE, DEFAULT_LIMITS)
    assert (remote.url, remote.identity) == (url, identity)


@pytest.mark.parametrize(("text", "url", "identity"), KNOWN_TO_JB + BEYOND_JB)
def test_what_is_written_to_the_lock_is_read_as_the_same(text: str, url: str, identity: str) -> None:
    assert parse_remote(url, HERE, DEFAULT_LIMITS) == parse_remote(text, HERE, DEFAULT_LIMITS)


def test_repositories_of_this_machine_are_known_as_such() -> None:
    assert parse_remote("file:///srv/lib", HERE, DEFAULT_LIMITS).on_this_machine
    assert parse_remote("/srv/lib", HERE, DEFAULT_LIMITS).on_this_machine
    assert not parse_remote("https://github.com/org/lib", HERE, DEFAULT_LIMITS).on_this_machine


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lib",
        "./lib",
        "../lib",
        "org/lib",
        "-oProxyCommand=x",
        "ext::sh -c x",
        "https://github.com/",
        "https://github.com",
        "ftp://host.example.com/org/lib",
        "file://other-host/srv/lib",
        "https://git hub.com/org/lib",
        "https://github.com/org/lib\n",
        "https://github.com/org/lib?ref=x",
        "ssh://-oProxyCommand=x/org/lib extra",
        "https://github.com/org/" + "x" * 3000,
    ],
)
def test_no_remote(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_remote(text, HERE, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-JB-004"
    assert caught.value.locations == (HERE,)


def test_an_error_does_not_repeat_credentials() -> None:
    with pytest.raises(InputError) as caught:
        parse_remote("ftp://user:s3cret@host.example.com/org/lib", HERE, DEFAULT_LIMITS)
    assert "s3cret" not in str(caught.value)
    assert "host.example.com/org/lib" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["file:///srv/../etc/lib", "/srv/./lib", "https://github.com/../lib.git", "file:///.cache/lib", "git@h:../x.git"],
)
def test_names_stay_below_vendor(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_remote(text, HERE, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-JB-005"


@given(st.text() | st.text("/.:@-gitsh~%").map(lambda text: f"https://git.example.com/{text}"))
def test_whatever_is_written_the_name_stays_below_vendor(text: str) -> None:
    try:
        remote = parse_remote(text, HERE, DEFAULT_LIMITS)
    except CommodoreError:
        return
    assert not set(remote.identity.split("/")) & {"", ".", ".."}
    assert not remote.url.startswith("-")


@pytest.mark.parametrize(("text", "clean"), [("", ""), ("/", ""), ("a/b", "a/b"), ("/a//b/", "a/b"), ("./a/.", "a")])
def test_sub_folders(text: str, clean: str) -> None:
    assert clean_subdir(text, HERE, DEFAULT_LIMITS) == clean


@pytest.mark.parametrize("text", ["..", "a/../../b", "a/..", "a\x00b", "a\nb", "x" * 300, "\ud800"])
def test_sub_folders_stay_inside(text: str) -> None:
    """A sub-folder with `..` makes jb rename folders outside of vendor."""
    with pytest.raises(PolicyError) as caught:
        clean_subdir(text, HERE, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-JB-005"


@pytest.mark.parametrize("version", ["", "--upload-pack=x", "a b", "a\nb", "x" * 300])
def test_versions_that_cannot_be(version: str) -> None:
    with pytest.raises(InputError) as caught:
        check_version(version, "'lib'", HERE)
    assert caught.value.code == "CMD-JB-006"
