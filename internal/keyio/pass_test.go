package keyio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bloomery/bloomery/filter"
)

func randSeeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

// TestProcessOrder makes workers finish in any order and checks that emit is called in the order of the input.
func TestProcessOrder(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "%d\n", i)
	}
	for _, workers := range []int{0, 1, 2, 8} {
		in := open(t, Options{}, 64, text.String())
		var calls atomic.Int64
		next := 0
		err := in.Process(t.Context(), workers, func(worker int, b *Batch) error {
			if workers > 0 && (worker < 0 || worker >= workers) {
				t.Errorf("worker %d of %d", worker, workers)
			}
			if len(b.Out) != 0 || len(b.Hashes) != 0 {
				t.Errorf("scratch is not empty: %q, %v", b.Out, b.Hashes)
			}
			if calls.Add(1)%7 == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			for _, k := range b.Keys {
				b.Out = append(append(b.Out, k...), ' ')
				b.Hashes = append(b.Hashes, filter.Hash{Lo: uint64(len(k))})
			}
			return nil
		}, func(b *Batch) error {
			out := strings.Fields(string(b.Out))
			if len(b.Hashes) != len(b.Keys) || len(out) != len(b.Keys) {
				t.Errorf("%d keys, %d hashes, output %q", len(b.Keys), len(b.Hashes), b.Out)
			}
			for _, s := range out {
				if s != fmt.Sprint(next) {
					t.Fatalf("workers %d: key %s at place %d", workers, s, next)
				}
				next++
			}
			return nil
		})
		if err != nil || next != 2000 {
			t.Errorf("workers %d: %d keys, %v", workers, next, err)
		}
	}
}

func TestWorkersSeeEveryKeyOnce(t *testing.T) {
	in := open(t, Options{}, 64, strings.Repeat("0123456789\n", 3000))
	var n [4]int // each worker has its own
	err := in.Process(t.Context(), len(n), func(worker int, b *Batch) error {
		n[worker] += len(b.Keys)
		return nil
	}, nil)
	if sum := n[0] + n[1] + n[2] + n[3]; err != nil || sum != 3000 {
		t.Errorf("%v keys, %v", n, err)
	}
}

// TestStops ends passes over an endless input in every way. TestMain checks that no goroutine is still running.
func TestStops(t *testing.T) {
	stop := errors.New("stop")
	for _, format := range []Format{Lines, CSV} {
		for _, tt := range []struct {
			name string
			run  func(ctx context.Context, cancel context.CancelCauseFunc, in *Input) error
		}{
			{"work", func(ctx context.Context, _ context.CancelCauseFunc, in *Input) error {
				var calls atomic.Int64
				return in.Process(ctx, 2, func(int, *Batch) error {
					if calls.Add(1) == 5 {
						return stop
					}
					return nil
				}, func(*Batch) error { return nil })
			}},
			{"emit", func(ctx context.Context, _ context.CancelCauseFunc, in *Input) error {
				calls := 0
				return in.Process(ctx, 2, nil, func(*Batch) error {
					if calls++; calls == 5 {
						return stop
					} else if calls > 5 {
						t.Error("emit was called after its error")
					}
					return nil
				})
			}},
			{"cancel in work", func(ctx context.Context, cancel context.CancelCauseFunc, in *Input) error {
				return in.Process(ctx, 2, func(int, *Batch) error { cancel(stop); return nil }, nil)
			}},
			{"cancel in count", func(ctx context.Context, cancel context.CancelCauseFunc, in *Input) error {
				time.AfterFunc(time.Millisecond, func() { cancel(stop) })
				n, err := in.Count(ctx)
				if n != 0 {
					t.Errorf("Count = %d with an error", n)
				}
				return err
			}},
			{"cancelled before", func(ctx context.Context, cancel context.CancelCauseFunc, in *Input) error {
				cancel(stop)
				return in.Process(ctx, 2, func(int, *Batch) error { t.Error("work was called"); return nil }, nil)
			}},
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			endless := &lineReader{n: -1}
			in, err := Open(nil, Options{Format: format, Stdin: endless})
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.run(ctx, cancel, in); err != stop {
				t.Errorf("%s, %s: error %v", format, tt.name, err)
			}
			cancel(nil)
		}
	}
}

// TestFirstErrorWins makes work fail on many keys, and the input at its end. Process must return the first of these
// errors after it has called emit for all batches before the error.
func TestFirstErrorWins(t *testing.T) {
	for range 20 {
		text := strings.Repeat("good\nmore\n", 50) + strings.Repeat("bad 1\nbad 2\n", 50) + "bad key beyond"
		in := open(t, Options{MaxKey: 10}, 10, text)
		emitted := 0
		err := in.Process(t.Context(), 4, func(_ int, b *Batch) error {
			if string(b.Keys[0]) != "good" && string(b.Keys[0]) != "more" {
				return fmt.Errorf("line %d", b.Line)
			}
			return nil
		}, func(b *Batch) error { emitted += len(b.Keys); return nil })
		if fmt.Sprint(err) != "line 101" || emitted != 100 {
			t.Fatalf("error %v after %d keys", err, emitted)
		}
	}
}

// TestEmptyFields reads fields that are all empty, so that no block is sent.
func TestEmptyFields(t *testing.T) {
	var progress int64
	o := Options{Format: CSV, Column: "2", Progress: func(n int64) { progress = n }}
	in := open(t, o, blockSize, strings.Repeat("a,\n", 1<<20))
	if n, err := count(in); n != 0 || err != nil || progress != in.Size() {
		t.Errorf("Count = %d, %v after %d bytes", n, err, progress)
	}
}

// TestRecordReaderStops reads rows that never fill a block, so that only recordReader can detect the end of ctx.
func TestRecordReaderStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &recordReader{ctx: ctx, r: strings.NewReader(strings.Repeat("a", 100)), left: 100}
	if n, err := r.Read(make([]byte, 10)); n != 10 || err != nil {
		t.Errorf("Read = %d, %v", n, err)
	}
	cancel()
	if n, err := r.Read(make([]byte, 10)); n != 0 || err != context.Canceled {
		t.Errorf("Read after the end of ctx = %d, %v", n, err)
	}
}

// TestStopsWhileBlocked cancels a pass that waits for a pipe.
func TestStopsWhileBlocked(t *testing.T) {
	for _, format := range []Format{Lines, CSV} {
		r, w := io.Pipe()
		in, err := Open(nil, Options{Format: format, Stdin: r})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := in.Count(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v", format, err)
		}
		cancel()
		w.Close() // frees the goroutine in Read
	}
}

// TestSlowEmit checks that a slow emit blocks the reader.
func TestSlowEmit(t *testing.T) {
	src := &lineReader{n: -1}
	in, err := Open(nil, Options{Stdin: src})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	err = in.Process(t.Context(), 2, nil, func(*Batch) error {
		time.Sleep(5 * time.Millisecond)
		return stop
	})
	if err != stop {
		t.Fatal(err)
	}
	// Each Read returns one line and each line of a live stream is one block: six blocks and the buffer of the pump.
	if got := src.read.Load(); got > 20 {
		t.Errorf("%d lines were read ahead", got)
	}
}

func TestBlocksAreReused(t *testing.T) {
	in := open(t, Options{}, 1000, strings.Repeat("0123456789\n", 10000))
	seen := map[*Batch]bool{}
	if err := in.Process(t.Context(), 2, nil, func(b *Batch) error { seen[b] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(seen) > 6 {
		t.Errorf("%d blocks for 2 workers", len(seen))
	}
}

func TestAppendToKey(t *testing.T) {
	for _, o := range []Options{{}, {Format: CSV}} {
		in := open(t, o, blockSize, "a\nb\nc\n")
		err := in.Process(t.Context(), 1, nil, func(b *Batch) error {
			_ = append(b.Keys[0], "XXXX"...)
			if got := slices.Concat(b.Keys...); string(got) != "abc" {
				t.Errorf("keys became %q", got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestPumpSmallReads(t *testing.T) {
	text := strings.Repeat("0123456789\n", 20000) // more than the buffer of a pump
	got, err := io.ReadAll(iotest.OneByteReader(newPump(t.Context(), strings.NewReader(text))))
	if err != nil || string(got) != text {
		t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
	}
}

// FuzzProcess reads arbitrary bytes in every format. The keys, which are all keys before a bad row, must depend neither
// on the number of workers nor on the size of blocks, and no key may exceed the limit.
func FuzzProcess(f *testing.F) {
	formats := []Options{
		{}, {Format: Null}, {Format: CSV}, {Format: TSV}, {Format: CSV, Column: "b", Header: true}, {Format: TSV,
			Column: "2"},
		{Format: CSV, Column: "2", Second: "1", Rows: true}, {BadRows: Skip}, {BadRows: Pass}, {Format: Hex},
		{Format: Hex, BadRows: Skip}, {Format: CSV, Column: "2", BadRows: Skip}, {Format: TSV, Column: "2", BadRows: Skip},
		{Comments: "#", Trim: true, Lower: true}, {Format: Fields, Column: "2", Comments: "//", Rows: true},
		{Format: Fields, Delimiter: ':', Lower: true, BadRows: Skip}, {Format: CSV, Comments: "#", Trim: true, Rows: true},
	}
	seeds := []string{
		"", "\n", "a\nb\r\nc", "a\x00b\nc\x00", "a,b\n1,2\n", "\"a\"\"\",\"b\nc\"\n1,2", "a\tb\n1\t2\n", "\xef\xbb\xbfa\n",
		string(gzipped(f, "a\nb\n")), string(zstded(f, "a\nb\n")), "\x1f\x8b", "BZh9", "a\xff\xfeb\n",
		" # a\nA  b # c\n//\na:B //\n", "# \"\n\"A\n#\", b\n",
	}
	for i := range formats {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		o := formats[int(which)%len(formats)]
		o.MaxKey = 100
		if int(which) >= len(formats) {
			o.MaxKey = 3
		}
		var first []string
		var failed, whole bool // whole: the input is not a list of keys, which a large enough first block shows
		for i, block := range []int{1, 7, 1 << 16} {
			in, err := OpenReader("fuzz", bytes.NewReader(b), o)
			if err != nil {
				t.Fatal(err)
			}
			in.set.BlockSize = block
			var keys []string
			err = in.Process(t.Context(), 1+i, nil, func(b *Batch) error {
				for _, k := range b.Keys {
					keys = append(keys, string(k))
				}
				return nil
			})
			for _, k := range keys {
				if len(k) > o.MaxKey {
					t.Fatalf("a key of %d bytes", len(k))
				}
			}
			var long *KeyTooLongError
			if errors.As(err, &long) && long.Line < 1 {
				t.Fatalf("line %d", long.Line)
			}
			if other := new(UnsupportedError); errors.As(err, &other) {
				whole = whole || other.Line == 0
			}
			if i == 0 {
				first, failed = keys, err != nil
				continue
			}
			if !whole && ((err != nil) != failed || !slices.Equal(keys, first)) {
				t.Fatalf("blocks of %d: %q, %v; blocks of 1: %q, failed: %t", block, keys, err, first, failed)
			}
		}
	})
}

// benchInput returns an Input of a million lines of 20 bytes, newline included, or of CSV rows with such keys.
func benchInput(b *testing.B, o Options) *Input {
	var text bytes.Buffer
	for i := range 1_000_000 {
		if o.Format == CSV {
			fmt.Fprintf(&text, "%d,", i%10)
		}
		fmt.Fprintf(&text, "key-%015d\n", i)
	}
	in := open(b, o, blockSize, text.String())
	b.SetBytes(in.Size())
	return in
}

func BenchmarkCount(b *testing.B) {
	for _, o := range []Options{{Format: Lines}, {Format: CSV, Column: "2"}} {
		b.Run(fmt.Sprintf("op=count/format=%s", o.Format), func(b *testing.B) {
			in := benchInput(b, o)
			for b.Loop() {
				if n, err := in.Count(b.Context()); n != 1_000_000 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkProcess(b *testing.B) {
	for _, o := range []Options{{Format: Lines}, {Format: CSV, Column: "2"}} {
		b.Run(fmt.Sprintf("op=process/format=%s", o.Format), func(b *testing.B) {
			in := benchInput(b, o)
			b.ReportAllocs()
			for b.Loop() {
				if err := in.Process(b.Context(), 0, func(int, *Batch) error { return nil }, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
