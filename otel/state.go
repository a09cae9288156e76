package otel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/window"
)

// suffix ends the names of the files of a state.
const suffix = ".window"

// lockWait is how long a Collector that starts waits for the end of another one, such as the one that it replaces.
const lockWait = 2 * time.Second

// openMemory returns the memory in the folder of Config.State, which is locked, or an empty one without a state or if it
// has no files yet. clock is nil, except in tests.
func (c *Config) openMemory(ctx context.Context, clock func() time.Time) (*memory, error) {
	n, each := shardsFor(c.Keys)
	m := &memory{refresh: c.Refresh, sending: map[filter.Hash]*batch{}}
	config := window.Config{
		Keys: each, TTL: c.TTL, FPR: c.FPR, Refresh: c.Refresh, Overflow: window.Shorten, Clock: clock,
	}

	for i := range n {
		s := &shard{path: filepath.Join(c.State, shardName(i, n))}
		err := fs.ErrNotExist
		if c.State != "" {
			s.Filter, err = window.Open[filter.Hash](ctx, s.path, config)
		}
		if errors.Is(err, fs.ErrNotExist) {
			s.Filter, err = window.New[filter.Hash](config)
		}
		if err != nil {
			return nil, c.advise(err)
		}
		s.early = s.Info().Shortened
		m.shards = append(m.shards, s)
	}
	return m, nil
}

func shardName(i, n int) string { return fmt.Sprintf("%02d-of-%02d%s", i, n, suffix) }

// lockState makes the folder of a state unless it exists, locks it until unlock, and checks that its files are for the
// same number of shards. Without a state it does nothing.
func (c *Config) lockState(ctx context.Context) (unlock func(), err error) {
	dir := c.State
	if dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}

	soon, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err = window.Lock(soon, filepath.Join(dir, "state"))
	switch {
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("state %s is in use by another Collector, or by another pipeline of this one: give each "+
			"pipeline a processor with a folder of its own, such as dedup/traces with state: %s-traces", dir, dir)
	case err != nil:
		return nil, fmt.Errorf("state %s: %w", dir, err)
	}

	if err := c.checkNames(); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// checkNames returns an error if the state has files of another number of shards.
func (c *Config) checkNames() error {
	entries, err := os.ReadDir(c.State)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}

	n, _ := shardsFor(c.Keys)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && !strings.HasSuffix(e.Name(), shardName(0, n)[2:]) {
			return fmt.Errorf("state %s was made with another value of keys: %s", c.State, setBack)
		}
	}
	return nil
}

// setBack is the advice for a state that was made with another configuration.
const setBack = "set it back, or remove the folder: then records whose keys were seen before pass once more"

// damages are the errors of a file that was damaged, or that is no file of a state.
var damages = []error{
	filter.ErrMagic, filter.ErrHash, filter.ErrChecksum, filter.ErrCorrupt, filter.ErrSecret, filter.ErrTooLarge,
	io.ErrUnexpectedEOF,
}

// advise adds to an error of window.Open, which names the file, what the user can do.
func (c *Config) advise(err error) error {
	var field *filter.ConfigError
	switch {
	case c.State == "":
		return err
	case errors.As(err, &field):
		return fmt.Errorf("state %s was made with another value of %s: %s", c.State, strings.ToLower(field.Field), setBack)
	case slices.ContainsFunc(damages, func(damage error) bool { return errors.Is(err, damage) }):
		return fmt.Errorf("state is damaged, or has a file of something else: %w; restore the folder from a copy, or remove "+
			"it: then records whose keys were seen before pass once more", err)
	}
	return fmt.Errorf("state: %w", err) // of window.ErrAhead, the message has advice
}

// save saves a shard if it has unsaved keys. Keys that are added meanwhile are unsaved again.
func (s *shard) save(ctx context.Context) (saved bool, err error) {
	if !s.unsaved.Swap(false) {
		return false, nil
	}
	if err := s.Save(ctx, s.path); err != nil {
		s.unsaved.Store(true)
		return false, err
	}
	return true, nil
}
