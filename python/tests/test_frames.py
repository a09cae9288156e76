"""pandas and polars: results have index, name and missing values of the keys."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import package
from filters import all_filters, check_refused, integers, strings

import bloomery_filters as bl

FILTERS = all_filters()


def wanted(f: bl.Filter, keys: list[Any], missing: Any) -> list[Any]:
    return [missing if k is None else k in f for k in keys]


def with_nulls(keys: list[Any]) -> list[Any]:
    return [None if i % 5 == 2 else k for i, k in enumerate(keys)]


def check_pandas(x: Any, keys: list[Any], dtype: str) -> None:
    """Missing keys are <NA> for the types that have it, else False."""
    pd = package("pandas")
    x.name = "domain"
    x.index = pd.RangeIndex(10, 10 + 3 * len(x), 3)
    for f in FILTERS:
        for series, part in [(x, keys), (x[::-3], keys[::-3]), (x[:0], [])]:
            result = f.contains(series)
            assert isinstance(result, pd.Series)
            assert result.dtype == dtype
            assert result.name == "domain"
            assert result.index.equals(series.index)
            missing = False if dtype == "bool" else pd.NA
            got = [pd.NA if a is pd.NA else bool(a) for a in result]
            assert all(a is b for a, b in zip(got, wanted(f, part, missing), strict=True))
        index = f.contains(pd.Index(x))
        assert index.dtype == bool
        assert index.tolist() == wanted(f, keys, False)


@pytest.mark.parametrize("kind", ["int8", "int64", "uint64", "Int64", "UInt8", "int32[pyarrow]"])
def test_pandas_integers(kind: str) -> None:
    pd = package("pandas")
    if "pyarrow" in kind:
        package("pyarrow")
    keys = [k % 128 if "8" in kind else k % 2**31 for k in integers()]
    dtype = "bool[pyarrow]" if "pyarrow" in kind else "boolean" if kind[0] in "IU" else "bool"
    check_pandas(pd.Series(keys, dtype=kind), keys, dtype)
    if dtype != "bool":
        check_pandas(pd.Series(with_nulls(keys), dtype=kind), with_nulls(keys), dtype)


@pytest.mark.parametrize(
    "kind",
    [
        "object",
        "str",
        "string[python]",
        "string[pyarrow]",
        "large_string[pyarrow]",
        "category",
        "ordered",
        "dictionary",
    ],
)
def test_pandas_text(kind: str) -> None:
    pd = package("pandas")
    dtype: Any = kind
    if "pyarrow" in kind or kind == "dictionary":
        pa = package("pyarrow")
        if kind == "large_string[pyarrow]":
            dtype = pd.ArrowDtype(pa.large_string())
        if kind == "dictionary":
            dtype = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    if kind == "ordered":
        dtype = pd.CategoricalDtype(sorted(set(strings())), ordered=True)
    result = "bool"
    if kind.startswith("string"):
        result = "boolean"
    if isinstance(dtype, pd.ArrowDtype):
        result = "bool[pyarrow]"
    for keys in strings(), with_nulls(strings()):
        check_pandas(pd.Series(keys, dtype=dtype), keys, result)


def test_pandas_filters_a_frame() -> None:
    pd = package("pandas")
    frame = pd.DataFrame({"domain": strings()})
    for f in FILTERS:
        assert frame[f.contains(frame["domain"])]["domain"].tolist() == [k for k in strings() if k in f]


def test_pandas_what_has_no_keys() -> None:
    pd = package("pandas")
    np = package("numpy")
    dates = pd.to_datetime(["2020-01-01"])
    for x in [
        pd.Series([1.5]),
        pd.Series([True]),
        pd.Series(dates),
        pd.Series(dates).astype("category"),
        pd.Series(dates - dates[0]),
        pd.Series([1.5], dtype="Float64"),
        pd.Series([1.5]).astype("category"),
        pd.Series([1.5], dtype="Sparse[float]"),
        pd.MultiIndex.from_tuples([("a", 1)]),
        pd.Series(pd.arrays.NumpyExtensionArray(np.array([b"a\0"]))),
    ]:
        check_refused(FILTERS, x)
    for x in [
        pd.Series(["a", 1.5], dtype=object),
        pd.Series([np.timedelta64(5)], dtype=object),
        pd.Series(dates.tz_localize("UTC")),
        pd.Series(dates.to_period("D")),
        pd.Series(pd.interval_range(0, 3)),
        pd.Series(pd.cut([1, 2], 2)),
    ]:
        check_refused(FILTERS, x, "a key is")
    check_refused(FILTERS, pd.DataFrame({"a": ["x"]}), 'a data frame; pass a column, such as frame."domain".')


def test_pandas_extension_types() -> None:
    pd = package("pandas")
    package("pyarrow")
    from test_arrow import extensions

    for x in extensions():
        series = pd.Series(pd.arrays.ArrowExtensionArray(x))
        check_refused(FILTERS, series, "extension type has no keys")
        check_refused(FILTERS, pd.Index(series), "extension type has no keys")


def check_polars(x: Any, keys: list[Any]) -> None:
    pl = package("polars")
    for f in FILTERS:
        for series, part in [
            (x, keys),
            (x[3:40], keys[3:40]),
            (x[:0], []),
            (x.clone().append(x[1:5]), keys + keys[1:5]),
        ]:
            series = series.alias("domain")
            result = f.contains(series)
            assert isinstance(result, pl.Series)
            assert result.dtype == pl.Boolean
            assert result.name == "domain"
            assert result.to_list() == wanted(f, part, None)


def test_polars() -> None:
    pl = package("polars")
    for dtype in [pl.String, pl.Categorical]:
        check_polars(pl.Series(strings(), dtype=dtype), strings())
        check_polars(pl.Series(with_nulls(strings()), dtype=dtype), with_nulls(strings()))
    enum = pl.Enum(sorted(set(strings())))
    check_polars(pl.Series(with_nulls(strings()), dtype=enum), with_nulls(strings()))
    data = [k.encode() for k in strings()]
    check_polars(pl.Series(data, dtype=pl.Binary), data)
    for dtype in [pl.Int8, pl.UInt16, pl.Int32, pl.Int64, pl.UInt64]:
        keys = [k % 128 for k in integers()]
        check_polars(pl.Series(with_nulls(keys), dtype=dtype), with_nulls(keys))
    check_polars(pl.Series([None] * 50), [None] * 50)
    for x in [pl.Series([1.5]), pl.Series([True]), pl.Series([2**70], dtype=pl.Int128)]:
        check_refused(FILTERS, x)
    check_refused(FILTERS, pl.DataFrame({"a": ["x"]}), "a data frame; pass a column")


def test_polars_objects() -> None:
    """The Arrow array of a column of Object has addresses of Python objects."""
    pl = package("polars")
    x = pl.Series("domain", strings(), dtype=pl.Object)
    for part in [x, x[:0], x.head(3).append(x.tail(3)), pl.Series([object()], dtype=pl.Object)]:
        check_refused(FILTERS, part, "Object has no keys: pass its to_list")
    for f in FILTERS:
        assert f.contains(x.to_list()) == wanted(f, strings(), None)


def test_polars_extension_types() -> None:
    pl = package("polars")
    if not hasattr(pl, "BaseExtension"):
        pytest.skip("NOT RUN: this version of polars has no extension types")

    class Unknown(pl.BaseExtension):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__("bloomery.test", pl.Int64)

    check_refused(FILTERS, pl.Series([1, 2]).ext.to(Unknown()), "extension type has no keys")


def test_polars_filters_a_frame() -> None:
    pl = package("polars")
    frame = pl.DataFrame({"domain": strings()})
    for f in FILTERS:
        assert frame.filter(f.contains(frame["domain"]))["domain"].to_list() == [k for k in strings() if k in f]
