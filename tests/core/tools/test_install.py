"""Installing tools from a release server that may be wrong, slow, hostile or gone."""

from __future__ import annotations

import json
import math
import os
import stat
import tarfile
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.events import Event, Noted, StageAdvanced, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.values.versions import Version
from commodore.core.tools import (
    KNOWN_VERSIONS,
    Choice,
    InstallOutcome,
    Releases,
    Toolbox,
    install_tool,
    managed_tools,
    missing_tools,
    uninstall_tool,
    upgrade_tool,
)
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.releases import (
    PLATFORM,
    Member,
    ReleaseServer,
    Reply,
    failing,
    pack,
    redirect,
    tool_archive,
    tool_script,
    truncated,
)

HASTY = replace(DEFAULT_LIMITS, request_attempts=2, request_backoff=0.0)
NINE = Version(9, 0, 0)


@pytest.fixture
def box(tmp_path: Path, bare: Path) -> Toolbox:
    return Toolbox(tmp_path / "tools")


@pytest.fixture
def releases(server: ReleaseServer, collected: list[Event]) -> Releases:
    return Releases(
        make_context(announce=collected.append, limits=HASTY),
        mirror=server.mirror,
        api=server.api,
        pins={},
        timeout=5.0,
    )


def install(box: Toolbox, releases: Releases, tool: str = "helm", version: Version | None = NINE) -> InstallOutcome:
    return install_tool(tool, Choice(version), box, releases)


def refused(kind: type[CommodoreError], code: str, box: Toolbox, releases: Releases, tool: str = "helm") -> str:
    """The message with which the installation is refused; nothing is there afterwards."""
    with pytest.raises(kind) as caught:
        install(box, releases, tool)
    assert caught.value.code == code
    assert leftovers(box) == []
    return caught.value.message


def leftovers(box: Toolbox) -> list[str]:
    """Other files in the managed folder than tools and its own files."""
    if not box.folder.exists():
        return []
    return sorted(path.name for path in box.folder.iterdir() if path.name not in (".lock", "state.json"))


@pytest.mark.parametrize("tool", ["helm", "kustomize"])
def test_a_version_is_installed_by_the_projects_checksums(
    tool: str, server: ReleaseServer, box: Toolbox, releases: Releases, collected: list[Event]
) -> None:
    """Issue: checksum files for versions that are not pinned; no scripts."""
    server.publish(tool, "9.0.0")
    before = datetime.now(UTC).astimezone().replace(tzinfo=None).replace(microsecond=0)
    assert install(box, releases, tool) == InstallOutcome(tool, "installed", "9.0.0", box.executable(tool))
    assert stat.S_IMODE(box.executable(tool).stat().st_mode) == 0o755
    assert box.executable(tool).read_text() == tool_script("9.0.0")
    assert leftovers(box) == [tool]
    state = json.loads(box.state_file.read_text())
    assert datetime.fromisoformat(state[tool]) >= before
    assert "+" not in state[tool]
    assert any(isinstance(event, Noted) and "SHA-256 of" in event.message for event in collected)
    assert [event.item for event in collected if isinstance(event, StageAdvanced)][-1] == f"{tool} 9.0.0: 100 %"


def test_a_pinned_version_asks_for_no_checksum(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    digest = server.publish("helm", "9.0.0", checksum=None)
    pinned = replace(releases, pins={"helm": {"9.0.0": {PLATFORM: digest}}})
    assert install(box, pinned).action == "installed"
    assert server.asked(server.checksums("helm", "9.0.0")) == 0


def test_a_pin_counts_more_than_the_servers_checksum(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    pinned = replace(releases, pins={"helm": {"9.0.0": {PLATFORM: "ab" * 32}}})
    message = refused(PolicyError, "CMD-TOOL-018", box, pinned)
    assert message.endswith(f"instead of {'ab' * 32}")


def test_without_a_version_the_known_one_is_installed(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    known = str(KNOWN_VERSIONS["helm"])
    server.publish("helm", known)
    server.publish("helm", "9.0.0")
    assert install(box, releases, version=None).version == known


def test_the_latest_version_may_be_asked_for(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    for version in ("10.0.0", "9.9.9"):
        server.publish("helm", version)
    assert install_tool("helm", Choice(latest=True), box, releases).version == "10.0.0"


def test_a_wrong_checksum(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0", checksum="cd" * 32)
    assert "instead of cdcd" in refused(PolicyError, "CMD-TOOL-018", box, releases)


@pytest.mark.parametrize("tool", ["helm", "kustomize"])
def test_a_missing_file_with_checksums(tool: str, server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish(tool, "9.0.0", checksum=None)
    assert "there is no checksum" in refused(PolicyError, "CMD-TOOL-017", box, releases, tool)
    assert server.asked(server.archive(tool, "9.0.0")) == 0


@pytest.mark.parametrize(
    "text", ["", "nonsense", "ab" * 32, f"{'ab' * 32}  other.tar.gz", f"{'ab' * 31}  %s", "<html>"]
)
def test_a_file_with_checksums_that_lacks_the_archive(
    text: str, server: ReleaseServer, box: Toolbox, releases: Releases
) -> None:
    server.publish("helm", "9.0.0")
    name = server.archive("helm", "9.0.0").rpartition("/")[2]
    server.files[server.checksums("helm", "9.0.0")] = text.replace("%s", name).encode()
    assert "has no SHA-256" in refused(PolicyError, "CMD-TOOL-017", box, releases)


def test_a_body_that_breaks_off_is_fetched_again(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.script(truncated(), path=server.archive("helm", "9.0.0"))
    assert install(box, releases).action == "installed"
    assert server.asked(server.archive("helm", "9.0.0")) == 2


def test_a_body_that_always_breaks_off(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.script(truncated(), times=math.inf, path=server.archive("helm", "9.0.0"))
    assert "broke off" in refused(EnvironmentFault, "CMD-TOOL-014", box, releases)


def test_a_body_that_ends_early_by_its_own_account(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    archive = server.archive("helm", "9.0.0")
    server.files[archive] = server.files[archive][:-20]
    refused(PolicyError, "CMD-TOOL-018", box, releases)


@pytest.mark.parametrize("sized", [True, False])
def test_a_body_that_is_too_large(sized: bool, server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    """By what its header says, and by what arrives."""
    server.publish("helm", "9.0.0")
    small = replace(releases, context=replace(releases.context, limits=replace(HASTY, tool_download_bytes=100)))
    server.script(Reply(sized=sized), path=server.archive("helm", "9.0.0"))
    assert "larger than 100 bytes" in refused(PolicyError, "CMD-TOOL-015", box, small)


def test_a_server_that_fails_for_a_moment(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.script(failing(503), path=server.archive("helm", "9.0.0"))
    assert install(box, releases).action == "installed"


def test_a_server_that_keeps_failing(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.script(failing(500), times=math.inf, path=server.archive("helm", "9.0.0"))
    assert refused(EnvironmentFault, "CMD-TOOL-011", box, releases).endswith("returned 500")


def test_a_server_that_does_not_answer(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.script(Reply(delay=60), times=math.inf)
    hasty = replace(releases, timeout=0.2)
    assert "no answer within 0.2 s" in refused(EnvironmentFault, "CMD-TOOL-008", box, hasty)


def test_a_download_that_takes_too_long(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.script(Reply(delay=60), path=server.archive("helm", "9.0.0"))
    hasty = replace(releases, context=replace(releases.context, limits=replace(HASTY, tool_download_seconds=0.2)))
    assert "was not complete after 0.2 s" in refused(EnvironmentFault, "CMD-TOOL-008", box, hasty)


def test_a_version_that_is_not_there(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    pinned = replace(releases, pins={"helm": {"9.0.0": {PLATFORM: "ab" * 32}}})
    assert refused(InputError, "CMD-TOOL-010", box, pinned).startswith(f"there is no helm 9.0.0 for {PLATFORM}")


def test_no_network(box: Toolbox, bare: Path, collected: list[Event]) -> None:
    offline = Releases(make_context(announce=collected.append, limits=HASTY), mirror="https://127.0.0.1:9", pins={})
    assert "Connection refused" in refused(EnvironmentFault, "CMD-TOOL-008", box, offline)


def test_a_certificate_of_somebody_else(
    server: ReleaseServer, box: Toolbox, releases: Releases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    server.publish("helm", "9.0.0")
    assert "self-signed" in refused(EnvironmentFault, "CMD-TOOL-008", box, releases)


def test_redirects_to_other_hosts_are_followed(
    server: ReleaseServer, box: Toolbox, releases: Releases, tmp_path: Path
) -> None:
    """As GitHub keeps its assets elsewhere. A mirror's password does not go there."""
    server.publish("helm", "9.0.0")
    other = server.site.replace("127.0.0.1", "localhost")
    archive = server.archive("helm", "9.0.0")
    server.files["/elsewhere"] = server.files[archive]
    server.script(redirect(f"{other}/elsewhere"), path=archive)
    secret = replace(releases, mirror=server.mirror.replace("://", "://me:secret@"))
    assert install(box, secret).action == "installed"
    sent = {request.path: request.headers.get("authorization") for request in server.requests}
    assert sent[archive] == "Basic bWU6c2VjcmV0"
    assert sent["/elsewhere"] is None


def test_redirects_do_not_leave_https(server: ReleaseServer, box: Toolbox, releases: Releases, tmp_path: Path) -> None:
    server.publish("helm", "9.0.0")
    server.script(redirect("http://127.0.0.1:9/helm"), path=server.archive("helm", "9.0.0"))
    assert "redirects to http://127.0.0.1:9/helm" in refused(PolicyError, "CMD-TOOL-016", box, releases)


def test_redirects_without_end(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    archive = server.archive("helm", "9.0.0")
    server.script(redirect(archive), times=math.inf, path=archive)
    assert "redirects more than" in refused(EnvironmentFault, "CMD-TOOL-011", box, releases)


def test_a_mirror_without_https_serves_pinned_versions_only(box: Toolbox, releases: Releases, tmp_path: Path) -> None:
    with ReleaseServer(tmp_path / "plain", tls=False) as plain:
        digest = plain.publish("helm", "9.0.0")
        unpinned = replace(releases, mirror=plain.mirror)
        assert "is not https" in refused(PolicyError, "CMD-TOOL-028", box, unpinned)
        assert plain.requests == []
        pinned = replace(unpinned, pins={"helm": {"9.0.0": {PLATFORM: digest}}})
        assert install(box, pinned).action == "installed"


def test_a_mirror_may_have_a_layout_of_its_own(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("kustomize", "9.0.0")
    for path in (server.archive("kustomize", "9.0.0"), server.checksums("kustomize", "9.0.0")):
        server.files[f"/own/9.0.0-kustomize/{path.rpartition('/')[2]}"] = server.files.pop(path)
    own = replace(releases, mirror=f"{server.site}/own/{{version}}-{{tool}}/{{file}}")
    assert install(box, own, "kustomize").action == "installed"


HELM = f"{PLATFORM}/helm"
HOSTILE: dict[str, Member] = {
    "no member": Member("README", "hello"),
    "another platform's": Member("plan9-mips/helm", "hello"),
    "a symlink": Member(HELM, kind=tarfile.SYMTYPE, target="/bin/sh"),
    "a hard link": Member(HELM, kind=tarfile.LNKTYPE, target="../../../bin/sh"),
    "a folder": Member(HELM, kind=tarfile.DIRTYPE),
    "a device": Member(HELM, kind=tarfile.CHRTYPE),
    "a climbing name": Member(f"../{HELM}", "hello"),
    "an absolute name": Member(f"/{HELM}", "hello"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_archive_that_holds_something_else(
    name: str, server: ReleaseServer, box: Toolbox, releases: Releases
) -> None:
    server.publish("helm", "9.0.0", pack(HOSTILE[name]))
    refused(PolicyError, "CMD-TOOL-019", box, releases)


def test_members_that_climb_are_left_in_the_archive(
    server: ReleaseServer, box: Toolbox, releases: Releases, tmp_path: Path
) -> None:
    content = pack(
        Member("../../escaped", "x"),
        Member(f"{tmp_path}/escaped", "x"),
        Member(PLATFORM, kind=tarfile.SYMTYPE, target=str(tmp_path)),
        Member(HELM, tool_script("9.0.0")),
    )
    server.publish("helm", "9.0.0", content)
    install(box, releases)
    assert leftovers(box) == ["helm"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "system", "tools"]


@pytest.mark.parametrize("content", [b"", b"hello", tool_archive("helm", "9.0.0")[:-30]], ids=["empty", "text", "cut"])
def test_a_damaged_archive(content: bytes, server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0", content)
    assert "cannot be used" in refused(PolicyError, "CMD-TOOL-019", box, releases)


def test_an_archive_that_grows(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0", pack(Member("big", "0" * 100_000), Member(HELM, tool_script("9.0.0"))))
    small = replace(releases, context=replace(releases.context, limits=replace(HASTY, tool_binary_bytes=10_000)))
    assert "holds more than" in refused(PolicyError, "CMD-TOOL-015", box, small)


def test_a_tool_of_another_version(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0", tool_archive("helm", "8.0.0"))
    assert "reports version 8.0.0" in refused(EnvironmentFault, "CMD-TOOL-020", box, releases)


def test_a_tool_that_does_not_run_here(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0", pack(Member(HELM, "\x7fELF for another machine")))
    assert "does not run here" in refused(EnvironmentFault, "CMD-TOOL-020", box, releases)


def test_the_tool_is_tried_without_our_secrets(
    server: ReleaseServer, box: Toolbox, releases: Releases, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Installation scripts got the GitHub token."""
    monkeypatch.setenv("COMMODORE_GITHUB_TOKEN", "secret")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    body = f"echo \"$COMMODORE_GITHUB_TOKEN$GITHUB_TOKEN\" >'{tmp_path}/token'"
    server.publish("helm", "9.0.0", tool_archive("helm", "9.0.0", body=body))
    install(box, releases)
    assert (tmp_path / "token").read_text() == "\n"


def test_installing_again_changes_nothing(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    install(box, releases)
    before = (box.executable("helm").stat(), box.state_file.read_text(), len(server.requests))
    assert install(box, releases).action == "kept"
    assert install(box, releases, version=None).action == "kept"
    assert (box.executable("helm").stat(), box.state_file.read_text(), len(server.requests)) == before


def test_installing_another_version_of_a_managed_tool(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    """It exited 0 and had done nothing."""
    server.publish("helm", "9.0.0")
    install(box, releases)
    with pytest.raises(InputError) as caught:
        install(box, releases, version=Version(9, 0, 1))
    assert caught.value.code == "CMD-TOOL-021"
    assert caught.value.hint == "run 'commodore tool upgrade helm --version 9.0.1'"


def test_a_tool_deleted_by_hand_is_installed_again(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    """It was said to be installed already."""
    server.publish("helm", "9.0.0")
    install(box, releases)
    box.executable("helm").unlink()
    assert install(box, releases).action == "installed"


def test_a_managed_tool_that_is_broken_is_installed_again(
    server: ReleaseServer, box: Toolbox, releases: Releases
) -> None:
    server.publish("helm", "9.0.0")
    install(box, releases)
    box.executable("helm").write_text("")
    assert install(box, releases).action == "installed"


def test_a_folder_in_the_way(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    box.executable("helm").mkdir(parents=True)
    with pytest.raises(EnvironmentFault) as caught:
        install(box, releases)
    assert caught.value.code == "CMD-WORK-003"
    assert leftovers(box) == ["helm"]


def test_a_tool_in_path_that_comes_first_is_named(
    server: ReleaseServer, box: Toolbox, releases: Releases, bare: Path, collected: list[Event]
) -> None:
    (bare / "helm").write_text(tool_script("3.0.0"))
    (bare / "helm").chmod(0o755)
    server.publish("helm", "9.0.0")
    install(box, releases)
    (warning,) = [event for event in collected if isinstance(event, Warned)]
    assert warning.code == "CMD-TOOL-024"
    assert warning.message.startswith(str(bare / "helm"))


def test_a_managed_folder_in_path_is_no_reason_to_warn(
    server: ReleaseServer, box: Toolbox, releases: Releases, collected: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{box.folder}:{os.environ['PATH']}")
    server.publish("helm", "9.0.0")
    install(box, releases)
    assert [event for event in collected if isinstance(event, Warned)] == []


def test_upgrading(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    for version in ("9.0.0", "9.0.1", "10.0.0"):
        server.publish("helm", version)
    install(box, releases)
    assert upgrade_tool("helm", Choice(Version(9, 0, 1)), box, releases).version == "9.0.1"
    assert upgrade_tool("helm", Choice(latest=True), box, releases).version == "10.0.0"
    kept = InstallOutcome("helm", "kept", "10.0.0", box.executable("helm"))
    assert upgrade_tool("helm", Choice(latest=True), box, releases) == kept
    assert upgrade_tool("helm", Choice(), box, releases) == kept  # the known version is older: not taken by itself
    assert upgrade_tool("helm", Choice(NINE), box, releases).version == "9.0.0"


def test_a_failed_upgrade_leaves_the_old_tool(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    """The working binary was deleted before the download."""
    server.publish("helm", "9.0.0")
    server.publish("helm", "9.0.1", checksum="ab" * 32)
    install(box, releases)
    state = box.state_file.read_text()
    with pytest.raises(PolicyError):
        upgrade_tool("helm", Choice(Version(9, 0, 1)), box, releases)
    assert box.executable("helm").read_text() == tool_script("9.0.0")
    assert box.state_file.read_text() == state
    assert leftovers(box) == ["helm"]


def test_upgrading_and_removing_what_is_not_managed(box: Toolbox, releases: Releases, bare: Path) -> None:
    (bare / "helm").write_text(tool_script("3.0.0"))
    (bare / "helm").chmod(0o755)
    acts: list[Callable[[], InstallOutcome]] = [
        lambda: upgrade_tool("helm", Choice(), box, releases),
        lambda: uninstall_tool("helm", box, releases),
    ]
    for act in acts:
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.code == "CMD-TOOL-022"
        assert str(bare / "helm") in caught.value.message
    assert (bare / "helm").exists()


def test_uninstalling(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    server.publish("helm", "9.0.0")
    server.publish("kustomize", "9.0.0")
    install(box, releases)
    install(box, releases, "kustomize")
    assert managed_tools(box) == ("helm", "kustomize")
    assert uninstall_tool("helm", box, releases) == InstallOutcome("helm", "removed", None, box.executable("helm"))
    assert managed_tools(box) == ("kustomize",)
    assert list(json.loads(box.state_file.read_text())) == ["kustomize"]


def test_jb_is_not_needed_and_can_be_removed(box: Toolbox, releases: Releases) -> None:
    nothing = InstallOutcome("jb", "not needed")
    assert install_tool("jb", Choice(), box, releases) == nothing
    assert upgrade_tool("jb", Choice(), box, releases) == nothing
    assert uninstall_tool("jb", box, releases) == nothing
    box.folder.mkdir()
    box.executable("jb").write_text(tool_script("0.6.0"))
    box.executable("jb").chmod(0o755)
    box.state_file.write_text('{"jb": "2024-01-01T00:00:00"}')
    assert uninstall_tool("jb", box, releases).action == "removed"
    assert leftovers(box) == []
    assert json.loads(box.state_file.read_text()) == {}


@pytest.mark.parametrize("name", ["hlm", "git", "../helm", "", "-h"])
def test_unknown_tools(name: str, box: Toolbox, releases: Releases) -> None:
    acts: list[Callable[[], InstallOutcome]] = [
        lambda: install_tool(name, Choice(), box, releases),
        lambda: upgrade_tool(name, Choice(), box, releases),
        lambda: uninstall_tool(name, box, releases),
    ]
    for act in acts:
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.code == "CMD-TOOL-001"
    assert not box.folder.exists()


def test_what_is_missing(box: Toolbox, bare: Path, server: ReleaseServer, releases: Releases) -> None:
    write_script(bare / "kubectl", "")
    assert missing_tools(box) == {"helm": None, "kustomize": None}
    server.publish("helm", "9.0.0")
    install(box, releases)
    tools = missing_tools(box)
    assert tools["kustomize"] is None
    assert tools["helm"] is not None
    assert tools["helm"].path == box.executable("helm")


def test_two_at_once(server: ReleaseServer, box: Toolbox, releases: Releases, collected: list[Event]) -> None:
    """The second one waits, and finds the tool."""
    server.publish("helm", "9.0.0")
    archive = server.archive("helm", "9.0.0")
    waiting, outcomes = threading.Event(), []

    def on_event(event: Event) -> None:
        if isinstance(event, Noted) and "waiting for it" in event.message:
            waiting.set()

    server.script(Reply(hold=True, cut=20), path=archive)
    first = threading.Thread(target=lambda: outcomes.append(install(box, releases).action))
    first.start()
    assert server.holding.wait(30)
    second = threading.Thread(
        target=lambda: outcomes.append(
            install(box, replace(releases, context=releases.context.with_announce(on_event))).action
        )
    )
    second.start()
    assert waiting.wait(30)
    server.let_go()
    first.join()
    second.join()
    assert outcomes == ["installed", "kept"]


def test_waiting_for_another_installation_ends(
    server: ReleaseServer, box: Toolbox, releases: Releases, collected: list[Event]
) -> None:
    impatient = replace(releases, context=replace(releases.context, limits=replace(HASTY, tool_lock_wait=0.0)))
    with box.locked(make_context(collected.append, HASTY)), pytest.raises(EnvironmentFault) as caught:
        install(box, impatient)
    assert caught.value.code == "CMD-TOOL-029"


def test_what_a_killed_installation_left_is_removed(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    with box.locked(make_context(limits=HASTY)), box.staging() as staging:
        left = staging
        (staging / "archive").write_text("half")
        os.rename(staging, f"{staging}x")
    assert leftovers(box) == [f"{left.name}x"]
    server.publish("helm", "9.0.0")
    install(box, releases)
    assert leftovers(box) == ["helm"]


@pytest.mark.parametrize("state", [b"{", b"[]", b"\xff\xfe", b'{"helm": 1}', b"[" * 100_000, b"{}" + b" " * (2 << 20)])
def test_a_broken_state_is_warned_about_and_written_anew(
    state: bytes, server: ReleaseServer, box: Toolbox, releases: Releases, collected: list[Event]
) -> None:
    """A corrupt state.json was a traceback."""
    box.folder.mkdir()
    box.state_file.write_bytes(state)
    server.publish("helm", "9.0.0")
    assert install(box, releases).action == "installed"
    codes = [event.code for event in collected if isinstance(event, Warned)]
    assert codes == ([] if state == b'{"helm": 1}' else ["CMD-TOOL-023"])
    assert list(json.loads(box.state_file.read_text())) == ["helm"]


def test_an_installation_killed_before_the_state_was_written(
    server: ReleaseServer, box: Toolbox, releases: Releases
) -> None:
    """The tool is in its place, and counts as managed."""
    server.publish("helm", "9.0.0")
    install(box, releases)
    box.state_file.unlink()
    assert managed_tools(box) == ("helm",)
    assert install(box, releases).action == "kept"
    assert uninstall_tool("helm", box, releases).action == "removed"


def test_other_entries_of_the_state_stay(server: ReleaseServer, box: Toolbox, releases: Releases) -> None:
    """The published tool reads the file too."""
    box.folder.mkdir()
    box.state_file.write_text('{"jb": "2024-01-01T00:00:00"}')
    server.publish("helm", "9.0.0")
    install(box, releases)
    state: dict[str, Any] = json.loads(box.state_file.read_text())
    assert state.pop("helm")
    assert state == {"jb": "2024-01-01T00:00:00"}
