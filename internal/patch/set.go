package patch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/sums"
	"github.com/bloomery/bloomery/shard"
)

// verifiedShard returns the file of shard i of a set after a comparison with its manifest.
func (v *Version) verifiedShard(m *shard.Manifest, i int) ([]byte, error) {
	b, err := v.Shard(i)
	if err == nil && sha256.Sum256(b) != m.Shards[i].SHA256 {
		err = shard.ErrChanged
	}
	if err != nil {
		return nil, &shard.Error{File: m.Shards[i].File, Err: err}
	}
	return b, nil
}

// BaseOf returns the Info.Base of deltas for a filter file (its first 64 bytes suffice), an exact set or a manifest.
// For an exact set it is the start of its SHA-256. A CRC-32C would not identify the records: each record ends with its
// own CRC-32C, so the CRC-32C of a record depends only on its length.
func BaseOf(b []byte) uint32 {
	if isExact(b) {
		sum := sha256.Sum256(b)
		return binary.LittleEndian.Uint32(sum[:])
	}
	if container.HasMagic(bytes.NewReader(b)) && len(b) >= container.HeadSize {
		return container.ChecksumOf(b)
	}
	return sums.CRC(b)
}

// The name of a shard's file in a delta of a set, 2 bits.
const (
	nameKept   = iota // the name is as in the base
	namePlain         // the name has no suffix
	nameHashed        // the name has the suffix of shardset.NewName
	nameText          // the name has another suffix: its length as a number, and its bytes
)

// diffSet is Diff for sharded sets. It makes one delta for all shards and the manifest.
func diffSet(ctx context.Context, old, new Version) ([]byte, error) {
	from, err := shard.ReadManifest(bytes.NewReader(old.File))
	if err != nil {
		return nil, fmt.Errorf("old set: %w", err)
	}

	to, err := shard.ReadManifest(bytes.NewReader(new.File))
	if err != nil {
		return nil, fmt.Errorf("new set: %w", err)
	}

	w := &bitWriter{}
	text := !derives(from, to, new.File)
	if w.flag(text); text {
		w.putPart(new.File)
	}

	var changed []int
	for i, e := range to.Shards {
		if i >= len(from.Shards) || from.Shards[i] != e {
			changed = append(changed, i)
		}
	}

	w.number(uint64(len(changed)))
	l := newList(uint64(len(to.Shards)), uint64(len(changed)))
	for _, i := range changed {
		l.putNumber(w, uint64(i))
		if !text {
			putEntry(w, from.Shards[i], to.Shards[i], i, len(to.Shards))
		}
		part, err := shardPart(ctx, old, new, from, to, i)
		if err != nil {
			return nil, err
		}
		w.putPart(part)
	}
	return append(startDelta(Shards, 0, BaseOf(old.File), new.File), w.finish()...), nil
}

// shardPart returns the part of a set's delta for a changed shard: the delta of the shard without magic, base and hash.
func shardPart(ctx context.Context, old, new Version, from, to *shard.Manifest, i int) ([]byte, error) {
	b, err := new.verifiedShard(to, i)
	if err != nil {
		return nil, fmt.Errorf("new set: %w", err)
	}
	if i >= len(from.Shards) {
		return append([]byte{byte(Whole)}, b...), nil
	}

	a, err := old.verifiedShard(from, i)
	if err != nil {
		return nil, fmt.Errorf("old set: %w", err)
	}

	d, err := diffFile(ctx, a, b)
	if err != nil {
		return nil, &shard.Error{File: to.Shards[i].File, Err: err}
	}
	return append(d[len(magic):len(magic)+1:len(magic)+1], d[prefix:]...), nil
}

// derives reports whether the manifest text follows from the old manifest and the entries of the new one.
func derives(from, to *shard.Manifest, text []byte) bool {
	if len(from.Shards) != len(to.Shards) {
		return false
	}

	next := *from
	next.Shards = to.Shards
	for _, e := range to.Shards {
		if rateOf(stepOf(e.FPRPrior)) != e.FPRPrior || rateOf(stepOf(e.FPRPosterior)) != e.FPRPosterior {
			return false
		}
	}

	var b bytes.Buffer
	_, err := next.WriteTo(&b)
	return err == nil && bytes.Equal(b.Bytes(), text)
}

// putEntry appends the fields of a new entry except keys, length and SHA-256 of the file.
func putEntry(w *bitWriter, old, new shard.Entry, i, shards int) {
	plain := shardset.Name(i, shards, "")
	suffix := suffixOf(new.File, plain)
	switch {
	case new.File == old.File:
		w.field(nameKept, 2)
	case suffix == "":
		w.field(namePlain, 2)
	case new.File == shardset.HashName(i, shards, new.SHA256):
		w.field(nameHashed, 2)
	default:
		w.field(nameText, 2)
		w.text(suffix)
	}
	w.signed(stepOf(new.FPRPrior) - stepOf(old.FPRPrior))
	w.signed(stepOf(new.FPRPosterior) - stepOf(old.FPRPosterior))
}

// suffixOf returns the suffix in the name of a shard, given its name without one.
func suffixOf(name, plain string) string {
	s := strings.TrimPrefix(name, strings.TrimSuffix(plain, ".bloom"))
	return strings.TrimPrefix(strings.TrimSuffix(s, ".bloom"), ".")
}

// patchSet is Patch for a sharded set.
func patchSet(
	ctx context.Context, old Version, what byte, body []byte, limit uint64, write func(name string, content []byte) error,
) ([]byte, error) {
	if what != byte(Shards) {
		return nil, errNumber
	}
	from, err := shard.ReadManifest(bytes.NewReader(old.File))
	if err != nil {
		return nil, err
	}
	p := setPatch{ctx: ctx, bitReader: bitReader{b: body}, old: old, from: from, limit: limit, write: write}
	return p.patchAll()
}

type setPatch struct {
	bitReader
	ctx   context.Context
	old   Version
	from  *shard.Manifest
	limit uint64 // bytes that may still be made
	write func(name string, content []byte) error
}

func (p *setPatch) patchAll() (manifest []byte, err error) {
	next := *p.from
	next.Shards = append([]shard.Entry(nil), p.from.Shards...)
	if p.flag() {
		if manifest = p.bytes(p.number()); p.err != nil {
			return nil, p.err
		}
		m, err := shard.ReadManifest(bytes.NewReader(manifest))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		next = *m
	}

	for number := range readList(&p.bitReader, uint64(len(next.Shards))).allNumbers(&p.bitReader) {
		i := int(number)
		e := next.Shards[i]
		if manifest == nil {
			p.readEntry(&e, i)
		}
		content, err := p.patchShard(i)
		if err != nil {
			return nil, &shard.Error{File: p.readName(i), Err: err}
		}
		if manifest == nil {
			if err := describe(&e, content, i, len(next.Shards)); err != nil {
				return nil, &shard.Error{File: p.readName(i), Err: err}
			}
			next.Shards[i] = e
		} else if sha256.Sum256(content) != e.SHA256 {
			return nil, &shard.Error{File: p.readName(i), Err: errResult}
		}
		if err := p.write(e.File, content); err != nil {
			return nil, err
		}
	}
	if err := p.checkEnd(); err != nil {
		return nil, err
	}
	if manifest == nil {
		var b bytes.Buffer
		if _, err := next.WriteTo(&b); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		manifest = b.Bytes()
	}
	if uint64(len(manifest)) > p.limit {
		return nil, fmt.Errorf("the manifest: %w", filter.ErrTooLarge)
	}
	return bytes.Clone(manifest), nil
}

// readName returns the name of a shard for messages.
func (p *setPatch) readName(i int) string { return shardset.Name(i, max(i+1, len(p.from.Shards)), "") }

// readEntry reads the output of putEntry. A name with a hash gets the suffix hashed for now.
func (p *setPatch) readEntry(e *shard.Entry, i int) {
	switch p.field(2) {
	case namePlain:
		e.File = shardset.Name(i, len(p.from.Shards), "")
	case nameHashed:
		e.File = ""
	case nameText:
		e.File = shardset.Name(i, len(p.from.Shards), p.text(64))
	}
	e.FPRPrior = rateOf(stepOf(e.FPRPrior) + p.signed())
	e.FPRPosterior = rateOf(stepOf(e.FPRPosterior) + p.signed())
}

// patchShard returns the new file of shard i, without a check.
func (p *setPatch) patchShard(i int) ([]byte, error) {
	part := p.bytes(p.number())
	if p.err != nil {
		return nil, p.err
	}
	if len(part) == 0 || part[0]&15 > byte(Replay) {
		return nil, errNumber
	}

	var from *container.Image
	if part[0]&15 != byte(Whole) {
		if i >= len(p.from.Shards) {
			return nil, errNumber
		}
		b, err := p.old.verifiedShard(p.from, i)
		if err != nil {
			return nil, err
		}
		if from, err = container.ParseImage(b); err != nil {
			return nil, err
		}
	}

	b, err := applyFile(p.ctx, from, part[0], part[1:], p.limit)
	if err != nil {
		return nil, err
	}
	p.limit -= uint64(len(b))
	return b, nil
}

// describe sets the fields of an entry that follow from its file. It returns the error of container.ParseImage, or an
// error if no shard may have the name.
func describe(e *shard.Entry, content []byte, i, shards int) error {
	m, err := container.ParseImage(content)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}

	e.Keys, e.Bytes, e.SHA256 = m.Keys, uint64(len(content)), sha256.Sum256(content)
	if e.File == "" {
		e.File = shardset.HashName(i, shards, e.SHA256)
	}
	if !shardset.IsName(e.File) {
		return errNumber
	}
	return nil
}

// Rates of four digits are steps: rate m·10^(e-3), m from 1000 to 9999, is step 9000·(e + lowest) + m - 999. Step 0
// is the rate 0. Close rates have close steps.
const (
	stepsPerDecade = 9000
	lowest         = 400
)

// stepOf returns the step of a rate in [0, 1], rounded to four digits.
func stepOf(rate float64) int64 {
	if rate == 0 {
		return 0
	}
	text := strconv.FormatFloat(rate, 'e', 3, 64) // d.ddde-xx
	m, _ := strconv.ParseInt(text[:1]+text[2:5], 10, 64)
	e, _ := strconv.ParseInt(text[6:], 10, 64)
	return stepsPerDecade*(e+lowest) + m - 999
}

// rateOf returns the rate of a step, or -1, which no manifest takes, if there is none.
func rateOf(step int64) float64 {
	switch {
	case step == 0:
		return 0
	case step < 0 || step > stepsPerDecade*(lowest+1):
		return -1
	}

	m, e := (step-1)%stepsPerDecade+1000, (step-1)/stepsPerDecade-lowest
	rate, err := strconv.ParseFloat(fmt.Sprintf("%de%d", m, e-3), 64)
	if err != nil {
		return -1
	}
	return rate
}
