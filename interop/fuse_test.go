package interop_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/FastFilter/xorfilter"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
)

// numbers returns n numbers. The first 100 are the keys of the FastFilter files in testdata.
func numbers(n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	return keys
}

// holds checks that a filter read from b contains the keys, estimates about their number, has the rate of its width,
// and is written as b.
func holds(t *testing.T, b []byte, f interop.Format, keys []uint64) *bloomery.Set {
	t.Helper()
	set := same(t, b, f)
	numbers := bloomery.Keyed[uint64](set)
	for _, k := range keys {
		if !numbers.Contains(k) {
			t.Fatalf("%s: %d is missing", f, k)
		}
	}
	most := 3 + 0.03*float64(len(keys))
	if strings.HasPrefix(string(f), "xorf") && !strings.HasPrefix(string(f), "xorfilter") { // random slots tell nothing
		most = 0.2 * float64(len(keys))
	}
	if n := float64(set.Info().Keys); math.Abs(n-float64(len(keys))) > most {
		t.Errorf("%s: %g keys, want %d", f, n, len(keys))
	}
	r, found := rand.New(rand.NewPCG(1, 2)), 0.0
	const trials = 100_000
	for range trials {
		if numbers.Contains(r.Uint64()) {
			found++
		}
	}
	if want := set.Info().FPRPrior * trials; math.Abs(found-want) > 5*math.Sqrt(want+1) {
		t.Errorf("%s: %g false positives, want %g", f, found, want)
	}
	return set
}

// TestFastFilterGolden reads the files of the C library and of the Rust crate.
func TestFastFilterGolden(t *testing.T) {
	for _, f := range []interop.Format{interop.FastFilter8, interop.FastFilter16, interop.Xorf8, interop.Xorf16,
		interop.Xorf32} {
		b := file(t, string(f))
		if got, err := interop.Detect(bytes.NewReader(b), int64(len(b))); got != f || err != nil {
			t.Errorf("%s is recognised as %q, %v", f, got, err)
		}
		holds(t, b, f, numbers(100))
	}
}

// saver is a filter of xorfilter.
type saver interface {
	Save(io.Writer) error
	Contains(uint64) bool
}

// TestXorFilter compares our filters with the Go library in both directions, including sizes whose slots end within a
// word.
func TestXorFilter(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 10, 100, 1000, 100_000} {
		keys := numbers(n)
		made := map[interop.Format]saver{}
		var err [3]error
		made[interop.XorFilter8], err[0] = xorfilter.PopulateBinaryFuse8(slices.Clone(keys))
		made[interop.XorFilter16], err[1] = xorfilter.NewBinaryFuse[uint16](slices.Clone(keys))
		made[interop.XorFilter32], err[2] = xorfilter.NewBinaryFuse[uint32](slices.Clone(keys))
		if e := errors.Join(err[:]...); e != nil {
			t.Fatal(e)
		}
		for f, theirs := range made {
			var b bytes.Buffer
			check(t, theirs.Save(&b))
			ours := bloomery.Keyed[uint64](holds(t, b.Bytes(), f, keys))
			r := rand.New(rand.NewPCG(3, uint64(n)))
			for range 20_000 {
				if k := r.Uint64(); ours.Contains(k) != theirs.Contains(k) {
					t.Fatalf("%s of %d keys: the answers for %d differ", f, n, k)
				}
			}
		}
	}
}

// TestXorFilterBuilt checks that the Go library reads what we build.
func TestXorFilterBuilt(t *testing.T) {
	none := must(bloomery.Build(t.Context(), slices.Values[[]uint64](nil),
		bloomery.Config{Spec: "fuse(width=32)", Hashing: bloomery.Hashing{ID: filter.Uint64}}))
	var b bytes.Buffer
	empty, err := xorfilter.NewBinaryFuse[uint32](nil)
	if err != nil || empty.Save(&b) != nil {
		t.Fatal(err)
	}
	// The seed of a filter of 0 keys is arbitrary.
	if ours := write(t, none, interop.XorFilter32); !bytes.Equal(ours[8:], b.Bytes()[8:]) {
		t.Errorf("without keys: %x, the library writes %x", ours, b.Bytes())
	}

	keys := numbers(5000)
	set := must(bloomery.Build(context.Background(), slices.Values(keys),
		bloomery.Config{Spec: "fuse(width=16)", Hashing: bloomery.Hashing{ID: filter.Uint64}}))
	theirs := must(xorfilter.LoadBinaryFuse[uint16](bytes.NewReader(write(t, set, interop.XorFilter16))))
	for _, k := range keys {
		if !theirs.Contains(k) {
			t.Fatalf("%d is missing there", k)
		}
	}
	if f, ok := interop.FormatOf(set); f != interop.XorFilter16 || !ok {
		t.Errorf("it is written as %q", f)
	}
	for f, want := range map[interop.Format]string{interop.XorFilter8: "is for fuse(width=8)",
		interop.Guava: "is for guava"} {
		if err := interop.Write(io.Discard, set, f); !errors.Is(err, interop.ErrFormat) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestFuseRefuses checks that JSON, and numbers of slots that contradict each other, are refused.
func TestFuseRefuses(t *testing.T) {
	for _, f := range []interop.Format{interop.FastFilter8, interop.Xorf8} {
		b := file(t, string(f))
		for i := 8; i < 28; i++ {
			if f == interop.FastFilter8 && i < 12 {
				continue // the number of keys
			}
			c := slices.Clone(b)
			c[i] ^= 1
			if _, err := interop.Read(bytes.NewReader(c), f, 1<<20); !errors.Is(err, interop.ErrFormat) {
				t.Errorf("%s with byte %d changed: %v", f, i, err)
			}
		}
	}
	json := `{"seed":123,"segment_length":32,"segment_length_mask":31,"segment_count_length":96,"fingerprints":[1,2]}`
	if _, err := interop.Detect(strings.NewReader(json), int64(len(json))); !errors.Is(err, interop.ErrForm) ||
		!strings.Contains(err.Error(), "JSON") {
		t.Errorf("JSON of xorf: %v", err)
	}
}

// TestXorfForms checks that filters of xorf in bincode with varints and by DmaSerializable are recognised. The smallest
// ones are shorter than a header of the supported form and are not recognised.
func TestXorfForms(t *testing.T) {
	for width, f := range map[int]interop.Format{8: interop.Xorf8, 16: interop.Xorf16, 32: interop.Xorf32} {
		for _, n := range []int{10, 100, 100_000} {
			spec := fmt.Sprintf("fuse(width=%d)", width)
			c := bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{ID: filter.Uint64}, Keys: uint64(n)}
			set := must(bloomery.Build(context.Background(), slices.Values(numbers(n)), c))
			b := write(t, set, f)
			for what, file := range map[string][]byte{
				"variable size":   varints(b, width),
				"DmaSerializable": append(slices.Clone(b[:20]), b[28:]...),
			} {
				for _, form := range []error{detected(file), reading(file, f)} {
					if !errors.Is(form, interop.ErrForm) || !strings.Contains(form.Error(), what) {
						t.Errorf("%s, %d keys, %s: %v", f, n, what, form)
					}
				}
			}
		}
	}
	b := file(t, "xorf8")
	for i := range 13 {
		changed := varints(b, 8)
		changed[i] ^= 1
		if err := detected(changed); errors.Is(err, interop.ErrForm) != (0 < i && i < 9) { // the bytes of the seed
			t.Errorf("varints with byte %d changed: %v", i, err)
		}
	}
}

// varints converts a filter of xorf in bincode from integers of fixed size to integers of variable size.
func varints(b []byte, width int) (all []byte) {
	add := func(number []byte) {
		var word [8]byte
		copy(word[:], number)
		switch v := binary.LittleEndian.Uint64(word[:]); {
		case v <= 250:
			all = append(all, byte(v))
		case v < 1<<16:
			all = append(append(all, 251), word[:2]...)
		case v < 1<<32:
			all = append(append(all, 252), word[:4]...)
		default:
			all = append(append(all, 253), word[:]...)
		}
	}
	for _, end := range [][2]int{{0, 8}, {8, 12}, {12, 16}, {16, 20}, {20, 28}} {
		add(b[end[0]:end[1]])
	}
	if width == 8 {
		return append(all, b[28:]...)
	}
	for slot := range slices.Chunk(b[28:], width/8) {
		add(slot)
	}
	return all
}

// detected returns the error of Detect.
func detected(b []byte) error {
	_, err := interop.Detect(bytes.NewReader(b), int64(len(b)))
	return err
}

// reading returns the error of Read.
func reading(b []byte, f interop.Format) error {
	_, err := interop.Read(bytes.NewReader(b), f, 1<<30)
	return err
}
