"""What files state about their filters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# The families, by their numbers in files.
FAMILIES = {
    1: "standard",
    2: "blocked",
    3: "fuse",
    4: "partitioned",
    5: "blockpartitioned",
    6: "twochoice",
    7: "rankindexed",
    8: "counting",
    10: "ribbon",
    20: "guava",
    21: "bitsandblooms",
    22: "redisbloom",
    23: "spark",
    24: "dcso",
}

# The hash functions of keys, by their numbers in files.
HASHES = {
    1: "xxh3-128",
    2: "siphash-128",
    3: "xxh64",
    4: "murmur3-x64-128",
    5: "murmur3-x64-128-twice",
    6: "murmur64a-twice",
    7: "murmur3-x86-32-twice",
    8: "uint64",
    9: "fnv1-64",
}


# The types of keys, by their numbers in files.
KEY_TYPES = (
    "bytes",
    "text",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "date",
    "decimal32",
    "decimal64",
    "decimal",
    "fixed",
)


def form_text(trimmed: int, lowered: int, kind: int, scale: int, width: int) -> str:
    """Returns the text of a form of keys."""
    words = ["trim"] * bool(trimmed) + ["lower"] * bool(lowered)
    if kind or not words:
        words.append(KEY_TYPES[kind])
    words += [f"scale={scale}"] * bool(scale) + [f"width={width}"] * bool(width)
    return ",".join(words)


def form_of(text: str) -> tuple[int, int, int, int, int] | None:
    """Returns what form_text makes the text of, or None."""
    match = re.fullmatch(r"(trim)?,?(lower)?,?([a-z]+[0-9]*)?(?:,scale=([0-9]+))?(?:,width=([0-9]+))?", text)
    if not match or (match[3] or "bytes") not in KEY_TYPES:
        return None
    kind, scale, width = KEY_TYPES.index(match[3] or "bytes"), int(match[4] or 0), int(match[5] or 0)
    form = (int(bool(match[1])), int(bool(match[2])), kind, scale, width)
    known = max(scale, width) < 256 and (not scale or 7 <= kind <= 9) and (kind >= 9 if width else kind != 10)
    return form if known and form_text(*form) == text else None


@dataclass(frozen=True, kw_only=True)
class Info:
    """What a filter file states about the filter."""

    family: str
    """The family, such as "ribbon"; "exact" for an exact set."""
    spec: str
    """The family with its parameters, such as "blocked(blocks=20,k=7,layout=line)"."""
    keys: int
    """The number of keys, as the writer of the file counted them; the members of an exact set."""
    bytes: int
    """The length of the file, or of all files of a sharded set."""
    hash: str
    """The name of the hash function, such as "xxh3-128"."""
    seed: int
    """The seed of xxh3-128; 0 for other hash functions."""
    key_check: int | None
    """A number that recognizes the secret of a keyed hash and does not reveal it; None without a secret."""
    fpr_planned: float | None = None
    """The false-positive rate that was planned for the filter, if it was stored."""
    value_bits: int = 0
    """Bits per value; 0 if the filter has no values, and get raises TypeError."""
    counts: bool = False
    """Whether the filter counts keys. If not, count raises TypeError."""
    trimmed: bool = False
    """Whether the file is a trimmed filter, which takes more memory than its file."""
    allowed: int = 0
    """The number of keys for which the filter was made exact: none of them is a false positive."""
    exceptions: int = 0
    """How many of the allowed keys the filter alone would report as present."""
    key_form: str = "bytes"
    """How keys became bytes, such as "trim,lower" or "int32"."""

    @property
    def bits_per_key(self) -> float:
        """Bits of the file per key; inf without keys."""
        return 8 * self.bytes / self.keys if self.keys > 0 else float("inf")


@dataclass(frozen=True, kw_only=True)
class ShardedInfo(Info):
    """What the manifest of a sharded set states."""

    fpr_prior: float
    """The predicted false-positive rate: the mean of the shards."""
    fpr_posterior: float
    """The false-positive rate computed from the set bits: the mean of the shards."""
    shards: int
    """The number of shards."""
    loaded: int
    """The number of loaded shards."""


@dataclass(frozen=True, kw_only=True)
class ExactInfo(Info):
    """What the file of an exact set states."""

    universe: int
    """The number of keys for which every answer is right."""
    partitions: int
    """The number of partitions; 0 if the set is not partitioned."""
    updates: int
    """The number of updates in the file, 0 to 255."""


def filter_info(header: Mapping[str, Any]) -> Info:
    """Returns the Info of a header of _core."""
    fields = dict(header)
    fields["family"] = FAMILIES[header["family"]]
    fields["hash"] = HASHES[header["hash"]]
    fields["key_check"] = header["key_check"] or None
    fields["fpr_planned"] = header["fpr_planned"] or None
    fields["key_form"] = form_text(*header["key_form"])
    return Info(**fields)


def exact_info(header: Mapping[str, Any]) -> ExactInfo:
    """Returns the Info of the header of an exact set."""
    return ExactInfo(
        family="exact",
        spec="exact",
        keys=header["members"],
        bytes=header["bytes"],
        hash=HASHES[header["hash"]],
        seed=header["seed"],
        key_check=header["key_check"] or None,
        universe=header["universe"],
        partitions=header["partitions"],
        updates=header["records"] - 1,
    )
