"""Write the files of which there is one per test case, and remove what was not asked for."""

import shutil
from pathlib import Path

SLUG = "{{ cookiecutter.slug }}"
CASES = "{{ cookiecutter.test_cases }}".split()

for case in CASES:
    Path("tests", f"{case}.yml").write_text(
        "# Parameters of this test case. They are merged over those of class/defaults.yml.\n"
        "parameters: {}\n",
        encoding="utf-8",
    )
    if "{{ cookiecutter.add_golden }}" == "y":
        apps = Path("tests", "golden", case, SLUG, "apps")
        apps.mkdir(parents=True)
        (apps / f"{SLUG}.yaml").write_bytes(b"")

if "{{ cookiecutter.add_lib }}" != "y":
    shutil.rmtree("lib")

if "{{ cookiecutter.auto_release }}" != "y":
    Path(".github", "workflows", "auto-release.yaml").unlink()
