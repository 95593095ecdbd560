"""Detection and start of a browser."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from commodore.core.lieutenant.login.browser import has_browser, open_browser


def test_without_a_display_there_is_none() -> None:
    """Not even one that would draw into the terminal."""
    assert not has_browser()


@pytest.mark.skipif(sys.platform == "darwin", reason="there is always one")
def test_what_the_user_names_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", f"{sys.executable} %s")
    assert has_browser()


@pytest.mark.tools
def test_it_writes_nothing_between_our_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script, seen = tmp_path / "browse.py", tmp_path / "seen"
    script.write_text(f"import sys; print('noise'); open({str(seen)!r}, 'w').write(sys.argv[1])")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    url = "https://idp.example.com/?a=1&b=$(touch x)'\""
    open_browser(url)
    end = time.monotonic() + 30
    while (not seen.exists() or not seen.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    assert seen.read_text() == url
    assert capfd.readouterr() == ("", "")
