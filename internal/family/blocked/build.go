package blocked

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Config describes a filter. Zero fields take the default noted beside them.
type Config struct {
	Keys   uint64        // number of distinct keys that will be added; needed unless Blocks or Size.Bytes is set
	Size   family.Sizing // default: FPR = 0.01; for an FPR, the fewest blocks that keep it; see scatter
	Blocks uint64        // number of blocks, instead of Size
	K      int           // probes per key, line layout only, 1 to MaxK; default: the best for Keys and the blocks
	Layout Layout        // default: Line
}

// ConfigFromSpec reads blocked(bits_per_key=, fpr=, bytes=, capacity=, blocks=, k=, layout=line|split). A capacity
// larger than keys takes its place. Errors wrap filter.ErrConfig.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{
		Keys: max(keys, r.Uint("capacity")), Size: family.ReadSizing(r),
		Blocks: r.Count("blocks", math.MaxUint64), Layout: Layout(r.Text("layout", string(Line))),
		K: int(r.Count("k", MaxK)),
	}
	return c, r.Err()
}

// Geometry returns the number of blocks and of probes per key of the filter that New makes. It allocates no filter.
// Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Geometry() (blocks uint64, k int, err error) {
	x := newFormula()
	defer x.keep()
	return c.geometry(x)
}

// geometry is Geometry.
func (c Config) geometry(x *formula) (blocks uint64, k int, err error) {
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	size, n := c.Layout.BlockBits(), max(c.Keys, 1)
	blocks = c.Blocks
	switch {
	case blocks != 0:
	case c.Size.BitsPerKey != 0 || c.Size.Bytes != 0:
		var total uint64
		total, err = c.Size.Bits(n)
		blocks = total / size // rounded down: Bytes is a limit
		if c.Size.BitsPerKey != 0 {
			blocks = (total + size - 1) / size
		}
	default:
		blocks, err = c.blocksForRate(x, n)
	}
	if err == nil {
		err = checkBlocks(blocks)
	}
	if err != nil {
		return 0, 0, err
	}
	blocks = max(blocks, 1)
	return blocks, c.probes(x, n, blocks), nil
}

// checkBlocks returns an error if a filter has too many blocks.
func checkBlocks(blocks uint64) error {
	if blocks >= 1<<53 {
		return fmt.Errorf("blocks=%d: %w", blocks, filter.ErrTooLarge)
	}
	return nil
}

func (c Config) check() error {
	if err := c.Size.Check(); err != nil {
		return err
	}
	switch {
	case c.Layout != Line && c.Layout != Split && c.Layout != "":
		return family.Invalid("layout", c.Layout, "want line or split")
	case c.K < 0 || c.K > MaxK:
		return family.Invalid("k", c.K, "want 1 to %d", MaxK)
	case c.Layout == Split && c.K != 0 && c.K != splitK:
		return family.Invalid("k", c.K, "the split layout has 8 probes")
	case c.Blocks != 0 && !c.Size.IsZero():
		return family.Invalid("blocks", c.Blocks, "give blocks or one of bits_per_key, fpr and bytes")
	}
	return nil
}

// probes returns the number of probes per key for n keys in that many blocks.
func (c Config) probes(x *formula, n, blocks uint64) int {
	switch {
	case c.Layout == Split:
		return splitK
	case c.K != 0:
		return c.K
	}
	return x.optimalK(n, blocks)
}

// blocksForRate returns the smallest number of blocks, or up to 0.1% more, with which the rate of nearly every filter
// is at most 1% above the promised one; see firmBlocks. The predicted rate falls as blocks are added, so it bisects.
func (c Config) blocksForRate(x *formula, n uint64) (uint64, error) {
	p := cmp.Or(c.Size.FPR, probe.DefaultFPR)
	size := float64(c.Layout.BlockBits())
	kept := func(blocks uint64) bool {
		return leastFPR(n, float64(blocks)*size) <= p && x.fpr(n, blocks, c.probes(x, n, blocks), c.Layout) <= p
	}
	// The size of a standard filter is a lower bound. Beyond 4096 bits per key the rate hardly falls any more.
	lo := uint64(max(1, 1.44*math.Log2(1/p)*float64(n)/size*0.5))
	hi := lo
	for !kept(hi) {
		if float64(hi)*size > 4096*max(float64(n), 64) || hi > 1<<52 {
			const reason = "a blocked filter needs more than 4096 bits per key for this rate; take standard or fuse"
			return 0, family.Invalid("fpr", p, reason)
		}
		lo, hi = hi, hi+hi/2+1
	}
	for hi-lo > 1+hi/1000 {
		if mid := lo + (hi-lo)/2; kept(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return c.firmBlocks(x, n, hi, p), nil
}

// New returns an empty filter. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func New(c Config) (*Filter, error) {
	blocks, k, err := c.Geometry()
	if err != nil {
		return nil, err
	}
	f := &Filter{blocks: blocks, k: k, split: c.Layout == Split}
	words, err := bitvec.Alloc(blocks * uint64(f.blockWords()))
	if err != nil {
		return nil, err
	}
	f.hold(words)
	return f, nil
}
