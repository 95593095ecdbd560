"""`trust.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.errors import InputError, PolicyError
from commodore.core.confinement import DEFAULT_POLICY, TrustPolicy, read_policy


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trust.toml"
    path.write_text(text)
    return path


def test_everything_that_a_policy_can_say(tmp_path: Path) -> None:
    policy = read_policy(
        write(
            tmp_path,
            'external = ["a"]\nkadet = []\nshell = ["b-*"]\njinja2_filters = ["c"]\nhelm_options = ["d"]\n'
            'kustomize_options = ["e"]\nprograms = ["/usr/bin/helm3"]\nhosts = ["x.example.com"]\n'
            "rendering_seconds = 1.5\nrendering_bytes = 1e9\nisolated = true\n",
        )
    )
    assert policy == TrustPolicy(
        external=("a",),
        kadet=(),
        shell=("b-*",),
        jinja2_filters=("c",),
        helm_options=("d",),
        kustomize_options=("e",),
        programs=("/usr/bin/helm3",),
        hosts=("x.example.com",),
        rendering_seconds=1.5,
        rendering_bytes=1_000_000_000,
        isolated=True,
    )


def test_what_is_left_out_is_as_without_a_file(tmp_path: Path) -> None:
    assert read_policy(write(tmp_path, "# nothing\n")) == DEFAULT_POLICY


@pytest.mark.parametrize(
    "text",
    [
        "external = 'a'\n",
        "external = [1]\n",
        "external = ['']\n",
        "extrenal = ['a']\n",
        "near_hosts = true\n",
        "isolated = 'no'\n",
        "isolated = 1\n",
        "rendering_seconds = 0\n",
        "rendering_seconds = inf\n",
        "rendering_seconds = nan\n",
        "rendering_bytes = true\n",
        "programs = ['helm']\n",
        "[components]\nexternal = ['a']\n",
        "external = [\n",
        "a" * (2 << 20),
    ],
)
def test_what_is_not_understood_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_policy(write(tmp_path, text))
    assert caught.value.code == "CMD-CONF-020"


def test_a_misspelt_key_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_policy(write(tmp_path, "extrenal = ['a']\n"))
    assert "external" in caught.value.hint


def test_no_file_and_no_plain_file(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(InputError) as caught:
            read_policy(path)
        assert caught.value.code == "CMD-CONF-020"


def test_a_file_that_everybody_may_write(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    path.chmod(0o666)
    with pytest.raises(PolicyError) as caught:
        read_policy(path)
    assert caught.value.code == "CMD-CONF-021"


def test_a_link_out_of_the_repository(tmp_path: Path) -> None:
    outside = write(tmp_path, "shell = ['*']\n")
    (tmp_path / "global").mkdir()
    link = tmp_path / "global" / "trust.toml"
    link.symlink_to(outside)
    with pytest.raises(PolicyError) as caught:
        read_policy(link, tmp_path / "global")
    assert caught.value.code == "CMD-CONF-021"
