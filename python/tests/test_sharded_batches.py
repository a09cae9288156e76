"""Batches of a sharded set: the answers of single queries, from the shards that they load."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import SETS, package
from filters import held, integers, strings

import bloomery_filters as bl
from bloomery_filters._sharded import Shards

pa = package("pyarrow")
np = package("numpy")
package("hypothesis")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

PIECE = 32768  # ROUTE_PIECE of route.h
SECRET = json.loads((SETS / "counting.json").read_text())["secret"]
OPEN = {name: bl.open(SETS / name, SECRET) for name in ("blocked", "counting", "empty-shards", "one-shard")}
TEXT = st.one_of(st.sampled_from(held("text")), st.text(st.characters(exclude_categories=["Cs"])))
KEYS = st.one_of(TEXT, st.binary(), st.integers(-(2**63), 2**64 - 1), st.sampled_from(held("integer")).map(int))


def single(f: bl.Filter, keys: list[Any]) -> list[Any]:
    """Answers keys one by one; None stays None."""
    return [None if k is None else k in f for k in keys]


@given(st.sampled_from(sorted(OPEN)), st.lists(KEYS, max_size=300), st.integers(0, 40))
def test_lists(name: str, keys: list[Any], times: int) -> None:
    assert OPEN[name].contains(keys * times) == single(OPEN[name], keys) * times


ARROW = [pa.string(), pa.large_string(), pa.binary(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())]


@given(st.sampled_from(sorted(OPEN)), st.lists(st.none() | TEXT, max_size=300), st.sampled_from(ARROW), st.data())
def test_arrow(name: str, keys: list[Any], kind: Any, data: Any) -> None:
    array = pa.array(keys, pa.string()).cast(kind)
    start = data.draw(st.integers(0, len(keys)))
    part = array.slice(start, data.draw(st.integers(0, len(keys))))
    assert OPEN[name].contains(part).to_pylist() == single(OPEN[name], part.to_pylist())


@given(st.sampled_from(sorted(OPEN)), st.lists(st.integers(0, 2**64 - 1), max_size=300))
def test_numpy(name: str, keys: list[int]) -> None:
    for width in (8, 4, 1):
        array = np.array([k >> 64 - 8 * width for k in keys], f"u{width}")
        assert OPEN[name].contains(array).tolist() == single(OPEN[name], array.tolist())


@pytest.mark.parametrize("n", [0, 1, 2, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7])
def test_pieces(n: int) -> None:
    f, r = OPEN["blocked"], np.random.default_rng(n)
    some = strings()
    want = np.array(single(f, some))
    rows = r.integers(0, len(some), n)
    keys = [some[i] for i in rows]
    assert f.contains(keys) == want[rows].tolist()
    assert f.contains(pa.array(keys, pa.string())).to_pylist() == want[rows].tolist()
    assert f.contains(pa.DictionaryArray.from_arrays(pa.array(rows), pa.array(some))).to_pylist() == want[rows].tolist()
    numbers = np.array(integers(), np.int64)
    rows = r.integers(0, len(numbers), n)
    assert (f.contains(numbers[rows]) == np.array(single(f, numbers.tolist()))[rows]).all()


FAMILIES = ["standard", "blocked", "fuse", "ribbon", "partitioned", "blockpartitioned", "twochoice", "rankindexed"]
FAMILIES += ["counting", "guava"]


@pytest.mark.filterwarnings("ignore:bloomery. warning. only:RuntimeWarning")  # few keys a shard
@pytest.mark.parametrize(
    ("family", "shards"), [*((f, 7) for f in FAMILIES), ("blocked", 1), ("blocked", 1025), ("ribbon", 3000)]
)
def test_families(command: str, tmp_path: Path, family: str, shards: int) -> None:
    keys: list[Any] = [*strings(), *integers()]
    f = bl.build(tmp_path / "set", keys, spec=family, fpr=0.05, shards=shards)
    assert f.info.shards == shards  # type: ignore[attr-defined]
    assert all(f.contains(keys))
    absent = [f"absent-{i}" for i in range(20000)]
    assert f.contains(absent) == single(f, absent)
    assert not all(f.contains(absent))


def loaded(f: bl.Filter) -> int:
    number: int = f.info.loaded  # type: ignore[attr-defined]
    return number


def shard_of(f: bl.Filter, key: str) -> int:
    return f._get().router.shard(key)  # type: ignore[attr-defined, no-any-return]


def test_loads_the_shards_of_its_keys() -> None:
    f = bl.open(SETS / "blocked")
    keys = strings()
    mine = [k for k in keys if shard_of(f, k) in (1, 3)]
    every = pa.array(keys, pa.string())
    mask = pa.array([k not in mine for k in keys])
    assert f.contains(pa.array([None, None], pa.string())).to_pylist() == [None, None]
    assert f.contains(pa.nulls(3)).to_pylist() == [None] * 3
    assert loaded(f) == 0
    nulls = pa.compute.if_else(mask, None, every)  # rows of other shards are null
    assert f.contains(nulls).to_pylist() == single(f, nulls.to_pylist())
    assert loaded(f) == 2
    f = bl.open(SETS / "blocked")
    rows = pa.array([i for i, k in enumerate(keys) if k in mine] + [None])
    part = pa.DictionaryArray.from_arrays(rows, every)  # other entries have no row
    want = f.contains(part).to_pylist()
    assert loaded(f) == 2
    assert want == single(f, part.to_pylist())


def test_wrong_index() -> None:
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 7, 1]), pa.array(["a", "b"]), safe=False)
    with pytest.raises(ValueError, match="outside of the dictionary"):
        bl.open(SETS / "blocked").contains(wrong)


def test_load_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    f = bl.open(SETS / "blocked")
    keys = strings() * 20
    real, tried = Shards._load, []

    def load(self: Shards, i: int, entry: Any) -> Any:
        tried.append(i)
        if len(tried) == 3:
            raise MemoryError("no more")
        return real(self, i, entry)

    monkeypatch.setattr(Shards, "_load", load)
    with pytest.raises(bl.ShardError, match="no more"):
        f.contains(keys)
    assert loaded(f) == 2
    assert f.contains(keys) == single(f, keys)
    assert len(tried) == 6


@pytest.mark.parametrize("change", ["reload", "close"])
def test_set_replaced_during_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """A batch that has begun answers from the old set, with shards that are not loaded yet."""
    folder = Path(shutil.copytree(SETS / "blocked", tmp_path / "set"))
    f, keys = bl.open(folder, SECRET), strings() * 20
    want = OPEN["blocked"].contains(keys)
    real, changed = Shards._load, []

    def load(self: Shards, i: int, entry: Any) -> Any:
        if not changed:
            changed.append(i)
            for path in folder.iterdir():
                path.unlink()
            shutil.copytree(SETS / "counting", folder, dirs_exist_ok=True)
            assert f.reload() if change == "reload" else f.close() is None
        return real(self, i, entry)

    monkeypatch.setattr(Shards, "_load", load)
    assert f.contains(keys) == want
    assert changed
    if change == "reload":
        assert f.contains(keys) == OPEN["counting"].contains(keys)
    assert f.closed == (change == "close")


def test_threads_reload(tmp_path: Path) -> None:
    """Threads ask while another thread replaces the set: each batch has the answers of one of the two."""
    shutil.copytree(SETS / "counting", tmp_path / "set")
    folder = Path(shutil.copytree(SETS / "blocked", tmp_path / "set", dirs_exist_ok=True))  # names differ
    f, keys = bl.open(folder, SECRET), strings()
    column = pa.array(keys, pa.string())
    answers = [OPEN[name].contains(keys) for name in ("blocked", "counting")]
    wrong: list[Any] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                if f.contains(column).to_pylist() not in answers or f.contains(keys) not in answers:
                    wrong.append("an answer of neither set")
        except Exception as e:
            wrong.append(e)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for turn in range(60):
        shutil.copy(SETS / ("counting", "blocked")[turn % 2] / "manifest.json", folder / "new")
        (folder / "new").rename(folder / "manifest.json")
        assert f.reload()
    done.set()
    for t in threads:
        t.join()
    assert not wrong
