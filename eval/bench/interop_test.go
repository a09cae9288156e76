package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/parquet-go/parquet-go"
	parquetbloom "github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

var (
	interopKeys = flag.Int("interop-keys", 0, "compare with other systems on so many present and absent keys; 100k, with -full 1M")
	update      = flag.Bool("update", false, "write the golden files of interop that libraries here can write")
)

// interopSets returns equally many present and absent keys: random bytes of lengths 1 to 40.
func interopSets() (present, absent [][]byte) {
	n := 100_000
	switch {
	case *interopKeys != 0:
		n = *interopKeys
	case *full:
		n = 1_000_000
	}
	r := rand.New(rand.NewPCG(7, 1))
	for i := range 2 * n {
		k := fmt.Appendf(nil, "%x-", i)
		for len(k) < 40 && r.IntN(20) > 0 {
			k = append(k, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\x80\x00\xff"[r.IntN(55)])
		}
		if i%2 == 0 {
			present = append(present, k)
		} else {
			absent = append(absent, k)
		}
	}
	return present, absent
}

// agree queries both filters for all keys and fails on any difference and on any false negative.
func agree(t *testing.T, what string, set *bloomery.Set, theirs func(key []byte) bool) {
	t.Helper()
	present, absent := interopSets()
	differences, hits := 0, 0
	answers := make([]bool, len(present))
	for part, keys := range [][][]byte{present, absent} {
		bloomery.Keyed[[]byte](set).ContainsMany(answers, keys)
		for i, k := range keys {
			is := theirs(k)
			if is != answers[i] || is != set.Contains(k) || part == 0 && !is {
				differences++
			}
			if part == 1 && is {
				hits++
			}
		}
	}
	t.Logf("%s: %d differences on %d present and %d absent keys, %d of these falsely present", what, differences,
		len(present), len(absent), hits)
	if differences > 0 || hits == 0 {
		t.Errorf("%s: %d differences, %d false positives", what, differences, hits)
	}
}

// ourSet builds a filter of another system with our code, through New and Add.
func ourSet(t *testing.T, spec string, hash filter.HashID) *bloomery.Set {
	t.Helper()
	present, _ := interopSets()
	set, err := bloomery.New(bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{ID: hash}, Keys: uint64(len(present))})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range present {
		if err := set.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// read reads a file of another system, converts it to our format and back, and checks that the bytes are equal.
func read(t *testing.T, f interop.Format, file []byte) *bloomery.Set {
	t.Helper()
	set, err := interop.Read(bytes.NewReader(file), f, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	var ours bytes.Buffer
	if _, err := set.WriteTo(&ours); err != nil {
		t.Fatal(err)
	}
	again, err := bloomery.Read(&ours)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(foreign(t, f, again), file) {
		t.Errorf("%s: not the same bytes", f)
	}
	return again
}

func foreign(t *testing.T, f interop.Format, set *bloomery.Set) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := interop.Write(&b, set, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBitsAndBlooms(t *testing.T) {
	present, _ := interopSets()
	peer := bitsbloom.NewWithEstimates(uint(len(present)), 0.01)
	for _, k := range present {
		peer.Add(k)
	}
	file, err := peer.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "we read bits-and-blooms", read(t, interop.BitsAndBlooms, file), peer.Test)

	set := ourSet(t, "bitsandblooms(fpr=0.013,k=6)", 0)
	var theirs bitsbloom.BloomFilter
	if _, err := theirs.ReadFrom(bytes.NewReader(foreign(t, interop.BitsAndBlooms, set))); err != nil {
		t.Fatal(err)
	}
	agree(t, "bits-and-blooms reads us", set, theirs.Test)
	if b, err := theirs.MarshalBinary(); err != nil || !bytes.Equal(b, foreign(t, interop.BitsAndBlooms, set)) {
		t.Errorf("bits-and-blooms writes other bytes: %v", err)
	}
}

// TestBitsAndBloomsGolden compares the golden files of interop with the files that the library writes.
func TestBitsAndBloomsGolden(t *testing.T) {
	for name, f := range map[string]*bitsbloom.BloomFilter{
		"bitsandblooms": bitsbloom.NewWithEstimates(100,
			0.01), "bitsandblooms-words": bitsbloom.FromWithM(make([]uint64, 20), 1000, 7),
	} {
		for i := range 100 {
			f.AddString(fmt.Sprintf("key-%d", i))
		}
		b, err := f.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "interop", "testdata", name+".bin")
		if *update {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s is not what the library writes: %v", path, err)
		}
	}
}

func TestParquet(t *testing.T) {
	present, _ := interopSets()
	// The library writes a file with a column of strings and its filter. The metadata contain the offset of the filter.
	type row struct {
		Key string `parquet:"key"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.BloomFilters(parquet.SplitBlockFilter(10, "key")),
		parquet.MaxRowsPerRowGroup(int64(len(present))))
	rows := make([]row, len(present))
	for i, k := range present {
		rows[i].Key = string(k)
	}
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	chunk := file.RowGroups()[0].ColumnChunks()[0]
	meta := file.Metadata().RowGroups[0].Columns[0].MetaData
	peer := chunk.BloomFilter()
	at := b.Bytes()[meta.BloomFilterOffset:]
	head, err := interop.Read(bytes.NewReader(at), interop.Parquet, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	set := read(t, interop.Parquet, at[:len(foreign(t, interop.Parquet, head))])
	agree(t, "we read Parquet", set, func(k []byte) bool {
		is, err := peer.Check(parquet.ByteArrayValue(k))
		if err != nil {
			t.Fatal(err)
		}
		return is
	})

	// The library reads our header and our bitset, whose number of blocks is not a power of two.
	set = ourSet(t, "blocked(bits_per_key=11.3,layout=split)", filter.XXH64)
	ours := foreign(t, interop.Parquet, set)
	in := bytes.NewReader(ours)
	var header parquetformat.BloomFilterHeader
	if err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(in)).Decode(&header); err != nil {
		t.Fatal(err)
	}
	bits, err := io.ReadAll(in)
	if err != nil || int(header.NumBytes) != len(bits) {
		t.Fatalf("header of %d bytes before %d: %v", header.NumBytes, len(bits), err)
	}
	again, err := thrift.Marshal(&thrift.CompactProtocol{}, &header)
	if err != nil || !bytes.Equal(again, ours[:len(ours)-len(bits)]) {
		t.Errorf("they write the header as %x, we as %x: %v", again, ours[:len(ours)-len(bits)], err)
	}
	theirs := parquetbloom.MakeSplitBlockFilter(bits)
	agree(t, "Parquet reads us", set, func(k []byte) bool { return theirs.Check(xxhash.Sum64(k)) })
}

// TestGuava compares with Guava itself, in a Java program. It needs javac, and in GUAVA_JAR the path of Guava's jar.
func TestGuava(t *testing.T) {
	jar := os.Getenv("GUAVA_JAR")
	if jar == "" {
		t.Skip("GUAVA_JAR names no archive of Guava")
	}
	dir := t.TempDir()
	if out, err := exec.Command("javac", "-cp", jar, "-d", dir, "testdata/GuavaDoor.java").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	door := func(keys [][]byte, args ...string) []byte {
		cmd := exec.Command("java", append([]string{"-cp", dir + string(os.PathListSeparator) + jar,
			"com.google.common.hash.GuavaDoor"}, args...)...)
		var in bytes.Buffer
		for _, k := range keys {
			in.Write(k)
			in.WriteByte('\n')
		}
		cmd.Stdin, cmd.Stderr = &in, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	present, absent := interopSets()
	all := append(append([][]byte(nil), present...), absent...)
	agreeAll := func(what string, set *bloomery.Set, path string) {
		answers := door(all, "ask", path)
		if len(answers) != len(all) {
			t.Fatalf("%d answers to %d keys", len(answers), len(all))
		}
		by := map[string]bool{}
		for i, k := range all {
			by[string(k)] = answers[i] == '1'
		}
		agree(t, what, set, func(k []byte) bool { return by[string(k)] })
	}
	for _, strategy := range []string{"32", "64"} {
		path := filepath.Join(dir, "theirs"+strategy)
		door(present, "write", strategy, fmt.Sprint(len(present)), "0.02", path)
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		agreeAll("we read Guava, strategy "+strategy, read(t, interop.Guava, file), path)

		set := ourSet(t, "guava(fpr=0.01,strategy="+strategy+")", 0)
		ours := foreign(t, interop.Guava, set)
		path = filepath.Join(dir, "ours"+strategy)
		if err := os.WriteFile(path, ours, 0o600); err != nil {
			t.Fatal(err)
		}
		agreeAll("Guava reads us, strategy "+strategy, set, path)
		door(nil, "rewrite", path, path+"-again")
		if again, err := os.ReadFile(path + "-again"); err != nil || !bytes.Equal(again, ours) {
			t.Errorf("Guava writes other bytes: %v", err)
		}
	}
}
