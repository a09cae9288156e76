"""Keys of columns, in pieces, for the command. Missing keys are left out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from . import _core
from ._arrays import numpy_keys, pandas_array, polars_keys, refuse_frame

PIECE = 1 << 16
"""How many keys of an iterable are taken at a time."""


def columns(x: Any) -> Iterator[_core.Keys]:
    """Yields the keys of an iterable, an array or a column. Raises TypeError."""
    if isinstance(x, str | bytes | bytearray | memoryview | int):
        raise TypeError("keys: want a list, an array, a column, or pathlib.Path of files, not one key")
    refuse_frame(x)
    np, pd, pa, pl = (sys.modules.get(name) for name in ("numpy", "pandas", "pyarrow", "polars"))
    if pd is not None and isinstance(x, pd.Series | pd.Index):
        yield from _pandas(pandas_array(x, pd), pd)
    elif np is not None and isinstance(x, np.ndarray):
        yield numpy_keys(x, np)
    elif pa is not None and isinstance(x, pa.ChunkedArray):
        for chunk in x.chunks:
            yield from columns(chunk)
    elif pa is not None and isinstance(x, pa.Array):
        plain = x.dictionary_decode() if isinstance(x, pa.DictionaryArray) else x
        yield _core.keys_of_arrow(*plain.__arrow_c_array__())
    elif pl is not None and isinstance(x, pl.Series):
        yield from polars_keys(x.cast(pl.String) if x.dtype in (pl.Categorical, pl.Enum) else x, pl)
    elif hasattr(x, "__arrow_c_array__"):
        yield _core.keys_of_arrow(*x.__arrow_c_array__())
    elif hasattr(x, "__arrow_c_stream__"):
        yield from (_core.keys_of_arrow(*c) for c in _core.chunks(x.__arrow_c_stream__()))
    elif isinstance(x, Iterable):
        it, before = iter(x), 0
        while piece := list(islice(it, PIECE)):
            yield _core.keys_of_list(piece, before)
            before += len(piece)
    else:
        raise TypeError(f"keys: want a list, an array, a column, or pathlib.Path of files, not {type(x).__name__}")


def _pandas(x: Any, pd: Any) -> Iterator[_core.Keys]:
    x = x.dropna() if hasattr(x, "dropna") else x[~x.isna()]
    dtype = x.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        yield from columns(pd.Series(x.astype(dtype.categories.dtype))) if len(dtype.categories) else ()
    elif isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        yield from columns(x.__arrow_array__())
    else:
        import numpy as np

        is_text = isinstance(dtype, pd.StringDtype)
        yield numpy_keys(np.asarray(x, object if is_text else getattr(dtype, "numpy_dtype", None)), np)
