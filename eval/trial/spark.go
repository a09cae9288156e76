package main

import (
	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// sparkSystem is the BloomFilter of Spark, in both versions.
func sparkSystem() system {
	about := "org.apache.spark:spark-sketch_2.13 4.1.1, by Maven"
	return system{name: "spark", about: about, run: func(t *trial) error {
		command, err := t.shop.java("spark")
		if err != nil {
			return err
		}
		p, err := start(t.ctx, "spark", command)
		if err != nil {
			return err
		}
		return t.exchange(p, exchange{
			format: always(interop.Spark), cases: t.grid(0, []kind{text, raw, long}, "1", "2"),
			configs: func(c testCase) []bloomery.Config {
				family := "spark(version=" + c.form + ","
				return []bloomery.Config{{Spec: family + "fpr=" + c.rateText() + ")"}, {Spec: family + "bits_per_key=40)"}}
			},
		})
	}}
}
