"""Bytes of files: small ones are read, large ones mapped."""

from __future__ import annotations

import mmap
import os
import stat
from typing import IO

from ._errors import FormatError

SMALL = 1 << 20
"""Files below this length, in bytes, are read into memory, so that a change of the file cannot harm them. Larger ones
are mapped. If somebody truncates a mapped file in place, the system ends the process (SIGBUS) when a query reads a page
that is gone: replace files by rename, as all commands do."""


def _opener(path: str, flags: int) -> int:
    # A pipe would block until somebody writes to it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def open_file(path: str) -> IO[bytes]:
    """Opens a regular file. Raises OSError, or FormatError if it is something else."""
    file = open(path, "rb", buffering=0, opener=_opener)  # noqa: SIM115 (the caller closes it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FormatError("not a regular file", None, path)
    return file


def contents(file: IO[bytes]) -> bytes | mmap.mmap:
    """Returns the bytes of an open file, which may be closed afterwards."""
    size = os.fstat(file.fileno()).st_size
    if size >= SMALL:
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    file.seek(0)
    data = bytearray()
    while len(data) <= SMALL and (part := file.read(SMALL)):
        data += part
    return bytes(data)


def identity(path: str) -> tuple[int, ...]:
    """Returns what tells a file from the one that replaces it."""
    s = os.stat(path)
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns


def secret_bytes(secret: bytes | str | None) -> bytes | None:
    """Returns the 16 bytes of a secret, given as such or as 32 hexadecimal digits. Raises ValueError."""
    if isinstance(secret, str):
        try:
            secret = bytes.fromhex(secret.strip())
        except ValueError:
            raise ValueError("a secret has 16 bytes, or 32 hexadecimal digits") from None
    if secret is not None and len(secret) != 16:
        raise ValueError("a secret has 16 bytes, or 32 hexadecimal digits")
    return None if secret is None else bytes(secret)
