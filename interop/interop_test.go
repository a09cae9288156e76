package interop_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/redisbloom"
	"github.com/bloomery/bloomery/interop"
)

var update = flag.Bool("update", false, "write redisbloom.bin anew")

// golden are files of other systems. testdata/NOTICE names the programs that wrote them.
var golden = []struct {
	name   string
	format interop.Format
	spec   string
	keys   []string
}{
	{"parquet", interop.Parquet, "blocked(blocks=32,k=8,layout=split)", []string{"hello", "parquet", "bloom",
		"filter"}},
	{"guava-64", interop.Guava, "guava(k=7,strategy=64,words=15)", hundred()},
	{"guava-32", interop.Guava, "guava(k=7,strategy=32,words=15)", hundred()},
	{"bitsandblooms", interop.BitsAndBlooms, "bitsandblooms(k=7,m=959)", hundred()},
	{"bitsandblooms-words", interop.BitsAndBlooms, "bitsandblooms(k=7,length=1280,m=1000)", hundred()},
	{"redisbloom", interop.RedisBloom, "redisbloom(links=4,words=35)", hundred()},
	{"fastfilter8", interop.FastFilter8, "", nil},
	{"xorf32", interop.Xorf32, "", nil},
	{"spark-v1", interop.Spark, "spark(k=7,version=1,words=15)", hundred()},
	{"spark-v2", interop.Spark, "spark(k=7,version=2,words=15)", hundred()},
	{"dcso", interop.DCSO, "dcso(k=7,m=958,n=100)", hundred()},
}

func hundred() (keys []string) {
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("key-%d", i))
	}
	return keys
}

func file(t testing.TB, name string) []byte {
	b := must(os.ReadFile(filepath.Join("testdata", name+".bin")))
	return b
}

func write(t testing.TB, s *bloomery.Set, f interop.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, interop.Write(&b, s, f))
	return b.Bytes()
}

// TestGolden reads files of other systems, stores them in a Bloomery file and writes them back with the same bytes. It
// also builds the same bytes from the keys.
func TestGolden(t *testing.T) {
	for _, g := range golden {
		if g.spec == "" {
			continue // these filter numbers: see TestFastFilterGolden
		}
		hash := map[interop.Format]filter.HashID{interop.Parquet: filter.XXH64}[g.format]
		spec := g.spec
		if g.format == interop.RedisBloom {
			spec = "redisbloom(capacity=10)"
		}
		c := bloomery.Config{Keys: uint64(len(g.keys)), Spec: spec, Hashing: bloomery.Hashing{ID: hash}}
		if g.format == interop.DCSO {
			c.Spec, c.FPR = "dcso", 0.01 // the rate is in the file
		}
		made := must(bloomery.New(c))
		for _, k := range g.keys {
			check(t, made.Add([]byte(k)))
		}
		if *update && g.name == "redisbloom" {
			check(t, os.WriteFile("testdata/redisbloom.bin", write(t, made, g.format), 0o644))
		}
		want := file(t, g.name)
		if got := write(t, made, g.format); !bytes.Equal(got, want) {
			t.Errorf("%s: the same keys give another file", g.name)
		}
		set, err := interop.Read(io.MultiReader(bytes.NewReader(want), strings.NewReader("what follows")), g.format,
			uint64(len(want)))
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if got := set.Info().Spec.String(); got != g.spec {
			t.Errorf("%s: %s, want %s", g.name, got, g.spec)
		}
		if n := set.Info().Keys; n < uint64(len(g.keys))*9/10 || n > uint64(len(g.keys))*11/10+1 {
			t.Errorf("%s: %d keys, %d were added", g.name, n, len(g.keys))
		}
		var ours bytes.Buffer
		must(set.WriteTo(&ours))
		again := must(bloomery.Read(&ours))
		for _, k := range g.keys {
			if !again.ContainsString(k) {
				t.Errorf("%s: %s is lost", g.name, k)
			}
		}
		if format, ok := interop.FormatOf(again); !ok || format != g.format {
			t.Errorf("%s: format %q", g.name, format)
		}
		if !bytes.Equal(write(t, again, g.format), want) {
			t.Errorf("%s: not the same bytes after a file of ours", g.name)
		}
		if format, err := interop.Detect(bytes.NewReader(want), int64(len(want))); err != nil || format != g.format {
			t.Errorf("%s: taken for %q, %v", g.name, format, err)
		}
		if format, err := interop.Detect(bytes.NewReader(append(want, 0)), int64(len(want)+1)); !errors.Is(err,
			interop.ErrFormat) && g.format != interop.DCSO { // data may follow it
			t.Errorf("%s and a byte: taken for %q, %v", g.name, format, err)
		}
	}
}

// TestParquetAbsent queries a known file for absent keys.
func TestParquetAbsent(t *testing.T) {
	set := must(interop.Read(bytes.NewReader(file(t, "parquet")), interop.Parquet, 1<<20))
	for i := range 10_000 {
		if set.ContainsString(fmt.Sprint(i)) {
			t.Fatalf("%d is in a filter of 4 keys: the rate is below 1e-8", i)
		}
	}
}

var sentinels = []error{interop.ErrFormat, filter.ErrCorrupt, filter.ErrTooLarge, io.ErrUnexpectedEOF}

// refused reports whether err names a position, or the kind of file that it is instead, and wraps a sentinel.
func refused(err error) bool {
	var at *container.FormatError
	var other interface{ Advice() string }
	return (errors.As(err, &at) || errors.As(err, &other)) &&
		slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) })
}

func TestEveryTruncation(t *testing.T) {
	for _, g := range golden {
		b := file(t, g.name)
		for n := range b {
			if set, err := interop.Read(bytes.NewReader(b[:n]), g.format, 1<<30); set != nil || !errors.Is(err,
				io.ErrUnexpectedEOF) || !refused(err) {
				t.Fatalf("%s cut at %d: %v, %v", g.name, n, set, err)
			}
		}
		if _, err := interop.Read(bytes.NewReader(b), g.format, uint64(len(b)-1)); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s over the limit: %v", g.name, err)
		}
	}
}

// TestEveryFlippedBit checks that a damaged file is refused, or is read, queried and written back unchanged. These
// formats have no checksums.
func TestEveryFlippedBit(t *testing.T) {
	for _, g := range golden {
		b := file(t, g.name)
		for i := range 8 * min(len(b), 300) {
			b[i/8] ^= 1 << (i % 8)
			set := same(t, b, g.format)
			if set != nil && i%17 == 0 { // takes milliseconds; steps of 17 reach every bit of a byte
				set.Info()
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
}

// same returns the set of a file, which must be written back unchanged, or nil if the file is refused.
func same(t *testing.T, b []byte, f interop.Format) *bloomery.Set {
	set, err := interop.Read(bytes.NewReader(b), f, 1<<24)
	if err != nil {
		if !refused(err) {
			t.Fatalf("%s: %v", f, err)
		}
		return nil
	}
	if again := write(t, set, f); !bytes.HasPrefix(b, again) {
		t.Fatalf("%s: what was read is not written the same: %x and %x", f, b, again)
	}
	set.ContainsString("any")
	return set
}

// word64 returns a number of eight bytes, little endian.
func word64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }

// TestAllocationBomb checks that headers that state more data than follows need little memory.
func TestAllocationBomb(t *testing.T) {
	for f, head := range map[interop.Format]string{
		interop.Parquet:       "\x15\xc0\xff\xff\xff\x0f\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00",
		interop.Guava:         "\x01\x07\x7f\xff\xff\xff",
		interop.BitsAndBlooms: "\x00\x00\x00\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\xff\x00\x00\x00\x00",
		interop.DCSO:          word64(1) + word64(1) + word64(math.Float64bits(0.5)) + word64(7) + word64(1<<40) + word64(1),
		interop.RedisBloom:    "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x0f\x00\x05\x00\x00\x00\x02\x00\x00\x00",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := interop.Read(strings.NewReader(head+strings.Repeat("\x00", 1000)), f, 1<<40)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", f, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 9<<20 {
			t.Errorf("%s: %d bytes allocated", f, n)
		}
		if _, err := interop.Read(strings.NewReader(head+strings.Repeat("\x00", 1000)), f, 1<<20); !errors.Is(err,
			filter.ErrTooLarge) {
			t.Errorf("%s over the limit: %v", f, err)
		}
	}
}

// TestManyLinks reads a header larger than the bits, within the memory that Read documents.
func TestManyLinks(t *testing.T) {
	one := file(t, "redisbloom")[redisbloom.ChainHeader:][:redisbloom.LinkHeader]
	binary.LittleEndian.PutUint64(one, 8)
	binary.LittleEndian.PutUint64(one[8:], 64)
	const links = 100_000
	b := binary.LittleEndian.AppendUint64(nil, 10*links)
	b = binary.LittleEndian.AppendUint32(b, links)
	b = append(b, 5, 0, 0, 0, 1, 0, 0, 0)
	b = append(b, bytes.Repeat(one, links)...)
	b = append(b, make([]byte, 8*links)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	set, err := interop.Read(bytes.NewReader(b), interop.RedisBloom, uint64(len(b)))
	runtime.ReadMemStats(&after)
	check(t, err)
	if n := after.TotalAlloc - before.TotalAlloc; n > 12*uint64(len(b)) {
		t.Errorf("%d bytes allocated for %d", n, len(b))
	}
	if !bytes.Equal(write(t, set, interop.RedisBloom), b) || set.Info().Keys != 10*links {
		t.Error("not the same bytes")
	}
}

// TestLarge reads filters that need several allocations.
func TestLarge(t *testing.T) {
	size := 20_000_001
	if testing.Short() {
		size = 9_000_001
	}
	for _, spec := range []string{"guava(bytes=%d)", "bitsandblooms(bytes=%d)", "redisbloom(bytes=%d)",
		"blocked(bytes=%d,layout=split)"} {
		spec = fmt.Sprintf(spec, size)
		c := bloomery.Config{Spec: spec}
		if strings.HasPrefix(spec, "blocked") {
			c.Hashing.ID = filter.XXH64
		}
		c.Keys = 2_000_000 // redisbloom takes at most 92 bits per key
		set := must(bloomery.New(c))
		for i := range uint64(1000) {
			check(t, set.Add([]byte(fmt.Sprint(i))))
		}
		f, _ := interop.FormatOf(set)
		b := write(t, set, f)
		again, err := interop.Read(bytes.NewReader(b), f, 1<<30)
		if err != nil || !bytes.Equal(write(t, again, f), b) {
			t.Errorf("%s: %v", spec, err)
		}
		for i := range 1000 {
			if !again.ContainsString(fmt.Sprint(i)) {
				t.Fatalf("%s: key %d is lost", spec, i)
			}
		}
	}
}

// TestWriteRefuses checks that formats that do not fit the family and hash of a Set are refused.
func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		spec string
		hash filter.HashID
		own  interop.Format
	}{
		{"standard", 0, ""}, {"blocked", 0, ""}, {"blocked(layout=split)", 0, ""}, {"blocked(layout=split)",
			filter.XXH64, interop.Parquet},
		{"guava", 0, interop.Guava}, {"bitsandblooms", 0, interop.BitsAndBlooms}, {"redisbloom", 0, interop.RedisBloom},
	} {
		spec, own := c.spec, c.own
		set := must(bloomery.New(bloomery.Config{Keys: 100, Spec: spec, Hashing: bloomery.Hashing{ID: c.hash}}))
		if got, ok := interop.FormatOf(set); got != own || ok != (own != "") {
			t.Errorf("%s is of format %q, want %q", spec, got, own)
		}
		for _, f := range interop.Formats() {
			var b bytes.Buffer
			if err := interop.Write(&b, set, f); (err == nil) != (f == own) || err != nil && (!errors.Is(err,
				interop.ErrFormat) || b.Len() > 0) {
				t.Errorf("%s as %s: %v", spec, f, err)
			}
		}
	}
	if _, err := interop.Read(nil, "nonsense", 1); err == nil || !strings.Contains(err.Error(), "parquet, guava") {
		t.Errorf("%v", err)
	}
}

// TestReadOptions checks that Read accepts the options of bloomery.Read.
func TestReadOptions(t *testing.T) {
	b := file(t, "parquet")
	set, err := interop.Read(bytes.NewReader(b), interop.Parquet, 1<<20, bloomery.WithConcurrent())
	check(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 1000 {
				if err := set.AddString(fmt.Sprint(i, j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 4 {
		for j := range 1000 {
			if !set.ContainsString(fmt.Sprint(i, j)) {
				t.Fatalf("key %d of goroutine %d is lost", j, i)
			}
		}
	}
	limit := bloomery.WithMaxBytes(uint64(len(b)) - 1)
	if _, err := interop.Read(bytes.NewReader(b), interop.Parquet, 1<<20, limit); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("a limit: %v", err)
	}
	_, err = interop.Read(bytes.NewReader(file(t, "guava-64")), interop.Guava, 1<<20, bloomery.WithConcurrent())
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("guava for many writers: %v", err)
	}
}

// TestLimit checks that Read reads at most the limit, or the first part of a header, at most 24 bytes.
func TestLimit(t *testing.T) {
	for _, g := range golden {
		b := file(t, g.name)
		for limit := range uint64(len(b)) {
			r := bytes.NewReader(b)
			set, err := interop.Read(r, g.format, limit)
			if set != nil || !errors.Is(err, filter.ErrTooLarge) || !refused(err) {
				t.Fatalf("%s with a limit of %d: %v", g.name, limit, err)
			}
			if got := uint64(len(b) - r.Len()); got > max(limit, 28) {
				t.Fatalf("%s: %d bytes read with a limit of %d", g.name, got, limit)
			}
		}
	}
}

// TestDetectShort checks that a file too short for any filter has no format, and that the error gives this reason.
func TestDetectShort(t *testing.T) {
	const smallest = "\x01\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
	if f, err := interop.Detect(strings.NewReader(smallest), int64(len(smallest))); f != interop.Guava || err != nil {
		t.Errorf("the smallest filter: %q, %v", f, err)
	}
	for n := range smallest {
		_, err := interop.Detect(strings.NewReader(smallest[:n]), int64(n))
		want := fmt.Sprintf("it has %d bytes, a filter at least 14", n)
		if !errors.Is(err, interop.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := interop.Detect(strings.NewReader(smallest), -1); !errors.Is(err, interop.ErrFormat) {
		t.Errorf("a negative size: %v", err)
	}
	if _, err := interop.Detect(strings.NewReader(smallest), 1<<40); !errors.Is(err, interop.ErrFormat) {
		t.Errorf("more than there is: %v", err)
	}
}

type brokenDisk struct{}

var errBroken = errors.New("broken disk")

func (brokenDisk) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

// TestDetectBroken checks that an error of the reader is not mistaken for another format.
func TestDetectBroken(t *testing.T) {
	if _, err := interop.Detect(brokenDisk{}, 1000); !errors.Is(err, errBroken) || errors.Is(err, interop.ErrFormat) {
		t.Error(err)
	}
}

// TestNoFilter checks that a Set without a filter cannot be written.
func TestNoFilter(t *testing.T) {
	var s bloomery.Set
	closed := readGolden(t, "guava-64", interop.Guava)
	check(t, closed.Close())
	for _, s := range []*bloomery.Set{&s, closed} {
		if f, ok := interop.FormatOf(s); ok {
			t.Errorf("of format %s", f)
		}
	}
	for _, f := range interop.Formats() {
		if err := interop.Write(io.Discard, &s, f); !errors.Is(err, interop.ErrFormat) {
			t.Errorf("%s: %v", f, err)
		}
	}
	if _, err := interop.Chunks(&s); !errors.Is(err, interop.ErrFormat) {
		t.Errorf("chunks: %v", err)
	}
	if err := interop.WriteCommands(io.Discard, &s, "k"); !errors.Is(err, interop.ErrFormat) {
		t.Errorf("commands: %v", err)
	}
}

// TestEstimate checks that bits that no probe reads do not count as keys.
func TestEstimate(t *testing.T) {
	b := word(70) + word(1) + word(192) + word(1<<35-1) + word(^uint64(63)) + word(^uint64(0))
	set := must(interop.Read(strings.NewReader(b), interop.BitsAndBlooms, 1000))
	if i := set.Info(); i.Keys != 48 || i.FPRPosterior != 0.5 { // ln ½ / ln(1-1/70) = 48.17
		t.Errorf("%d keys, rate %g", i.Keys, i.FPRPosterior)
	}
	one, err := interop.Read(strings.NewReader(word(1)+word(1)+word(1)+word(1)), interop.BitsAndBlooms, 1000)
	if err != nil || one.Info().Keys != 1 {
		t.Errorf("a filter of one bit that is set: %v", err)
	}
	for ones, want := range map[uint64]uint64{0: 0, 1: 1, 1<<63 - 1: 66,
		1<<64 - 1: 77} { // 4 probes: 63 of 64 bits 66.02, 63.5 77.02
		set, err := interop.Read(strings.NewReader("\x01\x04\x00\x00\x00\x01"+word(ones)), interop.Guava, 1000)
		if err != nil || set.Info().Keys != want {
			t.Errorf("%x: %d keys, want %d, %v", ones, set.Info().Keys, want, err)
		}
	}
}

// TestChunks checks the rules of BF.LOADCHUNK: the data must end at the iterator minus 1 and be within one link.
func TestChunks(t *testing.T) {
	set := must(bloomery.New(bloomery.Config{Keys: 100, Spec: "redisbloom(bytes=40000000,capacity=4000000)"}))
	for i := range 3500 {
		check(t, set.Add([]byte(fmt.Sprint(i))))
	}
	for _, set := range []*bloomery.Set{set, readGolden(t, "redisbloom", interop.RedisBloom)} {
		chunks := must(interop.Chunks(set))
		var all []byte
		header, n := 0, 0
		for at, data := range chunks {
			n++
			if header == 0 {
				if header = len(data); at != 1 {
					t.Errorf("the header has iterator %d", at)
				}
			} else if at != int64(1+len(all)-header+len(data)) || len(data) > 16<<20 {
				t.Errorf("iterator %d for %d bytes after %d", at, len(data), len(all)-header)
			}
			all = append(all, data...)
		}
		if !bytes.Equal(all, write(t, set, interop.RedisBloom)) {
			t.Error("the chunks are not the file")
		}
		if want := map[int]int{1: 1 + 3, 4: 1 + 4}[links(set)]; n != want { // 16 MiB and a remainder; four small links
			t.Errorf("%d chunks, want %d", n, want)
		}
	}
	if _, err := interop.Chunks(readGolden(t, "guava-64", interop.Guava)); !errors.Is(err, interop.ErrFormat) {
		t.Errorf("chunks of another system: %v", err)
	}
}

// TestWriteCommands parses the commands.
func TestWriteCommands(t *testing.T) {
	set := readGolden(t, "redisbloom", interop.RedisBloom)
	var b bytes.Buffer
	check(t, interop.WriteCommands(&b, set, "a key"))
	var all []byte
	for n := 0; b.Len() > 0; n++ {
		var words [4]string
		if line, _ := b.ReadString('\n'); line != "*4\r\n" {
			t.Fatalf("command %d begins %q", n, line)
		}
		for i := range words {
			var size int
			line, _ := b.ReadString('\n')
			if _, err := fmt.Sscanf(line, "$%d\r\n", &size); err != nil {
				t.Fatalf("command %d: %q", n, line)
			}
			words[i] = string(b.Next(size))
			if end := string(b.Next(2)); end != "\r\n" {
				t.Fatalf("command %d, word %d ends with %q", n, i, end)
			}
		}
		if words[0] != "BF.LOADCHUNK" || words[1] != "a key" || n == 0 && words[2] != "1" {
			t.Errorf("command %d: %q", n, words[:3])
		}
		all = append(all, words[3]...)
	}
	b.Reset()
	if err := interop.WriteCommands(&b, set, "k"); err != nil || !interop.HasCommands(bytes.NewReader(b.Bytes())) ||
		interop.HasCommands(bytes.NewReader(all)) {
		t.Errorf("commands are not known again: %v", err)
	}
	b.Reset()
	if !bytes.Equal(all, file(t, "redisbloom")) {
		t.Error("the data is not that of the file")
	}
	if err := interop.WriteCommands(&b, readGolden(t, "parquet", interop.Parquet), "k"); !errors.Is(err,
		interop.ErrFormat) || b.Len() > 0 {
		t.Errorf("commands for another system: %v", err)
	}
}

// links returns the number of links in the Spec of s.
func links(s *bloomery.Set) int { return int(family.Reader(s.Spec()).Uint("links")) }

// TestForgedHeaders reads headers that are complete but invalid.
func TestForgedHeaders(t *testing.T) {
	const tail = "\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00"
	for _, c := range []struct {
		format interop.Format
		head   string
		want   error
	}{
		{interop.Parquet, "\x15\x40" + tail, nil},
		{interop.Parquet, "\x15\xc0\x00" + tail, filter.ErrCorrupt}, // 32, one byte longer than necessary
		{interop.Parquet, "\x15\x42" + tail, filter.ErrCorrupt},
		{interop.Parquet, "\x15\x3f" + tail, filter.ErrCorrupt},
		{interop.Parquet, "\x15\x00" + tail, filter.ErrCorrupt},
		{interop.Parquet, "\x15\x80\x80\x80\x80\x80\x01" + tail, filter.ErrCorrupt},
		{interop.Parquet, "\x15\x40\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x2c\x00\x00\x00", interop.ErrFormat}, // gzip
		{interop.Guava, "\x01\x01\x00\x00\x00\x01", nil},
		{interop.Guava, "\x02\x01\x00\x00\x00\x01", interop.ErrFormat},
		{interop.Guava, "\x01\x00\x00\x00\x00\x01", filter.ErrCorrupt},
		{interop.Guava, "\x01\x01\x00\x00\x00\x00", filter.ErrCorrupt},
		{interop.Guava, "\x01\x01\xff\xff\xff\xff", filter.ErrCorrupt},
		{interop.Spark, "\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x01", nil},
		{interop.Spark, "\x00\x00\x00\x02\x00\x00\x00\xff\x00\x00\x00\x00\x00\x00\x00\x01", nil},
		{interop.Spark, "\x00\x00\x00\x03\x00\x00\x00\x07\x00\x00\x00\x01", interop.ErrFormat},
		{interop.Spark, "\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x01", interop.ErrFormat},
		{interop.Spark, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01", filter.ErrCorrupt},
		{interop.Spark, "\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x01", filter.ErrCorrupt},
		{interop.Spark, "\x00\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00\x01", interop.ErrForm},
		{interop.Spark, "\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00", filter.ErrCorrupt},
		{interop.Spark, "\x00\x00\x00\x01\x00\x00\x00\x07\x80\x00\x00\x00", filter.ErrCorrupt},
		{interop.Spark, "\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x01", interop.ErrForm},
		{interop.BitsAndBlooms, word(10) + word(7) + word(10), nil},
		{interop.BitsAndBlooms, word(10) + word(0) + word(10), interop.ErrFormat},
		{interop.BitsAndBlooms, word(10) + word(256) + word(10), interop.ErrFormat},
		{interop.BitsAndBlooms, word(10) + word(7) + word(9), filter.ErrCorrupt},
		{interop.BitsAndBlooms, word(0) + word(7) + word(10), filter.ErrCorrupt},
		{interop.BitsAndBlooms, word(10) + word(7) + word(1<<63), filter.ErrTooLarge},
		{interop.BitsAndBlooms, word(10) + word(7) + word(1<<62), filter.ErrTooLarge},
		{interop.BitsAndBlooms, word(10) + word(7) + word(1<<64-1), filter.ErrTooLarge},
		{interop.BitsAndBlooms, word(10) + word(255) + word(10), nil},
		{interop.BitsAndBlooms, word(1) + word(1) + word(1), nil},
	} {
		_, err := interop.Read(strings.NewReader(c.head+strings.Repeat("\x00", 64)), c.format, 1<<30)
		if !errors.Is(err, c.want) || err != nil && !refused(err) {
			t.Errorf("%s, %x: %v, want %v", c.format, c.head, err, c.want)
		}
		var at *container.FormatError
		if errors.As(err, &at) && at.Offset > uint64(len(c.head)) {
			t.Errorf("%s, %x: found at byte %d only", c.format, c.head, at.Offset)
		}
	}
}

func word(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

func readGolden(t *testing.T, name string, f interop.Format) *bloomery.Set {
	set := must(interop.Read(bytes.NewReader(file(t, name)), f, 1<<20))
	return set
}

// FuzzRead checks that arbitrary bytes are refused, or are a filter that is written as the same bytes.
func FuzzRead(f *testing.F) {
	if len(golden) == 0 {
		f.Fatal("no seeds")
	}
	for _, g := range golden {
		f.Add(file(f, g.name), byte(slices.Index(interop.Formats(), g.format)))
	}
	f.Fuzz(func(t *testing.T, b []byte, which byte) {
		all := interop.Formats()
		if set := same(t, b, all[int(which)%len(all)]); set != nil {
			set.Info()
		}
		if _, err := interop.Detect(bytes.NewReader(b), int64(len(b))); err != nil && !errors.Is(err,
			interop.ErrFormat) {
			t.Fatal(err)
		}
	})
}

// TestWriteChanged truncates the file of a mapped Set before the Set is written. Write must return an error and not
// crash.
func TestWriteChanged(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "windows" || !bitvec.LittleEndian {
		t.Skip("files are read into memory on this system: a later change cannot disturb a Set")
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	for spec, format := range map[string]interop.Format{
		"guava(bytes=2000000)": interop.Guava, "redisbloom(capacity=2000000)": interop.RedisBloom,
	} {
		set, err := bloomery.New(bloomery.Config{Spec: spec, Keys: 1000})
		check(t, err)
		check(t, set.Save(t.Context(), path))
		if set, err = bloomery.Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		check(t, set.Err())
		check(t, os.Truncate(path, 1<<16))
		if set.Err() == nil {
			t.Errorf("%s: the file is not mapped", spec)
		}
		if err := interop.Write(io.Discard, set, format); !errors.Is(err, filter.ErrFile) {
			t.Errorf("%s: %v", spec, err)
		}
		if format == interop.RedisBloom {
			if err := interop.WriteCommands(io.Discard, set, "key"); !errors.Is(err, filter.ErrFile) {
				t.Errorf("%s: commands: %v", spec, err)
			}
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRedisBloomRate checks that the error rate of BF.RESERVE is in the file, and becomes the planned rate.
func TestRedisBloomRate(t *testing.T) {
	for _, spec := range []string{"redisbloom(capacity=50,fpr=0.003)", "redisbloom(expansion=0,fpr=0.003)"} {
		text := bloomery.Hashing{Form: filter.KeyForm{Type: filter.KeyText}} // of all filters of RedisBloom
		c := bloomery.Config{Spec: spec, Hashing: text}
		set := must(bloomery.Build(t.Context(), slices.Values([]string{"a", "b"}), c))
		var file bytes.Buffer
		check(t, interop.Write(&file, set, interop.RedisBloom))
		got, err := interop.Read(&file, interop.RedisBloom, 1<<20)
		if err != nil || got.Info().FPRPlanned != 0.003 || !got.Equal(set) {
			t.Errorf("%s: planned rate %v, %v", spec, got.Info().FPRPlanned, err)
		}
	}
}

// TestRedisBloomText checks that integers are decimal digits in a filter that is built here, as in one from Redis.
func TestRedisBloomText(t *testing.T) {
	set := must(bloomery.Build(t.Context(), slices.Values([]uint64{5, 70}), bloomery.Config{Spec: "redisbloom"}))
	if !set.ContainsString("70") || !bloomery.Keyed[uint64](set).Contains(5) {
		t.Error("an integer is absent")
	}
}

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	if err != nil {
		t.Helper() // slow: some tests check millions of calls
		t.Fatal(err)
	}
}
