package container

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/sums"
)

var update = flag.Bool("update", false, "write the golden files anew")

const limit = 1 << 30

// sample is one small filter of each kind, with its file.
type sample struct {
	name   string
	hasher filter.Hasher
	filter family.Filter
	chosen float64 // rate
	listed int     // number of allowed keys, for which there are exceptions
	file   []byte
}

// chosenRates are the rates of further samples, by the name of the sample without a rate.
var chosenRates = map[string]float64{
	"standard-0": 0.01, "blocked-1": 1. / 3, "fuse-0": 0.00390625, "rankindexed-0-trimmed": 1e-9, "blocked-parquet": 0.999,
	"redisbloom-1": 5e-324,
}

var secret = filter.Secret{1, 2, 3}

func samples(t testing.TB) []sample {
	all := plainSamples(t)
	for _, s := range all {
		if s.chosen = chosenRates[s.name]; s.chosen == 0 {
			continue
		}
		s.name += "-rate"
		s.file = written(t, s.filter, s.hasher, s.chosen)
		all = append(all, s)
	}
	return append(all, withExceptions(t)...)
}

// exceptionCases are the number of allowed keys and the chosen rate of samples with exceptions.
var exceptionCases = map[string]struct {
	listed int
	chosen float64
}{
	"standard-0": {5000, 0}, "blocked-1": {10_000, 0.25}, "fuse-0": {1000, 0}, "counting-0": {100, 0},
	"standard-1": {5000, 0}, "rankindexed-0-trimmed": {10_000, 1e-9}, "partitioned-0": {1, 0}, "twochoice-1": {0, 0.01},
}

// withExceptions returns the samples with exceptions.
func withExceptions(t testing.TB) (all []sample) {
	for _, s := range plainSamples(t) {
		c, ok := exceptionCases[s.name]
		if !ok {
			continue
		}
		s.name += "-exceptions"
		s.listed, s.chosen = c.listed, c.chosen
		s.filter = allowing(t, s.filter, members(s.hasher), listed(s.hasher, c.listed))
		s.file = written(t, s.filter, s.hasher, s.chosen)
		all = append(all, s)
	}
	return all
}

// allowing returns a filter with exceptions for the keys of a list.
func allowing(t testing.TB, f family.Filter, members, listed []filter.Hash) family.Filter {
	b := except.NewBuilder(f, uint64(len(members)), nil)
	if err := errors.Join(b.Allow(listed, nil), b.Members(members)); err != nil {
		t.Fatal(err)
	}
	c, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return except.New(f, c)
}

// listed returns the hashes of the first n allowed keys.
func listed(h filter.Hasher, n int) (hs []filter.Hash) {
	for i := range n {
		hs = append(hs, h.SumString(fmt.Sprintf("allowed-%d", i)))
	}
	return hs
}

// plainSamples returns the samples without a chosen rate and exceptions.
func plainSamples(t testing.TB) (all []sample) {
	add := func(name string, f family.Filter, h filter.Hasher) {
		all = append(all, sample{name: name, hasher: h, filter: f, file: written(t, f, h, 0)})
	}
	for _, kind := range families.All() {
		for i, text := range []string{kind.Name + "(bits_per_key=10)", kind.Name} {
			_, s := parseSpec(t, text)
			h := filter.NewHasher(42)
			if i == 1 {
				h = filter.NewKeyedHasher(secret)
			}
			if kind.Foreign() {
				h = foreign(t, kind.Hash)
			}
			f := fill(t, kind, s, h, memberKeys())
			name := fmt.Sprintf("%s-%d", kind.Name, i)
			add(name, f, h)
			if trimmer, ok := f.(family.Trimmer); ok {
				add(name+"-trimmed", trimmer.Trimmed(), h)
			}
		}
	}
	parquet := foreign(t, filter.XXH64)
	kind, s := parseSpec(t, "blocked(bits_per_key=10,layout=split)")
	add("blocked-parquet", fill(t, kind, s, parquet, memberKeys()), parquet)
	return all
}

// written returns the file of a filter.
func written(t testing.TB, f family.Filter, h filter.Hasher, chosen float64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeFilter(&b, f, h, chosen); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func foreign(t testing.TB, id filter.HashID) filter.Hasher {
	h, err := filter.ForeignHasher(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// parseSpec returns a Spec and its family.
func parseSpec(t testing.TB, text string) (families.Family, filter.Spec) {
	t.Helper()
	s, err := filter.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := families.ByName(s.Family())
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

// fill builds a filter of keys.
func fill(t testing.TB, f families.Family, s filter.Spec, h filter.Hasher, keys [][]byte) family.Filter {
	t.Helper()
	if f.Can.Has(family.CanRawKeys) {
		made, err := f.New(s, uint64(len(keys)))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if err := made.(family.RawKeyFilter).AddKey(k); err != nil {
				t.Fatal(err)
			}
		}
		return made
	}
	b, err := f.NewBuilder(s, uint64(len(keys)))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if err := b.AddMany([]filter.Hash{h.Sum(k)}); err != nil {
			t.Fatal(err)
		}
	}
	built, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// memberKeys returns the keys of samples.
func memberKeys() (keys [][]byte) {
	for i := range 40 {
		keys = append(keys, fmt.Appendf(nil, "key-%d", i))
	}
	return keys
}

// members returns the hashes of memberKeys.
func members(h filter.Hasher) (hs []filter.Hash) {
	for _, k := range memberKeys() {
		hs = append(hs, h.Sum(k))
	}
	return hs
}

func (s sample) options() reading {
	if s.hasher.ID() == filter.SipHash {
		return reading{Secret: &secret}
	}
	return reading{}
}

// sentinels are all that Read may wrap.
var sentinels = []error{filter.ErrMagic, filter.ErrVersion, filter.ErrFamily, filter.ErrHash, filter.ErrChecksum,
	filter.ErrCorrupt, filter.ErrSecret, filter.ErrTooLarge, io.ErrUnexpectedEOF}

func isSentinel(err error) bool {
	var fe *FormatError
	for _, s := range sentinels {
		if errors.Is(err, s) && errors.As(err, &fe) {
			return true
		}
	}
	return false
}

// trimmed returns the trimmed form of a filter that may have exceptions.
func trimmed(f family.Filter) family.Filter {
	if e, ok := f.(*except.Filter); ok {
		return except.New(trimmed(e.Main()), e.Cascade())
	}
	return f.(family.Trimmer).Trimmed()
}

// asRead writes a filter in the form in which it was read.
func asRead(s *stored) ([]byte, error) {
	f := s.Filter
	if s.Trimmed {
		f = trimmed(f)
	}
	var b bytes.Buffer
	err := writeFilter(&b, f, s.Hasher, s.FPRChosen)
	return b.Bytes(), err
}

func TestRoundTrip(t *testing.T) {
	for _, s := range samples(t) {
		got, err := readFilter(io.MultiReader(bytes.NewReader(s.file), bytes.NewReader([]byte("what follows"))), limit, s.options())
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if again, err := asRead(got); err != nil || !bytes.Equal(again, s.file) {
			t.Errorf("%s: the file is not the same after reading and writing: %v", s.name, err)
		}
		if got.FileBytes != uint64(len(s.file)) {
			t.Errorf("%s: FileBytes %d, want %d", s.name, got.FileBytes, len(s.file))
		}
	}
}

func TestGolden(t *testing.T) {
	for _, s := range samples(t) {
		path := filepath.Join("testdata", s.name+".bloom")
		if *update {
			if err := os.WriteFile(path, s.file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, s.file) {
			t.Errorf("%s: the same keys give another file than %s holds", s.name, path)
		}
		for _, how := range []func() (*stored, error){
			func() (*stored, error) { return readFilterFile(path, s.options()) },
			func() (*stored, error) { o, _, err := mapFilter(path, s.options()); return o, err },
		} {
			got, err := how()
			if err != nil {
				t.Fatal(err)
			}
			if got.FPRChosen != s.chosen {
				t.Errorf("%s: chosen rate %v, want %v", path, got.FPRChosen, s.chosen)
			}
			for _, h := range members(got.Hasher) {
				if !got.Filter.Has(h) {
					t.Fatalf("%s: a key is lost", path)
				}
			}
			for i, h := range listed(got.Hasher, s.listed) {
				if got.Filter.Has(h) {
					t.Fatalf("%s: allowed key %d is present", path, i)
				}
			}
		}
	}
}

// check reads damaged bytes in both ways and fails unless each gives an error of ours.
func damaged(t *testing.T, what string, file []byte, o reading) {
	t.Helper()
	if got, err := readFilter(bytes.NewReader(file), limit, o); got != nil || !isSentinel(err) {
		t.Errorf("%s: Read gave %v, %v", what, got, err)
	}
	aligned := alignedCopy(file)
	if got, err := filterFromBytes(aligned, o); got != nil || !isSentinel(err) {
		t.Errorf("%s: fromBytes gave %v, %v", what, got, err)
	}
}

func alignedCopy(b []byte) []byte { return append(make([]byte, 0, len(b)+64), b...) }

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

// TestEveryFlippedBitMended flips bits of sections under checksums that are right: an error, or a filter of those bits.
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

// forge rewrites a file's header and mends the checksum, as an attacker would.
func forge(file []byte, change func(b []byte)) []byte {
	b := bytes.Clone(file)
	change(b)
	le := binary.LittleEndian
	end := headerSize + sectionSize*uint64(b[14]) + uint64(le.Uint32(b[56:]))
	if end <= uint64(len(b)) {
		le.PutUint32(b[60:], headerCRC(b, int(end)))
	}
	return b
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
		"reserved":      {filter.ErrVersion, func(b []byte) { b[24] = 1 }},
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
		"hash":          {filter.ErrHash, func(b []byte) { b[12] = 9 }},
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
	// A set bit behind m, under a right checksum.
	b := bytes.Clone(s.file)
	b[len(b)-1] |= 0x80
	at := align(uint64(headerSize + sectionSize + len(s.filter.Info().Spec.String())))
	b = forge(b, func(b []byte) { le.PutUint32(b[80:], sums.CRC(b[at:])) })
	if _, err := readFilter(bytes.NewReader(b), limit, reading{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("bit behind m: %v", err)
	}
}

// TestAllocationBomb has headers that are right in themselves promise far more than follows.
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
		h.sections, h.dataAt, h.length, _ = layout(len(spec), words)
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

// TestReadAllocates holds Read to the bounds that it documents, of whole files and of ones that are cut off.
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

func TestWriteFile(t *testing.T) {
	s := samples(t)[0]
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeFilterFile(ctx, path, s.filter, s.hasher); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Error("a cancelled write changed the file")
	}
	if err := writeFilterFile(t.Context(), path, s.filter, s.hasher); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !bytes.Equal(b, s.file) {
		t.Error("the file holds something else")
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("files left behind: %v", names)
	}
	if st, _ := os.Stat(path); runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("permissions became %v", st.Mode())
	}
	if err := os.WriteFile(path, append(bytes.Clone(s.file), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readFilterFile(path, reading{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, _, err := mapFilter(path, reading{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("Open with a byte too many: %v", err)
	}
}

func TestReplaceFile(t *testing.T) {
	s := samples(t)[0]
	path := filepath.Join(t.TempDir(), "f.bloom")
	for what, change := range map[string]func() error{
		"replaced":   func() error { return writeFilterFile(t.Context(), path, s.filter, s.hasher) },
		"written to": func() error { return os.WriteFile(path, []byte("longer"), 0o644) },
		"touched":    func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"removed":    func() error { return os.Remove(path) },
		"":           func() error { return nil },
	} {
		if err := writeFilterFile(t.Context(), path, s.filter, s.hasher); err != nil {
			t.Fatal(err)
		}
		was, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		err = replaceFilterFile(t.Context(), path, s.filter, s.hasher, was)
		if got := err == nil; got != (what == "") || !got && !errors.Is(err, filter.ErrChanged) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v", what, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%q: the file was replaced", what)
		}
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
		if _, err := w.WriteString(string(s.file) + behind); err != nil { // less than a pipe holds
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

// mended returns a copy of a file, at least a header long, with the checksums of its sections and of its header put
// right, so that a changed section comes to the family.
func mended(file []byte) []byte {
	le := binary.LittleEndian
	return forge(append(bytes.Clone(file), make([]byte, max(0, headerSize-len(file)))...), func(b []byte) {
		for i := range int(b[14]) {
			at := headerSize + sectionSize*i
			if at+sectionSize > len(b) {
				return
			}
			offset, length := le.Uint64(b[at:]), le.Uint64(b[at+8:])
			if n := uint64(len(b)); offset <= n && length <= n-offset {
				le.PutUint32(b[at+16:], sums.CRC(b[offset:][:length]))
			}
		}
	})
}

// FuzzRead: any bytes are refused, or are a filter that is written the same again.
func FuzzRead(f *testing.F) {
	all := samples(f)
	if len(all) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range all {
		f.Add(s.file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, data := range [][]byte{file, mended(file)} {
			got, err := readFilter(bytes.NewReader(data), 1<<24, reading{Secret: &secret})
			if err != nil {
				if !isSentinel(err) {
					t.Fatalf("%v\n%s", err, hex.Dump(data))
				}
				continue
			}
			if again, err := asRead(got); err != nil || !bytes.HasPrefix(data, again) {
				t.Fatalf("what was read is not written the same: %v", err)
			}
			got.Filter.Has(filter.Hash{Hi: ^uint64(0), Lo: ^uint64(0)})
			got.Filter.Info()
		}
	})
}

// TestTakesHash keeps filters and hash functions that do not belong together out of files.
func TestTakesHash(t *testing.T) {
	for _, s := range samples(t) {
		for id := filter.XXH3; id <= filter.Uint64; id++ {
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

// TestWriteRate: Write takes no chosen rate that Read refuses, and stores no rate in one way.
func TestWriteRate(t *testing.T) {
	s := samples(t)[0]
	for _, rate := range []float64{-0.01, 1, 2, math.Inf(1), math.NaN()} {
		if err := writeFilter(io.Discard, s.filter, s.hasher, rate); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	var b bytes.Buffer
	if err := writeFilter(&b, s.filter, s.hasher, math.Copysign(0, -1)); err != nil || !bytes.Equal(b.Bytes(), s.file) {
		t.Errorf("rate -0 gives another file than rate 0: %v", err)
	}
}

// TestIntact has a file that changes while it is written: nothing is left of the new one.
func TestIntact(t *testing.T) {
	f, err := standard.New(standard.Config{Bits: 1000, K: 1})
	if err != nil {
		t.Fatal(err)
	}
	file := New(1, f.Encode(), filter.NewHasher(0))
	file.Intact = func() error { return filter.ErrFile }
	dir := t.TempDir()
	if err := WriteFile(t.Context(), filepath.Join(dir, "f"), file); !errors.Is(err, filter.ErrFile) {
		t.Error(err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}
