package spool

import (
	"errors"
	"os"
)

// Temp is a temporary file that only this user can read. Close removes it; on Unix it also vanishes whenever the process
// ends.
type Temp struct {
	*os.File
	removed bool // it is already unlinked
}

// CreateTemp is os.CreateTemp for a Temp.
func CreateTemp(dir, pattern string) (*Temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{f, os.Remove(f.Name()) == nil}, nil // fails on Windows for an open file: Close removes it
}

// Close closes and removes the file. A nil Temp has nothing to close.
func (t *Temp) Close() error {
	if t == nil {
		return nil
	}
	err := t.File.Close()
	if !t.removed {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
