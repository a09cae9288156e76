package keyio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

const (
	// blockSize is how much of an input a worker gets at a time, in bytes. With the 24-byte slice headers of
	// short keys on top, a block of 256 KiB stays in a core's second-level cache, and one of 1 MiB does not.
	blockSize = 256 << 10
	// stdinName stands for standard input in errors and batches.
	stdinName = "standard input"
)

// Input is a list of files, or standard input, to read keys from. It holds nothing open between passes and
// needs no Close. One pass at a time may run.
type Input struct {
	set       settings
	sources   []source
	blockSize int         // bytes; tests make it small
	begun     atomic.Bool // whether a pass has begun
}

// Open returns the keys of the named inputs, one after the other. The path "-", allowed once, is standard input,
// and so is an empty list. Open checks the options, wrapping filter.ErrConfig, and that every input exists, is
// not a directory and can be opened; it reads nothing yet.
func Open(paths []string, o Options) (*Input, error) {
	s, err := o.check()
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	in := &Input{set: s, blockSize: blockSize}
	stdin := false
	for _, path := range paths {
		var src source
		if path == "-" {
			if stdin {
				return nil, errors.New(`"-" is given twice; standard input can be read once`)
			}
			stdin = true
			src = stdinSource(s.Stdin)
		} else if src, err = fileSource(path); err != nil {
			return nil, err
		}
		in.sources = append(in.sources, src)
	}
	return in, nil
}

// Rewindable reports whether every input is a regular file, so that there can be more than one pass.
func (in *Input) Rewindable() bool { return in.Size() >= 0 }

// Size returns the sum of the sizes of the inputs in bytes, compressed as they are, when Open saw them, or -1 if
// one is not a regular file. Options.Progress counts up to it.
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

// begin notes that a pass begins. A pass over a pipe begins once.
func (in *Input) begin() error {
	if in.begun.Swap(true) && !in.Rewindable() {
		return ErrNotRewindable
	}
	return nil
}

// fileSource returns the source of a path.
func fileSource(path string) (source, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return source{}, err
	}
	if fi.IsDir() {
		return source{}, fmt.Errorf("%s is a directory; name the files in it", path)
	}
	src := source{name: path, path: path, size: -1}
	if fi.Mode().IsRegular() { // opening a named pipe would wait for its writer
		src.size = fi.Size()
		f, err := os.Open(path)
		if err != nil {
			return source{}, err
		}
		f.Close()
	}
	return src, nil
}

// stdinSource returns the source of standard input, rewindable if a regular file was redirected to it.
func stdinSource(r io.Reader) source {
	src := source{name: stdinName, stdin: r, size: -1}
	f, ok := r.(*os.File)
	if !ok {
		return src
	}
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return src
	}
	if at, err := f.Seek(0, io.SeekCurrent); err == nil {
		src.file, src.start, src.size = f, at, max(fi.Size()-at, 0)
	}
	return src
}
