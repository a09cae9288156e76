package container

import (
	"bytes"
	"errors"
	"fmt"
)

// Sentinels of reading and of ReplaceFile. Reading also uses filter.ErrFamily, filter.ErrTooLarge and
// io.ErrUnexpectedEOF.
var (
	ErrMagic = errors.New("not a Bloomery file")
	// ErrExact means that a file is an exact set, which package exact reads. It wraps ErrMagic.
	ErrExact    error = &kind{"an exact set, not a filter file", ErrMagic}
	ErrVersion        = errors.New("written by a newer version of Bloomery")
	ErrHash           = errors.New("unknown hash function")
	ErrChecksum       = errors.New("checksum does not match: the file is damaged")
	ErrCorrupt        = errors.New("the file contradicts itself")
	// ErrSecret means that the hash is keyed and the secret is missing or wrong.
	ErrSecret = errors.New("the secret is not the one that this filter was built with")
	// ErrNoSecret means that the hash is keyed and no secret was given. It wraps ErrSecret.
	ErrNoSecret error = &kind{"the filter was built with a secret, and none was given", ErrSecret}
	// ErrChanged means that another process changed a file after it was read and before it was replaced.
	ErrChanged = errors.New("another process changed the file meanwhile")
	// ErrOwner means that a file was replaced, but could not get the owner and the group of the old one.
	ErrOwner = errors.New("the file has another owner or group than before")
)

// FormatError is an error at a position of a file. It wraps one of the sentinels.
type FormatError struct {
	Offset uint64 // in bytes from the start of the file
	What   string // the part of the file at Offset
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s at byte %d: %v", e.What, e.Offset, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// kind is a sentinel with its own text that wraps a more general one.
type kind struct {
	text string
	of   error
}

func (k *kind) Error() string { return k.text }

func (k *kind) Unwrap() error { return k.of }

// badMagic returns the error for a file that begins with b, which is not the magic of a filter file.
func badMagic(b []byte) error {
	if bytes.HasPrefix(b, []byte(ExactMagic)) {
		return &FormatError{0, "magic", ErrExact}
	}
	return &FormatError{0, "magic", ErrMagic}
}
