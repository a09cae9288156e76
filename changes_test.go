package bloomery_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestTwoChanges: a change during another one panics and names the options, unless the Set is for many writers.
func TestTwoChanges(t *testing.T) {
	made := func(c bloomery.Config) *bloomery.Set {
		t.Helper()
		s, err := bloomery.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := bloomery.Config{Spec: "rankindexed(capacity=1000,value_bits=8)", Keys: 1000}
	set, other := made(c), made(c)
	file, err := other.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	c.Concurrent = true
	shared, key := made(c), []byte("key")
	k, many := bloomery.Keyed[string](set), bloomery.Keyed[string](shared)
	for name, change := range map[string]func(){
		"Add":             func() { _ = set.Add(key) },
		"AddString":       func() { _ = set.AddString("key") },
		"Keyed.AddMany":   func() { _ = k.AddMany([]string{"a", "b"}) },
		"TestAndAdd":      func() { _, _ = set.TestAndAdd(key) },
		"Remove":          func() { _ = set.Remove(key) },
		"AddValue":        func() { _ = set.AddValue(key, 1) },
		"Put":             func() { _ = set.Put(key, 1) },
		"Upsert":          func() { _ = set.Upsert(key, 1) },
		"Merge":           func() { _ = set.Merge(other) },
		"Reset":           func() { _ = set.Reset() },
		"UnmarshalBinary": func() { _ = set.UnmarshalBinary(file) },
		"Addition": func() {
			a, err := set.Addition(bloomery.JobConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			_ = a.AddMany([][]byte{key})
		},
	} {
		end, said := bloomery.Begin(set), ""
		func() {
			defer func() { said = fmt.Sprint(recover()) }()
			change()
		}()
		if !strings.Contains(said, "Config.Concurrent") || !strings.Contains(said, "WithConcurrent") {
			t.Errorf("%s during a change: %s", name, said)
		}
		end()
		change()
	}
	defer bloomery.Begin(shared)()
	if err := many.AddMany([]string{"a", "b"}); err != nil {
		t.Error(err)
	}
}

// TestClosedShared: changes of a closed Set for many writers are errors in all goroutines.
func TestClosedShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	set, err := bloomery.New(bloomery.Config{Spec: "blocked", Keys: 1000})
	if err == nil {
		err = set.Save(t.Context(), path)
	}
	if err != nil {
		t.Fatal(err)
	}
	set, err = bloomery.Open(t.Context(), path, bloomery.WithConcurrent(), bloomery.InMemory())
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if err := set.AddString("key"); !errors.Is(err, filter.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
