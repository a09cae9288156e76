package shard

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
)

// EntryOf returns the entry of a filter with that Info, without File, Bytes and SHA256.
func EntryOf(info filter.Info) Entry {
	return Entry{Keys: info.Keys, FPRPrior: Rate(info.FPRPrior), FPRPosterior: Rate(info.FPRPosterior)}
}

// Measure writes the file of a shard to w, and sets Bytes and SHA256.
func (e *Entry) Measure(file io.WriterTo, w io.Writer) error {
	sum := sha256.New()
	n, err := file.WriteTo(io.MultiWriter(w, sum))
	e.Bytes = uint64(n)
	sum.Sum(e.SHA256[:0])
	return err
}

// CheckHeader returns an error wrapping ErrForeign if the header of a file is not the one of shard i: its family, hash
// function, seed, check of the secret, number of keys and length are in the manifest. The error is a
// *container.FormatError with the place of the field.
func (m *Manifest) CheckHeader(i int, f *container.File) error {
	e := m.Shards[i]
	for _, field := range []struct {
		at         uint64
		what       string
		have, want any
	}{
		{10, "family", f.Spec.Family(), m.Spec.Family()},
		{12, "hash", f.Hash, m.Hash},
		{16, "seed", f.Seed, m.Seed},
		{24, "check of the secret", f.KeyCheck, m.KeyCheck},
		{32, "number of keys", f.Keys, e.Keys},
		{40, "length", f.Bytes, e.Bytes},
	} {
		if field.have != field.want {
			return &container.FormatError{Offset: field.at, Err: ErrForeign,
				What: fmt.Sprintf("%s %v, want %v", field.what, field.have, field.want)}
		}
	}
	return nil
}
