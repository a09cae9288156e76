package partitioned

import (
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// defaultBitsPerKey is the default size.
const defaultBitsPerKey = 8

// Config contains the parameters of a filter. A zero field means the default noted beside the field.
type Config struct {
	Keys uint64        // expected number of keys, to reserve memory; 0 if unknown
	Size family.Sizing // default: BitsPerKey = defaultBitsPerKey, for distinct keys
	// Later is the number of keys to be added after the build, at most 1000 times the keys of the build. Size includes
	// room for them, a planned rate holds after all of them are added, and k is also chosen for them. Without Later,
	// each late key raises the rate several times as much.
	Later uint64
	// K is the number of slots of a key, 1 to 64. Default: the number with the lowest rate. With fewer slots, a filter
	// of the same rate is larger, but adding or removing a key changes fewer bits: see filter.Keep.
	K int
	// Effort is filter.Default if not set. At 8 bits per key, one core takes about 0.6, 2 and 60 µs per key for fast,
	// default and max. The time is 1.5 times as long without vector code, and proportional to k.
	Effort  filter.Effort
	Workers int    // shards that are searched at once; default: GOMAXPROCS
	Table   uint64 // version of the table that the division comes from; default: the newest
	// From is an earlier filter. The new filter has the same geometry, and the search starts from the shifts of From;
	// with the effort filter.Keep it leaves the shifts as they are. Size and K are not used. All keys are needed again;
	// they may have changed.
	From *Filter
}

// ConfigFromSpec reads partitioned(bits_per_key=, fpr=, bytes=, later=, k=, effort=fast|default|max, passes=,
// budget=, target=, table=).
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Later: r.Uint("later"), Effort: family.ReadEffort(r)}
	c.Table, c.K = r.Uint("table"), int(r.Count("k", maxK))
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return c, c.Check()
}

// Check returns an error wrapping filter.ErrConfig if the Config is invalid for every number of keys.
func (c Config) Check() error {
	limits := anneal.Limits{Family: Family, Most: maxBitsPerKey, MaxK: maxK, Target: true}
	if err := limits.Check(c.common()); err != nil {
		return err
	}
	if c.Effort.Target != 0 && c.Size.FPR != 0 {
		return family.Invalid("target", c.Effort.Target,
			"a size by fpr keeps its rate with any effort; give target with bits_per_key or bytes")
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

// Builder gathers keys, 16 bytes each, and searches at the end. A search takes about 8 + 4·k bytes more for each key of
// the shards that are searched at once.
//
// Build searches for the shifts and returns a *Filter. The result depends only on the set of keys, the size and the
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

// Geometry returns the geometry for n distinct keys. With a target, it returns an Effort whose forecast reaches the
// target.
func (j *job) Geometry(n uint64) (geometry, filter.Effort, error) {
	g, err := j.Config.geometry(n)
	if err != nil || j.Effort.Target == 0 {
		return g, j.Effort, err
	}
	e, err := j.effortFor(g, n)
	return g, e, err
}

// New returns a filter for n keys with no bit set.
func (j *job) New(g geometry, n uint64) (*Filter, error) {
	bitmap, err := bitvec.Alloc(g.bitmapWords())
	if err != nil {
		return nil, err
	}

	shifts, err := bitvec.Alloc(g.shiftWords())
	if err != nil {
		return nil, err
	}

	if j.Effort.Level == filter.Keep { // the shifts of groups without keys are also kept
		copy(shifts, j.From.shifts)
	}
	return newFilter(g, bitmap, shifts, n), nil
}

// Parts returns the shards.
func (j *job) Parts(g geometry) (uint64, func(filter.Hash) uint64) { return g.shards, g.shardOf }

// Worker searches shards.
func (j *job) Worker(f *Filter, pace *anneal.Pace) func(uint64, []filter.Hash) error {
	var s anneal.State
	return func(shard uint64, keys []filter.Hash) error {
		part := pace.Take(uint64(len(keys)))
		layOut(&s, f.geometry, shard, keys)
		searchShard(&s, part, shard, j.From)

		j.mu.Lock()
		defer j.mu.Unlock()
		f.storeShard(shard, &s)
		return anneal.Verify(f, keys) // under the lock: a neighbour may write a word of this shard
	}
}

// Rate records the number of bits set by the search and returns the rate after the later keys.
func (j *job) Rate(f *Filter) float64 {
	f.searched = f.setBits()
	return f.rateAfter(float64(j.Later))
}

// Longer returns the Effort of a longer search. For a target, each search makes 1.5 times as many passes as the search
// before it.
func (j *job) Longer(g geometry, was filter.Effort, n uint64) (filter.Effort, bool) {
	if j.Effort.Target == 0 {
		return anneal.Longer(j.Effort, was, n)
	}
	if was.Passes >= 4*maxPasses || g.width == 0 {
		return was, false
	}
	return filter.Effort{Passes: was.Passes*3/2 + 1}, true
}

// Larger returns the best geometry that is larger than g by the given number of bits.
func (j *job) Larger(g geometry, n uint64, rate, bits float64) (geometry, error) {
	if target := j.Effort.Target; target != 0 {
		return geometry{}, unreached(target, g, n, rate)
	}
	larger, err := j.geometryOf(n, g.totalBits()+8+uint64(bits)) // 8: at least one more byte
	if err == nil && larger.totalBits() <= g.totalBits() {
		err = outOfReach(j.Size.FPR, rate)
	}
	return larger, err
}

// outOfReach returns the error for a rate that the family does not reach at any size.
func outOfReach(fpr, nearest float64) error {
	return family.Invalid("fpr", fpr,
		"the lowest rate for these keys is %.2g, with %d bits per key; take family standard", nearest, maxBitsPerKey)
}

// unreached returns the error for a target that a size does not reach with any effort.
func unreached(target float64, g geometry, n uint64, rate float64) error {
	per := float64(g.totalBits()) / float64(max(n, 1))
	return family.Invalid("target", target, "%.2f bits per key reach about %.3g at best; give more", per, rate)
}

// layOut fills s for a shard. Its keys are in the order of Hi, and so of their groups.
//
//go:norace
func layOut(s *anneal.State, g geometry, shard uint64, keys []filter.Hash) {
	sizes := make([]uint32, g.groups)
	first := shard * g.groups
	for _, h := range keys {
		sizes[g.groupOf(h)-first]++
	}

	s.Reset(anneal.Geometry{Bits: g.bits, K: g.k, Width: g.width}, sizes)
	base := g.basePositions()
	for j := range sizes {
		pos, size := s.Positions(j), s.Size(j)
		for i, h := range keys[:size] {
			x, by := h.Lo, probe.Mixer(h)
			for l := range g.k {
				pos[l*size+i] = uint32(probe.Position(x, base))
				x = probe.Mix(x, by)
			}
		}
		keys = keys[size:]
	}
}

// searchShard searches a shard. If from is not nil, the search starts from its shifts.
func searchShard(s *anneal.State, part *anneal.Part, shard uint64, from *Filter) {
	if from != nil {
		for i := range s.Shifts {
			s.Shifts[i] = uint8(from.shiftOf(shard*from.groups, i))
		}
	}
	rnd := anneal.Random(shard * 0x9E3779B97F4A7C15) // by shard, so that the number of workers does not matter
	part.Run(s, &rnd, from != nil)
}

// storeShard writes the bits and shifts of a shard to the filter.
func (f *Filter) storeShard(shard uint64, s *anneal.State) {
	s.Store(f.bitmap, shard*f.bits)
	s.StoreShifts(f.shifts, shard*f.groups*f.side)
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Can:  family.CanLater | family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "a search fits the hash functions to the keys: the smallest that takes keys after the build",
		FileBytes: 300,
		Default:   "8 bits per key", Sizes: []string{"shards"},
		Parameters: append([]family.Parameter{
			family.LaterParameter, family.SlotsParameter,
			{Name: "target", Value: "RATE", Help: "search until this rate is reached"},
		}, family.SearchParameters...),
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Patented: true,
			Can:     family.CanAdd | family.CanLater | family.CanSearch | family.CanSpill,
			Reason:  "the smallest that takes later keys: a search fits its hash functions",
			Warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
		}},
	}
}

// Reoptimize returns a builder of a filter with the geometry of f, whose search starts from f. It needs all keys
// again; they may have changed. f must not change before Build returns. Errors wrap filter.ErrConfig.
func (f *Filter) Reoptimize(e filter.Effort) (family.Builder, error) {
	return family.As[family.Builder](NewBuilder(Config{From: f, Effort: e}))
}
