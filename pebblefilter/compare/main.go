// Compare measures filter policies beside the Bloom filter of Pebble v2, in single tables and in a database.
//
//	go run ./compare                     everything: about half an hour
//	go run ./compare --keys 0            single tables only
//	go run ./compare --only fuse --json
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bloomery/bloomery/pebblefilter"
	"github.com/bloomery/bloomery/pebblefilter/internal/trial"
)

func main() {
	if err := run(os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// run ends at ctrl-C with the results so far.
func run(w, log io.Writer, args []string) error {
	c, err := trial.Flags(args, log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c.Stop = ctx.Done()
	all := []trial.Contender{contender("bloom(10)", bloom.FilterPolicy(10))}
	for _, spec := range trial.Specs {
		p, err := pebblefilter.New(spec)
		if err != nil {
			return err
		}
		all = append(all, contender(spec, p))
	}
	return trial.Run(c, all, w)
}

func contender(name string, p pebble.FilterPolicy) trial.Contender {
	return trial.Contender{
		Name:     name,
		Open:     func(dir string, room uint64, table int64) (trial.Store, error) { return open(p, dir, room, table) },
		NewTable: func() trial.Table { return table{p.NewWriter(pebble.TableFilter)} },
		Has:      func(block, key []byte) bool { return p.MayContain(pebble.TableFilter, block, key) },
	}
}

type table struct{ pebble.FilterWriter }

func (t table) Done() []byte { return t.Finish(nil) }

type store struct {
	db *pebble.DB
	it *pebble.Iterator
}

func open(p pebble.FilterPolicy, dir string, room uint64, table int64) (trial.Store, error) {
	cache := pebble.NewCache(trial.CacheSize)
	defer cache.Unref()
	o := &pebble.Options{
		Cache: cache, DisableWAL: true, MemTableSize: room, Logger: silent{},
		FormatMajorVersion:          pebble.FormatNewest,
		DisableAutomaticCompactions: true, L0StopWritesThreshold: 1 << 20,
	}
	if dir == "" {
		dir, o.FS = "db", vfs.NewMem()
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = p
	}
	if table > 0 {
		for i := range o.TargetFileSizes {
			o.TargetFileSizes[i] = table
		}
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &store{db: db}, nil
}

type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, a ...any) {
	panic(fmt.Sprintf(format, a...))
}

func (s *store) Set(key, value []byte) error { return s.db.Set(key, value, pebble.NoSync) }

func (s *store) Get(key []byte) (bool, error) {
	_, c, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.Close()
}

func (s *store) Seek(key []byte) (bool, error) {
	if s.it == nil {
		var err error
		if s.it, err = s.db.NewIter(&pebble.IterOptions{UseL6Filters: true}); err != nil {
			return false, err
		}
	}
	return s.it.SeekPrefixGE(key), s.it.Error()
}

func (s *store) Flush() error { return s.db.Flush() }

func (s *store) Compact(from, to []byte) error {
	return s.db.Compact(context.Background(), from, to, true)
}

func (s *store) Counts() (c trial.Counts) {
	m := s.db.Metrics()
	c.No, c.Yes = m.Filter.Hits, m.Filter.Misses
	c.Blocks = m.BlockCache.Hits + m.BlockCache.Misses
	for _, l := range m.Levels {
		c.Levels = append(c.Levels, int(l.TablesCount))
	}
	tables, err := s.db.SSTables(pebble.WithProperties())
	if err != nil {
		return c
	}
	for _, level := range tables {
		for _, t := range level {
			c.Filters += int64(t.Properties.FilterSize)
		}
	}
	return c
}

// Close may be called twice.
func (s *store) Close() error {
	var err error
	if s.it != nil {
		err = s.it.Close()
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	s.it, s.db = nil, nil
	return err
}
