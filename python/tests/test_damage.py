"""Damaged and hostile files: an exception of this package, or the same answers. Never a crash, never a false no."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from conftest import CONTAINER, EXACT, SECRET
from crc import fix_checksums

import bloomery_filters as bl

FILES = sorted(CONTAINER.glob("*.bloom")) + sorted(EXACT.glob("*.exact"))
PER_FILE = 60
KEYS = [str(i) for i in range(60)] + [f"key-{i}" for i in range(60)]
REFUSED = (bl.FormatError, bl.SecretError)

# Fields of 8 bytes in the header of a filter, and the first entry of its section table.
NUMBERS = [16, 24, 32, 40, 48, 56, 64, 72]
LARGE = [0, 1, 63, 2**31, 2**32 - 1, 2**53, 2**59, 2**62, 2**63, 2**64 - 1]


def opens(data: bytes) -> bl.Filter | None:
    """Opens a file in memory. None: it is refused."""
    try:
        return bl.open(data, SECRET)
    except REFUSED:
        return None


def cut(data: bytearray, r: random.Random) -> None:
    del data[r.randrange(len(data)) :]


def flip(data: bytearray, r: random.Random) -> None:
    for _ in range(r.choice([1, 1, 2, 8])):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)


def overwrite(data: bytearray, r: random.Random) -> None:
    at = r.randrange(len(data))
    n = min(r.choice([1, 4, 8, 64]), len(data) - at)
    data[at : at + n] = r.choice([bytes(n), b"\xff" * n, r.randbytes(n)])


def grow(data: bytearray, r: random.Random) -> None:
    data += r.choice([b"\0", bytes(64), r.randbytes(100)])


def forge(data: bytearray, r: random.Random) -> None:
    """A number of the header that lies, with right checksums."""
    struct.pack_into("<Q", data, r.choice(NUMBERS), r.choice(LARGE))
    fix_checksums(data)


def forge_sections(data: bytearray, r: random.Random) -> None:
    """Damage anywhere, with right checksums."""
    for _ in range(r.choice([1, 2, 5])):
        overwrite(data, r)
    fix_checksums(data)


def test_damaged_files() -> None:
    tried = refused = 0
    for path in FILES:
        good = path.read_bytes()
        r = random.Random(path.name)
        ways = [cut, flip, overwrite, grow]
        if good[3:4] != b"X" and len(good) > 100:
            ways += [forge, forge_sections]
        for _ in range(PER_FILE):
            data = bytearray(good)
            way = r.choice(ways)
            way(data, r)
            f = opens(bytes(data))
            tried += 1
            refused += f is None
            if f is None:
                continue
            if way in (forge, forge_sections):
                f.contains(KEYS)  # another valid filter, or one that is empty: any answer, but no crash
                f.contains(range(1000))
                if f.info.counts:
                    f.count("x")
                if f.info.value_bits:
                    f.get("x")
                f.close()
                continue
            want = opens(good)
            assert want is not None, f"{path.name} opens only when it is damaged"
            assert f.contains(KEYS) == want.contains(KEYS), f"{path.name}, {way.__name__}"
    print(f"{tried} damaged files, {refused} refused")
    assert tried >= 3000
    assert refused > tried / 2


def test_every_truncation_and_every_flipped_bit() -> None:
    for path in [CONTAINER / "standard-0.bloom", CONTAINER / "fuse-0-exceptions.bloom"]:
        good = path.read_bytes()
        for n in range(len(good)):
            assert opens(good[:n]) is None
        want = bl.open(good)
        for bit in range(8 * len(good)):
            data = bytearray(good)
            data[bit // 8] ^= 1 << bit % 8
            f = opens(bytes(data))
            assert f is None or f.contains(KEYS) == want.contains(KEYS)


def test_announces_more_than_it_has(tmp_path: Path) -> None:
    """A header that announces 2**62 bytes is refused before anything is allocated."""
    data = bytearray((CONTAINER / "standard-0.bloom").read_bytes())
    for length in LARGE:
        struct.pack_into("<Q", data, 40, length)
        fix_checksums(data)
        with pytest.raises(bl.FormatError):
            bl.open(bytes(data))
        path = tmp_path / "f.bloom"
        path.write_bytes(data)
        with pytest.raises(bl.FormatError):
            bl.open(path)
