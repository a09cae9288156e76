package patch

import (
	"math/bits"
	"slices"

	"github.com/bloomery/bloomery/internal/family"
)

const (
	movedRice = 1 // parameter of the number of extensions that have another number than before
	riceBits  = 3 // bits of the parameter of ranks among free numbers
)

// putExtensions appends the numbers of the extensions of a level.
func putExtensions(w *bitWriter, old, new table, level int) {
	s := old.ChainShape()
	inOrder := true
	had, moved := uint64(0), []uint64(nil)
	kept := make([]bool, s.Records[level])
	all := uint64(0)
	for b := range s.Buckets {
		number, ok := new.Extension(b, level)
		if !ok {
			continue
		}
		inOrder = inOrder && number == all
		all++
		if was, ok := old.Extension(b, level); ok {
			if kept[number] = was == number; was != number {
				moved = append(moved, had)
			}
			had++
		}
	}
	if w.flag(inOrder); inOrder {
		return
	}

	putRice(w, uint64(len(moved)), movedRice)
	w.putList(had, moved)
	free := freeOf(kept)
	var ranks []uint64
	for b := range s.Buckets {
		number, ok := new.Extension(b, level)
		if !ok || kept[number] {
			continue
		}
		ranks = append(ranks, free.rankOf(number))
		free.remove(number)
	}

	best, least := uint(0), ^uint64(0)
	for k := range uint(1 << riceBits) {
		sum := uint64(0)
		for _, i := range ranks {
			sum += i>>k + uint64(k)
		}
		if sum < least {
			best, least = k, sum
		}
	}

	w.field(uint64(best), riceBits)
	for _, i := range ranks {
		putRice(w, i, best)
	}
}

// extensions lists, by level, the extension of each bucket that needs one, in the order of the buckets.
type extensions [family.ChainLevels][]uint64

// nextBucket returns the extensions of the next bucket, which has the given number of levels.
func (x *extensions) nextBucket(levels int) (n [family.ChainLevels]uint64) {
	for level := 1; level < levels; level++ {
		n[level], x[level] = x[level][0], x[level][1:]
	}
	return n
}

// getExtensions reads the extensions of all buckets, which have these numbers of cells.
func getExtensions(r *bitReader, old table, e *edit, cells []uint16) (x extensions, err error) {
	for level := 1; level < family.ChainLevels; level++ {
		records := e.Records[level]
		ordered := old.trimmed || records == 0 || r.flag()
		var keep []uint64 // by bucket that needs one: its number in the base + 1, or 0
		had := uint64(0)
		for b, n := range cells {
			if e.Levels(uint64(n)) <= level {
				continue
			}
			number, ok := old.Extension(uint64(b), level)
			if ok && !ordered {
				had++
				keep = append(keep, number+1)
			} else {
				keep = append(keep, 0)
			}
		}
		// The delta decides how many buckets need an extension, but the file has only so many records.
		if uint64(len(keep)) > records {
			return x, errNumber
		}
		if ordered {
			for i := range keep {
				x[level] = append(x[level], uint64(i))
			}
			continue
		}
		if x[level], err = choices(r, keep, had, records); err != nil {
			return x, err
		}
	}
	return x, r.err
}

// choices reads the numbers of a level that are not in order.
func choices(r *bitReader, keep []uint64, had, records uint64) ([]uint64, error) {
	kept := make([]bool, records)
	moved := unrice(r, movedRice)
	if moved > had {
		r.fail(errNumber)
	}
	if r.err != nil {
		return nil, r.err
	}

	i, changed := uint64(0), slices.Collect(newList(had, moved).allNumbers(r))
	for b, n := range keep {
		if n == 0 {
			continue
		}
		if len(changed) > 0 && changed[0] == i {
			keep[b], changed = 0, changed[1:]
		} else {
			kept[n-1] = true
		}
		i++
	}

	free := freeOf(kept)
	k := uint(r.field(riceBits))
	for b, n := range keep {
		if n > 0 {
			keep[b] = n - 1
			continue
		}
		i := unrice(r, k)
		if i >= free.left || r.err != nil {
			r.fail(errNumber)
			return nil, r.err
		}
		keep[b] = free.numberAt(i)
		free.remove(keep[b])
	}
	return keep, r.err
}

// freeNumbers is a set of numbers below a limit. It finds and removes numbers by their rank in logarithmic time,
// because an untrusted delta determines how many are removed.
type freeNumbers struct {
	left uint64
	// tree is a Fenwick tree: element i, from 1 on, counts the free numbers of the i & -i numbers that end at i-1.
	tree []uint64
}

// freeOf returns the numbers i for which kept[i] is false.
func freeOf(kept []bool) *freeNumbers {
	f := &freeNumbers{tree: make([]uint64, len(kept)+1)}
	for i := 1; i < len(f.tree); i++ {
		if !kept[i-1] {
			f.tree[i]++
			f.left++
		}
		if up := i + i&-i; up < len(f.tree) {
			f.tree[up] += f.tree[i]
		}
	}
	return f
}

// rankOf returns the number of free numbers below a number.
func (f *freeNumbers) rankOf(number uint64) (n uint64) {
	for i := number; i > 0; i &= i - 1 {
		n += f.tree[i]
	}
	return n
}

// numberAt returns the free number of a rank, which must be below left.
func (f *freeNumbers) numberAt(rank uint64) uint64 {
	at := uint64(0)
	for step := uint64(1) << bits.Len(uint(len(f.tree))); step > 0; step /= 2 {
		if next := at + step; next < uint64(len(f.tree)) && f.tree[next] <= rank {
			at = next
			rank -= f.tree[next]
		}
	}
	return at
}

// remove removes a number, which must be free.
func (f *freeNumbers) remove(number uint64) {
	f.left--
	for i := number + 1; i < uint64(len(f.tree)); i += i & -i {
		f.tree[i]--
	}
}
