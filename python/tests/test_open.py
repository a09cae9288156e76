"""Opening, closing, reloading and pickling of files, and what is said about them."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import mmap
import os
import pickle
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CONTAINER, EXACT, SECRET, SETS, package
from crc import fix_checksums

import bloomery_filters as bl
from bloomery_filters import _filter, _sharded

STANDARD = CONTAINER / "standard-0.bloom"


def test_sources(golden: dict[str, bytes], tmp_path: Path) -> None:
    data = golden[STANDARD.name]
    path = tmp_path / "f.bloom"
    path.write_bytes(data)
    want = [str(i) in bl.open(data) for i in range(100)]
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for source in [path, str(path), data, bytearray(data), memoryview(data), mapped]:
            assert [str(i) in bl.open(source) for i in range(100)] == want
    os.chdir(tmp_path)
    assert bl.open("f.bloom").path == str(path)


def test_copies_what_can_change(golden: dict[str, bytes]) -> None:
    data = bytearray(golden[STANDARD.name])
    f = bl.open(data)
    want = f.contains(list(range(100)))
    data[:] = bytes(len(data))
    assert f.contains(list(range(100))) == want


def test_info(golden: dict[str, bytes]) -> None:
    f = bl.open(golden["standard-0-rate.bloom"])
    assert f.info == bl.Info(
        family="standard",
        spec="standard(k=7,m=400)",
        keys=40,
        bytes=184,
        hash="xxh3-128",
        seed=42,
        key_check=None,
        fpr_planned=f.info.fpr_planned,
    )
    assert f.info.fpr_planned is not None
    assert 0 < f.info.fpr_planned < 1
    assert f.info.bits_per_key == 8 * 184 / 40
    assert len(f) == 40
    assert repr(f) == "<bloomery_filters.Filter standard(k=7,m=400) keys=40 bytes=184>"
    assert repr(bl.open(STANDARD)).startswith(f"<bloomery_filters.Filter {str(STANDARD)!r} ")
    with pytest.raises(AttributeError):
        f.info.keys = 1  # type: ignore[misc]


def test_number_of_keys_beyond_ssize(golden: dict[str, bytes]) -> None:
    data = bytearray(golden[STANDARD.name])
    data[32:40] = b"\xff" * 8
    fix_checksums(data)
    f = bl.open(data)
    assert f.info.keys == 2**64 - 1
    assert len(f) == 2**63 - 1


def test_close(golden: dict[str, bytes]) -> None:
    with bl.open(golden[STANDARD.name]) as f:
        assert not f.closed
    assert f.closed
    f.close()
    for ask in [
        lambda: "x" in f,
        lambda: f.contains(["x"]),
        lambda: f.count("x"),
        lambda: f.info,
        lambda: len(f),
        lambda: f.reload(),
        lambda: f.__enter__(),
        lambda: pickle.dumps(f),
    ]:
        with pytest.raises(ValueError, match="closed"):
            ask()
    assert repr(f) == "<bloomery_filters.Filter closed>"


def test_frees_its_bytes(tmp_path: Path) -> None:
    class Cycle:
        filter: bl.Filter
        me: object

    path = tmp_path / "large.bloom"
    path.write_bytes(bytes(2 << 20))
    with pytest.raises(bl.MagicError):
        bl.open(path)
    c = Cycle()
    c.filter, c.me = bl.open(STANDARD), c
    gone = weakref.ref(c)
    del c
    gc.collect()
    assert gone() is None


def test_no_counts_and_no_values(golden: dict[str, bytes]) -> None:
    f = bl.open(golden[STANDARD.name])
    for ask in f.count, f.get:
        with pytest.raises(TypeError, match=r"no (counts|values)"):
            ask("x")
    exact = bl.open(EXACT / "half.exact")
    for ask in exact.count, exact.get:
        with pytest.raises(TypeError):
            ask("x")


def test_errors(golden: dict[str, bytes], tmp_path: Path) -> None:
    data = golden[STANDARD.name]
    with pytest.raises(FileNotFoundError):
        bl.open(tmp_path / "missing")
    with pytest.raises(bl.MagicError) as magic:
        bl.open(b"Not a filter" * 10)
    assert (magic.value.offset, magic.value.path) == (0, None)
    path = tmp_path / "damaged.bloom"
    path.write_bytes(data[:-1] + b"\xff")
    with pytest.raises(bl.ChecksumError, match="at byte 128") as checksum:
        bl.open(path)
    assert (checksum.value.offset, checksum.value.path) == (128, str(path))
    with pytest.raises(bl.ChecksumError, match="at byte 60"):
        bl.open(data[:20] + b"\xff" + data[21:])
    with pytest.raises(bl.TruncatedError) as truncated:
        bl.open(data[:-1])
    assert truncated.value.offset == len(data) - 1
    with pytest.raises(bl.VersionError, match="newer version of Bloomery wrote the file: update bloomery-filters"):
        bl.open(data[:8] + b"\x09" + data[9:])
    for error in magic.value, checksum.value:
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), copy.offset) == (type(error), str(error), error.offset)
        assert isinstance(error, bl.Error)
        assert isinstance(error, ValueError)
    for other in [None, 3, io.BytesIO(data), bytes]:
        with pytest.raises(TypeError):
            bl.open(other)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="NOT RUN: no named pipes here")
def test_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(bl.FormatError, match="not a regular file"):
        bl.open(tmp_path / "pipe")


def test_secret(tmp_path: Path) -> None:
    path = EXACT / "siphash.exact"
    with pytest.raises(bl.NoSecretError):
        bl.open(path)
    with pytest.raises(bl.SecretError) as wrong:
        bl.open(path, bytes(16))
    assert not isinstance(wrong.value, bl.NoSecretError)
    text = json.loads((EXACT / "siphash.json").read_text())["secret"]
    keyed = [bl.open(path, text), bl.open(path, bytes.fromhex(text)), bl.open(path, secret=text.upper() + "\n")]
    for f in keyed:
        assert f.info.key_check
        assert text not in repr(f)
        with pytest.raises(TypeError, match="secret"):
            pickle.dumps(f)
    for bad in [b"", bytes(15), bytes(32), "12", "x" * 32]:
        with pytest.raises(ValueError, match="16 bytes"):
            bl.open(path, bad)
    pickle.dumps(bl.open(STANDARD, SECRET))  # it has no secret


def test_pickle(golden: dict[str, bytes], tmp_path: Path) -> None:
    data = golden[STANDARD.name]
    path = tmp_path / "f.bloom"
    path.write_bytes(data)
    for f in bl.open(path), bl.open(data):
        copy = pickle.loads(pickle.dumps(f))
        assert copy.info == f.info
        assert copy.path == f.path
        assert copy.contains(list(range(100))) == f.contains(list(range(100)))
    assert len(pickle.dumps(bl.open(path))) < 200 + len(str(path))


def test_reload(golden: dict[str, bytes], tmp_path: Path) -> None:
    path, new = tmp_path / "f.bloom", tmp_path / "new"
    path.write_bytes(golden["standard-0.bloom"])
    f = bl.open(path)
    assert not f.reload()
    new.write_bytes(golden["fuse-0.bloom"])
    os.replace(new, path)
    assert f.info.family == "standard"
    assert f.reload()
    assert f.info.family == "fuse"
    assert not f.reload()
    new.write_bytes(b"damaged")
    os.replace(new, path)
    with pytest.raises(bl.FormatError):
        f.reload()
    assert f.info.family == "fuse"
    shutil.copy(EXACT / "half.exact", new)
    os.replace(new, path)
    with pytest.raises(bl.FormatError, match="another kind"):
        f.reload()
    path.unlink()
    with pytest.raises(FileNotFoundError):
        f.reload()
    assert f.contains(["x"]) in ([True], [False])
    with pytest.raises(ValueError, match="bytes"):
        bl.open(golden["fuse-0.bloom"]).reload()


def touch(path: Path) -> None:
    """Makes the file one that was replaced."""
    os.utime(path, ns=(1, os.stat(path).st_mtime_ns + 1000))


class Served:
    def __init__(self, f: bl.Filter, path: Path) -> None:
        self.filter, self.path = f, path
        self.loaded: Callable[[], object] = lambda: None

    def replace(self) -> None:
        """Replaces the file by one with the same content that is not the same file."""
        new = self.path.with_name("new")
        new.write_bytes(self.path.read_bytes() + (b"\n" if self.path.suffix == ".json" else b""))
        os.replace(new, self.path)


@pytest.fixture(params=["file", "set"])
def served(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A filter, its file, and a hook that runs when reload has loaded the file and has not yet put it in use."""
    if request.param == "set":
        path = Path(shutil.copytree(SETS / "blocked", tmp_path / "set")) / "manifest.json"
    else:
        path = Path(shutil.copy(CONTAINER / "fuse-0.bloom", tmp_path / "f.bloom"))
    served = Served(bl.open(path), path)
    module, name = (_sharded, "_open") if request.param == "set" else (_filter, "load")
    real = getattr(module, name)

    def load(*arguments: object) -> object:
        loaded = real(*arguments)
        served.loaded()
        return loaded

    monkeypatch.setattr(module, name, load)
    return served


@pytest.mark.parametrize("close", [bl.Filter.close, lambda f: f.__exit__(None, None, None)], ids=["close", "exit"])
def test_closed_while_it_loads(served: Served, close: Callable[[bl.Filter], object]) -> None:
    """close is the last word: what reload has loaded meanwhile is not put in use."""
    f = served.filter
    served.replace()
    served.loaded = lambda: close(f)
    with pytest.raises(ValueError, match="closed"):
        f.reload()
    assert f.closed
    for ask in [lambda: "x" in f, lambda: f.contains(["x"]), lambda: f.info, f.reload, lambda: pickle.dumps(f)]:
        with pytest.raises(ValueError, match="closed"):
            ask()


def test_reload_meanwhile(served: Served) -> None:
    """The file that is loaded last stays, also if a signal handler calls reload while reload runs."""
    f = served.filter

    def again() -> None:
        served.loaded = lambda: None
        served.replace()
        assert f.reload()
        answering.append(f._get())

    answering: list[object] = []
    served.replace()
    served.loaded = again
    f.reload()
    assert f._get() is answering[0]
    assert not f.reload()


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="NOT RUN: no /proc/self/maps")
def test_close_and_reload_in_threads(command: str, tmp_path: Path) -> None:
    """Rounds of threads that reload, one that closes, and some that ask. At the end nothing is mapped."""
    path = tmp_path / "large.bloom"
    bl.build(path, range(100_000), spec="standard", bits_per_key=90).close()
    assert path.stat().st_size > 1 << 20  # it is mapped
    revived: list[object] = []
    for i in range(60):
        f = bl.open(path)
        touch(path)
        begin, ended = threading.Barrier(5), threading.Event()

        def reload(f: bl.Filter = f, begin: threading.Barrier = begin) -> None:
            begin.wait()
            with contextlib.suppress(ValueError):
                for _ in range(3):
                    touch(path)
                    f.reload()

        def ask(f: bl.Filter = f, begin: threading.Barrier = begin, ended: threading.Event = ended) -> None:
            begin.wait()
            with contextlib.suppress(ValueError):
                while not ended.is_set():
                    if f.contains([1, 2]) != [True, True]:
                        revived.append("a key is lost")
                    repr(f)

        threads = [threading.Thread(target=t) for t in (reload, reload, ask, ask)]
        for t in threads:
            t.start()
        begin.wait()
        time.sleep(i % 6 / 1000)
        f.close()
        for t in threads[:2]:
            t.join()
        if not f.closed:
            revived.append(i)
        ended.set()
        for t in threads[2:]:
            t.join()
        del f, reload, ask
    gc.collect()
    assert not revived
    assert path.name not in Path("/proc/self/maps").read_text()


def test_closed_between_chunks(golden: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that runs ends as usual: the file that it began with answers all chunks of a column."""
    pa = package("pyarrow")
    path, new = tmp_path / "f.bloom", tmp_path / "new"
    path.write_bytes(golden["fuse-0.bloom"])
    chunks = pa.chunked_array([[str(i) for i in range(j, j + 500)] for j in (0, 500, 1000)])
    want = bl.open(path).contains(chunks).to_pylist()
    f = bl.open(path)
    real = bl._core.keys_of_arrow
    meanwhile = iter([lambda: (new.write_bytes(golden["standard-0.bloom"]), new.replace(path), f.reload()), f.close])

    def keys_of_arrow(*capsules: object) -> object:
        keys = real(*capsules)
        next(meanwhile, lambda: None)()
        return keys

    monkeypatch.setattr(bl._core, "keys_of_arrow", keys_of_arrow)
    assert f.contains(chunks).to_pylist() == want
    assert f.closed


def test_pickled_while_it_is_closed(golden: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A pickle has the bytes, or there is none."""
    f = bl.open(golden["fuse-0.bloom"])
    real = _filter.filter_info

    def info(header: object) -> object:
        f.close()
        return real(header)

    monkeypatch.setattr(_filter, "filter_info", info)
    assert pickle.loads(pickle.dumps(f)).path is None
    assert f.closed


def test_threads(golden: dict[str, bytes], tmp_path: Path) -> None:
    """Threads ask, reload and close at the same time."""
    path = tmp_path / "f.bloom"
    path.write_bytes(golden["fuse-0.bloom"])
    f = bl.open(path)
    keys = [str(i) for i in range(3000)]
    want = f.contains(keys)
    failures: list[object] = []

    def ask() -> None:
        try:
            for _ in range(30):
                if f.contains(keys) != want or (keys[0] in f) is not want[0]:
                    failures.append("another answer")
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for _ in range(20):
        touch(path)
        assert f.reload()
    for t in threads:
        t.join()
    assert not failures
    f.close()
