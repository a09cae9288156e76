package exact

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var daysOnly = flag.String("days", "", "in TestUpdateDays: only the run with this name")

// daily is a universe in which a share of the keys changes each day.
type daily struct {
	random  *rand.Rand
	ids     []uint32 // ids of the keys
	member  []bool
	members []uint32 // positions of members in ids; some are no longer members
	next    uint32
}

func newDaily(n, members int) *daily {
	d := &daily{random: rand.New(rand.NewPCG(uint64(n), uint64(members))), member: make([]bool, n)}
	for range n {
		d.ids = append(d.ids, d.next)
		d.next++
	}
	for range members {
		d.add()
	}
	return d
}

// add makes another key a member.
func (d *daily) add() {
	for {
		if i := d.random.IntN(len(d.ids)); !d.member[i] {
			d.member[i] = true
			d.members = append(d.members, uint32(i))
			return
		}
	}
}

// remove makes a member a key that is not a member.
func (d *daily) remove() {
	for {
		at := d.random.IntN(len(d.members))
		i := d.members[at]
		d.members[at] = d.members[len(d.members)-1]
		d.members = d.members[:len(d.members)-1]
		if d.member[i] {
			d.member[i] = false
			return
		}
	}
}

// replace replaces a key of the universe by a new one that is not a member.
func (d *daily) replace() {
	i := d.random.IntN(len(d.ids))
	d.ids[i], d.member[i] = d.next, false
	d.next++
}

// batches calls f with all keys, or only with the members.
func (d *daily) batches(members bool, f func(keys [][]byte, positions []int) error) error {
	var room [8 * feedBatch]byte
	var keys [][]byte
	var positions []int
	for i, id := range d.ids {
		if !members || d.member[i] {
			key := room[8*len(keys):][:8]
			binary.LittleEndian.PutUint64(key, uint64(id)*0x9e3779b97f4a7c15)
			keys, positions = append(keys, key), append(positions, i)
		}
		if len(keys) == feedBatch || i == len(d.ids)-1 {
			if err := f(keys, positions); err != nil {
				return err
			}
			keys, positions = keys[:0], positions[:0]
		}
	}
	return nil
}

// builder returns a Builder with all keys.
func (d *daily) builder(t *testing.T, c Config) *Builder {
	t.Helper()
	b := must(NewBuilder(c))
	for _, members := range []bool{true, false} {
		add := func(keys [][]byte) error { return b.AddUniverse(keys) }
		if members {
			add = func(keys [][]byte) error { return b.AddMembers(keys) }
		}
		check(t, d.batches(members, func(keys [][]byte, _ []int) error { return add(keys) }))
	}
	return b
}

// wrong returns the number of wrong answers for all keys of the universe.
func (d *daily) wrong(t *testing.T, s *Set) (n int) {
	t.Helper()
	got := make([]bool, feedBatch)
	err := d.batches(false, func(keys [][]byte, positions []int) error {
		s.ContainsMany(got[:len(keys)], keys)
		for i, at := range positions {
			if got[i] != d.member[at] {
				n++
			}
		}
		return nil
	})
	check(t, err)
	return n
}

// TestUpdateDays changes 0.1% of the members each day, half of them removed and half added, without or with 0.2% of the
// universe replaced by new keys. It compares the updates with the entropy of the change and with a full build. With
// -long -v it prints the table of docs/guides/exact.md.
func TestUpdateDays(t *testing.T) {
	type run struct {
		n, days  int
		density  float64
		replaced float64
	}
	runs := []run{{50_000, 3, .1, .002}, {100_000, 3, .1, 0}}
	if *long {
		runs = nil
		for _, n := range []int{1_000_000, 10_000_000} {
			for _, density := range []float64{.01, .1} {
				runs = append(runs, run{n, 30, density, 0}, run{n, 30, density, .002})
			}
		}
	}
	for _, r := range runs {
		t.Run(fmt.Sprintf("%d,%g,%g", r.n, r.density, r.replaced), func(t *testing.T) {
			if *daysOnly != "" && *daysOnly != fmt.Sprintf("%d,%g,%g", r.n, r.density, r.replaced) {
				return
			}
			start := time.Now()
			d := newDaily(r.n, int(float64(r.n)*r.density))
			s := must(d.builder(t, Config{}).Build(t.Context()))
			base := s.Info()
			changes := int(float64(r.n) * r.density / 1000)
			var sum changed
			for day := range r.days {
				for range (changes + 1) / 2 {
					d.remove()
					d.add()
				}
				for range int(float64(r.n) * r.replaced) {
					d.replace()
				}
				next := must(d.builder(t, Config{Base: s}).Build(t.Context()))
				s = next
				u := s.Info().Changed
				sum.Added, sum.Removed = sum.Added+u.Added, sum.Removed+u.Removed
				sum.Bytes, sum.Entropy = sum.Bytes+u.Bytes, sum.Entropy+u.Entropy
				if n := d.wrong(t, s); n > 0 {
					t.Fatalf("day %d: %d wrong answers", day, n)
				}
			}
			days := float64(r.days)
			entropy := days * toBits(log2Choose(uint64(r.n), uint64(changes))) / 8
			fresh := must(d.builder(t, Config{}).Build(t.Context()))
			t.Logf("%d keys, %g members, %g replaced: base %d bytes; a day: %d changes, %.1f toggled, update %.1f, "+
				"delta %.1f, entropy of the changes %.1f, of the toggled %.1f; after %d days: file %d, fresh %d, "+
				"wrong 0; %.0f s",
				r.n, r.density, r.replaced, base.Bytes, changes, float64(sum.Added+sum.Removed)/days,
				float64(sum.Bytes)/days, float64(sum.Bytes)/days+24, entropy/days, sum.Entropy/days/8, r.days,
				s.Info().Bytes, fresh.Info().Bytes, time.Since(start).Seconds())
			if most := sum.Entropy/8*1.2 + 60*days; float64(sum.Bytes) > most {
				t.Errorf("updates of %d bytes, want at most %.0f", sum.Bytes, most)
			}
		})
	}
}
