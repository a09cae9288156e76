package settest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/settest"
)

// plainVerification computes the result of a Verifier in the simplest way.
func plainVerification(set *bloomery.Set, absent, members []string) (v bloomery.Verification) {
	var trials, wrong uint64
	known := map[string]bool{}
	for _, k := range members {
		known[k] = true
		v.Members++
		if !set.ContainsString(k) {
			v.FalseNegatives++
		}
	}
	for _, k := range absent {
		if known[k] {
			continue
		}
		known[k] = true // once
		trials++
		if set.ContainsString(k) {
			wrong++
		}
	}
	v.Rate = settest.RateOf(wrong, trials)
	return v
}

// inParts calls f with parts of keys, from several goroutines.
func inParts(t *testing.T, keys []string, f func([][]byte) error) {
	t.Helper()
	var wg sync.WaitGroup
	for part := range slices.Chunk(keys, 100) {
		wg.Go(func() {
			var bs [][]byte
			for _, k := range part {
				bs = append(bs, []byte(k))
			}
			if err := f(bs); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestVerifier compares a Verifier with plainVerification: repeated keys, absent keys that are members, and missing
// members, with and without a file.
func TestVerifier(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	names := func(n, of int) (keys []string) {
		for range n {
			keys = append(keys, fmt.Sprint("name", r.IntN(of)))
		}
		return keys
	}
	for _, tt := range []struct{ members, absent int }{{1000, 3000}, {5000, 1000}, {20_000, 50_000}, {3000, 1}, {0,
		2000}} {
		members, absent := names(tt.members, 10_000), names(tt.absent, 40_000)
		set := settest.Must(bloomery.Build(t.Context(), slices.Values(members[:tt.members/2]),
			bloomery.Config{Spec: "standard(fpr=0.1)"}))
		want := plainVerification(set, absent, members)
		for _, memory := range []int64{0, 1, 10_000, 100_000} {
			dir := t.TempDir()
			v := settest.Must(set.Verifier(bloomery.JobConfig{Building: bloomery.Building{Memory: memory, TempDir: dir},
				Absent: uint64(tt.absent)}))
			inParts(t, absent, v.AddAbsent)
			inParts(t, members, v.AskMembers)
			got, err := v.Commit(t.Context())
			if err != nil || got != want {
				t.Errorf("seed %d, %+v, memory %d: %+v, %v; want %+v", seed, tt, memory, got, err, want)
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		}
	}
}

// TestVerifierRandom checks that the random keys come from RandomKeys, and that members are queried but not kept in
// memory.
func TestVerifierRandom(t *testing.T) {
	members := settest.Words(1000)
	set := settest.Must(bloomery.Build(t.Context(), slices.Values(members), bloomery.Config{Spec: "standard(fpr=0.1)"}))
	const n, seed = 10_000, 5
	want := bloomery.Verification{Members: 1000}
	asked, wrong := 0, uint64(0)
	for k := range bulk.RandomKeys(seed) {
		if set.Contains(k) {
			wrong++
		}
		if asked++; asked == n {
			break
		}
	}
	want.Rate = settest.RateOf(wrong, n)
	v := settest.Must(set.Verifier(bloomery.JobConfig{}))
	defer v.Close()
	inParts(t, members, v.AskMembers)
	var shown uint64
	settest.Check(t, v.AskRandom(t.Context(), n, seed, func(keys uint64) { shown = keys }))
	if got, err := v.Commit(t.Context()); err != nil || got != want || shown != n {
		t.Errorf("%+v, %v after %d keys; want %+v", got, err, shown, want)
	}
	if !want.Rate.Holds(0.1) {
		t.Errorf("%+v", want.Rate)
	}
	if err := v.AddAbsent([][]byte{[]byte("a")}); err == nil {
		t.Error("AddAbsent after AskMembers is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.AskRandom(ctx, n, seed, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("AskRandom after the end of ctx: %v", err)
	}
}

// TestVerifierMemory checks that a Verifier keeps at most 24 bytes per member when there are as many absent keys as
// members.
func TestVerifierMemory(t *testing.T) {
	n := 1 << 20
	if testing.Short() {
		n = 1 << 18
	}
	set := settest.Must(bloomery.New(bloomery.Config{Spec: "standard(fpr=0.1)", Capacity: 1000}))
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	v := settest.Must(set.Verifier(bloomery.JobConfig{Absent: uint64(n)}))
	defer v.Close()
	keys := make([][]byte, 256)
	ask := func(name string, f func([][]byte) error) {
		for i := range n / len(keys) {
			for j := range keys {
				keys[j] = fmt.Appendf(keys[j][:0], "%s%d", name, i*len(keys)+j)
			}
			settest.Check(t, f(keys))
		}
	}
	ask("absent", v.AddAbsent)
	ask("member", v.AskMembers)
	if per := float64(heap()-before) / float64(n); per > 24 {
		t.Errorf("%.1f bytes per member", per)
	} else {
		t.Logf("%.1f bytes per member", per)
	}
	if got, err := v.Commit(t.Context()); err != nil || got.Rate.Trials != uint64(n) || got.Members != uint64(n) {
		t.Errorf("%+v, %v", got, err)
	}
}
