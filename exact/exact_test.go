package exact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// universeOf yields n keys.
func universeOf(n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var key [8]byte
		for i := range n {
			binary.LittleEndian.PutUint64(key[:], uint64(i)*0x9e3779b97f4a7c15)
			if !yield(key[:]) {
				return
			}
		}
	}
}

// chosen yields the keys of universeOf that are members at a density, chosen by the seed.
func chosen(n int, density float64, seed uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		r := rand.New(rand.NewPCG(seed, 0))
		for key := range universeOf(n) {
			if r.Float64() < density && !yield(key) {
				return
			}
		}
	}
}

// mustBuild builds a set and checks all of its answers.
func mustBuild(t testing.TB, n int, density float64, seed uint64, c Config) *Set {
	t.Helper()
	s := must(Build(t.Context(), chosen(n, density, seed), universeOf(n), c))
	r := rand.New(rand.NewPCG(seed, 0))
	wrong, members := 0, uint64(0)
	for key := range universeOf(n) {
		member := r.Float64() < density
		if member {
			members++
		}
		if s.Contains(key) != member {
			wrong++
		}
	}
	if i := s.Info(); wrong > 0 || i.Universe != uint64(n) || i.Members != members {
		t.Errorf("%d keys, density %g: %d wrong answers, %+v", n, density, wrong, i)
	}
	return s
}

func TestBuild(t *testing.T) {
	for _, n := range []int{0, 1, 2, 10, 100, 1000, 20_000} {
		for _, density := range []float64{0, .001, .01, .1, .3, .5, .7, .99, 1} {
			t.Run(fmt.Sprint(n, density), func(t *testing.T) {
				s := mustBuild(t, n, density, 1, Config{})
				data := must(s.appendTo(nil))
				must(FromBytes(data))
			})
		}
	}
}

// TestSize bounds the size in bits per member. Sets with few members need more bits per member.
func TestSize(t *testing.T) {
	n, most := 1_000_000, []float64{12.25, 8.61, 5.16}
	switch {
	case *long:
		n, most = 10_000_000, []float64{12.1, 8.6, 5.15}
	case testing.Short():
		n, most = 100_000, []float64{13, 8.8, 5.2}
	}
	for i, density := range []float64{.001, .01, .1} {
		s := mustBuild(t, n, density, 1, Config{}).Info()
		t.Logf("%g: %.3f bits per member, entropy %.3f, %d bytes, %+v",
			density, s.BitsPerMember, s.EntropyPerMember, s.Bytes, s.Classes)
		if s.BitsPerMember > most[i] {
			t.Errorf("density %g: %.3f bits per member, want at most %g", density, s.BitsPerMember, most[i])
		}
	}
}

// TestMemoryOne checks that a limit of one byte is not ignored. Keys must be written to a file, which fails because its
// directory does not exist.
func TestMemoryOne(t *testing.T) {
	u := make([][]byte, 1<<18)
	for i := range u {
		u[i] = fmt.Append(nil, i)
	}
	all := slices.Values(u)
	c := Config{Memory: 1, TempDir: filepath.Join(t.TempDir(), "missing")}
	if _, err := Build(t.Context(), all, all, c); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v, want an error of the directory", err)
	}
}

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	if err != nil {
		t.Helper() // slow: some tests check millions of calls
		t.Fatal(err)
	}
}
