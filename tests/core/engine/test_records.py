"""The files that the last compile has read, to watch for changes."""

from __future__ import annotations

from pathlib import Path

from tests.core.engine.world import Kept, World, jsonnet


def test_the_files_that_the_last_compile_has_read(kept: Kept, tmp_path: Path) -> None:
    """Of instances that are rendered, taken from the cache, and that fail."""
    world = kept.world(tmp_path / "work")
    world.add("good", jsonnet("good/main.jsonnet"))
    world.add("bad", jsonnet("bad/main.jsonnet"))
    main = world.write("dependencies/good/main.jsonnet", "{ out: import 'one.libsonnet' }")
    first = world.write("dependencies/good/one.libsonnet", "{ a: 1 }")
    bad = world.write("dependencies/bad/main.jsonnet", "import 'none.libsonnet'")
    missing = {
        str(tmp_path / "work" / folder / "none.libsonnet") for folder in ("dependencies/bad", "dependencies", "")
    }
    for _ in range(2):
        world.fail_once()
        read = kept.engine.files_read()
        assert {str(main), str(first), str(bad), *missing} <= read.files
        assert read.outdated() == set()

    first.write_text("{ a: 2 }")
    created = tmp_path / "work" / "none.libsonnet"
    created.write_text("{ out: { a: 3 } }")
    assert read.outdated() == {str(first), str(created)}
    world.compile()
    read = kept.engine.files_read()
    assert read.outdated() == set()
    assert str(created) in read.files
    kept.engine.renew()
    assert kept.engine.files_read().files == set()


def test_what_is_listed_and_written(kept: Kept, tmp_path: Path) -> None:
    world = kept.world(tmp_path / "work")
    listed = "std.native('dir_files_list')('a/folder')"
    world.add("a", jsonnet("a/main.jsonnet"), jsonnet("a/*.matched"))
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ listed: {listed} }} }}")
    world.write("dependencies/a/folder/one", "")
    world.write("dependencies/a/one.matched", "{ one: {} }")
    world.compile()
    folder, matched = (tmp_path / "work/dependencies/a" / name for name in ("folder", "*.matched"))
    read = kept.engine.files_read()
    assert str(folder) in read.folders
    assert str(matched) in read.patterns
    (folder / "two").write_text("")
    (tmp_path / "work/dependencies/a/two.matched").write_text("{ two: {} }")
    assert read.outdated() == {str(folder), str(matched)}


def test_modes_of_what_is_copied(kept: Kept, tmp_path: Path) -> None:
    world = kept.world(tmp_path / "work")
    world.add("a", {"input_type": "copy", "input_paths": ["a/folder"], "output_path": "."})
    file = world.write("dependencies/a/folder/one", "")
    world.compile()
    read = kept.engine.files_read()
    file.chmod(0o600)
    assert read.outdated() == {str(file.parent)}


def test_a_working_directory_that_is_gone_was_a_passing_one(world: World) -> None:
    directory = world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: {} }")
    world.compile()
    assert world.engine.files_read().files
    world.root.rename(world.root.with_name("gone"))
    assert not directory.exists()
    assert world.engine.files_read().outdated() == set()
