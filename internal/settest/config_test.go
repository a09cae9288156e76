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
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// TestFields checks that New, Build and a build in a folder use each field of a Config or return an error for it. New
// accepts Workers, Memory, TempDir and Progress: it has no such work.
func TestFields(t *testing.T) {
	keys := []string{"a", "b", "c"}
	like := settest.Build(t, keys, bloomery.Config{Spec: "standard"})
	dir := filepath.Join(t.TempDir(), "like")
	sharded := settest.Must(bloomery.Build(t.Context(), slices.Values(keys),
		bloomery.Config{Spec: "standard", Sharding: bloomery.Sharding{Dir: dir, Shards: 2}}))
	defer sharded.Close()
	ways := map[string]func(bloomery.Config) error{
		"New": func(c bloomery.Config) error { _, err := bloomery.New(c); return err },
		"Build": func(c bloomery.Config) error {
			_, err := bloomery.Build(t.Context(), slices.Values(keys), c)
			return err
		},
		"Dir": func(c bloomery.Config) error {
			c.Sharding.Dir = filepath.Join(t.TempDir(), "set")
			if c.Like.Set != nil {
				c.Like.Set = sharded
			}
			s, err := bloomery.Build(t.Context(), slices.Values(keys), c)
			if err == nil {
				s.Close()
			}
			return err
		},
	}
	type fields func(c *bloomery.Config)
	all := map[string]struct {
		set     fields
		refused string // the ways that refuse the field
	}{
		"Spec":              {func(c *bloomery.Config) { c.Spec = "blocked" }, ""},
		"Needs":             {func(c *bloomery.Config) { c.Needs = plan.Needs{FPR: 0.01} }, ""},
		"Like.Set":          {func(c *bloomery.Config) { c.Like.Set = like }, "New"},
		"Like.Shrink":       {func(c *bloomery.Config) { c.Like.Shrink = 0.1 }, "New Build Dir"}, // without Like
		"Capacity":          {func(c *bloomery.Config) { c.Capacity = 100 }, ""},
		"Building.Chosen":   {func(c *bloomery.Config) { c.Building.Chosen = func(plan.Choice) {}; c.Needs.FPR = 0.01 }, ""},
		"FPR":               {func(c *bloomery.Config) { c.FPR = 0.1 }, ""},
		"Limits.FPR":        {func(c *bloomery.Config) { c.Limits.FPR = 0.1 }, ""},
		"Keys":              {func(c *bloomery.Config) { c.Keys = 3 }, ""},
		"Limits.Bytes":      {func(c *bloomery.Config) { c.Limits.Bytes = 1 << 20 }, ""},
		"Sharding.Dir":      {func(c *bloomery.Config) { c.Sharding.Dir = filepath.Join(t.TempDir(), "dir") }, "New"},
		"Sharding.Shards":   {func(c *bloomery.Config) { c.Sharding.Shards = 2 }, "New Build"},
		"Hashing.Seed":      {func(c *bloomery.Config) { c.Hashing.Seed = 1 }, ""},
		"Hashing.Secret":    {func(c *bloomery.Config) { c.Hashing.Secret = filter.NewSecret() }, ""},
		"Hashing.ID":        {func(c *bloomery.Config) { c.Spec, c.Hashing.ID = "blocked(layout=split)", filter.XXH64 }, ""},
		"Building.Workers":  {func(c *bloomery.Config) { c.Building.Workers = 2 }, ""},
		"Building.Memory":   {func(c *bloomery.Config) { c.Building.Memory = 1 << 20 }, ""},
		"Building.TempDir":  {func(c *bloomery.Config) { c.Building.TempDir = t.TempDir() }, ""},
		"Building.Progress": {func(c *bloomery.Config) { c.Building.Progress = func(filter.Progress) {} }, ""},
		"Concurrent":        {func(c *bloomery.Config) { c.Concurrent = true }, "Dir"},
		"Allow":             {func(c *bloomery.Config) { c.Allow = slices.Values([][]byte{[]byte("no")}) }, "New"},
	}
	for _, name := range fieldsOf(reflect.TypeFor[bloomery.Config]()) {
		field, ok := all[name]
		if !ok {
			t.Errorf("Config.%s is not in the table: is it used or refused?", name)
			continue
		}
		for way, make := range ways {
			c := bloomery.Config{}
			if way == "New" {
				c.Keys = 3
			}
			field.set(&c)
			err, refused := make(c), slices.Contains(strings.Fields(field.refused), way)
			if refused && !errors.Is(err, filter.ErrConfig) || !refused && err != nil {
				t.Errorf("%s with %s: %v; refused: %v", way, name, err, refused)
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

// TestNewSizes checks that an empty Set has a size, or a number of keys, or grows; otherwise the error names the
// missing field.
func TestNewSizes(t *testing.T) {
	for _, c := range []bloomery.Config{
		{}, {Spec: "standard"}, {Spec: "standard(fpr=0.001)"}, {Spec: "blocked(bits_per_key=12)"}, {Spec: "counting"},
		{Spec: "rankindexed"}, {Spec: "rankindexed(bucket=512,fpr=0.01)"},
		{Spec: "twochoice"}, {Spec: "guava"}, {Spec: "spark"}, {Spec: "bitsandblooms"}, {Spec: "redisbloom(expansion=0)"},
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
		{Spec: "bitsandblooms(m=10000)"}, {Spec: "guava(words=160)"}, {Spec: "spark(words=160)"},
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

// TestNewNeedsAdd checks that a filter that starts empty takes keys, for any other needs.
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

// TestMaxBytes checks that a Config that exceeds the limit is an error before memory is allocated.
func TestMaxBytes(t *testing.T) {
	const limit = 1 << 20
	few := []string{"a", "b", "c"}
	for name, c := range map[string]bloomery.Config{
		"bytes": {Spec: "standard(bytes=1099511627776)"}, "bits": {Spec: "standard(k=3,m=8796093022208)"},
		"keys": {Keys: 1 << 36}, "capacity": {Spec: "rankindexed(capacity=100000000000)"},
		"blocks":            {Spec: "blocked(blocks=4294967296)"},
		"needs":             {Needs: plan.Needs{FPR: 0.01}, Keys: 1 << 34},
		"capacity of needs": {Needs: plan.Needs{FPR: 0.01}, Capacity: 1 << 34},
		"bits a key":        {Spec: "standard(bits_per_key=4096)", Keys: 1 << 30},
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
				continue // this way does not take the family, or the geometry of one filter for a set
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
	// The keys are more than the limit has room for, and their number is known only after them.
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

// TestMaxBytesLike bounds a filter that is like another one.
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

// TestConfigString prints the names of fields that are set, and of Like, Allow and the secret only that they are.
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

// TestCheckDir checks that Check knows what NewBuilder refuses of a Config with Dir or Shards, before the keys.
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
