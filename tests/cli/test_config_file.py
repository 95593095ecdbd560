"""Files with options: `.commodore.yaml` of a repository and `config.yaml` of the user."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from commodore.cli.main import run
from commodore.cli.shell.config_file import OF_REPOSITORIES, STRICTER, long_names
from commodore.cli.shell.dotenv import USER_ONLY_VARIABLES
from commodore.cli.shell.help_text import HelpedOption
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
    place.write_own("api-url: https://a\ncatalog:\n  api-url: https://b\n  compile: {api-url: https://c}\n")
    values = {command: value for (command, option), value in place.shown().items() if option == "api-url"}
    assert (values["login"], values["catalog list"], values["catalog compile"]) == (
        "https://a",
        "https://b",
        "https://c",
    )


def test_the_order_of_sources(place: Place, probed: Callable[[], probe.Seen], monkeypatch: pytest.MonkeyPatch) -> None:
    place.write_own("api-url: https://own\nkube-version: own\n")
    assert place.call("probe", "look")[0] == 0
    assert (probed().values["api_url"], place.shown()["argocd diff", "kube-version"]) == ("https://own", "own")
    place.write("kube-version: repository\n")
    assert place.shown()["argocd diff", "kube-version"] == "repository"
    monkeypatch.setenv("COMMODORE_API_URL", "https://variable")
    place.call("probe", "look")
    assert probed().values["api_url"] == "https://variable"
    place.call("probe", "look", "--api-url", "https://line")
    assert probed().values["api_url"] == "https://line"


def test_the_first_file_up_to_the_root_counts(place: Place) -> None:
    place.write("linter: all\n", place.repository.parent)
    assert place.shown() == {}
    place.write("ignore-patterns: a\n")
    assert place.shown() == {("inventory lint", "ignore-patterns"): ["a"]}
    place.write("linter: all\n", place.inner)
    assert place.shown() == {("inventory lint", "linter"): ["all"]}


def test_outside_of_a_repository_only_the_folder_counts(place: Place) -> None:
    (place.repository / ".git").rmdir()
    place.write("linter: all\n")
    assert place.shown() == {}
    place.write("linter: all\n", place.inner)
    assert place.shown() == {("inventory lint", "linter"): ["all"]}


def test_paths_are_relative_to_the_file(place: Place) -> None:
    (place.repository / "it.yaml").touch()
    place.write("argocd: {diff: {installation: it.yaml}}\n")
    assert place.shown() == {("argocd diff", "installation"): "../../it.yaml"}
    place.write_own("working-dir: work\n")
    assert place.shown()["", "working-dir"].endswith("own/commodore/work")


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
        ("linter: all\nlinter: all\n", "CMD-CLI-014", 2, "twice"),
        ("linter: {a: 1}\n", "CMD-CLI-014", 1, "must not be a map"),
        ("set-namespace: 3\n", "CMD-CLI-017", 1, "3 is not true or false"),
        ("order: true\n", "CMD-CLI-017", 1, "true is not one value"),
        ("order: xml\n", "CMD-CLI-017", 1, "'xml' is not one of"),
        ("order:\n", "CMD-CLI-017", 1, "null is not one value"),
        ("order: [seed]\n", "CMD-CLI-017", 1, "a list is not one value"),
        ("argocd: {render: {strip: [null]}}\n", "CMD-CLI-017", 1, "null is not one value"),
        ("argocd: {render: {strip: [true]}}\n", "CMD-CLI-017", 1, "true is not one value"),
        ("argocd: {render: {strip: [[/a]]}}\n", "CMD-CLI-017", 1, "a list is not one value"),
        ("message-template:\n", "CMD-CLI-017", 1, "null is not one value"),
        ("message-template: true\n", "CMD-CLI-017", 1, "true is not one value"),
        ("message-template: ../other\n", "CMD-CLI-016", 1, "leads out of the repository"),
        ("message-template: /tmp\n", "CMD-CLI-016", 1, "leads out of the repository"),
        ('message-template: "a\\0b"\n', "CMD-CLI-014", 1, "zero byte"),
    ],
)
def test_errors(text: str, code: str, line: int | None, words: str, place: Place) -> None:
    place.write(text)
    status, out, err = place.call("config", "show")
    assert (status, out) == (4 if code == "CMD-CLI-016" else 1, "")
    assert code in err
    assert words in " ".join(err.split())
    assert line is None or f".commodore.yaml:{line}:" in err


def test_a_link_that_leads_out(place: Place) -> None:
    (place.repository / "link").symlink_to(place.repository.parent)
    place.write("message-template: link/other\n")
    assert "CMD-CLI-016" in place.call("hydrate", "plan")[2]


def test_a_link_to_itself(place: Place) -> None:
    (place.repository / "link").symlink_to("link")
    place.write("message-template: link\n")
    assert place.call("hydrate", "plan")[0] == 1


def test_a_file_that_is_none(place: Place) -> None:
    """A link to a terminal would be waited for."""
    (place.repository / ".commodore.yaml").symlink_to("/dev/null")
    assert "it is not a file" in place.call("version")[2]


def test_versions_stay_as_they_are_written(place: Place) -> None:
    place.write("argocd: {diff: {kube-version: 1.30, argocd-version: 3.10, fixed-time: 2026-01-01T00:00:00Z}}\n")
    assert place.shown() == {
        ("argocd diff", "kube-version"): "1.30",
        ("argocd diff", "argocd-version"): "3.10",
        ("argocd diff", "fixed-time"): "2026-01-01T00:00:00Z",
    }


def test_errors_are_explained_all_the_same(place: Place) -> None:
    place.write("push: true\n")
    assert place.call("explain", "CMD-CLI-015")[0] == 0
    assert place.call("help", "catalog")[0] == 0
    assert place.call("catalog", "--help")[0] == 0


@pytest.mark.parametrize(
    "words", [("argocd", "explain", "a"), ("catalog", "explain", "a"), ("inventory", "explain", "a")]
)
def test_a_wrong_file_is_an_error_of_commands_that_read_options(words: tuple[str, ...], place: Place) -> None:
    place.write("push: true\n")
    assert "CMD-CLI-015" in place.call(*words)[2]


def test_errors_are_in_the_form_that_the_file_sets(place: Place) -> None:
    place.write_own("log-format: json\n")
    assert json.loads(place.call("catalog", "lits")[2])["code"] == "CMD-CLI-001"
    assert place.call("--log-format", "text", "catalog", "lits")[2].startswith("error:")


@pytest.mark.parametrize(
    "line",
    [
        "push: true",
        "catalog: {compile: {force: true}}",
        "api-token: x",
        "allow-empty: true",
        "api-url: https://evil.example.com",
        "observe: {run: {metrics-bind-address: 0.0.0.0:8080}}",
        "working-dir: work",
    ],
)
def test_options_for_the_user_to_decide(line: str, place: Place) -> None:
    place.write_own(f"{line}\n")
    assert len(place.shown()) > 0
    place.write(f"{line}\n")
    code, _, err = place.call("version")
    assert (code, "CMD-CLI-015" in err) == (4, True)


JUDGED = {
    "argocd": "api-version api-versions-from-tree argocd-settings argocd-version avp changed-ignore changed-include "
    "cluster-scoped discovery dry-sources entry exact-tools facts fixed-time follow-renames hide hooks ignore-path "
    "ignore-rules image-pointer immutable installation kube-version mask-kind max-depth order self-revisions self-url "
    "strict strict-changed-only strip",
    "catalog": "hide kube-version strict",
    "component": "copyright facts search-paths strict values",
    "fleet": "cluster-value coalesce fold project strict template-engine values wave-level",
    "hydrate": "argocd-settings commit-date lenient message-template options-in-git order readme-template "
    "set-namespace verify-dry",
    "inventory": "ignore-patterns linter strict values",
    "observe": "api-version argocd-settings facts kube-version self-url",
    "package": "copyright facts strict values",
}
"""What a stranger's repository may set, by the first word of the command. Add what runs no program, names no server,
account, key or token, writes nothing elsewhere, narrows no run, widens no limit and turns no error into a success."""


def known_options() -> list[tuple[str, str, HelpedOption]]:
    """The first word of the command, a name and the option, for every name of an option of every command."""
    return [
        ((*known.words, "")[0], name, option)
        for known in commands()
        for option in known.command.params
        if isinstance(option, HelpedOption)
        for name in long_names(option)
    ]


def test_what_a_repository_may_set_was_judged() -> None:
    settable = {(group, name) for group, name, _ in known_options() if name in OF_REPOSITORIES}
    assert sorted(settable) == sorted((group, name) for group, names in JUDGED.items() for name in names.split())
    assert {name for _, name in settable} == OF_REPOSITORIES > STRICTER


def test_options_that_stand_in_files_alone_are_of_repositories() -> None:
    assert {name for _, name, option in known_options() if option.in_files} <= OF_REPOSITORIES


def test_what_a_repository_may_set_carries_no_secret_and_no_path_unseen() -> None:
    for _, name, option in known_options():
        if name in OF_REPOSITORIES:
            assert not option.secret, name
            assert isinstance(option.type, click.Path) or "FILE" not in (option.metavar or ""), name


def test_the_page_lists_what_a_repository_may_set() -> None:
    page = (REFERENCE / "environment.md").read_text(encoding="utf-8")
    alone = {name for _, name, option in known_options() if option.in_files}
    assert [name for name in sorted(OF_REPOSITORIES - alone) if f"`{name}`" not in page] == []


def test_a_repository_lowers_no_stricter_option_of_the_user(place: Place) -> None:
    place.write("hydrate: {run: {verify-dry: false, lenient: true}}\n")
    place.write_own("verify-dry: true\nlenient: false\n")
    shown = place.shown("hydrate", "run")
    assert (shown["hydrate run", "verify-dry"], shown["hydrate run", "lenient"]) == (True, True)


def test_variables_of_the_user_exist() -> None:
    """A name that no option has would protect nothing."""
    known = {(option.name or "").upper() for _, _, option in known_options()} | {"HELPER_VARIABLES", "LIMITS"}
    unknown = [word for word in USER_ONLY_VARIABLES if not any(f"_{name}".endswith(f"_{word}") for name in known)]
    assert unknown == []


def test_secrets_are_not_shown(place: Place) -> None:
    place.write_own("api-token: t0ps\n")
    code, out, err = place.call("config", "show")
    assert (code, "api-token = …" in out, "t0ps" in out + err) == (0, True, False)


def test_sources_are_shown(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMODORE_CATALOG_COMPILE_PROCESSES", "3")
    place.write("catalog:\n  validate:\n    strict: true\n")
    code, out, _ = place.call("config", "show", "catalog")
    assert code == 0
    assert "--processes = 3  (COMMODORE_CATALOG_COMPILE_PROCESSES)" in out
    assert f"--strict = true  ({place.repository}/.commodore.yaml:3:13)" in out
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
