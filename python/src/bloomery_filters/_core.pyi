"""The compiled part of the package. Its functions are private: use bloomery_filters.open."""

from collections.abc import Callable, Iterable
from typing import Any

from typing_extensions import Buffer, CapsuleType

from ._types import Key

class Keys:
    """Many keys: a list, a buffer or an Arrow array, without copies of the last two."""

    def __len__(self) -> int: ...
    def booleans(self, answers: Buffer, /) -> tuple[CapsuleType, CapsuleType]:
        """Returns schema and array of an Arrow array of bool, with the nulls of the keys."""
    def mark(self, kind: str, /) -> Keys:
        """Returns itself. kind is "date" for integers that are days, or "decimal" for numbers in text form."""
    def hex(self, start: int, stop: int, values: Buffer | None, /) -> bytes:
        """Returns the keys from start to stop as lines that the command reads, with their values."""

class Opened:
    """A filter or an exact set in memory. All of its bytes were checked."""

    def has(self, key: object, /) -> bool: ...
    def has_in(self, partition: object, key: object, /) -> bool:
        """Returns whether a partition of an exact set has the key."""
    def count(self, key: object, /) -> int:
        """Returns the count of the key, or 0 if the filter does not count."""
    def get(self, key: object, /) -> int | None:
        """Returns the value of the key, or None if the key is absent or the filter has no values."""
    def ask(self, keys: Keys, answers: Buffer, /) -> None:
        """Writes a byte, 0 or 1, for each key."""
    def info(self) -> dict[str, Any]:
        """Returns the fields of the header. Only exact sets have the field "records"."""

class Router:
    """A sharded set: finds the shard of each key, and keeps the shards that were put into it."""

    def shard(self, key: object, /) -> int: ...
    def put(self, shard: int, opened: Opened, /) -> None: ...
    def ask(self, keys: Keys, load: Callable[[int], Opened], answers: Buffer, /) -> None:
        """Writes a byte, 0 or 1, for each key. Calls load for each shard that is missing and has one of the keys."""

class Handle:
    """The base class of Filter: keeps the object that answers `key in f`."""

    @property
    def closed(self) -> bool:
        """Whether close was called."""
    def __contains__(self, key: Key, /) -> bool: ...
    def _get(self) -> Any:
        """Returns the object. Raises ValueError if closed."""
    def _set(self, opened: object, router: Router | None = ..., expected: object = ..., /) -> bool:
        """Replaces the object, or closes with None. Returns True.

        With expected, it replaces only this object: it returns False if another object is in its place, and raises
        ValueError after close.
        """

def open(data: Buffer, secret: bytes | None, /) -> Opened | tuple[int, str, int]:
    """Opens a file in memory, or returns the result of bloomery.h, its message and the offset of the fault or -1."""

def router(
    hash: int,
    seed: int,
    key_check: int,
    secret: bytes | None,
    count: int,
    kind: int = 0,
    scale: int = 0,
    width: int = 0,
    /,
) -> Router | tuple[int, str, int]:
    """Returns the Router of count shards whose keys have a type, scale and width, or a tuple as open does."""

def keys_of_list(keys: Iterable[object], before: int = 0, /) -> Keys:
    """Returns keys. before is the number of keys of the whole before these, for errors."""

def keys_of_buffer(data: Buffer, kind: str, width: int, /) -> Keys:
    """Returns keys of width bytes each. kind is "signed", "unsigned", "ucs4" or "bytes"."""

def keys_of_arrow(schema: CapsuleType, array: CapsuleType, /) -> Keys: ...
def chunks(stream: CapsuleType, /) -> list[tuple[CapsuleType, CapsuleType]]:
    """Returns schema and array of each chunk of an Arrow stream."""

def bools(answers: Buffer, /) -> list[bool]:
    """Returns one bool per byte."""
