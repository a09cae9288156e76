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
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/sums"
)

var update = flag.Bool("update", false, "write the golden files anew")

const limit = 1 << 30

// sample is one small filter of each kind, with its file.
type sample struct {
	name    string
	hasher  filter.Hasher
	filter  family.Filter
	planned float64 // rate
	listed  int     // number of allowed keys, for which there are exceptions
	file    []byte
}

// plannedRates are the rates of further samples, by the name of the sample without a rate.
var plannedRates = map[string]float64{
	"standard-0": 0.01, "blocked-1": 1. / 3, "fuse-0": 0.00390625, "rankindexed-0-trimmed": 1e-9, "blocked-parquet": 0.999,
	"redisbloom-1": 5e-324,
}

var secret = filter.Secret{1, 2, 3}

func samples(t testing.TB) []sample {
	all := plainSamples(t)
	for _, s := range all {
		if s.planned = plannedRates[s.name]; s.planned == 0 {
			continue
		}
		s.name += "-rate"
		s.file = written(t, s.filter, s.hasher, s.planned)
		all = append(all, s)
	}
	return append(all, withExceptions(t)...)
}

// exceptionCases are the number of allowed keys and the planned rate of samples with exceptions.
var exceptionCases = map[string]struct {
	listed  int
	planned float64
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
		s.listed, s.planned = c.listed, c.planned
		s.filter = allowing(t, s.filter, members(s.hasher), listed(s.hasher, c.listed))
		s.file = written(t, s.filter, s.hasher, s.planned)
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

// plainSamples returns the samples without a planned rate and exceptions.
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
func written(t testing.TB, f family.Filter, h filter.Hasher, planned float64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeFilter(&b, f, h, planned); err != nil {
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

// sentinels lists all errors that Read may wrap.
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

// asRead returns the file of a filter in the form in which it was read.
func asRead(s *stored) ([]byte, error) {
	f := s.Filter
	if s.Trimmed {
		f = trimmed(f)
	}
	var b bytes.Buffer
	err := writeFilter(&b, f, s.Hasher, s.FPRPlanned)
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
			if got.FPRPlanned != s.planned {
				t.Errorf("%s: planned rate %v, want %v", path, got.FPRPlanned, s.planned)
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

// damaged reads damaged bytes in both ways and fails the test unless each returns one of the sentinels.
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

// forge rewrites a file's header and corrects the checksum, as an attacker would.
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

// mended returns a copy of a file, which must be at least as long as a header. The checksums of its sections and its
// header are corrected, so that a changed section reaches the decoder of the family.
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

// FuzzRead checks that arbitrary bytes are refused, or are a filter that is written as the same bytes.
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
