package main

import (
	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// rustParquetSystem is the split-block Bloom filter of the crate parquet, without a Parquet file around it.
func rustParquetSystem() system {
	return system{name: "rust-parquet", about: "crate parquet 60.0.0, by cargo", run: func(t *trial) error {
		command, err := t.shop.rust("rust-parquet")
		if err != nil {
			return err
		}
		p, err := start(t.ctx, "rust-parquet", command)
		if err != nil {
			return err
		}
		return t.exchange(p, exchange{
			format: always(interop.Parquet), cases: t.grid(0, []kind{text, raw, long, short}),
			configs: splitBlocks,
		})
	}}
}

// splitBlocks are configurations of a split-block filter of Parquet, whose number of blocks is no power of two.
func splitBlocks(c testCase) []bloomery.Config {
	family := "blocked(layout=split,"
	return []bloomery.Config{
		{Spec: family + "fpr=" + c.rateText() + ")"},
		{Spec: family + "bits_per_key=43)"},
	}
}
