"""The filters that array tests ask. Most have a false-positive rate of a third to a half, so that a wrong byte of a key
shows soon."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import CONTAINER, EXACT, SECRET, SETS

import bloomery_filters as bl
from bloomery_filters._columns import columns


def all_filters() -> list[bl.Filter]:
    """Opens them: filters of several hash functions, an exact set, a sharded set."""
    names = ["fuse-width1", "fuse-uint64", "ribbon-w128-wide", "counting-17", "rankindexed-one-cell", "dcso-lengths"]
    return [
        *(bl.open(CONTAINER / "vectors" / f"{name}.bloom", SECRET) for name in names),
        bl.open(CONTAINER / "bitsandblooms-0.bloom"),
        bl.open(EXACT / "half.exact"),
        bl.open(SETS / "blocked"),
    ]


def built(x: Any) -> bytes:
    """Returns what build passes to the command: a line for each key that is not missing."""
    return b"".join(keys.hex(0, len(keys), None) for keys in columns(x))


def check_refused(filters: list[bl.Filter], x: Any, match: str = "has no keys") -> None:
    """Checks that a column is a TypeError in every way in: no filter answers it, alone or in a list, and build does not
    take it."""
    for f in filters:
        with pytest.raises(TypeError, match=match):
            f.contains(x)
        with pytest.raises(TypeError):
            f.contains([x])
        with pytest.raises(TypeError):
            x in f  # noqa: B015
    with pytest.raises(TypeError, match=match):
        built(x)


def held(kind: str) -> list[str]:
    """Returns keys of the sharded set: "text" or "integer"."""
    return [v[kind] for v in json.loads((SETS / "blocked.json").read_text())["keys"] if kind in v]


def strings() -> list[str]:
    """Returns text of many lengths, some of them twice, with characters of one to four bytes."""
    some = ["", "a", "bloomery", "é", "漢字", "🌸", "x" * 12, "x" * 13, "x" * 300, "\x00", "a\x00b", "tab\t\n"]
    some += ["\x7f\x80\u07ff", "\u0800\ud7ff\ue000\uffff", "\U00010000\U0010ffff"]  # ends of UTF-8 lengths
    return some + held("text") + [f"key-{i % 700}" * (1 + i % 3) for i in range(2500)]


def integers() -> list[int]:
    """Returns integers from 0 to 127 and others of 64 bits."""
    return (
        [int(k) % 2**63 for k in held("integer")]
        + list(range(128))
        + [2**k for k in range(7, 63)]
        + [(i * 0x9E3779B97F4A7C15) % 2**63 for i in range(1500)]
    )
