package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/bloomery/bloomery/exact"
)

// damager damages files of one kind of filter after another.
type damager struct {
	*trial
	r     *rand.Rand
	other []byte // the previous file, for splices
}

// mostDamagedKeys is the largest number of keys of a filter that is damaged.
const mostDamagedKeys = 1500

// eachDamaged is the number of damaged files of one filter.
const eachDamaged = 25

// damage damages n files and queries all readers about them.
func (t *trial) damage(ctx context.Context, n int) error {
	d := &damager{trial: t, r: generator(t.seed, -1)}
	for number := t.first; t.report.Damaged < n; number++ {
		s, err := t.newSubject(ctx, t.seed^1, number, mostDamagedKeys, 300)
		if err != nil {
			return err
		}
		if s.plan.shards > 0 {
			err = d.sharded(ctx, s)
		} else {
			err = d.single(ctx, s, min(eachDamaged, n-t.report.Damaged))
		}
		if err != nil {
			return err
		}
		t.progress("%d of %d damaged files", t.report.Damaged, n)
		if err := os.RemoveAll(s.path); err != nil {
			return err
		}
	}
	return nil
}

// kinds are the ways to damage a file.
var kinds = []struct {
	name string
	// do returns the damaged file. It may change b, a copy of the file.
	do func(d *damager, b []byte) []byte
}{
	{"bits", (*damager).bits},
	{"bits" + andMended, (*damager).bits},
	{"bits of sections" + andMended, (*damager).sectionBits},
	{"bits of sections" + andMended, (*damager).sectionBits},
	{"last bits" + andMended, (*damager).lastBits},
	{"words of sections" + andMended, (*damager).sectionWords},
	{"header field", (*damager).headerField},
	{"header field" + andMended, (*damager).headerField},
	{"table field" + andMended, (*damager).tableField},
	{"cut", func(d *damager, b []byte) []byte { return b[:d.r.IntN(len(b))] }},
	{"cut" + andMended, (*damager).cutToLength},
	{"bytes behind", func(d *damager, b []byte) []byte { return append(b, make([]byte, 1+d.r.IntN(100))...) }},
	{"splice", (*damager).splice},
	{"splice" + andMended, (*damager).splice},
	{"sections exchanged", (*damager).exchange},
	{"spec", (*damager).spec},
	{"spec", (*damager).spec},
	{"spec with its sections", (*damager).specWithSections},
	{"spec with its sections", (*damager).specWithSections},
	{"number of keys" + andMended, (*damager).keys},
}

// andMended is the suffix of kinds after which the checksums are recomputed.
const andMended = ", mended"

// single damages one file n times.
func (d *damager) single(ctx context.Context, s *subject, n int) error {
	file, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	if d.other == nil {
		d.other = file
	}
	for range n {
		kind := kinds[d.r.IntN(len(kinds))]
		changed := kind.do(d, bytes.Clone(file))
		if strings.HasSuffix(kind.name, andMended) {
			mend(changed)
		}
		if err := d.check(ctx, s, s.path, changed, kind.name); err != nil {
			return err
		}
	}
	d.other = file
	return nil
}

// check writes a damaged file and queries all readers. Either all must refuse the file, or all must give the same
// answers.
func (d *damager) check(ctx context.Context, s *subject, path string, damaged []byte, how string) error {
	t := d.trial
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		return err
	}
	if err := s.relook(); err != nil {
		return t.fault(s, "%s: the library: %v", how, err)
	}
	all, replies, errs, err := t.ask(ctx, s)
	if err != nil {
		return err
	}
	t.report.Damaged++
	faults := len(t.report.Faults)
	var refused, accepted []string
	for i, r := range all {
		switch {
		case errs[i] != nil:
			if err := t.fault(s, "%s: %s: %v", how, r.name(), errs[i]); err != nil {
				return err
			}
		case replies[i].refused != "":
			refused = append(refused, r.name()+": "+replies[i].refused)
		default:
			accepted = append(accepted, r.name())
		}
	}
	if len(refused) > 0 && len(accepted) > 0 {
		by, not := strings.Join(accepted, ", "), strings.Join(refused, "; ")
		return t.fault(s, "%s: accepted by %s, refused by %s", how, by, not)
	}
	for i := range all {
		if errs[i] == nil && errs[0] == nil && len(accepted) > 0 {
			if err := t.same(s, all[i].name(), replies[0], replies[i]); err != nil {
				return err
			}
		}
	}
	if len(t.report.Faults) > faults {
		return nil
	}
	n := t.report.ByDamage[how]
	if len(accepted) > 0 {
		t.report.Accepted++
		n[1]++
	} else {
		t.report.Refused++
		n[0]++
	}
	t.report.ByDamage[how] = n
	return nil
}

// relook reads the properties of the damaged file with the library, if it can be read, so that the command is queried
// for counts and values. It returns an error if the library panics.
func (s *subject) relook() (err error) {
	defer recovered(&err)
	s.counts, s.values = false, false
	secret, err := s.secretBytes()
	if err != nil {
		return err
	}
	if s.exact {
		if set, openErr := exact.Open(context.Background(), s.path, exact.WithSecret(secret)); openErr == nil {
			s.partitioned = set.Info().Partitions > 0
		}
	} else if s.look(secret) != nil {
		s.spec = "damaged"
	}
	return nil
}

// bits inverts a few bits.
func (d *damager) bits(b []byte) []byte {
	for range 1 + d.r.IntN(4) {
		b[d.r.IntN(len(b))] ^= 1 << d.r.IntN(8)
	}
	return b
}

// place returns the place of a random section that is not empty.
func (d *damager) place(b []byte) (offset, length int) {
	le := binary.LittleEndian
	for n := int(b[14]); ; {
		entry := b[headerBytes+entryBytes*d.r.IntN(n):]
		if offset, length = int(le.Uint64(entry)), int(le.Uint64(entry[8:])); length > 0 {
			return offset, length
		}
	}
}

// sectionBits inverts a few bits of a section.
func (d *damager) sectionBits(b []byte) []byte {
	offset, length := d.place(b)
	for range 1 + d.r.IntN(3) {
		b[offset+d.r.IntN(length)] ^= 1 << d.r.IntN(8)
	}
	return b
}

// lastBits inverts a bit of the last word of a section, where padding is.
func (d *damager) lastBits(b []byte) []byte {
	offset, length := d.place(b)
	b[offset+length-1-d.r.IntN(16)&(length-1)] ^= 1 << d.r.IntN(8)
	return b
}

// interesting returns a number that a reader may not expect.
func (d *damager) interesting(near uint64) uint64 {
	switch d.r.IntN(6) {
	case 0:
		return near + uint64(d.r.IntN(5)) - 2
	case 1:
		return 1<<d.r.IntN(64) + uint64(d.r.IntN(3)) - 1
	case 2:
		return math.MaxUint64 - uint64(d.r.IntN(70))
	case 3:
		return uint64(d.r.IntN(70))
	case 4:
		return near ^ 1<<d.r.IntN(64)
	}
	return d.r.Uint64() >> d.r.IntN(64)
}

// sectionWords overwrites words of a section.
func (d *damager) sectionWords(b []byte) []byte {
	offset, length := d.place(b)
	le := binary.LittleEndian
	for range 1 + d.r.IntN(3) {
		at := b[offset+8*d.r.IntN(length/8):]
		le.PutUint64(at, []uint64{0, math.MaxUint64, d.r.Uint64(), d.interesting(le.Uint64(at))}[d.r.IntN(4)])
	}
	return b
}

// headerField overwrites a field of the header.
func (d *damager) headerField(b []byte) []byte {
	fields := []struct{ at, size int }{
		{0, 8}, {8, 2}, {10, 2}, {12, 2}, {14, 1}, {15, 1}, {16, 8}, {24, 8}, {32, 8}, {40, 8}, {48, 8}, {56, 4}, {60, 4},
	}
	f := fields[d.r.IntN(len(fields))]
	d.overwrite(b[f.at:][:f.size])
	return b
}

// overwrite overwrites a little-endian number.
func (d *damager) overwrite(field []byte) {
	var w [8]byte
	copy(w[:], field)
	binary.LittleEndian.PutUint64(w[:], d.interesting(binary.LittleEndian.Uint64(w[:])))
	copy(field, w[:])
}

// tableField overwrites a field of the section table.
func (d *damager) tableField(b []byte) []byte {
	n := int(b[14])
	fields := []struct{ at, size int }{{0, 8}, {8, 8}, {20, 4}}
	f := fields[d.r.IntN(len(fields))]
	d.overwrite(b[headerBytes+entryBytes*d.r.IntN(n)+f.at:][:f.size])
	return b
}

// cutToLength truncates the file and corrects the length in the header.
func (d *damager) cutToLength(b []byte) []byte {
	b = b[:d.r.IntN(len(b))]
	if len(b) >= headerBytes {
		binary.LittleEndian.PutUint64(b[40:], uint64(len(b)))
	}
	return b
}

// splice overwrites bytes with bytes of the previous file, or of another place of the file.
func (d *damager) splice(b []byte) []byte {
	from := d.other
	if d.r.IntN(2) == 0 {
		from = bytes.Clone(b)
	}
	n := 1 + d.r.IntN(min(len(from), len(b)))
	if d.r.IntN(2) == 0 {
		at := d.r.IntN(min(len(from), len(b)) - n + 1) // the same place
		copy(b[at:], from[at:][:n])
	} else {
		copy(b[d.r.IntN(len(b)-n+1):], from[d.r.IntN(len(from)-n+1):][:n])
	}
	return b
}

// exchange exchanges, repeats or omits sections, or takes a section from the previous file.
func (d *damager) exchange(b []byte) []byte {
	p, q := takeApart(b), takeApart(d.other)
	i, j := d.r.IntN(len(p.sections)), d.r.IntN(len(p.sections))
	switch d.r.IntN(4) {
	case 0:
		p.sections[i], p.sections[j] = p.sections[j], p.sections[i]
	case 1:
		p.sections = append(p.sections, p.sections[i])
	case 2:
		p.sections = append(p.sections[:i], p.sections[i+1:]...)
	default:
		p.sections[i] = q.sections[d.r.IntN(len(q.sections))]
	}
	return p.join()
}

// keys changes the number of keys.
func (d *damager) keys(b []byte) []byte {
	d.overwrite(b[32:40])
	return b
}
