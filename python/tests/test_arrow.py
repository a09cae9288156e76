"""pyarrow arrays: each answer is that of the key alone, and null where the key is null."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from conftest import package
from filters import all_filters, check_refused, integers, strings

import bloomery_filters as bl

pa = package("pyarrow")

FILTERS = all_filters()
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


def wanted(f: bl.Filter, keys: list[Any]) -> list[bool | None]:
    return [None if k is None else k in f for k in keys]


def check(x: Any) -> None:
    """Compares the answers to an array, to slices of it and to chunks with those to its keys."""
    keys = x.to_pylist()
    n = len(x)
    for f in FILTERS:
        want = wanted(f, keys)
        result = f.contains(x)
        assert isinstance(result, pa.BooleanArray)
        result.validate(full=True)
        assert result.to_pylist() == want
        assert result.null_count == want.count(None)
        for start, length in [(0, 0), (0, n), (1, 5), (3, n // 2), (8, 9), (n // 2, n), (n, 1)]:
            assert f.contains(x.slice(start, length)).to_pylist() == want[start : start + length]
        chunked = pa.chunked_array([x.slice(2, 7), x.slice(0, 0), x.slice(5), x], x.type)
        result = f.contains(chunked)
        assert isinstance(result, pa.ChunkedArray)
        result.validate(full=True)
        assert result.type == pa.bool_()
        assert [len(c) for c in result.chunks] == [len(c) for c in chunked.chunks]
        assert result.to_pylist() == want[2:9] + want[5:] + want


def with_nulls(keys: list[Any]) -> list[Any]:
    return [None if i % 5 == 2 or 20 < i < 60 else k for i, k in enumerate(keys)]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers(kind: Any) -> None:
    bits = kind.bit_width - (1 if str(kind).startswith("int") else 0)
    keys = [k % 2**bits for k in integers()]
    check(pa.array(keys, kind))
    check(pa.array(with_nulls(keys), kind))


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_texts(kind: Any) -> None:
    check(pa.array(strings(), kind))
    check(pa.array(with_nulls(strings()), kind))
    check(pa.array([""] * 9, kind))
    check(pa.array([None] * 9, kind))


@pytest.mark.parametrize("index", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64()], ids=str)
def test_dictionaries(index: Any) -> None:
    keys = (strings()[:12] + strings()[-88:]) * 3
    encoded = pa.array(with_nulls(keys), pa.dictionary(index, pa.string()))
    check(encoded)
    for values in TEXTS:
        check(pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(values)))
    numbers = pa.DictionaryArray.from_arrays(pa.array([0, None, 2, 1] * 4, index), pa.array([5, None, 7], pa.int64()))
    check(numbers)
    check(pa.DictionaryArray.from_arrays(pa.array([None] * 9, index), pa.array([], pa.string())))


def test_other_columns() -> None:
    check(pa.array([b"12345678", None, b"abcdefgh"] * 5, pa.binary(8)))
    check(pa.array([None] * 9, pa.null()))
    for f in FILTERS:
        assert f.contains(pa.chunked_array([], pa.string())).to_pylist() == []
    for kind in [pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("s"), pa.list_(pa.string())]:
        for f in FILTERS:
            with pytest.raises(TypeError, match="has no keys"):
                f.contains(pa.array([None], kind))
    table = pa.table({"a": ["x"]})
    for f in FILTERS:
        with pytest.raises(TypeError, match="a data frame; pass a column"):
            f.contains(table)
        with pytest.raises(TypeError, match="as_py"):
            f.contains(pa.scalar("x"))
        assert f.contains(table["a"]).to_pylist() == ["x" in f]
        with pytest.raises(TypeError):
            f.contains(pa.array([datetime.date(2020, 1, 1)]))


class Unknown(pa.ExtensionType):  # type: ignore[misc]
    """An extension type that pyarrow was not told of."""

    def __init__(self) -> None:
        super().__init__(pa.int64(), "bloomery.test")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Unknown:
        return cls()


def extensions() -> list[Any]:
    """Returns arrays of extension types, whose storage is of types with keys."""
    made = [
        (Unknown(), pa.array([1, None], pa.int64())),
        (pa.uuid(), pa.array([bytes(16)], pa.binary(16))),
        (pa.bool8(), pa.array([1, 0], pa.int8())),
        (pa.json_(), pa.array(["{}"])),
        (pa.opaque(pa.binary(8), "address", "test"), pa.array([bytes(8)], pa.binary(8))),
    ]
    return [pa.ExtensionArray.from_storage(*pair) for pair in made]


def test_extension_types() -> None:
    for x in extensions():
        check_refused(FILTERS, x, "extension type has no keys")
        check_refused(FILTERS, pa.chunked_array([x, x]), "extension type has no keys")
        check_refused(FILTERS, type("One", (Column,), {})(x), "extension type has no keys")
        check_refused(FILTERS, type("Many", (Column,), {})(pa.chunked_array([x])), "extension type has no keys")
        encoded = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), x)
        check_refused(FILTERS, encoded, "extension type has no keys")
        for f in FILTERS:
            assert f.contains(x.storage).to_pylist() == wanted(f, x.storage.to_pylist())


def test_duckdb() -> None:
    """What DuckDB marks as a type of its own is refused. What it gives as text or bytes has keys."""
    duckdb = package("duckdb")

    def column(expression: str) -> Any:
        return duckdb.sql(f"SELECT {expression} AS x").to_arrow_table()["x"]

    duckdb.sql("SET arrow_lossless_conversion = true")
    try:
        for own in ["uuid()", "5::HUGEINT", "'101'::BIT", "5::BIGNUM"]:
            check_refused(FILTERS, column(own), "extension type has no keys")
    finally:
        duckdb.sql("SET arrow_lossless_conversion = false")
    for f in FILTERS:
        assert f.contains(column("'a\\x00'::BLOB")).to_pylist() == [b"a\0" in f]
        assert f.contains(column("'a'::VARCHAR")).to_pylist() == ["a" in f]
        with pytest.raises(TypeError, match="has no keys"):
            f.contains(duckdb.sql("SELECT 'a' AS x"))


def test_metadata_is_no_extension() -> None:
    """Metadata of other names do not matter, and those of extensions are found behind them."""
    field = pa.field("x", pa.string(), metadata={"a": "ARROW:extension:name", "": "", "PARQUET:field_id": "1"})
    stated = pa.field("x", pa.string(), metadata={"a": "b" * 70_000, "ARROW:extension:name": "x"})
    _, array = pa.array(["a"]).__arrow_c_array__()
    assert len(bl._core.keys_of_arrow(field.__arrow_c_schema__(), array)) == 1
    with pytest.raises(TypeError, match="extension type"):
        bl._core.keys_of_arrow(stated.__arrow_c_schema__(), array)


def test_wrong_arrays() -> None:
    """What pyarrow lets through without a check."""
    data = pa.py_buffer(b"abcdefgh")

    def string(offsets: list[int]) -> Any:
        return pa.Array.from_buffers(
            pa.string(), len(offsets) - 1, [None, pa.array(offsets, pa.int32()).buffers()[1], data]
        )

    for f in FILTERS:
        assert f.contains(string([0, 2, 5])).to_pylist() == ["ab" in f, "cde" in f]
        for offsets in [0, 5, 2], [-1, 2, 5], [0, -3, 5]:
            with pytest.raises(ValueError, match="offset"):
                f.contains(string(offsets))
    indices = pa.array([0, 7, -1], pa.int32())
    wrong = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    with pytest.raises(ValueError, match="outside of the dictionary"):
        FILTERS[0].contains(wrong)
    view = pa.py_buffer(b"\x10\0\0\0abcd\0\0\0\0\x01\0\0\0")  # 16 bytes from byte 1 of a buffer of 8
    wrong = pa.Array.from_buffers(pa.string_view(), 1, [None, view, data])
    with pytest.raises(ValueError, match="outside of its buffers"):
        FILTERS[0].contains(wrong)


class Column:
    """A column of a library that this package does not know."""

    def __init__(self, x: Any) -> None:
        for name in "__arrow_c_array__", "__arrow_c_stream__":
            if hasattr(x, name):
                setattr(type(self), name, lambda self, schema=None, name=name: getattr(x, name)(schema))


def test_capsules_only() -> None:
    keys = with_nulls(strings())
    for f in FILTERS:
        one = f.contains(type("One", (Column,), {})(pa.array(keys)))
        assert pa.array(one).to_pylist() == wanted(f, keys)
        assert pa.array(one).to_pylist() == wanted(f, keys)  # it can be taken twice
        assert len(one) == len(keys)
        many = f.contains(type("Many", (Column,), {})(pa.chunked_array([keys[:9], keys[9:]])))
        assert [a for part in many for a in pa.array(part).to_pylist()] == wanted(f, keys)


def test_moved_arrays() -> None:
    schema, array = pa.array(["a"]).__arrow_c_array__()
    pa.Array._import_from_c_capsule(schema, array)
    with pytest.raises(ValueError, match="moved"):
        bl._core.keys_of_arrow(schema, array)
    stream = pa.chunked_array([["a"]]).__arrow_c_stream__()
    assert len(bl._core.chunks(stream)) == 1
    with pytest.raises(ValueError, match="read already"):
        bl._core.chunks(stream)
