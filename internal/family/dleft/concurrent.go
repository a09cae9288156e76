package dleft

import (
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/batch"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stripe"
)

// Concurrent is a d-left fingerprint table that any number of goroutines may query and change at once. See
// family.Concurrent for its methods; it also is a family.Remover and a family.Counter.
//
// # Why no key is lost
//
// There are 256 locks (package stripe). Each stands for some buckets, by their position. A change copies the four
// buckets of its key, does on the copy what Filter does, and writes back the bits that changed, word by word, by atomic
// ANDs and ORs:
//
//  1. A change holds the locks of its four buckets, from the copying to the end of the writing. No two changes work on one
//     bucket at the same time, so none fills a cell that another has taken. Keys that look alike have the same buckets, so
//     their changes never overlap. All locks are taken in ascending order, which prevents deadlocks.
//  2. Buckets that share a word may change at the same time: the atomic operations leave the bits of the neighbour alone.
//  3. Snapshot and Info hold all locks: no change is running, so they see each change as a whole.
//
// Has and Count take no lock at first. They copy the four buckets with atomic loads, and use the copy only if the
// version of the stripe of the bucket in subtable 0 shows that no change ran there. Each change of a key that
// collides with the queried one counts in that version. So the cells with that value stayed the same, and all of them
// are in the copy, since changes of other values write to other cells. After three attempts they take the lock of the
// stripe. Without this check a present key could look absent: Has finds no copy in subtables 0 to 2, another goroutine
// adds a copy in subtable 0 and removes the one in subtable 3, and then Has reads subtable 3. A cell into which another
// value is being written may look like the key's; this can only make an absent key look present.
type Concurrent struct {
	stripes stripe.Stripes
	f       Filter // its keys field is not used: the stripes count
}

// Concurrent returns the form for many goroutines, a *Concurrent. It takes over the filter's memory: do not use the
// filter afterwards.
func (f *Filter) Concurrent() family.Concurrent {
	c := &Concurrent{f: *f}
	c.stripes.Start(f.keys)
	return c
}

// bucketWords is the number of words of the copy of a bucket, which has at most MaxRemainder+counterBits bytes.
const bucketWords = (MaxRemainder + counterBits + 7) / 8

// copied is a copy of the four buckets of a key, one after the other.
type copied [subtables * bucketWords]uint64

// copyAt is the place of a key in a copy: its buckets start there.
func copyAt(remainder uint64) place {
	const bits = bucketWords * 64
	return place{at: [subtables]uint64{0, bits, 2 * bits, 3 * bits}, remainder: remainder}
}

// read copies the buckets of a key, with atomic loads. Bits behind a bucket's own are those of its neighbour.
func (c *Concurrent) read(to *copied, p *place) {
	n := (c.f.width() + 7) / 8
	for i, at := range p.at {
		w := c.f.words[at/64:][:n+1] // the word behind the last bucket is the filter's
		low := atomic.LoadUint64(&w[0]) >> (at % 64)
		for j := range n {
			next := atomic.LoadUint64(&w[j+1])
			to[uint64(i)*bucketWords+j] = low | next<<1<<(63-at%64)
			low = next >> (at % 64)
		}
	}
}

// write writes back the bits in which two copies of the buckets of a key differ. Others may write to other bits of the
// same words.
func (c *Concurrent) write(from, to *copied, p *place) {
	n := (c.f.width() + 7) / 8
	for i, at := range p.at {
		for j := range n {
			was, is := from[uint64(i)*bucketWords+j], to[uint64(i)*bucketWords+j]
			if was == is {
				continue
			}
			set, unset := is&^was, was&^is
			first, shift := at/64+j, at%64
			change(&c.f.words[first], set<<shift, unset<<shift)
			change(&c.f.words[first+1], set>>1>>(63-shift), unset>>1>>(63-shift))
		}
	}
}

// change sets and clears bits of a word. Others may change other bits of it at the same time.
func change(w *uint64, set, unset uint64) {
	if set != 0 {
		atomic.OrUint64(w, set)
	}
	if unset != 0 {
		atomic.AndUint64(w, ^unset)
	}
}

// spreading is 2^64 divided by the golden ratio. Products with it have well-mixed highest bits.
const spreading = 0x9E3779B97F4A7C15

// bucketStripe returns the number of the stripe of the bucket at bit at.
func bucketStripe(at uint64) uint8 { return uint8(at * spreading >> 56) }

// locks returns the stripes of the buckets of a key.
func locks(p *place) (s stripe.Set) {
	for _, at := range p.at {
		s.Add(bucketStripe(at))
	}
	return s
}

// versioned returns the stripe whose version counts the changes of a key.
func (c *Concurrent) versioned(p *place) *stripe.Stripe { return &c.stripes[bucketStripe(p.at[0])] }

// attempts is how often a reader tries to read without a lock.
const attempts = 3

// look copies the buckets of a key at a time when no change of keys that look like it is running.
func (c *Concurrent) look(to *copied, p *place) {
	s := c.versioned(p)
	for range attempts {
		before, quiet := s.Version()
		if !quiet {
			continue
		}
		c.read(to, p)
		if after, _ := s.Version(); after == before {
			return
		}
	}
	s.Lock()
	c.read(to, p)
	s.Unlock()
}

// Has reports whether the key may be in the set.
func (c *Concurrent) Has(h filter.Hash) bool {
	p := c.f.place(h)
	return c.holds(&p)
}

func (c *Concurrent) holds(p *place) bool {
	var words copied
	c.look(&words, p)
	f, local := Filter{geometry: c.f.geometry, words: words[:]}, copyAt(p.remainder)
	return f.holds(&local)
}

// HasMany sets dst[i] to Has(hs[i]) for every i. It prefetches the buckets of a batch of keys before it reads any of
// them. It panics if dst and hs differ in length.
func (c *Concurrent) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	var places [batch.Size]place
	for start := 0; start < len(hs); start += batch.Size {
		group := hs[start:min(start+batch.Size, len(hs))]
		for i, h := range group {
			places[i] = c.f.place(h)
			bitvec.PrefetchBits(c.f.words, places[i].at[:])
		}
		for i := range group {
			dst[start+i] = c.holds(&places[i])
		}
	}
}

// Count returns how often the key was added, as Count of Filter does.
func (c *Concurrent) Count(h filter.Hash) (n uint64, saturated bool) {
	p := c.f.place(h)
	var words copied
	c.look(&words, &p)
	f, local := Filter{geometry: c.f.geometry, words: words[:]}, copyAt(p.remainder)
	return f.copiesOf(&local), false
}

// Add adds a key once more. Errors are those of Add of Filter.
func (c *Concurrent) Add(h filter.Hash) error {
	p := c.f.place(h)
	_, err := c.add(&p, false)
	return err
}

// TestAndAdd adds a key unless Has is true for it, and returns that answer. If it is true, neither the cells nor the
// number of keys change. Errors are those of Add of Filter.
func (c *Concurrent) TestAndAdd(h filter.Hash) (present bool, err error) {
	p := c.f.place(h)
	if c.holds(&p) {
		return true, nil
	}
	return c.add(&p, true)
}

// add adds a key, or reports that it is present already if absent says that it is to be added only if it is absent.
func (c *Concurrent) add(p *place, absent bool) (present bool, err error) {
	s := locks(p)
	c.stripes.Lock(&s)
	var was copied
	c.read(&was, p)
	is, local := was, copyAt(p.remainder)
	f := Filter{geometry: c.f.geometry, words: is[:]}
	present = absent && f.holds(&local)
	full := !present && !f.add(&local)
	if !present && !full {
		v := c.versioned(p)
		v.Begin()
		c.write(&was, &is, p)
		v.End()
		v.Added()
	}
	c.stripes.Unlock(&s)
	if full {
		return false, c.f.errFull(c.Keys())
	}
	return present, nil
}

// Remove undoes one addition of h. Errors and the warning are those of Remove of Filter.
func (c *Concurrent) Remove(h filter.Hash) error {
	p := c.f.place(h)
	s := locks(&p)
	c.stripes.Lock(&s)
	defer c.stripes.Unlock(&s)
	var was copied
	c.read(&was, &p)
	is, local := was, copyAt(p.remainder)
	f := Filter{geometry: c.f.geometry, words: is[:]}
	if !f.remove(&local) {
		return errNotFound
	}
	v := c.versioned(&p)
	v.Begin()
	c.write(&was, &is, &p)
	v.End()
	v.Removed()
	return nil
}

// Keys returns Info().Keys without reading the filter.
func (c *Concurrent) Keys() uint64 { return c.stripes.Keys() }

// Spec returns Info().Spec in constant time.
func (c *Concurrent) Spec() filter.Spec { return c.f.spec() }

// Info counts the cells in use, which reads the whole filter. It stops all writers, but not Has and Count.
func (c *Concurrent) Info() filter.Info {
	c.stripes.LockAll()
	defer c.stripes.UnlockAll()
	f := c.f
	f.keys = c.stripes.Keys()
	return f.Info()
}

// Snapshot returns a copy, a *Filter. It stops all writers while it copies, but not Has and Count. The error wraps
// filter.ErrTooLarge if there is no memory for the copy.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	words, err := bitvec.Alloc(uint64(len(c.f.words)))
	if err != nil {
		return nil, err
	}
	c.stripes.LockAll()
	defer c.stripes.UnlockAll()
	copy(words, c.f.words)
	return (&Filter{geometry: c.f.geometry, words: words, keys: c.stripes.Keys()}).hold(), nil
}
