package bloomery_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
)

// TestContradictions checks that every function with a Config refuses a Config whose fields contradict each other.
func TestContradictions(t *testing.T) {
	one, needs := []string{"a"}, plan.Needs{FPR: 0.01}
	dir := func() string { return filepath.Join(t.TempDir(), "set") }
	set := settest.Build(t, one, bloomery.Config{Spec: "rankindexed(capacity=1000)"})
	searched := settest.Build(t, one, bloomery.Config{Spec: "partitioned"})
	ways := map[string]func(c bloomery.Config) error{
		"New": func(c bloomery.Config) error { _, err := bloomery.New(c); return err },
		"NewBuilder": func(c bloomery.Config) error {
			b, err := bloomery.NewBuilder(t.Context(), c)
			if err != nil {
				return err
			}
			return b.Close()
		},
		"Build": func(c bloomery.Config) error {
			_, err := bloomery.Build(t.Context(), slices.Values(one), c)
			return err
		},
		"Check":   func(c bloomery.Config) error { return c.Check() },
		"Choose":  func(c bloomery.Config) error { _, err := c.Choose(t.Context()); return err },
		"Resolve": func(c bloomery.Config) error { _, err := c.Resolve(t.Context()); return err },
		"ForShard": func(c bloomery.Config) error {
			c.Sharding.Shards = max(c.Sharding.Shards, 1)
			_, err := c.ForShard(t.Context())
			return err
		},
		"BuildDir": func(c bloomery.Config) error {
			_, err := settest.BuildShards(t.Context(), slices.Values(one), dir(), c)
			return err
		},
		"Optimizer": func(c bloomery.Config) error { _, err := searched.Optimizer(jobOf(c)); return err },
		"Removal":   func(c bloomery.Config) error { _, err := set.Removal(jobOf(c)); return err },
		"Addition":  func(c bloomery.Config) error { _, err := set.Addition(jobOf(c)); return err },
	}
	const all = "New NewBuilder Build Check Choose Resolve ForShard BuildDir Optimizer Removal Addition"
	for name, c := range map[string]struct {
		config bloomery.Config
		ways   string // the functions that refuse the Config
	}{
		"Spec and Needs": {bloomery.Config{Spec: "standard", Needs: needs},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir"},
		"negative Workers": {bloomery.Config{Building: bloomery.Building{Workers: -1}}, all},
		"negative Memory":  {bloomery.Config{Building: bloomery.Building{Memory: -1}}, all},
		"negative Shards": {bloomery.Config{Sharding: bloomery.Sharding{Shards: -1}},
			"New NewBuilder Build Check Choose Resolve BuildDir"},
		"Shards of a filter": {bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 4}},
			"New NewBuilder Build"},
		"Shards and Needs": {bloomery.Config{Needs: needs, Sharding: bloomery.Sharding{Shards: 4}}, "New NewBuilder Build"},
		"rate above 1": {bloomery.Config{Limits: bloomery.Limits{FPR: 1.5}},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir Optimizer"},
		"rate of needs above 1": {bloomery.Config{Needs: plan.Needs{FPR: 5}},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir"},
		"rate of needs not a number": {bloomery.Config{Needs: plan.Needs{FPR: math.NaN()}},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir"},
		"rate below ribbon's lowest": {bloomery.Config{FPR: 1e-12}, "New NewBuilder Build Check ForShard BuildDir"},
		"negative needs": {bloomery.Config{Needs: plan.Needs{ValueBits: -1}, Keys: 1},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir"},
		"negative time": {bloomery.Config{Needs: plan.Needs{Build: -time.Second}, Keys: 1},
			"New NewBuilder Build Check Choose Resolve ForShard BuildDir"},
		"Secret and Seed": {bloomery.Config{Hashing: bloomery.Hashing{Secret: filter.NewSecret(), Seed: 1}},
			"New NewBuilder Build Check BuildDir"},
		"Secret and Hash": {
			bloomery.Config{Spec: "blocked(layout=split)",
				Hashing: bloomery.Hashing{Secret: filter.NewSecret(), ID: filter.XXH64}},
			"New NewBuilder Build Check BuildDir",
		},
	} {
		for _, way := range strings.Fields(c.ways) {
			if err := ways[way](c.config); !errors.Is(err, filter.ErrConfig) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
}

// TestLockedClosed checks that Commit does not write after the lock was released.
func TestLockedClosed(t *testing.T) {
	keys := slices.Values([]string{"a", "b"})
	file, dir := filepath.Join(t.TempDir(), "f.bloom"), filepath.Join(t.TempDir(), "set")
	set := must(bloomery.Build(t.Context(), keys, bloomery.Config{Spec: "standard"}))
	settest.Check(t, set.Save(t.Context(), file))
	must(settest.BuildShards(t.Context(), keys, dir,
		bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}}))
	for _, path := range []string{file, dir} {
		l := must(bloomery.Lock(t.Context(), path))
		settest.Check(t, errors.Join(l.AddString("c"), l.Close()))
		before := settest.FilesOf(t, filepath.Dir(file))
		for what, replace := range map[string]func(context.Context) error{
			"Replace":     l.Commit,
			"ReplaceWith": func(ctx context.Context) error { return settest.CommitWith(ctx, l, set) },
		} {
			if err := replace(t.Context()); !errors.Is(err, bloomery.ErrUnlocked) {
				t.Errorf("%s of %s after Close: %v", what, filepath.Base(path), err)
			}
		}
		if err := l.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if after := settest.FilesOf(t, filepath.Dir(file)); !reflect.DeepEqual(before, after) {
			t.Errorf("%s: files changed", path)
		}
		again := must(bloomery.Lock(t.Context(), path))
		if again.ContainsString("c") {
			t.Errorf("%s has the key that was not replaced", path)
		}
		if err := errors.Join(again.AddString("d"), again.Commit(t.Context()), again.Close()); err != nil {
			t.Error(err)
		}
	}
}

// jobOf returns the fields of a Config that a JobConfig also has.
func jobOf(c bloomery.Config) bloomery.JobConfig {
	return bloomery.JobConfig{Building: bloomery.Building{Memory: c.Building.Memory, TempDir: c.Building.TempDir,
		Workers: c.Building.Workers}, Limits: bloomery.Limits{FPR: c.Limits.FPR}, Like: bloomery.Like{Shrink: c.Like.Shrink}}
}

// TestChosen checks that a Builder that knows the number of keys and one that counts them both report the planner's
// choice and build the same filter, with room for Capacity keys.
func TestChosen(t *testing.T) {
	var sets [2]*bloomery.Set
	for i, keys := range []uint64{1000, 0} {
		var told []plan.Choice
		b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{
			Needs: plan.Needs{Merge: true, FPR: 0.01}, Keys: keys, Capacity: 5000,
			Building: bloomery.Building{Chosen: func(c plan.Choice) { told = append(told, c) }},
		})
		settest.Check(t, err)
		for k := range uint64(1000) {
			settest.Check(t, settest.AddUint64(b, k))
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

// TestResolve checks that resolve limits the memory of a planned build to the limit of the choice, minus 1/8 for
// buffers, and does not change a Config with a Spec.
func TestResolve(t *testing.T) {
	for limit, c := range map[int64]bloomery.Config{
		1 << 30: {Needs: plan.Needs{FPR: 0.1}, Keys: 100},
		1 << 26: {Needs: plan.Needs{FPR: 0.1, Memory: 1 << 26}, Keys: 100},
		1 << 25: {Needs: plan.Needs{FPR: 0.1}, Building: bloomery.Building{Memory: 1 << 25}, Keys: 100},
		0:       {Spec: "fuse", Keys: 100},
	} {
		r, err := c.Resolve(t.Context())
		if err != nil || r.Building.Memory != limit/8*7 || r.Spec == "" {
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
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Hashing: bloomery.Hashing{Secret: secret}}, nil},
		{bloomery.Config{Spec: "blocked(layout=split)", Hashing: bloomery.Hashing{ID: filter.XXH64}}, nil},
		{bloomery.Config{Spec: "nonsense"}, filter.ErrFamily},
		{bloomery.Config{Spec: "blocked("}, filter.ErrSpec},
		{bloomery.Config{Spec: "standard(fpr=2)"}, filter.ErrConfig},
		{bloomery.Config{Spec: "fuse", Concurrent: true}, filter.ErrUnsupported},
		{bloomery.Config{Spec: "blocked", Hashing: bloomery.Hashing{ID: filter.XXH64}}, filter.ErrConfig},
		{bloomery.Config{Hashing: bloomery.Hashing{Secret: secret, Seed: 1}}, filter.ErrConfig},
		{bloomery.Config{Needs: plan.Needs{Adversarial: true}}, filter.ErrConfig},
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Hashing: bloomery.Hashing{ID: filter.XXH64}}, filter.ErrConfig},
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Hashing: bloomery.Hashing{Secret: secret, Seed: 1}},
			filter.ErrConfig},
	} {
		if err := c.config.Check(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%v: %v, want %v", c.config, err, c.want)
		}
	}
}

// TestCheckIsBuild checks that NewBuilder returns the error of Check for every pair of settings. It returns another one
// only if the planner chooses, which Check does not call.
func TestCheckIsBuild(t *testing.T) {
	keys := slices.Values([]string{"a", "b", "c"})
	one := settest.Build(t, []string{"a", "b", "c"}, bloomery.Config{Spec: "rankindexed"})
	sharded := must(bloomery.Build(t.Context(), keys, bloomery.Config{Spec: "rankindexed",
		Sharding: bloomery.Sharding{Dir: filepath.Join(t.TempDir(), "old"), Shards: 2}}))
	defer sharded.Close()

	type config = bloomery.Config
	settings := []func(c *config){
		func(c *config) { c.Spec = "standard" },
		func(c *config) { c.Spec = "fuse" },
		func(c *config) { c.Spec = "bitsandblooms" },
		func(c *config) { c.Spec = "standard(bits_per_key=8)" },
		func(c *config) { c.Spec = "rankindexed(bytes=1000)" },
		func(c *config) { c.Spec, c.Keys, c.Capacity = "standard(bits_per_key=12)", 1000, 2000 },
		func(c *config) { c.Spec = "partitioned(budget=1s)" },
		func(c *config) { c.Spec = "nonsense" },
		func(c *config) { c.FPR = 0.01 },
		func(c *config) { c.FPR = 1e-12 },
		func(c *config) { c.FPR = 5 },
		func(c *config) { c.Keys = 3 },
		func(c *config) { c.Capacity = 2 },
		func(c *config) { c.Capacity, c.Keys, c.Spec = 1000, 3, "standard" },
		func(c *config) { c.Needs.Remove = true },
		func(c *config) { c.Needs.ValueBits = 8 },
		func(c *config) { c.Needs.Later = 10 },
		func(c *config) { c.Needs.Adversarial = true },
		func(c *config) { c.Like.Set = one },
		func(c *config) { c.Like.Set = sharded },
		func(c *config) { c.Like.Set = new(bloomery.Set) },
		func(c *config) { c.Like = bloomery.Like{Set: one, Shrink: 2} },
		func(c *config) { c.Like.Shrink = 0.1 },
		func(c *config) { c.Hashing.ID = filter.XXH64 },
		func(c *config) { c.Hashing = bloomery.Hashing{Seed: 1, Secret: filter.NewSecret()} },
		func(c *config) { c.Sharding.Dir = "dir" },
		func(c *config) { c.Sharding = bloomery.Sharding{Dir: "dir", Shards: 2} },
		func(c *config) { c.Sharding = bloomery.Sharding{Dir: "dir", Shards: 5000} },
		func(c *config) { c.Sharding.Shards = 2 },
		func(c *config) { c.Limits.Bytes = 1 },
		func(c *config) { c.Limits.FPR = 2 },
		func(c *config) { c.Concurrent = true },
		func(c *config) { c.Allow = slices.Values([][]byte{[]byte("no")}) },
		func(c *config) { c.Building.Workers = -1 },
	}
	for i := range settings {
		for j := range settings[i:] {
			var c config
			settings[i](&c)
			settings[i+j](&c)
			if c.Sharding.Dir != "" {
				c.Sharding.Dir = filepath.Join(t.TempDir(), "set")
			}

			want := c.Check()
			b, err := bloomery.NewBuilder(t.Context(), c)
			if err == nil {
				settest.Check(t, b.Close())
			}
			planned := c.Spec == "" && (c.Needs != plan.Needs{} || c.Capacity > 0)
			if fmt.Sprint(err) != fmt.Sprint(want) && (want != nil || !planned) {
				t.Errorf("%v: NewBuilder: %v; Check: %v", c, err, want)
			}
		}
	}
}

// The tests below make or inspect Sets with functions of export_test.go.

// TestZeroSet calls the methods of the zero Set.
func TestZeroSet(t *testing.T) {
	var s bloomery.Set
	dst := []bool{true, true}
	bloomery.Keyed[[]byte](&s).ContainsMany(dst, [][]byte{{1}, {2}})
	one := bloomery.Keyed[uint64](&s).Contains(1)
	if s.Contains([]byte("x")) || s.ContainsString("x") || one || s.ContainsHash(filter.Hash{}) || dst[0] || dst[1] {
		t.Error("the zero Set contains something")
	}
	_, _, get := s.Get(nil)
	_, _, count := s.Count(nil)
	_, present := bloomery.Keyed[string](&s).TestAndAdd("x")
	_, write := s.WriteTo(io.Discard)
	_, trimmed := s.Trimmed()
	_, optimized := settest.Optimize(t.Context(), &s, slices.Values([][]byte{}))
	for what, err := range map[string]error{
		"Add": s.AddString("x"), "Remove": bloomery.Keyed[uint64](&s).Remove(1), "Get": get, "Count": count,
		"TestAndAdd": present, "Put": s.Put(nil, 1),
		"Upsert": s.Upsert(nil, 1), "WriteTo": write, "Save": s.Save(t.Context(), t.TempDir()+"/x"), "Merge": s.Merge(&s),
		"Trimmed": trimmed, "Reset": s.Reset(), "Optimize": optimized,
	} {
		if err == nil {
			t.Errorf("%s of the zero Set succeeded", what)
		}
	}
	e := bloomery.EngineOf(&s)
	if s.Len() != 0 || s.Info().Keys != 0 || e.Facts().Filter != nil || s.Close() != nil ||
		s.Err() != nil {
		t.Error("the zero Set has something")
	}
	if c, err := s.Clone(); err != nil || !c.Equal(&s) {
		t.Errorf("Clone: %v", err)
	}
}

// TestMarshal encodes and decodes a filter of every family in all encodings.
func TestMarshal(t *testing.T) {
	secret := filter.NewSecret()
	for _, f := range families.All() {
		c := bloomery.Config{Spec: settest.SpecOf(f)}
		if !f.Foreign() {
			c.Hashing.Secret = secret
		}
		s := settest.Build(t, settest.Words(200), c)
		receiver := func() *bloomery.Set { return bloomery.SetOf(nil, filter.NewKeyedHasher(*secret)) }
		bin := must(s.MarshalBinary())
		var g bytes.Buffer
		settest.Check(t, gob.NewEncoder(&g).Encode(s))
		text := must(json.Marshal(s))
		for what, read := range map[string]func(*bloomery.Set) error{
			"UnmarshalBinary": func(r *bloomery.Set) error { return r.UnmarshalBinary(bin) },
			"gob":             func(r *bloomery.Set) error { return gob.NewDecoder(bytes.NewReader(g.Bytes())).Decode(r) },
			"JSON":            func(r *bloomery.Set) error { return json.Unmarshal(text, r) },
		} {
			got := receiver()
			if err := read(got); err != nil || !got.Equal(s) {
				t.Errorf("%s: %s: %v, %v", f.Name, what, got, err)
			}
			if c.Hashing.Secret == nil {
				continue
			}
			var without bloomery.Set
			if err := read(&without); !errors.Is(err, filter.ErrSecret) || bloomery.FilterOf(&without) != nil {
				t.Errorf("%s: %s without the secret: %v", f.Name, what, err)
			}
			kept := settest.Build(t, settest.Words(3), bloomery.Config{})
			if err := read(kept); !errors.Is(err, filter.ErrSecret) || kept.Len() != 3 {
				t.Errorf("%s: %s over another set: %v, %v", f.Name, what, err, kept)
			}
		}
	}
	var s bloomery.Set
	bin, _ := settest.Build(t, settest.Words(3), bloomery.Config{}).MarshalBinary()
	for what, err := range map[string]error{
		"short": s.UnmarshalBinary(bin[:len(bin)-1]), "long": s.UnmarshalBinary(append(bytes.Clone(bin), 0)),
		"empty": s.UnmarshalBinary(nil), "empty text": s.UnmarshalText(nil), "no base64": s.UnmarshalText([]byte("a set")),
	} {
		if err == nil || bloomery.FilterOf(&s) != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTwoChanges checks that a change during another change panics with a message that names the options, unless the
// Set is for many writers.
func TestTwoChanges(t *testing.T) {
	made := func(c bloomery.Config) *bloomery.Set {
		t.Helper()
		s := must(bloomery.New(c))
		return s
	}
	c := bloomery.Config{Spec: "rankindexed(capacity=1000,value_bits=8)", Keys: 1000}
	set, other := made(c), made(c)
	file := must(other.MarshalBinary())
	c.Concurrent = true
	shared, key := made(c), []byte("key")
	k, many := bloomery.Keyed[string](set), bloomery.Keyed[string](shared)
	for name, change := range map[string]func(){
		"Add":             func() { _ = set.Add(key) },
		"AddString":       func() { _ = set.AddString("key") },
		"Keyed.AddMany":   func() { _ = k.AddMany([]string{"a", "b"}) },
		"TestAndAdd":      func() { _, _ = set.TestAndAdd(key) },
		"Remove":          func() { _ = set.Remove(key) },
		"AddValue":        func() { _ = set.AddValue(key, 1) },
		"Put":             func() { _ = set.Put(key, 1) },
		"Upsert":          func() { _ = set.Upsert(key, 1) },
		"Merge":           func() { _ = set.Merge(other) },
		"Reset":           func() { _ = set.Reset() },
		"UnmarshalBinary": func() { _ = set.UnmarshalBinary(file) },
		"UnmarshalText":   func() { _ = set.UnmarshalText(nil) },
		"Addition": func() {
			a := must(set.Addition(bloomery.JobConfig{}))
			defer a.Close()
			_ = a.AddMany([][]byte{key})
		},
	} {
		end, said := bloomery.Begin(set), ""
		func() {
			defer func() { said = fmt.Sprint(recover()) }()
			change()
		}()
		if !strings.Contains(said, "Config.Concurrent") || !strings.Contains(said, "WithConcurrent") {
			t.Errorf("%s during a change: %s", name, said)
		}
		end()
		change()
	}
	defer bloomery.Begin(shared)()
	if err := many.AddMany([]string{"a", "b"}); err != nil {
		t.Error(err)
	}
}

// uncounted is a filter that fails the test if its cells are read when only its name is needed.
type uncounted struct{ family.Filter }

func (uncounted) Info() filter.Info { panic("Info counts all bits") }

func (uncounted) Encode() family.Encoded {
	return family.Encoded{Spec: family.NewSpec("uncounted", "m", 9)}
}

func TestErrorsDoNotCount(t *testing.T) {
	strange := bloomery.SetOf(uncounted{}, filter.NewHasher(0))
	if err := strange.Add([]byte("key")); !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(),
		"uncounted(m=9) does not") {
		t.Errorf("Add: %v", err)
	}
	for _, spec := range []string{"standard", "blocked"} {
		set := must(bloomery.New(bloomery.Config{Spec: spec, Keys: 10}))
		if err := set.Merge(strange); !errors.Is(err, filter.ErrMismatch) || !strings.Contains(err.Error(), "uncounted") {
			t.Errorf("%s: Merge: %v", spec, err)
		}
	}
}

// unread is a filter for many writers that fails the test if the whole filter is read.
type unread struct {
	family.Concurrent
	t *testing.T
}

func (u unread) Info() filter.Info {
	u.t.Error("Info is called")
	return u.Concurrent.Info()
}

func (u unread) Snapshot() (family.Filter, error) {
	u.t.Error("Snapshot is called")
	return u.Concurrent.Snapshot()
}

// TestConcurrentUnread checks that methods that describe a Set for many writers, and errors of unsupported operations,
// neither read the filter nor wait for its writers.
func TestConcurrentUnread(t *testing.T) {
	for _, name := range families.With(family.CanConcurrent) {
		s, err := bloomery.New(bloomery.Config{Spec: name, Keys: 1000, Concurrent: true})
		if err != nil {
			t.Fatal(name, err)
		}
		want := s.Info().Spec
		quiet := bloomery.SetOf(unread{Concurrent: bloomery.FilterOf(s).(family.Concurrent), t: t}, s.Hasher())
		if got := quiet.Spec(); got != want {
			t.Errorf("%s: Spec is %s, of Info %s", name, got, want)
		}
		_ = fmt.Sprintf("%v %+v %s", quiet, quiet, slog.AnyValue(quiet).Resolve())
		if n := quiet.Len(); n != 0 {
			t.Errorf("%s: %d keys", name, n)
		}
		key := []byte("key")
		_, _, errGet := quiet.Get(key)
		_, errBits := quiet.ValueBits()
		_, _, errCount := quiet.Count(key)
		_, errRemoval := quiet.Removal(bloomery.JobConfig{})
		_, errAllower := s.Allower(bloomery.JobConfig{Like: bloomery.Like{Set: quiet}})
		_, errOptimize := settest.Optimize(t.Context(), quiet, slices.Values([][]byte{key}))
		var errTrimmed, errIntersect, errOverlap error
		f := must(families.ByName(name))
		if !f.Can.Has(family.CanTrim) {
			_, errTrimmed = quiet.Trimmed()
		}
		if !f.Can.Has(family.CanIntersect) {
			errIntersect = quiet.Intersect(s)
		}
		if !f.Can.Has(family.CanEstimate) {
			_, errOverlap = quiet.EstimateOverlap(s)
		}
		for what, err := range map[string]error{
			"Get": errGet, "ValueBits": errBits, "Put": quiet.Put(key, 1), "Count": errCount, "Removal": errRemoval,
			"Allower": errAllower, "Trimmed": errTrimmed, "Intersect": errIntersect, "EstimateOverlap": errOverlap,
			"Remove": quiet.Remove(key), "Upsert": quiet.Upsert(key, 1),
			"Optimize": errOptimize,
		} {
			if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, filter.ErrNotFound) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

// TestRateInPercent checks that the error of a rate above 1 says what was probably meant, and what 0 means, and that
// errors show no value that the caller did not give.
func TestRateInPercent(t *testing.T) {
	like := settest.Build(t, []string{"a"}, bloomery.Config{})
	for want, c := range map[string]bloomery.Config{
		"fpr=5: want a rate above 0 and below 1, or 0 for the default; did you mean 5%?":       {FPR: 5},
		"needs.fpr=5: want a rate above 0 and below 1, or 0 for the default; did you mean 5%?": {Needs: plan.Needs{FPR: 5}},
		"fpr=1: want a rate above 0 and below 1, such as 0.01":                                 {Spec: "standard(fpr=100%)"},
		"fpr: with like, size, hash function, planned rate and shards are taken from that set; leave it out": {
			FPR: 0.1, Like: bloomery.Like{Set: like}},
		"fpr=1e-12: the lowest rate of ribbon is 2.3e-10; take family standard": {FPR: 1e-12},
	} {
		if err := c.Check(); !errors.Is(err, filter.ErrConfig) || err.Error() != want {
			t.Errorf("%v: %v, want %s", c, err, want)
		}
	}
}
