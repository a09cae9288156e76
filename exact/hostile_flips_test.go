package exact

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestCutsAndFlips truncates, mixes and extends sets with updates, and flips their bits. Each result must be refused or
// give the same answers. With -long, the test tries 2,000 changes.
func TestCutsAndFlips(t *testing.T) {
	const seed = 28
	rounds := 300
	if *long {
		rounds = 2000
	}
	r := rand.New(rand.NewPCG(seed, 7))
	type subject struct {
		list *list
		data []byte
		ends []int // the ends of records
	}
	var all []subject
	for i := range 6 {
		l := newList(uint64(100+i), 1500, 30+200*(i%3))
		s := l.build(t, i%2 == 1)
		for day := range i % 4 {
			l.change(3<<(2*day), 0)
			s, _ = l.update(t, s)
		}
		sizes := must(s.writeRecords(io.Discard))
		one := subject{list: l, data: bytesOf(t, s)}
		for end, i := 0, 0; i < len(sizes); i++ {
			end += int(sizes[i])
			one.ends = append(one.ends, end)
		}
		all = append(all, one)
	}

	refused, same := 0, 0
	for range rounds {
		one, other := all[r.IntN(len(all))], all[r.IntN(len(all))]
		bad := bytes.Clone(one.data)
		end := one.ends[r.IntN(len(one.ends))]
		switch r.IntN(7) {
		case 0:
			bad = bad[:r.IntN(len(bad))]
		case 1:
			bad = bad[:end]
		case 2:
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		case 3:
			from := r.IntN(len(bad))
			clear(bad[from:min(len(bad), from+1+r.IntN(40))])
		case 4:
			bad = append(bad, other.data[r.IntN(len(other.data)):]...)
		case 5:
			bad = append(bad[:end], other.data[other.ends[r.IntN(len(other.ends))]:]...)
		case 6:
			bad = append(bad[:r.IntN(len(bad))], make([]byte, r.IntN(40))...)
		}
		s, err := FromBytes(bad)
		switch {
		case err == nil && one.list.wrong(s) == 0:
			same++
		case err == nil:
			t.Fatalf("seed %d: %d bytes of %d give wrong answers", seed, len(bad), len(one.data))
		case !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, filter.ErrCorrupt) &&
			!errors.Is(err, filter.ErrChecksum) && !errors.Is(err, filter.ErrMagic) &&
			!errors.Is(err, filter.ErrVersion) && !errors.Is(err, filter.ErrHash):
			t.Fatalf("seed %d: %v", seed, err)
		default:
			refused++
		}
	}
	t.Logf("seed %d: %d refused, %d with the same answers", seed, refused, same)
	if refused < rounds/2 {
		t.Errorf("%d of %d refused", refused, rounds)
	}
}
