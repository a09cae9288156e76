package patch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/shard"
)

// damage returns a damaged copy of a delta: with flipped bits, other bytes, cut, extended, or with a part of another
// delta.
func damage(r *rand.Rand, d []byte, others [][]byte) []byte {
	b := bytes.Clone(d)
	const prefix = 24
	switch r.IntN(6) {
	case 0: // anywhere
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	case 1: // in the first fields, which have counts and parameters
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
	case 4: // the rest of another one, or another method with this body
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

// expected are the errors of Patch for a damaged delta.
var expected = []error{
	patch.ErrBase, patch.ErrCorrupt, patch.ErrVersion, filter.ErrTooLarge, filter.ErrCorrupt, shard.ErrManifest,
}

func isExpected(err error) bool {
	for _, e := range expected {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// TestDamaged applies damaged deltas of all methods. Each must be an error or give the target, without a panic, in
// memory that the base, the delta and the target bound.
func TestDamaged(t *testing.T) {
	const rounds = 5000
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	pairs := vectorPairs(t)
	var deltas [][]byte
	for _, p := range pairs {
		deltas = append(deltas, checkPair(t, p.old, p.new))
	}
	refused, most := 0, 0.0
	for range rounds {
		i := r.IntN(len(pairs))
		p, d := pairs[i], damage(r, deltas[i], deltas)
		var got []byte
		var err error
		n := allocated(func() { got, err = patch.Patch(ctx, p.old, d, 0) })
		switch {
		case err == nil && !bytes.Equal(got, p.new):
			t.Fatalf("%s: % x gives another file", p.name, d)
		case err != nil && (got != nil || !isExpected(err)):
			t.Fatalf("%s: % x gives %d bytes and %v", p.name, d, len(got), err)
		case err != nil:
			refused++
		}
		most = max(most, float64(n)/float64(len(p.old)+len(p.new)+len(d)+4096))
	}
	t.Logf("%d of %d refused; memory at most %.1f times base, target, delta and 4 KiB", refused, rounds, most)
	if refused < rounds*9/10 || most > 24 {
		t.Errorf("%d of %d refused; memory %.1f", refused, rounds, most)
	}
}

// TestDamagedSets is TestDamaged for sharded sets.
func TestDamagedSets(t *testing.T) {
	const rounds = 2000
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 6))
	var bases, targets []*folder
	var deltas [][]byte
	for _, spec := range []string{"standard(k=7,m=20000)", "rankindexed(capacity=2100,fpr=0.01)"} {
		base := newFolder(t, spec, setFiles(t, spec, 0, 0, 0, 0), nil)
		for _, change := range [][]int{{0, 3, 0, 0}, {5, 5, 5, 5}, {0, 0, 0}} {
			bases = append(bases, base)
			targets = append(targets, newFolder(t, spec, setFiles(t, spec, change...), base))
			deltas = append(deltas, checkSets(t, base, targets[len(targets)-1]))
		}
	}
	refused, most := 0, 0.0
	for range rounds {
		i := r.IntN(len(deltas))
		d := damage(r, deltas[i], deltas)
		var got []byte
		var err error
		n := allocated(func() {
			got, err = patch.PatchSet(ctx, bases[i].set(), d, 0, func(name string, _ []byte) error {
				if !shardfile.IsName(name) {
					t.Errorf("% x writes %q", d, name)
				}
				return nil
			})
		})
		switch {
		case err == nil && !bytes.Equal(got, targets[i].text):
			t.Fatalf("% x gives another manifest", d)
		case err != nil && (got != nil || !isExpected(err)):
			t.Fatalf("% x gives %d bytes and %v", d, len(got), err)
		case err != nil:
			refused++
		}
		size := len(d) + 4096
		for _, f := range []*folder{bases[i], targets[i]} {
			size += len(f.text)
			for _, b := range f.files {
				size += len(b)
			}
		}
		most = max(most, float64(n)/float64(size))
	}
	t.Logf("%d of %d refused; memory at most %.1f times both sets, delta and 4 KiB", refused, rounds, most)
	if refused < rounds*9/10 || most > 24 {
		t.Errorf("%d of %d refused; memory %.1f", refused, rounds, most)
	}
}

// TestTruncated applies each beginning of a delta.
func TestTruncated(t *testing.T) {
	for _, p := range vectorPairs(t) {
		d := checkPair(t, p.old, p.new)
		step := 1 + len(d)/200
		for n := 0; n < len(d); n += step {
			if got, err := patch.Patch(context.Background(), p.old, d[:n], 0); err == nil || got != nil {
				t.Fatalf("%s: the first %d bytes of %d give %d bytes", p.name, n, len(d), len(got))
			}
		}
	}
}

// TestLimit gives Patch the exact length of the target, and a byte less.
func TestLimit(t *testing.T) {
	ctx := context.Background()
	for _, p := range vectorPairs(t) {
		d := checkPair(t, p.old, p.new)
		if strings.Contains(p.name, "trimmed") { // in memory it is larger
			continue
		}
		if _, err := patch.Patch(ctx, p.old, d, uint64(len(p.new))); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		o := uint64(len(p.new)) - 1
		if _, err := patch.Patch(ctx, p.old, d, o); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: a byte less: %v", p.name, err)
		}
	}
}

// TestCancelled ends both functions by their context.
func TestCancelled(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	for _, p := range vectorPairs(t) {
		d := checkPair(t, p.old, p.new)
		if i, _ := patch.Read(d); i.Method == patch.Whole {
			continue
		}
		if _, err := patch.Patch(ctx, p.old, d, 0); err != cause {
			t.Errorf("%s: Patch: %v", p.name, err)
		}
		if _, err := patch.Diff(ctx, p.old, p.new); err != cause {
			t.Errorf("%s: Diff: %v", p.name, err)
		}
	}
}

// FuzzPatch applies any bytes to the bases of testdata.
func FuzzPatch(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.delta")
	if err != nil || len(paths) < 25 {
		f.Fatalf("%d seeds: %v", len(paths), err)
	}
	var bases [][]byte
	for i, path := range paths {
		d, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		base, err := os.ReadFile(strings.TrimSuffix(path, ".delta") + ".base")
		if err != nil {
			f.Fatal(err)
		}
		bases = append(bases, base)
		f.Add(i, d)
	}
	f.Fuzz(func(t *testing.T, i int, d []byte) {
		if i < 0 || i >= len(bases) {
			return
		}
		got, err := patch.Patch(context.Background(), bases[i], d, 1<<20)
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
