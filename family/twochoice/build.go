package twochoice

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/gather"
)

// The defaults of a Config. Three choices gain most of what more of them do, and a query reads twice as many bits as there
// are choices.
const (
	DefaultBitsPerKey = 8
	DefaultChoices    = 3
)

// Config says what filter to make. Fields that are 0 have the default that stands with them.
type Config struct {
	Keys    uint64        // how many keys New makes room for; a Builder counts for itself
	Size    filter.Sizing // default: BitsPerKey = DefaultBitsPerKey, for distinct keys
	Choices int           // c, the groups of a key, 2 to MaxChoices; default: DefaultChoices
	K       int           // functions a group, 1 to MaxK; default: what is best for the size and the choices
	Hashing Hashing       // default: Independent
	// Shards is the number of filters that the keys are divided among, at most 4 Mi keys each. Default: one for every 16 Ki
	// keys, which is faster and of the same rate; the paper has one.
	Shards uint64
	// Greedy has the search go the paper's way, without noise, and end once some rounds gain nothing.
	Greedy bool
	// Effort is filter.Default if not set; Passes are the paper's rounds. One pass is online insertion in the order of the
	// hashes. One core takes some 60 ns a key and pass at 8 bits a key and 3 choices.
	Effort  filter.Effort
	Workers int    // shards that are searched at once; default: GOMAXPROCS
	Memory  int64  // bytes of keys to hold in memory at most, the others going to Dir; default: no limit
	Dir     string // default: os.TempDir()
	// From has the search go on from an earlier filter, whose geometry the new one gets. Size, Choices, K, Hashing and Shards
	// are not used. The keys may have changed; all of them are needed again.
	From *Filter
}

// ConfigFromSpec reads twochoice(bits_per_key=, fpr=, bytes=, choices=, k=, hashing=independent|double,
// search=anneal|greedy, effort=fast|default|max, passes=, budget=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r), Hashing: Hashing(r.Text("hashing", string(Independent))), Effort: filter.ReadEffort(r)}
	choices, k, search := r.Uint("choices"), r.Uint("k"), r.Text("search", "anneal")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	c.Choices, c.K, c.Greedy = int(min(choices, MaxChoices+1)), int(min(k, MaxK+1)), search == "greedy"
	switch {
	case search != "greedy" && search != "anneal":
		return Config{}, &filter.ConfigError{Field: "search", Value: search, Reason: "want anneal or greedy"}
	case s.Has("k") && k == 0:
		return Config{}, &filter.ConfigError{Field: "k", Value: k, Reason: fmt.Sprintf("want 1 to %d", MaxK)}
	case s.Has("choices") && choices == 0:
		return Config{}, &filter.ConfigError{Field: "choices", Value: choices, Reason: fmt.Sprintf("want 2 to %d", MaxChoices)}
	}
	return c, c.check()
}

// check fills in defaults and returns what is wrong whatever the number of keys.
func (c *Config) check() error {
	if c.Choices == 0 {
		c.Choices = DefaultChoices
	}
	if c.Hashing == "" {
		c.Hashing = Independent
	}
	if c.Size.IsZero() {
		c.Size.BitsPerKey = DefaultBitsPerKey
	}
	if err := errors.Join(c.Size.Check(), c.Effort.Check()); err != nil {
		return err
	}
	switch {
	case c.Choices < 2 || c.Choices > MaxChoices:
		return &filter.ConfigError{Field: "choices", Value: c.Choices, Reason: fmt.Sprintf("want 2 to %d; one choice is the standard family", MaxChoices)}
	case c.K < 0 || c.K > MaxK:
		return &filter.ConfigError{Field: "k", Value: c.K, Reason: fmt.Sprintf("want 1 to %d", MaxK)}
	case c.Hashing != Independent && c.Hashing != Double:
		return &filter.ConfigError{Field: "hashing", Value: c.Hashing, Reason: "want independent or double"}
	case c.Size.BitsPerKey > maxBitsPerKey || c.Size.BitsPerKey != 0 && c.Size.BitsPerKey < minBitsPerKey:
		return &filter.ConfigError{Field: "bits_per_key", Value: c.Size.BitsPerKey, Reason: fmt.Sprintf("want %d to %d", minBitsPerKey, maxBitsPerKey)}
	case c.Effort.Target != 0:
		return &filter.ConfigError{Field: "target", Value: c.Effort.Target, Reason: "this family has no such effort; give a size by fpr"}
	case c.Shards > maxShards:
		return &filter.ConfigError{Field: "shards", Value: c.Shards, Reason: fmt.Sprintf("want at most %d", uint64(maxShards))}
	case c.From != nil && c.From.geometry.shards == 0:
		return &filter.ConfigError{Field: "from", Value: "an empty Filter", Reason: "want one that was built or read"}
	case c.Workers < 0:
		return &filter.ConfigError{Field: "workers", Value: c.Workers, Reason: "want 0 or more"}
	}
	return nil
}

// New returns an empty filter that takes keys one by one, Config.Keys of them. What concerns a search is not used.
func New(c Config) (*Filter, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Effort, c.From = filter.Effort{Passes: 1}, nil
	g, err := c.geometry(context.Background(), c.Keys)
	if err != nil {
		return nil, err
	}
	words, err := bitvec.Alloc(g.words())
	if err != nil {
		return nil, err
	}
	return &Filter{geometry: g, words: words}, nil
}

// Builder gathers keys, 16 bytes each, and searches at the end. A search takes 4·c·k + 1 bytes more for each key of the
// shards that are worked on, and a byte for each of their bits.
type Builder struct {
	gather.Intake
	c Config
}

// NewBuilder returns an empty builder.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Builder{gather.NewIntake(gather.Config{Memory: c.Memory, Dir: c.Dir, Expect: c.Keys, Workers: c.Workers}), c}, nil
}

// Build searches for the groups. The result depends on the set of keys, the size and the effort alone: neither on the order
// of the keys, nor on how often one was added, nor on the number of workers; but for an effort by time.
//
// If ctx ends with the cause filter.ErrEnough, Build settles for what the search has reached and returns the filter.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	start := anneal.Now(ctx)
	defer b.Close()
	needed, cancel := anneal.Unless(ctx)
	defer cancel()
	n, err := b.Keys.Finish(needed)
	if err != nil {
		return nil, err
	}
	g, err := b.c.geometry(needed, n)
	if err != nil {
		return nil, err
	}
	effort := b.c.Effort
	for {
		f, err := b.search(ctx, g, n, effort, start)
		if err != nil {
			return nil, err
		}
		var p float64
		f.searched, p = f.census()
		if want := b.c.Size.FPR; b.c.From != nil || want == 0 || n == 0 || ctx.Err() != nil || p <= want {
			return f, nil
		}
		if longer, ok := anneal.Longer(b.c.Effort, effort, n); ok {
			effort = longer
			continue
		}
		// The forecast comes from a sample. Where it promised too much, a little more room keeps the promise.
		more := 1 + uint64(anneal.MoreBits(p/b.c.Size.FPR, float64(n)))/g.shards
		if b.c.Hashing == Double {
			more = (more + whole - 1) / whole * whole
		}
		if g.bits += more; float64(g.bits)*float64(g.shards) > (maxBitsPerKey+1)*float64(n)+1024 || !g.valid() {
			return nil, &filter.ConfigError{Field: "fpr", Value: b.c.Size.FPR, Reason: fmt.Sprintf("the nearest that these keys reach is %.2g; take standard", p)}
		}
	}
}

// search makes the filter: every shard for itself, several at once.
func (b *Builder) search(ctx context.Context, g geometry, n uint64, effort filter.Effort, start time.Time) (*Filter, error) {
	words, err := bitvec.Alloc(g.words())
	if err != nil {
		return nil, err
	}
	f := &Filter{geometry: g, words: words, keys: n}
	workers := anneal.Workers(b.c.Workers, g.shards)
	pace := anneal.NewPace(ctx, anneal.Passes(effort), start, effort.Budget, n, workers)
	defer pace.Report(b.Progress)()
	var mu sync.Mutex // shards share words at their ends
	err = pace.Each(b.Keys, g.shard, func() func(uint64, []filter.Hash) error {
		var s search
		return func(shard uint64, keys []filter.Hash) error {
			s.shard(g, shard, keys, pace.Take(uint64(len(keys))), b.c)
			mu.Lock()
			defer mu.Unlock()
			s.store(f, shard)
			return anneal.Promise(f, keys)
		}
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}
