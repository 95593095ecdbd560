"""References of images: spellings that mean the same are equal, what is none is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.observe.images import InvalidImageError, Version, read_image, read_repository

D256 = "sha256:" + "a" * 64
D512 = "sha512:" + "b" * 128


@pytest.mark.parametrize(
    ("text", "repository", "tag", "digest"),
    [
        ("  nginx:1 ", "docker.io/library/nginx", "1", ""),
        ("nginx", "docker.io/library/nginx", "", ""),
        ("library/nginx:1", "docker.io/library/nginx", "1", ""),
        ("docker.io/nginx:1", "docker.io/library/nginx", "1", ""),
        ("index.docker.io/nginx:1", "docker.io/library/nginx", "1", ""),
        ("registry-1.docker.io/nginx:1", "docker.io/library/nginx", "1", ""),
        ("org/app:1", "docker.io/org/app", "1", ""),
        ("org/App:Tag", "docker.io/org/app", "Tag", ""),
        ("docker.io/org/app:1", "docker.io/org/app", "1", ""),
        ("registry:5000/app", "registry:5000/app", "", ""),
        ("registry:5000/app:2", "registry:5000/app", "2", ""),
        ("Example.COM/Org/App:Tag", "example.com/org/app", "Tag", ""),
        ("localhost/app:1", "localhost/app", "1", ""),
        ("[::1]:5000/app:1", "[::1]:5000/app", "1", ""),
        ("[::1]:5000/app", "[::1]:5000/app", "", ""),
        ("host.example:443/x:1", "host.example:443/x", "1", ""),
        (f"example.com/app@{D256}", "example.com/app", "", D256),
        (f"example.com/app:1@{D256}", "example.com/app", "1", D256),
        (f"example.com/app@{D512}", "example.com/app", "", D512),
        (f"example.com/app:{'t' * 128}", "example.com/app", "t" * 128, ""),
    ],
)
def test_what_a_reference_means(text: str, repository: str, tag: str, digest: str) -> None:
    image = read_image(text)
    assert (image.repository, image.version) == (repository, Version(tag, digest))
    assert bool(image.version) is bool(tag or digest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        ":x",
        "//",
        "a//b",
        "/a",
        "a/",
        "nginx:",
        "nginx:-x",
        "nginx:a:b",
        f"nginx:{'t' * 129}",
        "nginx@sha256:abc",
        "nginx@sha256:" + "g" * 64,
        "nginx@md5:" + "a" * 32,
        "nginx@",
        "nginx@latest",
        "Org/app:1",
        "ng\x00inx",
        "ng inx",
        "a" * 4097,
        "host.example/a:1/b",
    ],
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(InvalidImageError):
        read_image(text)


@pytest.mark.parametrize("scheme", ["", "oci://", "docker://"])
def test_the_repository_of_a_subscription(scheme: str) -> None:
    assert read_repository(f"{scheme}Example.com/app") == "example.com/app"


PARTS = st.text(alphabet="abcABC019._-:/@[] ", max_size=20)


@given(st.one_of(PARTS, st.text(max_size=20), st.tuples(PARTS, st.sampled_from(["", f"@{D256}", ":1"])).map("".join)))
def test_reading_the_canonical_form_again_gives_the_same(text: str) -> None:
    try:
        image = read_image(text)
    except InvalidImageError:
        return
    assert read_image(str(image)) == image


@pytest.mark.requirement("O28")
@pytest.mark.parametrize(
    ("deployed", "known", "equal"),
    [
        (Version("", "d1"), Version("1", "d1"), True),
        (Version("1", "d1"), Version("2", "d1"), True),
        (Version("1", "d1"), Version("1", "d2"), False),
        (Version("1", "d1"), Version("1", ""), True),
        (Version("1", "d1"), Version("2", ""), False),
        (Version("", "d1"), Version("1", ""), False),
        (Version("1", ""), Version("1", "d1"), True),
        (Version("1", ""), Version("2", "d1"), False),
        (Version("1", ""), Version("", "d1"), False),
        (Version(), Version(), False),
    ],
)
def test_matching(deployed: Version, known: Version, equal: bool) -> None:
    assert deployed.matches(known) is equal
