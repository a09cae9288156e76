"""The filters that array tests ask: of one file with and without AVX2 queries, an exact set, a sharded set."""

from __future__ import annotations

from conftest import CONTAINER, EXACT, SECRET, SETS

import bloomery as bl


def all_filters() -> list[bl.Filter]:
    """Opens them. Together they hold some of the keys of strings() and integers()."""
    return [
        bl.open(CONTAINER / "v1-standard-0.bloom"),
        bl.open(CONTAINER / "v1-ribbon-0.bloom"),
        bl.open(CONTAINER / "v1-rankindexed-1.bloom", SECRET),
        bl.open(CONTAINER / "v1-bitsandblooms-0.bloom"),
        bl.open(EXACT / "half.exact"),
        bl.open(SETS / "blocked"),
    ]


def strings() -> list[str]:
    """Returns text of many lengths, some of them twice, with characters of one to four bytes."""
    some = ["", "a", "bloomery", "é", "漢字", "🌸", "x" * 12, "x" * 13, "x" * 300, "\x00", "a\x00b", "tab\t\n"]
    some += ["\x7f\x80\u07ff", "\u0800\ud7ff\ue000\uffff", "\U00010000\U0010ffff"]  # ends of UTF-8 lengths
    return some + [f"key-{i % 700}" * (1 + i % 3) for i in range(2500)]


def integers() -> list[int]:
    """Returns integers from 0 to 127 and others of 64 bits."""
    return list(range(128)) + [2**k for k in range(7, 63)] + [(i * 0x9E3779B97F4A7C15) % 2**63 for i in range(1500)]
