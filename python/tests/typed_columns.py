"""What type checkers that know the types of all packages say about columns. See typed.py."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from typing import Any, assert_type

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

import bloomery_filters as bl


def numpy(f: bl.Filter, integers: NDArray[np.int64], texts: NDArray[np.str_], one: np.int64, real: np.float64) -> None:
    assert_type(f.contains(integers), NDArray[Any])
    assert_type(f.contains(texts), NDArray[Any])
    assert_type(f.contains(one), bool)
    f.contains(real)  # type: ignore


def pandas(f: bl.Filter, frame: pd.DataFrame, texts: "pd.Series[str]", index: "pd.Index[str]") -> pd.DataFrame:
    assert_type(f.contains(texts), "pd.Series[bool]")
    assert_type(f.contains(index), np.ndarray[tuple[int], np.dtype[np.bool]])
    listed: pd.Series[bool] = f.contains(frame["host"])
    return frame[listed]


def polars(f: bl.Filter, frame: pl.DataFrame) -> pl.DataFrame:
    assert_type(f.contains(frame["host"]), pl.Series)
    f.contains(pl.col("host"))  # type: ignore
    return frame.filter(pl.col("host").map_batches(f.contains, return_dtype=pl.Boolean))


def pyarrow(f: bl.Filter, texts: pa.StringArray, chunks: "pa.ChunkedArray[pa.StringScalar]") -> None:
    assert_type(f.contains(texts), pa.BooleanArray)
    assert_type(f.contains(chunks), "pa.ChunkedArray[pa.BooleanScalar]")
