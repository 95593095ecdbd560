"""Files with options: `.commodore.yaml` of a repository and `config.yaml` of the user."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from commodore.cli.main import run
from commodore.cli.shell.config_file import USER_ONLY
from tests.cli import probe
from tests.cli.conftest import Shown, commands

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SCHEMA = json.loads((REFERENCE / "commodore-file-schema.json").read_text(encoding="utf-8"))


class Place:
    """A repository with a folder in it, in which the program runs, and the user's own folder."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.repository = folder / "repository"
        self.inner = self.repository / "a" / "b"
        self.own = folder / "own"
        self.capfd = capfd
        (self.repository / ".git").mkdir(parents=True)
        self.inner.mkdir(parents=True)

    def write(self, text: str, folder: Path | None = None) -> None:
        ((folder or self.repository) / ".commodore.yaml").write_text(text, encoding="utf-8")

    def write_own(self, text: str) -> None:
        file = self.own / "commodore" / "config.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")

    def call(self, *arguments: str) -> Shown:
        self.capfd.readouterr()
        code = run(list(arguments), dotenv=True)
        return (code, *self.capfd.readouterr())

    def shown(self, *words: str) -> dict[tuple[str, str], Any]:
        code, out, err = self.call("config", "show", *words, "-o", "json")
        assert code == 0, err
        return {(line["command"], line["option"]): line["value"] for line in json.loads(out)["options"]}


@pytest.fixture
def place(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path, capfd)
    monkeypatch.chdir(made.inner)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.own))
    monkeypatch.delenv("GIT_AUTHOR_NAME", raising=False)
    monkeypatch.delenv("GIT_AUTHOR_EMAIL", raising=False)
    return made


def test_the_nearest_place_wins(place: Place) -> None:
    place.write("api-url: https://a\ncatalog:\n  api-url: https://b\n  compile: {api-url: https://c}\n")
    values = {command: value for (command, option), value in place.shown().items() if option == "api-url"}
    assert (values["login"], values["catalog list"], values["catalog compile"]) == (
        "https://a",
        "https://b",
        "https://c",
    )


def test_the_order_of_sources(place: Place, probed: Callable[[], probe.Seen], monkeypatch: pytest.MonkeyPatch) -> None:
    place.write_own("api-url: https://own\noidc-client: own\n")
    assert place.call("probe", "look")[0] == 0
    assert (probed().values["api_url"], probed().values["oidc_client"]) == ("https://own", "own")
    place.write("api-url: https://repository\n")
    place.call("probe", "look")
    assert probed().values["api_url"] == "https://repository"
    monkeypatch.setenv("COMMODORE_API_URL", "https://variable")
    place.call("probe", "look")
    assert probed().values["api_url"] == "https://variable"
    place.call("probe", "look", "--api-url", "https://line")
    assert probed().values["api_url"] == "https://line"


def test_the_first_file_up_to_the_root_counts(place: Place) -> None:
    place.write("quiet: true\n", place.repository.parent)
    assert place.shown() == {}
    place.write("request-timeout: 7\n")
    assert place.shown()["", "request-timeout"] == 7
    place.write("quiet: true\n", place.inner)
    assert place.shown() == {("", "quiet"): True}


def test_outside_of_a_repository_only_the_folder_counts(place: Place) -> None:
    (place.repository / ".git").rmdir()
    place.write("quiet: true\n")
    assert place.shown() == {}
    place.write("quiet: true\n", place.inner)
    assert place.shown() == {("", "quiet"): True}


def test_paths_are_relative_to_the_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("working-dir: work\n")
    assert place.shown() == {("", "working-dir"): "../../work"}


def test_repeated_options_take_lists(place: Place) -> None:
    for name in ("one.yaml", "two.yaml"):
        (place.repository / name).touch()
    place.write("component: {compile: {values: [one.yaml, two.yaml]}}\npackage: {compile: {values: one.yaml}}\n")
    assert place.shown("component", "compile")["component compile", "values"] == ["../../one.yaml", "../../two.yaml"]
    assert place.shown("package", "compile")["package compile", "values"] == ["../../one.yaml"]


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("{", "CMD-CLI-013", 2, "not valid YAML"),
        ("a: 1\n---\nb: 1\n", "CMD-CLI-013", None, "more than one document"),
        ("x: " + "y" * (1 << 20), "CMD-CLI-013", None, "bytes"),
        ("- a\n", "CMD-CLI-014", 1, "must be a map"),
        ("argocd: all\n", "CMD-CLI-014", 1, "argocd must be a map"),
        ("catalog:\n  compil: {}\n", "CMD-CLI-014", 2, "did you mean 'compile'?"),
        ("catalog:\n  compile:\n    apiurl: x\n", "CMD-CLI-014", 3, "did you mean 'api-url'"),
        ("quiet: true\nquiet: false\n", "CMD-CLI-014", 2, "twice"),
        ("quiet: {a: 1}\n", "CMD-CLI-014", 1, "must not be a map"),
        ("quiet: 3\n", "CMD-CLI-017", 1, "3 is not true or false"),
        ("log-format: true\n", "CMD-CLI-017", 1, "true is not one value"),
        ("log-format: xml\n", "CMD-CLI-017", 1, "'xml' is not one of"),
        ("log-format:\n", "CMD-CLI-017", 1, "null is not one value"),
        ("log-format: [json]\n", "CMD-CLI-017", 1, "a list is not one value"),
        ("working-dir: ../other\n", "CMD-CLI-016", 1, "leads out of the repository"),
        ("working-dir: /tmp\n", "CMD-CLI-016", 1, "leads out of the repository"),
    ],
)
def test_errors(text: str, code: str, line: int | None, words: str, place: Place) -> None:
    place.write(text)
    status, out, err = place.call("version")
    assert (status, out) == (4 if code == "CMD-CLI-016" else 1, "")
    assert code in err
    assert words in " ".join(err.split())
    assert line is None or f".commodore.yaml:{line}:" in err


def test_a_link_that_leads_out(place: Place) -> None:
    (place.repository / "link").symlink_to(place.repository.parent)
    place.write("working-dir: link/other\n")
    assert "CMD-CLI-016" in place.call("version")[2]


def test_errors_are_explained_all_the_same(place: Place) -> None:
    place.write("push: true\n")
    assert place.call("explain", "CMD-CLI-015")[0] == 0
    assert place.call("help", "catalog")[0] == 0
    assert place.call("catalog", "--help")[0] == 0


@pytest.mark.parametrize(
    "line", ["push: true", "catalog: {compile: {force: true}}", "api-token: x", "allow-empty: true"]
)
def test_options_for_the_user_to_decide(line: str, place: Place) -> None:
    place.write_own(f"{line}\n")
    assert len(place.shown()) > 0
    place.write(f"{line}\n")
    code, _, err = place.call("version")
    assert (code, "CMD-CLI-015" in err) == (4, True)


def test_options_of_the_user_exist() -> None:
    """A name that no option has would protect nothing."""
    known = {option.name for command in commands() for option in command.command.params}
    variables = {"enable_plugins", "helper_variables", "limits", "mirror"}  # of .env
    assert sorted(USER_ONLY - known - variables) == []


@pytest.mark.parametrize("source", ["variable", "command line", "own file"])
def test_a_token_that_comes_from_elsewhere_is_not_sent(
    source: str, place: Place, probed: Callable[[], probe.Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("api-url: https://evil.example.com\n")
    assert place.call("probe", "look")[0] == 0
    if source == "variable":
        monkeypatch.setenv("COMMODORE_API_TOKEN", "secret")
    if source == "own file":
        place.write_own("api-token: secret\n")
    code, _, err = place.call("probe", "look", *(["--api-token", "secret"] if source == "command line" else []))
    assert (code, "CMD-CLI-015" in err, "secret" in err) == (4, True, False)
    assert place.call("probe", "look", "--api-url", "https://api.example.com")[0] == 0


def test_secrets_are_not_shown(place: Place) -> None:
    place.write_own("api-token: t0ps\n")
    code, out, err = place.call("config", "show")
    assert (code, "api-token = …" in out, "t0ps" in out + err) == (0, True, False)


def test_sources_are_shown(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMODORE_CATALOG_COMPILE_PROCESSES", "3")
    place.write("catalog:\n  compile:\n    local: true\n")
    code, out, _ = place.call("config", "show", "catalog", "compile")
    assert code == 0
    assert "--processes = 3  (COMMODORE_CATALOG_COMPILE_PROCESSES)" in out
    assert f"--local = true  ({place.repository}/.commodore.yaml:3:12)" in out
    assert "--fetch-dependencies = true  (default)" in place.call("config", "show", "catalog", "compile", "--all")[1]


def test_show_of_a_command_that_does_not_exist(place: Place) -> None:
    code, _, err = place.call("config", "show", "catlog")
    assert (code, "did you mean 'catalog'?" in err) == (2, True)


def test_the_schema_takes_the_example_of_the_page() -> None:
    page = (REFERENCE / "environment.md").read_text(encoding="utf-8")
    from commodore.base.yaml import load

    example = page.partition("(commodore-yaml)=")[2].partition("```yaml\n")[2].partition("```")[0]
    Draft202012Validator.check_schema(SCHEMA)
    assert list(Draft202012Validator(SCHEMA).iter_errors(load(example, place="example"))) == []
    assert list(Draft202012Validator(SCHEMA).iter_errors({"catalog": {"nothing": 1}})) != []


def test_an_option_that_stands_in_files_alone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = place.call("argocd", "apps", "--max-depth", "2")
    assert (code, "CMD-CLI-018" in err) == (2, True)
    assert "write 'max-depth: ...' below 'argocd:' there, or set COMMODORE_ARGOCD_MAX_DEPTH" in " ".join(err.split())
    code, _, err = place.call("argocd", "diff", "--immutable", "apps/Deployment")
    assert (code, "CMD-CLI-018" in err) == (2, True)
    assert "max-depth" in place.call("argocd", "apps", "--help-all")[1]
    assert "max-depth" not in place.call("argocd", "apps", "--help")[1]
    place.write("argocd: {max-depth: 2}\n")
    assert place.shown("argocd", "apps") == {("argocd apps", "max-depth"): 2}
    monkeypatch.setenv("COMMODORE_ARGOCD_MAX_DEPTH", "3")
    assert place.shown("argocd", "apps") == {("argocd apps", "max-depth"): "3"}
