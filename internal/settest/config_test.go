package settest_test

import (
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// TestFields calls every function that takes a Config with each field of the Config set, and checks that it uses the
// field or returns an error for it. New accepts Building: it has no work that its fields limit or report.
func TestFields(t *testing.T) {
	keys := []string{"a", "b", "c"}
	like := settest.Build(t, keys, bloomery.Config{Spec: "rankindexed"})
	type set = bloomery.Set
	values := func(yield func(string, uint64) bool) {
		for i, k := range keys {
			if !yield(k, uint64(i)) {
				return
			}
		}
	}
	functions := map[string]func(c bloomery.Config) (*set, error){
		"New": bloomery.New,
		"Build": func(c bloomery.Config) (*set, error) {
			return bloomery.Build(t.Context(), slices.Values(keys), c)
		},
		"BuildFrom": func(c bloomery.Config) (*set, error) {
			return bloomery.BuildFrom(t.Context(), bloomery.Lines(strings.NewReader(strings.Join(keys, "\n"))), c)
		},
		"BuildValues": func(c bloomery.Config) (*set, error) { return bloomery.BuildValues(t.Context(), values, c) },
		"NewBuilder": func(c bloomery.Config) (*set, error) {
			b, err := bloomery.NewBuilder(t.Context(), c)
			if err != nil {
				return nil, err
			}
			defer b.Close()
			for k, v := range values {
				if err := b.AddValue([]byte(k), v); err != nil {
					return nil, err
				}
			}
			return b.Build(t.Context())
		},
	}

	// used reports whether the Set, or what the field made the build call, shows that the field was used.
	type row struct {
		change  func(c *bloomery.Config)
		used    func(s *set) bool
		refused string // who refuses the field: functions, and builds with Sharding.Dir (Dir) or without (one)
	}
	called, temporary := 0, t.TempDir()
	always := func(*set) bool { return true } // a limit that is kept, or a resource
	planned := func(rate float64) func(s *set) bool { return func(s *set) bool { return s.Info().FPRPlanned == rate } }
	family := func(name string) func(s *set) bool { return func(s *set) bool { return s.Spec().Family() == name } }
	rows := map[string]row{
		"Spec":  {func(c *bloomery.Config) { c.Spec = "rankindexed(fpr=0.03,value_bits=8)" }, planned(0.03), ""},
		"FPR":   {func(c *bloomery.Config) { c.FPR = 0.1 }, planned(0.1), ""},
		"Keys":  {func(c *bloomery.Config) { c.Keys = 3 }, always, ""},
		"Keys ": {func(c *bloomery.Config) { c.Keys = 4 }, func(s *set) bool { return s.Len() == 0 }, "one Dir"},
		"Capacity": {func(c *bloomery.Config) {
			if c.Capacity = 2; c.Keys > 0 { // New
				c.Keys, c.Capacity = 0, 3000
			}
		}, func(s *set) bool { return s.Info().Capacity == 3000 }, "one Dir"},
		"Needs": {func(c *bloomery.Config) {
			c.Spec, c.Keys, c.Needs = "", 3, plan.Needs{FPR: 0.02, ValueBits: 8}
		}, planned(0.02), ""},
		"Like.Set":    {func(c *bloomery.Config) { c.Spec, c.Like.Set = "", like }, family("rankindexed"), "New"},
		"Like.Shrink": {func(c *bloomery.Config) { c.Like.Shrink = 0.1 }, nil, "New one Dir"}, // without Like.Set
		"Hashing.ID": {func(c *bloomery.Config) { c.Spec, c.Hashing.ID = "blocked(layout=split)", filter.XXH64 },
			func(s *set) bool { return s.Hasher().ID() == filter.XXH64 }, "BuildValues NewBuilder"},
		"Hashing.Seed": {func(c *bloomery.Config) { c.Hashing.Seed = 1 },
			func(s *set) bool { return s.Hasher().Seed() == 1 }, ""},
		"Hashing.Secret": {func(c *bloomery.Config) { c.Hashing.Secret = filter.NewSecret() },
			func(s *set) bool { return s.Hasher().ID() == filter.SipHash }, ""},
		"Hashing.Form": {func(c *bloomery.Config) { c.Hashing.Form.Trim = true },
			func(s *set) bool { return s.Info().Form.Trim }, ""},
		"Sharding.Dir": {func(c *bloomery.Config) {
			c.Sharding = bloomery.Sharding{Dir: filepath.Join(t.TempDir(), "dir"), Shards: 2}
		}, func(s *set) bool { return s.Manifest() != nil }, "New"},
		"Sharding.Shards": {func(c *bloomery.Config) { c.Sharding.Shards = 3 },
			func(s *set) bool { return len(s.Manifest().Shards) == 3 }, "New one"},
		"Limits.Bytes":      {func(c *bloomery.Config) { c.Limits.Bytes = 1 }, nil, "New one Dir"}, // too large
		"Limits.FPR":        {func(c *bloomery.Config) { c.Limits.FPR = 1e-9 }, nil, "New one Dir"},
		"Building.Workers":  {func(c *bloomery.Config) { c.Building.Workers = 2 }, always, ""},
		"Building.Memory":   {func(c *bloomery.Config) { c.Building.Memory = 1 << 20 }, always, ""},
		"Building.TempDir":  {func(c *bloomery.Config) { c.Building.TempDir = temporary }, always, ""},
		"Building.Progress": {func(c *bloomery.Config) { c.Building.Progress = func(filter.Progress) {} }, always, ""},
		"Building.Chosen": {func(c *bloomery.Config) {
			c.Spec, c.Keys, c.Needs.ValueBits, c.Building.Chosen = "", 3, 8, func(plan.Choice) { called++ }
		}, func(*set) bool { return called > 0 }, ""},
		"Concurrent": {func(c *bloomery.Config) { c.Concurrent = true }, func(s *set) bool {
			_, err := s.Allower(bloomery.JobConfig{})
			return errors.Is(err, filter.ErrUnsupported) // since it is for many writers
		}, "Dir"},
		"Allow": {func(c *bloomery.Config) { c.Allow = slices.Values([][]byte{[]byte("no")}) },
			func(s *set) bool { return s.Info().Allowed == 1 && !s.ContainsString("no") },
			"New Dir/BuildValues Dir/NewBuilder"}, // a sharded set with values has no exceptions
	}

	for _, name := range fieldsOf(reflect.TypeFor[bloomery.Config]()) {
		if _, ok := rows[name]; !ok {
			t.Errorf("Config.%s is not in the table: is it used or refused?", name)
		}
	}
	for name, field := range rows {
		for function, call := range functions {
			for _, where := range []string{"one", "Dir"} {
				spec := "rankindexed"
				if function == "BuildValues" || function == "NewBuilder" {
					spec = "rankindexed(value_bits=8)"
				}
				c := bloomery.Config{Spec: spec}
				switch {
				case function == "New" && where == "Dir":
					continue
				case function == "New":
					c.Keys = 3
					where = "New"
				case where == "Dir":
					c.Sharding = bloomery.Sharding{Dir: filepath.Join(t.TempDir(), "set"), Shards: 2}
				}

				called = 0
				field.change(&c)
				if c.Like.Set != nil && function != "New" { // the function itself makes a Set that it can follow
					c.Like.Set = settest.Must(call(bloomery.Config{Spec: spec, Sharding: c.Sharding}))
					c.Sharding.Dir += strings.Repeat("2", min(1, c.Sharding.Shards))
					defer c.Like.Set.Close()
				}
				want := slices.ContainsFunc(strings.Fields(field.refused), func(by string) bool {
					return by == where || by == function || by == where+"/"+function
				})
				s, err := call(c)
				switch {
				case want != (err != nil) || want && !isRefusal(err):
					t.Errorf("%s (%s) with %s: %v; refused: %v", function, where, name, err, want)
				case err == nil && !field.used(s):
					t.Errorf("%s (%s) ignores %s: %v", function, where, name, s)
				}
				if err == nil {
					settest.Check(t, s.Close())
				}
			}
		}
	}
}

// isRefusal reports whether an error says that a Config cannot be met.
func isRefusal(err error) bool {
	for _, e := range []error{filter.ErrConfig, filter.ErrUnsupported, filter.ErrKeys, filter.ErrFull, filter.ErrTooLarge,
		filter.ErrRate} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// TestSizeWithoutKeys checks for every family that starts empty that New needs no number of keys for a Spec with a size
// of the whole filter, has that size, and takes as many keys as its capacity. A size per key needs the number.
func TestSizeWithoutKeys(t *testing.T) {
	const bytes = 10_000
	for _, name := range families.With(family.CanStartEmpty) {
		f := settest.Must(families.ByName(name))
		for _, spec := range []string{"bytes=10000", "m=80000", "words=1250", "blocks=156", "m=80000,k=5"} {
			parameter, _, _ := strings.Cut(spec, "=")
			if parameter != "bytes" && !slices.Contains(f.Sizes, parameter) {
				continue
			}

			s, err := bloomery.New(bloomery.Config{Spec: name + "(" + spec + ")"})
			if err != nil {
				t.Errorf("%s(%s): %v", name, spec, err)
				continue
			}
			info := s.Info()
			if size := info.Bits / 8; size > 4*bytes || size < bytes*95/100 {
				t.Errorf("%s(%s) has %d bytes", name, spec, size)
			}
			for i := range info.Capacity {
				settest.Check(t, bloomery.Keyed[uint64](s).Add(i))
			}
			if r := s.Info().FPRPosterior; r > 0.012 {
				t.Errorf("%s(%s): rate %v with %d keys", name, spec, r, info.Capacity)
			}
		}

		_, err := bloomery.New(bloomery.Config{Spec: name + "(bits_per_key=12)"})
		if !errors.Is(err, filter.ErrConfig) || !strings.Contains(err.Error(), "set Keys or Capacity") {
			t.Errorf("%s(bits_per_key=12): %v", name, err)
		}
	}
}

// TestJobFields makes every job with each field of JobConfig set, and checks that the job uses the field or returns an
// error for it.
func TestJobFields(t *testing.T) {
	s := settest.Build(t, settest.Words(100), bloomery.Config{Spec: "rankindexed"})
	searched := settest.Build(t, settest.Words(100), bloomery.Config{Spec: "partitioned(bits_per_key=8)"})
	end := func(j io.Closer, err error) error {
		if err != nil {
			return err
		}
		return j.Close()
	}
	jobs := map[string]func(c bloomery.JobConfig) error{
		"Addition": func(c bloomery.JobConfig) error { j, err := s.Addition(c); return end(j, err) },
		"Removal":  func(c bloomery.JobConfig) error { j, err := s.Removal(c); return end(j, err) },
		"Allower":  func(c bloomery.JobConfig) error { j, err := s.Allower(c); return end(j, err) },
		"Verifier": func(c bloomery.JobConfig) error { j, err := s.Verifier(c); return end(j, err) },
		"Optimizer": func(c bloomery.JobConfig) error {
			j, err := searched.Optimizer(c)
			if err != nil {
				return err
			}
			defer j.Close()
			for _, k := range settest.Words(100) {
				settest.Check(t, j.AddMany([][]byte{[]byte(k)}))
			}
			_, err = j.Commit(t.Context())
			return err
		},
	}
	const all = "Addition Removal Allower Verifier Optimizer"
	rows := map[string]struct {
		change  func(c *bloomery.JobConfig)
		refused string
	}{
		"Building.Workers":  {func(c *bloomery.JobConfig) { c.Building.Workers = 2 }, "Allower"},
		"Building.Memory":   {func(c *bloomery.JobConfig) { c.Building.Memory = 1 << 20 }, "Allower"},
		"Building.TempDir":  {func(c *bloomery.JobConfig) { c.Building.TempDir = t.TempDir() }, "Allower"},
		"Building.Progress": {func(c *bloomery.JobConfig) { c.Building.Progress = func(filter.Progress) {} }, "Allower"},
		"Building.Chosen":   {func(c *bloomery.JobConfig) { c.Building.Chosen = func(plan.Choice) {} }, all},
		"Like.Set":          {func(c *bloomery.JobConfig) { c.Like.Set = s }, "Addition Removal Verifier Optimizer"},
		"Like.Shrink":       {func(c *bloomery.JobConfig) { c.Like.Shrink = 0.1 }, "Addition Removal Allower Verifier"},
		"Limits.Bytes":      {func(c *bloomery.JobConfig) { c.Limits.Bytes = 1 }, all}, // too large
		"Limits.FPR":        {func(c *bloomery.JobConfig) { c.Limits.FPR = 1e-9 }, all},
		"Absent":            {func(c *bloomery.JobConfig) { c.Absent = 5 }, "Addition Removal Allower Optimizer"},
		"Effort": {func(c *bloomery.JobConfig) { c.Effort.Passes = 2 },
			"Addition Removal Allower Verifier"},
	}

	for _, name := range fieldsOf(reflect.TypeFor[bloomery.JobConfig]()) {
		field, ok := rows[name]
		if !ok {
			t.Errorf("JobConfig.%s is not in the table: is it used or refused?", name)
			continue
		}
		for job, make := range jobs {
			var c bloomery.JobConfig
			field.change(&c)
			err, refused := make(c), slices.Contains(strings.Fields(field.refused), job)
			if refused != (err != nil) || refused && !isRefusal(err) {
				t.Errorf("%s with %s: %v; refused: %v", job, name, err, refused)
			}
		}
	}
}

// fieldsOf returns the names of the fields of a struct, and of its structs of package bloomery, such as Like.Set.
func fieldsOf(of reflect.Type) []string {
	var names []string
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Type.Kind() == reflect.Struct && f.Type.PkgPath() == of.PkgPath() {
			for _, inner := range fieldsOf(f.Type) {
				names = append(names, f.Name+"."+inner)
			}
			continue
		}
		names = append(names, f.Name)
	}
	return names
}

// TestNewSizes checks that New needs a size, a number of keys, or a family that grows. Otherwise its error must name
// the missing field.
func TestNewSizes(t *testing.T) {
	for _, c := range []bloomery.Config{
		{}, {Spec: "standard"}, {Spec: "standard(fpr=0.001)"}, {Spec: "blocked(bits_per_key=12)"}, {Spec: "counting"},
		{Spec: "rankindexed"}, {Spec: "rankindexed(bucket=512,fpr=0.01)"},
		{Spec: "twochoice"}, {Spec: "guava"}, {Spec: "spark"}, {Spec: "dcso"}, {Spec: "bitsandblooms"},
		{Spec: "redisbloom(expansion=0)"},
		{Needs: plan.Needs{FPR: 0.01}}, {Needs: plan.Needs{BitsPerKey: 12}},
		{Hashing: bloomery.Hashing{Seed: 1}}, {Spec: "blocked(layout=split)"},
	} {
		_, err := bloomery.New(c)
		if !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%v: %v", c, err)
			continue
		}
		for _, want := range []string{"Keys", "Capacity", "capacity=", "grows"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q lacks %s", c, err, want)
			}
		}
	}
	for _, spec := range []string{"standard", "blocked(bytes=1000)", "rankindexed(capacity=99)"} {
		c := bloomery.Config{Spec: spec, Keys: 1000, Limits: bloomery.Limits{FPR: 0.001}}
		if _, err := bloomery.New(c); !errors.Is(err, filter.ErrRate) {
			t.Errorf("%v: %v", c, err)
		}
		c.Keys, c.Limits.FPR = 1000, 0.02
		if _, err := bloomery.New(c); err != nil && spec != "blocked(bytes=1000)" {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := bloomery.New(bloomery.Config{Needs: plan.Needs{Keys: 1000}}); !errors.Is(err, filter.ErrConfig) ||
		!strings.Contains(err.Error(), "set Config.Keys") {
		t.Error(err)
	}
	const keys = 1000
	for _, c := range []bloomery.Config{
		{Keys: keys}, {Capacity: keys}, {Spec: "standard", Capacity: keys}, {Spec: "blocked", Keys: 10, Capacity: keys},
		{Spec: "standard(capacity=1000)"}, {Spec: "standard(bytes=2000)"}, {Spec: "standard(k=7,m=10000)"},
		{Spec: "blocked(blocks=30,k=7,layout=line)"}, {Spec: "rankindexed(capacity=1000)"}, {Spec: "rankindexed",
			Capacity: keys},
		{Spec: "rankindexed(growth=20)"}, {Spec: "redisbloom"}, {Needs: plan.Needs{FPR: 0.01}, Capacity: keys},
		{Needs: plan.Needs{FPR: 0.01, Later: keys}}, {Needs: plan.Needs{Bytes: 2000}}, {Spec: "guava", Capacity: keys},
		{Spec: "bitsandblooms(bytes=2000)"}, {Spec: "standard(m=10000)"}, {Spec: "counting(m=10000)"},
		{Spec: "bitsandblooms(m=10000)"}, {Spec: "guava(words=160)"}, {Spec: "spark(words=160)"}, {Spec: "dcso(m=10000)"},
		{Spec: "blocked(blocks=20)"},
	} {
		s, err := bloomery.New(c)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		for i := range uint64(keys) {
			if err := bloomery.Keyed[uint64](s).Add(i); err != nil {
				t.Fatalf("%v: key %d: %v", c, i, err)
			}
		}
		if fpr := s.Info().FPRPosterior; fpr > 0.06 {
			t.Errorf("%v: rate %g", c, fpr)
		}
	}
}

// TestNewNeedsAdd checks for all other needs that keys can be added to a filter that New chooses.
func TestNewNeedsAdd(t *testing.T) {
	for _, c := range []bloomery.Config{
		{Needs: plan.Needs{FPR: 0.01}, Keys: 1000}, {Needs: plan.Needs{FPR: 0.001, Merge: true}, Keys: 1000},
		{Capacity: 1000}, {Needs: plan.Needs{BitsPerKey: 12}, Keys: 1000}, {Needs: plan.Needs{FPR: 0.01}, Capacity: 500},
	} {
		s, err := bloomery.New(c)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		for i := range uint64(500) {
			if err := bloomery.Keyed[uint64](s).Add(i); err != nil || !bloomery.Keyed[uint64](s).Contains(i) {
				t.Fatalf("%v: key %d: %v", c, i, err)
			}
		}
	}
}

// TestMaxBytes checks that a Config that exceeds the limit is refused before memory is allocated.
func TestMaxBytes(t *testing.T) {
	const limit = 1 << 20
	few := []string{"a", "b", "c"}
	for name, c := range map[string]bloomery.Config{
		"bytes": {Spec: "standard(bytes=1099511627776)"}, "bits": {Spec: "standard(k=3,m=8796093022208)"},
		"keys": {Keys: 1 << 36}, "capacity": {Spec: "rankindexed(capacity=100000000000)"},
		"blocks":            {Spec: "blocked(blocks=4294967296)"},
		"needs":             {Needs: plan.Needs{FPR: 0.01}, Keys: 1 << 34},
		"capacity of needs": {Needs: plan.Needs{FPR: 0.01}, Capacity: 1 << 34},
		"bits per key":      {Spec: "standard(bits_per_key=4096)", Keys: 1 << 30},
		"raw keys":          {Spec: "bitsandblooms(bytes=1099511627776)"},
		"counting":          {Spec: "counting(bytes=1099511627776)"},
		"searched":          {Spec: "partitioned(bits_per_key=8)", Keys: 1 << 30},
		"fuse":              {Spec: "fuse", Keys: 1 << 30}, "ribbon": {Spec: "ribbon(r=8)", Keys: 1 << 40},
		"little": {Spec: "standard(bytes=1048584)"},
	} {
		for way, make := range map[string]func(c bloomery.Config) error{
			"New": func(c bloomery.Config) error { _, err := bloomery.New(c); return err },
			"Build": func(c bloomery.Config) error {
				_, err := bloomery.Build(t.Context(), slices.Values(few), c)
				return err
			},
			"BuildDir": func(c bloomery.Config) error {
				c.Sharding.Shards = 4
				_, err := settest.BuildShards(t.Context(), slices.Values(few), filepath.Join(t.TempDir(), "set"), c)
				return err
			},
		} {
			c.Limits.Bytes = limit
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := make(c)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 32*limit {
				t.Errorf("%s: %s allocates %d bytes", name, way, n)
			}
			if errors.Is(err, filter.ErrUnsupported) || errors.Is(err, filter.ErrConfig) {
				continue // this way does not support the family, or a set does not support the geometry of one filter
			}
			if !errors.Is(err, filter.ErrTooLarge) {
				t.Errorf("%s: %s: %v", name, way, err)
			}
		}
	}
	for name, c := range map[string]bloomery.Config{
		"default": {}, "known": {Keys: 3}, "at the limit": {Spec: "standard(bytes=1048576)"}, "ribbon": {Spec: "ribbon(r=8)"},
		"raw": {Spec: "bitsandblooms", Keys: 3}, "needs": {Needs: plan.Needs{FPR: 0.01}},
	} {
		c.Limits.Bytes = limit
		if _, err := bloomery.Build(t.Context(), slices.Values(few), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The limit is too small for the keys, and their number is known only after the last one.
	for _, spec := range []string{"standard", "ribbon(r=8)", "partitioned", "bitsandblooms", "fuse", "rankindexed"} {
		c := bloomery.Config{Spec: spec, Limits: bloomery.Limits{Bytes: 1000}}
		if _, err := bloomery.Build(t.Context(), slices.Values(settest.Words(5000)), c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: 5000 keys in 1000 bytes: %v", spec, err)
		}
		dir := filepath.Join(t.TempDir(), "set")
		_, err := settest.BuildShards(t.Context(), slices.Values(settest.Words(5000)), dir, c)
		if !errors.Is(err, filter.ErrTooLarge) && !errors.Is(err, filter.ErrUnsupported) {
			t.Errorf("%s: 5000 keys in shards of 1000 bytes: %v", spec, err)
		}
	}
}

// TestMaxBytesLike checks the limit for a filter that is built like another one.
func TestMaxBytesLike(t *testing.T) {
	old := settest.Build(t, settest.Words(5000), bloomery.Config{})
	n := uint64(settest.Must(old.WriteTo(io.Discard)))
	for limit, want := range map[uint64]error{n / 2: filter.ErrTooLarge, 2 * n: nil} {
		_, err := bloomery.Build(t.Context(), slices.Values(settest.Words(5000)),
			bloomery.Config{Like: bloomery.Like{Set: old}, Limits: bloomery.Limits{Bytes: limit}})
		if !errors.Is(err, want) {
			t.Errorf("limit %d of %d: %v", limit, n, err)
		}
	}
}

// TestConfigString checks that a Config prints the fields that are set. It must not print the contents of Like, Allow
// and the secret.
func TestConfigString(t *testing.T) {
	for want, c := range map[string]bloomery.Config{
		"bloomery.Config{}": {},
		"bloomery.Config{Spec:standard(fpr=0.01) Keys:5}": {Spec: "standard(fpr=0.01)", Keys: 5},
		"bloomery.Config{Hashing:{ID:xxh64 Secret:...}}": {Hashing: bloomery.Hashing{Secret: filter.NewSecret(),
			ID: filter.XXH64}},
		"bloomery.Config{Allow:...}": {Allow: func(func([]byte) bool) {}},
		"bloomery.Config{Like:{Set:...}}": {Like: bloomery.Like{Set: settest.Build(t, []string{"a"},
			bloomery.Config{})}},
	} {
		if got := c.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestCheckDir checks that Check refuses every Config with Dir or Shards that NewBuilder refuses.
func TestCheckDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	sharded := settest.Build(t, settest.Words(100),
		bloomery.Config{Sharding: bloomery.Sharding{Dir: dir + "0", Shards: 3}})
	defer sharded.Close()
	for text, c := range map[string]bloomery.Config{
		"":       {Sharding: bloomery.Sharding{Dir: dir}},
		"number": {Sharding: bloomery.Sharding{Dir: dir, Shards: 3}},
		"needs":  {Sharding: bloomery.Sharding{Dir: dir, Shards: 3}, Needs: plan.Needs{FPR: 0.01}},
		"needs secret": {Sharding: bloomery.Sharding{Dir: dir}, Hashing: bloomery.Hashing{Secret: filter.NewSecret()},
			Capacity: 1000},
		"!no folder":     {Sharding: bloomery.Sharding{Shards: 3}},
		"!many":          {Sharding: bloomery.Sharding{Dir: dir, Shards: shard.Max + 1}},
		"!negative":      {Sharding: bloomery.Sharding{Dir: dir, Shards: -1}},
		"!writers":       {Sharding: bloomery.Sharding{Dir: dir}, Concurrent: true},
		"!needs":         {Sharding: bloomery.Sharding{Dir: dir}, Concurrent: true, Needs: plan.Needs{FPR: 0.01}},
		"!like, writers": {Sharding: bloomery.Sharding{Dir: dir}, Like: bloomery.Like{Set: sharded}, Concurrent: true},
		"like":           {Sharding: bloomery.Sharding{Dir: dir}, Like: bloomery.Like{Set: sharded}},
		"!needs, many":   {Sharding: bloomery.Sharding{Dir: dir, Shards: shard.Max + 1}, Needs: plan.Needs{FPR: 0.01}},
		"!raw keys":      {Sharding: bloomery.Sharding{Dir: dir}, Spec: "bitsandblooms(fpr=0.01)"},
		"!fixed size":    {Sharding: bloomery.Sharding{Dir: dir, Shards: 2}, Spec: "standard(m=1000,k=3)"},
		"!like": {Sharding: bloomery.Sharding{Dir: dir},
			Like: bloomery.Like{Set: settest.Build(t, settest.Words(10), bloomery.Config{})}},
	} {
		err := c.Check()
		b, made := bloomery.NewBuilder(t.Context(), c)
		if made == nil {
			made = b.Close()
		}
		if bad := strings.HasPrefix(text, "!"); bad != (err != nil) || bad != (made != nil) {
			t.Errorf("%q: Check: %v; NewBuilder: %v", text, err, made)
		}
	}
}
