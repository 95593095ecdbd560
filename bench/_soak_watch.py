"""Saves in a row while `--watch` compiles: after each of them the output has to become what the files say.

`scripts/soak --watch --rounds 1000` soaks a component and a cluster. What is compiled is so simple that this
program knows what must come out; every some rounds, and at the end, a run without any cache has to give the same bytes
and modes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.world.cluster import ClusterWorld  # noqa: E402

PATIENCE = 300.0  # seconds without the right output after which it will not come any more

MAIN = """
local parameters = (import 'lib/kapitan.libjsonnet').inventory().parameters.app;
local lib = importstr 'lib/kube.libsonnet';
{
  out: {
    default: parameters.default,
    value: parameters.value,
    code: 'CODE',
    sibling: importstr 'sibling.txt',
    hidden: importstr '.hidden',
    linked: importstr 'link.txt',
    folder: importstr 'folder/file.txt',
    shadow: if std.length(lib) < 20 then lib else 'installed',
  },
}
"""

CLASS = """
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/component/main.jsonnet']
        input_type: jsonnet
        output_path: ${_instance}/
      - input_paths: ['${_base_directory}/component/copied/*']
        input_type: copy
        output_path: ${_instance}/copied/
"""


class SoakError(Exception):
    """The output is not what the files say."""


@dataclass
class Scene:
    """The files of a world, and the process that watches them.

    Args:
        component: the component's folder.
        values: a class file that sets its parameter `value`.
        shadow: what takes the place of an installed library, if it is there.
        output: the folder of the instance's manifests.
        watch: the command line that watches.
        clean: compiles the same without any cache; returns the folder with the manifests.
    """

    component: Path
    values: Path
    shadow: Path
    output: Path
    watch: list[str]
    clean: Callable[[], Path]


def component_scene(folder: Path) -> Scene:
    """A component, compiled with values and a search path."""
    component, values = folder / "component-app", folder / "values.yml"
    (folder / "libs").mkdir()
    base = ["component", "compile", str(component), "-f", str(values), "-J", str(folder / "libs")]

    def clean() -> Path:
        output = folder / "clean"
        shutil.rmtree(output, ignore_errors=True)
        run(["-d", str(folder), *base, "-o", str(output), "--no-cache"], folder)
        return output / "compiled/app/app"

    watch = [*base, "-o", str(folder / "out"), "--watch"]
    return Scene(component, values, folder / "libs/lib/kube.libsonnet", folder / "out/compiled/app/app", watch, clean)


def catalog_scene(folder: Path) -> Scene:
    """A cluster with this component and another one."""
    world = ClusterWorld(folder)
    world.component("app", {**component_files(), "component/link.txt": "x"})
    world.component("other", data={"a": "1"})
    world.tenant_parameters = {"app": {"value": "0"}}
    world.environment = {"XDG_CACHE_HOME": str(folder / "cache")}
    first = world.compile("--push")
    if first.code != 0:
        raise SoakError(first.stderr)
    work = world.work
    base = ["catalog", "compile", world.name, "--local"]

    def clean() -> Path:
        copy = folder / "copy"
        copy_quiet(work, copy)
        run(["-d", str(copy), *base, "--no-cache"], folder)
        return copy / "catalog/manifests/app"

    return Scene(
        work / "dependencies/app",
        work / f"inventory/classes/{world.tenant}/{world.name}.yml",
        work / "lib/kube.libsonnet",
        work / "catalog/manifests/app",
        ["-d", str(work), *base, "--watch"],
        clean,
    )


SCENES: dict[str, Callable[[Path], Scene]] = {"component": component_scene, "catalog": catalog_scene}


def copy_quiet(source: Path, target: Path) -> None:
    """Copy a working directory in which nothing goes on: again, if something did."""
    for _ in range(100):
        shutil.rmtree(target, ignore_errors=True)
        try:
            shutil.copytree(source, target, symlinks=True)
        except shutil.Error:
            continue
        if not list(target.glob(".commodore/*.staging")):
            return
    raise SoakError("the runs do not come to an end")


def component_files() -> dict[str, str]:
    return {
        "class/app.yml": CLASS,
        "class/defaults.yml": "parameters: {app: {default: '0', value: '0'}}\n",
        "component/main.jsonnet": MAIN,
        "component/sibling.txt": "0",
        "component/.hidden": "0",
        "component/one.txt": "one",
        "component/two.txt": "two",
        "component/folder/file.txt": "0",
        "component/copied/a.sh": "0",
    }


def run(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "commodore", *arguments],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SoakError(f"a run without cache has failed: {done.stderr}")


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}


class Watcher:
    """The program that watches; its lines are heard as they come."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "commodore", *arguments],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
        )
        self.lines: list[str] = []
        self._ended = False
        self._heard = threading.Condition()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._heard:
                self.lines.append(line.rstrip("\n"))
                self._heard.notify_all()
        with self._heard:
            self._ended = True
            self._heard.notify_all()

    def until(self, results: Callable[[], bool]) -> bool:
        """Wait until something holds that can change only before a line comes."""
        deadline = time.monotonic() + PATIENCE
        with self._heard:
            while not results():
                if self._ended or not self._heard.wait(max(0.0, deadline - time.monotonic())):
                    return False
        return True

    def end(self) -> int:
        """Ctrl-C; returns the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._thread.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


@dataclass
class Soak:
    """One world and its random saves. The expected result is kept with it: the fields of `out.yaml`, and the copied
    files with their modes.
    """

    scene: Scene
    random: random.Random
    fields: dict[str, str] = field(default_factory=dict)
    copied: dict[str, tuple[str, int]] = field(default_factory=dict)
    counter: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def prepare(self) -> None:
        """Write the files with which the first run begins."""
        for name, text in component_files().items():
            path = self.scene.component / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o644)
        self.path("link.txt").unlink(missing_ok=True)
        self.path("link.txt").symlink_to("one.txt")
        self.scene.values.write_text(self.class_of("0"))
        names = ("default", "value", "code", "sibling", "hidden", "folder")
        self.fields = {**dict.fromkeys(names, "0"), "code": "CODE", "linked": "one", "shadow": "installed"}
        self.copied = {"a.sh": ("0", 0o644)}

    def path(self, name: str) -> Path:
        return self.scene.component / "component" / name

    def token(self) -> str:
        """Something new, always of the same length."""
        self.counter += 1
        return f"t{self.counter:07}"

    @staticmethod
    def class_of(value: str) -> str:
        return f"parameters: {{app: {{value: '{value}'}}}}\n"

    # Edits. Each returns after one or more saves; `fields` and `copied` say what must come out then.

    def edit_default(self) -> None:
        self.fields["default"] = self.token()
        text = f"parameters: {{app: {{default: '{self.fields['default']}', value: '0'}}}}\n"
        (self.scene.component / "class/defaults.yml").write_text(text)

    def edit_value(self) -> None:
        self.fields["value"] = self.token()
        self.scene.values.write_text(self.class_of(self.fields["value"]))

    def edit_code(self) -> None:
        self.fields["code"] = self.token()
        self.path("main.jsonnet").write_text(MAIN.replace("CODE", self.fields["code"]))

    def edit_text(self) -> None:
        name, file = self.random.choice(
            (("sibling", "sibling.txt"), ("hidden", ".hidden"), ("folder", "folder/file.txt"))
        )
        self.fields[name] = self.token()
        self.path(file).write_text(self.fields[name])

    def edit_with_the_old_time(self) -> None:
        name, file = self.random.choice(
            (("sibling", "sibling.txt"), ("hidden", ".hidden"), ("folder", "folder/file.txt"))
        )
        path, self.fields[name] = self.path(file), self.token()
        times = path.stat()
        path.write_text(self.fields[name])
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def edit_by_renaming(self) -> None:
        self.fields["sibling"] = self.token()
        new = self.path(".sibling.txt.new")
        new.write_text(self.fields["sibling"])
        new.replace(self.path("sibling.txt"))

    def replace_folder(self) -> None:
        self.fields["folder"] = self.token()
        new, old = self.path(".new"), self.path(".old")
        new.mkdir()
        (new / "file.txt").write_text(self.fields["folder"])
        self.path("folder").rename(old)
        new.rename(self.path("folder"))
        shutil.rmtree(old)

    def turn_link(self) -> None:
        self.fields["linked"] = "two" if self.fields["linked"] == "one" else "one"
        self.path("link.txt").unlink()
        self.path("link.txt").symlink_to(f"{self.fields['linked']}.txt")

    def shadow(self) -> None:
        if self.fields["shadow"] != "installed" and self.random.random() < 0.7:
            self.fields["shadow"] = "installed"
            self.scene.shadow.unlink()
            if self.random.random() < 0.5:
                self.scene.shadow.parent.rmdir()
            return
        self.fields["shadow"] = self.token()
        self.scene.shadow.parent.mkdir(exist_ok=True)
        self.scene.shadow.write_text(self.fields["shadow"])

    def change_mode(self) -> None:
        name = self.random.choice(sorted(self.copied))
        text, mode = self.copied[name]
        self.copied[name] = text, 0o644 if mode == 0o755 else 0o755
        self.path(f"copied/{name}").chmod(self.copied[name][1])

    def add_or_remove(self) -> None:
        name = self.random.choice("bcdef") + ".txt"
        path = self.path(f"copied/{name}")
        if self.copied.pop(name, None):
            path.unlink()
        else:
            path.write_text(text := self.token())
            path.chmod(0o644)
            self.copied[name] = text, 0o644

    def save_unchanged(self) -> None:
        path = self.path("sibling.txt")
        path.write_text(path.read_text())

    def save_and_undo(self) -> None:
        names = ("component/sibling.txt", "component/main.jsonnet", "component/.hidden", "class/defaults.yml")
        path = self.scene.component / self.random.choice(names)
        text = path.read_text()
        name = {"main.jsonnet": "code", "defaults.yml": "default", ".hidden": "hidden"}.get(path.name, "sibling")
        path.write_text(text.replace(f"{self.fields[name]}", "undone"))
        time.sleep(self.random.choice((0.0, 0.2, 0.6)))  # now and then the run reads it
        path.write_text(text)

    def save_often(self) -> None:
        for _ in range(self.random.randint(2, 5)):
            self.random.choice((self.edit_default, self.edit_value, self.edit_text, self.turn_link))()
            time.sleep(self.random.choice((0.0, 0.05, 0.3)))

    def edits(self) -> list[Callable[[], None]]:
        return [
            self.edit_default,
            self.edit_value,
            self.edit_code,
            self.edit_text,
            self.edit_with_the_old_time,
            self.edit_by_renaming,
            self.replace_folder,
            self.turn_link,
            self.shadow,
            self.change_mode,
            self.add_or_remove,
            self.save_unchanged,
            self.save_and_undo,
            self.save_often,
        ]

    def edit(self, watcher: Watcher) -> None:
        """One random save, or the loss of a comma and its return."""
        if self.random.random() < 0.05:
            self.kinds["break_and_mend"] += 1
            broken = len(watcher.lines)
            self.path("main.jsonnet").write_text("{")
            if not watcher.until(lambda: any(line.startswith("error:") for line in watcher.lines[broken:])):
                raise SoakError("a mistake was not reported")
            self.edit_code()
            return
        edit = self.random.choice(self.edits())
        self.kinds[edit.__name__] += 1
        edit()

    # What comes out

    def is_right(self) -> bool:
        try:
            load: Any = yaml.safe_load((self.scene.output / "out.yaml").read_text())
            copied = {
                path.name: (path.read_text(), path.stat().st_mode & 0o777)
                for path in (self.scene.output / "copied").iterdir()
            }
        except (OSError, ValueError):  # the folder is just being replaced
            return False
        return bool(load == self.fields and copied == self.copied)

    def compare_with_clean_run(self, watcher: Watcher) -> None:
        """Raise if a run without any cache gives something else."""
        watcher.until(lambda: "Waiting for changes" in watcher.lines[-1])
        clean, watched = digest(self.scene.clean()), digest(self.scene.output)
        if clean != watched:
            names = sorted(name for name in clean.keys() | watched.keys() if clean.get(name) != watched.get(name))
            raise SoakError(f"a run without cache gives other files: {', '.join(names)}")


def digest(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Modes and contents of the files in a folder."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def soak(kind: str, rounds: int, seed: int, folder: Path, *, every: int, progress: Callable[[str], None]) -> str:
    """Save `rounds` times.

    Args:
        kind: `component` or `catalog`.
        every: after so many rounds a run without cache is compared.
        progress: called with the number of finished saves.

    Returns:
        What was done, in one line.

    Raises:
        SoakError: an output was wrong, or did not come.
    """
    scene = SCENES[kind](folder)
    state = Soak(scene, random.Random(f"{kind} {seed}"))
    state.prepare()
    watcher = Watcher(scene.watch, folder)
    start, done, runs = time.monotonic(), 0, 0
    try:
        while True:
            if not watcher.until(state.is_right):
                raise SoakError(
                    f"{kind}, seed {seed}, round {done}: the output is not what the files say: "
                    f"{state.fields} {state.copied}\n" + "\n".join(watcher.lines[-40:])
                )
            if done % every == 0 or done == rounds:
                state.compare_with_clean_run(watcher)
                progress(f"{kind}: {done} saves in {time.monotonic() - start:.0f} s")
            if done == rounds:
                break
            done += 1
            state.edit(watcher)
        runs = sum(line.startswith("Compiled in") for line in watcher.lines)
        if watcher.end() != 0:
            raise SoakError(f"{kind}, seed {seed}: Ctrl-C does not end it well")
    finally:
        watcher.close()
    kinds = ", ".join(f"{name} {count}" for name, count in sorted(state.kinds.items()))
    return f"{kind}, seed {seed}: {done} saves, {runs} good runs, {time.monotonic() - start:.0f} s ({kinds})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1000, help="saves of each world")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--every", type=int, default=100, help="rounds between two comparisons with a run without cache"
    )
    parser.add_argument("--world", choices=[*SCENES], action="append", help="default: all")
    options = parser.parse_args(arguments)
    for kind in options.world or [*SCENES]:
        with tempfile.TemporaryDirectory(prefix="watch-") as folder:
            try:
                place = Path(folder).resolve()
                print(soak(kind, options.rounds, options.seed, place, every=options.every, progress=print), flush=True)
            except SoakError as error:
                print(f"different: {error}", flush=True)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
