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

// ErrWindow is the error of readers of other files for a file of package window. It wraps filter.ErrMagic.
var ErrWindow error = windowError{}

type windowError struct{}

func (windowError) Error() string {
	return "a file of package window, a filter whose keys expire; open it with package window"
}

func (windowError) Unwrap() error { return filter.ErrMagic }

// OtherKind returns the error for a file that begins with b and is not a filter file: filter.ErrExact, ErrWindow or
// filter.ErrMagic.
func OtherKind(b []byte) error {
	switch {
	case bytes.HasPrefix(b, []byte(ExactMagic)):
		return filter.ErrExact
	case bytes.HasPrefix(b, []byte(windowMagic)):
		return ErrWindow
	}
	return filter.ErrMagic
}
