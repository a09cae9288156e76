"""NumPy arrays: each answer is that of the key alone."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest
from conftest import EXACT, package
from filters import all_filters, built, check_refused, integers, strings
from hypothesis import given, settings
from hypothesis import strategies as st

import bloomery_filters as bl

np = package("numpy")

FILTERS = all_filters()


def check(x: np.ndarray, keys: list[object]) -> None:
    """Compares the answers to an array of any shape with those to its keys, in C order."""
    for f in FILTERS:
        result = f.contains(x)
        assert isinstance(result, np.ndarray)
        assert result.dtype == np.bool_
        assert result.shape == x.shape
        assert result.ravel().tolist() == [k in f for k in keys]


@pytest.mark.parametrize("order", ["<", ">", "="])
@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_integers(kind: str, order: str) -> None:
    dtype = np.dtype(order + kind)
    info = np.iinfo(dtype)
    keys = [k % (info.max + 1) for k in integers()] + [info.min, info.max, *range(max(info.min, -50), 0)]
    x = np.array(keys, dtype)
    check(x, keys)
    check(x[::3], keys[::3])
    check(x[::-1], keys[::-1])
    check(x[:0], [])
    check(x[:1200].reshape(20, 3, 20), keys[:1200])
    check(np.asfortranarray(x[:1200].reshape(20, 60)), keys[:1200])
    check(x[:1200].reshape(20, 60).T, x[:1200].reshape(20, 60).T.ravel().tolist())
    check(np.broadcast_to(x[5], (4,)), [keys[5]] * 4)


def test_negative_integers_are_their_twos_complement() -> None:
    signed = np.array([-1, -(2**63), -5], np.int64)
    for f in FILTERS:
        assert f.contains(signed).tolist() == f.contains(signed.view(np.uint64)).tolist()
        assert f.contains(np.array([-1], np.int8)).tolist() == [2**64 - 1 in f]


def test_scalars() -> None:
    for f in FILTERS:
        for key in [np.int64(7), np.uint8(7), np.int16(-7), np.str_("a")]:
            want = (key.item() if hasattr(key, "item") else key) in f
            assert (key in f) is want
            assert f.contains(key) is want
        none = f.contains(np.array(7))
        assert isinstance(none, np.bool_)
        assert bool(none) is (7 in f)


def test_text() -> None:
    keys = [k.rstrip("\x00") for k in strings()]  # NumPy cannot tell zeros at the end from none
    check(np.array(keys), keys)
    check(np.array(keys, ">U1000"), keys)
    check(np.array(keys)[::7], keys[::7])
    check(np.array(["", ""]), ["", ""])
    check(np.array([b"abcd", b"a\0cd"]).view("V4"), [b"abcd", b"a\0cd"])
    check(np.zeros(2, "V4"), [bytes(4)] * 2)
    check(np.array(keys, object), keys)
    check(np.array(["a", 7, b"b"], object), ["a", 7, b"b"])
    if hasattr(np.dtypes, "StringDType"):
        check(np.array(keys, np.dtypes.StringDType()), keys)


def digests() -> list[bytes]:
    """Returns digests of 16 bytes, some of which end in zero bytes."""
    return [hashlib.md5(str(i).encode()).digest() for i in range(3000)] + [bytes(16), b"\0a" + bytes(14)]


def test_fixed_bytes(command: str, tmp_path: Path) -> None:
    """V has all bytes of each key. S has not, and is refused, as is a value of it."""
    keys = digests()
    assert any(k.endswith(b"\0") for k in keys)
    padded = np.array(keys, "S16")
    x = padded.view("V16")
    check(x, keys)
    check(x[::-3], keys[::-3])
    check(x[:3000].reshape(30, 100), keys[:3000])
    f = bl.build(tmp_path / "f.bloom", x, fpr=1e-6)
    assert all(f.contains(keys))
    assert all(bl.build(tmp_path / "f.bloom", keys, fpr=1e-6).contains(x))
    for wrong in [
        padded,
        padded[::2],
        padded.astype("S64"),
        padded.reshape(2, -1),
        np.zeros(0, "S4"),
        np.zeros(3, "S0"),
    ]:
        check_refused(FILTERS, wrong, r"zero bytes at the end.*view\(\"V")
    check_refused(FILTERS, np.ma.array(padded, mask=False), "zero bytes at the end")
    for f in FILTERS:
        for ask in [
            lambda f=f: padded[0] in f,
            lambda f=f: f.contains(padded[0]),
            lambda f=f: f.contains(list(padded)),
        ]:
            with pytest.raises(TypeError, match="zero bytes at the end"):
                ask()
        assert f.contains(padded.tolist()) == f.contains([k.rstrip(b"\0") for k in keys])


def test_elements_of_fixed_bytes(command: str, tmp_path: Path) -> None:
    """An element of a V array is a key of all its bytes, in every way in."""
    keys = digests()
    x = list(np.array(keys, "S16").view("V16"))
    assert {type(v) for v in x} == {np.void}
    for f in FILTERS:
        want = f.contains(keys)
        assert [v in f for v in x] == want
        assert [f.contains(v) for v in x] == want
        assert f.contains(x) == f.contains(iter(x)) == f.contains(tuple(x)) == want
        mixed = np.array([*x, "a", 7], object)
        assert f.contains(mixed).tolist() == [*want, "a" in f, 7 in f]
    assert built(x) == built(keys)
    exact = bl.open(EXACT / "half.exact")
    assert isinstance(exact, bl.ExactSet)
    assert [exact.contains_in(v, v) for v in x] == exact.contains(keys)
    counts = bl.build(tmp_path / "counts.bloom", x + x[:1], spec="counting", fpr=1e-6)
    assert [counts.count(v) for v in x] == [counts.count(k) for k in keys]
    assert counts.count(x[0]) == 2
    values = bl.build(tmp_path / "values.bloom", x, values=range(len(x)), fpr=1e-6)
    assert [values.get(v) for v in x] == list(range(len(x)))
    for other in [
        np.zeros(1, [("a", "i4")])[0],
        np.zeros(1, [("a", "V16")])[0],
        np.zeros(1, np.dtype([]))[0],
        np.zeros(1, "V0")[0],
        memoryview(x[0]),
    ]:
        check_refused(FILTERS, other, "a key is|keys: want|tobytes")
        for ask in counts.count, values.get, lambda v: exact.contains_in(v, "a"), lambda v: exact.contains_in("a", v):
            with pytest.raises(TypeError, match=r"a key is|tobytes"):
                ask(other)


def test_masked() -> None:
    """Masked elements have no answer, whatever lies below the mask, and are not built."""
    known = [i % 3 != 1 for i in range(60)]
    hidden = [not k for k in known]
    keys = ([k for k in strings() if not k.endswith("\0")] * 2)[:60]
    objects = [k if a else None for k, a in zip(keys, known, strict=True)]
    for data, plain in [
        (np.array(keys), keys),
        (np.array(objects, object), objects),
        (np.arange(60, dtype=">i4"), list(range(60))),
        (np.array(digests()[-60:], "S16").view("V16"), digests()[-60:]),
    ]:
        x = np.ma.array(data, mask=hidden)
        for f in FILTERS:
            want = [k in f if a else None for k, a in zip(plain, known, strict=True)]
            for part, answers in [
                (x, want),
                (x[::-2], want[::-2]),
                (x.reshape(6, 10), [want[i : i + 10] for i in range(0, 60, 10)]),
                (x[:0], []),
            ]:
                result = f.contains(part)
                assert isinstance(result, np.ma.MaskedArray)
                assert (result.dtype, result.shape) == (np.bool_, part.shape)
                assert result.tolist() == answers
                assert (np.ma.getmaskarray(result) == np.ma.getmaskarray(part)).all()
                assert not result.filled()[np.ma.getmaskarray(result)].any()
        assert built(x) == built([k for k, a in zip(plain, known, strict=True) if a])
    for f in FILTERS:
        assert f.contains(np.ma.array([1, 2])).tolist() == [1 in f, 2 in f]
        assert f.contains(np.ma.array(7, mask=True)) is np.ma.masked
        assert bool(f.contains(np.ma.array(7))) is (7 in f)
    for x in [np.ma.zeros(3, "i4,i4"), np.ma.array([1.5]), np.ma.masked]:
        check_refused(FILTERS, x)


def test_what_has_no_keys() -> None:
    f = FILTERS[0]
    for x in [
        np.zeros(3),
        np.zeros(3, np.bool_),
        np.zeros(3, "M8[s]"),
        np.zeros(3, "m8[ns]"),
        np.zeros(3, "c16"),
        np.zeros(3, [("a", "i4")]),
        np.zeros(3, [("a", "O")]),
        np.array(1.5),
        np.zeros(3, "V0"),
    ]:
        check_refused(FILTERS, x)
    for x in [
        np.array([None]),
        np.array(["a", float("nan")], object),
        np.array([np.timedelta64(5), np.datetime64(5, "s")], object),
        np.array([np.zeros(1, "i4,i4")[0]], object),
        np.array([object()]),
    ]:
        check_refused(FILTERS, x, "a key is")
    for scalar in [np.float64(1), np.bool_(True), np.datetime64("2020"), np.timedelta64(5), np.zeros(1, "i4,i4")[0]]:
        with pytest.raises(TypeError):
            f.contains(scalar)
    for text in ["\ud800", "a\udfffb"]:
        with pytest.raises(ValueError, match="surrogate"):
            f.contains(np.array([text]))
    beyond = np.array([0x110000], np.uint32).view("U1")
    with pytest.raises(ValueError, match="surrogate"):
        f.contains(beyond)


def test_types_of_other_packages() -> None:
    """A type that NumPy does not know may be anything, and says that it is V."""
    rational = pytest.importorskip("numpy._core._rational_tests", reason="NOT RUN: no type to test").rational
    assert np.dtype(rational).kind == "V"
    check_refused(FILTERS, np.zeros(3, rational))


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=30))
def test_any_text(some: list[str]) -> None:
    x = np.array(some, "U20")
    check(x, x.tolist())


def test_large_arrays_in_threads() -> None:
    """Blocks larger than those of the copies, and threads that answer at the same time."""
    x = np.arange(300_000, dtype=np.int32) * 7 - 1000
    for f in FILTERS:
        want = f.contains(x.astype(np.int64))
        found = [None] * 4

        def ask(i: int, f: object = f, found: list[object] = found) -> None:
            found[i] = f.contains(x)  # type: ignore[attr-defined]

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert all((r == want).all() for r in found)
        assert want[:3000].tolist() == [k in f for k in x[:3000].tolist()]
