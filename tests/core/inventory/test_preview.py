"""Throw-away inventories: what is rendered, whose files are named, and that nobody's files are touched."""

from __future__ import annotations

import os
import shutil
import tempfile
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, UsageError
from commodore.base.events import Event, Noted, Warned
from commodore.core.inventory import PreviewSources, open_preview
from tests.world.context import make_context
from tests.world.repos import git

COMMODORE = "classes: ['${cluster:tenant}.${cluster:name}']\nparameters: {fleet: {size: 1}}\n"


@dataclass
class Folders:
    """Local folders of configuration, and what a preview of them makes."""

    root: Path
    collected: list[Event] = field(default_factory=list)
    values: list[Path] = field(default_factory=list)
    components: list[Path] = field(default_factory=list)
    tenant: Path | None = None

    def write(self, files: Mapping[str, str]) -> Folders:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(content))
        return self

    def use(self, *files: str) -> Folders:
        """Give values files on the command line."""
        self.values += [self.root / name for name in files]
        return self

    def give(self, name: str, content: str) -> Folders:
        """Write a values file and use it."""
        return self.write({name: content}).use(name)

    def with_tenant(self, files: Mapping[str, str]) -> Folders:
        self.tenant = self.root / "tenant"
        return self.write({f"tenant/{name}": content for name, content in files.items()})

    @property
    def sources(self) -> PreviewSources:
        return PreviewSources(self.root / "global", self.tenant, tuple(self.values), tuple(self.components))

    def parameters(self, *, strict: bool = False) -> Mapping[str, Any]:
        with open_preview(self.sources, make_context(announce=self.collected.append)) as preview:
            return preview.render(
                make_context(announce=self.collected.append), ignore_missing_classes=not strict
            ).parameters

    def failure(self, *, strict: bool = False) -> CommodoreError:
        with pytest.raises(CommodoreError) as caught:
            self.parameters(strict=strict)
        return caught.value


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path).write({"global/commodore.yml": COMMODORE})


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty at first."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: kind and mode, time of change, content."""
    files: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        files[str(path.relative_to(root))] = (about.st_mode, about.st_mtime_ns, content)
    return files


def test_the_made_up_cluster(folders: Folders) -> None:
    """The facts of a fake cluster, and the parameters that reclass adds."""
    assert dict(folders.parameters()) == {
        "_reclass_": {
            "environment": "base",
            "name": {"full": "global", "parts": ["global"], "path": "global", "short": "global"},
        },
        "_instance": "global",
        "cluster": {
            "name": "c-bar",
            "display_name": "Foo Inc. Bar cluster",
            "catalog_url": "not-a-real-repo",
            "tenant": "t-foo",
            "tenant_display_name": "Foo Inc.",
        },
        "facts": {
            "cloud": "x-fake-cloud",
            "distribution": "x-fake-distribution",
            "lieutenant-instance": "lieutenant-prod",
            "region": "x-fake-region",
        },
        "dynamic_facts": {},
        "fleet": {"size": 1},
    }
    assert folders.collected == []


def test_the_last_values_file_that_sets_an_id_counts(folders: Folders) -> None:
    folders.with_tenant({"c-two.yml": "parameters: {found: true}", "c-one.yml": "parameters: {found: false}"})
    folders.give("a.yml", "parameters: {cluster: {name: c-one, tenant: t-one}, order: [a]}")
    folders.give("b.yml", "parameters: {cluster: {name: c-two}, order: [b]}")
    folders.give("c.yml", "parameters: {cluster: {name: null}, order: [c]}").values.pop()
    parameters = folders.parameters(strict=True)
    assert (parameters["cluster"]["name"], parameters["cluster"]["tenant"]) == ("c-two", "t-one")
    assert (parameters["found"], parameters["order"]) == (True, ["a", "b"])


def test_values_files_come_before_the_global_defaults(folders: Folders) -> None:
    folders.give("a.yml", "parameters: {fleet: {size: 9, name: a}}")
    assert folders.parameters()["fleet"] == {"size": 1, "name": "a"}


@pytest.mark.parametrize("name", ["base", "global", "params.cluster", "t-foo", "t-foo.c-bar", "params", "components"])
def test_a_values_file_may_have_any_name(folders: Folders, name: str) -> None:
    """The published tool overwrites a file called base.yml with its fake facts."""
    folders.write({"global/init.yml": "parameters: {wrong: true}"})
    folders.give(f"{name}.yml", "parameters: {mine: 1, cluster: {name: c-x}}")
    before = snapshot(folders.root)
    parameters = folders.parameters(strict=True)
    assert (parameters["mine"], parameters["cluster"]["display_name"]) == (1, "Foo Inc. Bar cluster")
    assert "wrong" not in parameters
    assert snapshot(folders.root) == before


def test_values_files_of_the_same_name(folders: Folders) -> None:
    folders.give("a/v.yml", "parameters: {list: [a], text: a}").give("b/v.yml", "parameters: {list: [b], text: b}")
    parameters = folders.use("a/v.yml").parameters(strict=True)
    assert (parameters["list"], parameters["text"]) == (["a", "b", "a"], "a")


@pytest.mark.parametrize(
    "name", ["v.json", "v", "my values.yml", "a.b.yml", "${x}.yml", ".hidden.yml", "~v.yml", "ü.yml"]
)
def test_values_files_with_unusual_names_are_used(folders: Folders, name: str) -> None:
    """The published tool leaves out what does not end in .yml, but uses its ids."""
    assert folders.give(name, '{"parameters": {"mine": 1}}').parameters(strict=True)["mine"] == 1


def test_values_files_may_include_each_other(folders: Folders) -> None:
    folders.give("a.yml", "parameters: {a: 1}").give("b.yml", "classes: [.a]\nparameters: {b: 1}")
    folders.values.pop(0)
    assert "a" not in folders.parameters()
    assert folders.use("a.yml").parameters(strict=True)["a"] == 1


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "---\n"])
def test_an_empty_values_file_is_used(folders: Folders, content: str) -> None:
    """With a warning that names it; the published tool ends with a traceback."""
    folders.give("a.yml", content).give("b.yml", "parameters: {b: 1}")
    assert folders.parameters(strict=True)["b"] == 1
    (warning,) = [event for event in folders.collected if isinstance(event, Warned)]
    assert (warning.code, warning.message) == ("CMD-INV-043", f"the values file {folders.values[0]} is empty")


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("- a", "CMD-INV-042", "the values file {} is not a class: it must be a mapping"),
        ("text", "CMD-INV-042", "the values file {} is not a class: it must be a mapping"),
        ("a: b: c", "CMD-YAML-001", "{} is not valid YAML: mapping values are not allowed in this context"),
        ("{}\n---\n{}", "CMD-YAML-001", "{} is not valid YAML: expected a single document"),
        (
            "parameters: {cluster: {name: [a]}}",
            "CMD-INV-049",
            "parameters.cluster.name in {} must be a text, not a list",
        ),
        (
            "parameters: {cluster: {tenant: {}}}",
            "CMD-INV-049",
            "parameters.cluster.tenant in {} must be a text, not a map",
        ),
        ("parameters: [1]", "CMD-INV-001", "class v is invalid"),
        ("parameters: {x: '${y}'}", "CMD-INV-003", "parameter 'x' refers to ${{y}}, which is not defined"),
        ("parameters: {cluster: null}", "CMD-INV-003", "an entry of `classes` refers to ${{cluster:tenant}}"),
        ("parameters: {cluster: 1}", "CMD-INV-022", "parameters.cluster cannot be merged: a number over a map"),
    ],
)
def test_a_wrong_values_file_is_named(folders: Folders, content: str, code: str, message: str) -> None:
    error = folders.give("v.yml", content).failure()
    assert error.code == code
    assert error.message.startswith(message.format(folders.values[0]))
    places = {location.place for location in error.locations}
    assert str(folders.values[0]) in places or str(folders.root / "global" / "commodore.yml") in places
    assert not any("commodore-reclass-" in place for place in places)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_values_file_is_named(folders: Folders) -> None:
    folders.give("v.yml", "{}").values[0].chmod(0)
    error = folders.failure()
    assert isinstance(error, EnvironmentFault)
    assert str(folders.values[0]) in error.message


def test_a_values_file_that_is_gone_is_named(folders: Folders) -> None:
    error = folders.use("v.yml").failure()
    assert isinstance(error, EnvironmentFault)
    assert str(folders.values[0]) in error.message


def test_values_from_a_pipe(folders: Folders) -> None:
    """As a shell's `<(command)` gives them: they can be read only once."""
    reader, writer = os.pipe()
    os.write(writer, b"parameters: {piped: true}")
    os.close(writer)
    folders.values.append(Path(f"/dev/fd/{reader}"))
    assert folders.parameters()["piped"] is True
    os.close(reader)


def test_a_tenant_folder_needs_a_tenant_that_can_be_a_folder(folders: Folders) -> None:
    error = folders.with_tenant({}).give("v.yml", "parameters: {cluster: {tenant: ../../evil}}").failure()
    assert error.code == "CMD-NAME-001"
    assert [str(location) for location in error.locations] == [str(folders.values[0])]
    assert not (folders.root.parent / "evil").exists()


@pytest.mark.parametrize("tenant", ["../../evil", "global", "T Foo", "7"])
def test_without_a_tenant_folder_any_id_will_do(folders: Folders, tenant: str) -> None:
    folders.give("v.yml", f"parameters: {{cluster: {{tenant: {tenant}}}}}")
    assert str(folders.parameters()["cluster"]["tenant"]) == tenant


def test_strict_mode_works_without_a_tenant_folder(folders: Folders) -> None:
    """Whatever ids the values files set; the published tool includes a class that is not there."""
    assert folders.parameters(strict=True)["fleet"] == {"size": 1}
    folders.give("v.yml", "parameters: {cluster: {name: c-x, tenant: t-x}}")
    assert folders.parameters(strict=True)["cluster"]["tenant"] == "t-x"


def test_a_missing_class_is_said_or_refused(folders: Folders) -> None:
    folders.with_tenant({"defaults.yml": "{}"})
    folders.parameters()
    assert folders.collected == [Noted("ignore missing class t-foo.c-bar")]
    error = folders.failure(strict=True)
    assert error.code == "CMD-INV-002"
    assert error.message == "class 't-foo.c-bar' is included but does not exist (while rendering target 'global')"
    assert error.hint == f"create c-bar.yml in {folders.tenant}, or remove the include"


def test_an_error_is_not_blamed_on_missing_classes(folders: Folders) -> None:
    """And it names the user's own file, not a link to it; the published tool speaks of strict mode in any case."""
    folders.with_tenant({"c-bar.yml": "parameters:\n  x: ${y}\n"})
    error = folders.failure()
    assert error.message == "parameter 'x' refers to ${y}, which is not defined (while rendering target 'global')"
    assert [str(location) for location in error.locations] == [f"{folders.tenant}/c-bar.yml:2"]


def test_a_folder_without_the_first_class_is_worth_a_warning(folders: Folders) -> None:
    (folders.root / "global" / "commodore.yml").rename(folders.root / "global" / "common.yml")
    assert "fleet" not in folders.parameters()
    assert [event.code for event in folders.collected if isinstance(event, Warned)] == ["CMD-INV-048"]


def test_nothing_is_left_and_nothing_is_touched(folders: Folders, scratch: Path) -> None:
    """After success, failure, and an interruption; even if the users' folders are full of links and closed files."""
    folders.with_tenant({"c-bar.yml": "{}"}).give("v.yml", "parameters: {x: 1}")
    outside = folders.root / "outside.yml"
    outside.write_text("parameters: {linked: true}")
    (folders.root / "global" / "linked.yml").symlink_to(outside)
    (folders.root / "global" / "folder").mkdir(mode=0o500)
    outside.chmod(0o400)
    before = snapshot(folders.root)
    folders.parameters(strict=True)
    opened = open_preview(folders.sources, make_context())
    preview = opened.__enter__()
    assert preview.inventory.is_relative_to(scratch)
    assert preview.inventory.parent.stat().st_mode & 0o077 == 0
    preview.inventory.joinpath("classes").chmod(0o500)
    assert opened.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None) is False
    assert list(scratch.iterdir()) == []
    assert snapshot(folders.root) == before
    folders.give("w.yml", "parameters: {x: '${y}'}").failure()
    folders.give("x.yml", "- a").failure()
    assert list(scratch.iterdir()) == []


def test_an_interruption_of_the_removal_leaves_nothing(
    folders: Folders, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree
    interrupted: list[bool] = []

    def interrupt_once(*arguments: Any, **options: Any) -> None:
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        remove(*arguments, **options)

    opened = open_preview(folders.sources, make_context())
    opened.__enter__()
    monkeypatch.setattr(shutil, "rmtree", interrupt_once)
    with pytest.raises(KeyboardInterrupt):
        opened.__exit__(None, None, None)
    assert list(scratch.iterdir()) == []


def test_a_full_disk_is_an_error_in_words(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folders.root / "nowhere"))
    assert isinstance(folders.failure(), EnvironmentFault)


def test_whose_file_is_whose(folders: Folders, tmp_path: Path) -> None:
    folders.with_tenant({"c-bar.yml": "{}"}).give("base.yml", "{}")
    folders.write({"component-x/class/x.yml": "{}", "component-x/class/defaults.yml": "{}"})
    folders.components.append(tmp_path / "component-x")
    with open_preview(folders.sources, make_context()) as preview:
        classes = preview.inventory / "classes"
        files = sorted(path for path in classes.rglob("*.yml"))
        own = {str(path.relative_to(classes)): preview.original(path) for path in files}
        assert preview.original(classes / "global" / "deep" / "er.yml") == tmp_path / "global" / "deep" / "er.yml"
        assert preview.original(tmp_path / "elsewhere.yml") == tmp_path / "elsewhere.yml"
        assert preview.original(preview.inventory / "targets" / "global.yml") is None
    assert own == {
        "base.yml": tmp_path / "base.yml",
        "components/x.yml": tmp_path / "component-x" / "class" / "x.yml",
        "defaults/x.yml": tmp_path / "component-x" / "class" / "defaults.yml",
        "params/cluster.yml": None,
    }


def component(folders: Folders, folder: str, name: str, defaults: str) -> None:
    folders.write({f"{folder}/class/{name}.yml": "{}", f"{folder}/class/defaults.yml": defaults})
    folders.components.append(folders.root / folder)


def test_defaults_of_components_lie_below_the_hierarchy(folders: Folders) -> None:
    """Values files and the global defaults change them; components come in the order of names, as in a compile."""
    folders.write({"global/commodore.yml": "parameters: {x_y: {from: global, list: [global]}}"})
    component(folders, "component-x-y", "x-y", "parameters: {x_y: {from: x, own: '${_instance}', list: [x]}, both: x}")
    component(folders, "checkout", "a", "parameters: {x_y: {list: [a]}, both: a}")
    folders.give("v.yml", "parameters: {x_y: {from: values, list: [values]}, a: {b: 1}}")
    parameters = folders.parameters(strict=True)
    assert parameters["x_y"] == {"from": "global", "own": "global", "list": ["a", "x", "values", "global"]}
    assert (parameters["both"], parameters["a"]) == ("x", {"b": 1})


def test_a_component_in_a_folder_of_its_repository(folders: Folders, tmp_path: Path) -> None:
    """Links inside the repository are followed, and links out of it refused."""
    component(folders, "repository/one", "one", "{}")
    defaults = tmp_path / "repository" / "one" / "class" / "defaults.yml"
    folders.write({"repository/shared.yml": "parameters: {shared: 1}", "secret.yml": "parameters: {secret: 1}"})
    defaults.unlink()
    defaults.symlink_to("../../shared.yml")
    assert folders.failure().code == "CMD-INV-010"
    git(tmp_path / "repository", "init", "--quiet")
    assert folders.parameters()["shared"] == 1
    defaults.unlink()
    defaults.symlink_to("../../../secret.yml")
    assert folders.failure().code == "CMD-INV-010"


def test_a_folder_that_is_no_component(folders: Folders) -> None:
    folders.components.append(folders.root / "global")
    error = folders.failure()
    assert (type(error), error.code) == (InputError, "CMD-INV-044")
    assert str(folders.root / "global") in error.message


def test_the_same_component_twice(folders: Folders) -> None:
    component(folders, "component-x", "x", "{}")
    component(folders, "other", "x", "{}")
    error = folders.failure()
    assert (type(error), error.code) == (UsageError, "CMD-INV-045")
    assert "component-x" in error.message
    assert "other" in error.message


def test_an_error_in_defaults_names_the_component(folders: Folders) -> None:
    component(folders, "component-x", "x", "parameters:\n  x: ${nothing}\n")
    assert [str(location) for location in folders.failure().locations] == [
        f"{folders.root}/component-x/class/defaults.yml:2"
    ]
