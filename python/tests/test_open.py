"""Opening, closing, reloading and pickling of files, and what is said about them."""

from __future__ import annotations

import gc
import io
import json
import mmap
import os
import pickle
import shutil
import threading
import weakref
from pathlib import Path

import pytest
from conftest import CONTAINER, EXACT, SECRET
from crc import fix_checksums

import bloomery as bl

STANDARD = CONTAINER / "v1-standard-0.bloom"


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
    f = bl.open(golden["v2-standard-0.bloom"])
    assert f.info == bl.Info(
        family="standard",
        spec="standard(k=7,m=400)",
        keys=40,
        bytes=184,
        hash="xxh3-128",
        seed=42,
        key_check=None,
        fpr_chosen=f.info.fpr_chosen,
        version=2,
    )
    assert f.info.fpr_chosen is not None
    assert 0 < f.info.fpr_chosen < 1
    assert f.info.bits_per_key == 8 * 184 / 40
    assert len(f) == 40
    assert repr(f) == "<bloomery.Filter standard(k=7,m=400) keys=40 bytes=184>"
    assert repr(bl.open(STANDARD)).startswith(f"<bloomery.Filter {str(STANDARD)!r} ")
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
    assert repr(f) == "<bloomery.Filter closed>"


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
    with pytest.raises(bl.VersionError, match="newer format version: update bloomery-filters"):
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
    path.write_bytes(golden["v1-standard-0.bloom"])
    f = bl.open(path)
    assert not f.reload()
    new.write_bytes(golden["v1-fuse-0.bloom"])
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
        bl.open(golden["v1-fuse-0.bloom"]).reload()


def test_threads(golden: dict[str, bytes], tmp_path: Path) -> None:
    """Threads ask, reload and close at the same time."""
    path = tmp_path / "f.bloom"
    path.write_bytes(golden["v1-fuse-0.bloom"])
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
        os.utime(path, ns=(1, os.stat(path).st_mtime_ns + 1000))
        assert f.reload()
    for t in threads:
        t.join()
    assert not failures
    f.close()
