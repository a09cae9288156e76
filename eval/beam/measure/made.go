package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/steps"
)

// made is a steps.Format of keys that are generated as they are read, so that 500 million keys do not need a file of 10
// GB. An object is a recipe: a line with the number of the first key and the number after the last key, as for lines.
// Spans are ranges of keys. The keys are lines, which are read like the lines of a file.
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
