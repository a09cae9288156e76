package container

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/sums"
)

// trimmedSpecs lists the tested specs of each family that has a trimmed form.
var trimmedSpecs = map[string][]string{
	"rankindexed": {
		"rankindexed(bits_per_key=6)", "rankindexed(fpr=0.01)", "rankindexed(fpr=0.0003)", "rankindexed(bucket=512,fpr=0.03)",
		"rankindexed(counting=1,fpr=0.01)", "rankindexed(fpr=0.01,value_bits=9)", "rankindexed(bits_per_key=40)",
		"rankindexed(bucket=8192,fpr=0.001)", "rankindexed(fpr=0.02,growth=2)",
	},
}

// TestTrimmed stores filters in their trimmed form and requires the same filters after reading.
func TestTrimmed(t *testing.T) {
	for _, f := range families.All() {
		if f.Can.Has(family.CanTrim) != (f.Inflated != nil) {
			t.Errorf("family %s: CanTrim and Inflated go together", f.Name)
		}
		if !f.Can.Has(family.CanTrim) {
			continue
		}
		if len(trimmedSpecs[f.Name]) == 0 {
			t.Errorf("family %s has no specs to try", f.Name)
		}
		for _, spec := range trimmedSpecs[f.Name] {
			kind, parsed := parseSpec(t, spec)
			h := filter.NewHasher(1)
			whole := fill(t, kind, parsed, h, portableKeys(3000))
			full, sent := written(t, whole, h, 0), written(t, trimmed(trimmed(whole)), h, 0)
			got, err := readFilter(bytes.NewReader(sent), math.MaxInt64, reading{})
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			if !got.Trimmed || got.FileBytes >= uint64(len(full)) {
				t.Errorf("%s: %d bytes, and %d trimmed: %t", spec, len(full), got.FileBytes, got.Trimmed)
			}
			if !bytes.Equal(written(t, got.Filter, h, 0), full) {
				t.Errorf("%s: another filter came back", spec)
			}
			if got, want := fmt.Sprint(got.Filter.Info()), fmt.Sprint(whole.Info()); got != want {
				t.Errorf("%s: info %s, want %s", spec, got, want)
			}
		}
	}
}

// TestInflatedOverflow checks that a spec whose extensions would need 2^64 bytes is refused.
func TestInflatedOverflow(t *testing.T) {
	f, s := parseSpec(t, "rankindexed(buckets=1,capacity=1000,cells=40,cells2=8192,chains=64,pool2=281474976710656,"+
		"remainder=48,trimmed=0,value_bits=15)")
	if n, err := f.Inflated(s); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestTrimmedLimit reads small trimmed filters that become larger than the limit of Read.
func TestTrimmedLimit(t *testing.T) {
	forged := func(spec string, words uint64) []byte {
		f, s := parseSpec(t, spec)
		var err error
		h := &header{File: File{Family: f.ID, Hash: filter.XXH3, Encoded: family.Encoded{Spec: s}}}
		h.sections, h.dataAt, h.Bytes, err = layout(len(spec), []uint64{words})
		if err != nil {
			t.Fatal(err)
		}
		for i := range h.sections {
			h.sections[i].crc = sums.CRC(make([]byte, h.sections[i].length))
		}
		return append(h.marshal(), make([]byte, h.Bytes-h.dataAt)...)
	}
	for name, c := range map[string]struct {
		parameters string
		words      uint64 // words of the trimmed form
		maxBytes   uint64
		want       error
	}{
		"30 times, within the limit":   {"buckets=4096,capacity=1000,cells=40,chains=64,remainder=47", 4096, 1 << 21, nil},
		"30 times, over the limit":     {"buckets=4096,capacity=1000,cells=40,chains=64,remainder=47", 4096, 1 << 20, filter.ErrTooLarge},
		"the extensions of a bucket":   {"buckets=1,capacity=1000,cells=40,cells2=100,chains=64,pool2=1000000,remainder=47", 1, 1 << 28, filter.ErrTooLarge},
		"beyond all bounds":            {"buckets=1,capacity=1000,cells=40,cells2=8000,chains=64,pool2=281474976710656,remainder=47", 1, math.MaxInt64, filter.ErrCorrupt},
		"a product that is 2^64 bits":  {"buckets=1,capacity=1000,cells=40,cells2=1337,chains=64,pool2=281474976710656,remainder=48", 1, math.MaxInt64, filter.ErrCorrupt},
		"over the limit by its header": {"buckets=1,capacity=1000,cells=40,chains=64,remainder=47", 1, 300, filter.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			file := forged("rankindexed("+c.parameters+",trimmed=0)", c.words)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := readFilter(bytes.NewReader(file), c.maxBytes, reading{})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.want) || err == nil && !got.Trimmed {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err != nil && !isSentinel(err) {
				t.Errorf("%v is no error of a file", err)
			}
			allowed := uint64(1 << 20)
			if err == nil {
				allowed += c.maxBytes
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > allowed {
				t.Errorf("%d bytes allocated for a file of %d, %d allowed", n, len(file), allowed)
			}
		})
	}
}
