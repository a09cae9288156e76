package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// TestBuildKeys builds sets of every kind of key. Named types hash as their underlying type, integers as eight bytes.
func TestBuildKeys(t *testing.T) {
	texts := words("key ", 1000)
	var names []name
	var blobs []blob
	var ints []uint64
	var ids []id
	var raw [][]byte
	for i, k := range texts {
		names, blobs = append(names, name(k)), append(blobs, blob(k))
		ints, ids, raw = append(ints, uint64(i)<<40), append(ids, id(i)<<40), append(raw, le(uint64(i)<<40))
	}
	for _, spec := range specs {
		c := bloomery.Config{Spec: spec}
		text, number := built(t, texts, c), built(t, ints, c)
		for what, same := range map[string]bool{
			"[]byte":       text.Equal(built(t, slicesOf(texts), c)),
			"named string": text.Equal(built(t, names, c)),
			"named []byte": text.Equal(built(t, blobs, c)),
			"named uint64": number.Equal(built(t, ids, c)),
			"8 bytes":      number.Equal(built(t, raw, c)),
		} {
			if !same {
				t.Errorf("%s: keys of type %s give another set", spec, what)
			}
		}
		holds(t, text, texts)
		for _, k := range ints {
			if !bloomery.Keyed[uint64](number).Contains(k) || !number.Contains(le(k)) {
				t.Fatalf("%s: %d is missing", spec, k)
			}
		}
		if text.Len() != 1000 {
			t.Errorf("%s: Len is %d", spec, text.Len())
		}
	}
}

// TestBuildRangesOnce yields all keys in one buffer and counts how often Build ranges over them.
func TestBuildRangesOnce(t *testing.T) {
	keys := words("key ", 3000)
	for _, spec := range specs {
		ranged := 0
		var seq iter.Seq[[]byte] = func(yield func([]byte) bool) {
			ranged++
			buf := make([]byte, 0, 64)
			for _, k := range keys {
				buf = append(buf[:0], k...)
				if !yield(buf) {
					return
				}
				clear(buf)
			}
		}
		set := must(bloomery.Build(t.Context(), seq, bloomery.Config{Spec: spec}))(t)
		if ranged != 1 {
			t.Errorf("%s: ranged over the keys %d times", spec, ranged)
		}
		holds(t, set, keys)
	}
}

func TestBuildCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := func(yield func(uint64) bool) {
		for i := uint64(0); yield(i); i++ {
			if i == 10_000 {
				cancel()
			}
		}
	}
	set, err := bloomery.Build(ctx, endless, bloomery.Config{Building: bloomery.Building{Memory: 1 << 20,
		TempDir: t.TempDir()}})
	if set != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", set, err)
	}
}

// TestBuilder adds keys in every way, from many goroutines, and compares the result with the result of Build.
func TestBuilder(t *testing.T) {
	const parts = 6
	texts := words("text ", 6*500)
	var ints []uint64
	for i := range uint64(500) {
		ints = append(ints, i*i+1)
	}
	all := slicesOf(texts)
	for _, k := range ints {
		all = append(all, le(k))
	}
	for _, spec := range specs {
		for _, keys := range []int{0, len(all)} {
			c := bloomery.Config{Spec: spec, Keys: uint64(keys)}
			b := must(bloomery.NewBuilder(t.Context(), c))(t)
			var wg sync.WaitGroup
			var mu sync.Mutex
			var failed error
			for p := range parts {
				mine := texts[p*500:][:500]
				wg.Go(func() {
					err := addPart(b, p, mine, ints)
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				})
			}
			wg.Wait()
			if failed != nil {
				t.Fatalf("%s: %v", spec, failed)
			}
			set := must(b.Build(t.Context()))(t)
			if err := b.Close(); err != nil {
				t.Errorf("%s: Close after Build: %v", spec, err)
			}
			if _, err := b.Build(t.Context()); err == nil {
				t.Errorf("%s: the second Build succeeds", spec)
			}
			holds(t, set, texts)
			for _, k := range ints {
				if !bloomery.Keyed[uint64](set).Contains(k) {
					t.Fatalf("%s: %d is missing", spec, k)
				}
			}
			if want := built(t, all, c); !set.Equal(want) {
				t.Errorf("%s: %v is not what Build makes: %v", spec, set, want)
			}
		}
	}
}

// addPart adds a part of the keys. way selects the method.
func addPart(b *bloomery.Builder, way int, texts []string, ints []uint64) error {
	h := b.Hasher()
	switch way {
	case 4:
		return b.AddMany(slicesOf(texts))
	case 5:
		hs := make([]filter.Hash, len(texts))
		for i, k := range texts {
			hs[i] = h.SumString(k)
		}
		err := b.AddHashes(hs)
		clear(hs) // the Builder must not keep the slice
		return err
	}
	for i, k := range texts {
		var err error
		switch way {
		case 0:
			err = b.Add([]byte(k))
		case 1:
			err = b.AddString(k)
		case 2:
			err = errors.Join(b.AddString(k), b.Add(le(ints[i])))
		case 3:
			err = b.AddHashes([]filter.Hash{h.SumString(k)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestBuilderClosed checks that Close removes the temporary file to which a Builder has spilled its keys, and that
// Build then fails.
func TestBuilderClosed(t *testing.T) {
	dir := t.TempDir()
	b := must(bloomery.NewBuilder(t.Context(), bloomery.Config{Building: bloomery.Building{Memory: 1 << 16,
		TempDir: dir}}))(t)
	for i := range uint64(50_000) {
		if err := b.Add(le(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if left := must(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	if set, err := b.Build(t.Context()); set != nil || err == nil {
		t.Error("Build after Close succeeds")
	}
}

// TestMemory builds the same file with all hashes in memory and with most of them in a temporary file in TempDir.
func TestMemory(t *testing.T) {
	keys := words("key ", 20_000)
	for _, spec := range specs {
		c := bloomery.Config{Spec: spec, Building: bloomery.Building{Workers: 1}}
		want := bytesOf(t, built(t, keys, c))
		c.Building.Memory, c.Building.TempDir, c.Building.Workers = 1<<16, t.TempDir(), 3
		if !bytes.Equal(bytesOf(t, built(t, keys, c)), want) {
			t.Errorf("%s: Memory or Workers changes the file", spec)
		}
		if left := must(os.ReadDir(c.Building.TempDir))(t); len(left) > 0 {
			t.Errorf("%s: %d temporary files are left", spec, len(left))
		}
		c.Building.TempDir += "/missing"
		if _, err := bloomery.Build(t.Context(), slices.Values(keys), c); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: with a missing TempDir: %v", spec, err)
		}
	}
}

// TestConfig checks the fields that determine the content of a file.
func TestConfig(t *testing.T) {
	keys := words("key ", 1000)
	plain := bytesOf(t, built(t, keys, bloomery.Config{}))
	seven := bytesOf(t, built(t, keys, bloomery.Config{Hashing: bloomery.Hashing{Seed: 7}}))
	again := bytesOf(t, built(t, keys, bloomery.Config{Hashing: bloomery.Hashing{Seed: 7}, Keys: 1000,
		Spec: "ribbon(fpr=0.01)"}))
	if bytes.Equal(plain, seven) || !bytes.Equal(seven, again) {
		t.Error("the same keys, Spec and Seed must give the same file, and another Seed another one")
	}
	spec := must(filter.ParseSpec("blocked(bits_per_key=10)"))(t)
	if got := built(t, keys, bloomery.Config{Spec: spec.String()}).Spec().Family(); got != "blocked" {
		t.Errorf("the family is %s", got)
	}
	parquet := built(t, keys, bloomery.Config{Spec: "blocked(layout=split)", Hashing: bloomery.Hashing{ID: filter.XXH64}})
	if parquet.Hasher().ID() != filter.XXH64 {
		t.Errorf("the hash function is %v", parquet.Hasher().ID())
	}
	holds(t, parquet, keys)
	like := built(t, keys[:990], bloomery.Config{Like: bloomery.Like{Set: parquet, Shrink: 0.1}})
	holds(t, like, keys[:990])
	if like.Spec() != parquet.Spec() || like.Hasher().ID() != filter.XXH64 {
		t.Errorf("%s like %s", like.Spec(), parquet.Spec())
	}
	for _, c := range []bloomery.Config{
		{Spec: "standard(fpr=2)"}, {Spec: "standard(k=0)"}, {Hashing: bloomery.Hashing{Seed: 1,
			Secret: filter.NewSecret()}}, {Hashing: bloomery.Hashing{ID: filter.XXH64}},
	} {
		if _, err := bloomery.NewBuilder(t.Context(), c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := bloomery.New(bloomery.Config{Spec: "standard("}); !errors.Is(err, filter.ErrSpec) {
		t.Error(err)
	}
	if _, err := bloomery.New(bloomery.Config{Spec: "nofamily"}); !errors.Is(err, filter.ErrFamily) {
		t.Error(err)
	}
}

// TestNeeds builds filters that the planner chooses, with a given and with a counted number of keys.
func TestNeeds(t *testing.T) {
	keys := words("key ", 2000)
	for _, known := range []uint64{0, 2000} {
		set := built(t, keys, bloomery.Config{Needs: plan.Needs{FPR: 0.02, Remove: true}, Keys: known})
		if err := set.Remove([]byte(keys[0])); err != nil {
			t.Errorf("%v cannot remove: %v", set, err)
		}
		holds(t, set, keys[1:])
		if r := rateOf(t, set, 20_000); !r.Holds(0.02) {
			t.Errorf("%v: %+v", set, r)
		}
	}
	c := bloomery.Config{Needs: plan.Needs{Count: true}, Keys: 2000}
	choice := must(c.Choose(t.Context()))(t)
	set := must(bloomery.New(c))(t)
	if set.Spec().Family() != choice.Spec.Family() {
		t.Errorf("New takes %v, Choose says %v", set.Spec(), choice.Spec)
	}
	if p, err := plan.For(t.Context(), plan.Needs{Keys: 2000, ValueBits: 4}); err != nil ||
		p.Choices[0].FileBytes == 0 {
		t.Errorf("%d choices, %v", len(p.Choices), err)
	}
}

// TestProgress stops a search after some reports and keeps its result, cancels a second search, and continues the first
// one.
func TestProgress(t *testing.T) {
	keys := words("key ", 20_000)
	calls := 0
	ctx, cancel := context.WithCancelCause(t.Context())
	c := bloomery.Config{Spec: "partitioned(bits_per_key=8,effort=max)", Keys: 20_000,
		Building: bloomery.Building{Progress: func(p filter.Progress) {
			if p.Done < 0 || p.Done > 1 || p.Rate < 0 || p.Rate > 1 {
				t.Errorf("%+v", p)
			}
			if calls++; calls == 2 {
				cancel(filter.ErrEnough)
			}
		}}}
	set := must(bloomery.Build(ctx, slices.Values(keys), c))(t)
	holds(t, set, keys)
	if calls < 2 {
		t.Errorf("Progress was called %d times", calls)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	c.Building.Progress = func(filter.Progress) { cancel(nil) }
	if _, err := bloomery.Build(ctx, slices.Values(keys), c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a search: %v", err)
	}

	before := set.Info().FPRPosterior
	o := must(set.Optimizer(bloomery.JobConfig{Effort: filter.Effort{Passes: 2}}))(t)
	defer o.Close()
	if err := o.AddMany(slicesOf(keys)); err != nil {
		t.Fatal(err)
	}
	better := must(o.Commit(t.Context()))(t)
	holds(t, better, keys)
	if after := better.Info().FPRPosterior; after > before {
		t.Errorf("an Optimizer raised the rate from %g to %g", before, after)
	}
}

// TestAllow makes filters exact for a list, at the build and later.
func TestAllow(t *testing.T) {
	var keys, list [][]byte
	for i := range 2000 {
		keys, list = append(keys, fmt.Appendf(nil, "key-%d", i)), append(list, fmt.Appendf(nil, "allowed-%d", i))
	}
	c := bloomery.Config{Spec: "standard(fpr=0.1)", Allow: slices.Values(list)}
	set := must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
	c.Allow = nil
	later := must(bloomery.Build(t.Context(), slices.Values(keys), c))(t)
	a := must(later.Allower(bloomery.JobConfig{}))(t)
	defer a.Close()
	if err := errors.Join(a.AllowMany(list), a.AddMembers(keys), a.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, set), bytesOf(t, later)) {
		t.Error("exceptions that were added later differ")
	}
	again := must(later.Allower(bloomery.JobConfig{Like: bloomery.Like{Set: set}}))(t)
	defer again.Close()
	if err := errors.Join(again.AllowMany(list), again.AddMembers(keys), again.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if !later.Contains(keys[i]) || later.Contains(list[i]) {
			t.Fatalf("%s or %s", keys[i], list[i])
		}
	}
	if i := set.Info(); i.Allowed != 2000 || i.Exceptions == 0 || i.ExceptionBits == 0 || i.ExceptionBits >= i.Bits {
		t.Errorf("%d allowed, %d exceptions, %d bits", i.Allowed, i.Exceptions, i.ExceptionBits)
	}
	if err := set.AddString("new"); !errors.Is(err, filter.ErrExceptions) {
		t.Errorf("Add: %v", err)
	}
	c.Allow = slices.Values(keys[:3])
	_, err := bloomery.Build(t.Context(), slices.Values(keys), c)
	var both *filter.AllowedError
	if !errors.Is(err, filter.ErrAllowed) || !errors.As(err, &both) || len(both.Keys) != 3 {
		t.Errorf("members that are allowed: %v", err)
	}
}
