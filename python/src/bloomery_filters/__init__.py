"""Bloomery: compact filter files that answer "is this key in the set?" for keys, lists, arrays and columns.

    import bloomery_filters as bl

    f = bl.build("blocklist.bloom", ["ads.example", "spy.example"], fpr=0.001)
    f = bl.open("blocklist.bloom")
    "ads.example" in f           # False: the key is not in the set. True: it is, or it is a false positive
    f.contains(frame["domain"])  # a column of bool, of the same kind as the column of keys

A key is a str (its UTF-8), bytes, or an int from -2**63 to 2**64-1 (its eight bytes, little endian, in two's
complement). Go, C and JavaScript have the same keys and read the same files.
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

__version__ = "1.0.0.dev0"

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
