"""open: files, folders and bytes."""

from __future__ import annotations

import builtins
import copyreg
import os
from typing import Any

from . import _filter, _sharded
from ._source import secret_bytes


def open(source: str | os.PathLike[str] | Any, secret: bytes | str | None = None) -> _filter.Filter:
    """Opens a filter file, an exact set, a sharded set, or the bytes of one of the first two.

    source is a path (str or os.PathLike) of a file, of the folder of a sharded set or of its manifest.json, or the
    bytes of a file (bytes, bytearray, memoryview, mmap). The filter refers to bytes, and copies the other kinds.
    secret is the secret of a keyed hash: 16 bytes, or 32 hexadecimal digits. Filters without one ignore it.

    Returns a Filter, an ExactSet or a ShardedFilter. open checks header, sizes, checksums and content, so that queries
    need no checks. Files of 1 MiB and more are mapped, and stay open until close. A sharded set loads each shard at its
    first query.

    Raises FormatError if the file is damaged or unknown, SecretError if the secret is wrong or missing, OSError if the
    file cannot be read, and MemoryError.
    """
    key = secret_bytes(secret)
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if not isinstance(path, str):
            raise TypeError("a path is a str or an os.PathLike of str; bytes are the content of a file")
        if os.path.basename(path) == "manifest.json":
            return _sharded.open_folder(os.path.dirname(path) or ".", key)
        if os.path.isdir(path):
            return _sharded.open_folder(path, key)
        return _filter.open_path(path, key)
    data = source if type(source) is bytes else builtins.bytes(memoryview(source))
    return _filter.open_bytes(data, key)


def _reduce(f: _filter.Filter) -> tuple[Any, ...]:
    """Pickles the path, or the bytes of a filter that was opened from bytes."""
    source = f._path if f._path is not None else f._data
    if f.info.key_check is not None:  # read after source, which another thread's close may set to None
        raise TypeError("a filter with a secret is not pickled, since the pickle would hold the secret")
    return open, (source,)


# Registered here, not a method: the modules of the classes know nothing of open.
for _kind in (_filter.Filter, _filter.ExactSet, _sharded.ShardedFilter):
    copyreg.pickle(_kind, _reduce)
