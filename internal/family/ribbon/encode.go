package ribbon

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Limits of the Spec of a built filter.
const (
	MaxBits   = 32  // largest number of bits of a fingerprint, and of a value
	maxLayers = 16  // largest number of layers of a filter
	maxTail   = 256 // slots of the tail
	wideUnit  = 1024
	maxSeed   = 1<<16 - 1
	maxStarts = 1 << 48 // largest number of starts of a layer, so that no product overflows
)

// geometry describes a built filter: the values in its Spec and the sizes that follow from them.
type geometry struct {
	r         uint // bits of a fingerprint
	valueBits uint
	w         uint   // width of the coefficients in large layers
	wide      uint64 // share of the blocks with r+1 bits, in units of 1/wideUnit
	seed      uint64 // variant of the layers
	slots     uint64 // slots of the tail
	tailSeed  uint64
	layers    []layer
}

// addLayer adds a layer. Decode must accept the result.
func (g *geometry) addLayer(starts uint64) *layer {
	g.layers = append(g.layers, g.layerAt(len(g.layers), starts, g.wordCount(), g.bucketCount()))
	return &g.layers[len(g.layers)-1]
}

// layerAt returns layer i; words and buckets are the numbers of words and buckets of the earlier layers.
func (g *geometry) layerAt(i int, starts, words, buckets uint64) layer {
	j := uint64(i) + maxLayers*g.seed // no two layers of any two variants have the same factor
	l := layer{
		profile: profileOf(g.w, starts), starts: starts, factor: layerFactor(j), turn: int(11 * j % 64),
		columns: uint64(g.valueBits + g.r), word: words, bucket: buckets,
	}
	segments := (starts + segmentStart - 1) >> segmentBits
	l.blocks = (starts + l.width*segments) / 64
	l.wide = (l.blocks*g.wide + wideUnit - 1) / wideUnit
	return l
}

// wordCount returns the number of words of all layers.
func (g *geometry) wordCount() uint64 {
	if len(g.layers) == 0 {
		return 0
	}
	l := &g.layers[len(g.layers)-1]
	return l.word + l.wordCount()
}

// bucketCount returns the number of buckets of all layers.
func (g *geometry) bucketCount() uint64 {
	if len(g.layers) == 0 {
		return 0
	}
	l := &g.layers[len(g.layers)-1]
	return l.bucket + l.bucketCount()
}

// tailColumns returns the number of columns of the tail.
func (g *geometry) tailColumns() uint {
	if g.wide > 0 {
		return g.valueBits + g.r + 1
	}
	return g.valueBits + g.r
}

// tailBits returns the number of bits of the tail.
func (g *geometry) tailBits() uint64 { return g.slots * uint64(g.tailColumns()) }

// totalBits returns the number of bits of the filter.
func (g *geometry) totalBits() uint64 { return 64*g.wordCount() + 2*g.bucketCount() + g.tailBits() }

// allSlots returns the number of slots of all layers and the tail.
func (g *geometry) allSlots() uint64 {
	slots := g.slots
	for i := range g.layers {
		slots += g.layers[i].blocks * 64
	}
	return slots
}

// sections returns the numbers of words of the sections.
func (g *geometry) sections() []uint64 {
	return []uint64{g.wordCount(), (2*g.bucketCount() + 63) / 64, (g.tailBits() + 63) / 64}
}

func (g *geometry) builtSpec() filter.Spec {
	s := family.NewSpec(Family, "r", g.r, "w", g.w)
	for _, p := range []struct {
		name  string
		value uint64
	}{
		{"seed", g.seed}, {"tail", g.slots}, {"tail_seed", g.tailSeed},
		{"value_bits", uint64(g.valueBits)}, {"wide", g.wide},
	} {
		if p.value != 0 {
			s = s.With(p.name, p.value)
		}
	}

	if len(g.layers) == 0 {
		return s
	}

	starts := make([]string, len(g.layers))
	for i := range g.layers {
		starts[i] = strconv.FormatUint(g.layers[i].starts, 10)
	}
	return s.With("starts", strings.Join(starts, "-"))
}

// Encode returns three sections, which share the memory of the filter: the solution of the layers, two bits per bucket,
// and the tail. docs/format/ribbon.md describes them.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words, f.classes, f.tail}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, err := readGeometry(s)
	return g.sections(), err
}

// Decode makes a filter from the result of Encode and keeps its words. It returns an error if a section does not have
// the size of SectionWords, bits behind the last class or the tail are set, or the filter has keys without slots or
// slots without keys.
func Decode(e family.Encoded) (*Filter, error) {
	g, err := readGeometry(e.Spec)
	if err := e.CheckSections(g.sections(), err); err != nil {
		return nil, err
	}

	f := &Filter{geometry: g, words: e.Sections[0], classes: e.Sections[1], tail: e.Sections[2], keys: e.Keys}
	switch {
	case !bitvec.ZeroFrom(f.classes, 2*g.bucketCount()):
		return nil, fmt.Errorf("bits behind the last bucket are set")
	case !bitvec.ZeroFrom(f.tail, g.tailBits()):
		return nil, fmt.Errorf("bits behind the tail are set")
	case (f.keys == 0) != (g.allSlots() == 0):
		return nil, fmt.Errorf("%d keys in %d slots", f.keys, g.allSlots())
	}

	f.makeKernels()
	return f, nil
}

// readGeometry reads the Spec of a built filter and no other.
func readGeometry(s filter.Spec) (g geometry, err error) {
	r := family.Reader(s)
	small := func(name string, most uint64) uint64 {
		v := r.Uint(name)
		if v > most || v == 0 && family.Given(s, name) && name != "r" { // builtSpec leaves out zeros
			return math.MaxUint64
		}
		return v
	}

	bits, valueBits, w := small("r", MaxBits), small("value_bits", MaxBits), small("w", 128)
	wide := small("wide", wideUnit-1)
	tail, seed, tailSeed := small("tail", maxTail), small("seed", maxSeed), small("tail_seed", maxSeed)
	starts := r.Text("starts", "")
	if err := r.Err(); err != nil {
		return geometry{}, err
	}

	bad := bits|valueBits|w|wide|tail|seed|tailSeed == math.MaxUint64
	bad = bad || !family.Given(s, "r") || w != 64 && w != 128 || bits+valueBits == 0 || bits == MaxBits && wide > 0
	bad = bad || tail == 0 && tailSeed > 0 || starts == "" && seed > 0
	if bad {
		return geometry{}, family.Invalid("spec", s, "want r of 1 to 32 (or 0 with value_bits), w of 64 or 128, "+
			"value_bits of 1 to 32, wide below 1024, tail up to 256, seeds below 65536, "+
			"and no parameter that is 0 but r")
	}

	g = geometry{
		r: uint(bits), valueBits: uint(valueBits), w: uint(w), wide: wide, seed: seed, slots: tail, tailSeed: tailSeed,
	}

	if !family.Given(s, "starts") {
		return g, nil
	}

	list := strings.Split(starts, "-")
	for _, text := range list {
		t, err := strconv.ParseUint(text, 10, 64)
		invalid := err != nil || strconv.FormatUint(t, 10) != text || t == 0 || t%64 != 0 || t > maxStarts
		if invalid || len(list) > maxLayers {
			return geometry{}, family.Invalid("spec", s,
				"want starts as up to 16 positive multiples of 64, such as 944896-51968-2752")
		}
		g.addLayer(t)
	}
	return g, nil
}
