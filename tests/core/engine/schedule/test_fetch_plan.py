"""Kapitan dependencies: what is fetched, how often, where it may land, and what is said when it fails."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine import Engine, InstanceJob
from commodore.core.engine.cache.fetch_plan import in_waves, plan
from commodore.core.engine.tasks import BatchRun, FetchGroup, KapitanDependency
from tests.core.engine.world import World, jsonnet
from tests.world.context import make_context
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import git


class Site(LoopbackServer):
    """Files on a loopback web server, and which of them were asked for."""

    def __init__(self) -> None:
        super().__init__(_SiteHandler)
        self.files: dict[str, tuple[str, bytes]] = {}
        self.asked: list[str] = []


class _SiteHandler(LoopbackHandler):
    world: Site

    def answer(self) -> None:
        self.world.asked.append(self.path)
        if self.path not in self.world.files:
            self.send_error(404)
            return
        kind, content = self.world.files[self.path]
        self.send(200, {"Content-Type": kind}, content)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def fetch(world: World, *dependencies: dict[str, Any], name: str = "a") -> None:
    world.add(name, jsonnet(f"{name}/main.jsonnet"), kapitan={"dependencies": list(dependencies)})
    world.write(f"dependencies/{name}/main.jsonnet", "{ out: { a: 1 } }")


def http_file(site: Site, path: str, output: str, **fields: Any) -> dict[str, Any]:
    return {"type": "http", "source": site.url + path, "output_path": output, **fields}


def tar(*members: tuple[str, str], link: tuple[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in members:
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
        if link is not None:
            member = tarfile.TarInfo(link[0])
            member.type, member.linkname = tarfile.SYMTYPE, link[1]
            archive.addfile(member)
    return buffer.getvalue()


def zipped(*members: tuple[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members:
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.requirement("C57")
def test_files_are_fetched_before_anything_is_compiled(world: World, site: Site) -> None:
    """Dependencies are there when the inputs run; each source is asked once; paths are below the output."""
    site.files["/x.json"] = ("application/json", b'{"a": 1}')
    fetch(world, http_file(site, "/x.json", "dependencies/a/fetched/x.json"))
    fetch(world, http_file(site, "/x.json", str(world.root / "dependencies" / "b" / "y.json")), name="b")
    world.write("dependencies/a/main.jsonnet", "{ out: import 'fetched/x.json' }")
    world.write("dependencies/b/main.jsonnet", "{ out: import 'y.json' }")
    world.compile()
    assert world.read("a/out.yaml") == world.read("b/out.yaml") == "a: 1\n"
    assert site.asked == ["/x.json"]
    site.files["/x.json"] = ("application/json", b'{"a": 2}')
    world.compile()
    assert world.read("a/out.yaml") == "a: 2\n"
    assert site.asked == ["/x.json"] * 2


def test_fetching_can_be_left_out(world: World, site: Site) -> None:
    """Without it only targets with a `force_fetch` dependency are fetched, all of their dependencies."""
    site.files |= {f"/{name}": ("text/plain", b"x") for name in "abcd"}
    fetch(world, http_file(site, "/a", "f/a"), http_file(site, "/b", "f/b", force_fetch=True))
    fetch(world, http_file(site, "/c", "f/c"), name="b")
    world.compile(fetch=False)
    assert sorted(site.asked) == ["/a", "/b"]


@pytest.mark.parametrize("kind", ["application/gzip", "application/x-gzip; charset=binary", "application/octet-stream"])
def test_archives_are_unpacked(world: World, site: Site, kind: str) -> None:
    site.files["/x.tar.gz"] = (kind, tar(("sub/x", "one")))
    site.files["/x.zip"] = (kind if "octet" in kind else "application/zip", zipped(("sub/y", "two")))
    fetch(world, http_file(site, "/x.tar.gz", "f", unpack=True), http_file(site, "/x.zip", "f", unpack=True))
    world.compile()
    assert (world.root / "f" / "sub" / "x").read_text() == "one"
    assert (world.root / "f" / "sub" / "y").read_text() == "two"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/x.tgz", tar(("good", "x"), ("../evil", "x"))),
        ("/x.tgz", tar(("good", "x"), link=("evil", "../../outside"))),
        ("/x.zip", zipped(("good", "x"), ("../evil", "x"))),
        ("/x.zip", zipped(("good", "x"), ("/tmp/evil", "x"))),
        ("/x.zip", zipped(("good", "x"), ("..\\evil", "x"))),
    ],
)
def test_archives_do_not_leave_their_folder(world: World, site: Site, path: str, content: bytes) -> None:
    site.files[path] = ("application/zip" if path.endswith("zip") else "application/gzip", content)
    fetch(world, http_file(site, path, "f/x", unpack=True))
    error = world.fail_once()
    assert isinstance(error, PolicyError)
    assert error.code == "CMD-ENG-030"
    assert list((world.root / "f" / "x").iterdir()) == []


def test_damaged_archives(world: World, site: Site) -> None:
    site.files["/x.tgz"] = ("application/gzip", tar(("good", "x"))[:20])
    fetch(world, http_file(site, "/x.tgz", "f", unpack=True))
    assert world.fail_once().code == "CMD-ENG-031"


def test_a_failure_names_instance_source_and_reason(world: World, site: Site) -> None:
    """Credentials do not show; other instances go on, and their errors are reported, too."""
    source = site.url.replace("://", "://user:hidden@") + "/missing"
    fetch(
        world,
        {"type": "http", "source": source, "output_path": "f"},
        {"type": "http", "source": source, "output_path": "g"},
    )
    fetch(world, name="b")
    world.write("dependencies/b/main.jsonnet", "error 'b is broken'")
    first, second = world.fail()
    assert isinstance(first, EnvironmentFault)
    assert first.code == "CMD-ENG-028"
    assert first.message == (
        f"instance 'a': cannot fetch the http dependency from {site.url}/missing: the server answered 404 Not Found"
    )
    assert "b is broken" in second.message


def test_a_failure_is_told_once_for_all_instances(world: World, site: Site) -> None:
    for name in ("a", "b"):
        fetch(world, http_file(site, "/missing", f"f/{name}"), name=name)
    assert "instance 'a', 'b'" in world.fail_once().message


@pytest.mark.parametrize("output", ["../outside", "/nowhere/x", "link/x"])
def test_outputs_stay_inside(world: World, site: Site, output: str) -> None:
    (world.root / "link").symlink_to(world.root.parent)
    site.files["/x"] = ("text/plain", b"x")
    fetch(world, http_file(site, "/x", output))
    error = world.fail_once()
    assert isinstance(error, PolicyError)
    assert error.code == "CMD-ENG-033"
    assert site.asked == []


def test_outputs_may_lie_in_the_component(world: World, site: Site, tmp_path: Path) -> None:
    """A component that is compiled on its own lies outside of the working directory."""
    site.files["/x"] = ("text/plain", b"x")
    fetch(world, http_file(site, "/x", str(tmp_path / "component" / "x")))
    (tmp_path / "component").mkdir()
    world.jobs[:] = [InstanceJob("a", "a", tmp_path / "component")]
    world.compile()
    assert (tmp_path / "component" / "x").read_text() == "x"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "master")
    for version in ("one", "two"):
        (folder / "sub" / "file").write_text(version)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", version)
        git(folder, "tag", version)
    return folder


def test_git(world: World, repository: Path) -> None:
    """Two revisions of one repository need one clone."""
    source = {"type": "git", "source": str(repository), "subdir": "sub"}
    fetch(world, {**source, "ref": "one", "output_path": "f/one"}, {**source, "output_path": "f/two"})
    world.compile()
    assert (world.root / "f" / "one" / "file").read_text() == "one"
    assert (world.root / "f" / "two" / "file").read_text() == "two"


def test_a_folder_of_a_repository_is_what_a_whole_checkout_has(world: World, repository: Path, tmp_path: Path) -> None:
    """Only the folder is checked out, with the attributes that hold there; where it has a link, all is."""
    (repository / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (repository / "sub" / "file.txt").write_text("a\n")
    (repository / "other").mkdir()
    (repository / "other" / "file").write_text("elsewhere")
    (repository / "linked").mkdir()
    (repository / "linked" / "link").symlink_to("../other/file")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "three")
    source = {"type": "git", "source": str(repository), "ref": git(repository, "rev-parse", "HEAD")}
    fetch(
        world,
        {**source, "subdir": "sub", "output_path": "f/sub"},
        {**source, "subdir": "./linked/", "output_path": "f/linked"},
    )
    with Engine(make_context(), processes=1, dependency_cache=tmp_path / "cache") as engine:
        world.engine = engine
        world.compile()
    assert (world.root / "f" / "sub" / "file.txt").read_bytes() == b"a\r\n"
    assert (world.root / "f" / "sub" / "file").read_text() == "two"
    assert (world.root / "f" / "linked" / "link").read_text() == "elsewhere"


def test_git_without_a_default_branch(world: World, repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach", "one")
    fetch(world, {"type": "git", "source": str(repository), "output_path": "f"})
    world.compile()
    assert (world.root / "f" / "sub" / "file").read_text() == "one"


@pytest.mark.parametrize(
    ("change", "kind", "code"),
    [
        ({"subdir": "nowhere"}, InputError, "CMD-ENG-026"),
        ({"ref": "nowhere"}, EnvironmentFault, "CMD-ENG-028"),
        ({"source": "/nowhere/repo"}, EnvironmentFault, "CMD-ENG-028"),
        ({"ref": "--upload-pack=x"}, PolicyError, "CMD-ENG-025"),
    ],
)
def test_git_failures(world: World, repository: Path, change: dict[str, str], kind: type[Exception], code: str) -> None:
    fetch(world, {"type": "git", "source": str(repository), "output_path": "f", **change})
    error = world.fail_once()
    assert isinstance(error, kind)
    assert error.code == code
    assert "'a': cannot fetch the git dependency" in error.message


HELM = """
echo "$@" >> "$HOME/helm.log"
while [ $# -gt 1 ]; do
  case $1 in --destination) to=$2;; --version) version=$2;; esac
  shift
done
mkdir -p "$to"; mkdir "$to/$1" || exit 1
echo "$version" > "$to/$1/Chart.yaml"
"""


def chart(version: str, output: str) -> dict[str, Any]:
    return {
        "type": "helm",
        "source": "https://charts.example.com",
        "chart_name": "redis",
        "version": version,
        "output_path": output,
    }


def test_charts(world: World) -> None:
    """Each version is pulled once, and two versions of a chart do not meet."""
    world.tool("helm", HELM)
    world.environment["HOME"] = str(world.root)
    for number in range(2):
        first, two = (chart(version, f"f/{number}/{version}") for version in ("1.0.0", "2.0.0"))
        fetch(world, first, two, name=f"i{number}")
    world.compile()
    contents = {str(p.relative_to(world.root)): p.read_text().strip() for p in (world.root / "f").rglob("Chart.yaml")}
    assert contents == {f"f/{n}/{version}/Chart.yaml": version for n in range(2) for version in ("1.0.0", "2.0.0")}
    assert len((world.root / "helm.log").read_text().splitlines()) == 2


def test_two_versions_of_a_chart_in_one_folder(world: World) -> None:
    world.tool("helm", HELM)
    world.environment["HOME"] = str(world.root)
    fetch(world, chart("1.0.0", "f"), name="a")
    fetch(world, chart("2.0.0", "f"), name="b")
    error = world.fail_once()
    assert error.code == "CMD-ENG-034"
    assert "instance 'b'" in error.message
    assert "instance 'a'" in error.message


def test_chart_failures_carry_helms_reason(world: World) -> None:
    world.tool("helm", 'echo \'Error: chart "redis" version "9" not found\' >&2; exit 1')
    fetch(world, chart("9", "f"))
    error = world.fail_once()
    assert error.code == "CMD-ENG-028"
    assert error.message.endswith('redis 9 from https://charts.example.com: chart "redis" version "9" not found')


def make(kind: str, source: str, output: str, instance: str = "a") -> KapitanDependency:
    return KapitanDependency(instance, 0, kind, source, Path(output), {})


def run(world: World, key: str = "key", **changes: Any) -> BatchRun:
    return BatchRun(key, world.request(**changes), {}, {}, world.root, DEFAULT_LIMITS)


def test_groups_that_share_a_place_follow_each_other(world: World) -> None:
    """In Kapitan's order of kinds; everything else goes on at the same time."""
    git_first = make("git", "g", "/x")
    http_below = make("https", "h", "/x/y")
    apart = make("git", "other", "/z")
    again = make("git", "other", "/z", "b")
    only = run(world)
    first, both = frozenset({("key", "a")}), frozenset({("key", "a"), ("key", "b")})
    tasks = plan([(only, item) for item in (git_first, http_below, apart, again)], Path("/t"))
    assert {task.groups for task in tasks} == {
        (FetchGroup((apart,), both),),
        (FetchGroup((http_below,), first), FetchGroup((git_first,), first)),
    }
    assert len({task.place for task in tasks}) == 2
    assert plan([(only, item) for item in (apart, again, http_below, git_first)], Path("/t")) == tasks


def test_what_runs_have_in_common_is_fetched_once(world: World) -> None:
    first, two = run(world, "1"), run(world, "2")
    shared = make("git", "https://git.example.com/x", "/x")
    other = make("git", "https://git.example.com/x", "/y")
    (task,) = plan([(first, shared), (two, shared), (two, other)], Path("/t"))
    assert task.groups == (FetchGroup((shared, other), frozenset({("1", "a"), ("2", "a")})),)
    elsewhere = run(world, "3", environment={"KAPITAN_HELM_PATH": "/helm"})
    assert len(plan([(first, shared), (elsewhere, other)], Path("/t"))) == 2
    local = make("git", "repo", "/x")
    nearby = run(world, "4", directory=Path("/"))
    assert len(plan([(first, local), (nearby, make("git", "repo", "/y"))], Path("/t"))) == 2


def test_runs_that_want_different_things_in_one_place_follow_each_other(world: World) -> None:
    alpha, beta, gamma = (run(world, key) for key in "123")
    first, second = make("git", "g", "/x"), make("git", "h", "/x/y")
    assert in_waves([alpha, beta, gamma], [(alpha, first), (beta, second), (gamma, first)]) == [[alpha, gamma], [beta]]
    both = [(item, dependency) for item in (alpha, beta) for dependency in (first, second)]
    assert in_waves([alpha, beta], both) == [[alpha, beta]]
    assert in_waves([alpha, beta], [(alpha, first), (beta, make("git", "h", "/z"))]) == [[alpha, beta]]
