"""References of images: spellings that mean the same are equal, anything else is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.kubernetes.images import ImageVersion, InvalidImageError, parse_image, read_image, read_repository

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
    assert (image.name, image.version) == (repository, ImageVersion(tag, digest))
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
    assert read_repository(f"{scheme}Example.com/app").name == "example.com/app"


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
        (ImageVersion("", "d1"), ImageVersion("1", "d1"), True),
        (ImageVersion("1", "d1"), ImageVersion("2", "d1"), True),
        (ImageVersion("1", "d1"), ImageVersion("1", "d2"), False),
        (ImageVersion("1", "d1"), ImageVersion("1", ""), True),
        (ImageVersion("1", "d1"), ImageVersion("2", ""), False),
        (ImageVersion("", "d1"), ImageVersion("1", ""), False),
        (ImageVersion("1", ""), ImageVersion("1", "d1"), True),
        (ImageVersion("1", ""), ImageVersion("2", "d1"), False),
        (ImageVersion("1", ""), ImageVersion("", "d1"), False),
        (ImageVersion(), ImageVersion(), False),
    ],
)
def test_matching(deployed: ImageVersion, known: ImageVersion, equal: bool) -> None:
    assert deployed.matches(known) is equal


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("nginx", ("docker.io", "library/nginx", "", "")),
        ("nginx:1.2", ("docker.io", "library/nginx", "1.2", "")),
        ("a/b:1", ("docker.io", "a/b", "1", "")),
        ("localhost:5000/a/b", ("localhost:5000", "a/b", "", "")),
        ("quay.io/a/b:1@sha256:0f", ("quay.io", "a/b", "1", "sha256:0f")),
    ],
)
def test_parts_of_images(text: str, parts: tuple[str, ...]) -> None:
    image = parse_image(text)
    assert (image.registry, image.repository, image.tag, image.digest) == parts
