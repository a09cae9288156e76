package patch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
)

// keys describes the numbers of cells: the chain, counted over all buckets, then the first bits of the remainder.
type keys struct {
	family.ChainShape
	head uint // bits of the remainder in a number
}

// maxKey bounds the numbers of keys.
const maxKey = 1 << 47

// newKeys returns the keys of a table, or false if it has too many chains.
func newKeys(s family.ChainShape) (k keys, ok bool) {
	k = keys{s, s.Width - s.Payload}
	hi, chains := bits.Mul64(s.Buckets, s.Chains)
	if hi != 0 || chains > maxKey {
		return k, false
	}
	k.head = min(k.head, uint(bits.Len64(maxKey/chains))-1)
	return k, true
}

// keyBound returns the bound of all numbers.
func (k *keys) keyBound() uint64 { return k.Buckets * k.Chains << k.head }

// tailBits returns the number of bits of a cell that its number does not include.
func (k *keys) tailBits() uint { return k.Width - k.head }

// added is an added cell.
type added struct{ key, tail uint64 }

// table is the content of a rankindexed file.
type table struct {
	family.ChainTable
	trimmed  bool
	sections int // sections of the family
}

// errTable means that a file cannot be the base of a replay.
var errTable = fmt.Errorf("%w: it is for a rankindexed filter; the file is none, or damaged", ErrCorrupt)

// decodeTable returns the content of a file. The error wraps errTable if it belongs to another family or is damaged, or
// filter.ErrTooLarge if it takes more than limit bytes in memory.
func decodeTable(m *container.Image, limit uint64) (t table, err error) {
	name, _, _ := strings.Cut(m.Spec, "(")
	if kind, err := families.ByName(name); err != nil || !kind.Chains {
		return t, errTable
	}

	accept := func(f *container.File, words []uint64) error {
		return families.Accept(f.Family, f.Spec, f.Hash, words, limit)
	}

	f, _, err := container.FromBytes(m.Bytes, container.Options{Check: accept})
	if errors.Is(err, filter.ErrTooLarge) {
		return t, err
	}
	if err != nil {
		return t, errTable
	}

	decoded, err := families.Decode(f.Encoded)
	chains, ok := decoded.(family.ChainTable)
	if err != nil || !ok {
		return t, errTable
	}
	return table{chains, family.Given(f.Spec, "trimmed"), len(f.Sections)}, nil
}

// specWith returns the spec of a table with the given number of cells.
func specWith(spec string, trimmed bool, cells uint64) string {
	s, err := filter.ParseSpec(spec)
	if err != nil || !trimmed {
		return spec
	}
	return s.With("trimmed", cells).String()
}

// replayed returns the delta of method 3, or nil if it does not fit.
func (c *change) replayed(ctx context.Context, limit int) ([]byte, error) {
	old, err := decodeTable(c.from, math.MaxUint64)
	if err != nil {
		return nil, nil
	}

	new, err := decodeTable(c.to, math.MaxUint64)
	if err != nil || old.trimmed != new.trimmed || old.ChainShape() != new.ChainShape() {
		return nil, nil
	}

	k, ok := newKeys(old.ChainShape())
	if !ok {
		return nil, nil
	}

	e := edit{keys: k}
	if err := e.compare(ctx, old, new); err != nil {
		return nil, err
	}

	h := c.header
	if specWith(c.from.Spec, old.trimmed, e.used[1]) != c.to.Spec {
		return nil, nil
	}

	h.flags &^= flagSpec | flagKeys
	if h.keys -= int64(len(e.added)) - int64(len(e.removed)); h.keys != 0 {
		h.flags |= flagKeys
	}

	w := &bitWriter{}
	h.writeFields(w)
	e.writeEdit(w)
	if !old.trimmed {
		for level := 1; level < family.ChainLevels; level++ {
			if k.Records[level] > 0 {
				putExtensions(w, old, new, level)
			}
		}
	}
	return c.buildDelta(ctx, w, Replay, h.flags, old.sections, limit)
}

// edit is the removed and the added cells.
type edit struct {
	keys
	removed []uint64  // ranks among the cells of the base, ascending
	added   []added   // added cells in the order of their buckets
	used    [2]uint64 // the numbers of cells of the base and of the new file
}

func (e *edit) writeEdit(w *bitWriter) {
	gone, come := uint64(len(e.removed)), uint64(len(e.added))
	w.number(gone)
	w.putList(e.used[0], e.removed)
	w.signed(int64(come - gone))
	l := newList(e.keyBound()+come-1, come)
	for i, a := range e.added {
		l.putNumber(w, a.key+uint64(i))
		w.field(a.tail, e.tailBits())
	}
}

// compare fills the edit that makes new of old, with a goroutine for each core.
func (e *edit) compare(ctx context.Context, old, new table) error {
	const least = 256 // buckets for a goroutine
	n := min(uint64(parallel.Workers(0)), e.Buckets/least+1)
	parts := make([]edit, n)
	parallel.Each(len(parts), len(parts), func(_, i int) {
		parts[i].keys = e.keys
		parts[i].compareRange(ctx, old, new, e.Buckets*uint64(i)/n, e.Buckets*uint64(i+1)/n) // below maxKey·n
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	// Each part counted ranks from its own first cell, so the cells of the parts before it are added.
	for _, p := range parts {
		for _, rank := range p.removed {
			e.removed = append(e.removed, rank+e.used[0])
		}
		e.added = append(e.added, p.added...)
		e.used[0] += p.used[0]
		e.used[1] += p.used[1]
	}
	return nil
}

// compareRange compares buckets [first, end), until ctx ends. Ranks count from the first cell of bucket first.
func (e *edit) compareRange(ctx context.Context, old, new table, first, end uint64) {
	readOld, readNew := old.BucketReader(), new.BucketReader()
	var a, b family.ChainBucket
	for bucket := first; bucket < end; bucket++ {
		if bucket%1024 == 0 && ctx.Err() != nil {
			return
		}
		readOld(bucket, &a)
		readNew(bucket, &b)
		e.bucket(bucket, &a, &b)
		e.used[0] += uint64(len(a.Cells))
		e.used[1] += uint64(len(b.Cells))
	}
}

// bucket compares two versions of a bucket.
func (e *edit) bucket(b uint64, old, new *family.ChainBucket) {
	first := len(e.removed)
	x, y := 0, 0
	for chain := range old.Lengths {
		endX, endY := x+int(old.Lengths[chain]), y+int(new.Lengths[chain])
		for x < endX || y < endY {
			gone := y == endY || x < endX && old.Cells[x]>>e.Payload < new.Cells[y]>>e.Payload
			come := x == endX || y < endY && new.Cells[y]>>e.Payload < old.Cells[x]>>e.Payload
			var groupX, groupY int
			if !come {
				groupX = e.equalRemainders(old.Cells[x:endX])
			}
			if !gone {
				groupY = e.equalRemainders(new.Cells[y:endY])
			}
			e.exchange(b*e.Chains+uint64(chain), old, x, x+groupX, new.Cells[y:y+groupY])
			x, y = x+groupX, y+groupY
		}
	}

	for i := first; i < len(e.removed); i++ {
		e.removed[i] += e.used[0]
	}
	slices.Sort(e.removed[first:])
}

// equalRemainders returns the number of cells, from the first on, with the same remainder.
func (e *edit) equalRemainders(cells []uint64) (n int) {
	for n < len(cells) && cells[n]>>e.Payload == cells[0]>>e.Payload {
		n++
	}
	return n
}

// exchange appends the edit that turns the cells of one remainder in a chain, old.Cells[x:end], into new. Added cells
// precede the others, so the kept cells are the last ones of new.
func (e *edit) exchange(chain uint64, old *family.ChainBucket, x, end int, new []uint64) {
	kept := len(new)
	for i := end - 1; i >= x; i-- {
		if kept > 0 && new[kept-1] == old.Cells[i] {
			kept--
		} else {
			e.removed = append(e.removed, uint64(old.Numbers[i]))
		}
	}
	for _, cell := range slices.Backward(new[:kept]) {
		e.added = append(e.added, added{chain<<e.head | cell>>e.tailBits(), cell & (1<<e.tailBits() - 1)})
	}
}

// replay returns the new file of method 3.
func replay(ctx context.Context, r *bitReader, from *container.Image, h header, limit uint64) ([]byte, error) {
	old, err := decodeTable(from, limit)
	if err != nil {
		return nil, err
	}

	k, ok := newKeys(old.ChainShape())
	if !ok {
		return nil, errNumber
	}

	e := edit{keys: k}
	for b := range k.Buckets {
		e.used[0] += old.CellsOf(b)
	}

	e.readEdit(r)
	if r.err != nil {
		return nil, r.err
	}

	new, err := e.applyEdit(ctx, r, old)
	if err != nil {
		return nil, err
	}

	h.spec = specWith(h.spec, old.trimmed, e.used[1])
	h.setKeys(from.Keys + uint64(h.keys) + e.used[1] - e.used[0])
	return h.readFile(ctx, r, from, new.Stored(old.trimmed).Sections, limit)
}

func (e *edit) readEdit(r *bitReader) {
	e.removed = slices.Collect(readList(r, e.used[0]).allNumbers(r))
	come := uint64(len(e.removed)) + uint64(r.signed())
	// The sum may have wrapped around for a hostile delta; it is then far above both bounds.
	if come > e.Most() || come > maxKey {
		r.fail(errNumber)
	}
	for key := range newList(e.keyBound()+come-1, come).allNumbers(r) {
		e.added = append(e.added, added{key - uint64(len(e.added)), r.field(e.tailBits())})
	}
	e.used[1] = e.used[0] + come - uint64(len(e.removed))
}

// countUpTo returns the numbers of removed and added cells in the buckets up to b. end is the number of cells of the
// base in these buckets.
func (e *edit) countUpTo(b, end uint64) (gone, come int) {
	gone, _ = slices.BinarySearch(e.removed, end)
	come = sort.Search(len(e.added), func(i int) bool { return e.added[i].key>>e.head >= (b+1)*e.Chains })
	return gone, come
}

// applyEdit returns the new table. The reader must be at the numbers of extensions.
func (e *edit) applyEdit(ctx context.Context, r *bitReader, old table) (family.ChainTable, error) {
	cells := make([]uint16, e.Buckets)
	gone, come, rank := 0, 0, uint64(0)
	for b := range e.Buckets {
		rank += old.CellsOf(b)
		endGone, endCome := e.countUpTo(b, rank)
		n := old.CellsOf(b) - uint64(endGone-gone) + uint64(endCome-come)
		if e.Levels(n) > family.ChainLevels {
			return nil, fmt.Errorf("%w: bucket %d has %d cells", ErrCorrupt, b, n)
		}
		cells[b] = uint16(n)
		gone, come = endGone, endCome
	}

	numbers, err := getExtensions(r, old, e, cells)
	if err != nil {
		return nil, err
	}

	new, err := old.SameShape()
	if err != nil {
		return nil, err
	}

	read, write := old.BucketReader(), new.BucketWriter()
	var in, out family.ChainBucket
	gone, come, rank = 0, 0, 0
	for b := range e.Buckets {
		if b%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		read(b, &in)
		end := rank + uint64(len(in.Cells))
		endGone, endCome := e.countUpTo(b, end)
		e.mergeBucket(&out, &in, rank, e.removed[gone:endGone], e.added[come:endCome], b*e.Chains)
		if err := write(b, &out, numbers.nextBucket(e.Levels(uint64(len(out.Cells))))); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		gone, come, rank = endGone, endCome, end
	}
	return new, nil
}

// mergeBucket makes the new content of a bucket from the old one: it drops the removed cells, given by their ranks, and
// inserts the added ones. rank is the rank of the first cell and chain the number of the first chain.
func (e *edit) mergeBucket(out, in *family.ChainBucket, rank uint64, removed []uint64, come []added, chain uint64) {
	out.Lengths = slices.Grow(out.Lengths[:0], len(in.Lengths))[:len(in.Lengths)]
	out.Cells = out.Cells[:0]
	x := 0
	for i, n := range in.Lengths {
		start := len(out.Cells)
		for end := x + int(n); x < end; x++ {
			if _, gone := slices.BinarySearch(removed, rank+uint64(in.Numbers[x])); !gone {
				out.Cells = append(out.Cells, in.Cells[x])
			}
		}
		for ; len(come) > 0 && come[0].key>>e.head == chain+uint64(i); come = come[1:] {
			cell := come[0].key&(1<<e.head-1)<<e.tailBits() | come[0].tail
			at := start
			for at < len(out.Cells) && out.Cells[at]>>e.Payload < cell>>e.Payload {
				at++
			}
			out.Cells = slices.Insert(out.Cells, at, cell)
		}
		out.Lengths[i] = uint16(len(out.Cells) - start)
	}
}
