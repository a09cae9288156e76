package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/sums"
)

// used returns the number of bits of a section that can be set in some filter of its Spec, as the page of the family in
// docs/format says. ok is false if the page knows no spare bits at the end of the section.
func used(p *plain, section int) (bits uint64, ok bool) {
	switch n := p.number; p.spec.Family() {
	case "standard":
		return n("m"), true
	case "fuse":
		return (n("segments") + 2) * n("segment") * n("width"), true
	case "partitioned":
		return [3]uint64{n("shards") * n("bits"), n("shards") * n("groups") * n("k") * n("width"), 128}[section], true
	case "twochoice":
		return [2]uint64{n("shards") * n("bits"), 128}[section], true
	case "counting":
		return 4 * n("m"), true
	case "ribbon":
		return ribbonBits(p)[section], true
	case "bitsandblooms":
		return max(n("m"), n("length")), true
	case "redisbloom":
		return [2]uint64{8 * (20 + 53*n("links")), 64 * n("words")}[section], true
	}
	return 0, false
}

// TestSpareBits sets each of the bits after the last one of a section, under a right checksum: every reader must refuse
// it, because no query would notice.
func TestSpareBits(t *testing.T) {
	le, o := binary.LittleEndian, reading{Secret: &secret}
	tried := map[string]int{}
	for _, path := range append(glob(t, "testdata/*.bloom", 30), glob(t, "testdata/vectors/*.bloom", 60)...) {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h, err := readHeader(bytes.NewReader(file), false)
		if err != nil {
			t.Fatal(err)
		}
		p := &plain{spec: h.Spec}
		for i, section := range h.sections[:len(h.words())] {
			from, ok := used(p, i)
			if !ok {
				continue
			}
			for bit := from; bit < 8*section.length; bit++ {
				edited := forge(file, func(b []byte) {
					b[section.offset+bit/8] |= 1 << (bit % 8)
					crc := sums.CRC(b[section.offset:][:section.length])
					le.PutUint32(b[headerSize+sectionSize*i+16:], crc)
				})
				if _, err := filterFromBytes(edited, o); !errors.Is(err, filter.ErrCorrupt) {
					t.Errorf("%s: bit %d of section %d, after the last one: %v", filepath.Base(path), bit, i, err)
				}
				tried[h.Spec.Family()]++
			}
		}
	}
	if len(tried) < 8 {
		t.Errorf("only these families have spare bits: %v", tried)
	}
}
