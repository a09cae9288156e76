"""Answers queries for the differential trial of the readers. eval/readers/reader.go has the protocol.

Standard input has lines FILE, SECRET, KEYS and OUT, separated by tabs: SECRET is hexadecimal or "-". The program opens
FILE, answers the keys of the file KEYS, or none if that is "-", writes OUT and prints "ok" or "refused" and why.

KEYS: for each key its kind (1 byte: 0 bytes, 1 text, 2 integer, 3 a partition's name and a key), its length (4 bytes),
and its bytes. OUT: for each key 18 bytes: has, the count (8 bytes), 1 if there is a value, the value (8 bytes).
"""

from __future__ import annotations

import struct
import sys
from typing import Any

import bloomery_filters as bl


def read_keys(path: str) -> list[Any]:
    """Returns the keys of a file. A key of a partition is a pair of bytes."""
    with open(path, "rb") as file:
        data = file.read()
    keys: list[Any] = []
    at = 0
    while at < len(data):
        kind, n = data[at], struct.unpack_from("<I", data, at + 1)[0]
        own = data[at + 5 : at + 5 + n]
        if len(own) != n:
            raise EOFError(f"{path} ends in a key")
        at += 5 + n
        if kind == 2:  # in turn: unsigned and signed
            keys.append(int.from_bytes(own, "little", signed=len(keys) % 2 == 0))
        elif kind == 3:
            keys.append((own[1 : 1 + own[0]], own[1 + own[0] :]))
        else:
            keys.append(own.decode() if kind == 1 else own)
    return keys


def answer(path: str, secret: str, keys_path: str, out: str) -> None:
    """Opens a file, answers keys and writes the answers."""
    with bl.open(path, None if secret == "-" else secret) as f, open(out, "wb") as file:
        if isinstance(f, bl.ShardedFilter) and keys_path == "-":
            f.check()
        keys = [] if keys_path == "-" else read_keys(keys_path)
        info = f.info
        if isinstance(f, bl.ExactSet):
            pairs = [key if isinstance(key, tuple) else (b"", key) for key in keys]
            many = [f.contains_in(*pair) for pair in pairs]
        else:
            many = f.contains(keys)
        for key, has in zip(keys, many, strict=True):
            if not isinstance(f, bl.ExactSet) and (key in f) is not has:
                raise AssertionError(f"key {key!r}: a batch has another answer")
            count = f.count(key) if info.counts else 0
            value = f.get(key) if info.value_bits else None
            file.write(struct.pack("<BQBQ", has, count, value is not None, value or 0))


def main() -> None:
    """Runs the program."""
    for line in sys.stdin:
        path, secret, keys, out = line.rstrip("\n").split("\t")
        try:
            answer(path, secret, keys, out)
            print("ok", flush=True)
        except bl.Error as e:
            print(f"refused {type(e).__name__}: {e}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
