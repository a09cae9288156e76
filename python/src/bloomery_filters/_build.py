"""build: makes filters with the command of Bloomery."""

from __future__ import annotations

import array
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._columns import PIECE, columns
from ._command import run, secret_file
from ._filter import Filter
from ._open import open
from ._source import secret_bytes


def _rate(text: str) -> float:
    """Returns the rate of a text such as "0.001" or "0.1%"."""
    number = text.removesuffix("%")
    try:
        rate = float(number)
        return rate if number == text else float(f"{rate / 100:.15g}")  # 0.7 / 100 is 0.006999999999999999
    except ValueError:
        raise ValueError(f'fpr={text!r}: want a rate above 0 and below 1, such as 0.01 or "1%"') from None


def build(
    path: str | os.PathLike[str],
    keys: Any,
    *,
    spec: str | None = None,
    family: str | None = None,
    fpr: float | str | None = None,
    bits_per_key: float | None = None,
    capacity: int | None = None,
    needs: str | Sequence[str] = (),
    values: Any = None,
    value_bits: int | None = None,
    shards: int | str | None = None,
    seed: int | None = None,
    secret: bytes | str | None = None,
    like: str | os.PathLike[str] | None = None,
    options: str | Sequence[str] = (),
    progress: Callable[[int], object] | None = None,
) -> Filter:
    """Builds a filter of keys, writes it to the file path as a whole, and opens it.

    keys are an iterable of str, bytes and int, a NumPy array, or a column of pyarrow, pandas or polars. A pathlib.Path,
    or a list of them, names files with one key per line, or in the format that options state, such as
    "--input-format=csv". Missing keys of columns are left out. Go and the command make the same bytes from the same
    keys.

    - spec: a family such as "blocked", or a family with parameters such as "fuse(width=16)"; default: "ribbon", or the
      family that needs asks for. family is another name of this parameter
    - fpr: the false-positive rate, a number between 0 and 1 or a text such as "0.1%"; default: 0.01
    - bits_per_key: the size, instead of fpr
    - capacity: the number of keys to make room for, later keys included
    - needs: what the filter must do, such as "add", "count", "merge" or "remove"
    - values: one integer from 0 to 2**32-1 per key, which get returns
    - value_bits: bits per value, 1 to 32; default: the bits of the largest value
    - shards: the number of shards of a sharded set in the folder path, or "auto"
    - seed: the seed of the hash
    - secret: the secret of a keyed hash, 16 bytes or 32 hexadecimal digits
    - like: a filter file of a similar list; the new filter has its size and hash
    - options: further flags of the command; `python -m bloomery_filters build --help` lists them
    - progress: called with the number of keys that were passed to the command so far

    If build raises or is interrupted, the command is ended and path is unchanged. Raises CommandNotFoundError without
    the command, CommandError with the command's message, and what reading the keys raises. Warnings of the command are
    warnings of Python.
    """
    if family is not None:
        if spec is not None:
            raise TypeError("build takes spec or family, not both")
        spec = family

    if isinstance(fpr, str):
        fpr = _rate(fpr)
    if fpr is not None and not 0 < fpr < 1:
        meant = f"; did you mean {fpr / 100:g}, which is {fpr:g}%?" if 1 <= fpr < 100 else ""
        raise ValueError(f"fpr={fpr}: want a rate above 0 and below 1, such as 0.01{meant}")

    target = os.path.abspath(path)
    secret_key = secret_bytes(secret)
    arguments = ["build", f"--output={target}"]
    for name, value in {
        "fpr": fpr,
        "bits-per-key": bits_per_key,
        "spec": spec,
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
    arguments += [options] if isinstance(options, str) else options

    files = _files(keys)
    if files is not None and values is not None:
        raise TypeError(
            "files have the values beside their keys: pass value_bits, "
            "and see `python -m bloomery_filters build --help`"
        )
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
            # Hexadecimal digits, because a key may contain any byte, line ends included.
            run([*arguments, "--input-format=hex", "--keep-empty"], _lines(columns(keys), numbers, progress))
    return open(target, secret_key)


def _files(keys: Any) -> list[str] | None:
    """Returns the paths of files, or None if keys are not files. Raises TypeError for a mapping."""
    if isinstance(keys, Mapping):
        raise TypeError(
            "keys: want an iterable, not a mapping d; pass build(path, d.keys()), with values=d.values() for its values"
        )
    if isinstance(keys, os.PathLike):
        return [os.fspath(keys)]
    if isinstance(keys, list | tuple) and keys and all(isinstance(k, Path) for k in keys):
        return [os.fspath(k) for k in keys]
    return None


def _values(values: Any) -> array.array[int]:
    """Returns values as integers of 64 bits. Raises TypeError or OverflowError."""
    try:
        if getattr(getattr(values, "dtype", None), "kind", None) in ("m", "M"):
            raise TypeError(f"{values.dtype} is a time")  # tolist would return integers of nanoseconds
        # An iterator, because array would read bytes as the memory of its elements.
        return array.array("Q", iter(values.tolist() if hasattr(values, "tolist") else values))
    except (OverflowError, TypeError) as e:
        raise type(e)(f"values: want integers from 0 to 2**32-1: {e}") from None


def _lines(
    pieces: Iterable[_core.Keys], values: array.array[int] | None, progress: Callable[[int], object] | None
) -> Iterator[bytes]:
    """Yields the input of the command: one line per key, with its value if there are values."""
    done = 0
    for keys in pieces:
        n = len(keys)
        piece = None if values is None else values[done : done + n]
        if piece is not None and len(piece) != n:
            raise ValueError(f"{len(values or ())} values, and more keys")
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            yield keys.hex(start, stop, piece)
            if progress is not None:
                progress(done + stop)
        done += n

    if values is not None and len(values) != done:
        raise ValueError(f"{len(values)} values for {done} keys")
