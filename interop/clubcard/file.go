package clubcard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bloomery/bloomery/internal/untrusted"
)

const (
	// maxFile is the largest file that is read, 1 GiB.
	maxFile = 1 << 30
	// headSize is the number of bytes of a file that tell its format.
	headSize = len(indexMagic)
)

// regular returns an error wrapping untrusted.ErrNotRegular unless stat says that a file is regular.
func regular(name string, stat func(name string) (fs.FileInfo, error)) error {
	st, err := stat(name)
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: untrusted.ErrNotRegular}
	}
	return err
}

// readFile returns what read makes of a regular file. It reads the rest only if the first bytes are not those of
// another format, for which read must return an error wrapping ErrFormat or ErrIndex.
func readFile[T any](folder fs.FS, name string, read func([]byte) (T, error)) (v T, err error) {
	if s, ok := folder.(fs.StatFS); ok { // to open a pipe would wait for its writer
		if err := regular(name, s.Stat); err != nil {
			return v, err
		}
	}
	f, err := folder.Open(name)
	if err != nil {
		return v, err
	}
	defer f.Close()
	if err := regular(name, func(string) (fs.FileInfo, error) { return f.Stat() }); err != nil {
		return v, err
	}
	limit := untrusted.Limit{MaxBytes: maxFile, Head: headSize, Check: func(head []byte) error {
		if _, err := read(head); errors.Is(err, ErrFormat) || errors.Is(err, ErrIndex) {
			return err
		}
		return nil // perhaps cut
	}}
	data, err := untrusted.Read(context.Background(), f, limit)
	if err == nil {
		v, err = read(data)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}
