"""Compare the YAML emitter with PyYAML's on the manifests of a folder: equal bytes, and how much faster.

    python bench/yaml_emitter.py FOLDER [ROUNDS]

Every *.yaml and *.yml below FOLDER is loaded, then written by both. Prints the files that differ and the medians.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from kapitan.utils import PrettyDumper

from commodore.base.errors import InputError
from commodore.base.yaml import Emitter, load_all

Stream = list[Any]


def by_pyyaml(documents: Stream) -> str:
    dumper = PrettyDumper.get_dumper_for_style("literal")
    return str(yaml.dump_all(documents, Dumper=dumper, indent=2, default_flow_style=False))


def read(folder: Path) -> dict[Path, Stream]:
    streams = {}
    for path in sorted(path for suffix in ("yaml", "yml") for path in folder.rglob(f"*.{suffix}")):
        try:
            streams[path] = load_all(path.read_bytes(), place=str(path))
        except InputError as error:
            print(f"left out: {error}")
    return streams


def seconds(write: Callable[[Stream], str], streams: list[Stream]) -> float:
    start = time.perf_counter()
    for stream in streams:
        write(stream)
    return time.perf_counter() - start


def main(folder: Path, rounds: int) -> int:
    streams = read(folder)
    different = 0
    size = 0
    for path, stream in streams.items():
        expected = by_pyyaml(stream)
        size += len(expected)
        if Emitter().dump_stream(stream) != expected:
            different += 1
            print(f"differs: {path}")
    print(f"{len(streams)} files, {size / 1e6:.1f} MB, {different} differ")
    documents = list(streams.values())
    # A new emitter for every round: its caches start cold, as they do in a worker process.
    ours = statistics.median(seconds(Emitter().dump_stream, documents) for _ in range(rounds))
    theirs = statistics.median(seconds(by_pyyaml, documents) for _ in range(rounds))
    print(f"median of {rounds}: PyYAML {theirs:.2f} s, commodore {ours:.2f} s, ratio {theirs / ours:.1f}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3))
