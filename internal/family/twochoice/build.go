package twochoice

import (
	"cmp"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// The defaults of a Config. A search of eight choices takes as long as one of three and saves 0.6 bits per key. For
// keys that are added one by one, three choices give most of the gain of more choices, with faster adds and queries.
const (
	defaultBitsPerKey = 8
	searchedChoices   = 8
	addedChoices      = 3
)

// Config contains the parameters of a filter. A zero field means the default noted beside the field.
type Config struct {
	Keys    uint64        // number of keys that New makes room for; a Builder counts its keys
	Size    family.Sizing // default: BitsPerKey = defaultBitsPerKey, for distinct keys
	Choices int           // c, the groups of a key, 2 to maxChoices; default: searchedChoices or addedChoices
	K       int           // windows per key, 1 to MaxK; default: the best number for the size and the choices
	// Shards is the number of filters that the keys are divided among, at most 4 Mi keys each. Default: one per 16 Ki
	// keys, which is faster than a single one (as in the paper) at the same rate.
	Shards uint64
	// Effort is filter.Default if not set; Passes are the paper's rounds. One pass is online insertion in the order of
	// the hashes. One core takes about 60 ns per key and pass at 8 bits per key and 3 choices.
	Effort  filter.Effort
	Workers int    // shards that are searched at once; default: GOMAXPROCS
	Table   uint64 // version of the table that the geometry comes from; default: the newest
	// From is an earlier filter. The new filter has the same geometry, and the search starts from From. With the effort
	// filter.Keep there is no search: each key that From contains uses the first group whose bits are set in From; then
	// each other key, in the order of the hashes, uses the group that sets the fewest new bits. Size, Choices, K and
	// Shards are not used. All keys are needed again; they may have changed.
	From *Filter
}

// ConfigFromSpec reads twochoice(bits_per_key=, fpr=, bytes=, choices=, k=, effort=fast|default|max, passes=, budget=,
// table=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Effort: family.ReadEffort(r), Table: r.Uint("table")}
	c.K = int(r.Count("k", MaxK))
	choices := r.Uint("choices")
	if err := r.Err(); err != nil {
		return Config{}, err
	}

	if family.Given(s, "choices") && choices == 0 {
		return Config{}, family.Invalid("choices", choices, "want 2 to %d", maxChoices)
	}
	c.Choices = int(min(choices, maxChoices+1))
	return c, c.Check()
}

// Check sets the defaults and returns an error wrapping filter.ErrConfig if the Config is invalid whatever the number
// of keys.
func (c *Config) Check() error {
	if c.Size.IsZero() {
		c.Size.BitsPerKey = defaultBitsPerKey
	}

	limits := anneal.Limits{Family: Family, Least: minBitsPerKey, Most: maxBitsPerKey, MaxK: MaxK}
	if err := limits.Check(c.common()); err != nil {
		return err
	}

	switch {
	case c.Choices != 0 && (c.Choices < 2 || c.Choices > maxChoices):
		return family.Invalid("choices", c.Choices, "want 2 to %d; one choice is the standard family", maxChoices)
	case c.Shards > maxShards:
		return family.Invalid("shards", c.Shards, "want at most %d", uint64(maxShards))
	}
	return nil
}

// choices returns the number of groups of a key.
func (c Config) choices() int {
	if anneal.Passes(c.Effort) == 1 {
		return cmp.Or(c.Choices, addedChoices)
	}
	return cmp.Or(c.Choices, searchedChoices)
}

// common returns the parameters that all families with a search share.
func (c Config) common() anneal.Common {
	return anneal.Common{
		Keys: c.Keys, Size: c.Size, K: c.K, Effort: c.Effort, Workers: c.Workers, Table: c.Table,
		From: c.From != nil, Empty: c.From != nil && c.From.geometry == geometry{},
	}
}

// New returns an empty filter for Config.Keys keys that are added one by one. It does not use the fields of a search:
// Effort, Workers and From.
func New(c Config) (*Filter, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}

	c.Effort, c.From = filter.Effort{Passes: 1}, nil
	g, err := c.geometry(c.Keys)
	if err != nil {
		return nil, err
	}

	words, err := bitvec.Alloc(g.wordCount())
	if err != nil {
		return nil, err
	}
	return &Filter{geometry: g, words: words}, nil
}

// Builder gathers keys, 16 bytes each, and searches at the end. While it searches, it needs a further 4·c·k + 1 bytes
// per key and 1 byte per bit of each shard that is being searched.
//
// Build searches for the groups and returns a *Filter. The result depends only on the set of keys, the size and the
// effort, not on the order of the keys, on duplicates or on the number of workers. A search by time also depends on the
// machine. Errors wrap filter.ErrConfig if no size keeps the rate, or filter.ErrTooLarge.
//
// If ctx ends with the cause filter.ErrEnough, Build returns the best filter of the search so far.
type Builder = anneal.Builder[geometry, *Filter]

// NewBuilder returns an empty builder. Errors wrap filter.ErrConfig.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return anneal.NewBuilder(c.common(), &job{Config: c}), nil
}

// job is one build. See anneal.Job.
type job struct {
	Config
	mu sync.Mutex // shards share words at their ends
}

// Geometry returns the geometry for n distinct keys.
func (j *job) Geometry(n uint64) (geometry, filter.Effort, error) {
	g, err := j.Config.geometry(n)
	return g, j.Effort, err
}

// New returns a filter for n keys with no bit set.
func (j *job) New(g geometry, n uint64) (*Filter, error) {
	words, err := bitvec.Alloc(g.wordCount())
	if err != nil {
		return nil, err
	}
	return &Filter{geometry: g, words: words, keys: n}, nil
}

// Parts returns the shards.
func (j *job) Parts(g geometry) (uint64, func(filter.Hash) uint64) { return g.shards, g.shardOf }

// Worker searches shards.
func (j *job) Worker(f *Filter, pace *anneal.Pace) func(uint64, []filter.Hash) error {
	var s anneal.State
	return func(shard uint64, keys []filter.Hash) error {
		searchShard(&s, pace.Take(uint64(len(keys))), f.geometry, shard, keys, j.From)

		j.mu.Lock()
		defer j.mu.Unlock()
		s.Store(f.words, shard*f.bits)
		return anneal.Verify(f, keys) // under the lock: a neighbour may write a word of this shard
	}
}

// Rate records the number of bits set by the search and returns the rate.
func (j *job) Rate(f *Filter) (rate float64) {
	f.searched, rate = f.census()
	return rate
}

// Longer returns the Effort of a longer search.
func (j *job) Longer(_ geometry, was filter.Effort, n uint64) (filter.Effort, bool) {
	return anneal.Longer(j.Effort, was, n)
}

// Larger adds bits to all shards.
func (j *job) Larger(g geometry, n uint64, rate, bits float64) (geometry, error) {
	more := 1 + uint64(bits)/g.shards
	if g.shards > 1 {
		more = (more + 63) / 64 * 64 // whole words, as in Config.geometry
	}
	if g.bits += more; float64(g.bits)*float64(g.shards) > (maxBitsPerKey+1)*float64(n)+1024 || !g.isValid() {
		return geometry{}, family.Invalid("fpr", j.Size.FPR,
			"the lowest rate for these keys is %.2g; take family standard", rate)
	}
	return g, nil
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanStartEmpty | family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "keys choose among groups of positions: small at low rates",
		FileBytes: 256,
		Default:   "8 bits per key", Sizes: []string{"shards"},
		Parameters: append([]family.Parameter{
			{Name: "choices", Value: "2..16", Help: "groups of positions a key chooses among"},
			{Name: "k", Value: "1..64", Help: "positions per group"},
		}, family.SearchParameters...),
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Can: family.CanAdd | family.CanConcurrent | family.CanSearch | family.CanSpill,
			Reason:  "small at low rates",
			Warning: "a query for a present key reads k places, and a build searches",
		}},
	}
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
