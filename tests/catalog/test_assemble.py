"""One tree from the output of all instances."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, Findings, InputError, PolicyError
from commodore.base.events import Event, Warned
from commodore.base.kubernetes import key_of
from commodore.base.strictness import LOWERABLE
from commodore.base.yaml import dump_stream
from commodore.catalog import assemble, warn_about_objects
from tests.world.context import make_context
from tests.world.folders import write_files


def tree(folder: Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()}


def all_errors(error: CommodoreError) -> list[CommodoreError]:
    return list(error.errors) if isinstance(error, Findings) else [error]


class TestAssemble:
    def test_all_files_of_all_instances(self, tmp_path: Path) -> None:
        """Hidden ones too; empty folders are nothing to git."""
        a = write_files(tmp_path / "compiled/a", {"apps/a.yaml": "a", ".hidden": "h"})
        b = write_files(tmp_path / "compiled/b", {"apps/b.yaml": "b", "b/deep/er.yaml": "d"})
        (b / "empty").mkdir()
        assemble([("b", b), ("a", a), ("c", tmp_path / "nothing")], tmp_path / "new", make_context())
        assert tree(tmp_path / "new") == {
            "apps/a.yaml": "a",
            ".hidden": "h",
            "apps/b.yaml": "b",
            "b/deep/er.yaml": "d",
        }
        assert not (tmp_path / "new/empty").exists()

    def test_no_instances_give_an_empty_tree(self, tmp_path: Path) -> None:
        assemble([], tmp_path / "new", make_context())
        assert list((tmp_path / "new").iterdir()) == []

    def test_files_are_copies_with_git_modes(self, tmp_path: Path) -> None:
        """Whoever edits the catalog does not change compiled output; the umask does not count."""
        a = write_files(tmp_path / "a", {"x.yaml": "x", "run.sh": "#!/bin/sh"})
        (a / "x.yaml").chmod(0o600)
        (a / "run.sh").chmod(0o700)
        before = os.umask(0o077)
        try:
            assemble([("a", a)], tmp_path / "new", make_context())
        finally:
            os.umask(before)
        assert (tmp_path / "new/x.yaml").stat().st_mode & 0o777 == 0o644
        assert (tmp_path / "new/run.sh").stat().st_mode & 0o777 == 0o755
        assert (tmp_path / "new/x.yaml").stat().st_ino != (a / "x.yaml").stat().st_ino

    @pytest.mark.requirement("C33", "C44")
    def test_instances_write_one_file(self, tmp_path: Path) -> None:
        """Every conflict is named, in one error; the published tool lets chance decide. Equal files are one file."""
        a = write_files(tmp_path / "a", {"one.yaml": "1", "two.yaml": "2", "fine.yaml": "", "same.yaml": "1"})
        b = write_files(tmp_path / "b", {"one.yaml": "0", "two.yaml": "other", "same.yaml": "1", "three.yaml": ""})
        c = write_files(tmp_path / "c", {"three.yaml": "3"})
        with pytest.raises(InputError) as caught:
            assemble([("inst-c", c), ("inst-b", b), ("inst-a", a)], tmp_path / "new", make_context())
        assert caught.value.code == "CMD-CAT-001"
        assert caught.value.message == (
            "instances write different contents to the same files of the catalog: "
            "inst-a, inst-b write 'one.yaml', 'two.yaml'; inst-b, inst-c write 'three.yaml'"
        )
        assert "--allow CMD-CAT-001 makes it a warning" in caught.value.hint
        assert not (tmp_path / "new").exists()

    def test_conflicts_that_are_allowed(self, tmp_path: Path) -> None:
        """The last instance in name order wins, whatever the order of the arguments."""
        a = write_files(tmp_path / "a", {"one.yaml": "1", "fine.yaml": ""})
        b = write_files(tmp_path / "b", {"one.yaml": "2"})
        collected: list[Event] = []
        context = make_context(collected.append, allowed=["CMD-CAT-001"])
        new = assemble([("inst-b", b), ("inst-a", a)], tmp_path / "new", context)
        assert tree(new) == {"one.yaml": "2", "fine.yaml": ""}
        assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-CAT-001"]
        assert assemble([("inst-a", a), ("inst-b", b)], tmp_path / "newer", context, new) == new

    def test_two_instances_write_the_same(self, tmp_path: Path) -> None:
        """Each would write it alone, too; but not if only one of the two can be executed."""
        a = write_files(tmp_path / "a", {"00_namespace.yaml": "1", "run.sh": "1"})
        b = write_files(tmp_path / "b", {"00_namespace.yaml": "1", "run.sh": "1"})
        new = assemble([("inst-a", a), ("inst-b", b)], tmp_path / "new", make_context())
        assert {file.name: file.read_text() for file in new.iterdir()} == {"00_namespace.yaml": "1", "run.sh": "1"}
        (a / "run.sh").chmod(0o755)
        with pytest.raises(InputError, match=r"inst-a, inst-b write 'run\.sh'"):
            assemble([("inst-a", a), ("inst-b", b)], tmp_path / "newer", make_context())

    def test_a_file_in_the_way_of_a_folder(self, tmp_path: Path) -> None:
        """That cannot be allowed: only one of them can be there."""
        a = write_files(tmp_path / "a", {"x/deep/file.yaml": "1", "y": "2"})
        b = write_files(tmp_path / "b", {"x": "1", "y/a.yaml": "1", "y/b.yaml": "1"})
        with pytest.raises(Findings) as caught:
            assemble([("a", a), ("b", b)], tmp_path / "new", make_context(allowed=LOWERABLE))
        assert {error.code for error in caught.value.errors} == {"CMD-CAT-006"}
        assert sorted(error.message.partition(": ")[2] for error in caught.value.errors) == [
            "the first writes the file 'x', the second a folder of that name",
            "the first writes the file 'y', the second a folder of that name",
        ]

    @pytest.mark.parametrize(
        ("first", "second", "named"),
        [
            ("X.yaml", "x.yaml", "X.yaml and x.yaml"),
            ("sub/A/a.yaml", "sub/a/a.yaml", "sub/A and sub/a"),
            ("caf\u00e9.yaml", "cafe\u0301.yaml", "cafe\u0301.yaml and caf\u00e9.yaml"),
        ],
    )
    def test_names_that_are_almost_one(self, tmp_path: Path, first: str, second: str, named: str) -> None:
        """They are different files, with a warning."""
        a = write_files(tmp_path / "a", {first: "1", "other.yaml": ""})
        b = write_files(tmp_path / "b", {second: "2"})
        collected: list[Event] = []
        assemble([("a", a), ("b", b)], tmp_path / "new", make_context(collected.append))
        assert tree(tmp_path / "new") == {first: "1", second: "2", "other.yaml": ""}
        (warning,) = [event for event in collected if isinstance(event, Warned)]
        assert warning.code == "CMD-CAT-007"
        assert warning.message.endswith(f": {named}")


class TestLinks:
    def test_links_inside_the_folder_become_files(self, tmp_path: Path) -> None:
        a = write_files(tmp_path / "a", {"real/x.yaml": "x"})
        (a / "link.yaml").symlink_to("real/x.yaml")
        (a / "folder").symlink_to(a / "real")
        assemble([("a", a)], tmp_path / "new", make_context())
        assert tree(tmp_path / "new") == {"real/x.yaml": "x", "link.yaml": "x", "folder/x.yaml": "x"}
        assert not any(path.is_symlink() for path in (tmp_path / "new").rglob("*"))

    @pytest.mark.parametrize(
        "target", ["../secret", "../folder", "/etc/passwd", "../b/x.yaml", "../missing", ".", "sub/.."]
    )
    def test_links_that_leave_the_folder_or_have_no_end(self, tmp_path: Path, target: str) -> None:
        a = write_files(tmp_path / "a", {"fine.yaml": "1", "sub/file": "1"})
        write_files(tmp_path, {"secret": "s", "folder/secret": "s", "b/x.yaml": "b"})
        (a / "link").symlink_to(target)
        with pytest.raises(PolicyError) as caught:
            assemble([("app", a)], tmp_path / "new", make_context())
        assert caught.value.code == "CMD-CAT-002"
        assert "the output 'link' of instance app is a link that leads out" in caught.value.message
        assert not (tmp_path / "new").exists()

    def test_a_link_to_a_folder_that_links_back(self, tmp_path: Path) -> None:
        a = write_files(tmp_path / "a", {"one/file": "1", "two/file": "1"})
        (a / "one/to-two").symlink_to("../two")
        (a / "two/to-one").symlink_to("../one")
        with pytest.raises(CommodoreError) as caught:
            assemble([("app", a)], tmp_path / "new", make_context())
        assert {error.code for error in all_errors(caught.value)} == {"CMD-CAT-002"}

    def test_links_that_lead_nowhere_and_special_files(self, tmp_path: Path) -> None:
        a = write_files(tmp_path / "a", {"fine.yaml": "1"})
        (a / "dangling").symlink_to("missing.yaml")
        (a / "loop").symlink_to("loop")
        os.mkfifo(a / "pipe")
        with pytest.raises(Findings) as caught:
            assemble([("app", a)], tmp_path / "new", make_context())
        assert [(error.code, type(error)) for error in caught.value.errors] == [("CMD-CAT-003", InputError)] * 3
        assert "the output 'pipe' of instance app is neither a file nor a folder" in caught.value.errors[2].message

    @pytest.mark.parametrize("path", [".git/config", "vendor/.git", "vendor/.GIT/hooks/post-checkout"])
    def test_no_repositories_inside(self, tmp_path: Path, path: str) -> None:
        a = write_files(tmp_path / "a", {path: "x"})
        with pytest.raises(PolicyError) as caught:
            assemble([("app", a)], tmp_path / "new", make_context())
        assert caught.value.code == "CMD-CAT-004"
        assert "has a name that is reserved for git" in caught.value.message


CONFIG = """\
apiVersion: v1
data: {{}}
kind: ConfigMap
metadata:
  annotations:
    name: not-this
  name: {name}
  namespace: {namespace}
"""


class TestWarnAboutObjects:
    @pytest.mark.requirement("C44")
    def test_one_object_of_two_instances(self, tmp_path: Path) -> None:
        a = write_files(tmp_path / "a", {"x.yaml": CONFIG.format(name="shared", namespace="ns"), "note.txt": "kind: x"})
        documents = [
            CONFIG.format(name="own", namespace="ns"),
            CONFIG.format(name="'shared'", namespace="other"),
            "metadata:\n  name: shared\n  namespace: ns\nkind: ConfigMap\napiVersion: v1\n",
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\n",
            "- a list\n",
            "apiVersion: v1\nkind: Job\nmetadata:\n  generateName: job-\n",
        ]
        b = write_files(tmp_path / "b", {"y/z.yml": "---\n".join(documents), "empty.yaml": ""})
        c = write_files(
            tmp_path / "c",
            {
                "ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n",
                "app.yaml": "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata:\n  name: app\n",
            },
        )
        collected: list[Event] = []
        warn_about_objects([("c", c), ("b", b), ("a", a)], make_context(announce=collected.append))
        assert [(event.code, event.message) for event in collected if isinstance(event, Warned)] == [
            ("CMD-CAT-005", "the instances a and b both render the object ConfigMap ns/shared"),
            ("CMD-CAT-005", "the instances b and c both render the object Deployment.apps app"),
            ("CMD-CAT-005", "the instances b and c both render the object Namespace ns"),
        ]

    def test_one_instance_may_repeat_itself(self, tmp_path: Path) -> None:
        text = CONFIG.format(name="x", namespace="y")
        a = write_files(tmp_path / "a", {"x.yaml": text, "y.yaml": text})
        collected: list[Event] = []
        warn_about_objects([("a", a)], make_context(announce=collected.append))
        assert collected == []

    def test_the_text_tells_what_parsing_would_tell(self, tmp_path: Path) -> None:
        """Objects as the compiler writes them: with all kinds of metadata around the name."""
        objects = [
            {
                "apiVersion": api,
                "kind": kind,
                "metadata": {**metadata, "name": name},
                "spec": {"metadata": {"name": "no"}},
            }
            for api in ("v1", "apps/v1")
            for kind in ("A", "B")
            for name in ("x", "12", "yes", "a:b", "n" * 70)
            for metadata in (
                {"annotations": {"text": "name: x\n\n  name: y\nnamespace: z\n"}, "namespace": "ns"},
                {"labels": {"name": "label"}, "creationTimestamp": None, "ownerReferences": [{"name": "owner"}]},
            )
        ]
        folder = write_files(tmp_path / "a", {"all.yaml": dump_stream(objects)})
        collected: list[Event] = []
        warn_about_objects([("a", folder), ("b", folder)], make_context(announce=collected.append))
        announced = [event.message.partition(" the object ")[2] for event in collected if isinstance(event, Warned)]
        assert sorted(announced) == sorted(str(key_of(document)) for document in objects)
