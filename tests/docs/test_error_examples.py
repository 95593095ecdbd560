"""The wrong examples of the pages about errors give the error of their section, and the right ones do not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.errors import CommodoreError, Findings, raise_all
from commodore.base.events import Event, Warned
from commodore.base.strictness import read_allowed
from commodore.cli.authoring.facts import read_facts
from commodore.cli.shell.console import Console
from commodore.cli.shell.error_pages import read_error_rooms
from commodore.core.dependencies import find_incomplete, parse_applications, read_metadata, read_specs
from commodore.core.engine.filters.run import read_filters
from commodore.core.engine.model import InstanceJob
from commodore.core.inventory import Node
from commodore.core.lieutenant import load_cluster_file
from commodore.core.refs import find_references
from commodore.core.refs.write import vault_parameters
from tests.core.inventory.hierarchies import Hierarchy
from tests.world.context import make_context

Heard = list[Event]
EXISTING = {"global/common.yml": "", "base.yml": "parameters: {nfs: {}, cluster: {}}"}

# Reported by parts that need more than one file to work on; their examples are only read.
ONLY_READ = {"CMD-DEP-012", "CMD-DEP-051", "CMD-ENG-008", "CMD-ENG-010", "CMD-ENG-053", "CMD-JB-001", "CMD-JB-020"}


def examples() -> dict[str, tuple[str, str, str]]:
    """Language, wrong and right text by code."""
    results = {}
    for room in read_error_rooms():
        for page in room.pages:
            text = "\n\n".join(page.paragraphs)
            if match := re.search(
                r"^Wrong:\n\n```(\w+)\n(.*?)\n```\n\nRight:\n\n```\1\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE
            ):
                results[page.code] = (match[1], match[2], match[3])
    return results


EXAMPLES = examples()


def render(text: str, folder: Path, collected: Heard) -> Node:
    """A target that includes the classes of an example, which blank lines and comments part."""
    classes = {f"c{index}.yml": part for index, part in enumerate(re.split(r"\n\n(?=# )", text))}
    names = ", ".join(["base", *(name.removesuffix(".yml") for name in classes)])
    hierarchy = Hierarchy(folder, collected).target(f"classes: [{names}]").classes({**EXISTING, **classes})
    return hierarchy.render()


def check_applications(text: str, folder: Path, collected: Heard) -> None:
    parse_applications(render(text, folder, collected).applications, make_context(announce=collected.append))


def check_specs(text: str, folder: Path, collected: Heard) -> None:
    parameters = render(text, folder, collected).parameters
    errors = find_incomplete(parameters, {})
    try:
        read_specs(parameters, "component", ("nfs",), make_context())
    except CommodoreError as error:
        errors.append(error)
    raise_all(errors)


def check_allowed(text: str, folder: Path, collected: Heard) -> None:
    read_allowed(render(text, folder, collected).parameters)


def check_metadata(text: str, folder: Path, collected: Heard) -> None:
    collected += read_metadata(render(text, folder, collected).parameters, "nfs").doubts


def check_references(text: str, folder: Path, collected: Heard) -> None:
    content = yaml.safe_load(text)
    parameters: Mapping[str, Any] = content.get("parameters", content)
    find_references(parameters, make_context(announce=collected.append), target="nfs")
    if "parameters" in content:
        vault_parameters(parameters)


def check_filters(text: str, folder: Path, collected: Heard) -> None:
    job = InstanceJob("nfs", "nfs", folder)
    read_filters(yaml.safe_load(text), job, make_context())


def check_cluster_file(text: str, folder: Path, collected: Heard) -> None:
    file = folder / "cluster.yml"
    file.write_text(text, encoding="utf-8")
    load_cluster_file(file, "c-example", {}, make_context(announce=collected.append))


def check_facts_file(text: str, folder: Path, collected: Heard) -> None:
    file = folder / "facts.yml"
    file.write_text(text, encoding="utf-8")
    read_facts({"facts_file": file, "fact": (), "dynamic_fact": ()}, Console())


CHECKS: dict[str, Callable[[str, Path, Heard], object]] = {
    "API-": check_cluster_file,
    "CLI-": check_facts_file,
    "DEP-00": check_applications,
    "DEP-01": check_specs,
    "DEP-02": check_metadata,
    "DEP-053": check_allowed,
    "ENG-04": check_filters,
    "INV-": render,
    "NAME-": check_applications,
    "REF-": check_references,
}


def codes_of(check: Callable[[str, Path, Heard], object], text: str, folder: Path) -> set[str]:
    collected: Heard = []
    folder.mkdir()
    results: set[str] = set()
    try:
        check(text, folder, collected)
    except Findings as errors:
        results = {error.code for error in errors.errors}
    except CommodoreError as error:
        results = {error.code}
    return results | {event.code for event in collected if isinstance(event, Warned)}


def test_there_are_examples_of_the_usual_errors() -> None:
    assert len(EXAMPLES) >= 40
    assert {code.split("-")[1] for code in EXAMPLES} >= {"API", "CLI", "DEP", "ENG", "INV", "NAME", "REF"}


@pytest.mark.tools
@pytest.mark.parametrize("code", sorted(code for code, (language, _, _) in EXAMPLES.items() if language == "yaml"))
def test_examples_are_what_they_say(code: str, tmp_path: Path) -> None:
    _, wrong, right = EXAMPLES[code]
    if code in ONLY_READ:
        assert yaml.safe_load(wrong) != yaml.safe_load(right)
        return
    check = next(check for room, check in CHECKS.items() if code.startswith(f"CMD-{room}"))
    assert code in codes_of(check, wrong, tmp_path / "wrong")
    assert code not in codes_of(check, right, tmp_path / "right")


def test_examples_in_json_are_json() -> None:
    texts = [text for language, *both in EXAMPLES.values() if language == "json" for text in both]
    assert len(texts) > 1
    assert all(isinstance(json.loads(text), dict) for text in texts)
