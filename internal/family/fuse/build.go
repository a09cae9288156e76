package fuse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

// defaultWidth is the default width in bits.
const defaultWidth = 8

// MaxKeys is the largest number of keys: slots are numbered with 32 bits.
const MaxKeys = 3_000_000_000

// maxSegment is the largest number of slots of a segment.
const maxSegment = 1 << 18

// smallKeys is the smallest number of keys for which a size in BitsPerKey is computed: a filter of fewer keys has at
// least twelve slots, so that it would exceed most sizes.
const smallKeys = 32

// Config contains the parameters of a filter. A zero field means the default noted beside the field.
type Config struct {
	Keys  uint64        // expected number of keys, to reserve memory; 0 if unknown
	Size  family.Sizing // the width is the largest that fits BitsPerKey or Bytes, or the smallest that keeps FPR
	Width uint          // bits of a fingerprint, 1 to MaxWidth, instead of Size; default: defaultWidth
}

// ConfigFromSpec reads fuse(bits_per_key=, fpr=, bytes=, width=). It accepts and ignores the other parameters of the
// Spec of a built filter.
func ConfigFromSpec(s filter.Spec, keys uint64) (Config, error) {
	r := family.Reader(s)
	c := Config{Keys: keys, Size: family.ReadSizing(r), Width: uint(r.Count("width", MaxWidth))}
	r.Uint("seed")
	r.Uint("segment")
	r.Uint("segments")
	if err := r.Err(); err != nil {
		return Config{}, err
	}
	return c, c.validate()
}

func (c Config) validate() error {
	if err := c.Size.Check(); err != nil {
		return err
	}

	switch {
	case c.Width > MaxWidth:
		return family.Invalid("width", c.Width, "want 1 to %d", MaxWidth)
	case c.Width != 0 && !c.Size.IsZero():
		return family.Invalid("width", c.Width, "give width or one of bits_per_key, fpr and bytes")
	case c.Keys > MaxKeys:
		return tooMany(c.Keys)
	}
	return nil
}

// tooMany is the error for more than MaxKeys keys.
func tooMany(n uint64) error {
	return fmt.Errorf("fuse takes at most %d keys, not %d: %w; take family standard or blocked",
		uint64(MaxKeys), n, filter.ErrTooLarge)
}

// Geometry returns the number of slots and the width of a fingerprint in bits for n distinct keys. Errors wrap
// filter.ErrConfig if the size is too small, or filter.ErrTooLarge beyond MaxKeys.
func (c Config) Geometry(n uint64) (slots uint64, width uint, err error) {
	c.Keys = n
	if err := c.validate(); err != nil {
		return 0, 0, err
	}

	slots = Slots(n)
	switch {
	case c.Width != 0:
		return slots, c.Width, nil
	case c.Size.FPR != 0:
		if width = uint(math.Ceil(-math.Log2(c.Size.FPR))); width > MaxWidth {
			return 0, 0, family.Invalid("fpr", c.Size.FPR, "the lowest rate of fuse is %.2g", FPR(MaxWidth))
		}
		return slots, width, nil
	case c.Size.IsZero():
		return slots, defaultWidth, nil
	}

	total, err := c.Size.Bits(max(n, smallKeys))
	if err != nil {
		return 0, 0, err
	}

	if total < slots {
		return 0, 0, c.Size.Invalid("fuse needs %d bits or more for %d keys", slots, n)
	}

	if total/slots > MaxWidth {
		return slots, MaxWidth, c.Size.AtMost(slots*MaxWidth, n, "fuse")
	}
	return slots, uint(total / slots), nil
}

// Slots returns the number of slots for n keys: 1.125 times n from a million on and more below (Graf and Lemire,
// section 4), rounded to whole segments.
func Slots(n uint64) uint64 {
	if n == 0 {
		return emptySlots
	}
	segment, capacity := segmentOf(n), uint64(0)
	if n > 1 {
		factor := max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(float64(n)))
		capacity = uint64(math.Round(float64(n) * factor))
	}
	return max(3, (capacity+segment-1)/segment) * segment
}

// segmentOf returns the number of slots of a segment for n keys (Graf and Lemire, section 4).
func segmentOf(n uint64) uint64 {
	return min(maxSegment, uint64(1)<<int(math.Floor(math.Log(float64(n))/math.Log(3.33)+2.25)))
}

// Builder gathers keys and solves for the slots at the end, with about 32 bytes per key in memory: 8 for the key, 24 to
// solve. A memory limit (family.BuildOptions) applies only while keys are gathered.
//
// Without a limit, AddMany appends the keys to the list that is solved. Gathering whole hashes first would take 16 more
// bytes per key, which would raise the peak by half at two million keys.
type Builder struct {
	c     Config
	mu    sync.Mutex
	keys  list           // Lo of all keys in any order, without a limit
	spill *hashes.Sorted // Lo of all keys, also as Hi, by which Sorted sorts; nil without a limit
	built bool           // Build or Close was called
}

// NewBuilder returns an empty builder. If a size in bytes is too small for the keys, Build returns the error, since
// only Build knows the number of distinct keys. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func NewBuilder(c Config) (*Builder, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if _, _, err := c.Geometry(c.Keys); c.Keys > 0 && c.Size.Bytes == 0 && err != nil {
		return nil, err
	}
	return &Builder{c: c, keys: newList()}, nil
}

// list is a list of keys.
type list = hashes.List[uint64]

func newList() list { return list{Pool: &usedKeys} }

var usedKeys hashes.Pool[uint64]

// SetOptions implements family.Gatherer. It uses Memory and Dir only.
func (b *Builder) SetOptions(o family.BuildOptions) {
	b.spill = nil
	if o.Memory > 0 {
		b.spill = hashes.NewSorted(hashes.Config{
			Memory: o.Memory, Dir: o.Dir, Expect: b.c.Keys,
			Form: func(h filter.Hash) filter.Hash { return filter.Hash{Hi: h.Lo, Lo: h.Lo} },
		})
	}
}

var errBuilt = errors.New("fuse: the Builder was built or closed, and takes no more keys")

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. Without a memory
// limit the error wraps filter.ErrTooLarge beyond MaxKeys keys, duplicates included; with a limit it reports that the
// temporary file cannot be written. After Build or Close it returns an error.
func (b *Builder) AddMany(hs []filter.Hash) error {
	if b.spill != nil {
		return b.spill.AddMany(hs)
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	if b.built {
		return errBuilt
	}

	if n := b.keys.Len() + uint64(len(hs)); n > MaxKeys {
		return tooMany(n)
	}

	appendKeys(&b.keys, hs)
	return nil
}

// appendKeys appends the keys of hashes, their Lo, to a list.
func appendKeys(keys *list, hs []filter.Hash) {
	for len(hs) > 0 {
		room := keys.Next(len(hs))
		for i := range room {
			room[i] = hs[i].Lo
		}
		hs = hs[len(room):]
	}
}

// Close drops the keys and removes their file. Build calls it; call it if you do not call Build.
func (b *Builder) Close() error {
	b.mu.Lock()
	b.keys.Free()
	b.built = true
	b.mu.Unlock()
	if b.spill == nil {
		return nil
	}
	return b.spill.Close()
}

// Build solves for the slots and returns a *Filter, or an empty one without keys. The result depends only on the set of
// keys, not on their order or on duplicates. Errors wrap filter.ErrConfig if the size does not suit the number of keys,
// or filter.ErrTooLarge with more than MaxKeys distinct keys.
func (b *Builder) Build(ctx context.Context) (family.Filter, error) {
	keys, err := b.takeKeys(ctx)
	defer keys.Free()
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, err
	}

	if keys.Len() == 0 {
		_, width, err := b.c.Geometry(0)
		return newEmpty(width), err
	}
	return family.As[family.Filter](solveKeys(ctx, &keys, b.c.Geometry))
}

// takeKeys returns the keys, and leaves the builder without keys.
func (b *Builder) takeKeys(ctx context.Context) (keys list, err error) {
	keys = newList()
	if b.spill == nil {
		if b.built {
			return keys, errBuilt
		}
		keys, b.keys = b.keys, keys
		return keys, ctx.Err()
	}

	n, err := b.spill.Finish(ctx)
	if err != nil {
		return keys, err
	}

	if _, _, err = b.c.Geometry(n); err != nil { // before all keys are read into memory
		return keys, err
	}

	err = b.spill.Blocks(ctx, func(hs []filter.Hash) error {
		appendKeys(&keys, hs)
		return nil
	})
	return keys, err
}

// Traits describes the abilities and the hash functions of the family. Package families lists the Traits of all
// families.
var Traits = family.Traits{
	Name: Family,
	Also: family.Also{Spec: family.NewSpec(Family), Hash: filter.Uint64}, // a filter of FastFilter
	Can:  family.CanSpill | family.CanCountItself,
}

// About describes the family to planners and users.
func About() family.About {
	return family.About{
		Summary:   "static and fast to query; whole bits per fingerprint",
		FileBytes: 208,
		Default:   "8 bits per fingerprint: about 9 bits per key", Sizes: []string{"width", "segment"},
		Parameters: []family.Parameter{{Name: "width", Value: "1..32", Help: "bits per fingerprint, instead of a size"}},
		// CanSpill would promise a build in any memory: keys spill while they are gathered, but the solver needs all of
		// them in memory.
		Forms: []family.Form{{
			Spec: family.NewSpec(Family), Default: 2, Reason: "static, with the fastest queries of a static filter",
			Warning: "a build takes about 30 bytes per key; a change of one key changes the whole file",
		}},
	}
}

// Forecast returns the size in bits of the filter that the Config makes for its Keys, and the predicted false-positive
// rate in [0, 1] after keys distinct keys were added. It allocates no filter. It returns the errors of Geometry.
func (c Config) Forecast(keys uint64) (bits uint64, fpr float64, err error) {
	slots, width, err := c.Geometry(keys)
	if err != nil {
		return 0, 0, err
	}
	return slots * uint64(width), FPR(width), nil
}
