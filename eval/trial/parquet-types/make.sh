#!/usr/bin/env bash
# Writes types.tsv and types-NAME.parquet, of pyarrow, DuckDB and parquet-mr, into a folder: make.sh FOLDER
# Needs Python 3.11 with venv, Java 17 and Maven.
set -euo pipefail
folder=$(realpath "$1")
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install pyarrow==26.0.1 duckdb==2.0.1
"$work/venv/bin/python" make.py "$folder"

cp -r pom.xml src "$work"
mvn -q -B -f "$work/pom.xml" process-classes
java -cp "$work/target/classes:$work/target/lib/*" types.Main "$folder" 2>"$work/java.log" || { cat "$work/java.log"; exit 1; }
