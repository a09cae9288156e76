package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/steps"
)

// text returns a file with n keys, a line of 20 bytes each. It makes the file unless it is there.
func (b *bench) text(n int) (string, error) {
	path := b.path(fmt.Sprintf("keys-%d.txt", n))
	return path, make1(path, func(w io.Writer) error { return lines(w, 0, n) })
}

// zipped returns the pattern of parts files compressed with gzip, which have n keys together.
func (b *bench) zipped(n, parts int) (string, error) {
	for p := range parts {
		path := b.path(fmt.Sprintf("keys-%d-%03d.txt.gz", n, p))
		err := make1(path, func(w io.Writer) error {
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
			if err != nil {
				return err
			}
			return errors.Join(lines(z, n/parts*p, n/parts*(p+1)), z.Close())
		})
		if err != nil {
			return "", err
		}
	}
	return b.path(fmt.Sprintf("keys-%d-*.txt.gz", n)), nil
}

// small returns the pattern of files with each keys each.
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

// make1 makes a file unless it is there.
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

// keys is an io.Reader of lines that are made as they are read.
type keys struct {
	next, end uint64
	rest      []byte // of the last line
}

func (k *keys) Read(p []byte) (n int, err error) {
	if len(k.rest) == 0 && k.next == k.end {
		return 0, io.EOF
	}
	for n < len(p) {
		if len(k.rest) == 0 {
			if k.next == k.end {
				break
			}
			if len(p)-n >= lineSize {
				line(p[n:n+lineSize], k.next)
				n += lineSize
				k.next++
				continue
			}
			k.rest = make([]byte, lineSize)
			line(k.rest, k.next)
			k.next++
		}
		c := copy(p[n:], k.rest)
		k.rest = k.rest[c:]
		n += c
	}
	return n, nil
}

// line writes the line of a key, which has lineSize bytes: a number in hexadecimal that SplitMix64 makes of i.
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

// made is a steps.Format of keys that are made as they are read, so that 500 million keys need no file of 10 GB. An
// object is a recipe: a line with the numbers of the first key, and of the key after the last, as for lines. Spans
// count keys. The keys are lines, which are read like the lines of a file.
type made struct{}

const madeName = "made"

// timesVariable names a file to which Read adds a line for each range: when it began and ended, in nanoseconds.
const timesVariable = "BLOOMERY_MEASURE_TIMES"

// recipe makes a recipe of n keys.
func (b *bench) recipe(n int) (string, error) {
	path := b.path(fmt.Sprintf("keys-%d.made", n))
	return path, os.WriteFile(path, fmt.Appendf(nil, "0 %d\n", n), 0o666)
}

// Split divides a recipe into at least two spans.
func (made) Split(ctx context.Context, in steps.Source, o steps.Object, size int64) ([]steps.Span, error) {
	r, err := in.Open(ctx, o.Name, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var from, to int64
	if _, err := fmt.Fscan(r, &from, &to); err != nil || from < 0 || to < from+2 {
		return nil, fmt.Errorf("%s: want two numbers, of the first key and of the key after the last: %w", o.Name, err)
	}
	each := max(min(size/lineSize, (to-from)/2), 1)
	var spans []steps.Span
	for ; from < to; from += each {
		spans = append(spans, steps.Span{Offset: from, Length: min(each, to-from)})
	}
	return spans, nil
}

func (made) Read(ctx context.Context, _ steps.Source, o steps.Object, s steps.Span, r steps.Reading) error {
	start := time.Now()
	input, err := keyio.OpenReader(o.Name, &keys{uint64(s.Offset), uint64(s.Offset + s.Length), nil},
		keyio.Options{Plain: true, Progress: func(bytes int64) { r.Progress(bytes / lineSize) }})
	if err == nil {
		err = input.Process(ctx, r.Workers, func(_ int, b *keyio.Batch) error { return r.Work(b) }, r.Emit)
	}
	return errors.Join(err, noteTime(start, time.Now()))
}

var timesMutex sync.Mutex

// noteTime adds the times of a range to the file of timesVariable.
func noteTime(start, end time.Time) error {
	path := os.Getenv(timesVariable)
	if path == "" {
		return nil
	}
	timesMutex.Lock()
	defer timesMutex.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%d %d %d\n", os.Getpid(), start.UnixNano(), end.UnixNano())
	return errors.Join(err, f.Close())
}
