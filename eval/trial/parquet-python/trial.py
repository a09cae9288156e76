"""DuckDB and pyarrow, which write Parquet files with Bloom filters.

pyarrow has no query of a Bloom filter: DuckDB answers for both.
"""

import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from peer import read_keys, serve, write_answers

TYPES = {"text": pa.string(), "bytes": pa.binary(), "int64": pa.int64(), "int32": pa.int32()}


def values(kind, path):
    """Return the keys of a file as values of a column."""
    keys = read_keys(path)
    if kind == "text":
        return [k.decode() for k in keys]
    if kind in ("int64", "int32"):
        return [int.from_bytes(k, "little", signed=True) for k in keys]
    return keys


def group_rows(keys):
    """Return the rows of a row group: at most 20 groups, which DuckDB makes of 2048 rows or more."""
    return max(2048, -(-keys // 20 // 2048) * 2048)


def parts(path):
    """Return where the filters lie in a file, and how many rows each has."""
    meta = pq.ParquetFile(path).metadata
    found = []
    for i in range(meta.num_row_groups):
        column = meta.row_group(i).column(0)
        if column.bloom_filter_offset is None:
            raise ValueError(f"row group {i} has no Bloom filter")
        found.append(f"{column.bloom_filter_offset}:{column.bloom_filter_length}:{meta.row_group(i).num_rows}")
    return " ".join(found)


class Parquet:
    version = f"duckdb {duckdb.__version__}, pyarrow {pa.__version__}"

    def __init__(self, writer):
        self.writer = writer
        self.db = duckdb.connect()
        self.db.execute("SET threads = 1")

    def build(self, kind, form, keys, rate, path, out):
        table = pa.table({"k": pa.array(values(kind, path), type=TYPES[kind])})
        rows = group_rows(len(table))
        if self.writer == "pyarrow":
            options = {"k": {"ndv": min(rows, len(table)), "fpp": rate}}
            pq.write_table(table, out, row_group_size=rows, bloom_filter_options=options)
        else:
            self.db.register("keys", table)
            self.db.execute(
                f"COPY (SELECT k FROM keys) TO '{out}' (FORMAT parquet, ROW_GROUP_SIZE {rows},"
                f" DICTIONARY_SIZE_LIMIT {rows}, STRING_DICTIONARY_PAGE_SIZE_LIMIT 1000000000,"
                f" BLOOM_FILTER_FALSE_POSITIVE_RATIO {rate})"
            )
        return parts(out)

    def ask(self, kind, form, path, keys_path, out):
        keys = values(kind, keys_path)
        groups = pq.ParquetFile(path).metadata.num_row_groups
        answers = [False] * (groups * len(keys))
        query = "SELECT row_group_id, bloom_filter_excludes FROM parquet_bloom_probe(?, 'k', ?)"
        for j, key in enumerate(keys):
            rows = self.db.execute(query, [path, key]).fetchall()
            if len(rows) != groups:
                raise ValueError(f"{len(rows)} answers of {groups} row groups")
            for group, excludes in rows:
                answers[group * len(keys) + j] = not excludes
        write_answers(out, answers)


serve(Parquet(sys.argv[1]))
