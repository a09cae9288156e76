package container

import (
	"bytes"
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// FormatError is an error at a position of a file. It wraps one of the errors of files of package filter, or
// io.ErrUnexpectedEOF.
type FormatError struct {
	Offset uint64 // in bytes from the start of the file
	What   string // the part of the file at Offset
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s at byte %d: %v", e.What, e.Offset, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// Broken returns a *FormatError for a part of a file, at an offset in bytes from its start.
func Broken(offset uint64, what string, err error) error {
	return &FormatError{Offset: offset, What: what, Err: err}
}

// badMagic returns the error for a file that begins with b, which is not the magic of a filter file.
func badMagic(b []byte) error {
	if bytes.HasPrefix(b, []byte(ExactMagic)) {
		return Broken(0, "magic", filter.ErrExact)
	}
	return Broken(0, "magic", filter.ErrMagic)
}
