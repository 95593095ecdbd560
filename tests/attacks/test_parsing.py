"""Input that no parser should have to read: bombs, depths, loops, and what YAML allows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.limits import Limits
from commodore.base.yaml import load, load_all
from commodore.core.inventory import render_node
from commodore.core.inventory._growth import find_suspects
from commodore.core.lieutenant.cluster_file import list_cluster_file
from tests.world.context import make_context

pytestmark = pytest.mark.tools

DEEP = 100_000
EIGHT = range(8)

BOMBS: dict[str, str] = {
    "lists": "a: " + "[" * DEEP + "]" * DEEP + "\n",
    "maps": "a: " + "{a: " * DEEP + "1" + "}" * DEEP + "\n",
    "dashes": "- " * DEEP + "1\n",
    "unclosed": "a: " + "[" * DEEP + "\n",
    "aliases": "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)),
    "merges": "a0: &a0 {x: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: *a{i - 1}, y{i}: *a{i - 1}, z{i}: *a{i - 1}}}\n" for i in range(1, 40)),
}
WRONG: dict[str, str | bytes] = {
    "tag": 'a: !!python/object/apply:os.system ["true"]\n',
    "name": "a: !!python/name:os.system\n",
    "unicode": b'a: "\xff\xfe"\n',
    "control": "a: \x00\n",
    "surrogate": b'a: "\xed\xa0\x80"\n',
    "bidi marks in a key": "? [\u202e]\n: a\nb: [\n",
}
ODD = {
    "huge integer": f"a: {'9' * 100_000}\n",
    "not a number": "a: .nan\nb: -.inf\n",
    "byte order mark": "\ufeffa: 1\n",
    "carriage returns": "a: 1\r\nb: 2\r\n",
    "sexagesimal": "a: 190:20:30\n",
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("reader", [load, load_all])
def test_bombs(name: str, reader: object) -> None:
    with pytest.raises(CommodoreError) as caught:
        reader(BOMBS[name], place="manifest.yaml")  # type: ignore[operator]
    assert caught.value.code in ("CMD-YAML-001", "CMD-YAML-003", "CMD-YAML-004")
    assert "manifest.yaml" in caught.value.message


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_data(name: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        load(WRONG[name], place="manifest.yaml")
    assert caught.value.code == "CMD-YAML-001"
    assert "\u202e" not in caught.value.message


@pytest.mark.harmless
@pytest.mark.parametrize("name", [name for name in ODD if name != "huge integer"])
def test_what_is_odd_but_data(name: str) -> None:
    assert isinstance(load(ODD[name], place="manifest.yaml"), dict)


def hierarchy(tmp_path: Path, text: str | bytes, other: str = "") -> Path:
    """A hierarchy whose only target includes one class, `evil`."""
    inventory = tmp_path / "inventory"
    (inventory / "targets").mkdir(parents=True)
    (inventory / "classes").mkdir()
    (inventory / "targets" / "app.yml").write_text("classes: [evil]\n")
    (inventory / "classes" / "evil.yml").write_bytes(text.encode() if isinstance(text, str) else text)
    (inventory / "classes" / "other.yml").write_text(other)
    return inventory


def indented(text: str) -> str:
    return "parameters:\n" + "".join(f"  {line}\n" for line in text.splitlines())


@pytest.mark.parametrize("name", BOMBS)
def test_class_files_that_are_bombs(tmp_path: Path, name: str) -> None:
    text = BOMBS[name] if name == "dashes" else indented(BOMBS[name])
    with pytest.raises(CommodoreError) as caught:
        render_node(hierarchy(tmp_path, text), "app", make_context())
    assert caught.value.code in ("CMD-YAML-001", "CMD-YAML-003", "CMD-YAML-004", "CMD-INV-001")
    assert "evil.yml" in " ".join([caught.value.message, *map(str, caught.value.locations)])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("parameters:\n  a: 1\n  a: 2\n", "CMD-INV-001"),
        (b'parameters:\n  a: "\xff"\n', "CMD-INV-001"),
        ("parameters:\n  a: ${a}\n", "CMD-INV-004"),
        ("parameters:\n  a: ${b}\n  b: ${c}\n  c: ${a}\n", "CMD-INV-004"),
        ("parameters:\n  a: ${${a}}\n", "CMD-INV-004"),
        ("classes: [evil]\n", "CMD-INV-019"),
        ("classes: [...etc.passwd]\n", "CMD-INV-002"),
        ("classes: ['/etc/passwd']\n", "CMD-INV-002"),
        ("classes: [other]\nparameters:\n  a: 2\n", ""),
    ],
)
def test_class_files_that_are_wrong(tmp_path: Path, text: str | bytes, code: str) -> None:
    """The last one: a constant of another class is changed."""
    with pytest.raises(CommodoreError) as caught:
        render_node(hierarchy(tmp_path, text, other="parameters:\n  =a: 1\n"), "app", make_context())
    assert caught.value.code == code or (not code and caught.value.exit_code == 1)


def multiplied(text: str, levels: int) -> str:
    """A parameter that stands for eight times another, which stands for eight times another, ..."""
    lines = [f"  a{i}: {text.replace('#', f'${{a{i - 1}}}')}\n" for i in range(1, levels)]
    return "parameters:\n  a0: [x, x, x]\n" + "".join(lines)


EXPLOSIONS = {
    "in lists": multiplied("[" + ", ".join(['"#"'] * 8) + "]", 10),
    "in text": multiplied('"' + "#" * 8 + '"', 12),
    "in maps": multiplied("{" + ", ".join(f'k{i}: "#"' for i in EIGHT) + "}", 10),
    "in blocks": "parameters:\n  a0: x\n"
    + "".join(f"  a{i}:\n" + "".join(f"    - k: ${{a{i - 1}}}\n" for _ in EIGHT) for i in range(1, 10)),
    "of paths": "parameters:\n  a0:\n    k: x\n"
    + "".join(f"  a{i}:\n" + "".join(f"    k{j}: ${{a{i - 1}}}\n" for j in EIGHT) for i in range(1, 10)),
    "nested": "parameters:\n  a: '" + "${a:" * 20_000 + "x" + "}" * 20_000 + "'\n",
}


SMALL = make_context(limits=Limits(hierarchy_seconds=2, hierarchy_bytes=256 << 20, target_bytes=16 << 20))


@pytest.mark.parametrize("name", EXPLOSIONS)
def test_references_that_explode(tmp_path: Path, name: str) -> None:
    """They are rendered in a process that is ended, and files that look like it are named."""
    inventory = hierarchy(tmp_path, EXPLOSIONS[name])
    with pytest.raises(CommodoreError) as caught:
        render_node(inventory, "app", SMALL)
    assert caught.value.code == "CMD-INV-051"
    assert "2 seconds, 256 MiB of memory and 16 MiB of parameters" in caught.value.message
    assert "COMMODORE_LIMITS" in caught.value.hint
    assert "evil.yml" in str(caught.value.locations[0])


@pytest.mark.harmless
def test_an_empty_name_is_a_name_like_others() -> None:
    """Core groups of roles are named so: `"": [pods]`."""
    text = b'parameters:\n  app:\n    rules:\n      "":\n        - ${app:resource}\n    resource: pods\n'
    assert find_suspects([(Path("class/defaults.yml"), text)]) == []


def hidden(text: str) -> str:
    """Like `multiplied`, with values that a reader of lines does not see: `#` is the number before."""
    lines = "".join(f"  {text.replace('@', str(i)).replace('#', str(i - 1))}\n" for i in range(1, 10))
    return f"parameters:\n  a0: [x, x, x]\n  n0: a0\n{lines}"


HIDDEN = {
    "escapes": hidden("a@: [" + ", ".join(['"\\x24{a#}"'] * 8) + "]"),
    "anchors": hidden("b@: &b@ [" + ", ".join(['"${a#}"'] * 8) + "]\n  a@: *b@"),
    "names of parameters": hidden("n@: a@\n  a@: [" + ", ".join(['"${${n#}}"'] * 8) + "]"),
    "one line": "parameters: {a0: [x, x, x], "
    + ", ".join(f"a{i}: [" + ", ".join([f'"${{a{i - 1}}}"'] * 8) + "]" for i in range(1, 10))
    + "}\n",
    "long lists": "parameters:\n  a0: [" + "1," * 100_000 + "]\n  b: [" + '"${a0}",' * 300 + "]\n",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_references_that_explode_unseen(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        render_node(hierarchy(tmp_path, HIDDEN[name]), "app", SMALL)
    assert caught.value.code == "CMD-INV-051"


@pytest.mark.harmless
def test_large_parameters_are_no_explosion(tmp_path: Path) -> None:
    text = "parameters:\n  a: {b: " + "x" * 400_000 + "}\n" + "".join(f"  c{i}: ${{a}}\n" for i in range(20))
    node = render_node(hierarchy(tmp_path, text), "app", SMALL)
    assert len(node.parameters["c7"]["b"]) == 400_000


def test_a_hierarchy_whose_references_nest_without_end(tmp_path: Path) -> None:
    """This process survives it."""
    with pytest.raises(CommodoreError) as caught:
        render_node(hierarchy(tmp_path, EXPLOSIONS["nested"]), "app", make_context())
    assert caught.value.code == "CMD-INV-051"


@pytest.mark.parametrize("name", BOMBS)
def test_cluster_files_that_are_bombs(tmp_path: Path, name: str) -> None:
    file = tmp_path / "cluster.yml"
    file.write_text(BOMBS[name])
    with pytest.raises(CommodoreError) as caught:
        list_cluster_file(file, make_context())
    assert caught.value.code in ("CMD-YAML-003", "CMD-YAML-004")
    assert "cluster.yml" in " ".join([caught.value.message, *map(str, caught.value.locations)])


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, json.dumps({"cluster": "x" * (17 << 20)})])
def test_cluster_files_of_json_that_are_bombs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(text)
    with pytest.raises(CommodoreError) as caught:
        list_cluster_file(file, make_context())
    assert caught.value.code in ("CMD-YAML-003", "CMD-API-041")
