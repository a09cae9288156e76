// Package delta makes small files that turn one version of a filter file, exact set or sharded set into the next one.
// The result is byte-identical to the version that the delta was made for, and is compared with its SHA-256.
//
// A delta holds only what its reader cannot compute: checksums, lengths and places follow from the content. [DiffFiles]
// tries all methods that fit and takes the smallest, and [PatchFile] applies it:
//
//	0 whole    the new file as it is: other family, geometry, seed or hash, or when nothing is smaller
//	1 bits     the gaps between changed bits, by section or by changed blocks
//	2 cells    counters that rise or fall by one, or have another value
//	3 replay   rankindexed: the cells to remove and to add
//	4 set      a sharded set: one of the above for each shard that changed
//	5 append   an exact set: the updates that were appended, and the new trailer
//
// docs/format/delta.md has the format. Followed filters keep their geometry: build the next version with
// bloomery.Config.Like. Package publish makes, signs and follows deltas between releases.
package delta

import "github.com/bloomery/bloomery/internal/patch"

// Errors of PatchFile and Read; DiffFiles returns none of them.
var (
	// ErrBase means that the delta was made for another base: take the version that it was made from, or
	// the whole new file.
	ErrBase = patch.ErrBase
	// ErrCorrupt means that the delta, or the base behind its header, is damaged: copy it again.
	ErrCorrupt = patch.ErrCorrupt
	// ErrVersion means that a newer version of Bloomery wrote the delta.
	ErrVersion = patch.ErrVersion
)

// Options are the options of PatchFile.
type Options struct {
	// MaxBytes is the largest length in bytes of the new file; of a set, of its manifest and shards
	// together. A trimmed rankindexed filter must also fit in memory with that limit, where it is larger
	// than its file. 0: 1 GiB.
	MaxBytes uint64
}

// Method says how a delta describes the new file.
type Method uint8

// The methods, as stored.
const (
	Whole  = Method(patch.Whole)
	Bits   = Method(patch.Bits)
	Cells  = Method(patch.Cells)
	Replay = Method(patch.Replay)
	Shards = Method(patch.Shards)
	Append = Method(patch.Append)
)

// String returns the name: whole, bits, cells, replay, set or append.
func (m Method) String() string { return patch.Method(m).String() }

// Info is what a delta says about itself.
type Info struct {
	Method Method
	// Base identifies what the delta is for: the CRC in the header of a filter file, the CRC-32C of a
	// manifest, or the first four bytes of the SHA-256 of an exact set.
	Base uint32
	// Target is the start of the SHA-256 of the new file, or of the new manifest.
	Target [16]byte
}

// Read returns what a delta says about itself. It checks no more than its first 24 bytes. The error wraps ErrCorrupt or
// ErrVersion.
func Read(d []byte) (Info, error) {
	i, err := patch.Read(d)
	return Info{Method(i.Method), i.Base, i.Target}, err
}
