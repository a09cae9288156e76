// Package blocked implements the blocked Bloom filter (Putze, Sanders and Singler, JEA 14, 2009): all bits of a key are
// in one block, so a query costs one cache miss. It has two layouts:
//
//	line   512-bit blocks = cache lines, k probes of 9 bits, anywhere in the block
//	split  256-bit blocks of 8 words of 32 bits, one bit in each word: the split-block filter of Parquet
//
//	Hash  Hi -> block ⌊Hi·blocks / 2^64⌋
//	      Lo -> line:  probe i of the first seven is bit x mod 64 of word x>>61, where x is Lo rotated left by 9·i: nine
//	                   bits of Lo that no other of them uses. Each further seven come from Lo mixed anew
//	            split: bit (low 32 bits of Lo · salt_i mod 2^32) >> 27 of word i
//
// Hi chooses only the block and Lo only the bits. A hash h of Parquet is Hash{Hi: h with its low 32 bits cleared, Lo:
// h}.
package blocked

import (
	"cmp"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: blocked(blocks=1872,k=7,layout=line).
const Family = "blocked"

// Layout is the arrangement of the bits in a block.
type Layout string

// The layouts.
const (
	Line  Layout = "line"
	Split Layout = "split"
)

const (
	lineBits  = 512
	splitBits = 256
	splitK    = 8
	// MaxK is the largest number of probes per key in the line layout.
	MaxK = 32
)

// BlockBits returns the number of bits in a block.
func (l Layout) BlockBits() uint64 {
	if l == Split {
		return splitBits
	}
	return lineBits
}

// Filter is a blocked Bloom filter. Any number of goroutines may read it at once; Add, Merge and Intersect need
// exclusive use. Concurrent is the form for concurrent writers.
type Filter struct {
	probe.Bits // block b is words [b·8, b·8+8) in the line layout, [b·4, b·4+4) in the split one
	blocks     uint64
	split      bool
	query      kernel.Blocks // query of the same words
}

// setWords sets the words of the filter.
func (f *Filter) setWords(words []uint64) {
	f.Words = words
	if f.split {
		f.query = kernel.NewSplit(words)
	} else {
		f.query = kernel.NewLine(words, f.K)
	}
}

// firstWord returns the index of the first word of a key's block.
func (f *Filter) firstWord(h filter.Hash) uint64 {
	b, _ := bits.Mul64(h.Hi, f.blocks)
	return b * uint64(f.blockWords())
}

// Has reports whether the key may be in the set.
func (f *Filter) Has(h filter.Hash) bool { return f.query.Has(h.Hi, h.Lo) }

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe { return f.query.Probe() }

// blockMask returns the bits of a key within its block.
func (f *Filter) blockMask(lo uint64) (m [8]uint64) {
	f.setKey(m[:f.blockWords()], lo)
	return m
}

// setKey sets the bits of a key in the words of its block.
func (f *Filter) setKey(w []uint64, lo uint64) {
	if f.split {
		setSplit((*[4]uint64)(w), lo)
	} else {
		setLine((*[8]uint64)(w), lo, f.K)
	}
}

// setLine sets the k bits of a key in its line.
func setLine(line *[8]uint64, lo uint64, k int) {
	x := lo
	// A probe takes nine bits, so the 64 bits of x yield seven; then x is mixed anew.
	for round := uint64(1); k > kernel.LineProbes; round++ {
		setProbes(line, x, kernel.LineProbes)
		x = probe.Remix(lo, round)
		k -= kernel.LineProbes
	}
	setProbes(line, x, k)
}

// setProbes sets the bits of the first k probes, at most kernel.LineProbes, that x yields.
func setProbes(line *[8]uint64, x uint64, k int) {
	for range k {
		line[x>>61] |= 1 << (x & 63)
		x = bits.RotateLeft64(x, 9)
	}
}

// setSplit sets the bits of a key in its split block, two lanes at a time.
func setSplit(w *[4]uint64, lo uint64) {
	for i := range w {
		low, high := uint32(lo)*kernel.SplitSalts[2*i]>>27, uint32(lo)*kernel.SplitSalts[2*i+1]>>27
		w[i] |= 1<<low | 1<<(high+32)
	}
}

// Add adds a key. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	f.setKey(f.Words[f.firstWord(h):][:f.blockWords()], h.Lo)
	f.Keys++
	return nil
}

// Fold is family.Folder; the places are the blocks.
func (f *Filter) Fold(d uint64) family.Filter {
	size := uint64(f.blockWords())
	folded := sized(f.blocks/d, f.K, f.layout())
	for b := range folded.blocks { // the words up to this block were read before
		from, to := f.Words[b*d*size:(b+1)*d*size], f.Words[b*size:][:size]
		copy(to, from)
		for i, w := range from[size:] {
			to[uint64(i)%size] |= w
		}
	}
	folded.setWords(bitvec.Shrunk(f.Words, folded.blocks*size))
	folded.Keys = f.Keys
	return folded
}

func (f *Filter) blockWords() int {
	if f.split {
		return splitBits / 64
	}
	return lineBits / 64
}

func (f *Filter) layout() Layout {
	if f.split {
		return Split
	}
	return Line
}

// Info counts the set bits of every block, which reads the whole filter.
func (f *Filter) Info() filter.Info { return f.infoFor(f.Keys) }

// sized returns a filter without words.
func sized(blocks uint64, k int, layout Layout) *Filter {
	layout = cmp.Or(layout, Line)
	spec := family.NewSpec(Family, "blocks", blocks, "k", k, "layout", string(layout))
	b := probe.Bits{M: blocks * layout.BlockBits(), K: k, Spec: spec}
	return &Filter{Bits: b, blocks: blocks, split: layout == Split}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := builtGeometry(s)
	return []uint64{f.M / 64}, err
}

// Decode returns the filter that Encode stored; see probe.Bits.Decode.
func Decode(e family.Encoded) (*Filter, error) {
	f, err := builtGeometry(e.Spec)
	if f.Bits, err = f.Decode(e, f.M, err); err != nil {
		return nil, err
	}
	f.setWords(f.Words)
	return f, nil
}

// builtGeometry reads the Spec of a built filter, blocked(blocks=,k=,layout=). It returns an error for any other Spec.
func builtGeometry(s filter.Spec) (*Filter, error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && (c.Blocks == 0 || c.K == 0 || !c.Size.IsZero() || !family.Given(s, "layout") ||
		family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want blocked(blocks=,k=,layout=)")
	}
	if err == nil {
		err = cmp.Or(c.validate(), checkBlocks(c.Blocks))
	}
	return sized(c.Blocks, c.K, c.Layout), err
}

// View answers queries of a stored filter from the bytes of its section, little endian as in files, at any address,
// without a copy or an allocation. A View is safe for concurrent use. The zero View is not usable.
type View struct {
	query  *kernel.Blocks // query without words
	blocks uint64
	shift  uint8 // a block has 1<<shift bytes
}

// ViewOf returns the View of a filter with the Spec of a built filter. It returns the errors of SectionWords.
func ViewOf(s filter.Spec) (View, error) {
	f, err := builtGeometry(s)
	if err != nil {
		return View{}, err
	}
	v, _ := NewView(f.layout(), f.K)
	v.blocks = f.blocks
	return v, nil
}

// NewView returns the View of a filter without blocks; Resize sets their number. It returns false if no filter has this
// layout and number of probes.
func NewView(layout Layout, k int) (View, bool) {
	switch {
	case layout == Line && k >= 1 && k <= MaxK:
		query := kernel.NewLine(nil, k)
		return View{query: &query, shift: 6}, true
	case layout == Split && k == splitK:
		query := kernel.NewSplit(nil)
		return View{query: &query, shift: 5}, true
	}
	return View{}, false
}

// Resize returns the View of a filter of the same layout whose blocks fill section.
func (v View) Resize(section []byte) View {
	v.blocks = uint64(len(section)) >> v.shift
	return v
}

// Bytes returns the number of bytes of the section.
func (v View) Bytes() uint64 { return v.blocks << v.shift }

// Block returns the position of a key's block in the section: the offset of its first byte and its length. The filter
// must have blocks.
func (v View) Block(h filter.Hash) (offset uint64, length int) {
	block, _ := bits.Mul64(h.Hi, v.blocks)
	return block << v.shift, 1 << v.shift
}

// Has reports whether the key may be in the set. It panics if section has fewer than Bytes bytes, or has none.
func (v View) Has(section []byte, h filter.Hash) bool {
	offset, length := v.Block(h)
	return v.HasBlock(section[offset:][:length], h)
}

// HasBlock reports whether the key may be in the set. block is the bytes at Block(h). It panics if block is too short.
func (v View) HasBlock(block []byte, h filter.Hash) bool { return v.query.HasIn(block, h.Lo) }
