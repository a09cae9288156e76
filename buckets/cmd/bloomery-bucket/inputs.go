package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// stdio names standard input.
const stdio = "-"

const (
	// batchKeys is the largest number of keys per query: enough to fetch many shards at a time.
	batchKeys = 1 << 14
	// maxLine is the largest length of a line in bytes.
	maxLine = 1 << 20
)

// inputs are lists of keys, one per line, which may be compressed by gzip.
type inputs struct {
	paths []string
	stdin io.Reader
}

// inputs returns the inputs with these paths, or standard input if paths is empty. It checks that the files exist.
func (a *app) inputs(paths []string) (inputs, error) {
	in := inputs{paths, a.stdin}
	if len(paths) == 0 {
		in.paths = []string{stdio}
	}
	for i, path := range in.paths {
		if path == stdio {
			if slices.Contains(in.paths[:i], stdio) {
				return in, errors.New(`"-" is given twice; standard input can be read only once`)
			}
			continue
		}
		st, err := os.Stat(path)
		if err == nil && st.IsDir() {
			err = fmt.Errorf("%s is a folder; name files with keys", path)
		}
		if err != nil {
			return in, err
		}
	}
	return in, nil
}

// notOutput returns an error if standard output goes to the file of an input: appended lines would be read again in an
// endless loop.
func (in inputs) notOutput(stdout io.Writer) error {
	out, err := statOf(stdout)
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}

	for _, path := range in.paths {
		st, err := statOf(in.stdin)
		if path != stdio {
			st, err = os.Stat(path)
		} else {
			path = "standard input"
		}
		if err == nil && os.SameFile(out, st) {
			return fmt.Errorf("%s is also where standard output goes; send the output to another file", path)
		}
	}
	return nil
}

// statOf describes the file behind a reader or writer.
func statOf(file any) (fs.FileInfo, error) {
	f, ok := file.(*os.File)
	if !ok {
		return nil, fs.ErrInvalid
	}
	return f.Stat()
}

// eachBatch calls ask with the keys of all inputs, in order. It returns the cause of ctx when ctx ends, even while it
// waits for an input, because a read of a terminal or pipe does not end with ctx.
func (in inputs) eachBatch(ctx context.Context, ask func(keys [][]byte) error) error {
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			for _, path := range in.paths {
				if err := in.readInput(ctx, path, ask); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readInput reads one input.
func (in inputs) readInput(ctx context.Context, path string, ask func(keys [][]byte) error) error {
	r := in.stdin
	if path != stdio {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	if err := readKeys(ctx, r, ask); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readKeys calls ask with the lines of r, without line endings (LF or CR LF) and empty lines. It calls ask as soon as a
// read would block, so that a program that writes keys to a pipe gets their answers.
func readKeys(ctx context.Context, r io.Reader, ask func(keys [][]byte) error) error {
	lines := bufio.NewReaderSize(r, maxLine+2)
	magic, _ := lines.Peek(3)
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(lines)
		if err != nil {
			return err
		}
		lines = bufio.NewReaderSize(z, maxLine+2)
	case string(magic) == "\x28\xb5\x2f", string(magic) == "BZh":
		return errors.New("compressed by zstd or bzip2; decompress it, or use gzip")
	}

	var keys [][]byte
	for ctx.Err() == nil {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if err != nil && err != io.EOF {
			return err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > 0 {
			keys = append(keys, bytes.Clone(line))
		}
		if len(keys) > 0 && (len(keys) == batchKeys || err == io.EOF || lines.Buffered() == 0) {
			if err := ask(keys); err != nil {
				return err
			}
			keys = keys[:0]
		}
		if err == io.EOF {
			return nil
		}
	}
	return context.Cause(ctx)
}
