package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/sums"
)

// TestShortForeign checks that the error for input shorter than a header is filter.ErrMagic if the magic differs, else
// io.ErrUnexpectedEOF.
func TestShortForeign(t *testing.T) {
	const magic = "\x89BLMRY\r\n"
	for text, want := range map[string]error{
		"":                                       io.ErrUnexpectedEOF,
		"\x89":                                   io.ErrUnexpectedEOF,
		magic:                                    io.ErrUnexpectedEOF,
		magic + strings.Repeat("\x00", 55):       io.ErrUnexpectedEOF,
		"a":                                      filter.ErrMagic,
		"\x89a":                                  filter.ErrMagic,
		magic[:7] + "\r":                         filter.ErrMagic,
		"example.com\n":                          filter.ErrMagic,
		strings.Repeat("a line of keys\n", 4):    filter.ErrMagic, // 60 bytes
		strings.Repeat("a line of keys\n", 1000): filter.ErrMagic,
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(strings.NewReader(text), Options{})
		_, inMemory := ReadFile(path, Options{})
		_, _, mapped := Map(path, Options{})
		for how, err := range map[string]error{"Read": err, "ReadFile": inMemory, "Open": mapped} {
			if !errors.Is(err, want) {
				t.Errorf("%s of %.20q: %v, want %v", how, text, err, want)
			}
		}
	}
	// The error of the reader is returned, unless the bytes so far show another format.
	broken := errors.New("broken")
	for text, want := range map[string]error{"": broken, "\x89BL": broken, "abc": filter.ErrMagic} {
		r := io.MultiReader(strings.NewReader(text), failing{broken})
		if _, err := Read(r, Options{}); !errors.Is(err, want) {
			t.Errorf("%q and a broken reader: %v, want %v", text, err, want)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestReadPlaces reads the places of the sections of every sample from the header alone and compares them with the
// sections. It also truncates the header.
func TestReadPlaces(t *testing.T) {
	for _, s := range samples(t) {
		want, err := Read(bytes.NewReader(s.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		head := s.file[:min(len(s.file), MaxHeader)]
		f, places, err := ReadPlaces(bytes.NewReader(head), Options{})
		if err != nil || len(places) != len(want.stored()) || f.Bytes != uint64(len(s.file)) || f.Sections != nil {
			t.Fatalf("%s: %d places, %+v, %v", s.name, len(places), f, err)
		}
		for i, p := range places {
			words := bytes.Clone(bitvec.Bytes(want.stored()[i]))
			if !bitvec.LittleEndian {
				copied := append([]uint64(nil), want.stored()[i]...)
				bitvec.FixOrder(copied)
				words = bitvec.Bytes(copied)
			}
			if !bytes.Equal(s.file[p.Offset:][:p.Bytes], words) {
				t.Errorf("%s: section %d is not at %+v", s.name, i, p)
			}
		}
		for n := range places[0].Offset {
			if _, _, err := ReadPlaces(bytes.NewReader(head[:n]), Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: cut to %d bytes: %v", s.name, n, err)
			}
		}
		for i := range int(places[0].Offset) {
			b := bytes.Clone(head)
			b[i] ^= 0x10
			if _, _, err := ReadPlaces(bytes.NewReader(b), Options{}); err == nil {
				t.Fatalf("%s: byte %d changed: no error", s.name, i)
			}
		}
	}
	if MaxHeader != 768 {
		t.Errorf("MaxHeader is %d: requests for headers grew", MaxHeader)
	}
}

// TestExactRecords checks that the file of an exact set must end with a trailer for its length.
func TestExactRecords(t *testing.T) {
	records := []byte("\x89BLX\x01 some records")
	crc := [4]byte{1, 2, 3, 4}
	records = append(records, crc[:]...)
	end := ExactTrailer{Length: uint64(len(records)) + ExactTrailerSize, Updates: 7}
	file := end.Append(bytes.Clone(records), 0x04030201)
	if got, err := ExactRecords(file); err != nil || !bytes.Equal(got, records) {
		t.Errorf("%q, %v", got, err)
	}
	got, err := ReadExactTrailer(file[len(records):], 0x04030201)
	if want := (ExactTrailer{uint64(len(file)), 7}); err != nil || got != want {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	if _, err := ReadExactTrailer(file[len(records):], 0x04030200); !errors.Is(err, filter.ErrChecksum) {
		t.Errorf("another record: %v", err)
	}
	for n := range file {
		if _, err := ExactRecords(file[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		if n >= len(records) {
			flipped := bytes.Clone(file)
			flipped[n] ^= 1
			if _, err := ExactRecords(flipped); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("byte %d flipped: %v", n, err)
			}
		}
	}
	if _, err := ExactRecords(append(bytes.Clone(file), 0)); err == nil {
		t.Error("a byte behind the trailer is ignored")
	}
}

// used returns the number of bits of a section that can be set in some filter of its Spec, as the page of the family in
// docs/format says. ok is false if the page describes no spare bits at the end of the section.
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

// TestSpareBits sets each bit after the last used bit of a section, with a correct checksum. Every reader must refuse
// the file, because no query would detect the change.
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
		for i, section := range h.sections[:len(h.sectionWords())] {
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

func TestEveryTruncation(t *testing.T) {
	for _, s := range samples(t) {
		for n := range s.file {
			damaged(t, fmt.Sprintf("%s cut at %d", s.name, n), s.file[:n], s.options())
		}
	}
}

func TestEveryFlippedBit(t *testing.T) {
	for _, s := range samples(t) {
		file := bytes.Clone(s.file)
		for i := range 8 * len(file) {
			file[i/8] ^= 1 << (i % 8)
			damaged(t, fmt.Sprintf("%s with bit %d flipped", s.name, i), file, s.options())
			file[i/8] ^= 1 << (i % 8)
		}
	}
}

// TestEveryFlippedBitMended flips bits of sections and corrects the checksums. Reading must return an error or a filter
// with these bits.
func TestEveryFlippedBitMended(t *testing.T) {
	le := binary.LittleEndian
	for _, s := range samples(t) {
		h, err := readHeader(bytes.NewReader(s.file), false)
		if err != nil {
			t.Fatal(err)
		}
		read, refused := 0, 0
		for i, section := range h.sections {
			for bit := range 8 * section.length {
				file := forge(s.file, func(b []byte) {
					b[section.offset+bit/8] ^= 1 << (bit % 8)
					le.PutUint32(b[headerSize+sectionSize*i+16:], sums.CRC(b[section.offset:][:section.length]))
				})
				got, err := readFilter(bytes.NewReader(file), limit, s.options())
				if err != nil {
					refused++
					if got != nil || !errors.Is(err, filter.ErrCorrupt) {
						t.Fatalf("%s, bit %d of section %d: %v", s.name, bit, i, err)
					}
					continue
				}
				read++
				for _, m := range members(s.hasher) {
					got.Filter.Has(m)
				}
				if again, err := asRead(got); err != nil || !bytes.Equal(again, file) {
					t.Fatalf("%s, bit %d of section %d: written otherwise than it was read: %v", s.name, bit, i, err)
				}
			}
		}
		t.Logf("%s: %d read, %d refused", s.name, read, refused)
	}
}

func TestForgedHeaders(t *testing.T) {
	s := samples(t)[0]
	le := binary.LittleEndian
	rate := func(v float64) func([]byte) {
		return func(b []byte) { le.PutUint64(b[48:], math.Float64bits(v)) }
	}
	for what, c := range map[string]struct {
		want   error
		change func([]byte)
	}{
		"magic":         {filter.ErrMagic, func(b []byte) { b[0] = 'B' }},
		"version":       {filter.ErrVersion, func(b []byte) { b[8] = 2 }},
		"version 0":     {filter.ErrCorrupt, func(b []byte) { b[8] = 0 }},
		"no exceptions": {filter.ErrCorrupt, func(b []byte) { b[15] = 1 }},
		"second flag":   {filter.ErrVersion, func(b []byte) { b[15] = 2 }},
		"last flag":     {filter.ErrVersion, func(b []byte) { b[15] = 129 }},
		"form flag":     {filter.ErrVersion, func(b []byte) { b[24] = 4 }},
		"form type":     {filter.ErrVersion, func(b []byte) { b[25] = 11 }},
		"no width":      {filter.ErrVersion, func(b []byte) { b[25] = 10 }},
		"form":          {nil, func(b []byte) { copy(b[24:], "\x03\x09\x02\x10") }},
		"reserved":      {filter.ErrVersion, func(b []byte) { b[28] = 1 }},
		"reserved end":  {filter.ErrVersion, func(b []byte) { b[31] = 128 }},
		"rate below 1":  {nil, rate(math.Nextafter(1, 0))},
		"rate 1":        {filter.ErrCorrupt, rate(1)},
		"rate 2":        {filter.ErrCorrupt, rate(2)},
		"rate -0.01":    {filter.ErrCorrupt, rate(-0.01)},
		"rate -0":       {filter.ErrCorrupt, rate(math.Copysign(0, -1))},
		"infinite rate": {filter.ErrCorrupt, rate(math.Inf(1))},
		"rate NaN":      {filter.ErrCorrupt, rate(math.NaN())},
		"family":        {filter.ErrFamily, func(b []byte) { b[10] = 99 }},
		"other family":  {filter.ErrCorrupt, func(b []byte) { b[10] = 2 }},
		"hash":          {filter.ErrHash, func(b []byte) { b[12] = 10 }},
		"no section":    {filter.ErrCorrupt, func(b []byte) { b[14] = 0 }},
		"many sections": {filter.ErrCorrupt, func(b []byte) { b[14] = 255 }},
		"no check":      {filter.ErrCorrupt, func(b []byte) { b[12] = 2; le.PutUint64(b[16:], 0) }},
		"length":        {filter.ErrCorrupt, func(b []byte) { le.PutUint64(b[40:], 1<<63) }},
		"spec length":   {filter.ErrCorrupt, func(b []byte) { le.PutUint32(b[56:], 1<<31) }},
		"offset":        {filter.ErrCorrupt, func(b []byte) { le.PutUint64(b[64:], 1<<40) }},
		"size":          {filter.ErrCorrupt, func(b []byte) { le.PutUint64(b[72:], 1<<62) }},
		"spec":          {filter.ErrCorrupt, func(b []byte) { copy(b[88:], "standard(k=7,m=9999)") }},
		"spec order":    {filter.ErrCorrupt, func(b []byte) { copy(b[88:], "standard(m=400,k=7)") }},
		"table":         {filter.ErrCorrupt, func(b []byte) { b[84] = 1 }},
		"half a word":   {filter.ErrCorrupt, func(b []byte) { b[72] += 4; b[40] += 4 }},
		"huge spec":     {filter.ErrCorrupt, func(b []byte) { copy(b[88:], "standard(k=7,m=4e8)x") }},
		"foreign":       {filter.ErrCorrupt, func(b []byte) { b[12] = 3; le.PutUint64(b[16:], 0) }},
		"foreign seed":  {filter.ErrCorrupt, func(b []byte) { b[12] = 3 }},
		"keyed":         {filter.ErrSecret, func(b []byte) { b[12] = 2 }},
	} {
		_, err := readFilter(bytes.NewReader(forge(s.file, c.change)), limit, reading{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	// A set bit after m, with a correct checksum.
	b := bytes.Clone(s.file)
	b[len(b)-1] |= 0x80
	at := alignUp(uint64(headerSize + sectionSize + len(s.filter.Info().Spec.String())))
	b = forge(b, func(b []byte) { le.PutUint32(b[80:], sums.CRC(b[at:])) })
	if _, err := readFilter(bytes.NewReader(b), limit, reading{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("bit behind m: %v", err)
	}
}

// TestAllocationBomb reads valid headers that state far more data than follows.
func TestAllocationBomb(t *testing.T) {
	for spec, id := range map[string]uint16{"standard(k=7,m=34359738368)": 1, "blocked(blocks=67108864,k=7,layout=line)": 2, "fuse(seed=1,segment=262144,segments=4096,width=32)": 3} {
		s, err := filter.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		f := families.All()[id-1]
		words, err := f.SectionWords(s)
		if err != nil {
			t.Fatal(err)
		}
		h := &header{File: File{Family: f.ID, Hash: filter.XXH3, Encoded: family.Encoded{Spec: s}}}
		h.sections, h.dataAt, h.Bytes, _ = layout(len(spec), words)
		file := append(h.marshal(), make([]byte, 1000)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = readFilter(bytes.NewReader(file), 1<<40, reading{})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", spec, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 9<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", spec, n, len(file))
		}
		if _, err := readFilter(bytes.NewReader(file), 1<<20, reading{}); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s over the limit: %v", spec, err)
		}
	}
}

// TestReadAllocates checks the memory of Read against its documented bounds, for whole and truncated files.
func TestReadAllocates(t *testing.T) {
	for _, mib := range []uint64{1, 9, 17, 33} {
		f, err := standard.New(standard.Config{Bits: mib << 23, K: 1})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeFilter(&b, f, filter.NewHasher(0), 0); err != nil {
			t.Fatal(err)
		}
		for _, part := range []float64{0, 0.3, 0.6, 1} {
			file := b.Bytes()[:headerSize+int(part*float64(b.Len()-headerSize))]
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readFilter(bytes.NewReader(file), uint64(b.Len()), reading{})
			runtime.ReadMemStats(&after)
			if (err == nil) != (part == 1) {
				t.Errorf("%d MiB, %g of it: %v", mib, part, err)
			}
			const slack = 1 << 16
			if n := after.TotalAlloc - before.TotalAlloc; n > 3*uint64(len(file))+8<<20+slack || n > mib<<20*3/2+8<<20+slack {
				t.Errorf("%d MiB, %g of it: %d bytes allocated", mib, part, n)
			}
		}
	}
}

func TestSecret(t *testing.T) {
	s := samples(t)[1]
	for _, o := range []reading{{}, {Secret: &filter.Secret{9}}} {
		if _, err := readFilter(bytes.NewReader(s.file), limit, o); !errors.Is(err, filter.ErrSecret) {
			t.Errorf("wrong secret: %v", err)
		}
	}
	if bytes.Contains(s.file, secret[:]) {
		t.Error("the secret stands in the file")
	}
}

// TestReadPipe reads a file that has no size.
func TestReadPipe(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("js has no pipes")
	}
	for behind, want := range map[string]error{"": nil, "x": filter.ErrCorrupt} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(path); err != nil {
			t.Skip("the system does not name open files")
		}
		s := samples(t)[0]
		if _, err := w.WriteString(string(s.file) + behind); err != nil { // less than the capacity of a pipe
			t.Fatal(err)
		}
		w.Close()
		got, mapping, err := mapFilter(path, s.options())
		r.Close()
		if !errors.Is(err, want) || err == nil && (mapping != nil || got.FileBytes != uint64(len(s.file))) {
			t.Errorf("%q behind the filter: %v", behind, err)
		}
	}
}

// TestTakesHash checks that a filter cannot be written with a hash function that it does not support.
func TestTakesHash(t *testing.T) {
	for _, s := range samples(t) {
		for id := filter.XXH3; id <= filter.FNV1; id++ {
			h := filter.NewHasher(0)
			switch {
			case id == filter.SipHash:
				h = filter.NewKeyedHasher(secret)
			case family.Foreign(id):
				h = foreign(t, id)
			}
			var b bytes.Buffer
			err := writeFilter(&b, s.filter, h, 0)
			want := id == s.hasher.ID() || !family.Foreign(s.hasher.ID()) && !family.Foreign(id) ||
				strings.HasPrefix(s.name, "blocked-parquet") && id <= filter.SipHash ||
				id == filter.Uint64 && family.SpecOf(s.filter).Family() == "fuse"
			if (err == nil) != want || err != nil && (!errors.Is(err, filter.ErrMismatch) || b.Len() > 0) {
				t.Errorf("%s with hash %s: %v", s.name, id, err)
			}
		}
	}
}
