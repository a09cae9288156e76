package bloomery_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// TestChosen has the planner choose for a Builder that knows the number of keys, and for one that counts them: both tell the
// choice, and give the same filter with room for Capacity keys.
func TestChosen(t *testing.T) {
	var sets [2]*bloomery.Set
	for i, keys := range []uint64{1000, 0} {
		var told []plan.Choice
		b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{
			Needs: plan.Needs{Merge: true, FPR: 0.01}, Keys: keys, Capacity: 5000,
			Chosen: func(c plan.Choice) { told = append(told, c) },
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range uint64(1000) {
			if err := b.AddUint64(k); err != nil {
				t.Fatal(err)
			}
		}
		if sets[i], err = b.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0].Spec != b.Spec() || told[0].Spec.String() != "standard(capacity=5000,fpr=0.01)" {
			t.Errorf("keys %d: told %v, built %s", keys, told, b.Spec())
		}
	}
	if !sets[0].Equal(sets[1]) {
		t.Errorf("%v and %v", sets[0], sets[1])
	}
}

// TestResolve bounds the memory of a planned build as the choice assumes, with 1/8 of it for buffers, and leaves a
// Config with a Spec as it is.
func TestResolve(t *testing.T) {
	for limit, c := range map[int64]bloomery.Config{
		1 << 30: {Needs: plan.Needs{FPR: 0.1}, Keys: 100},
		1 << 26: {Needs: plan.Needs{FPR: 0.1, Memory: 1 << 26}, Keys: 100},
		1 << 25: {Needs: plan.Needs{FPR: 0.1}, Memory: 1 << 25, Keys: 100},
		0:       {Spec: "fuse", Keys: 100},
	} {
		r, err := c.Resolve(t.Context())
		if err != nil || r.Memory != limit/8*7 || r.Spec == "" {
			t.Errorf("%v became %v, %v", c, r, err)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	secret := filter.NewSecret()
	for _, c := range []struct {
		config bloomery.Config
		want   error
	}{
		{bloomery.Config{}, nil},
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Secret: secret}, nil},
		{bloomery.Config{Spec: "blocked(layout=split)", Hash: filter.XXH64}, nil},
		{bloomery.Config{Spec: "nonsense"}, filter.ErrFamily},
		{bloomery.Config{Spec: "blocked("}, filter.ErrSpec},
		{bloomery.Config{Spec: "standard(fpr=2)"}, filter.ErrConfig},
		{bloomery.Config{Spec: "fuse", Concurrent: true}, filter.ErrUnsupported},
		{bloomery.Config{Spec: "blocked", Hash: filter.XXH64}, filter.ErrConfig},
		{bloomery.Config{Secret: secret, Seed: 1}, filter.ErrConfig},
		{bloomery.Config{Needs: plan.Needs{Adversarial: true}}, filter.ErrConfig},
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Hash: filter.XXH64}, filter.ErrConfig},
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Secret: secret, Seed: 1}, filter.ErrConfig},
	} {
		if err := c.config.Check(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%v: %v, want %v", c.config, err, c.want)
		}
	}
}

// fileBytes returns the length in bytes of the file of a Set.
func fileBytes(t *testing.T, s *bloomery.Set) uint64 {
	t.Helper()
	n, err := s.WriteTo(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(n)
}

// TestFileInfo reads a file in both forms. What was changed since does not matter.
func TestFileInfo(t *testing.T) {
	set, err := bloomery.New(bloomery.Config{Spec: "rankindexed", Keys: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if set.FileInfo() != (bloomery.FileInfo{}) {
		t.Errorf("of no file: %+v", set.FileInfo())
	}
	small, err := set.Trimmed()
	if err != nil {
		t.Fatal(err)
	}
	for trimmed, s := range map[bool]*bloomery.Set{false: set, true: small} {
		path := filepath.Join(t.TempDir(), "f.bloom")
		if err := s.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		n := fileBytes(t, s)
		got, err := bloomery.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.AddString("a key"); err != nil {
			t.Fatal(err)
		}
		if want := (bloomery.FileInfo{Bytes: n, Version: 1, Trimmed: trimmed}); got.FileInfo() != want {
			t.Errorf("%+v, want %+v", got.FileInfo(), want)
		}
		if err := got.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTrimmedTooLarge refuses the trimmed form of a filter that would take more memory than a file of its size may.
func TestTrimmedTooLarge(t *testing.T) {
	set, err := bloomery.New(bloomery.Config{Spec: "rankindexed(buckets=100000,capacity=1000,cells=180,chains=1,remainder=6)"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Trimmed(); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}
