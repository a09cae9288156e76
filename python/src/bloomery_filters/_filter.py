"""Filters and exact sets of one file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self, overload

from . import _core
from ._arrays import ArrowAnswers, answer
from ._errors import FormatError, refused
from ._info import ExactInfo, Info, exact_info, filter_info
from ._source import contents, identity, open_file
from ._types import Answers, ArrowArray, ArrowStream, Key, NullableColumn, NumpyArray, PandasColumn


def load(path: str, secret: bytes | None) -> _core.Opened:
    """Opens a file and checks all of it. Raises OSError, FormatError or SecretError."""
    with open_file(path) as file:
        opened = _core.open(contents(file), secret)
    if isinstance(opened, tuple):
        raise refused(opened, path)
    return opened


class Filter(_core.Handle):
    """An open filter. open returns it.

    It is safe for concurrent use. Every key of the set gets the answer True.
    """

    _path: str | None = None
    _data: bytes | None = None
    _secret: bytes | None = None
    _identity: tuple[int, ...] | None = None

    def __init__(self) -> None:
        # Reentrant, because a signal handler may call reload while reload runs.
        self._reloading = threading.RLock()

    # NumPy comes first: its arrays have __index__, as keys have.
    @overload
    def contains(self, keys: NumpyArray[Answers]) -> Answers: ...
    @overload
    def contains(self, keys: Key) -> bool: ...  # type: ignore[overload-overlap] # str and bytes are iterables, too
    @overload
    def contains(self, keys: PandasColumn[Answers]) -> Answers: ...
    @overload
    def contains(self, keys: NullableColumn[Answers]) -> Answers: ...
    @overload
    def contains(self, keys: ArrowArray) -> ArrowAnswers: ...
    @overload
    def contains(self, keys: ArrowStream) -> ArrowAnswers | list[ArrowAnswers]: ...
    @overload
    def contains(self, keys: Iterable[Key]) -> list[bool]: ...
    def contains(self, keys: Any) -> Any:
        """Returns whether each of the keys may be in the set.

        | keys                          | result                                                        |
        |-------------------------------|---------------------------------------------------------------|
        | one key: str, bytes, int      | bool, as `key in f`                                           |
        | list, tuple, any iterable     | list of bool                                                  |
        | NumPy array                   | NumPy array of bool, of the same shape and with the same mask |
        | pyarrow Array, ChunkedArray   | the same of bool; null where the key is null                  |
        | pandas Series                 | Series of bool with its index and name; see the README on NA  |
        | pandas Index                  | NumPy array of bool                                           |
        | polars Series                 | Series of bool with its name; null where the key is null      |
        | another column with the Arrow | an object with __arrow_c_array__                              |
        | PyCapsule interface           |                                                               |

        Arrays are answered without the GIL, by the file that is open when the call begins. Raises TypeError for types
        that are no keys, such as floats, NumPy's S, Arrow's extension types and polars' Object, and OverflowError for
        integers of more than 64 bits.
        """
        return answer(self, keys)

    def count(self, key: Key) -> int:
        """Returns how often the key was added, or more; 0 if it is absent.

        A counting filter returns at most 15, which also stands for larger counts. Raises TypeError if the filter does
        not count.
        """
        opened = self._get()
        if not opened.info()["counts"]:
            raise TypeError(f"no counts in {self!r}")
        result: int = opened.count(key)
        return result

    def get(self, key: Key) -> int | None:
        """Returns the value of the key, 0 if it was added without one, or None if it is absent.

        At the false-positive rate, an absent key gets an arbitrary value. Raises TypeError if the filter has no values.
        """
        opened = self._get()
        if opened.info()["value_bits"] == 0:
            raise TypeError(f"no values in {self!r}")
        result: int | None = opened.get(key)
        return result

    @property
    def info(self) -> Info:
        """What the file states about the filter."""
        return filter_info(self._get().info())

    @property
    def path(self) -> str | None:
        """The absolute path of the file or folder, or None if it was opened from bytes."""
        return self._path

    def reload(self) -> bool:
        """Opens the file again if it was replaced. Returns whether it was. After an error the old file stays in use.

        Queries that are running keep the old file. Raises ValueError if the filter was opened from bytes, or is closed
        before reload returns.
        """
        with self._reloading:  # one at a time: the file that is loaded last is the newest one
            old = self._get()
            if self._path is None:
                raise ValueError("it was opened from bytes: there is no file")
            now = identity(self._path)
            if now == self._identity:
                return False
            opened = load(self._path, self._secret)
            if ("records" in opened.info()) != isinstance(self, ExactSet):
                raise FormatError("the file has another kind now: open it anew", None, self._path)
            if not self._set(opened, None, old):  # a signal handler has loaded a newer file
                return self.reload()
            self._identity = now
            return True

    def close(self) -> None:
        """Releases the file. Later queries raise ValueError; running queries end as usual."""
        self._set(None)
        self._data = None

    def __len__(self) -> int:
        """The number of keys that the file states; the members of an exact set."""
        return min(self.info.keys, (1 << 63) - 1)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __enter__(self) -> Self:
        self._get()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            info = self.info
        except ValueError:
            return f"<bloomery_filters.{name} closed>"
        where = "" if self._path is None else f" {self._path!r}"
        return f"<bloomery_filters.{name}{where} {info.spec} keys={info.keys} bytes={info.bytes}>"


class ExactSet(Filter):
    """An open exact set. For the keys of its universe, every answer is right."""

    def contains_in(self, partition: Key, key: Key) -> bool:
        """Returns whether the key is in the set, in the partition with this name.

        A set without partitions ignores the name.
        """
        has: bool = self._get().has_in(partition, key)
        return has

    def count(self, key: Key) -> int:
        """Raises TypeError: an exact set does not count."""
        raise TypeError("an exact set has no counts")

    def get(self, key: Key) -> int | None:
        """Raises TypeError: an exact set has no values."""
        raise TypeError("an exact set has no values")

    @property
    def info(self) -> ExactInfo:
        """What the file states about the set."""
        return exact_info(self._get().info())


def make(opened: _core.Opened, path: str | None, data: bytes | None, secret: bytes | None) -> Filter:
    """Returns the Filter or ExactSet of an open file."""
    header = opened.info()
    f = ExactSet() if "records" in header else Filter()
    f._path, f._data, f._secret = path, data, secret
    f._set(opened)
    return f


def open_path(path: str, secret: bytes | None) -> Filter:
    """Opens a filter file or an exact set."""
    path = os.path.abspath(path)
    before = identity(path)
    f = make(load(path, secret), path, None, secret)
    f._identity = before
    return f


def open_bytes(data: bytes, secret: bytes | None) -> Filter:
    """Opens a file in memory."""
    opened = _core.open(data, secret)
    if isinstance(opened, tuple):
        raise refused(opened, None)
    return make(opened, None, data, secret)
