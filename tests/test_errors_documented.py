"""Every error code of the source has a section in docs/reference/errors, and every section has a code."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.base import errors
from commodore.cli.shell.error_pages import EXIT_CODES, find_error_page, normalize_code, read_error_rooms

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "commodore"
DOCS = ROOT / "docs" / "reference" / "errors"

CODE = re.compile(r"\bCMD-[A-Z]+-\d+\b")
WELL_FORMED = re.compile(r"CMD-[A-Z]+-\d{3}")
SECTION = re.compile(r"^## (CMD-\S+?): (\S.*)$", re.MULTILINE)

ERROR_CLASSES = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.CommodoreError)
}


def codes_in_source() -> dict[str, set[str]]:
    """The files in which each code stands."""
    places: dict[str, set[str]] = defaultdict(set)
    for suffix in ("py", "jsonnet", "libsonnet", "libjsonnet"):
        for path in SOURCE.rglob(f"*.{suffix}"):
            for code in CODE.findall(path.read_text(encoding="utf-8")):
                places[code].add(str(path.relative_to(ROOT)))
    return places


def sections() -> list[tuple[str, str]]:
    """File and code of each section, in order."""
    return [
        (path.stem, code)
        for path in sorted(DOCS.glob("*.md"))
        for code, _ in SECTION.findall(path.read_text(encoding="utf-8"))
    ]


def errors_made(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Code and class of each error or warning that is constructed with a literal code."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "Meaning":
            kind, code, _ = node.args
            yield ast.literal_eval(code), ast.unparse(kind)
            continue
        given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "code")]
        for argument in given:
            if (
                name in {*ERROR_CLASSES, "Warned"}
                and isinstance(argument, ast.Constant)
                and isinstance(argument.value, str)
            ):
                yield argument.value, name


@functools.cache
def errors_of_source() -> list[tuple[str, str]]:
    """Those of all modules."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    return [made for tree in trees for made in errors_made(tree)]


def test_codes_are_well_formed() -> None:
    assert [code for code in sorted(codes_in_source()) if not WELL_FORMED.fullmatch(code)] == []


def test_every_code_is_documented() -> None:
    documented = {code for _, code in sections()}
    missing = {code: sorted(files) for code, files in sorted(codes_in_source().items()) if code not in documented}
    assert missing == {}


def test_every_section_has_a_code_in_the_source() -> None:
    used = codes_in_source()
    assert [code for _, code in sections() if code not in used] == []


def test_sections_stand_once_in_order_and_in_their_rooms_file() -> None:
    result = sections()
    assert result == sorted(set(result))
    assert [(file, code) for file, code in result if code.split("-")[1] != file] == []


def test_every_heading_is_a_code_with_a_title() -> None:
    for path in DOCS.glob("[A-Z]*.md"):
        headings = re.findall(r"^## .*$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert [heading for heading in headings if not SECTION.match(heading)] == [], path.name


def test_every_section_says_who_has_to_act() -> None:
    """Below its heading: `*input error, exit code 1*` and so on for the families, `*warning*`, `*finding*`."""
    known = {f"*{family} error, exit code {code}*" for family, code in EXIT_CODES.items()} | {"*warning*", "*finding*"}
    wrong = {}
    for path in DOCS.glob("[A-Z]*.md"):
        _, *result = re.split(r"^## (CMD-\S+?): .*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for code, text in zip(result[::2], result[1::2], strict=True):
            line = text.strip().partition("\n")[0]
            if line not in known:
                wrong[code] = line
    assert wrong == {}, f"the line below the heading must be one of {sorted(known)}"


def test_every_section_shows_the_messages_of_the_source() -> None:
    """Run scripts/docs-errors when this fails."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "docs-errors"), "--check"],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    without = [
        page.code
        for room in read_error_rooms()
        for page in room.pages
        if not re.match(r"Message: `|Messages:$", page.paragraphs[0]) or len(page.paragraphs) < 2
    ]
    assert without == []


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("CMD-DEP-020", "Message: `parameters.<component>._metadata must be a mapping`"),  # a name for the place
        ("CMD-INV-002", "[ (while rendering target '<target>')]"),  # what is not always said
        ("CMD-DEP-037", "- `component '<component>' replaces '<former>', but '<former>' is deployed and is"),  # two
        ("CMD-API-044", "Message: `the cluster file <path> has no tenant`"),  # made by a function of its module
        ("CMD-CLI-021", "Message: `--no-fetch-dependencies has no effect without --local"),  # a constant elsewhere
        ("CMD-CAT-012", "[ and <number> more]"),  # text within text
    ],
)
def test_a_message_is_shown_as_users_read_it(code: str, shown: str) -> None:
    assert shown in "\n".join(find_error_page(code).paragraphs)


def test_sections_name_the_family_of_the_source() -> None:
    """Anything that is announced as a warning is one, even if a linter makes an error of the same finding."""
    named = {page.code: page.family for room in read_error_rooms() for page in room.pages}
    families: dict[str, set[str]] = defaultdict(set)
    for code, kind in errors_of_source():
        families[code].add("warning" if kind == "Warned" else getattr(errors, kind).family)
    assert "warning" in set().union(*families.values())
    expected = {code: "warning" if "warning" in family else min(family) for code, family in families.items()}
    assert {code: named[code] for code in expected if code in named and named[code] != expected[code]} == {}


def test_the_pages_as_data_are_the_sections() -> None:
    rooms = read_error_rooms()
    assert [(room.name, page.code) for room in rooms for page in room.pages] == sections()
    for room in rooms:
        assert room.title
        for page in room.pages:
            assert page.paragraphs, f"{page.code} has no text"
            assert page.exit_code == EXIT_CODES.get(page.family)


@pytest.mark.parametrize("spelling", ["CMD-DEP-012", "cmd-dep-012", "dep-012", "dep-12", "DEP012", "[CMD-DEP-012]"])
def test_a_code_is_found_however_it_is_spelt(spelling: str) -> None:
    assert normalize_code(spelling) == "CMD-DEP-012"
    page = find_error_page(spelling)
    assert (page.code, page.family, page.exit_code) == ("CMD-DEP-012", "input", 1)


@pytest.mark.parametrize(
    ("expected", "hint"),
    [("CMD-DEP-999", "CMD-DEP-0"), ("CMD-DPE-012", "CMD-DEP-012"), ("nonsense", "lists all codes"), ("", "lists all")],
)
def test_an_unknown_code_gets_a_suggestion(expected: str, hint: str) -> None:
    with pytest.raises(errors.InputError, match="there is no error code") as caught:
        find_error_page(expected)
    assert caught.value.code == "CMD-CLI-060"
    assert hint in caught.value.hint


def test_each_code_has_one_error_class() -> None:
    kinds: dict[str, set[str]] = defaultdict(set)
    for code, kind in errors_of_source():
        if kind != "Warned":
            kinds[code].add(kind)
    assert kinds  # the tree is read at all
    assert {code: sorted(names) for code, names in kinds.items() if len(names) > 1} == {}
