package main

import "github.com/bloomery/bloomery/interop"

// parquetMRSystem is the Java implementation of Parquet: filters in a whole Parquet file, and alone.
func parquetMRSystem() system {
	about := "org.apache.parquet:parquet-hadoop 1.18.1, by Maven"
	return system{name: "parquet-mr", about: about, run: func(t *trial) error {
		command, err := t.shop.java("parquet-mr", "-Xmx4g")
		if err != nil {
			return err
		}
		p, err := start(t.ctx, "parquet-mr", command)
		if err != nil {
			return err
		}
		return t.exchange(p, exchange{
			format: always(interop.Parquet), cases: t.grid(1, []kind{text, raw, long, short}, "file", "plain"),
			inFile:  func(c testCase) bool { return c.form == "file" },
			configs: splitBlocks,
		})
	}}
}
