package blockpartitioned

import (
	"cmp"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// defaultBitsPerKey is the default size.
const defaultBitsPerKey = 8

// Config contains the parameters of a filter. A zero field means the default noted beside the field.
type Config struct {
	Keys  uint64        // expected number of keys, to reserve memory; 0 if unknown
	Size  family.Sizing // default: BitsPerKey = defaultBitsPerKey, for distinct keys; rounded to whole blocks
	Block uint64        // bits of a block: 512 (default) or 1024, which takes two cache lines and has a lower rate
	// Later is the number of keys to be added after the build, at most 1000 times the keys of the build. Size includes
	// room for them, and a planned rate holds after all of them are added.
	Later uint64
	// K is the number of slots of a key, 1 to 64. Default: the number with the lowest rate. With fewer slots, a filter
	// of the same rate is larger, but adding or removing a key changes fewer bits: see filter.Keep.
	K       int
	Effort  filter.Effort // default: filter.Default, about 2 µs per key on one core
	Workers int           // stretches of blocks that are searched at once; default: GOMAXPROCS
	Table   uint64        // version of the table that the block geometry comes from; default: the newest
	// From is an earlier filter. The new filter has the same geometry, and the search starts from the shifts of From;
	// with the effort filter.Keep it leaves the shifts as they are. Size, Block and K are not used. All keys are needed
	// again; they may have changed.
	From *Filter
}

// ConfigFromSpec reads blockpartitioned(bits_per_key=, fpr=, bytes=, later=, k=, block=512|1024,
// effort=fast|default|max, passes=, budget=, table=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Block: r.Uint("block"), Later: r.Uint("later")}
	c.Table, c.K = r.Uint("table"), int(r.Count("k", maxK))
	c.Effort = family.ReadEffort(r)
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return c, c.Check()
}

// Check sets the defaults and returns an error wrapping filter.ErrConfig if the Config is invalid for every number of
// keys.
func (c *Config) Check() error {
	c.Block = cmp.Or(c.Block, lineBits)
	limits := anneal.Limits{Family: Family, Least: minBitsPerKey, Most: maxBitsPerKey, MaxK: maxK}
	if err := limits.Check(c.common()); err != nil {
		return err
	}
	if c.Block != lineBits && c.Block != 2*lineBits {
		return family.Invalid("block", c.Block, "want 512 or 1024")
	}
	return nil
}

// common returns the parameters that all families with a search share.
func (c Config) common() anneal.Common {
	return anneal.Common{
		Keys: c.Keys, Size: c.Size, Later: c.Later, K: c.K, Effort: c.Effort, Workers: c.Workers, Table: c.Table,
		From: c.From != nil, Empty: c.From != nil && c.From.geometry == geometry{},
	}
}

// Builder gathers keys, 16 bytes each, and searches at the end.
//
// Build searches for the shifts of all blocks and returns a *Filter. The result depends only on the set of keys, the
// size and the effort, not on the order of the keys, on duplicates or on the number of workers. A search by time also
// depends on the machine. Errors wrap filter.ErrConfig if no size keeps the rate, or filter.ErrTooLarge.
//
// If ctx ends with the cause filter.ErrEnough, Build makes the shortest search of the blocks that are left, and returns
// the filter.
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
	most uint64 // the largest number of blocks that Larger may reach
}

// stretch is the number of blocks that a worker takes at once.
const stretch = 512

// Geometry returns the geometry for n distinct keys.
func (j *job) Geometry(n uint64) (geometry, filter.Effort, error) {
	g, err := j.Config.geometry(n)
	j.most = 4*g.blocks + 16 // a rate that needs more is out of reach
	return g, j.Effort, err
}

// New returns a filter for n keys with no bit set.
func (j *job) New(g geometry, n uint64) (*Filter, error) {
	words, err := bitvec.Alloc(g.wordCount())
	if err != nil {
		return nil, err
	}
	f := newFilter(g, words, n)
	if j.Effort.Level == filter.Keep { // the search skips blocks without keys, whose shifts stay
		f.copyHeads(j.From)
	}
	return f, nil
}

// Parts returns the stretches of blocks.
func (j *job) Parts(g geometry) (uint64, func(filter.Hash) uint64) {
	return (g.blocks + stretch - 1) / stretch, func(h filter.Hash) uint64 {
		block, _ := g.blockAndGroup(h)
		return block / stretch
	}
}

// Worker searches stretches.
func (j *job) Worker(f *Filter, pace *anneal.Pace) func(uint64, []filter.Hash) error {
	s := searcher{f: f, from: j.From, pace: pace, sizes: make([]uint32, f.groups)}
	return func(_ uint64, keys []filter.Hash) error { return s.searchStretch(keys) }
}

// Rate records the number of bits set by the search and returns the rate after the later keys.
func (j *job) Rate(f *Filter) float64 {
	f.searched, _ = f.census()
	return f.rateAfter(float64(j.Later))
}

// Longer returns the Effort of a longer search.
func (j *job) Longer(_ geometry, was filter.Effort, n uint64) (filter.Effort, bool) {
	return anneal.Longer(j.Effort, was, n)
}

// Larger adds blocks: at least one, and at most doubles their number.
func (j *job) Larger(g geometry, _ uint64, rate, bits float64) (geometry, error) {
	g.blocks += 1 + uint64(min(bits/float64(j.Block), float64(g.blocks)))
	if g.blocks > j.most {
		return geometry{}, family.Invalid("fpr", j.Size.FPR,
			"the lowest rate for these keys is %.2g; take family partitioned or fuse", rate)
	}
	return g, nil
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanLater | family.CanSpill | family.CanCountItself | family.CanOneLine,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "as partitioned, in one cache line per query",
		FileBytes: 208,
		Default:   "8 bits per key", Sizes: []string{"blocks"},
		Parameters: append([]family.Parameter{
			family.LaterParameter, family.SlotsParameter, {Name: "block", Value: "512|1024", Help: "bits per block"},
		}, family.SearchParameters...),
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Patented: true,
			Can:     family.CanAdd | family.CanLater | family.CanSearch | family.CanSpill | family.CanOneLine,
			Reason:  "one cache line per query, and the same search",
			Warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
		}},
	}
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
