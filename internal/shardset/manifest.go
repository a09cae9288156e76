package shardset

import (
	"crypto/sha256"
	"io"
	"slices"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// Clone returns a copy of a manifest that shares nothing with it.
func Clone(m *shard.Manifest) *shard.Manifest {
	c := *m
	c.Shards = slices.Clone(m.Shards)
	return &c
}

// EntryOf returns the entry of a filter with that Info, without File, Bytes and SHA256.
func EntryOf(info filter.Info) shard.Entry {
	return shard.Entry{
		Keys: info.Keys, FPRPrior: Rate(info.FPRPrior), FPRPosterior: Rate(info.FPRPosterior),
	}
}

// Measure writes the file of a shard to w, and sets Bytes and SHA256 of its entry.
func Measure(e *shard.Entry, file io.WriterTo, w io.Writer) error {
	sum := sha256.New()
	n, err := file.WriteTo(io.MultiWriter(w, sum))
	e.Bytes = uint64(n)
	sum.Sum(e.SHA256[:0])
	return err
}

// CheckHeader returns an error wrapping shard.ErrForeign if the header of a file is not the one of shard i: its family,
// hash function, seed, check of the secret, number of keys and length are in the manifest. The error is a
// *container.FormatError with the place of the field.
func CheckHeader(m *shard.Manifest, i int, f *container.File) error {
	e := m.Shards[i]
	want := &container.File{Encoded: family.Encoded{Spec: m.Spec, Keys: e.Keys}, Hash: m.Hash, Seed: m.Seed,
		KeyCheck: m.KeyCheck, Bytes: e.Bytes}
	return f.CheckHeader(want, shard.ErrForeign)
}

// Rate rounds a rate to four significant digits, so that manifests from different processors have the same bytes.
func Rate(r float64) float64 { return round(r, 4) }

// ChosenRate returns the false-positive rate that was chosen for a set, from the chosen rates of its shards: their mean
// to three digits, or the rate itself if they are equal. It is 0 if a shard has none.
func ChosenRate(rates []float64) float64 {
	sum := 0.0
	for _, r := range rates {
		if r == 0 {
			return 0
		}
		sum += r
	}
	if distinct := slices.Compact(slices.Clone(rates)); len(distinct) == 1 {
		return distinct[0]
	}
	return round(sum/float64(max(len(rates), 1)), 3)
}

func round(r float64, digits int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(r, 'g', digits, 64), 64) // parses what was formatted
	return v
}
