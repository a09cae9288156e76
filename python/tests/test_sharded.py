"""Sharded sets: the manifest, loading, damage and changes."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import EXACT, SETS, key_of

import bloomery_filters as bl
from bloomery_filters import _core
from bloomery_filters._manifest import shortest

VECTORS = json.loads((SETS / "blocked.json").read_text())["keys"]
KEYS = [key_of(v) for v in VECTORS] + [str(i) for i in range(2000)]
COUNTING = json.loads((SETS / "counting.json").read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SETS / "blocked", tmp_path / "set"))


def test_opens(folder: Path) -> None:
    f = bl.open(folder)
    assert isinstance(f, bl.ShardedFilter)
    assert bl.open(folder / "manifest.json").path == f.path == str(folder)
    info = f.info
    assert isinstance(info, bl.ShardedInfo)
    assert (info.shards, info.loaded, info.keys, len(f)) == (5, 0, 300, 300)
    assert repr(f) == f"<bloomery_filters.ShardedFilter {str(folder)!r} blocked(fpr=0.01) keys=300 shards=5>"
    want = f.contains(KEYS)
    assert [k in f for k in KEYS] == want
    assert any(want)
    copy = pickle.loads(pickle.dumps(f))
    assert copy.contains(KEYS) == want
    for ask in f.count, f.get:
        with pytest.raises(TypeError, match=r"no (counts|values)"):
            ask("x")
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(bl.open(SETS / "counting", COUNTING["secret"]))
    f.close()
    assert repr(f) == "<bloomery_filters.ShardedFilter closed>"
    with pytest.raises(ValueError, match="closed"):
        "x" in f  # noqa: B015
    f.close()


def test_loads_what_it_needs(folder: Path) -> None:
    f = bl.open(folder)
    assert f.info.loaded == 0  # type: ignore[attr-defined]
    "x" in f  # noqa: B015
    assert f.info.loaded == 1  # type: ignore[attr-defined]
    f.contains([])
    f.contains(["x"])
    assert f.info.loaded == 1  # type: ignore[attr-defined]


def test_router(folder: Path) -> None:
    """The compiled part checks what it is given."""
    f = bl.open(folder)
    shards = f._shards()  # type: ignore[attr-defined]
    i = shards.router.shard("key")
    opened = shards.shard(i)
    other = next(shards.shard(j) for j in range(5) if j != i)
    router = _core.router(1, 0, 0, None, 5)
    assert not isinstance(router, tuple)
    for _ in range(2):
        router.put(i, opened)
        router.put(i, other)  # has no effect
    mixed = bl.Filter()
    mixed._set(shards, router)
    assert ("key" in mixed) == opened.has("key")
    for wrong in -1, 5, 1 << 40:
        with pytest.raises(ValueError, match="put"):
            router.put(wrong, opened)
    exact = _core.open((EXACT / "half.exact").read_bytes(), None)
    for bad in None, exact, router:
        with pytest.raises(TypeError, match="a shard is a filter"):
            router.put(0, bad)  # type: ignore[arg-type]
    for count in 0, -1, (1 << 20) + 1:
        with pytest.raises(ValueError, match="count"):
            _core.router(1, 0, 0, None, count)
    with pytest.raises(TypeError, match="router"):
        mixed._set(shards, "x")  # type: ignore[arg-type]
    assert ("key" in mixed) == opened.has("key")
    mixed._set(shards)
    with pytest.raises(TypeError, match="not one file"):
        "key" in mixed  # noqa: B015
    mixed._set("no shards", _core.router(1, 0, 0, None, 5))
    with pytest.raises(AttributeError):
        "key" in mixed  # noqa: B015
    with pytest.raises(TypeError):
        1.5 in f  # noqa: B015


def test_replaced_files_stay_readable(folder: Path) -> None:
    want = bl.open(folder).contains(KEYS)
    f = bl.open(folder)
    for path in folder.glob("*.bloom"):
        path.unlink()
    assert f.contains(KEYS) == want


def test_damaged_shard(folder: Path) -> None:
    f = bl.open(folder)
    want = f.contains(KEYS)
    entry = json.loads((folder / "manifest.json").read_text())["shards"][2]
    good = (folder / entry["file"]).read_bytes()
    bad = good[:-1] + bytes([good[-1] ^ 1])
    (folder / entry["file"]).write_bytes(bad)
    f = bl.open(folder)
    assert isinstance(f, bl.ShardedFilter)
    mine = [k for k in KEYS if f._shards().router.shard(k) == 2]
    others = [k for k in KEYS if k not in mine]
    assert f.contains(others) == [a for k, a in zip(KEYS, want, strict=True) if k not in mine]
    for ask in [lambda: f.contains(KEYS), lambda: mine[0] in f, f.check]:
        with pytest.raises(bl.ShardError, match="checksum") as error:
            ask()
        assert error.value.file == entry["file"]
        assert isinstance(error.value.__cause__, bl.ChecksumError)
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    (folder / entry["file"]).write_bytes(good)  # in place, as nobody should: the file is held open
    assert f.contains(KEYS) == want


def test_wrong_shards(folder: Path) -> None:
    entries = json.loads((folder / "manifest.json").read_text())["shards"]
    first, second = (folder / e["file"] for e in entries[:2])
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes() if len(second.read_bytes()) == len(kept) else kept[:-8])
    with pytest.raises(bl.ShardError):
        bl.open(folder).check()  # type: ignore[attr-defined]
    first.unlink()
    with pytest.raises(bl.ShardError) as missing:
        bl.open(folder)
    assert isinstance(missing.value.__cause__, FileNotFoundError)
    first.write_bytes(kept[:-1])
    with pytest.raises(bl.ShardError, match="manifest says"):
        bl.open(folder)


def test_same_keys_another_set(folder: Path, tmp_path: Path) -> None:
    """A valid file with the right length and another content: only the SHA-256 tells."""
    entry = json.loads((folder / "manifest.json").read_text())["shards"][0]
    data = bytearray((folder / entry["file"]).read_bytes())
    from crc import fix_checksums

    data[-1] ^= 1
    fix_checksums(data)
    (folder / entry["file"]).write_bytes(data)
    with pytest.raises(bl.ShardError, match="not the one in the manifest"):
        bl.open(folder).check()  # type: ignore[attr-defined]


def test_reload(folder: Path, tmp_path: Path) -> None:
    f = bl.open(folder, COUNTING["secret"])
    assert isinstance(f, bl.ShardedFilter)
    f.check()
    assert not f.reload()
    # White space changes the text of the manifest and nothing else.
    (folder / "manifest.json").write_text((folder / "manifest.json").read_text() + "\n")
    before = [f._shards().shard(i) for i in range(5)]
    assert f.reload()
    assert [f._shards().shard(i) for i in range(5)] == before
    for path in folder.iterdir():
        path.unlink()
    shutil.copytree(SETS / "counting", folder, dirs_exist_ok=True)
    assert f.reload()
    assert f.info.family == "rankindexed"
    assert f.info.counts
    assert isinstance(f.count("x"), int)
    (folder / "manifest.json").write_text("{}")
    with pytest.raises(bl.ManifestError):
        f.reload()
    assert f.info.family == "rankindexed"


def test_threads_load_a_shard_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bloomery_filters._sharded import Shards

    loads: list[int] = []
    real = Shards._load

    def load(self: Shards, i: int, entry: Any) -> Any:
        loads.append(i)
        return real(self, i, entry)

    monkeypatch.setattr(Shards, "_load", load)
    f = bl.open(folder)
    want = bl.open(folder).contains(KEYS)
    loads.clear()
    answers: list[list[bool]] = []
    asks = [lambda: answers.append(f.contains(KEYS)), lambda: answers.append([k in f for k in KEYS])]
    threads = [threading.Thread(target=ask) for ask in asks * 4]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert answers == [want] * 8
    assert sorted(loads) == [0, 1, 2, 3, 4]


def change(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda m: m.update({name: value})


def change_shard(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda m: m["shards"][1].update({name: value})


@pytest.mark.parametrize(
    "edit",
    [change(name, value) for name in ("version", "routing", "count") for value in (2, 0, 1.0, "1", True, None, -1)]
    + [change("format", "x"), change("plan", "0" * 32), change("plan", None), change("hash", "xxh64")]
    + [change("spec", spec) for spec in ("", "blocked(", "blocked(b=1,a=1)", "nothing", "bitsandblooms", 3, "Blocked")]
    + [change("seed", seed) for seed in ("", "01", "-1", "+1", " 1", str(2**64), 1, "1_0", "٣")]
    + [change("key_check", check) for check in ("", "0", "1", "A", 1, None)]
    + [change("fpr_planned", rate) for rate in (0, 1, -0.5, "0.1", None, 1e400, True)]
    + [change("shards", shards) for shards in ([], {}, None, [1, 2, 3, 4, 5])]
    + [change("other", 1), lambda m: m.pop("plan"), lambda m: m["shards"].pop(), lambda m: m["shards"].reverse()]
    + [change_shard("keys", n) for n in (-1, 1.0, "1", 2**57, None, True)]
    + [change_shard("bytes", n) for n in (0, 2**57)]
    + [change_shard("sha256", s) for s in ("", "A" * 64, 1)]
    + [change_shard("fpr_prior", r) for r in (-1, 2, "0", None)]
    + [
        change_shard("file", s)
        for s in ("../x.bloom", "/etc/passwd", "00002-of-00005.bloom", "00001-of-00005.bloom\n", 1)
    ]
    + [change_shard("file", "00001-of-00005." + "a" * 33 + ".bloom"), change_shard("more", 1)],
)
def test_wrong_manifests(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    m = json.loads((folder / "manifest.json").read_text())
    edit(m)
    (folder / "manifest.json").write_text(json.dumps(m))
    with pytest.raises(bl.ManifestError):
        bl.open(folder)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "\ufeff{}", "NaN", "[" * 100_000, '{"format":"bloomery-shards","version":-0}', '"\\ud800"'],
)
def test_texts_that_are_no_manifest(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_bytes(text.encode())
    with pytest.raises(bl.ManifestError):
        bl.open(folder)
    (folder / "manifest.json").write_bytes(b"\xff" + text.encode())
    with pytest.raises(bl.ManifestError):
        bl.open(folder)


def test_whole_numbers_only(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    for old, new in [('"version": 1', '"version": 1.0'), ('"count": 5', '"count": 5e0'), ('"count": 5', '"count": -0')]:
        assert old in text
        (folder / "manifest.json").write_text(text.replace(old, new))
        with pytest.raises(bl.ManifestError):
            bl.open(folder)
    (folder / "manifest.json").write_text(text.replace("\n", " \t\r\n"))
    bl.open(folder)


def test_damaged_manifests(folder: Path) -> None:
    """A manifest with any byte changed is refused, or has the same content."""
    path = folder / "manifest.json"
    text = path.read_bytes()
    f = bl.open(folder)
    assert isinstance(f, bl.ShardedFilter)
    want = f._shards().manifest
    for at in range(len(text)):
        path.write_bytes(text[:at] + bytes([text[at] ^ 1 << at % 8]) + text[at + 1 :])
        try:
            f = bl.open(folder)
        except (bl.ManifestError, bl.ShardError):
            continue
        m = f._shards().manifest  # type: ignore[attr-defined]
        assert (m.spec, m.hash, m.seed, m.key_check) == (want.spec, want.hash, want.seed, want.key_check)
        assert [(e.file, e.bytes) for e in m.shards] == [(e.file, e.bytes) for e in want.shards]


def test_shortest() -> None:
    for bits in range(1, 1022):
        x = struct.unpack("<d", struct.pack("<Q", bits << 52 | bits * 0x123456789AB & (1 << 52) - 1))[0]
        assert 0 < x < 1
        assert float(shortest(x)) == x
        assert "e" in shortest(x) if x < 1e-6 else "e" not in shortest(x)
    for x, text in [
        (0.01, "0.01"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (0.1 + 0.2, "0.30000000000000004"),
    ]:
        assert shortest(x) == text


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="NOT RUN: no /proc/self/fd")
def test_leaves_no_file_open(folder: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with bl.open(folder) as f:
            "x" in f  # noqa: B015
        bl.open(folder)
        os.truncate(folder / "00004-of-00005.bloom", 10)
        with pytest.raises(bl.ShardError):
            bl.open(folder)
        shutil.copy(SETS / "blocked" / "00004-of-00005.bloom", folder)
    import gc

    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
