"""Batches: the keys of lists, arrays and columns, and answers of the same kind.

NumPy, pandas, pyarrow and polars are imported only if an argument is theirs, which means that the caller has imported
them. Arrow data is read through the PyCapsule interface, so that polars and others need no pyarrow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from . import _core


class Asker(Protocol):
    """What answers keys: an open file or set."""

    def ask(self, keys: _core.Keys, answers: Any, /) -> None: ...


def answer(handle: _core.Handle, keys: Any) -> Any:
    """Returns the answers to keys, in the form of the keys. See Filter.contains."""
    if isinstance(keys, str | bytes | bytearray | memoryview | int):
        return keys in handle
    # Taken once, so that one file answers all chunks of a column, also if another thread reloads or closes meanwhile.
    f: Asker = handle._get()
    refuse_frame(keys)
    for package, special in _SPECIAL.items():
        module = sys.modules.get(package)
        if module is not None and (result := special(f, keys, module)) is not None:
            return result
    if hasattr(keys, "__arrow_c_array__"):
        return ArrowAnswers(*_ask(f, _core.keys_of_arrow(*keys.__arrow_c_array__())))
    if hasattr(keys, "__arrow_c_stream__"):
        chunks = [_ask(f, _core.keys_of_arrow(*c)) for c in _core.chunks(keys.__arrow_c_stream__())]
        if len(chunks) == 1:
            return ArrowAnswers(*chunks[0])
        return [ArrowAnswers(*c) for c in chunks]
    if not hasattr(keys, "__index__") and isinstance(keys, Iterable):
        return _core.bools(_ask(f, _core.keys_of_list(keys))[1])
    return keys in handle


def refuse_frame(x: Any) -> None:
    """Raises TypeError if x is a data frame or an Arrow table."""
    for package, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")):
        kind = getattr(sys.modules.get(package), name, None)
        if kind is not None and isinstance(x, kind):
            raise TypeError('keys: a data frame; pass a column, such as frame["domain"]')


class ArrowAnswers:
    """Answers as an Arrow array of bool: pyarrow.array, polars.Series and others take it."""

    def __init__(self, keys: _core.Keys, answers: bytearray) -> None:
        self._keys, self._answers = keys, answers

    def __len__(self) -> int:
        return len(self._answers)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Returns the capsules of schema and array. A requested schema is not considered, as Arrow allows."""
        return self._keys.booleans(self._answers)


def _ask(f: Asker, keys: _core.Keys) -> tuple[_core.Keys, bytearray]:
    answers = bytearray(len(keys))
    f.ask(keys, answers)
    return keys, answers


# By the kind of a NumPy type: the names of keys_of_buffer.
_FORMS = {"i": "signed", "u": "unsigned", "U": "ucs4", "V": "bytes"}


def numpy_keys(x: Any, np: Any) -> _core.Keys:
    """Returns the keys of a NumPy array, in C order: those that are not masked. Raises TypeError for types without
    keys."""
    kind, width = x.dtype.kind, x.dtype.itemsize
    if kind == "S":
        raise TypeError(
            f"a NumPy array of {x.dtype} has no keys: NumPy drops the zero bytes at the end of its values. "
            f'view("V{width}") has all {width} bytes of each; tolist() is right if no key ends in a zero byte'
        )
    if x.dtype == "datetime64[D]" and not np.isnat(x).any():
        return numpy_keys(x.view(np.int64), np).mark("date")
    objects = kind in "OT" or (kind == "U" and width == 0)
    form = _FORMS.get(kind, "")
    known = 0 <= x.dtype.num < 256  # types of other packages are V as well, and only they know what the bytes mean
    if not objects and (not form or not known or x.dtype.names is not None or width == 0):
        raise TypeError(f"a NumPy array of {x.dtype} has no keys: convert it to integers, text or bytes (V)")
    if isinstance(x, np.ma.MaskedArray):
        x = x.compressed()
    if objects:
        return _core.keys_of_list(x.ravel().tolist())
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    return _core.keys_of_buffer(np.ascontiguousarray(x).reshape(-1).view(np.uint8), form, width)


def _numpy(f: Asker, x: Any, np: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return None
    keys = numpy_keys(x, np)
    answers = np.empty(len(keys), np.bool_)
    f.ask(keys, answers.view(np.uint8))
    if isinstance(x, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(x)
        full = np.zeros(x.shape, np.bool_)
        full[~masked] = answers
        return np.ma.array(full, mask=masked, fill_value=False)[()]
    return answers.reshape(x.shape)[()]  # of no dimensions: a scalar


def pandas_array(x: Any, pd: Any) -> Any:
    """Returns the array of a Series or an Index. Raises TypeError."""
    if isinstance(x, pd.MultiIndex):
        raise TypeError("a MultiIndex has no keys: take a level of it, such as get_level_values(0)")
    return x.array


def _pandas(f: Asker, x: Any, pd: Any) -> Any:
    if isinstance(x, pd.Series):
        return pd.Series(_pandas_values(f, x.array, pd), index=x.index, name=x.name)
    if isinstance(x, pd.Index):
        result = _pandas_values(f, pandas_array(x, pd), pd)
        return result.to_numpy("bool", na_value=False) if hasattr(result, "to_numpy") else result
    return None


def _pandas_values(f: Asker, x: Any, pd: Any) -> Any:
    """Answers an array of pandas. Missing keys are False where missing values are NaN or None, as for isin; they are
    NA for the types that have NA."""
    import numpy as np

    dtype = x.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        known: Any = np.append(np.asarray(_pandas_values(f, dtype.categories.array, pd), np.bool_), False)
        return known[x.codes]  # -1, the code of missing keys, is the last one
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        import pyarrow as pa

        result = _pyarrow(f, x.__arrow_array__(), pa)  # not by C: pyarrow would forget extension types
        if isinstance(dtype, pd.ArrowDtype):
            return pd.arrays.ArrowExtensionArray(result)
        missing = result.is_null().to_numpy()
        return _with_missing(result.fill_null(False).to_numpy(), missing, dtype.na_value is pd.NA, pd)
    missing = np.asarray(x.isna())
    if isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", "") == "O":
        values = np.asarray(x, dtype=object)
        answers: Any = np.zeros(len(values), np.bool_)
        answers[~missing] = _numpy(f, values[~missing], np)
        return _with_missing(answers, missing, getattr(dtype, "na_value", None) is pd.NA, pd)
    if getattr(dtype, "kind", "O") in "iu" and hasattr(dtype, "numpy_dtype"):
        nullable = not isinstance(x, pd.arrays.NumpyExtensionArray)
        values = x.to_numpy(dtype.numpy_dtype, na_value=0) if nullable else x.to_numpy()
        return _with_missing(_numpy(f, values, np), missing, nullable, pd)
    return _numpy(f, x.to_numpy(), np)


def _with_missing(answers: Any, missing: Any, nullable: bool, pd: Any) -> Any:
    if nullable:
        return pd.arrays.BooleanArray(answers.copy(), missing.copy())
    return answers & ~missing


def arrow_keys(x: Any, pa: Any) -> _core.Keys:
    """Returns the keys of an array of pyarrow: days for dates, and for decimals their text, which has all digits."""
    if pa.types.is_date32(x.type):
        return _core.keys_of_arrow(*x.cast(pa.int32()).__arrow_c_array__()).mark("date")
    if pa.types.is_decimal(x.type):
        return _core.keys_of_arrow(*pa.array(_plain(x.to_pylist()), pa.string()).__arrow_c_array__()).mark("decimal")
    return _core.keys_of_arrow(*x.__arrow_c_array__())


def _plain(numbers: list[Any]) -> list[str | None]:
    """Returns decimal numbers as text without an exponent."""
    return [None if n is None else f"{n:f}" for n in numbers]


def _pyarrow(f: Asker, x: Any, pa: Any) -> Any:
    if isinstance(x, pa.Array):
        return pa.array(ArrowAnswers(*_ask(f, arrow_keys(x, pa))))
    if isinstance(x, pa.ChunkedArray):
        return pa.chunked_array([_pyarrow(f, chunk, pa) for chunk in x.chunks], pa.bool_())
    if isinstance(x, pa.Scalar):
        raise TypeError("a pyarrow scalar is no key: take its as_py()")
    return None


def polars_keys(x: Any, pl: Any) -> Iterator[_core.Keys]:
    """Yields the keys of the chunks of a polars Series. Raises TypeError."""
    if x.dtype == pl.Object:  # its Arrow array has the addresses of the objects, and does not say so
        raise TypeError("a polars column of Object has no keys: pass its to_list(), or cast it")
    kind = "plain"
    if x.dtype == pl.Date:
        x, kind = x.cast(pl.Int32), "date"
    elif isinstance(x.dtype, pl.Decimal):
        x, kind = pl.Series(x.name, _plain(x.to_list()), pl.String), "decimal"
    keys = (_core.keys_of_arrow(*c) for c in _core.chunks(x.__arrow_c_stream__()))
    yield from keys if kind == "plain" else (k.mark(kind) for k in keys)


def _polars(f: Asker, x: Any, pl: Any) -> Any:
    if not isinstance(x, pl.Series):
        return None
    parts = [pl.Series(values=ArrowAnswers(*_ask(f, c)), dtype=pl.Boolean) for c in polars_keys(x, pl)]
    return pl.concat(parts, rechunk=False).alias(x.name) if parts else pl.Series(x.name, [], pl.Boolean)


_SPECIAL = {"numpy": _numpy, "pandas": _pandas, "pyarrow": _pyarrow, "polars": _polars}
