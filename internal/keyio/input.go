package keyio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/bloomery/bloomery/internal/untrusted"
)

const (
	// blockSize is the number of bytes that a worker gets at a time. With the 24-byte slice headers of short keys, a
	// block of 256 KiB fits into the second-level cache of a core; one of 1 MiB does not.
	blockSize = 256 << 10
	// stdinName is the name of standard input in errors and batches.
	stdinName = "standard input"
)

// Input is a list of files, or standard input, to read keys from. No file stays open between passes, so there is no
// Close. Only one pass may run at a time.
type Input struct {
	set     settings
	sources []source
	begun   atomic.Bool // a pass has begun
	bad     badRows     // the bad rows of the last pass
	keyless badRows     // the rows of JSONL without a key in the last pass
}

// Open returns an Input that reads the named files one after the other. The path "-" is standard input and is allowed
// once. An empty list means standard input. Open reads nothing. It returns an error if
//
//   - an option is invalid; the error then wraps filter.ErrConfig,
//   - a file does not exist or cannot be opened, or is a directory.
func Open(paths []string, o Options) (*Input, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	in := &Input{set: s, sources: make([]source, len(paths))}
	for i, path := range paths {
		switch {
		case path != "-":
			in.sources[i], err = fileSource(path)
		case slices.Contains(paths[:i], path):
			err = errors.New(`"-" is given twice; standard input can be read only once`)
		default:
			in.sources[i] = stdinSource(s.Stdin)
		}
		if err != nil {
			return nil, err
		}
	}
	return in, nil
}

// OpenReader returns an Input of one pass over r, which is called name in errors and batches. It reads r in one
// goroutine, and never after the pass has returned. r need not pass on keys as soon as they arrive, as standard input
// does.
func OpenReader(name string, r io.Reader, o Options) (*Input, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	return &Input{set: s, sources: []source{{name: name, reader: r, size: -1}}}, nil
}

// Rewindable reports whether every input is a regular file, which allows more than one pass.
func (in *Input) Rewindable() bool { return in.Size() >= 0 }

// Size returns the total size of the inputs in bytes when Open was called, before decompression. It returns -1 if one
// of them is not a regular file. Options.Progress counts up to Size.
func (in *Input) Size() int64 {
	var sum int64
	for i := range in.sources {
		if in.sources[i].size < 0 {
			return -1
		}
		sum += in.sources[i].size
	}
	return sum
}

// Bad returns the number of bad rows that the last pass skipped or, with Pass, accepted as keys, and the error of the
// first one.
func (in *Input) Bad() (rows int64, first error) { return in.bad.rows, in.bad.first }

// Keyless returns the number of rows of JSONL that the last pass skipped because their key is missing, null or an empty
// array, and a text about the first one.
func (in *Input) Keyless() (rows int64, first error) { return in.keyless.rows, in.keyless.first }

// badRows counts bad rows; see Options.BadRows.
type badRows struct {
	rows  int64
	first error // error of the first row
}

func (b *badRows) countRows(rows int64, first error) {
	if b.rows == 0 {
		b.first = first
	}
	b.rows += rows
}

// skipOrStop returns err, the error of a bad row or nil, as a *BadRowError, or nil if the row is skipped.
func (b *badRows) skipOrStop(s *settings, err error) error {
	switch {
	case err == nil:
		return nil
	case s.BadRows != Skip:
		return &BadRowError{err}
	}
	b.countRows(1, err)
	return nil
}

func fileSource(path string) (source, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return source{}, err
	}
	if fi.IsDir() {
		return source{}, fmt.Errorf("%s is a directory; name the files in it", path)
	}
	if !fi.Mode().IsRegular() { // opening a named pipe would block until a writer opens it, too
		return source{name: path, path: path, live: true, size: -1}, nil
	}

	f, _, err := untrusted.Open(path)
	if err != nil {
		return source{}, err
	}
	f.Close()
	return source{name: path, path: path, size: fi.Size()}, nil
}

// stdinSource returns the source of standard input. It is rewindable if r is a regular file.
func stdinSource(r io.Reader) source {
	if f, ok := r.(*os.File); ok {
		fi, err := f.Stat()
		if err == nil && fi.Mode().IsRegular() {
			if at, err := f.Seek(0, io.SeekCurrent); err == nil {
				return source{name: stdinName, file: f, start: at, size: max(fi.Size()-at, 0)}
			}
		}
	}
	return source{name: stdinName, reader: r, live: true, size: -1}
}
