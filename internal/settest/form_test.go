package settest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/shard"
)

// keyForm is the form of keys in the tests below, and otherForm one that differs from it.
var (
	keyForm   = filter.KeyForm{Trim: true, Lower: true, Type: filter.KeyText}
	otherForm = filter.KeyForm{Lower: true, Type: filter.KeyText}
)

func hasForm(t *testing.T, what string, s *bloomery.Set, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("%s: %v", what, err)
	case s.Info().Form != keyForm || s.Hasher().Form() != keyForm:
		t.Errorf("%s: form of keys %s, want %s", what, s.Info().Form, keyForm)
	case !s.ContainsString("key-17"):
		t.Errorf("%s: a key is lost", what)
	}
}

// TestForm follows the form of keys through all operations on the filters of every family.
func TestForm(t *testing.T) {
	keys := settest.Words(600)
	for _, f := range families.All() {
		t.Run(f.Name, func(t *testing.T) {
			c := bloomery.Config{Spec: settest.SpecOf(f), Keys: 600, Hashing: bloomery.Hashing{Form: keyForm}}
			set := settest.Build(t, keys, c)
			hasForm(t, "built", set, nil)
			path := settest.Save(t, set)
			read, err := bloomery.Open(t.Context(), path)
			hasForm(t, "opened", read, err)
			defer read.Close()
			clone, err := read.Clone()
			hasForm(t, "clone", clone, err)
			copied, err := bloomery.FromBytes(encoded(t, read))
			hasForm(t, "read again", copied, err)
			hasForm(t, "like", settest.Build(t, keys, bloomery.Config{Like: bloomery.Like{Set: read}}), nil)
			if trimmed, err := set.Trimmed(); !errors.Is(err, errors.ErrUnsupported) {
				hasForm(t, "trimmed", trimmed, err)
			}
			if better, err := settest.Optimize(t.Context(), set, slices.Values(settest.AsKeys(keys))); !errors.Is(err,
				errors.ErrUnsupported) {
				hasForm(t, "optimized", better, err)
			}
			if f.Can.Has(family.CanConcurrent) {
				shared, err := bloomery.Open(t.Context(), path, bloomery.WithConcurrent())
				hasForm(t, "for many writers", shared, err)
			}

			c.Hashing.Form = otherForm
			other := settest.Build(t, keys, c)
			for what, do := range map[string]func(o *bloomery.Set) error{
				"merged": clone.Merge, "intersected": clone.Intersect,
				"compared": func(o *bloomery.Set) error { _, err := clone.EstimateOverlap(o); return err },
			} {
				if err := do(copied); errors.Is(err, errors.ErrUnsupported) {
					continue
				} else if err == nil {
					hasForm(t, what, clone, nil)
				}
				err := do(other)
				if !errors.Is(err, filter.ErrMismatch) || !strings.Contains(err.Error(), keyForm.String()) ||
					!strings.Contains(err.Error(), otherForm.String()) {
					t.Errorf("%s with another form: %v", what, err)
				}
			}
			if clone.Equal(other) {
				t.Error("equal to a set with another form")
			}
		})
	}
	empty, err := bloomery.New(bloomery.Config{Keys: 10, Hashing: bloomery.Hashing{Form: keyForm}})
	if err == nil {
		settest.Check(t, empty.AddString("key-17"))
	}
	hasForm(t, "New", empty, err)
}

// TestFormVersions follows the form of keys through deltas. A version may have another form.
func TestFormVersions(t *testing.T) {
	keys, dir := settest.Words(600), t.TempDir()
	save := func(name string, keys []string, form filter.KeyForm) string {
		path := filepath.Join(dir, name)
		c := bloomery.Config{Spec: "standard(k=3,m=6000)", Hashing: bloomery.Hashing{Form: form}}
		settest.Check(t, settest.Build(t, keys, c).Save(t.Context(), path))
		return path
	}
	old, next := save("old", keys[:590], keyForm), save("next", keys, keyForm)
	for _, from := range []string{old, save("other", keys[:590], otherForm)} {
		d, err := delta.DiffFiles(t.Context(), from, next)
		settest.Check(t, err)
		out := filepath.Join(dir, "out")
		settest.Check(t, delta.PatchFile(t.Context(), from, d, out, delta.Options{}))
		if string(settest.ReadAll(t, out)) != string(settest.ReadAll(t, next)) {
			t.Error("the patched file differs")
		}
		info, err := delta.Read(d)
		if whole := info.Method == delta.Whole; err != nil || whole == (from == old) {
			t.Errorf("method %s, %v", info.Method, err)
		}
	}
}

// TestFormShards builds sets of shards with a form of keys and refuses a shard and a manifest of another form.
func TestFormShards(t *testing.T) {
	keys, dirs := settest.Words(600), map[filter.KeyForm]string{keyForm: t.TempDir(), otherForm: t.TempDir()}
	for form, dir := range dirs {
		c := bloomery.Config{Spec: "standard(k=3,m=6000)", Hashing: bloomery.Hashing{Form: form},
			Sharding: bloomery.Sharding{Dir: dir, Shards: 2}}
		c.Spec = "standard(fpr=0.01)"
		settest.Check(t, settest.Build(t, keys, c).Close())
	}
	dir := dirs[keyForm]
	set, err := bloomery.Open(t.Context(), dir)
	hasForm(t, "opened", set, err)
	defer set.Close()
	if set.Manifest().Form != keyForm {
		t.Errorf("form of keys %s in the manifest", set.Manifest().Form)
	}
	like := t.TempDir()
	alike := settest.Build(t, keys, bloomery.Config{Like: bloomery.Like{Set: set}, Sharding: bloomery.Sharding{Dir: like}})
	hasForm(t, "like", alike, nil)
	settest.Check(t, alike.Close()) // Windows does not remove open files
	clone, err := set.Clone()
	hasForm(t, "clone", clone, err)
	other, err := bloomery.Open(t.Context(), dirs[otherForm])
	settest.Check(t, err)
	defer other.Close()
	if err := clone.Merge(other); !errors.Is(err, filter.ErrMismatch) || !strings.Contains(err.Error(), "trim,lower,text") {
		t.Errorf("merged with another form: %v", err)
	}
	if clone.Manifest() != nil && clone.Manifest().ID() == other.Manifest().ID() {
		t.Error("two forms have one plan")
	}

	name := "00001-of-00002.bloom"
	settest.Check(t, os.WriteFile(filepath.Join(like, name), settest.ReadAll(t, filepath.Join(dirs[otherForm], name)), 0o644))
	ask := func(ctx context.Context) error {
		set, err := bloomery.Open(ctx, like)
		if err != nil {
			return err
		}
		defer set.Close()
		for _, k := range keys {
			if !set.ContainsString(k) {
				t.Errorf("a wrong no for %s", k)
			}
		}
		return set.Err()
	}
	if err := ask(t.Context()); !errors.Is(err, shard.ErrForeign) && !errors.Is(err, shard.ErrChanged) {
		t.Errorf("a set with a shard of another form: %v", err)
	}
}

// TestTypedIntegers builds filters of every family from integers of a type, and asks for them as integers and as bytes.
func TestTypedIntegers(t *testing.T) {
	var keys []uint64
	for i := range 600 {
		keys = append(keys, uint64(int64(37*i-9000)))
	}
	for _, f := range families.All() {
		for _, form := range []filter.KeyForm{{Type: filter.KeyInt32, Lower: true}, {Type: filter.KeyText},
			{Type: filter.KeyDecimal, Scale: 2, Width: 16}, {Type: filter.KeyInt64}} {
			t.Run(f.Name+" of "+form.String(), func(t *testing.T) {
				c := bloomery.Config{Spec: settest.SpecOf(f), Keys: 600, Hashing: bloomery.Hashing{Form: form}}
				for _, dir := range []string{"", t.TempDir()} {
					if c.Sharding.Dir = dir; dir != "" && f.Can.Has(family.CanRawKeys) {
						continue
					}
					if c.Sharding.Shards = 0; dir != "" {
						c.Sharding.Shards = 2
					}
					set := settest.Build(t, keys, c)
					defer set.Close()
					findIntegers(t, set, form, keys)
				}
			})
		}
	}

	c := bloomery.Config{Spec: "standard", Hashing: bloomery.Hashing{Form: filter.KeyForm{Type: filter.KeyInt32}}}
	if _, err := bloomery.Build(t.Context(), slices.Values([]uint64{1, 1 << 40}), c); !errors.Is(err, filter.ErrKeyType) {
		t.Errorf("an integer of 41 bits: %v", err)
	}
}

func findIntegers(t *testing.T, set *bloomery.Set, form filter.KeyForm, keys []uint64) {
	t.Helper()
	integers, many := bloomery.Keyed[uint64](set), make([]bool, len(keys))
	integers.ContainsMany(many, keys)
	for i, k := range keys {
		b, err := form.AppendUint64(nil, k)
		if err != nil || !integers.Contains(k) || !many[i] || !set.Contains(b) {
			t.Fatalf("%d: %t and %t as an integer, %t as bytes, %v", int64(k), integers.Contains(k), many[i], set.Contains(b), err)
		}
	}

	other := make([]uint64, 1000)
	for i := range other {
		other[i] = uint64(1_000_000 + i)
	}
	answers := make([]bool, len(other))
	integers.ContainsMany(answers, other)
	for i, k := range other {
		b, _ := form.AppendUint64(nil, k)
		if answers[i] != integers.Contains(k) || answers[i] != set.Contains(b) {
			t.Fatalf("%d: %t in a batch, %t alone, %t as bytes", k, answers[i], integers.Contains(k), set.Contains(b))
		}
	}
	if form.Type == filter.KeyInt32 && integers.Contains(1<<40) {
		t.Error("an integer of 41 bits is present")
	}
}
