"""build: filters from Python, by the command bloomery."""

from __future__ import annotations

import array
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._columns import PIECE, columns
from ._command import run, secret_file
from ._filter import Filter
from ._open import open
from ._source import secret_bytes


def build(
    path: str | os.PathLike[str],
    keys: Any,
    *,
    values: Any = None,
    fpr: float | None = None,
    bits_per_key: float | None = None,
    spec: str | None = None,
    needs: str | Sequence[str] = (),
    capacity: int | None = None,
    value_bits: int | None = None,
    shards: int | str | None = None,
    seed: int | None = None,
    secret: bytes | str | None = None,
    like: str | os.PathLike[str] | None = None,
    options: Sequence[str] = (),
    progress: Callable[[int], object] | None = None,
) -> Filter:
    """Builds a filter of keys, writes it to a file, all or nothing, and opens it.

    keys are a list or any iterable of str, bytes and int, a NumPy array, a column of pyarrow, pandas or polars, or a
    pathlib.Path or a list of them: files with a key per line, or as options such as "--input-format=csv" say. The bytes
    of the filter are those that the command and Go make of the same keys. Missing keys of columns are left out.

    - fpr, bits_per_key: the size; without both, a false-positive rate of 1%
    - spec: a family or a spec, such as "blocked" or "fuse(width=16)"; without it, `ribbon` or what needs asks for
    - needs: what the filter must do: "add", "count", "merge", "remove", ...; see `bloomery build --help`
    - capacity: number of keys to make room for, those that are added later included
    - values: an integer of 0 or more for each key, for get; value_bits: their bits, else those of the largest one
    - shards: writes a sharded set to the folder path: the number of shards, or "auto"
    - seed: of the hash; secret: of a keyed hash, 16 bytes or 32 hexadecimal digits
    - like: a filter file of a similar list, whose size and hash the new one takes
    - options: further flags of `bloomery build`
    - progress: called with the number of keys that the command has taken so far

    If it raises or is interrupted, the command is ended and path is as it was. Raises CommandError with the message of
    the command, CommandNotFoundError without it, and what reading the keys raises. Warnings of the command are warnings
    of Python.
    """
    target = os.path.abspath(path)
    secret_key = secret_bytes(secret)
    arguments = ["build", f"--output={target}"]
    for name, value in {
        "fpr": fpr,
        "bits-per-key": bits_per_key,
        "family": spec,
        "capacity": capacity,
        "shards": shards,
        "seed": seed,
        "like": None if like is None else os.fspath(like),
    }.items():
        if value is not None:
            arguments.append(f"--{name}={value}")
    wanted = [needs] if isinstance(needs, str) else needs
    if wanted:
        arguments.append(f"--needs={','.join(wanted)}")
    arguments += options
    files = _files(keys)
    if files is not None and values is not None:
        raise TypeError("values of files are in the files: give value_bits, and see `bloomery build --help`")
    numbers = None if values is None else _values(values)
    if numbers is not None and value_bits is None:
        value_bits = max(1, max(numbers, default=0).bit_length())
    if value_bits is not None and (spec is None or "value_bits=" not in spec):
        arguments.append(f"--value-bits={value_bits}")
    with secret_file(secret_key) as secret_arguments:
        arguments += secret_arguments
        if files is not None:
            run([*arguments, "--", *files])
        else:
            run([*arguments, "--input-format=hex", "--keep-empty"], _lines(columns(keys), numbers, progress))
    return open(target, secret_key)


def _files(keys: Any) -> list[str] | None:
    """Returns the paths of files, or None if keys are not files."""
    if isinstance(keys, os.PathLike):
        return [os.fspath(keys)]
    if isinstance(keys, list | tuple) and keys and all(isinstance(k, Path) for k in keys):
        return [os.fspath(k) for k in keys]
    return None


def _values(values: Any) -> array.array[int]:
    """Returns values as integers of 64 bits."""
    try:
        if getattr(getattr(values, "dtype", None), "kind", None) in ("m", "M"):
            raise TypeError(f"{values.dtype} is a time")  # tolist makes integers of nanoseconds
        # Of an iterator, since array takes the bytes of bytes as they lie in memory.
        return array.array("Q", iter(values.tolist() if hasattr(values, "tolist") else values))
    except (OverflowError, TypeError) as e:
        raise type(e)(f"values: want integers of 0 to 2**64-1: {e}") from None


def _lines(
    pieces: Iterable[_core.Keys], values: array.array[int] | None, progress: Callable[[int], object] | None
) -> Iterator[bytes]:
    """Yields the lines of all keys, as text that the command reads."""
    done = 0
    for keys in pieces:
        n = len(keys)
        own = None if values is None else values[done : done + n]
        if own is not None and len(own) != n:
            raise ValueError(f"{len(values or ())} values, and more keys")
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            yield keys.hex(start, stop, own)
            if progress is not None:
                progress(done + stop)
        done += n
    if values is not None and len(values) != done:
        raise ValueError(f"{len(values)} values for {done} keys")
