"""Single keys and lists of keys."""

from __future__ import annotations

import array
import ctypes
import mmap
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CONTAINER, EXACT, SECRET, SETS, key_bytes
from filters import built, check_refused
from hypothesis import given
from hypothesis import strategies as st

import bloomery_filters as bl

FILTERS = [
    bl.open(CONTAINER / "standard-1.bloom", SECRET),
    bl.open(CONTAINER / "blocked-0.bloom"),
    bl.open(CONTAINER / "bitsandblooms-0.bloom"),
    bl.open(SETS / "blocked"),
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
keys = texts | st.binary(max_size=300) | st.integers(-(2**63), 2**64 - 1)


@given(st.lists(keys, max_size=40))
def test_lists_as_single_keys(some: list[str | bytes | int]) -> None:
    for f in FILTERS:
        want = [key_bytes(k) in f for k in some]
        assert [k in f for k in some] == want
        assert [f.contains(k) for k in some] == want
        for form in list, tuple, iter:
            assert f.contains(form(some)) == want
        assert f.contains(dict.fromkeys(some)) == [k in f for k in dict.fromkeys(some)]


def test_long_lists() -> None:
    for f in FILTERS:
        some = [str(i) * (i % 40) for i in range(5000)]
        assert f.contains(some) == [k in f for k in some]
        assert f.contains([]) == []
        assert f.contains([""]) == ["" in f]


def test_forms_of_bytes_and_integers() -> None:
    class Index:
        def __index__(self) -> int:
            return 7

    for f in FILTERS:
        for i in range(200):
            same = [i, i.to_bytes(8, "little"), bytearray(i.to_bytes(8, "little")), memoryview(i.to_bytes(8, "little"))]
            assert len({k in f for k in same}) == 1
            assert len(set(f.contains(same))) == 1
            assert (-1 - i in f) is (2**64 - 1 - i in f)
        assert (Index() in f) is (7 in f)
        assert f.contains(Index()) is (7 in f)
        assert f.contains(array.array("Q", range(50))) == f.contains(range(50)) == [i in f for i in range(50)]


def test_memoryviews() -> None:
    """A memoryview is a key if it holds bytes: pointers, floats and the like are not their bytes."""
    plain = b"12345678"
    views = [
        memoryview(plain),
        memoryview(bytearray(plain)),
        memoryview(plain).cast("b"),
        memoryview(plain).cast("c"),
        memoryview(array.array("B", plain)),
        memoryview((ctypes.c_ubyte * 8)(*plain)),
        memoryview(b"x12345678x")[1:-1],
    ]
    wrong = [
        memoryview(array.array("d", [1.0])),
        memoryview(array.array("Q", [7])),
        memoryview(array.array("f", [1.0])),
        memoryview((ctypes.c_void_p * 2)()),
        memoryview((ctypes.py_object * 1)(object())),
        memoryview(ctypes.c_void_p(7)),
        memoryview(plain).cast("?"),
        memoryview(plain).cast("B", [2, 4]),
        memoryview(plain)[::2],
    ]
    exact = bl.open(EXACT / "half.exact")
    assert isinstance(exact, bl.ExactSet)
    for f in [*FILTERS, exact]:
        assert {v in f for v in views} == {plain in f}
        assert f.contains(views) == [plain in f] * len(views)
        for view in wrong:
            for ask in [
                lambda f=f, view=view: view in f,
                lambda f=f, view=view: f.contains(view),
                lambda f=f, view=view: f.contains(["a", view]),
                lambda view=view: exact.contains_in("x", view),
                lambda view=view: exact.contains_in(view, "x"),
                lambda view=view: built([view]),
            ]:
                with pytest.raises(TypeError, match="tobytes"):
                    ask()
    count, get = (
        bl.open(CONTAINER / "vectors" / f"{name}.bloom", SECRET) for name in ("counting-17", "rankindexed-values")
    )
    for view in wrong:
        with pytest.raises(TypeError, match="tobytes"):
            count.count(view)
        with pytest.raises(TypeError, match="tobytes"):
            get.get(view)


def test_buffers_that_are_no_key() -> None:
    structure = type("Structure", (ctypes.Structure,), {"_fields_": [("address", ctypes.c_void_p)]})
    for other in [
        (ctypes.c_int * 3)(1, 2, 3),
        ctypes.create_string_buffer(b"abc"),
        ctypes.c_void_p(7),
        ctypes.c_int(7),
        ctypes.pointer(ctypes.c_int(7)),
        ctypes.py_object("a"),
        structure(),
        mmap.mmap(-1, 10),
        array.array("d", [1.0]),
    ]:
        check_refused([*FILTERS, bl.open(EXACT / "half.exact")], other, "a key is|keys: want")


def test_what_is_no_key() -> None:
    f = FILTERS[0]
    for other in [None, True, False, 1.0, object(), ("a",), float("nan")]:
        with pytest.raises(TypeError, match="a key is a str, bytes or an int"):
            other in f  # noqa: B015
        with pytest.raises(TypeError, match="a key is a str, bytes or an int"):
            f.contains(["a", other, "b"])
    for number in [2**64, -(2**63) - 1, 10**30, -(10**30)]:
        with pytest.raises(OverflowError, match="64 bits"):
            number in f  # noqa: B015
        with pytest.raises(OverflowError, match="64 bits"):
            f.contains([number])
    with pytest.raises(UnicodeEncodeError):
        "\ud800" in f  # noqa: B015
    with pytest.raises(UnicodeEncodeError):
        f.contains(["\ud800"])


def test_lists_that_shrink() -> None:
    """A key whose __index__ is Python code changes the list of the keys. Free-threaded Python answers the old list."""
    keys: list[object] = []

    class Clears:
        def __index__(self) -> int:
            keys.clear()
            return 1

    for f in FILTERS:
        keys[:] = ["a", Clears(), *(str(i) for i in range(3000))]
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            assert f.contains(keys) == ["a" in f, 1 in f, *(str(i) in f for i in range(3000))]
        else:
            with pytest.raises(IndexError):
                f.contains(keys)
        keys[:] = ["a", Clears()]
        assert f.contains(keys) == ["a" in f, 1 in f]


def test_errors_of_iterators_pass() -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        FILTERS[0].contains(broken())


def test_partitions(tmp_path: Path) -> None:
    """Keys of a partition are not keys of another one, and take all forms."""
    exact = bl.open(CONTAINER.parents[2] / "exact" / "testdata" / "half.exact")
    assert isinstance(exact, bl.ExactSet)
    assert exact.contains_in("ignored", "x") is ("x" in exact)
    with pytest.raises(TypeError):
        exact.contains_in(None, "x")
    with pytest.raises(TypeError):
        exact.contains_in("x", 1.5)


def test_imports_nothing() -> None:
    """Importing the package, and lists, need none of the packages of arrays."""
    code = (
        "import sys, bloomery_filters as bl; bl.open(sys.argv[1]).contains(['a', b'b', 1]);"
        "print([m for m in ('numpy', 'pandas', 'pyarrow', 'polars', 'typing_extensions') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(CONTAINER / "standard-0.bloom")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert ran.stdout == "[]\n"
