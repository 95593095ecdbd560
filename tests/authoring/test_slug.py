"""Names that authors give: their rules, and what the published tool let through."""

from __future__ import annotations

import pytest

from commodore.authoring.slug import COMPONENT, PACKAGE, check_case, check_owner, check_slug, check_text
from commodore.base.errors import InputError


@pytest.mark.parametrize(
    "slug", ["foo", "a-b", "ab1", "x" * 200, "openshift4-monitoring", "my-component-x", "packages2"]
)
def test_slugs(slug: str) -> None:
    assert check_slug(slug, COMPONENT) == slug
    assert check_slug(slug, PACKAGE) == slug


@pytest.mark.parametrize(
    "slug", ["", "a", "ab", "1ab", "-ab", "ab-", "Foo", "a_b", "a.b", "a/b", "../x", "foo\n", "föö", "x" * 201, None, 3]
)
def test_malformed_slugs(slug: object) -> None:
    with pytest.raises(InputError) as caught:
        check_slug(slug, COMPONENT)
    assert caught.value.code == "CMD-TPL-001"


def test_the_own_prefix_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        check_slug("component-foo", COMPONENT)
    assert (caught.value.code, caught.value.hint) == ("CMD-TPL-002", "use 'foo'")
    assert check_slug("component-foo", PACKAGE) == "component-foo"


@pytest.mark.parametrize("slug", ["lib", "libs", "cluster", "kapitan", "commodore"])
def test_reserved_for_components(slug: str) -> None:
    with pytest.raises(InputError) as caught:
        check_slug(slug, COMPONENT)
    assert caught.value.code == "CMD-TPL-003"


@pytest.mark.parametrize("slug", ["components", "defaults", "global", "params", "t-foo"])
def test_reserved_for_packages(slug: str) -> None:
    with pytest.raises(InputError) as caught:
        check_slug(slug, PACKAGE)
    assert caught.value.code == "CMD-TPL-003"


@pytest.mark.parametrize("owner", ["", "-a", "a--b", "a/b", "a b", "a\n", "--upload-pack=x"])
def test_owners_that_github_has_not(owner: str) -> None:
    assert check_owner("appuio-Org1") == "appuio-Org1"
    with pytest.raises(InputError) as caught:
        check_owner(owner)
    assert caught.value.code == "CMD-TPL-004"


@pytest.mark.parametrize("case", ["", "a b", "../x", "a/b", ".x", "-x", 'a"', "a\n"])
def test_cases_that_make_no_file(case: str) -> None:
    assert check_case("kubernetes_1.26") == "kubernetes_1.26"
    with pytest.raises(InputError) as caught:
        check_case(case)
    assert caught.value.code == "CMD-TPL-005"


@pytest.mark.parametrize("text", ["", "  ", "a\nb", "\x1b[31m"])
def test_text_is_one_printable_line(text: str) -> None:
    assert check_text('The "Foo" & co', "name") == 'The "Foo" & co'
    with pytest.raises(InputError) as caught:
        check_text(text, "name")
    assert caught.value.code == "CMD-TPL-006"


def test_remotes() -> None:
    assert COMPONENT.remote("o", "foo") == "git@github.com:o/component-foo.git"
    assert PACKAGE.remote("o", "foo") == "git@github.com:o/package-foo.git"
