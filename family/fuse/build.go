package fuse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/FastFilter/xorfilter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// DefaultWidth is the fingerprint of a Config without a size.
const DefaultWidth = 8

// MaxKeys is the most keys that the library takes: its positions are of 32 bits.
const MaxKeys = 3_000_000_000

// smallKeys is the number of keys below which bits a key mean bits for that many: twelve slots are the least there are.
const smallKeys = 32

// Config says what filter to make.
type Config struct {
	Keys  uint64        // how many keys will come, to reserve memory; 0 if not known
	Size  filter.Sizing // the width is the largest that fits bits, or the smallest that keeps the rate
	Width uint          // bits a fingerprint, 1 to MaxWidth, instead of Size; default: DefaultWidth
}

// ConfigFromSpec reads fuse(bits_per_key=, fpr=, bytes=, width=), and for the Spec of a built filter its geometry too.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := s.Reader()
	c := Config{Keys: keys, Size: filter.ReadSizing(r)}
	width := r.Uint("width")
	r.Uint("seed")
	r.Uint("segment")
	r.Uint("segments")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	if width > MaxWidth || s.Has("width") && width == 0 {
		return Config{}, &filter.ConfigError{Field: "width", Value: width, Reason: fmt.Sprintf("want 1 to %d", MaxWidth)}
	}
	c.Width = uint(width)
	return c, c.check()
}

func (c Config) check() error {
	if err := c.Size.Check(); err != nil {
		return err
	}
	switch {
	case c.Width > MaxWidth:
		return &filter.ConfigError{Field: "width", Value: c.Width, Reason: fmt.Sprintf("want 1 to %d", MaxWidth)}
	case c.Width != 0 && !c.Size.IsZero():
		return &filter.ConfigError{Field: "width", Value: c.Width, Reason: "give width or one of bits_per_key, fpr and bytes"}
	case c.Keys > MaxKeys:
		return fmt.Errorf("fuse takes at most %d keys, not %d: %w; take standard or blocked", uint64(MaxKeys), c.Keys, filter.ErrTooLarge)
	}
	return nil
}

// Geometry returns the number of slots and the width for n distinct keys.
func (c Config) Geometry(n uint64) (slots uint64, width uint, err error) {
	c.Keys = n
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	slots = Slots(n)
	switch {
	case c.Width != 0:
		return slots, c.Width, nil
	case c.Size.FPR != 0:
		if width = uint(math.Ceil(-math.Log2(c.Size.FPR))); width > MaxWidth {
			return 0, 0, &filter.ConfigError{Field: "fpr", Value: c.Size.FPR, Reason: fmt.Sprintf("fuse reaches %.2g and no less", FPR(MaxWidth))}
		}
		return slots, width, nil
	case c.Size.IsZero():
		return slots, DefaultWidth, nil
	}
	total, err := c.Size.Bits(max(n, smallKeys))
	if err != nil {
		return 0, 0, err
	}
	if total < slots {
		field, value := "bits_per_key", any(c.Size.BitsPerKey)
		if c.Size.Bytes != 0 {
			field, value = "bytes", c.Size.Bytes
		}
		return 0, 0, &filter.ConfigError{Field: field, Value: value, Reason: fmt.Sprintf("fuse needs %d bits or more for %d keys", slots, n)}
	}
	return slots, uint(min(total/slots, MaxWidth)), nil
}

// Slots returns the number of slots for n keys: 1.125 times n from a million on and more below (Graf and Lemire,
// section 4), rounded to whole segments.
func Slots(n uint64) uint64 {
	segment, capacity := uint64(4), uint64(0)
	if n > 0 {
		segment = min(1<<18, uint64(1)<<int(math.Floor(math.Log(float64(n))/math.Log(3.33)+2.25)))
	}
	if n > 1 {
		factor := max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(float64(n)))
		capacity = uint64(math.Round(float64(n) * factor))
	}
	return max(3, (capacity+segment-1)/segment) * segment
}

// Builder gathers keys, 8 bytes each, and solves for the slots at the end. Building takes some 30 bytes a key.
type Builder struct {
	c    Config
	mu   sync.Mutex
	keys []uint64
}

// NewBuilder returns an empty builder. Whether the keys fit a size in bytes shows in Build, when duplicates are dropped.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if _, _, err := c.Geometry(c.Keys); c.Keys > 0 && c.Size.Bytes == 0 && err != nil {
		return nil, err
	}
	return &Builder{c: c, keys: make([]uint64, 0, min(c.Keys, 1<<28))}, nil
}

// AddMany takes keys. It fails with an error wrapping filter.ErrTooLarge beyond MaxKeys.
func (b *Builder) AddMany(hs []filter.Hash) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if uint64(len(b.keys))+uint64(len(hs)) > MaxKeys {
		return fmt.Errorf("more than %d keys are %w for fuse", uint64(MaxKeys), filter.ErrTooLarge)
	}
	for _, h := range hs {
		b.keys = append(b.keys, h.Lo)
	}
	return nil
}

// Build solves for the slots and checks every key against the result. The keys are sorted first, so that their order
// makes no difference, and duplicates are dropped.
func (b *Builder) Build(ctx context.Context) (filter.Filter, error) {
	slices.Sort(b.keys)
	keys := slices.Compact(b.keys)
	b.keys = nil
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, width, err := b.c.Geometry(uint64(len(keys)))
	if err != nil {
		return nil, err
	}
	var f *Filter
	switch {
	case width <= 8:
		f, err = solve[uint8](keys, width)
	case width <= 16:
		f, err = solve[uint16](keys, width)
	default:
		f, err = solve[uint32](keys, width)
	}
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !f.Has(filter.Hash{Lo: k}) {
			return nil, fmt.Errorf("fuse: key hash %#x does not answer after the build; take another seed", k)
		}
	}
	return f, nil
}

// solve runs the library and packs the low width bits of its slots.
func solve[T xorfilter.Unsigned](keys []uint64, width uint) (*Filter, error) {
	lib, err := xorfilter.NewBinaryFuse[T](keys)
	if err != nil {
		return nil, fmt.Errorf("fuse: %w", err)
	}
	f := &Filter{
		seed: lib.Seed, count: uint64(lib.SegmentCountLength), segment: uint64(lib.SegmentLength),
		segments: uint64(lib.SegmentCount), width: width, keys: uint64(len(keys)),
	}
	f.words, err = bitvec.Alloc(bitvec.PackedWords(f.slotCount(), width))
	if err != nil {
		return nil, err
	}
	for i, v := range lib.Fingerprints[:f.slotCount()] {
		bitvec.SetPacked(f.words, uint64(i), width, uint32(v)&(1<<width-1))
	}
	return f, nil
}
