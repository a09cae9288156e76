package shardset

import (
	"crypto/sha256"
	"io"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/shard"
)

// Clone returns a copy of a manifest that shares nothing with it.
func Clone(m *shard.Manifest) *shard.Manifest {
	c := *m
	c.Shards = slices.Clone(m.Shards)
	return &c
}

// Matches reports whether h is the hash function of the keys of a set.
func Matches(m *shard.Manifest, h filter.Hasher) bool {
	return h.ID() == m.Hash && h.Seed() == m.Seed && (m.Hash != filter.SipHash || h.KeyCheck() == m.KeyCheck)
}

// EntryOf returns the entry of a filter with that Info, without File, Bytes and SHA256.
func EntryOf(info filter.Info) shard.Entry {
	return shard.Entry{
		Keys: info.Keys, FPRPrior: shardfile.Rate(info.FPRPrior), FPRPosterior: shardfile.Rate(info.FPRPosterior),
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
	want := shardfile.Header{Family: m.Spec.Family(), Hash: m.Hash, Seed: m.Seed, KeyCheck: m.KeyCheck, Keys: e.Keys,
		Bytes: e.Bytes}
	return want.Check(f, shard.ErrForeign)
}
