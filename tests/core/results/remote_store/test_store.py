"""Remote stores: whose objects are used, and that no fault of a store ends a run."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, UsageError
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.results.remote_store import (
    ReadAccess,
    RemoteMaintenance,
    RemoteOptions,
    RemoteStore,
    Signer,
    Trust,
    new_key,
    read_signer,
)
from commodore.core.results.remote_store.signed import read_trust
from tests.core.results.remote_store.conftest import Bucket

MOST = 1 << 20
QUICK = replace(DEFAULT_LIMITS, remote_connect_seconds=0.5, remote_object_seconds=0.5, remote_failures=3)


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return make_signer(tmp_path / "key.pem")


def make_signer(path: Path) -> Signer:
    path.write_bytes(new_key())
    return read_signer(path)


def trusting(tmp_path: Path, *lines: str) -> Trust:
    file = tmp_path / "trust"
    file.write_text("# writers\n\n" + "".join(f"{line} # CI\n" for line in lines))
    return read_trust(file)


def store(bucket: Bucket, trust: Trust, signer: Signer | None = None, limits: Limits = DEFAULT_LIMITS) -> RemoteStore:
    return RemoteStore(ReadAccess((bucket.url,), trust), signer, limits)


def test_another_machine_reads_what_was_written(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    store(bucket, trust, signer).create("a/b.result", b"\0content")

    reader = store(bucket, trust)
    assert reader.fetch(["a/b.result", "a/none.result"], MOST) == {"a/b.result": (b"\0content",)}
    counts = reader.take_counts()
    assert (counts.used, counts.missing, counts.failures.total()) == (1, 1, 0)


def test_looking_after_a_store(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    """Counted, read again, thinned out from the oldest on."""
    trust = trusting(tmp_path, signer.trust_line)
    writer = store(bucket, trust, signer)
    for name in ("v1/aa/one.result", "v1/bb/two.result"):
        writer.create(name, b"content")
    bucket.write("team/v1/cc/bad.result", b"commodore-result-2 nonsense")
    store(bucket, trust, make_signer(tmp_path / "other.pem")).create("v1/dd/foreign.result", b"content")
    care = RemoteMaintenance(bucket.url, DEFAULT_LIMITS)
    counted = care.survey()
    assert counted.objects == 4
    assert counted.oldest is not None
    assert counted.newest is not None

    verified = care.verify(trust, dry_run=True)
    assert (verified.objects, verified.damaged) == (4, ("v1/cc/bad.result",))
    assert verified.not_trusted == ("v1/dd/foreign.result",)
    assert care.survey().objects == 4
    care.verify(trust, dry_run=False)
    assert care.survey().objects == 3, "what is damaged went, what is not trusted stays"

    each = care.survey().bytes // 3
    assert care.prune(counted.oldest, None, dry_run=False).removed == 0, "nothing is older than the oldest"
    assert care.prune(None, 2 * each, dry_run=True).removed == 1
    done = care.prune(None, 2 * each, dry_run=False)
    assert (done.removed, done.left, care.survey().objects) == (1, 2, 2)
    assert care.prune(counted.newest + 60, None, dry_run=False).left == 0
    assert care.prune(None, 0, dry_run=False).removed == 0


def test_looking_after_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        RemoteMaintenance((tmp_path / "typo").as_uri(), DEFAULT_LIMITS)
    assert caught.value.code == "CMD-CACHE-028"
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("fault", ["status 403", "refuse"])
def test_a_store_that_cannot_be_listed(bucket: Bucket, fault: str) -> None:
    bucket.proxy.fault = fault
    with pytest.raises(EnvironmentFault) as caught:
        RemoteMaintenance(bucket.url, QUICK).survey()
    assert caught.value.code == "CMD-CACHE-028"
    assert "SECRET" not in str(caught.value)


def test_an_object_is_never_replaced(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    writer = store(bucket, trust, signer)
    writer.create("x", b"first")
    writer.create("x", b"second")
    assert writer.fetch(["x"], MOST) == {"x": (b"first",)}
    assert writer.take_counts().written == 1


def test_an_object_that_is_in_a_folder_already_counts_as_success(tmp_path: Path) -> None:
    folder = ReadAccess(((tmp_path / "store").as_uri(),), Trust({}, anyone=True))
    writers = [RemoteStore(folder, Signer(None), DEFAULT_LIMITS) for _ in range(2)]
    for writer in writers:
        writer.create("v1/x", b"content")
        writer.change("v1/index", lambda before: (before or b"") + b"1", MOST)
    assert [writer.take_counts().failures for writer in writers] == [{}, {}]
    assert writers[0].fetch(["v1/x", "v1/index"], MOST) == {"v1/x": (b"content",), "v1/index": (b"11",)}


def test_reasons_of_failures_are_counted(tmp_path: Path, bucket: Bucket, signer: Signer) -> None:
    reader = store(bucket, trusting(tmp_path, signer.trust_line), limits=QUICK)
    for fault in ("status 403", "cut", "refuse"):
        bucket.proxy.fault = fault
        reader.fetch(["a"], MOST)
    failures = reader.take_counts().failures
    assert failures[bucket.url, "status 403"] == 1
    assert failures[bucket.url, "no connection"] in (1, 2)
    assert sum(failures.values()) == 3, "an answer that is cut off is a broken connection or a malformed answer"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda whole: whole[:-1], "damaged"),
        (lambda whole: whole[:20], "damaged"),
        (lambda whole: b"", "damaged"),
        (lambda whole: whole.replace(b"content", b"CONTENT"), "damaged"),
        (lambda whole: b"content", "damaged"),
        (lambda whole: whole.replace(b"result-2", b"result-1"), "damaged"),
        (lambda whole: Signer(None).seal("a", b"content"), "not trusted"),
        (lambda whole: whole.replace(whole.split(b" ")[2], b"0" * 16), "not trusted"),
        (lambda whole: whole.replace(whole.split(b" ")[3], base64.b64encode(b"x" * 64) + b"\ncontent"), "not trusted"),
        (lambda whole: whole.replace(whole.split(b" ")[3], b"??\ncontent"), "not trusted"),
    ],
)
def test_what_was_edited_is_a_miss(bucket: Bucket, tmp_path: Path, signer: Signer, change: object, why: str) -> None:
    assert callable(change)
    bucket.write("team/a", change(signer.seal("a", b"content")))
    reader = store(bucket, trusting(tmp_path, signer.trust_line))
    assert reader.fetch(["a"], MOST) == {}
    assert reader.take_counts().refused == {why: 1}


def test_an_object_does_not_pass_for_another_one(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    store(bucket, trust, signer).create("subject/one.result", b"content")
    for name in ("subject/two.result", "other/one.result", "subject/shapes.json"):
        bucket.write(f"team/{name}", bucket.read("team/subject/one.result"))
        reader = store(bucket, trust)
        assert reader.fetch([name], MOST) == {}
        assert reader.take_counts().refused == {"not trusted": 1}


def test_a_foreign_key_a_removed_one_and_one_that_has_run_out_are_not_trusted(
    bucket: Bucket, tmp_path: Path, signer: Signer
) -> None:
    other = make_signer(tmp_path / "other.pem")
    bucket.write("team/a", signer.seal("a", b"content"))
    for lines in ((), (other.trust_line,), (f"{signer.trust_line} not-after=2020-01-01",)):
        assert store(bucket, trusting(tmp_path, *lines)).fetch(["a"], MOST) == {}
    for lines in ((other.trust_line, signer.trust_line), (f"{signer.trust_line} not-after=9999-01-01",)):
        assert store(bucket, trusting(tmp_path, *lines)).fetch(["a"], MOST) == {"a": (b"content",)}


def test_an_object_that_is_too_large_is_not_read(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    store(bucket, trust, signer).create("a", b"x" * 5000)
    assert store(bucket, trust).fetch(["a"], 4000) == {}


@pytest.mark.parametrize("fault", ["refuse", "hang", "cut", "status 403", "status 500", "status 503", "status 302"])
def test_a_store_that_fails_is_not_asked_for_ever(bucket: Bucket, tmp_path: Path, signer: Signer, fault: str) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    store(bucket, trust, signer).create("a", b"content")
    bucket.proxy.fault = fault

    broken = store(bucket, trust, signer, QUICK)
    for number in range(QUICK.remote_failures + 2):
        assert broken.fetch([f"{number}"], MOST) == {}
    broken.create("b", b"content")
    assert not broken.is_on
    asked = bucket.proxy.connections
    assert broken.fetch(["a"], MOST) == {}
    assert bucket.proxy.connections == asked
    (told,) = broken.take_counts().off.values()
    assert "SECRET" not in told
    assert len(told) < 60


def test_a_store_that_fails_now_and_then_is_asked_on(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    store(bucket, trust, signer).create("a", b"content")
    reader = store(bucket, trust, limits=QUICK)
    for _ in range(4):
        for fault in ("status 400", "status 400", ""):
            bucket.proxy.fault = fault
            reader.fetch(["a"], MOST)
    assert reader.is_on
    counts = reader.take_counts()
    assert counts.failures.total() == 8
    assert counts.used == 4


def test_latency_costs_time_and_nothing_else(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    bucket.proxy.latency = 0.05
    writer = store(bucket, trust, signer)
    names = [f"{number}" for number in range(20)]
    for name in names:
        writer.create(name, name.encode())
    assert writer.fetch(names, MOST) == {name: (name.encode(),) for name in names}


def test_everything_that_takes_too_long_together_ends_the_use(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    bucket.proxy.fault = "hang"
    limits = replace(DEFAULT_LIMITS, remote_lookup_seconds=0.2)
    reader = store(bucket, trusting(tmp_path, signer.trust_line), limits=limits)
    assert reader.fetch(["a", "b"], MOST) == {}
    assert not reader.is_on


def test_two_writers_change_one_object_and_lose_nothing(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    first, two = (store(bucket, trust, signer) for _ in range(2))
    met: list[bytes | None] = []

    def with_other_between(before: bytes | None) -> bytes:
        if not met:  # the other writer comes first, once
            two.change("index", lambda content: (content or b"") + b"two ", MOST)
        met.append(before)
        return (before or b"") + b"one "

    first.change("index", with_other_between, MOST)
    assert met == [None, b"two "]
    first.change("index", with_other_between, MOST)
    assert two.fetch(["index"], MOST) == {"index": (b"two one one ",)}


def test_what_others_have_written_over_an_index_is_replaced(bucket: Bucket, tmp_path: Path, signer: Signer) -> None:
    bucket.write("team/index", b"rubbish")
    writer = store(bucket, trusting(tmp_path, signer.trust_line), signer)
    writer.change("index", lambda content: content or b"fresh", MOST)
    assert writer.fetch(["index"], MOST) == {"index": (b"fresh",)}


def test_several_stores_are_read_in_order_and_the_first_is_written(tmp_path: Path, signer: Signer) -> None:
    trust = trusting(tmp_path, signer.trust_line)
    first, second = (f"file://{tmp_path / name}" for name in ("first", "second"))
    RemoteStore(ReadAccess((second,), trust), signer, DEFAULT_LIMITS).create("a", b"of the second")
    both = RemoteStore(ReadAccess((first, second), trust), signer, DEFAULT_LIMITS)
    assert both.fetch(["a"], MOST) == {"a": (b"of the second",)}
    both.create("a", b"of the first")
    assert both.fetch(["a"], MOST) == {"a": (b"of the first",)}
    assert both.fetch(["a"], MOST, every=True) == {"a": (b"of the first", b"of the second")}
    both.change("a", lambda content: (content or b"") + b"!", MOST)
    assert both.fetch(["a"], MOST) == {"a": (b"of the first!",)}


@pytest.mark.parametrize(
    ("urls", "options", "code"),
    [
        (("s3://bucket/x",), {}, "CMD-CACHE-023"),
        (("s3://user:pass@bucket/x",), {"trust_anyone": True}, "CMD-CACHE-024"),
        (("https://store/x?sig=SECRET",), {"trust_anyone": True}, "CMD-CACHE-024"),
        (("ftp://store/x",), {"trust_anyone": True}, "CMD-CACHE-024"),
        (("file:relative",), {}, "CMD-CACHE-024"),
        (("s3://bucket",), {"trust": Path("/nowhere/trust")}, "CMD-CACHE-025"),
        (("s3://bucket",), {"trust_anyone": True, "write": True}, "CMD-CACHE-027"),
        (("s3://bucket",), {"trust_anyone": True, "write": True, "key": Path("/nowhere/key")}, "CMD-CACHE-025"),
    ],
)
def test_options_that_cannot_be(urls: tuple[str, ...], options: dict[str, object], code: str) -> None:
    given = RemoteOptions(urls, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError) as caught:
        (given.signer if given.write else given.reading)()
    assert caught.value.code == code
    assert "SECRET" not in f"{caught.value} {caught.value.hint}"
    assert "pass" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "line",
    ["abc", "0123456789abcdef AAAA", "{key} not-after=never", "{key} until=2030-01-01", "0123456789abcdef {public}"],
)
def test_a_line_that_is_no_trusted_key(tmp_path: Path, signer: Signer, line: str) -> None:
    text = line.format(key=signer.trust_line, public=signer.trust_line.split()[1])
    with pytest.raises(UsageError, match="line 3 of the trust file") as caught:
        trusting(tmp_path, text)
    assert caught.value.code == "CMD-CACHE-025"


def test_a_key_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("-----BEGIN PRIVATE KEY-----\nno\n-----END PRIVATE KEY-----\n")
    with pytest.raises(UsageError, match="not a private Ed25519 key"):
        read_signer(tmp_path / "key")
