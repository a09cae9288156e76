package shard

import (
	"bytes"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
)

// MaxHeader is the largest number of bytes before the blocks in the file of a shard; see [Manifest.Blocks].
const MaxHeader = container.MaxHeader

// Blocks finds the block of a key in the file of a shard, and answers a query from the bytes of this block alone, one
// short range of the file. It keeps only the header of the file in memory. All methods are safe for concurrent use.
type Blocks struct {
	view    blockView
	section uint64 // offset of the blocks in the file, in bytes
}

// blockView is the View of a family.
type blockView interface {
	Bytes() uint64
	Block(h filter.Hash) (offset uint64, length int)
	HasBlock(block []byte, h filter.Hash) bool
}

// viewOf returns the view of a stored filter with this Spec.
func viewOf(s filter.Spec) (blockView, error) {
	if s.Family() == blocked.Family {
		return blocked.ViewOf(s)
	}
	return blockpartitioned.ViewOf(s)
}

// CheckBlocks returns an error wrapping errors.ErrUnsupported unless queries of the family read one block, as in
// blocked and blockpartitioned.
func (m *Manifest) CheckBlocks() error {
	if name := m.Spec.Family(); name != blocked.Family && name != blockpartitioned.Family {
		return fmt.Errorf("a query of %s reads more than one block: %w", name, filter.ErrUnsupported)
	}
	return nil
}

// Blocks returns the Blocks of shard i. header contains the first [MaxHeader] bytes of the shard's file, or the whole
// file if that is shorter. Blocks verifies the checksum of the header and compares the header with the manifest; single
// blocks have no checksum. The error wraps errors.ErrUnsupported if a query of the family reads more than one block or
// the file has exceptions, and [ErrForeign] if header does not belong to shard i. Other errors are the errors of
// bloomery.Read about headers. Blocks panics if i is out of range.
func (m *Manifest) Blocks(i int, header []byte) (*Blocks, error) {
	if err := m.CheckBlocks(); err != nil {
		return nil, err
	}

	// The header tells how many words the sections have; Accept requires the numbers that follow from its Spec.
	f, places, err := container.ReadPlaces(bytes.NewReader(header), container.Options{
		Check: func(f *container.File, words []uint64) error {
			return families.Accept(f.Family, f.Spec, f.Hash, words, math.MaxInt64)
		},
	})
	if err != nil {
		return nil, err
	}
	if f.HasExceptions() {
		return nil, fmt.Errorf("blocks of a filter with exceptions cannot be read: %w", filter.ErrUnsupported)
	}

	e := m.Shards[i]
	want := &container.File{Encoded: family.Encoded{Spec: m.Spec, Keys: e.Keys}, Hash: m.Hash, Seed: m.Seed,
		KeyCheck: m.KeyCheck, Form: m.Form, Bytes: e.Bytes}
	if err := f.CheckHeader(want, ErrForeign); err != nil {
		return nil, err
	}

	view, err := viewOf(f.Spec)
	if err != nil {
		return nil, err
	}
	if view.Bytes() != places[0].Bytes { // a stored form that the view does not know
		return nil, fmt.Errorf("blocks of %s cannot be read: %w", f.Spec, filter.ErrUnsupported)
	}
	return &Blocks{view, places[0].Offset}, nil
}

// Block returns the offset and the length in bytes of the range of the file that Contains needs for a key. The range is
// within the length in the manifest.
func (b *Blocks) Block(h filter.Hash) (offset int64, length int) {
	at, length := b.view.Block(h)
	return int64(b.section + at), length
}

// Contains reports whether a key may be in the shard. block contains the bytes of the file at Block(h). Contains panics
// if block is too short.
func (b *Blocks) Contains(block []byte, h filter.Hash) bool { return b.view.HasBlock(block, h) }

// Hasher returns the hash function of the keys of the set. secret is needed for SipHash and otherwise ignored; it may
// be nil. The error wraps filter.ErrNoSecret or filter.ErrSecret if the secret is missing or wrong, filter.ErrHash for
// an unknown hash function, filter.ErrFamily for an unknown family, and [ErrManifest] for a family that needs raw keys,
// whose sets cannot be sharded.
func (m *Manifest) Hasher(secret *filter.Secret) (filter.Hasher, error) {
	kind, err := families.FormatOf(m.Spec.Family())
	if err != nil {
		return filter.Hasher{}, err
	}
	if kind.Can.Has(family.CanRawKeys) {
		return filter.Hasher{}, fmt.Errorf("%w: family %s takes raw keys and cannot be sharded", ErrManifest, kind.Name)
	}
	return (&container.File{Hash: m.Hash, Seed: m.Seed, KeyCheck: m.KeyCheck, Form: m.Form}).Hasher(secret)
}
