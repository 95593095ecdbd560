from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.review import DiffLine, DiffMode, FileChange, TreeChange, compare_trees, render

MODES: list[DiffMode] = ["plain", "ignore-yaml-formatting", "kapitan-0.29-to-0.30"]


def shown(old: str | bytes, new: str | bytes, mode: DiffMode = "plain") -> list[str]:
    """The diff of one modified file `f.yaml`."""
    before, after = ({"f.yaml": side.encode() if isinstance(side, str) else side} for side in (old, new))
    change = TreeChange.of([FileChange("modified", "f.yaml", "f.yaml")])
    return [line.text for line in render(change, before, after, DEFAULT_LIMITS, mode)]


def test_lines_of_every_kind_of_change() -> None:
    """Order, one-liners, headers without a/ and b/, three lines of context."""
    common = "".join(f"line {number}\n" for number in range(20))
    old = {"gone": b"1\n", "from": b"moved\n" * 9, "mod": common.encode(), "was": common.encode() + b"tail\n"}
    new = {
        "come": b"2\n",
        "to": b"moved\n" * 9,
        "mod": common.replace("line 9\n", "line IX\n").encode(),
        "is": common.encode() + b"TAIL\n",
    }
    change = compare_trees(old, new, DEFAULT_LIMITS)
    (similarity,) = [file.similarity for file in change.files if file.new_path == "is"]
    assert list(render(change, old, new, DEFAULT_LIMITS)) == [
        DiffLine("summary", "Deleted file gone"),
        DiffLine("summary", "Added file come"),
        DiffLine("summary", "Renamed file from => to"),
        DiffLine("summary", "Renamed file was => is"),
        DiffLine("header", "--- was"),
        DiffLine("header", "+++ is"),
        DiffLine("summary", f"similarity {similarity:.2f}%"),
        DiffLine("header", "--- mod"),
        DiffLine("header", "+++ mod"),
        DiffLine("hunk", "@@ -7,7 +7,7 @@"),
        DiffLine("context", " line 6"),
        DiffLine("context", " line 7"),
        DiffLine("context", " line 8"),
        DiffLine("remove", "-line 9"),
        DiffLine("add", "+line IX"),
        DiffLine("context", " line 10"),
        DiffLine("context", " line 11"),
        DiffLine("context", " line 12"),
    ]


def test_changes_that_git_alone_knows() -> None:
    change = TreeChange.of(
        [
            FileChange.of_git("T", "link"),
            FileChange.of_git("C100", "a", "b"),
            FileChange.of_git("M", "script"),
        ]
    )
    tree = {"script": b"echo\n"}
    assert [line.text for line in render(change, tree, tree, DEFAULT_LIMITS)] == [
        "Copied file a => b",
        "Changed mode of file script",
        "Changed type of file link",
    ]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("", "a\n", ["@@ -0,0 +1 @@", "+a"]),
        ("a\n", "", ["@@ -1 +0,0 @@", "-a"]),
        ("a\nb\n", "a\n", ["@@ -1,2 +1 @@", " a", "-b"]),
        ("a", "a\n", ["@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+a"]),
        ("a\r\n", "a\n", ["@@ -1 +1 @@", "-a\r", "+a"]),
        ("a\x85b\x0cc\n", "a\x85b\n", ["@@ -1 +1 @@", "-a\x85b\x0cc", "+a\x85b"]),
    ],
)
def test_edges_of_a_unified_diff(old: str, new: str, lines: list[str]) -> None:
    assert shown(old, new) == ["--- f.yaml", "+++ f.yaml", *lines]


@settings(max_examples=60, deadline=None)
@example(list("aaabbaa"), list("aababbaa"))
@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_a_diff_can_be_applied(tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in side) for side in (old, new))
    if before == after:
        return
    folder = tmp_path_factory.mktemp("apply")
    (folder / "f.yaml").write_text(before)
    patch = "\n".join(shown(before, after)) + "\n"
    subprocess.run(["git", "apply", "-p0", "-"], input=patch, text=True, cwd=folder, check=True, capture_output=True)
    assert (folder / "f.yaml").read_text() == after


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"caf\xe9\n", b"a\0b"])
def test_binary_and_other_encodings_are_told_apart_only(content: bytes, mode: DiffMode) -> None:
    """Such files ended in a traceback."""
    assert shown(content, b"a: 1\n", mode) == ["Binary files f.yaml and f.yaml differ"]
    assert shown(b"a: 1\n", content, mode) == ["Binary files f.yaml and f.yaml differ"]


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}\ndata: {data}\n"


def config(name: str, namespace: str = "n", data: str = "{a: b}") -> str:
    return CONFIG.format(name=name, namespace=namespace, data=data)


def test_formatting_and_order_of_objects_can_be_ignored() -> None:
    old = f"{config('b')}---\n{config('a')}"
    new = (
        f"---\n{config('a', data=chr(10) + '  a: b')}---\n"
        '{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"namespace": n, "name": "b"}, data: {a: "b"}}'
    )
    assert shown(old, new, "ignore-yaml-formatting") == []
    assert shown(old, new, "kapitan-0.29-to-0.30") == []
    assert shown(old, new) != []


def test_what_changes_in_an_object_is_shown_in_the_form_of_catalogs() -> None:
    old = config("b") + "---\n" + config("a", data='{list: [1], text: "1\\n2\\n"}')
    new = config("a", data='{list: [1, 2], text: "1\\n3\\n"}') + "---\n" + config("b")
    assert shown(old, new, "ignore-yaml-formatting") == [
        "--- f.yaml",
        "+++ f.yaml",
        "@@ -2,9 +2,10 @@",
        " data:",
        "   list:",
        "     - 1",
        "+    - 2",
        "   text: |",
        "     1",
        "-    2",
        "+    3",
        " kind: ConfigMap",
        " metadata:",
        "   name: a",
    ]


HELM = """kind: Service
metadata:
  labels:
    app: x
    app.kubernetes.io/managed-by: {by}
    heritage: {by}
  name: {name}
"""


def test_the_noise_of_the_kapitan_upgrade_is_hidden() -> None:
    old = f"null\n---\nnull\n---\n{HELM.format(by='Tiller', name='a')}---\n{HELM.format(by='Tiller', name='b')}"
    new = f"{HELM.format(by='Helm', name='a')}---\n{HELM.format(by='Helm', name='b')}"
    assert shown(old, new, "kapitan-0.29-to-0.30") == []
    assert shown("null\n", "", "kapitan-0.29-to-0.30") == []
    assert "+    heritage: Helm" in shown(old, new, "ignore-yaml-formatting")
    assert "-null" in shown(old, new, "ignore-yaml-formatting")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # a single line among unchanged ones, which the published rule of pairs hides
        (config("a", data="{a: b, c: d}"), config("a", data="{a: b}"), "-  c: d"),
        (config("a", data="{a: b}"), config("a", data="{a: b, c: d}"), "+  c: d"),
        # next to noise
        (HELM.format(by="Tiller", name="a"), HELM.format(by="Helm", name="b"), "+  name: b"),
        (HELM.format(by="Tiller", name="a"), HELM.format(by="Helm", name="a") + "  uid: x\n", "+  uid: x"),
        ("null\n---\n" + config("a"), config("a", data="{c: d}"), "+  c: d"),
        # not the noise it looks like
        (HELM.format(by="Helm", name="a"), HELM.format(by="Tiller", name="a"), "+    heritage: Tiller"),
        (HELM.format(by="Tiller", name="a"), HELM.format(by="Argo", name="a"), "+    heritage: Argo"),
        (config("a"), "null\n---\n" + config("a"), "+null"),
        (config("a") + "---\n" + config("b"), config("a"), "-  name: b"),
    ],
)
def test_no_other_change_is_hidden_with_it(old: str, new: str, expected: str) -> None:
    assert expected in shown(old, new, "kapitan-0.29-to-0.30")


@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- 1\n- 2\n", "[1, 2]\n"),
        ("some text\n", "some  text\n"),
        ("kind: A\nmetadata: null\n", "metadata: null\nkind: A\n"),
        ("kind: 1\nmetadata: {}\n", "metadata: {}\nkind: 1\n"),
        ("kind: A\nmetadata: {name: 1}\n", "metadata: {name: 1}\nkind: A\n"),
        ("a: [\n", "a: {\n"),
        ("{{ template }}: x: y\n", "{{ other }}: x: y\n"),
        ("a: 1\n", "a: [\n"),
        ("a: !tag x\n", "a:   !tag x\n"),
    ],
)
def test_what_is_not_an_object_is_compared_as_text(old: str, new: str, mode: DiffMode) -> None:
    """Such files ended in a traceback."""
    assert shown(old, new, mode) == shown(old, new)
    assert shown(old, new)


def test_values_of_another_type_are_a_change() -> None:
    assert "+a: '1'" in shown("a: 1\n", "a: '1'\n", "ignore-yaml-formatting")
    assert "+a: true" in shown("a: 1\n", "a: yes\n", "ignore-yaml-formatting")


def test_a_diff_beyond_the_limit_says_so() -> None:
    """Lines in an order that no diff can make use of: without a limit this takes minutes."""
    old = {"f": b"".join(b"%d\n" % (number % 30) for number in range(150))}
    new = {"f": b"".join(b"%d\n" % (number * 7 % 30) for number in range(150))}
    change = compare_trees(old, new, DEFAULT_LIMITS)
    assert [line.text for line in render(change, old, new, limits=Limits(diff_matches=100))] == [
        "--- f",
        "+++ f",
        "too many differences to show (150 lines became 150)",
    ]
    assert len(list(render(change, old, new, DEFAULT_LIMITS))) > 10


def test_only_modified_files_are_read() -> None:
    change = TreeChange.of(
        [FileChange.of_git("D", "a"), FileChange.of_git("A", "b"), FileChange.of_git("R090", "c", "d")]
    )
    assert len(list(render(change, {}, {}, DEFAULT_LIMITS))) == 6
