package shardfile

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Header is what a manifest says about the header of the file of a shard.
type Header struct {
	Family         string
	Hash           filter.HashID
	Seed, KeyCheck uint64
	Keys           uint64
	Bytes          uint64 // length of the file
}

// Check returns an error wrapping foreign if the header of a file differs. The error is a *container.FormatError with the
// place of the first field that does.
func (h Header) Check(f *container.File, foreign error) error {
	for _, field := range []struct {
		at         uint64
		what       string
		have, want any
	}{
		{10, "family", f.Spec.Family(), h.Family},
		{12, "hash", f.Hash, h.Hash},
		{16, "seed", f.Seed, h.Seed},
		{24, "check of the secret", f.KeyCheck, h.KeyCheck},
		{32, "number of keys", f.Keys, h.Keys},
		{40, "length", f.Bytes, h.Bytes},
	} {
		if field.have != field.want {
			return &container.FormatError{Offset: field.at, Err: foreign,
				What: fmt.Sprintf("%s %v, want %v", field.what, field.have, field.want)}
		}
	}
	return nil
}
