"""What a type checker says about calls: check.sh runs mypy and pyright on this file, no test runs it.

Lines with an ignore are errors on purpose: a checker that finds none there reports the ignore.
"""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from pathlib import Path
from typing import assert_type

import bloomery_filters as bl


def keys(f: bl.Filter, text: str, maybe: str | None) -> None:
    assert_type(f.contains(text), bool)
    assert_type(f.contains(b"ads"), bool)
    assert_type(f.contains(bytearray(b"ads")), bool)
    assert_type(f.contains(memoryview(b"ads")), bool)
    assert_type(f.contains(5), bool)
    f.contains(1.5)  # type: ignore
    f.contains(None)  # type: ignore
    f.contains(maybe)  # type: ignore
    f.contains(Path("ads"))  # type: ignore

    assert_type(text in f, bool)
    assert_type(f.count(text), int)
    assert_type(f.get(5), int | None)
    assert 1.5 in f  # type: ignore
    f.count(1.5)  # type: ignore
    f.get(maybe)  # type: ignore


def lists(f: bl.Filter, texts: list[str], floats: list[float]) -> None:
    assert_type(f.contains(texts), list[bool])
    assert_type(f.contains(["ads", b"ads", 5]), list[bool])
    assert_type(f.contains(range(5)), list[bool])
    assert_type(f.contains(text.lower() for text in texts), list[bool])
    f.contains(floats)  # type: ignore
    f.contains(["ads", None])  # type: ignore


def kinds(s: bl.ShardedFilter, e: bl.ExactSet) -> None:
    assert_type(s.contains("ads"), bool)
    assert_type(e.contains(["ads"]), list[bool])
    assert_type(e.contains_in("issuer", b"serial"), bool)
    s.get(1.5)  # type: ignore
    e.contains_in("issuer", 1.5)  # type: ignore
