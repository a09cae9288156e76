package patch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// damage returns a damaged copy of a delta: with flipped bits, changed bytes, truncated, extended, or with a part of
// another delta.
func damage(r *rand.Rand, d []byte, others [][]byte) []byte {
	b := bytes.Clone(d)
	const prefix = 24
	switch r.IntN(6) {
	case 0: // anywhere
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	case 1: // in the first fields, which contain counts and parameters
		for range 1 + r.IntN(3) {
			at := min(len(b)-1, prefix+r.IntN(12))
			b[at] ^= 1 << r.IntN(8)
		}
	case 2:
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
	case 3:
		b = b[:r.IntN(len(b))]
	case 4: // the rest of another delta, or another method with this body
		o := others[r.IntN(len(others))]
		at := min(len(b), len(o), prefix+r.IntN(len(b)))
		b = append(b[:at], o[at:]...)
		if r.IntN(2) == 0 {
			b = bytes.Clone(d)
			b[3] = byte(r.IntN(256))
		}
	case 5:
		more := make([]byte, 1+r.IntN(20))
		for i := range more {
			more[i] = byte(r.Uint32() >> r.IntN(32))
		}
		b = append(b, more...)
	}
	return b
}

// allocated returns the bytes that do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// expected lists the errors that Patch may return for a damaged delta.
var expected = []error{
	patch.ErrBase, patch.ErrCorrupt, patch.ErrVersion, filter.ErrTooLarge, filter.ErrCorrupt, shard.ErrManifest,
}

func isExpected(err error) bool {
	return slices.ContainsFunc(expected, func(e error) bool { return errors.Is(err, e) })
}

// TestDamaged applies damaged deltas of all methods. Patch must return an error or the target, without a panic, and its
// memory must be bounded by the base, the delta and the target. No delta of a set may write a file that is not a shard.
func TestDamaged(t *testing.T) {
	var files, sets []damaged
	for _, p := range vectorPairs(t) {
		files = append(files, damaged{p.name, file(p.old), p.new, checkPair(t, p.old, p.new), len(p.old) + len(p.new)})
	}
	for _, spec := range setSpecs {
		base := newFolder(t, spec, setFiles(t, spec, 0, 0, 0, 0), nil)
		for _, change := range [][]int{{0, 3, 0, 0}, {5, 5, 5, 5}, {0, 0, 0}} {
			to := newFolder(t, spec, setFiles(t, spec, change...), base)
			sets = append(sets, damaged{spec, base.set(), to.text, checkSets(t, base, to), base.bytes() + to.bytes()})
		}
	}
	testDamaged(t, files, rand.New(rand.NewPCG(3, 4)), 5000)
	testDamaged(t, sets, rand.New(rand.NewPCG(5, 6)), 2000)
}

// damaged is a delta that TestDamaged damages.
type damaged struct {
	name   string
	base   patch.Version
	target []byte
	delta  []byte
	size   int // bytes of base and target
}

func testDamaged(t *testing.T, cases []damaged, r *rand.Rand, rounds int) {
	var deltas [][]byte
	for _, c := range cases {
		deltas = append(deltas, c.delta)
	}
	refused, most := 0, 0.0
	for range rounds {
		c := cases[r.IntN(len(cases))]
		d := damage(r, c.delta, deltas)
		var got []byte
		var err error
		n := allocated(func() {
			got, err = patch.Patch(context.Background(), c.base, d, 0, func(name string, _ []byte) error {
				if !shardset.IsName(name) {
					t.Errorf("%s: % x writes %q", c.name, d, name)
				}
				return nil
			})
		})
		switch {
		case err == nil && !bytes.Equal(got, c.target):
			t.Fatalf("%s: % x gives another file", c.name, d)
		case err != nil && (got != nil || !isExpected(err)):
			t.Fatalf("%s: % x gives %d bytes and %v", c.name, d, len(got), err)
		case err != nil:
			refused++
		}
		most = max(most, float64(n)/float64(c.size+len(d)+4096))
	}
	t.Logf("%d of %d refused; memory at most %.1f times base, target, delta and 4 KiB", refused, rounds, most)
	if refused < rounds*9/10 || most > 24 {
		t.Errorf("%d of %d refused; memory %.1f", refused, rounds, most)
	}
}

// TestTruncated applies each prefix of a delta.
func TestTruncated(t *testing.T) {
	for _, p := range vectorPairs(t) {
		d := checkPair(t, p.old, p.new)
		step := 1 + len(d)/200
		for n := 0; n < len(d); n += step {
			if got, err := patch.Patch(context.Background(), file(p.old), d[:n], 0, nil); err == nil || got != nil {
				t.Fatalf("%s: the first %d bytes of %d give %d bytes", p.name, n, len(d), len(got))
			}
		}
	}
}

// TestLimit calls Patch with a limit of exactly the length of the target, and of one byte less.
func TestLimit(t *testing.T) {
	ctx := context.Background()
	for _, p := range vectorPairs(t) {
		d := checkPair(t, p.old, p.new)
		if strings.Contains(p.name, "trimmed") { // in memory, the target is larger
			continue
		}
		if _, err := patch.Patch(ctx, file(p.old), d, uint64(len(p.new)), nil); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		o := uint64(len(p.new)) - 1
		if _, err := patch.Patch(ctx, file(p.old), d, o, nil); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: a byte less: %v", p.name, err)
		}
	}
}

// TestCancelled cancels the contexts of Diff and Patch.
func TestCancelled(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	for _, p := range vectorPairs(t) {
		d := checkPair(t, p.old, p.new)
		if i, _ := patch.Read(d); i.Method == patch.Whole {
			continue
		}
		if _, err := patch.Patch(ctx, file(p.old), d, 0, nil); err != cause {
			t.Errorf("%s: Patch: %v", p.name, err)
		}
		if _, err := patch.Diff(ctx, file(p.old), file(p.new)); err != cause {
			t.Errorf("%s: Diff: %v", p.name, err)
		}
	}
}

// FuzzPatch applies arbitrary bytes as deltas to the bases of testdata.
func FuzzPatch(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.delta")
	if err != nil || len(paths) < 25 {
		f.Fatalf("%d seeds: %v", len(paths), err)
	}
	var bases []patch.Version
	for i, path := range paths {
		d := read(f, path)
		base := read(f, strings.TrimSuffix(path, ".delta")+".base")
		bases = append(bases, file(base))
		f.Add(i, d)
	}
	f.Fuzz(func(t *testing.T, i int, d []byte) {
		if i < 0 || i >= len(bases) {
			return
		}
		got, err := patch.Patch(context.Background(), bases[i], d, 1<<20, nil)
		if err != nil {
			if !isExpected(err) || got != nil {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			return
		}
		info, err := patch.Read(d)
		if sum := sha256.Sum256(got); err != nil || !bytes.Equal(sum[:patch.HashSize], info.Target[:]) {
			t.Fatalf("a result with another hash: %v", err)
		}
	})
}
