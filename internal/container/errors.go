package container

import (
	"bytes"

	"github.com/bloomery/bloomery/filter"
)

// Broken returns a *filter.FormatError for a part of a file, at an offset in bytes from its start.
func Broken(offset uint64, what string, err error) error {
	return &filter.FormatError{Offset: offset, What: what, Err: err}
}

// badMagic returns the error for a file that begins with b, which is not the magic of a filter file.
func badMagic(b []byte) error {
	if bytes.HasPrefix(b, []byte(ExactMagic)) {
		return Broken(0, "magic", filter.ErrExact)
	}
	return Broken(0, "magic", filter.ErrMagic)
}
