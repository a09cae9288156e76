"""Measures queries of a blocklist: this package beside a set, joins, rbloom and fastbloom-rs, on the same keys.

    pip install pandas polars pyarrow duckdb rbloom fastbloom-rs
    python bench.py --keys 1000000 --rows 10000000

Keys are host names, or integers of 63 bits with --integers (fastbloom-rs has no larger ones). A tenth of the rows is in
the list. How the rows are held differs, since each peer takes another form: a Python list for set, rbloom and
fastbloom-rs, columns for the others.
All peers answer all rows once in a round; the order turns from round to round. Times are processor time of all threads,
in ns a row, medians with the fastest and the slowest round. Memory is the growth of a new process in which the peer is
made from the list of keys, without the list; that of a filter is its file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SEED = 7


def host(i: int) -> str:
    """Returns a host name of 12 to 31 characters."""
    words = "mail", "news", "shop", "cdn", "static-files", "api"
    return f"{words[i % 6]}.{i * 0x9E3779B97F4A7C15 % 2**40:x}.{('com', 'org', 'example')[i % 3]}"


def keys_and_rows(n: int, rows: int, integers: bool) -> tuple[list[Any], list[Any]]:
    """Returns the list, and rows of which a tenth is in it, in random order."""
    make: Callable[[int], Any] = (lambda i: i * 0x9E3779B97F4A7C15 % 2**63) if integers else host
    r = random.Random(SEED)
    keys = [make(i) for i in range(n)]
    absent = iter(range(n, n + rows))
    return keys, [keys[r.randrange(n)] if r.random() < 0.1 else make(next(absent)) for _ in range(rows)]


def member(kind: str, keys: list[Any], fpr: float) -> Any:
    """Returns the peer that holds the keys."""
    if kind == "set":
        return set(keys)
    if kind == "rbloom":
        import rbloom

        bloom = rbloom.Bloom(len(keys), fpr)
        bloom.update(keys)
        return bloom
    if kind == "fastbloom-rs":
        import fastbloom_rs

        fast = fastbloom_rs.FilterBuilder(len(keys), fpr).build_bloom_filter()
        add = fast.add_str_batch if isinstance(keys[0], str) else fast.add_int_batch
        add(keys)
        return fast
    import bloomery_filters as bl

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "list.bloom")
        bl.build(path, np.array(keys, np.uint64) if isinstance(keys[0], int) else keys, fpr=fpr, spec=kind).close()
        with open(path, "rb") as file:
            return bl.open(file.read())


def contenders(keys: list[Any], rows: list[Any], fpr: float) -> dict[str, Callable[[], Any]]:
    """Returns what answers all rows, by the name of the peer."""
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    integers = isinstance(keys[0], int)
    arrow = pa.array(rows, pa.uint64() if integers else pa.string())
    frame, listed = (
        pl.Series("key", rows, pl.UInt64 if integers else None),
        pl.Series("key", keys, frame_type(integers)),
    )
    series, blocked, ribbon = pd.Series(arrow.to_pandas()), member("blocked", keys, fpr), member("ribbon", keys, fpr)
    split = member("blocked(layout=split)", keys, fpr)
    python_set, bloom = member("set", keys, fpr), member("rbloom", keys, fpr)
    database = duckdb.connect()
    database.register("rows", pa.table({"key": arrow}))
    database.register("list", pa.table({"key": pa.array(keys, arrow.type)}))
    semi = "SELECT count(*) FROM rows WHERE key IN (SELECT key FROM list)"
    all_contenders = {
        "bloomery blocked, Arrow": lambda: blocked.contains(arrow).true_count,
        "bloomery split, Arrow": lambda: split.contains(arrow).true_count,
        "bloomery ribbon, Arrow": lambda: ribbon.contains(arrow).true_count,
        "bloomery blocked, pandas": lambda: blocked.contains(series).sum(),
        "bloomery blocked, polars": lambda: blocked.contains(frame).sum(),
        "bloomery blocked, list": lambda: sum(blocked.contains(rows)),
        "bloomery blocked, one by one": lambda: sum([row in blocked for row in rows]),
        "set, one by one": lambda: sum([row in python_set for row in rows]),
        "rbloom, one by one": lambda: sum([row in bloom for row in rows]),
        "pandas isin": lambda: series.isin(python_set).sum(),
        "polars is_in": lambda: frame.is_in(listed.implode()).sum(),
        "DuckDB semi join": lambda: database.execute(semi).fetchone()[0],
    }
    fast = member("fastbloom-rs", keys, fpr)
    ask = fast.contains_int_batch if integers else fast.contains_str_batch
    all_contenders["fastbloom-rs, batch"] = lambda: sum(ask(rows))
    if integers:
        array = np.array(rows, np.uint64)
        all_contenders["bloomery blocked, NumPy"] = lambda: blocked.contains(array).sum()
    return all_contenders


def frame_type(integers: bool) -> Any:
    """Returns the polars type of the keys."""
    import polars as pl

    return pl.UInt64 if integers else pl.String


def memory(kind: str, keys: list[Any], fpr: float) -> int:
    """Returns the bytes of memory of a peer, which this process has made nothing of before."""
    if kind in ("blocked", "ribbon"):
        return int(member(kind, keys, fpr).info.bytes)
    before = resident()
    held = member(kind, keys, fpr)
    after = resident()
    del held
    return after - before


def resident() -> int:
    """Returns the resident bytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--fpr", type=float, default=0.01)
    parser.add_argument("--integers", action="store_true")
    parser.add_argument("--memory", metavar="PEER", help="print the bytes of memory of one peer")
    flags = parser.parse_args()
    if flags.memory:
        keys, _ = keys_and_rows(flags.keys, 0, flags.integers)
        print(memory(flags.memory, keys, flags.fpr))
        return
    keys, rows = keys_and_rows(flags.keys, flags.rows, flags.integers)
    exact = sum(map(set(keys).__contains__, rows))
    peers = contenders(keys, rows, flags.fpr)
    times: dict[str, list[float]] = {name: [] for name in peers}
    found = {}
    for turn in range(flags.rounds):
        names = list(peers)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.process_time()
            found[name] = int(peers[name]())
            times[name].append((time.process_time() - start) / len(rows) * 1e9)
    print(f"{flags.keys:,} keys, {flags.rows:,} rows of which {exact:,} are in the list; ns a row")
    for name, all_times in sorted(times.items(), key=lambda item: statistics.median(item[1])):
        wrong = (found[name] - exact) / (len(rows) - exact)
        row = f"{statistics.median(all_times):6.1f} ({min(all_times):.1f} to {max(all_times):.1f})"
        print(f"{name:30} {row:25} {wrong:.3%} false")
        assert found[name] >= exact, f"{name} loses keys"
    for kind in "blocked", "ribbon", "set", "rbloom", "fastbloom-rs":
        argv = [sys.executable, __file__, "--memory", kind, "--keys", str(flags.keys), "--fpr", str(flags.fpr)]
        argv += ["--integers"] if flags.integers else []
        used = int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
        print(f"{kind:30} {used / 1e6:8.2f} MB")
    versions = {name: sys.modules[name].__version__ for name in ("numpy", "pandas", "polars", "pyarrow", "duckdb")}
    print(json.dumps({"python": sys.version.split()[0], **versions}))


if __name__ == "__main__":
    main()
