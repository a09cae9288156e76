package settest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
)

type (
	name   string
	blob   []byte
	number uint64
)

// TestBuildKinds builds Sets from all kinds of keys, in every family. Named types must hash as their underlying types,
// strings as their bytes, and integers as eight bytes.
func TestBuildKinds(t *testing.T) {
	texts := settest.Words(500)
	var named []name
	var blobs [][]byte
	var namedBlobs []blob
	var numbers []uint64
	var namedNumbers []number
	for i, w := range texts {
		named, blobs, namedBlobs = append(named, name(w)), append(blobs, []byte(w)), append(namedBlobs, blob(w))
		numbers, namedNumbers = append(numbers, uint64(i)), append(namedNumbers, number(i))
	}
	for _, f := range families.All() {
		c := bloomery.Config{Spec: settest.SpecOf(f), Hashing: bloomery.Hashing{Seed: 7}}
		if f.Foreign() {
			c.Hashing.Seed = 0
		}
		t.Run(f.Name, func(t *testing.T) {
			s := settest.Build(t, texts, c)
			for what, other := range map[string]*bloomery.Set{
				"named strings": settest.Build(t, named, c), "bytes": settest.Build(t, blobs, c), "named bytes": settest.Build(t,
					namedBlobs, c),
			} {
				if !s.Equal(other) {
					t.Errorf("%s give another set", what)
				}
			}
			ints := settest.Build(t, numbers, c)
			if !ints.Equal(settest.Build(t, namedNumbers, c)) {
				t.Error("named integers give another set")
			}
			dst := make([]bool, len(texts))
			bloomery.Keyed[[]byte](s).ContainsMany(dst, blobs)
			for i, w := range texts {
				if !s.ContainsString(w) || !s.Contains(blobs[i]) || !dst[i] || !bloomery.Keyed[uint64](ints).Contains(numbers[i]) {
					t.Fatalf("key %d is lost", i)
				}
			}
			clear(dst)
			bloomery.Keyed[string](s).ContainsMany(dst, texts)
			also := make([]bool, len(numbers))
			bloomery.Keyed[uint64](ints).ContainsMany(also, numbers)
			if slices.Contains(dst, false) || slices.Contains(also, false) {
				t.Error("a batch lost a key")
			}
			if n := s.Len(); n != s.Info().Keys || n != 500 && f.Name != "redisbloom" { // it skips colliding keys
				t.Errorf("Len %d, Info %d", n, s.Info().Keys)
			}
			if n, err := s.EstimateInterval(); err != nil || n.Keys < 400 || n.Keys > 600 {
				t.Errorf("EstimateInterval %+v of 500, %v", n, err)
			}
		})
	}
}

// TestOnePipeline adds the same keys in every way, with and without their number. All ways must build the same file.
func TestOnePipeline(t *testing.T) {
	texts := settest.Words(3000)
	texts = append(texts, texts[:100]...) // duplicates
	for _, f := range families.All() {
		for _, known := range []uint64{0, uint64(len(texts))} {
			c := bloomery.Config{Spec: settest.SpecOf(f), Keys: known}
			want := settest.Build(t, texts, bloomery.Config{Spec: settest.SpecOf(f), Keys: uint64(len(texts))})
			for what, feed := range map[string]func(b *bloomery.Builder, part []string) error{
				"AddString": func(b *bloomery.Builder, part []string) error {
					for _, w := range part {
						if err := b.AddString(w); err != nil {
							return err
						}
					}
					return nil
				},
				"AddMany": func(b *bloomery.Builder, part []string) error {
					var ks [][]byte
					for _, w := range part {
						ks = append(ks, []byte(w))
					}
					return b.AddMany(ks)
				},
				"AddHashes": func(b *bloomery.Builder, part []string) error {
					if f.Can.Has(family.CanRawKeys) {
						if err := b.AddHashes(nil); !errors.Is(err, filter.ErrUnsupported) {
							return fmt.Errorf("AddHashes of raw keys: %v", err)
						}
						for _, w := range part {
							if err := b.Add([]byte(w)); err != nil {
								return err
							}
						}
						return nil
					}
					var hs []filter.Hash
					for _, w := range part {
						hs = append(hs, b.Hasher().SumString(w))
					}
					return b.AddHashes(hs)
				},
			} {
				b := settest.Must(bloomery.NewBuilder(t.Context(), c))
				errs := make(chan error)
				parts := slices.Collect(slices.Chunk(texts, len(texts)/4+1))
				for _, part := range parts {
					go func() { errs <- feed(b, part) }()
				}
				for range parts {
					if err := <-errs; err != nil {
						t.Fatal(err)
					}
				}
				got := settest.Must(b.Build(t.Context()))
				if !got.Equal(want) {
					t.Errorf("%s by %s, known=%d: another file: %v, want %v", f.Name, what, known, got, want)
				}
				if _, err := b.Build(t.Context()); err == nil {
					t.Error("a second Build succeeded")
				}
				if err := errors.Join(b.Close(), b.Close()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestNeeds checks that the planner chooses the same filter for a Builder with and without the number of keys.
func TestNeeds(t *testing.T) {
	texts := settest.Words(2000)
	c := bloomery.Config{Needs: plan.Needs{FPR: 0.01, Remove: true}}
	s := settest.Build(t, texts, c)
	c.Keys = 2000
	choice, err := c.Choose(t.Context())
	if err != nil || choice.Spec.Family() != s.Spec().Family() {
		t.Errorf("chosen %v, built %v: %v", choice.Spec, s, err)
	}
	if !settest.Build(t, texts, c).Equal(s) {
		t.Error("the number of keys changes the set")
	}
	if err := bloomery.Keyed[string](s).Remove(texts[0]); err != nil {
		t.Error(err)
	}
	empty, err := bloomery.New(c)
	if err != nil || empty.AddString("x") != nil || !empty.ContainsString("x") {
		t.Errorf("New with Needs: %v", err)
	}
	c.Needs.Adversarial = true
	if _, err := bloomery.NewBuilder(t.Context(), c); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("an adversary without a secret: %v", err)
	}
}

// TestCancelled cancels a build while it reads keys and while it searches.
func TestCancelled(t *testing.T) {
	for _, after := range []int{0, 100, 20_000} {
		for _, spec := range []string{"standard", "partitioned", "fuse", "bitsandblooms"} {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			_, err := bloomery.Build(ctx, func(yield func(uint64) bool) {
				for i := range uint64(20_000) {
					if n++; n > after {
						cancel()
					}
					if !yield(i) {
						return
					}
				}
				cancel()
			}, bloomery.Config{Spec: spec})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s after %d: %v", spec, after, err)
			}
		}
	}
}

// TestMemory builds with a memory limit that makes keys go to a temporary file. The file must be removed afterwards.
func TestMemory(t *testing.T) {
	for _, spec := range []string{"standard", "partitioned(effort=fast)", "fuse", "rankindexed"} {
		dir := t.TempDir()
		c := bloomery.Config{Spec: spec, Building: bloomery.Building{Memory: 1 << 16, TempDir: dir}}
		if !settest.Build(t, settest.Words(50_000), c).Equal(settest.Build(t, settest.Words(50_000),
			bloomery.Config{Spec: spec})) {
			t.Errorf("%s: a limit of memory changes the set", spec)
		}
		if left := settest.Entries(t, dir); len(left) != 0 {
			t.Errorf("%s left %v", spec, left)
		}
	}
}

// TestCloneEqualReset checks that copies are independent.
func TestCloneEqualReset(t *testing.T) {
	for _, f := range families.All() {
		s := settest.Build(t, settest.Words(300), bloomery.Config{Spec: settest.SpecOf(f)})
		c, err := s.Clone()
		if err != nil || !c.Equal(s) || !s.Equal(c) {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if f.Can.Has(family.CanAdd) {
			settest.Check(t, c.AddString("one more"))
			if c.Equal(s) || c.Len() != s.Len()+1 {
				t.Errorf("%s: the clone shares with the set: %d and %d keys", f.Name, s.Len(), c.Len())
			}
		}
		err = c.Reset()
		if f.Can.Has(family.CanStartEmpty) {
			if err != nil || c.Len() != 0 || c.ContainsString("key-1") || !s.ContainsString("key-1") {
				t.Errorf("%s: Reset: %v, %v", f.Name, err, c)
			}
			if err := c.AddString("key-1"); err != nil || !c.ContainsString("key-1") {
				t.Errorf("%s: Add after Reset: %v", f.Name, err)
			}
		} else if !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(), "standard") {
			t.Errorf("%s: Reset: %v", f.Name, err)
		}
	}
	a, b := settest.Build(t, settest.Words(10), bloomery.Config{Hashing: bloomery.Hashing{Seed: 1}}), settest.Build(t,
		settest.Words(10),
		bloomery.Config{Hashing: bloomery.Hashing{Seed: 2}})
	if a.Equal(b) || a.Equal(nil) || a.Equal(new(bloomery.Set)) || !new(bloomery.Set).Equal(new(bloomery.Set)) {
		t.Error("Equal of different sets")
	}
}

// TestCombine merges and intersects Sets of every family that supports this. Sets that do not fit must be refused.
func TestCombine(t *testing.T) {
	for _, f := range families.All() {
		c := bloomery.Config{Spec: f.Name}
		if f.Takes("capacity") {
			c.Spec += "(capacity=2000)"
		}
		a, b := settest.Build(t, settest.Words(400)[:300], c), settest.Build(t, settest.Words(400)[100:], c)
		for _, x := range []struct {
			what string
			can  family.Ability
			do   func(s, o *bloomery.Set) error
			has  []string
		}{
			{"Merge", family.CanMerge, (*bloomery.Set).Merge, settest.Words(400)},
			{"Intersect", family.CanIntersect, (*bloomery.Set).Intersect, settest.Words(400)[100:300]},
		} {
			s, err := a.Clone()
			settest.Check(t, err)
			for _, none := range []*bloomery.Set{nil, new(bloomery.Set)} {
				if err := x.do(s, none); !errors.Is(err, filter.ErrMismatch) {
					t.Errorf("%s: %s of nothing: %v", f.Name, x.what, err)
				}
			}
			err = x.do(s, b)
			if !f.Can.Has(x.can) {
				if !errors.Is(err, filter.ErrUnsupported) || !s.Equal(a) {
					t.Errorf("%s: %s: %v", f.Name, x.what, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", f.Name, x.what, err)
			}
			for _, k := range x.has {
				if !s.ContainsString(k) {
					t.Fatalf("%s: %s lost %s", f.Name, x.what, k)
				}
			}
			other := c
			other.Spec = f.Name + "(capacity=5000)"
			if err := x.do(s, settest.Build(t, settest.Words(10), other)); !errors.Is(err, filter.ErrMismatch) {
				t.Errorf("%s: %s of another size: %v", f.Name, x.what, err)
			}
		}
	}
}

// TestOptimize continues a search for keys that have changed.
func TestOptimize(t *testing.T) {
	for _, f := range families.All() {
		s := settest.Build(t, settest.Words(2000), bloomery.Config{Spec: settest.SpecOf(f)})
		keys := make([][]byte, 0, 2000)
		for _, w := range settest.Words(2100)[100:] {
			keys = append(keys, []byte(w))
		}
		better, err := settest.Optimize(t.Context(), s, slices.Values(keys))
		if !f.Can.Has(family.CanSearch) {
			if !errors.Is(err, filter.ErrUnsupported) || !s.ContainsString("key-0") {
				t.Errorf("%s: %v", f.Name, err)
			}
			continue
		}
		if err != nil || better.Len() != 2000 || !better.ContainsString("key-2099") {
			t.Errorf("%s: %v, %v", f.Name, better, err)
		}
	}
}

// TestSecretNotShown prints sets and configs in every way, and looks for the secret.
func TestSecretNotShown(t *testing.T) {
	secret := filter.Secret{0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 0xca, 0xfe, 0xba, 0xbe, 5, 6, 7, 8}
	c := bloomery.Config{Spec: "standard", Hashing: bloomery.Hashing{Secret: &secret}, Keys: 3}
	s := settest.Build(t, settest.Words(3), c)
	type holder struct {
		set    *bloomery.Set
		config bloomery.Config
		hasher filter.Hasher
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q"} {
		for _, v := range []any{s, c, &c, s.Hasher(), []any{s, c}} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} { // in unexported fields, whose methods fmt cannot call
		fmt.Fprintf(&out, verb+verb+"\n", holder{s, c, s.Hasher()}, &holder{s, c, s.Hasher()})
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("set", "set", s, "config", c, "hasher", s.Hasher(), "all", []any{s, c})
	}
	if err := json.NewEncoder(&out).Encode(s.Hasher()); err != nil { // a Config is no JSON value
		t.Fatal(err)
	}
	text := strings.ToLower(out.String())
	for what, shown := range map[string]string{
		"first bytes": "deadbeef", "first word": "efbeadde", "second word, last bytes": "cafebabe", "second word": "bebafeca",
		"decimal bytes": "222 173 190 239", "decimal bytes with commas": "222,173,190,239",
		"first word in decimal":  fmt.Sprint(uint64(0x04030201efbeadde)),
		"second word in decimal": fmt.Sprint(uint64(0x08070605bebafeca)), "base64": "3q2+7w",
		"a word in hex": "4030201efbeadde",
	} {
		if strings.Contains(text, strings.ToLower(shown)) {
			at := strings.Index(text, strings.ToLower(shown))
			t.Errorf("%s stand in the output: ...%s...", what, text[max(0, at-100):min(len(text), at+50)])
		}
	}
	if !strings.Contains(text, "bloomery.set(standard(") || !strings.Contains(text, "redacted") {
		t.Error("the output does not describe the set")
	}
}

// TestBatchLengths checks that slices of different lengths panic with a message that names the mistake.
func TestBatchLengths(t *testing.T) {
	for _, f := range families.All() {
		s := settest.Build(t, settest.Words(20), bloomery.Config{Spec: settest.SpecOf(f)})
		for what, call := range map[string]func(dst []bool){
			"ContainsMany":        func(dst []bool) { bloomery.Keyed[[]byte](s).ContainsMany(dst, make([][]byte, 5)) },
			"ContainsManyStrings": func(dst []bool) { bloomery.Keyed[string](s).ContainsMany(dst, make([]string, 5)) },
			"ContainsManyUint64":  func(dst []bool) { bloomery.Keyed[uint64](s).ContainsMany(dst, make([]uint64, 5)) },
			"HasMany":             func(dst []bool) { s.ContainsHashes(dst, make([]filter.Hash, 5)) },
		} {
			for _, n := range []int{0, 4, 6} {
				room := make([]bool, n, 10)
				func() {
					defer func() {
						if p := fmt.Sprint(recover()); !strings.Contains(p, fmt.Sprintf("dst has %d places for 5 keys", n)) {
							t.Errorf("%s: %s of %d: %s", f.Name, what, n, p)
						}
					}()
					call(room)
				}()
				if slices.Contains(room[:10], true) {
					t.Errorf("%s: %s wrote beyond dst", f.Name, what)
				}
			}
		}
	}
}
