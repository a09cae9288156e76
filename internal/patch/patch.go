// Package patch makes and applies deltas between filter files, exact sets and sharded sets in memory. Package delta
// applies it to files; package publish uses it directly. docs/format/delta.md has the format.
//
// A delta holds only data that its reader cannot compute: checksums, lengths and offsets follow from the content. Diff
// tries all methods that fit and takes the smallest.
package patch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Errors of Patch and Read; Diff returns none of them.
var (
	// ErrBase means that the delta was made for another base.
	ErrBase = errors.New("the delta is for another file")
	// ErrCorrupt means that the delta, or the base behind its header, is damaged.
	ErrCorrupt = errors.New("the delta is damaged")
	// ErrVersion means that a newer version of Bloomery wrote the delta.
	ErrVersion = errors.New("the delta was written by a newer version of Bloomery")
)

var (
	errShort  = fmt.Errorf("%w: it ends too early", ErrCorrupt)
	errNumber = fmt.Errorf("%w: a number is out of range", ErrCorrupt)
	errBehind = fmt.Errorf("%w: there is something behind its end", ErrCorrupt)
	errResult = fmt.Errorf("%w, or the file is: the result does not have the SHA-256 in the delta", ErrCorrupt)
)

// Method is the way in which a delta describes the new file.
type Method uint8

// The methods, as stored.
const (
	Whole Method = iota
	Bits
	Cells
	Replay
	Shards
	Append
)

var methodNames = []string{"whole", "bits", "cells", "replay", "set", "append"}

// String returns the name: whole, bits, cells, replay, set or append.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// Info is the content of a delta's prefix.
type Info struct {
	Method Method
	// Base identifies the file or the manifest that the delta is for: see BaseOf.
	Base uint32
	// Target is the start of the SHA-256 of the new file, or of the new manifest.
	Target [HashSize]byte
}

// HashSize is the number of bytes of the target's SHA-256 in a delta.
const HashSize = 16

// DefaultMaxBytes is the default limit of the new file: 1 GiB.
const DefaultMaxBytes = 1 << 30

// A delta begins with the magic bytes, a byte with the method in its lower and flags in its upper half, the base in 4
// bytes and the start of the target's SHA-256 in 16.
const (
	magic    = "\x89BD"
	prefix   = len(magic) + 1 + 4 + HashSize
	flagKeys = 1 << 4 // the number of keys differs
	flagRate = 1 << 5 // the planned rate differs
	flagSpec = 1 << 6 // the spec differs
	flagForm = 1 << 7 // the number of sections or the flags of the file differ
)

// Read returns the Info of a delta. It checks only the first 24 bytes. The error wraps ErrCorrupt or ErrVersion.
func Read(d []byte) (Info, error) {
	if len(d) < prefix || string(d[:len(magic)]) != magic {
		return Info{}, fmt.Errorf("not a delta: %w", ErrCorrupt)
	}
	at := len(magic)
	i := Info{Method: Method(d[at] & 15), Base: binary.LittleEndian.Uint32(d[at+1:])}
	if i.Method > Append {
		return Info{}, ErrVersion
	}
	copy(i.Target[:], d[at+5:])
	return i, nil
}

// startDelta returns the first bytes of a delta.
func startDelta(m Method, flags byte, base uint32, target []byte) []byte {
	sum := sha256.Sum256(target)
	d := append([]byte(magic), byte(m)|flags)
	d = binary.LittleEndian.AppendUint32(d, base)
	return append(d, sum[:HashSize]...)
}

// Version is a filter file, an exact set, or a sharded set: its manifest and a function that returns the file of a
// shard. One goroutine at a time calls Shard, never changes its result, and does not use it after the next call.
type Version struct {
	File  []byte
	Shard func(i int) ([]byte, error) // nil if this is not a sharded set
}

// Diff returns a delta that turns old into new, which must be of the same kind. Peak memory: 3x both files + 1 MiB; it
// reads the changed shards of sets, two files at a time. Diff returns the error of container.ParseImage if a file is
// not a filter file, an error of Shard, the cause of ctx, or an error wrapping io.ErrUnexpectedEOF for a truncated
// exact set, shard.ErrManifest or shard.ErrChanged. For exact sets it checks only the first bytes and the trailer.
func Diff(ctx context.Context, old, new Version) ([]byte, error) {
	switch {
	case (old.Shard == nil) != (new.Shard == nil):
		return nil, errors.New("a delta is for two files or two folders")
	case old.Shard != nil:
		return diffSet(ctx, old, new)
	}
	return diffFile(ctx, old.File, new.File)
}

// diffFile is Diff for two files.
func diffFile(ctx context.Context, old, new []byte) ([]byte, error) {
	if isExact(old) && isExact(new) {
		return diffExact(ctx, old, new)
	}

	from, err := container.ParseImage(old)
	if err != nil {
		return nil, fmt.Errorf("old file: %w", err)
	}

	to, err := container.ParseImage(new)
	if err != nil {
		return nil, fmt.Errorf("new file: %w", err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	if h, ok := compare(from, to); ok {
		c := change{from, to, h}
		d, err := c.smallest(ctx, len(new)+prefix)
		if err != nil || d != nil && len(d) < len(new)+prefix {
			return d, err
		}
	}
	return append(startDelta(Whole, 0, from.Checksum(), new), new...), nil
}

// change holds the two files that Diff compares and the new header fields.
type change struct {
	from, to *container.Image
	header   header
}

// smallest returns the smallest delta of methods 1 to 3, or nil if all have more than limit bytes.
func (c *change) smallest(ctx context.Context, limit int) ([]byte, error) {
	replayed, err := c.replayed(ctx, limit)
	if err != nil || replayed != nil && c.flips() >= 8*uint64(len(replayed)) {
		return replayed, err
	}
	if replayed != nil {
		limit = len(replayed)
	}

	flipped, err := c.flipped(ctx, limit)
	if err != nil || replayed == nil || flipped != nil && len(flipped) < len(replayed) {
		return flipped, err
	}
	return replayed, nil
}

// flips returns the number of bits that differ in sections of equal length. Method bits takes more than one bit for
// each.
func (c *change) flips() (n uint64) {
	for i := range min(len(c.from.Sections), len(c.to.Sections)) {
		if p := (pair{old: c.from.Section(i), new: c.to.Section(i)}); len(p.old) == len(p.new) {
			n += p.countFlips()
		}
	}
	return n
}

// Patch returns the new file or manifest of a delta, given the old version, which it does not change. The result is
// byte-identical to the one that Diff was given: it has the SHA-256 in the delta. The new version, a manifest together
// with its shards, has at most maxBytes; 0: DefaultMaxBytes. A trimmed rankindexed filter is larger in memory than its
// file and must also keep the limit there.
//
// For a sharded set, Patch first calls write with the name and the content of each new file: each file whose name,
// length or SHA-256 differs from the old manifest. It reads and makes one shard at a time. The manifest is verified
// last: on error, remove what was written. New files never have the name of an old file if both manifests have names
// with hashes.
//
// Peak memory besides its arguments: the new file, and for method replay 3x both files. Patch allocates nothing whose
// size old and maxBytes do not bound.
//
// On error the result is nil. The error wraps ErrBase if the delta is for another version, ErrCorrupt, ErrVersion,
// filter.ErrTooLarge, shard.ErrChanged if a shard of the old set is not the one in its manifest, an error of package
// container if old is neither a filter file nor an exact set, or it is an error of write or Shard, or the cause of ctx.
func Patch(
	ctx context.Context, old Version, d []byte, maxBytes uint64, write func(name string, content []byte) error,
) ([]byte, error) {
	maxBytes = cmp.Or(maxBytes, DefaultMaxBytes)
	i, err := Read(d)
	if err != nil {
		return nil, err
	}

	var from *container.Image
	if old.Shard == nil && !isExact(old.File) {
		from, err = container.ParseImage(old.File)
	}

	switch {
	case err != nil:
		return nil, fmt.Errorf("the file to patch: %w", err)
	case i.Method == Shards && old.Shard == nil:
		return nil, fmt.Errorf("%w: it is for a sharded set, not for a file", ErrBase)
	case i.Method != Shards && old.Shard != nil:
		return nil, fmt.Errorf("%w: it is for a file, not for a sharded set", ErrBase)
	case BaseOf(old.File) != i.Base:
		return nil, fmt.Errorf("%w: it is for the one with checksum %08x, this one has %08x",
			ErrBase, i.Base, BaseOf(old.File))
	}

	var to []byte
	what, body := d[len(magic)], d[prefix:]
	switch {
	case old.Shard != nil:
		to, err = patchSet(ctx, old, what, body, maxBytes, write)
	case from == nil:
		to, err = patchExact(ctx, old.File, what, body, maxBytes)
	default:
		to, err = applyFile(ctx, from, what, body, maxBytes)
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(to); !bytes.Equal(sum[:HashSize], i.Target[:]) {
		return nil, errResult
	}
	return to, nil
}

// applyFile returns the new file of a delta for that base, without the check of its SHA-256. what is the byte with
// method and flags, and body is the delta after the prefix. Method whole needs no base.
func applyFile(ctx context.Context, from *container.Image, what byte, body []byte, limit uint64) ([]byte, error) {
	method := Method(what & 15)
	switch {
	case method > Replay || method == Whole && what != byte(Whole):
		return nil, errNumber
	case method == Whole && uint64(len(body)) > limit:
		return nil, tooLarge(uint64(len(body)), limit)
	case method == Whole:
		return bytes.Clone(body), nil
	}

	r := &bitReader{b: body}
	h := readHeader(r, from, what)
	if r.err != nil {
		return nil, r.err
	}
	if method == Replay {
		return replay(ctx, r, from, h, limit)
	}
	return h.readFile(ctx, r, from, nil, limit)
}

// tooLarge is the error of a file of n bytes.
func tooLarge(n, limit uint64) error {
	return fmt.Errorf("a file of %d bytes is over the limit of %d: %w", n, limit, filter.ErrTooLarge)
}

// isExact reports whether a file begins like an exact set. Such files are checked only by their trailer: an update
// replaces the trailer, so the delta is the part of the new file after the records of the old one.
func isExact(b []byte) bool { return bytes.HasPrefix(b, []byte(container.ExactMagic)) }

// diffExact is Diff for two exact sets.
func diffExact(ctx context.Context, old, new []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	records, err := container.ExactRecords(old)
	if err != nil {
		return nil, fmt.Errorf("old file: %w", err)
	}
	if _, err := container.ExactRecords(new); err != nil {
		return nil, fmt.Errorf("new file: %w", err)
	}
	if rest, ok := bytes.CutPrefix(new, records); ok {
		return append(startDelta(Append, 0, BaseOf(old), new), rest...), nil
	}
	return append(startDelta(Whole, 0, BaseOf(old), new), new...), nil
}

// patchExact is apply for an exact set.
func patchExact(ctx context.Context, old []byte, what byte, body []byte, limit uint64) ([]byte, error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case Method(what&15) == Whole:
		return applyFile(ctx, nil, what, body, limit)
	case what != byte(Append):
		return nil, errNumber
	}

	records, err := container.ExactRecords(old)
	if err != nil {
		return nil, fmt.Errorf("the file to patch: %w", err)
	}
	if n := uint64(len(records)) + uint64(len(body)); n > limit {
		return nil, tooLarge(n, limit)
	}
	return slices.Concat(records, body), nil
}
