"""DuckDB and pyarrow, which write Parquet files with Bloom filters. The program trial, in Go, describes the calls.

pyarrow has no query of a Bloom filter: DuckDB answers for both.
"""

import platform
import struct
import sys
import traceback

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = {"text": pa.string(), "bytes": pa.binary(), "int64": pa.int64(), "int32": pa.int32()}


def read_keys(kind, path):
    """Return the keys of a file. A key has its length in 4 bytes before it, little endian."""
    with open(path, "rb") as f:
        data = f.read()
    at, keys = 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        at += 4 + length
        keys.append(data[at - length : at])
    if kind == "text":
        return [k.decode() for k in keys]
    if kind in ("int64", "int32"):
        return [int.from_bytes(k, "little", signed=True) for k in keys]
    return keys


def group_rows(keys):
    """Return the rows of a row group: at most 20 groups, which DuckDB makes of 2048 rows or more."""
    return max(2048, -(-keys // 20 // 2048) * 2048)


def build_duckdb(db, table, rate, out):
    rows = group_rows(len(table))
    db.register("keys", table)
    db.execute(
        f"COPY (SELECT k FROM keys) TO '{out}' (FORMAT parquet, ROW_GROUP_SIZE {rows}, DICTIONARY_SIZE_LIMIT {rows},"
        f" STRING_DICTIONARY_PAGE_SIZE_LIMIT 1000000000, BLOOM_FILTER_FALSE_POSITIVE_RATIO {rate})"
    )


def build_pyarrow(table, rate, out):
    rows = group_rows(len(table))
    options = {"k": {"ndv": min(rows, len(table)), "fpp": rate}}
    pq.write_table(table, out, row_group_size=rows, bloom_filter_options=options)


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


def ask(db, kind, path, keys_path, out):
    keys = read_keys(kind, keys_path)
    groups = pq.ParquetFile(path).metadata.num_row_groups
    answers = bytearray((groups * len(keys) + 7) // 8)
    for j, key in enumerate(keys):
        rows = db.execute("SELECT row_group_id, bloom_filter_excludes FROM parquet_bloom_probe(?, 'k', ?)", [path, key])
        seen = 0
        for group, excludes in rows.fetchall():
            seen += 1
            if not excludes:
                answers[(group * len(keys) + j) // 8] |= 1 << (group * len(keys) + j) % 8
        if seen != groups:
            raise ValueError(f"{seen} answers of {groups} row groups")
    with open(out, "wb") as f:
        f.write(answers)


def main():
    writer = sys.argv[1]
    db = duckdb.connect()
    db.execute("SET threads = 1")

    def call(words):
        match words:
            case ["hello"]:
                arrow = f"duckdb {duckdb.__version__}, pyarrow {pa.__version__}"
                return f"{arrow}, Python {platform.python_version()}"
            case ["build", kind, _, _, rate, keys, out]:
                table = pa.table({"k": pa.array(read_keys(kind, keys), type=TYPES[kind])})
                if writer == "duckdb":
                    build_duckdb(db, table, float(rate), out)
                else:
                    build_pyarrow(table, float(rate), out)
                return parts(out)
            case ["ask", kind, _, path, keys, out]:
                ask(db, kind, path, keys, out)
                return ""
        raise ValueError(words)

    for line in sys.stdin:
        try:
            reply = "ok " + call(line.rstrip("\n").split("\t"))
        except Exception as e:
            traceback.print_exc()
            reply = "error " + str(e).replace("\n", " ")
        print(reply, flush=True)


main()
