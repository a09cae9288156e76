package main

import (
	"path/filepath"

	"github.com/bloomery/bloomery/interop"
)

// duckDBSystem is DuckDB, which writes Parquet files with a filter for each row group and asks them, one key a query.
func duckDBSystem() system {
	return parquetPython("duckdb", "duckdb 2.0.0, by pip; pyarrow says where the filters lie")
}

// pyArrowSystem is pyarrow, which writes Parquet files with filters. It cannot ask them: DuckDB does.
func pyArrowSystem() system {
	return parquetPython("pyarrow", "pyarrow 26.0.0, by pip; DuckDB asks the filters")
}

// askedOfParquet is how many keys are asked of a file: each is a query of DuckDB.
const askedOfParquet = 1000

func parquetPython(name, about string) system {
	return system{name: name, about: about, run: func(t *trial) error {
		folder, python, err := t.shop.python("parquet-python")
		if err != nil {
			return err
		}
		p, err := start(t.ctx, name, []string{python, filepath.Join(folder, "trial.py"), name})
		if err != nil {
			return err
		}
		return t.exchange(p, exchange{
			format: always(interop.Parquet), cases: t.grid(1, []kind{text, raw, long, short}),
			inFile:    func(testCase) bool { return true },
			mostAsked: askedOfParquet,
		})
	}}
}
