"""Write the files of which there is one per test case, and remove what was not asked for."""

from pathlib import Path

CASES = "{{ cookiecutter.test_cases }}".split()

for case in CASES:
    Path("tests", f"{case}.yml").write_text(
        "# What this test case compiles: classes of this package (`..common`), applications, parameters.\n"
        "classes:\n"
        "  - ..common\n"
        "\n"
        "parameters: {}\n",
        encoding="utf-8",
    )

if "{{ cookiecutter.auto_release }}" != "y":
    Path(".github", "workflows", "auto-release.yaml").unlink()
