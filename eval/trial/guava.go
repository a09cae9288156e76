package main

import (
	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// guavaSystem is the Bloom filter of Guava, in both strategies, with its funnels for strings, arrays and integers.
func guavaSystem() system {
	return system{name: "guava", about: "com.google.guava:guava 33.8.0-jre, by Maven", run: func(t *trial) error {
		command, err := t.shop.java("guava")
		if err != nil {
			return err
		}
		p, err := start(t.ctx, "guava", command)
		if err != nil {
			return err
		}
		return t.exchange(p, exchange{
			format: always(interop.Guava),
			cases:  t.grid(0, []kind{text, raw, long, short, wide}, "64", "32"),
			configs: func(c testCase) []bloomery.Config {
				family := "guava(strategy=" + c.form + ","
				return []bloomery.Config{{Spec: family + "fpr=" + c.rateText() + ")"}, {Spec: family + "bits_per_key=40)"}}
			},
		})
	}}
}
