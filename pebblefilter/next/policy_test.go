package next

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/sstable/tablefilters/bloom"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/tablefilter"
)

var specs = []string{
	"blocked(bits_per_key=10)", "blockpartitioned(bits_per_key=10,effort=fast)",
	"partitioned(bits_per_key=10,effort=fast)", "fuse(width=8)", "ribbon(r=8)",
}

const keys = 9000

func testKey(i int) []byte   { return fmt.Appendf(nil, "key%09d", 2*i) }
func absentKey(i int) []byte { return fmt.Appendf(nil, "key%09d", 2*i+1) } // in the ranges of the tables

func made(t testing.TB, spec string) *tablefilter.Policy {
	t.Helper()
	p, err := tablefilter.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// open opens a database of small tables in memory.
func open(t testing.TB, fs vfs.FS, set func(*pebble.Options)) *pebble.DB {
	t.Helper()
	o := &pebble.Options{FS: fs, Logger: quiet{t}, DisableWAL: true}
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = 16 << 10
	}
	set(o)
	db, err := pebble.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

type quiet struct{ testing.TB }

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// fill writes all keys in two flushed tables, each with every second key, and compacts them into several tables.
func fill(t testing.TB, db *pebble.DB) {
	t.Helper()
	for half := range 2 {
		for i := half; i < keys; i += 2 {
			if err := db.Set(testKey(i), testKey(i), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Compact(t.Context(), testKey(0), testKey(keys), true); err != nil {
		t.Fatal(err)
	}
}

// check checks that Get and SeekPrefixGE find every key and no absent key, and returns how often filters answered no
// and yes in seeks of absent keys. Pebble queries the filters of its last level only in such seeks.
func check(t testing.TB, db *pebble.DB) (no, yes int64) {
	t.Helper()
	it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for i := range keys {
		v, c, err := db.Get(testKey(i))
		if err != nil || !bytes.Equal(v, testKey(i)) {
			t.Fatalf("key %d: %q, %v", i, v, err)
		}
		c.Close()
		if !it.SeekPrefixGE(testKey(i)) || !bytes.Equal(it.Key(), testKey(i)) {
			t.Fatalf("key %d is not found by a seek: %v", i, it.Error())
		}
		if _, _, err := db.Get(absentKey(i)); !errors.Is(err, pebble.ErrNotFound) {
			t.Fatalf("absent key %d: %v", i, err)
		}
	}
	before := db.Metrics().Filter
	for i := range keys {
		if it.SeekPrefixGE(absentKey(i)) || it.Error() != nil {
			t.Fatalf("absent key %d: %v", i, it.Error())
		}
	}
	after := db.Metrics().Filter
	return after.Hits - before.Hits, after.Misses - before.Misses
}

// TestDatabase writes and compacts a database with each family, and reopens it with another policy and without the
// decoder.
func TestDatabase(t *testing.T) {
	for _, spec := range specs {
		fs := vfs.NewMem()
		p := made(t, spec)
		db := open(t, fs, func(o *pebble.Options) { Use(o, p) })
		fill(t, db)
		if m := db.Metrics(); m.Total().Tables.Count < 2 {
			t.Errorf("%s: %d tables", spec, m.Total().Tables.Count)
		}
		filtered(t, spec, db)
		close(t, db)

		db = open(t, fs, func(o *pebble.Options) { Use(o, made(t, "blocked(bits_per_key=12)")) })
		filtered(t, spec+" read by the decoder", db)
		close(t, db)

		db = open(t, fs, func(o *pebble.Options) {
			o.Levels[0].TableFilterPolicy = func() pebble.TableFilterPolicy { return bloom.FilterPolicy(10) }
		})
		if no, yes := check(t, db); no != 0 || yes != 0 {
			t.Errorf("%s: a database without a decoder asked filters: %d no, %d yes", spec, no, yes)
		}
		close(t, db)
	}
}

// filtered checks that the filters answer no for nearly all absent keys.
func filtered(t testing.TB, what string, db *pebble.DB) {
	t.Helper()
	if no, yes := check(t, db); no < keys*97/100 || yes > keys*3/100 {
		t.Errorf("%s: for %d absent keys the filters answered %d no, %d yes", what, keys, no, yes)
	}
}

func close(t testing.TB, db *pebble.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOptionsFile checks that the name in the OPTIONS file of a database parses to its policy.
func TestOptionsFile(t *testing.T) {
	fs := vfs.NewMem()
	p := made(t, specs[1])
	db := open(t, fs, func(o *pebble.Options) { Use(o, p) })
	close(t, db)
	d, err := pebble.Peek("db", fs)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.Open(d.OptionsFilename)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	var o pebble.Options
	var names []string
	err = o.Parse(text.String(), &pebble.ParseHooks{NewFilterPolicy: func(name string) (pebble.TableFilterPolicy, error) {
		names = append(names, name)
		p, err := tablefilter.Parse(name)
		if err != nil {
			return nil, err
		}
		return Policy(p), nil
	}})
	if err != nil || len(names) == 0 || o.Levels[6].TableFilterPolicy().Name() != p.Name() {
		t.Errorf("policies %q of the options, %v", names, err)
	}
	if _, err := tablefilter.Parse("rocksdb.BuiltinBloomFilter"); !errors.Is(err, filter.ErrSpec) {
		t.Errorf("the name of another policy: %v", err)
	}
}

// TestReaders reads from several goroutines while tables are flushed and compacted. Run it with the race detector.
func TestReaders(t *testing.T) {
	for _, spec := range specs {
		db := open(t, vfs.NewMem(), func(o *pebble.Options) {
			Use(o, made(t, spec))
			o.MemTableSize = 64 << 10
		})
		fill(t, db)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := g; i < keys; i += 4 {
					v, c, err := db.Get(testKey(i))
					if err != nil || len(v) == 0 {
						t.Errorf("%s: key %d: %v", spec, i, err)
						return
					}
					c.Close()
					if _, _, err := db.Get(absentKey(i)); !errors.Is(err, pebble.ErrNotFound) {
						t.Errorf("%s: absent key %d: %v", spec, i, err)
						return
					}
				}
			})
		}
		for i := range keys {
			if err := db.Set(testKey(i), fmt.Appendf(nil, "another value of key %d", i), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		close(t, db)
	}
}

// gets is the number of calls of Get in TestMissing.
var gets = flag.Int("gets", 40_000, "gets of present keys that must all be found")

// TestMissing gets keys from overlapping tables of level 0, whose filters every get queries until the key is found.
func TestMissing(t *testing.T) {
	for _, spec := range specs {
		db := open(t, vfs.NewMem(), func(o *pebble.Options) {
			Use(o, made(t, spec))
			o.DisableAutomaticCompactions, o.L0StopWritesThreshold = true, 1000
		})
		const tables, n = 8, 20_000
		for table := range tables {
			for i := table; i < n; i += tables {
				if err := db.Set(testKey(i), testKey(i), pebble.NoSync); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range *gets / len(specs) {
			key := testKey(i * 7919 % n)
			_, c, err := db.Get(key)
			if err != nil {
				t.Fatalf("%s: %s after %d gets: %v", spec, key, i, err)
			}
			c.Close()
		}
		if m := db.Metrics().Filter; m.Hits < int64(*gets/len(specs)) {
			t.Errorf("%s: filters answered no only %d times", spec, m.Hits)
		}
		close(t, db)
	}
}
