package settest

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/intake"
)

// EngineOf returns an Engine of the same filter as s, which has one and no secret. They share no memory.
func EngineOf(t testing.TB, s *bloomery.Set) *one.Set { return EngineWith(t, s, engine.Options{}) }

// EngineWith is EngineOf with Options, such as the secret of s.
func EngineWith(t testing.TB, s *bloomery.Set, o engine.Options) *one.Set {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}

	e, err := one.FromBytes(b, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Split returns s without its exceptions, and these, or nil if it has none.
func Split(t testing.TB, s *bloomery.Set) (*bloomery.Set, *except.Cascade) {
	t.Helper()
	main, cascade := except.Split(EngineOf(t, s).Facts().Filter)
	file, err := one.New(main, s.Hasher()).Encode()
	if err != nil {
		t.Fatal(err)
	}

	var b bytes.Buffer
	if err := container.Write(&b, file); err != nil {
		t.Fatal(err)
	}

	plain, err := bloomery.FromBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return plain, cascade
}

// SizesOfExceptions returns the geometry of the exceptions, or nil if there are none.
func SizesOfExceptions(t testing.TB, s *bloomery.Set) []except.Size {
	t.Helper()
	if _, c := Split(t, s); c != nil {
		return c.Sizes()
	}
	return nil
}

// Shard returns a copy of a shard of a sharded Set in a folder.
func Shard(t testing.TB, dir string, s *bloomery.Set, i int) *bloomery.Set {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, s.Manifest().Shards[i].File))
	if err != nil {
		t.Fatal(err)
	}

	part, err := bloomery.FromBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// RemoveMany removes keys with the guard of Removal.
func RemoveMany(s *bloomery.Set, keys [][]byte) (bloomery.Removed, error) {
	r, err := s.Removal(bloomery.JobConfig{})
	if err != nil {
		return bloomery.Removed{}, err
	}
	defer r.Close()

	if err := r.AddMany(keys); err != nil {
		return bloomery.Removed{}, err
	}
	return r.Commit(context.Background())
}

// Optimize returns the result of an Optimizer with the default effort.
func Optimize(ctx context.Context, s *bloomery.Set, keys iter.Seq[[]byte]) (*bloomery.Set, error) {
	o, err := s.Optimizer(bloomery.JobConfig{})
	if err != nil {
		return nil, err
	}
	defer o.Close()

	if err := intake.Copies(ctx, keys, o.AddMany); err != nil {
		return nil, err
	}
	return o.Commit(ctx)
}

// CommitWith is Locked.Commit of another Set.
func CommitWith(ctx context.Context, l *bloomery.Locked, s *bloomery.Set) error {
	l.Set = s
	return l.Commit(ctx)
}

// RateOf returns the Rate of a number of false positives.
func RateOf(falsePositives, trials uint64) bloomery.Rate {
	r := bloomery.Rate{Trials: trials, FalsePositives: falsePositives}
	r.Observed, r.Low, r.High = bulk.Interval(falsePositives, trials)
	return r
}

// HasUint64 reports whether the current file of l contains an integer.
func HasUint64(l *bloomery.Live, key uint64) (has bool) {
	l.View(func(s *bloomery.Set) { has = bloomery.Keyed[uint64](s).Contains(key) })
	return has
}

// InfoOf returns the Info of the current file.
func InfoOf(l *bloomery.Live) (i filter.Info) {
	l.View(func(s *bloomery.Set) { i = s.Info() })
	return i
}

// AddUint64 adds an integer as users do who have no sequence of integers.
func AddUint64(b interface{ Add([]byte) error }, key uint64) error {
	return b.Add(binary.LittleEndian.AppendUint64(nil, key))
}

// Must returns v, and panics if there is an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check panics if there is an error.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}
