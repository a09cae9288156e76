"""Bloomery: compact filter files that answer "is this key in the set?" for keys, lists, arrays and columns.

    import bloomery_filters as bl

    f = bl.open("blocklist.bloom")
    "example.com" in f           # False: it is not in the set. True: it is, or, rarely, it is a false positive
    f.contains(frame["domain"])  # a column of bool, of the same kind as the column of keys

A key is a str (its UTF-8), bytes, or an int from -2**63 to 2**64-1 (its eight bytes, little endian; a negative one in
two's complement). These are the keys of Bloomery in Go, C and JavaScript, so that all of them share files.
"""

from ._build import build
from ._errors import (
    ChecksumError,
    CommandError,
    CommandNotFoundError,
    CorruptError,
    Error,
    FamilyError,
    FormatError,
    HashError,
    MagicError,
    ManifestError,
    NoSecretError,
    SecretError,
    ShardError,
    TooLargeError,
    TruncatedError,
    VersionError,
)
from ._filter import ExactSet, Filter
from ._follow import Follower, follow
from ._info import ExactInfo, Info, ShardedInfo
from ._open import open
from ._sharded import ShardedFilter

__version__ = "0.1.0"

__all__ = [
    "ChecksumError",
    "CommandError",
    "CommandNotFoundError",
    "CorruptError",
    "Error",
    "ExactInfo",
    "ExactSet",
    "FamilyError",
    "Filter",
    "Follower",
    "FormatError",
    "HashError",
    "Info",
    "MagicError",
    "ManifestError",
    "NoSecretError",
    "SecretError",
    "ShardError",
    "ShardedFilter",
    "ShardedInfo",
    "TooLargeError",
    "TruncatedError",
    "VersionError",
    "build",
    "follow",
    "open",
]
