//go:build unix

package shards_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/settest"
)

// TestSaveBesideLocked checks that Save waits for the lock of the folder that it replaces, unless the Set belongs to
// the Locked.
func TestSaveBesideLocked(t *testing.T) {
	dirs := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for i, dir := range dirs {
		c := bloomery.Config{Spec: "standard(capacity=2000)", Sharding: bloomery.Sharding{Shards: 3}}
		if _, err := settest.BuildShards(t.Context(), slices.Values(settest.Words(1000+i)), dir, c); err != nil {
			t.Fatal(err)
		}
	}
	l, err := bloomery.Lock(t.Context(), dirs[0])
	check(t, err)
	other, err := bloomery.Open(t.Context(), dirs[1])
	check(t, err)
	defer other.Close()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := other.Save(short, dirs[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Save for 0.1 s: %v", err)
	}
	if err := other.Save(t.Context(), dirs[0]); !errors.Is(err, filter.ErrLocked) {
		t.Errorf("Save: %v", err)
	}
	if err := errors.Join(l.AddString("new"), l.Save(t.Context(), dirs[0])); err != nil {
		t.Errorf("Save of the Locked: %v", err)
	}
	check(t, l.Close())
	if err := other.Save(t.Context(), dirs[0]); err != nil {
		t.Error(err)
	}
}

// locking is a context that locks and unlocks a folder at each call of Err.
type locking struct {
	context.Context
	dir string
}

func (l locking) Err() error {
	now, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	if other, err := bloomery.Lock(now, l.dir); err == nil {
		_ = other.Close()
	}
	return l.Context.Err()
}

// TestReplaceBesideLocked checks that Replace of a Set that was opened without the lock acquires the lock, so that no
// process that locks the folder in the meantime mistakes the new shards for shards of a killed writer. Replace must
// wait for a Locked.
func TestReplaceBesideLocked(t *testing.T) {
	keys := settest.Names("key", 1000)
	dir, _ := sharded(t, "standard(bytes=2048)", 4, keys)
	manifest := filepath.Join(dir, "manifest.json")
	set, err := shards.Open(t.Context(), dir, engine.Options{})
	check(t, err)
	defer set.Close()
	was, err := os.Stat(manifest)
	check(t, err)
	check(t, addTo(set, "new"))
	check(t, set.Replace(locking{t.Context(), dir}, dir, was, set))
	holds(t, dir, append(keys, "new"))

	l, err := bloomery.Lock(t.Context(), dir)
	check(t, err)
	defer l.Close()
	if was, err = os.Stat(manifest); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(addTo(set, "other"), set.Replace(t.Context(), dir, was, set)); !errors.Is(err,
		filter.ErrLocked) {
		t.Errorf("Replace beside a Locked: %v", err)
	}
	check(t, l.Close())
	if err := set.Replace(t.Context(), dir, was, set); err != nil {
		t.Errorf("Replace again: %v", err)
	}
	holds(t, dir, append(keys, "new", "other"))
}

// addTo adds a key to the Engine of a sharded set.
func addTo(e engine.Engine, key string) error {
	h := e.Facts().Hasher.SumString(key)
	part, err := e.At(h, true)
	if err != nil {
		return err
	}
	return part.Add(h, nil)
}
