package plan

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestFor checks that the choices meet the needs.
func TestFor(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, n := range []Needs{
		{Keys: 10_000}, {Keys: 10_000, FPR: 0.001, For: Fastest}, {Keys: 5000, BitsPerKey: 12}, {Keys: 5000, Bytes: 9000, For: Fastest},
		{Keys: 10_000, Later: 5000, Remove: true}, {Keys: 10_000, Count: true, OneLine: true}, {Keys: 1000, Merge: true, Remove: true},
		{Keys: 1000, ValueBits: 7}, {Keys: 1000, Writers: true, Adversarial: true}, {Keys: 20_000, FPR: 0.01, BitsPerKey: 10, Remove: true},
	} {
		p, err := For(t.Context(), n)
		if err != nil {
			t.Errorf("%+v: %v", n, err)
			continue
		}
		if err := n.check(); err != nil {
			t.Fatal(err)
		}
		for i, c := range p.Choices {
			if n.FPR > 0 && c.FPRPrior > 1.02*n.FPR || n.budget() > 0 && float64(c.Bits) > n.budget()+n.slackBits() || c.Reason == "" || c.NsQuery <= 0 {
				t.Errorf("%+v: %+v", n, c)
			}
			if n.Later > 0 && !family.Given(c.Spec, "capacity") && !family.Given(c.Spec, "later") {
				t.Errorf("%+v: %s has no room for later keys", n, c.Spec)
			}
			if i > 0 && n.FPR > 0 && (n.For == Smallest && c.FileBytes < p.Choices[i-1].FileBytes ||
				n.For == Fastest && c.NsQuery < p.Choices[i-1].NsQuery) {
				t.Errorf("%+v: %s comes after %s", n, c.Spec, p.Choices[i-1].Spec)
			}
		}
		for _, r := range p.Refused {
			if r.Why == "" {
				t.Errorf("%+v: %s is refused without a reason", n, r.Spec)
			}
		}
	}
	if p, err := For(t.Context(), Needs{Keys: 1000, Merge: true, Remove: true}); err != nil || p.Choices[0].Spec.Family() != "counting" {
		t.Errorf("removal and union: %v, %v", p.Choices, err)
	}
}

// TestRefused checks that patented filters, filters that need too much memory and slow builds are refused, and that
// immeasurably low rates rank as equal.
func TestRefused(t *testing.T) {
	held := families.Costs().Memory
	if len(held) != len(allKinds()) || held["fuse"] < 8 || held["fuse"] > 80 || held["standard"] > 4 {
		t.Fatalf("bytes per key that builds hold: %v; run go generate ./internal/families", held)
	}
	why := func(n Needs, family string) string {
		t.Helper()
		p, err := For(t.Context(), n)
		if err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		for _, r := range p.Refused {
			if r.Spec.Family() == family {
				return r.Why
			}
		}
		return ""
	}
	n := Needs{Keys: 1_000_000, Unpatented: true, Memory: 1 << 20, Build: 300 * time.Millisecond, BitsPerKey: 12}
	for family, want := range map[string]string{
		"partitioned": "patented", "blockpartitioned": "patented", "fuse": "bytes to build", "twochoice": "to build on one core", "standard": "", "rankindexed": "",
	} {
		if got := why(n, family); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s is refused for %q, want %q", family, got, want)
		}
	}
	n.Keys, n.BitsPerKey, n.Memory, n.Build = 3, 0, 1<<30, time.Second
	n.Bytes = 1 << 16
	p, err := For(t.Context(), n)
	if err != nil || p.Choices[0].FPRPrior == 0 || p.Choices[0].NsQuery > 10 {
		t.Errorf("3 keys in 64 KiB: %+v, %v", p.Choices, err)
	}
}

// TestEdges checks unusual needs: rates near 1, budgets between two sizes, and rates so low that a bucket of one line
// overflows.
func TestEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	specs := func(n Needs) (all []string) {
		t.Helper()
		p, err := For(t.Context(), n)
		if err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		for _, c := range p.Choices {
			all = append(all, c.Spec.String())
		}
		return all
	}
	for _, x := range []struct {
		n     Needs
		has   string
		lacks string
	}{
		{Needs{Keys: 1000, FPR: 0.95, BitsPerKey: 1.4, Remove: true}, "counting(fpr=0.95)", "rankindexed(fpr=0.95)"},
		{Needs{Keys: 1000, FPR: 0.9, Count: true}, "rankindexed(counting=1,fpr=0.5)", ""},
		{Needs{Keys: 1000, BitsPerKey: 10}, "blocked(bits_per_key=9.7)", "blocked(bits_per_key=10)"},
		{Needs{Keys: 10, Bytes: 10}, "standard(bytes=10)", "blocked(bytes=10)"},
		{Needs{Keys: 1000, FPR: 1e-9, OneLine: true}, "rankindexed(bucket=512,fast=1,fpr=1e-09)", "rankindexed(bucket=512,fpr=1e-09)"},
		{Needs{Keys: 1000, ValueBits: 8, OneLine: true}, "rankindexed(bucket=512,fast=1,fpr=0.01,value_bits=8)", ""},
		{Needs{Keys: 1000, Bytes: 300, For: Fastest}, "standard(bytes=300)", "standard(bytes=301)"},
	} {
		all := specs(x.n)
		if !slices.Contains(all, x.has) || slices.Contains(all, x.lacks) {
			t.Errorf("%+v: %v, want %s and not %s", x.n, all, x.has, x.lacks)
		}
	}
	if first := specs(Needs{Keys: 1000, Bytes: 300, For: Fastest})[0]; first == "blocked(bytes=300,layout=split)" {
		t.Error("the fastest in 300 bytes says yes to three in four")
	}
	// The nearest filter has the same size and fewer keys.
	_, err := For(t.Context(), Needs{Keys: 1e15, Bytes: 1 << 20})
	var impossible *Impossible
	if !errors.As(err, &impossible) || !slices.ContainsFunc(impossible.Nearest, func(c Choice) bool {
		return c.Bits <= 8<<20 && c.Keys > 500_000 && strings.HasPrefix(c.Instead, "for ")
	}) {
		t.Errorf("1e15 keys in a MiB: %v", err)
	}
}

// TestSizes compares the sizes of built filters with the forecasts, in families that search.
func TestSizes(t *testing.T) {
	for _, name := range []string{"partitioned", "blockpartitioned", "twochoice"} {
		kind, err := families.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		spec := family.NewSpec(name, "fpr", 0.02)
		row := Forecast(spec, 1000)
		for seed := range uint64(4) {
			b, err := kind.NewBuilder(spec, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.AddMany(filtertest.Hashes(1000, seed)); err != nil {
				t.Fatal(err)
			}
			f, err := b.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if i := f.Info(); math.Abs(float64(i.Bits)/float64(row.Bits)-1) > 0.01 || i.FPRPosterior > 0.02 {
				t.Errorf("%s, seed %d: %d bits, forecast %d; a rate of %.4g", name, seed, i.Bits, row.Bits, i.FPRPosterior)
			}
		}
	}
}

// TestImpossible checks that the error for needs that no filter meets names the impossible need and the nearest
// filters.
func TestImpossible(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, x := range []struct {
		n    Needs
		what string
	}{
		{Needs{Keys: 100_000, FPR: 0.01, BitsPerKey: 8, Remove: true}, "log2(1/ε) + 1.44 = 8.08"},
		{Needs{Keys: 100_000, FPR: 0.01, BitsPerKey: 6}, "log2(1/ε) = 6.64"},
		{Needs{Keys: 1e15, Bytes: 1 << 20}, "nearly every answer would be yes"},
		{Needs{Keys: 1e15, Bytes: 1 << 20, FPR: 0.01}, "log2(1/ε)"},
		{Needs{Keys: 1000, ValueBits: 8, Merge: true}, "no filter does all of this"},
		{Needs{Keys: 1000, FPR: 0.01, BitsPerKey: 9, Remove: true}, "no filter does all of this"},
		{Needs{Keys: 1000, FPR: 1e-37}, "has the hash of one of the 1000"},
		{Needs{Keys: 1000, Bytes: 64, Remove: true}, "has a rate of 1"},
	} {
		_, err := For(t.Context(), x.n)
		var impossible *Impossible
		if !errors.As(err, &impossible) || !strings.Contains(err.Error(), x.what) {
			t.Errorf("%+v: %v, want %q", x.n, err, x.what)
			continue
		}
		if len(impossible.Nearest) == 0 {
			t.Errorf("%+v: there is nothing nearest", x.n)
		}
		for _, c := range impossible.Nearest {
			if c.Instead == "" || c.Reason == "" {
				t.Errorf("%+v: %s does not say what it does without", x.n, c.Spec)
			}
		}
	}
	if d := roundTime(math.MaxInt64 / 2); d <= 0 || roundTime(1234567) != 1230*time.Microsecond {
		t.Errorf("short: %v, %v", d, roundTime(1234567))
	}
	for _, n := range []Needs{{}, {Keys: 1, FPR: -1}, {Keys: 1, FPR: math.NaN()}, {Keys: 1, FPR: 1}, {Keys: 1, BitsPerKey: 5, Bytes: 7}, {Keys: 1 << 60}, {Keys: 5, Later: math.MaxUint64}, {Keys: 1, For: "x"}, {Keys: 1, Absent: 2}, {Keys: 1, ValueBits: 33}} {
		if _, err := For(t.Context(), n); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

// TestLasting checks that the family of the choice is the one in the comment of Lasting, for few keys and for many.
func TestLasting(t *testing.T) {
	for _, x := range []struct {
		n    Needs
		want string
	}{
		{Needs{}, "ribbon(fpr=0.01)"}, {Needs{Add: true}, "standard(fpr=0.01)"},
		{Needs{Merge: true}, "standard(fpr=0.01)"}, {Needs{OneLine: true}, "blocked(fpr=0.01)"},
		{Needs{Remove: true}, "rankindexed(fpr=0.01)"}, {Needs{Count: true}, "rankindexed(counting=1,fpr=0.01)"},
		{Needs{ValueBits: 3}, "rankindexed(fpr=0.01,value_bits=3)"},
		{Needs{Remove: true, Merge: true}, "counting(fpr=0.01)"},
	} {
		for _, keys := range []uint64{1000, 1_000_000} {
			x.n.Keys, x.n.For = keys, Lasting
			p, err := For(t.Context(), x.n)
			if err != nil || len(p.Choices) != 1 || p.Choices[0].Spec.String() != x.want {
				t.Errorf("%+v: %v, %v; want %s", x.n, p.Choices, err, x.want)
			}
		}
	}
	var impossible *Impossible
	n := Needs{Keys: 1000, FPR: 0.01, ValueBits: 3, Merge: true, For: Lasting}
	if _, err := For(t.Context(), n); !errors.As(err, &impossible) || len(impossible.Nearest) == 0 {
		t.Errorf("%+v: %v", n, err)
	}
}
