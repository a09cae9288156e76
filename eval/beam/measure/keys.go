package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// text returns a file with n keys, each a line of 20 bytes. It creates the file if it does not exist.
func (b *bench) text(n int) (string, error) {
	path := b.path(fmt.Sprintf("keys-%d.txt", n))
	return path, make1(path, func(w io.Writer) error { return lines(w, 0, n) })
}

// zipped returns the pattern of parts files compressed with gzip, which contain n keys together.
func (b *bench) zipped(n, parts int) (string, error) {
	for p := range parts {
		path := b.path(fmt.Sprintf("keys-%d-%03d.txt.gz", n, p))
		err := make1(path, func(w io.Writer) error {
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
			return errors.Join(lines(z, n/parts*p, n/parts*(p+1)), z.Close())
		})
		if err != nil {
			return "", err
		}
	}
	return b.path(fmt.Sprintf("keys-%d-*.txt.gz", n)), nil
}

// small returns the pattern of a number of files, each with the given number of keys.
func (b *bench) small(files, each int) (string, error) {
	dir := b.path("small")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for f := range files {
		path := filepath.Join(dir, fmt.Sprintf("%05d.txt", f))
		if err := make1(path, func(w io.Writer) error { return lines(w, f*each, (f+1)*each) }); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "*.txt"), nil
}

// make1 creates a file if it does not exist.
func make1(path string, write func(io.Writer) error) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// lines writes the keys from number from to number to.
func lines(w io.Writer, from, to int) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, &keys{uint64(from), uint64(to), nil}, make([]byte, 1<<20))
	return err
}

// lineSize is the length of a key with its line end.
const lineSize = 20

// keys is an io.Reader of lines that are generated as they are read.
type keys struct {
	next, end uint64
	rest      []byte // lines that are generated but not yet read
}

func (k *keys) Read(p []byte) (n int, err error) {
	if len(k.rest) == 0 {
		if k.next == k.end {
			return 0, io.EOF
		}
		k.rest = make([]byte, lineSize*min(k.end-k.next, 1<<12))
		for at := 0; at < len(k.rest); at += lineSize {
			line(k.rest[at:at+lineSize], k.next)
			k.next++
		}
	}
	n = copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// line writes the line of key i, which has lineSize bytes: SplitMix64 of i in hexadecimal.
func line(p []byte, i uint64) {
	x := i * 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	x ^= x >> 31
	const digits = "0123456789abcdef"
	copy(p, "key")
	for at := lineSize - 2; at >= 3; at-- {
		p[at] = digits[x&15]
		x >>= 4
	}
	p[lineSize-1] = '\n'
}
