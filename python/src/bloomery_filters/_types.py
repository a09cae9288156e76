"""Types of keys and columns, for type checkers.

Columns are described by members that only they have, and their answers by what such a member returns: the name of a
class whose package or stubs are not installed would mean any type, and checkers would accept every argument.
"""

from __future__ import annotations

from typing import Any, Protocol, SupportsIndex, TypeVar

Key = str | bytes | bytearray | memoryview | SupportsIndex
"""A key. SupportsIndex stands for int and the integers of NumPy."""

Answers = TypeVar("Answers", covariant=True)


class NumpyArray(Protocol[Answers]):
    @property
    def ctypes(self) -> Any: ...
    def astype(self, dtype: type[bool], /) -> Answers: ...


class PandasColumn(Protocol[Answers]):
    """A Series or an Index. A DataFrame has no is_unique."""

    @property
    def is_unique(self) -> Any: ...
    def duplicated(self) -> Answers: ...


class NullableColumn(Protocol[Answers]):
    """A Series of polars, or an Array or a ChunkedArray of pyarrow. Expressions have no length."""

    def __len__(self) -> int: ...
    def is_null(self) -> Answers: ...


class ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = ..., /) -> Any: ...


class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = ..., /) -> Any: ...
