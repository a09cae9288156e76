"""NumPy arrays: each answer is that of the key alone."""

from __future__ import annotations

import threading

import pytest
from conftest import package
from filters import all_filters, integers, strings
from hypothesis import given, settings
from hypothesis import strategies as st

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
        for key in [np.int64(7), np.uint8(7), np.int16(-7), np.str_("a"), np.bytes_(b"a")]:
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
    data = [k.encode() for k in keys]
    check(np.array(data), data)
    check(np.array(data)[::-2], data[::-2])
    check(np.array([b"", b""]), [b"", b""])
    check(np.zeros(3, "S0"), [b""] * 3)
    check(np.array([b"abcd", b"a\0cd"]).view("V4"), [b"abcd", b"a\0cd"])
    check(np.zeros(2, "V4"), [bytes(4)] * 2)
    check(np.array(keys, object), keys)
    check(np.array(["a", 7, b"b"], object), ["a", 7, b"b"])
    if hasattr(np.dtypes, "StringDType"):
        check(np.array(keys, np.dtypes.StringDType()), keys)


def test_what_has_no_keys() -> None:
    f = FILTERS[0]
    others = [
        np.zeros(3),
        np.zeros(3, np.bool_),
        np.zeros(3, "M8[s]"),
        np.zeros(3, "c16"),
        np.zeros(3, [("a", "i4")]),
        np.array([None]),
        np.array(["a", float("nan")], object),
        np.ma.array([1, 2], mask=[0, 1]),
        np.array(1.5),
        np.zeros(3, "V0"),
    ]
    for x in others:
        with pytest.raises(TypeError):
            f.contains(x)
    for scalar in [np.float64(1), np.bool_(True), np.datetime64("2020")]:
        with pytest.raises(TypeError):
            f.contains(scalar)
    for text in ["\ud800", "a\udfffb"]:
        with pytest.raises(ValueError, match="surrogate"):
            f.contains(np.array([text]))
    beyond = np.array([0x110000], np.uint32).view("U1")
    with pytest.raises(ValueError, match="surrogate"):
        f.contains(beyond)


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
