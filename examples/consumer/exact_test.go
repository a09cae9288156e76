package main

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// serials returns the numbers from from to to-1.
func serials(from, to int) (all [][]byte) {
	for i := from; i < to; i++ {
		all = append(all, []byte(strconv.Itoa(i)))
	}
	return all
}

// TestExact builds an exact set with a secret, updates it, verifies it, and follows its file.
func TestExact(t *testing.T) {
	universe, secret := serials(0, 2000), filter.Secret{7}
	build := func(base *exact.Set, members [][]byte) *exact.Set {
		t.Helper()
		c := exact.Config{Base: base, Workers: 1, TempDir: t.TempDir(), Shrink: 1}
		if base == nil {
			c.Secret = &secret
		}
		s, err := exact.Build(t.Context(), slices.Values(members), slices.Values(universe), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := build(nil, universe[:100])
	two := build(one, universe[1:101])
	if c := two.Info().Changed; c.Added != 1 || c.Removed != 1 || c.Bytes == 0 || !c.Positions || c.Entropy == 0 {
		t.Errorf("%+v", c)
	}
	file := filepath.Join(t.TempDir(), "f.exact")
	if err := one.Save(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := exact.Open(t.Context(), file); !errors.Is(err, filter.ErrNoSecret) {
		t.Errorf("without the secret: %v", err)
	}
	live, err := exact.OpenLive(t.Context(), file, exact.WithSecret(&secret), exact.WithInterval(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := errors.Join(two.Save(t.Context(), file), live.Reload(t.Context()), live.Err()); err != nil {
		t.Fatal(err)
	}
	got := make([]bool, 3)
	live.Set().ContainsMany(got, [][]byte{universe[0], universe[100], universe[101]})
	if !slices.Equal(got, []bool{false, true, false}) || !live.Set().Contains(universe[1]) {
		t.Errorf("%v", got)
	}
	v := live.Set().NewVerifier(exact.Config{})
	defer v.Close()
	if err := errors.Join(v.AddMembers(universe[:100]), v.AddUniverse(universe)); err != nil {
		t.Fatal(err)
	}
	want := exact.Verification{Universe: 2000, Members: 100, Missing: 1, FalselyPresent: 1, Wrong: 2}
	if found, err := v.Commit(t.Context()); err != nil || found != want {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestExactPartitions feeds a Builder, and a build from lists, with partitions.
func TestExactPartitions(t *testing.T) {
	keys := serials(0, 1000)
	names := slices.Repeat([][]byte{[]byte("a"), []byte("b")}, 500)
	b, err := exact.NewBuilder(exact.Config{Partitioned: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.AddUniverse(keys); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without partitions: %v", err)
	}
	if err := errors.Join(b.AddUniverse(keys, names...), b.AddMembers(keys[:9], names[:9]...)); err != nil {
		t.Fatal(err)
	}
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]bool, len(keys))
	s.ContainsMany(got, keys, names...)
	for i, k := range keys {
		if got[i] != (i < 9) || s.Contains(k, names[i]) != got[i] {
			t.Fatalf("%s: %v", k, got[i])
		}
	}
	pairs := func(n int) iter.Seq2[[]byte, []byte] {
		return func(yield func(partition, key []byte) bool) {
			for i := 0; i < n && yield(names[i], keys[i]); i++ {
			}
		}
	}
	again, err := exact.Build(t.Context(), pairs(9), pairs(1000), exact.Config{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var x, y bytes.Buffer
	_, err = s.WriteTo(&x)
	_, err2 := again.WriteTo(&y)
	if i := s.Info(); err != nil || err2 != nil || !bytes.Equal(x.Bytes(), y.Bytes()) || i.Partitions != 2 ||
		i.Bytes != uint64(x.Len()) || i.BuildDue != "" || len(i.Classes) == 0 || i.BitsPerMember < i.EntropyPerMember {
		t.Errorf("%+v, %v, %v", i, err, err2)
	}
	if read, err := exact.FromBytes(x.Bytes()); err != nil || !read.Contains(keys[8], names[8]) {
		t.Error(err)
	}
	if _, err := exact.Read(&y, exact.WithMaxBytes(10)); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("a limit: %v", err)
	}
}

// TestExactSources checks that an error of a list ends the build, and that the error for members outside the universe
// names them.
func TestExactSources(t *testing.T) {
	list := func(end error, keys ...string) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, k := range keys {
				if !yield(k, nil) {
					return
				}
			}
			if end != nil {
				yield("", end)
			}
		}
	}
	_, err := exact.Build(t.Context(), list(nil, "a"), list(io.ErrUnexpectedEOF, "a"), exact.Config{})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	var outside *exact.OutsideError
	_, err = exact.Build(t.Context(), list(nil, "a", "x"), list(nil, "a", "b"), exact.Config{})
	if !errors.As(err, &outside) || outside.Count != 1 || !slices.Equal(outside.Keys, []string{`"x"`}) {
		t.Errorf("%v", err)
	}
	b, err := exact.NewBuilder(exact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	members := [][]byte{[]byte("x")}
	if err := errors.Join(b.AddMembers(members), b.AddUniverse(serials(0, 5))); err != nil {
		t.Fatal(err)
	}
	if _, err = b.Build(t.Context()); errors.As(err, &outside) && len(outside.Keys) == 0 {
		outside.Name(members)
	}
	if !slices.Equal(outside.Keys, []string{`"x"`}) {
		t.Errorf("%v", outside)
	}
}
