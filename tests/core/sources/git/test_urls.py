"""URL rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import CommodoreError, InputError
from commodore.core.sources.git import normalize, redact, redact_text, repository_key
from commodore.core.sources.git.urls import push_url


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("git@github.com:foo/bar.git", "ssh://git@github.com/foo/bar.git"),
        ("git@GitHub.com:/foo//bar.git", "ssh://git@github.com/foo/bar.git"),
        ("git@[::1]:foo/bar.git", "ssh://git@[::1]/foo/bar.git"),
        ("git@host:2222/foo.git", "ssh://git@host/2222/foo.git"),
        ("git@host:1:2", "ssh://git@host/1:2"),
        ("ssh://git@GIT.example.com:2222/a/../foo//bar.git", "ssh://git@git.example.com:2222/foo/bar.git"),
        ("https://GIT.example.com/foo/../bar.git", "https://git.example.com/bar.git"),
        ("https://user:pw@git.example.com:8443/foo.git", "https://user:pw@git.example.com:8443/foo.git"),
        ("https://git.example.com:443/foo.git", "https://git.example.com/foo.git"),
        ("http://git.example.com:80", "http://git.example.com/"),
        ("https://git.example.com//foo", "https://git.example.com/foo"),
        ("https://git.example.com/a b/c%20d.git", "https://git.example.com/a%20b/c%20d.git"),
        ("https://git.example.com/foo/", "https://git.example.com/foo/"),
        ("file:///a/b.git", "file:///a/b.git"),
        ("/a/b.git", "/a/b.git"),
        ("/home/tess@work/b.git", "/home/tess@work/b.git"),
        ("host:foo/bar.git", "host:foo/bar.git"),
        ("git://Host/foo.git", "git://Host/foo.git"),
        ("ssh://Host/foo.git", "ssh://Host/foo.git"),
    ],
)
def test_normal_form(url: str, normal: str) -> None:
    """A text with several colons gives a URL, not a traceback."""
    assert normalize(url) == normal
    assert normalize(normal) == normal


@pytest.mark.requirement("C25", "C26", "C27", "C28")
@pytest.mark.parametrize(
    ("url", "pushed"),
    [
        ("https://git.example.com/foo/bar.git", "ssh://git@git.example.com/foo/bar.git"),
        ("http://git.example.com/foo/bar.git", "ssh://git@git.example.com/foo/bar.git"),
        ("https://user@git.example.com/foo.git", "ssh://git@git.example.com/foo.git"),
        ("https://user:p%40ss@git.example.com/foo.git", "ssh://git@git.example.com/foo.git"),
        ("https://git.example.com:8443/foo.git", "ssh://git@git.example.com/foo.git"),
        ("https://u:p@git.example.com:8443/foo.git", "ssh://git@git.example.com/foo.git"),
        ("https://[::1]:8443/foo.git", "ssh://git@[::1]/foo.git"),
        ("ssh://git@git.example.com/foo.git", None),
        ("git@git.example.com:foo.git", None),
        ("git://git.example.com/foo.git", None),
        ("file:///srv/foo.git", None),
        ("/srv/foo.git", None),
    ],
)
def test_push_url(url: str, pushed: str | None) -> None:
    """HTTP(S) is pushed by SSH, without user info and port; others are left alone."""
    assert push_url(url) == pushed


@pytest.mark.requirement("C17")
@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://git.example.com/foo/bar.git", "git.example.com/foo/bar.git"),
        ("https://user:pw@GIT.example.com/foo/bar.git", "git.example.com/foo/bar.git"),
        ("git@github.com:foo/bar.git", "github.com/foo/bar.git"),
        ("ssh://git@github.com/foo/bar.git", "github.com/foo/bar.git"),
        ("ssh://git@github.com:22/foo/bar.git", "github.com/foo/bar.git"),
        ("https://github.com:443/foo/bar.git", "github.com/foo/bar.git"),
        ("https://github.com/foo/bar", "github.com/foo/bar.git"),
        ("https://github.com/foo/bar/", "github.com/foo/bar.git"),
        ("https://github.com/foo/bar.git?x=y#z", "github.com/foo/bar.git"),
        ("https://github.com:8443/foo/bar.git", "github.com+8443/foo/bar.git"),
        ("ssh://git@github.com:2222/foo/bar.git", "github.com+2222/foo/bar.git"),
        ("file:///a/b.git", "a/b.git"),
        ("/a/b.git", "a/b.git"),
        ("host:foo/bar.git", "host/foo/bar.git"),
    ],
)
def test_repository_key(url: str, key: str) -> None:
    """Ports are part of the key, a trailing `.git` is not, `host:path` keeps its host."""
    assert repository_key(url) == key


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "CMD-GIT-010"),
        (" https://h/x.git", "CMD-GIT-010"),
        ("./foo", "CMD-GIT-010"),
        ("../foo", "CMD-GIT-010"),
        ("foo", "CMD-GIT-010"),
        ("foo/bar.git", "CMD-GIT-010"),
        ("--upload-pack=touch x", "CMD-GIT-010"),
        ("-u:x", "CMD-GIT-010"),
        ("https://h/x\n.git", "CMD-GIT-010"),
        ("https://h/\x1b[31m.git", "CMD-GIT-010"),
        ("https://h\\x/y.git", "CMD-GIT-010"),
        ("https://h:port/x.git", "CMD-GIT-010"),
        ("https:///x.git", "CMD-GIT-010"),
        ("https://../x.git", "CMD-GIT-010"),
        ("https://-oProxyCommand=x/y.git", "CMD-GIT-010"),
        ("ssh://-oProxyCommand=x/y.git", "CMD-GIT-010"),
        ("ssh://-l@h/y.git", "CMD-GIT-010"),
        ("-oProxyCommand@h:y.git", "CMD-GIT-010"),
        ("file://elsewhere/x.git", "CMD-GIT-010"),
        ("git@h:x.git#main", "CMD-GIT-010"),
        ("file:///a?b", "CMD-GIT-010"),
        ("ext::sh -c touch% x", "CMD-GIT-011"),
        ("fd::17/foo", "CMD-GIT-011"),
        ("::x", "CMD-GIT-011"),
        ("ext://x/y", "CMD-GIT-011"),
        ("ftp://h/x.git", "CMD-GIT-011"),
        ("file:///../../x", "CMD-GIT-012"),
        ("/a/../../x", "CMD-GIT-012"),
        ("host:../x.git", "CMD-GIT-012"),
        ("git://h/../x.git", "CMD-GIT-012"),
        ("https://h", "CMD-GIT-012"),
        ("/", "CMD-GIT-012"),
        ("https://h/..", "CMD-GIT-012"),
    ],
)
def test_refused_urls(url: str, code: str) -> None:
    """Keys that are empty, relative or climb; options; transports that run programs."""
    with pytest.raises(InputError) as refusal:
        repository_key(url)
    assert refusal.value.code == code
    assert refusal.value.message.isprintable()
    assert refusal.value.hint


@given(
    st.one_of(
        st.text(max_size=40),
        st.builds(
            lambda scheme, rest: scheme + rest,
            st.sampled_from(["https://", "ssh://git@h", "file://", "/", "git@h:", "h:", "git://"]),
            st.text(alphabet="/.ab:@-~%[]\\?#\n ", max_size=20),
        ),
    )
)
def test_no_url_leaves_the_folder_or_breaks_the_rules(url: str) -> None:
    """Whatever the URL: an error of ours, or a relative key that stays below the folder and has a fixed form."""
    try:
        key = repository_key(url)
    except CommodoreError:
        return
    segments = key.split("/")
    assert not key.startswith("/")
    assert segments[-1].endswith(".git")
    assert not {"", ".", ".."} & set(segments)
    assert normalize(normalize(url)) == normalize(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@h:8443/x.git", "https://h:8443/x.git"),
        ("https://token@h/x.git", "https://h/x.git"),
        ("https://us@er:p@w@h/x.git", "https://h/x.git"),
        ("https://h/x.git?private_token=abc", "https://h/x.git"),
        ("ssh://git@h/x.git", "ssh://git@h/x.git"),
        ("ssh://git:secret@h/x.git", "ssh://git@h/x.git"),
        ("git@h:x.git", "git@h:x.git"),
        ("user:secret@h:x.git", "user@h:x.git"),
        ("{user:se:cret@h:x.git", "{user@h:x.git"),
        ("image:1@sha256:ab", "image:1@sha256:ab"),
        ("/srv/x.git", "/srv/x.git"),
    ],
)
def test_credentials_are_not_shown(url: str, shown: str) -> None:
    """Credentials in URLs reach commit messages, the metadata report and the console."""
    assert redact(url) == shown
    assert redact_text(f"fatal: unable to access '{url}/': nope") == f"fatal: unable to access '{shown}/': nope" or (
        "?" in url and "abc" not in redact_text(f"fatal: '{url}'")
    )


def test_refusals_do_not_show_credentials() -> None:
    with pytest.raises(InputError) as refusal:
        repository_key("https://user:geheim@h:port/x.git")
    assert "geheim" not in str(refusal.value)
