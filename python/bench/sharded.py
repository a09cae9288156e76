"""Measures batches of a sharded set beside a filter of one file, on the keys and rows of bench.py.

    python sharded.py --keys 1000000 --shards 1,10,100

Prints ns of processor time a row, medians of all rounds, for an Arrow column, a dictionary column and a list, and for
`key in f` of one row in ten. All filters take turns in each round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import bloomery_filters as bl
from bench import host, keys_and_rows


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shards", default="1,10,100", help="numbers of shards; one file is measured, too")
    parser.add_argument("--spec", default="blocked")
    flags = parser.parse_args()
    keys, rows = keys_and_rows(flags.keys, flags.rows, False)
    column, few = pa.array(rows, pa.string()), rows[::10]
    coded = pa.array([host(i) for i in range(100_000)] * max(1, flags.rows // 100_000)).dictionary_encode()
    filters: dict[str, bl.Filter] = {}
    with tempfile.TemporaryDirectory() as folder:
        built = pa.array(keys, pa.string())
        for shards in [None, *map(int, flags.shards.split(","))]:
            path = Path(folder) / str(shards)
            name = "one file" if shards is None else f"{shards} shards"
            filters[name] = bl.build(path, built, fpr=0.01, spec=flags.spec, shards=shards)
            assert all(filters[name].contains(keys)), "a key is lost"  # loads all shards, too
        forms: dict[str, Callable[[bl.Filter], Any]] = {
            "Arrow": lambda f: f.contains(column),
            "dictionary": lambda f: f.contains(coded),
            "list": lambda f: f.contains(rows),
            "one by one": lambda f: [row in f for row in few],
        }
        sizes = {"Arrow": len(rows), "dictionary": len(coded), "list": len(rows), "one by one": len(few)}
        times: dict[tuple[str, str], list[float]] = {(name, form): [] for name in filters for form in forms}
        for _ in range(flags.rounds):
            for (name, form), own in times.items():
                start = time.process_time()
                forms[form](filters[name])
                own.append((time.process_time() - start) / sizes[form] * 1e9)
    print(f"{flags.keys:,} keys, {flags.spec}; ns a row: {', '.join(forms)}")
    for name in filters:
        print(f"{name:12}", *(f"{statistics.median(times[name, form]):8.1f}" for form in forms))


if __name__ == "__main__":
    main()
