"""Writes Parquet files with Bloom filters of columns of many types, by pyarrow and DuckDB.

usage: make.py FOLDER

FOLDER gets types.tsv, a line with a column and a value for each value of a column, and FILE.parquet of each writer.
"""

import datetime
import decimal
import pathlib
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

VALUES = 40  # of each column

COLUMNS = {
    **{f"i{bits}": getattr(pa, f"int{bits}")() for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(pa, f"uint{bits}")() for bits in (8, 16, 32, 64)},
    "date": pa.date32(),
    "dec9": pa.decimal128(9, 2),
    "dec18": pa.decimal128(18, 3),
    "dec38": pa.decimal128(38, 6),
    "decbin": pa.decimal128(20, 2),
    "text": pa.string(),
    "double": pa.float64(),
}


def value(kind, i):
    """Returns value i of a column of a type."""
    if pa.types.is_integer(kind):
        least = 0 if str(kind)[0] == "u" else -(1 << (kind.bit_width - 1))
        return [least, least + (1 << kind.bit_width) - 1, 0, 1, least + 7][i] if i < 5 else i + 3
    if pa.types.is_date(kind):
        return datetime.date(1969, 12, 25) + datetime.timedelta(days=i * 523 if i % 2 else i)
    if pa.types.is_decimal(kind):
        most = 10**kind.precision - 1
        unscaled = [most, -most, 0, 1, -1][i] if i < 5 else i * most // 1000
        return decimal.Decimal(unscaled).scaleb(-kind.scale, decimal.Context(prec=40))
    return i / 8 if pa.types.is_floating(kind) else f"key-{i}"


def main():
    """Writes the files."""
    folder = pathlib.Path(sys.argv[1])
    values = {name: [value(kind, i) for i in range(VALUES)] for name, kind in COLUMNS.items()}
    texts = {n: [f"{v:f}" if isinstance(v, decimal.Decimal) else str(v) for v in all] for n, all in values.items()}
    lines = [f"{name}\t{text}\n" for name, all in texts.items() for text in all]
    (folder / "types.tsv").write_text("".join(lines), encoding="utf-8")

    table = pa.table({name: pa.array(values[name], type=kind) for name, kind in COLUMNS.items()})
    options = {name: {"ndv": VALUES, "fpp": 0.01} for name in COLUMNS}
    pq.write_table(
        table, folder / "types-pyarrow.parquet", bloom_filter_options=options, store_decimal_as_integer=True
    )

    db = duckdb.connect()
    db.execute("SET threads = 1")
    db.register("few", table)
    db.execute("CREATE TABLE many AS SELECT few.* FROM few, range(52)")  # DuckDB makes filters of 2048 rows or more
    db.execute(
        f"COPY many TO '{folder}/types-duckdb.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2080, "
        "STRING_DICTIONARY_PAGE_SIZE_LIMIT 4096, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.01)"
    )
    print(f"pyarrow {pa.__version__}, duckdb {duckdb.__version__}")


main()
