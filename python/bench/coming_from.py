"""Asks rbloom and this package for the same 100,000 present and 100,000 absent keys: docs/guides/coming-from.md.

    pip install rbloom
    python coming_from.py

It fails after a false negative, and if an observed rate is significantly above the predicted one. It makes every call
of the table of rbloom in that page. It needs the command of Bloomery, as bl.build does.
"""

from __future__ import annotations

import hashlib
import math
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import rbloom

import bloomery_filters as bl

KEYS = 100_000


def words(kind: str) -> list[str]:
    return [f"{kind}-{i}.example" for i in range(KEYS)]


def sha(key: Any) -> int:
    """Returns the hash of a key for a filter of rbloom that is saved."""
    return int.from_bytes(hashlib.sha256(str(key).encode()).digest()[:16], "big", signed=True)


def compare(name: str, ask: Callable[[list[str]], list[bool]], predicted: float, size: int) -> None:
    """Asks a filter for all keys and prints a line for it."""
    lost, wrong = KEYS - sum(ask(words("present"))), sum(ask(words("absent")))
    observed, rate = wrong / KEYS, f"predicted {predicted:.3%}, observed {wrong / KEYS:.3%}"
    print(f"{name:10} {lost} false negatives, rate: {rate}, {size / KEYS:.2f} bytes per key")
    assert lost == 0, name
    # Six standard deviations, if the prediction is right within 2%.
    assert observed < 1.02 * predicted + 6 * math.sqrt(predicted / KEYS), name


def command(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "bloomery_filters", *map(str, arguments), "-q"], check=True)


def filters(folder: pathlib.Path) -> None:
    present = words("present")

    theirs = rbloom.Bloom(KEYS, 0.01, sha)
    theirs.update(present)
    theirs.save(folder / "theirs")
    again = rbloom.Bloom.load(folder / "theirs", sha)
    probes = round(-math.log2(0.01))
    rate = (1 - math.exp(-probes * KEYS / theirs.size_in_bits)) ** probes
    compare("rbloom", lambda keys: [key in again for key in keys], rate, (folder / "theirs").stat().st_size)

    path = folder / "list.bloom"
    bl.build(path, present, fpr=0.01)
    ours = bl.open(path)
    compare("ribbon", ours.contains, 0.01, path.stat().st_size)
    assert ours.info.keys == KEYS and abs(theirs.approx_items - KEYS) < 0.01 * KEYS
    assert present[0] in ours and present[0] in theirs


def changes(folder: pathlib.Path) -> None:
    """Adds, merges and intersects. Filters of equal spec and capacity can be merged."""
    a, b, c, both = (folder / name for name in ("a.bloom", "b.bloom", "c.bloom", "both.bloom"))
    f = bl.build(a, ["x", "y"], spec="standard", capacity=1000)
    bl.build(b, ["y", "z"], spec="standard", capacity=1000)
    (folder / "more.txt").write_text("w\n")
    command("add", a, folder / "more.txt")
    assert "w" not in f
    f.reload()
    assert "w" in f

    command("merge", "-o", c, a, b)
    command("intersect", "-o", both, a, b)
    one, other = rbloom.Bloom(1000, 0.01), rbloom.Bloom(1000, 0.01)
    one.update(["x", "y"])
    one.add("w")
    other.update(["y", "z"])
    keys = ["w", "x", "y", "z", "v"]
    assert bl.open(c).contains(keys) == [key in (one | other) for key in keys] == [True, True, True, True, False]
    assert bl.open(both).contains(keys) == [key in (one & other) for key in keys] == [False, False, True, False, False]


def traps(folder: pathlib.Path) -> None:
    """Checks what the page says about keys."""
    theirs = rbloom.Bloom(1000, 0.001)
    theirs.update([1, "a"])
    ours = bl.build(folder / "keys.bloom", [1, "a"], fpr=1e-6)
    assert 1.0 in theirs and b"a" in ours
    for key in 1.0, True, ("a", 1):
        try:
            print(key in ours)  # type: ignore[operator]
        except TypeError:
            continue
        raise AssertionError(key)

    theirs = rbloom.Bloom(1000, 0.01)  # its hash is Python's, which differs in each process
    try:
        theirs.save(folder / "no")
    except ValueError:
        return
    raise AssertionError("saved without a hash function")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for step in filters, changes, traps:
            step(pathlib.Path(name))
