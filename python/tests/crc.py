"""CRC-32C, and files whose checksums are right again after a change."""

from __future__ import annotations

import struct


def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _table()


def crc32c(data: bytes | bytearray) -> int:
    """Returns the CRC-32C of data."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def fix_checksums(data: bytearray) -> None:
    """Computes the checksums of a filter file again: those of all sections that lie in it, then that of the header."""
    if len(data) < 64:
        return
    sections = data[14]
    (spec,) = struct.unpack_from("<I", data, 56)
    for i in range(sections):
        at = 64 + 24 * i
        if at + 24 > len(data):
            return
        offset, length = struct.unpack_from("<QQ", data, at)
        if offset + length <= len(data):
            struct.pack_into("<I", data, at + 16, crc32c(data[offset : offset + length]))
    end = 64 + 24 * sections + spec
    if end <= len(data):
        struct.pack_into("<I", data, 60, crc32c(data[:60] + data[64:end]))
