"""Forms of keys: filters of columns of Parquet files, interop/testdata/types, find the values of their columns."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import package
from filters import built

import bloomery_filters as bl

FOLDER = Path(__file__).resolve().parents[2] / "interop/testdata"
FILES = sorted((FOLDER / "types").glob("*.bloom"))


def values(column: str) -> list[Any]:
    """Returns the values of a column."""
    lines = (line.split("\t") for line in (FOLDER / "types.tsv").read_text("utf-8").splitlines())
    texts = [text for name, text in lines if name == column]
    if column[0] in "iu":
        return [int(text) for text in texts]
    if column.startswith("dec"):
        return [Decimal(text) for text in texts]
    return [dt.date.fromisoformat(text) for text in texts] if column == "date" else texts


def column_of(path: Path) -> str:
    """Returns the column of a filter."""
    return path.stem.rsplit("-", 1)[1]


def test_there_are_files() -> None:
    assert len(FILES) == 43


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_values(path: Path) -> None:
    f, column = bl.open(path), column_of(path)
    all_values = values(column)
    if column == "double":
        assert f.info.key_form == "fixed,width=8"
        for wrong in ("0.0", 1, dt.date(2026, 11, 29), Decimal(1)):
            with pytest.raises(TypeError, match="key"):
                f.contains(wrong)
        with pytest.raises(TypeError):
            f.contains([1])
        return
    assert all(v in f for v in all_values)
    assert f.contains(all_values) == [True] * 40
    if column == "text":
        return
    with pytest.raises(TypeError, match="whose keys are"):
        f.contains("12")
    with pytest.raises(TypeError, match="whose keys are"):
        f.contains(["12"])
    if column != "date":
        with pytest.raises(TypeError):
            f.contains(dt.date(2026, 11, 29))
    if not column.startswith("dec"):
        with pytest.raises(TypeError):
            f.contains(Decimal(1))
    with pytest.raises(TypeError):
        f.contains(dt.datetime(2026, 11, 29))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_columns(path: Path) -> None:
    np, pa, pd, pl = (package(name) for name in ("numpy", "pyarrow", "pandas", "polars"))
    f, column = bl.open(path), column_of(path)
    if column == "double":
        with pytest.raises(TypeError):
            f.contains(np.array([1, 2]))
        with pytest.raises(TypeError):
            f.contains(pa.array(["1.0"]))
        return
    kinds = {"date": pa.date32(), "dec9": pa.decimal128(9, 2), "dec18": pa.decimal128(18, 3), "text": pa.string()}
    kinds |= {"dec38": pa.decimal128(38, 6), "decbin": pa.decimal128(20, 2)}
    kinds |= {f"{c}{bits}": getattr(pa, f"{'u' * (c == 'u')}int{bits}")() for c in "iu" for bits in (8, 16, 32, 64)}
    array = pa.array([*values(column), None], type=kinds[column])
    want = [True] * 40 + [None]
    assert f.contains(array).to_pylist() == want
    assert f.contains(pa.chunked_array([array, array.slice(7, 9)])).to_pylist() == [*want, *want[:9]]
    assert f.contains(pd.Series(array, dtype=pd.ArrowDtype(array.type))).tolist()[:40] == want[:40]
    assert f.contains(pl.Series(array)).to_list() == want
    assert f.contains(pd.Series(values(column))).tolist() == want[:40]
    if column[0] in "iu" or column == "date":
        numbers = np.array(values(column), dtype="datetime64[D]" if column == "date" else array.type.to_pandas_dtype())
        assert f.contains(numbers).all()
    if column[0] == "i" or column == "date":
        days = [v if column != "date" else (v - dt.date(1970, 1, 1)).days for v in values(column)]
        assert f.contains(np.array(days, dtype=np.int64)).all()
        assert f.contains(days) == [True] * 40
    if column != "text":
        with pytest.raises(TypeError, match="key_form"):
            f.contains(pa.array(["12"]))
        with pytest.raises(TypeError, match="key_form"):
            f.contains(np.array(["12"]))
    if column != "date":
        with pytest.raises(TypeError):
            f.contains(pa.array([dt.date(2026, 11, 29)]))


def test_absent() -> None:
    """Values that the type does not have are absent, in batches too."""
    f = bl.open(FOLDER / "types/parquet-mr-i32.bloom")
    wide = [1 << 31, -(1 << 31) - 1, 1 << 63, 1 << 80, -(1 << 64)]
    assert f.contains(wide).count(True) <= 2
    assert 1 << 100 not in f or 1 << 101 not in f
    d = bl.open(FOLDER / "types/pyarrow-dec9.bloom")
    assert Decimal("0.00") in d
    assert Decimal("0E+3") in d
    assert 0 in d
    assert d.contains([Decimal("0.001"), Decimal(10**9), Decimal("NaN"), 10**30]).count(True) <= 2
    text = bl.open(FOLDER / "types/duckdb-text.bloom")
    assert "key-1" in text
    assert b"key-1" in text
    assert sum(v in text for v in (5, -5, 10**30)) <= 1


def test_build_refuses_dates() -> None:
    pa = package("pyarrow")
    for array in (pa.array([dt.date(2026, 11, 29)]), pa.array([Decimal("1.5")])):
        with pytest.raises(TypeError):
            built(array)
