package exact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/sums"
)

// chain returns a list and its set with an update of each kind: positions, a set, and only counts.
func chain(t *testing.T) (*list, *Set) {
	t.Helper()
	l := newList(7, 2000, 200)
	s := l.build(t, false)
	for _, change := range []int{3, 100, 0} {
		if l.change(change, 0); change == 0 {
			i := slices.IndexFunc(l.keys, func(k string) bool { return !l.member[k] })
			l.keys = slices.Delete(l.keys, i, i+1)
		}
		var u changed
		if s, u = l.update(t, s); u.Positions != (change < 100) || u.Bytes == 0 {
			t.Fatalf("%d changes: %+v", change, u)
		}
	}
	return l, s
}

// TestUpdateDamage checks that every flipped byte and every truncation of the updates is an error. Updates in another
// order, repeated updates, and updates of another set are errors, too, with or without a matching trailer.
func TestUpdateDamage(t *testing.T) {
	_, s := chain(t)
	data := bytesOf(t, s)
	sizes := must(s.writeRecords(io.Discard))
	var ends []int
	for at, i := 0, 0; i < len(sizes); i++ {
		at += int(sizes[i])
		ends = append(ends, at)
	}
	if ends[3]+container.ExactTrailerSize != len(data) {
		t.Fatalf("%d bytes, records end at %d", len(data), ends)
	}
	for n := ends[0]; n < len(data); n++ {
		if _, err := FromBytes(slices.Clone(data[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		for _, x := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(data)
			bad[n] ^= x
			if _, err := FromBytes(bad); err == nil {
				t.Errorf("byte %d XOR %#x: no error", n, x)
			}
		}
	}
	record := func(i int) []byte { return data[ends[i-1]:ends[i]] }
	for what, bad := range map[string][]byte{
		"another order":      slices.Concat(data[:ends[0]], record(2), record(1)),
		"one is missing":     slices.Concat(data[:ends[1]], record(3)),
		"twice":              slices.Concat(data[:ends[3]], record(3)),
		"no base":            record(1),
		"two bases":          slices.Concat(data[:ends[0]], data[:ends[0]]),
		"the base of others": slices.Concat(recordsOf(t, newList(8, 2000, 200).build(t, false)), record(1)),
	} {
		end := container.ExactTrailer{Length: uint64(len(bad)) + container.ExactTrailerSize}
		for ; int(end.Updates) < len(ends); end.Updates++ {
			sealed := end.Append(slices.Clone(bad), binary.LittleEndian.Uint32(bad[len(bad)-4:]))
			if _, err := FromBytes(sealed); !errors.Is(err, filter.ErrCorrupt) {
				t.Errorf("%s, with a trailer: %v", what, err)
			}
		}
		if _, err := FromBytes(bad); !errors.Is(err, filter.ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// recordsOf returns the file of a set without its trailer.
func recordsOf(t *testing.T, s *Set) []byte {
	t.Helper()
	b := must(container.ExactRecords(bytesOf(t, s)))
	return b
}

// TestUpdateHostile checks that an update by positions with correct checksums and wrong content is refused without a
// large allocation.
func TestUpdateHostile(t *testing.T) {
	base := recordsOf(t, newList(9, 100, 10).build(t, false))
	for what, c := range map[string]struct {
		count, bits, seed uint64
		body              []byte
		err               error
	}{
		"good":               {1, 8, 0, []byte{0}, nil},
		"unused bits":        {1, 6, 0, []byte{0x80}, filter.ErrCorrupt},
		"too many":           {maxPositions + 1, 20, 0, make([]byte, 20_000), filter.ErrCorrupt},
		"more than the file": {maxPositions, 20, 0, []byte{1, 2, 3}, io.ErrUnexpectedEOF},
		"no bits":            {1, 0, 0, []byte{0}, filter.ErrCorrupt},
		"65 bits":            {1, 65, 0, make([]byte, 9), filter.ErrCorrupt},
		"the seed":           {1, 8, 1 << 16, []byte{0}, filter.ErrCorrupt},
		"the range":          {2, 3, 0, []byte{0xff, 0xff}, filter.ErrCorrupt},
		"no end":             {1, 64, 0, bytes.Repeat([]byte{0xff}, 100), filter.ErrCorrupt},
	} {
		r := record{kind: kindPositions, universe: 100, members: 10, positions: &positions{}}
		b := r.appendStart(nil, place{previous: binary.LittleEndian.Uint32(base[len(base)-4:])})
		b = append(appendUvarints(b, c.count, c.bits, c.seed), c.body...)
		crc := sums.CRC(b)
		b = slices.Concat(base, binary.LittleEndian.AppendUint32(b, crc))
		b = container.ExactTrailer{Length: uint64(len(b)) + container.ExactTrailerSize, Updates: 1}.Append(b, crc)
		if _, err := FromBytes(b); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", what, err, c.err)
		}
	}
}

// TestPositions writes positions of all widths and checks that reading returns the same positions.
func TestPositions(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for width := uint(1); width <= 64; width++ {
		for _, n := range []int{1, 2, 3, 17, 64, 500} {
			top := ^uint64(0) >> (64 - width)
			if uint64(n-1) > top {
				continue
			}
			set := map[uint64]bool{top: true}
			for len(set) < n {
				set[random.Uint64()&top] = true
			}
			p := &positions{bits: width}
			for v := range set {
				p.list = append(p.list, v)
			}
			slices.Sort(p.list)
			b := append(p.appendTo(nil), 0xaa)
			got, size, err := readPositions(b, n, width)
			if err != nil || size != len(b)-1 || !slices.Equal(got, p.list) {
				t.Fatalf("%d positions of %d bits: %d bytes of %d, %v", n, width, size, len(b), err)
			}
			if most := n * (int(width) - bits.Len(uint(n)) + 4); 8*(size-1) > max(most, 0)+3*n {
				t.Errorf("%d positions of %d bits in %d bytes", n, width, size)
			}
			if _, _, err := readPositions(b[:size-1], n, width); err == nil {
				t.Errorf("%d positions of %d bits: cut, and no error", n, width)
			}
		}
	}
}

// TestUpdateSizes checks that the size of an update is close to the entropy of the change, for any number of toggled
// keys.
func TestUpdateSizes(t *testing.T) {
	const n = 50_000
	d := newDaily(n, 0)
	empty := must(d.builder(t, Config{}).Build(t.Context()))
	for _, toggled := range []int{1, 3, 10, 30, 60, 100, 300, 1000, 10_000} {
		for len(d.members) < toggled {
			d.add()
		}
		s := must(d.builder(t, Config{Base: empty}).Build(t.Context()))
		u := s.Info().Changed
		if u.Added != uint64(toggled) {
			t.Fatalf("%+v", u)
		}
		t.Logf("%d toggled: %d bytes, positions %t, entropy %.1f", toggled, u.Bytes, u.Positions, u.Entropy/8)
		if most := 45 + 1.2*u.Entropy/8; float64(u.Bytes) > most {
			t.Errorf("%d toggled: %d bytes, want at most %.0f", toggled, u.Bytes, most)
		}
		if n := d.wrong(t, s); n > 0 {
			t.Errorf("%d toggled: %d wrong answers", toggled, n)
		}
	}
}
