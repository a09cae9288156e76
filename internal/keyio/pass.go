package keyio

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// Batch holds consecutive keys of one input, at least one unless it has a Header.
type Batch struct {
	// Keys are valid until the last callback for this batch returns: they share a buffer that is reused.
	Keys [][]byte
	// Texts are the keys in the input, if work has replaced them by Typed; else nil.
	Texts [][]byte
	// Rows are the rows of Keys as they are in the input, if Options.Rows is set. A row that ends the input without a
	// line end gets one.
	Rows [][]byte
	// Second holds the fields of the column Options.Second in the rows of Keys, if Options.Second is set. They are
	// valid as long as Keys.
	Second [][]byte
	// Header is the header row before Rows. Only the first batch of a pass has it, if Options.Rows is set and the
	// inputs have a header row. Work and emit get this batch even if it has no keys.
	Header []byte
	// Out, Hashes and Values are scratch space in which work passes results to emit. They are empty at first; their
	// memory is reused. Options.Parse or Values.Read sets Values, to the value of each key.
	Out    []byte
	Hashes []filter.Hash
	Values []uint64
	// Input is the path of the input, or "standard input".
	Input string
	// Line is the line number of the first key, counted from 1.
	Line int64
	// LineNumbers holds the number of the line in which the row of each key begins, if Options.LineNumbers is set.
	LineNumbers []int64
}

// Text returns key i as it is in the input.
func (b *Batch) Text(i int) []byte {
	if b.Texts != nil {
		return b.Texts[i]
	}
	return b.Keys[i]
}

// Typed replaces the keys, which are values in text form, by the keys of a form with a type. The error wraps
// filter.ErrKeyType.
func (b *Batch) Typed(f filter.KeyForm) error {
	if f.Type <= filter.KeyText {
		return nil
	}
	b.Texts, b.Keys = b.Keys, make([][]byte, len(b.Keys))
	for i, text := range b.Texts {
		var err error
		if b.Keys[i], err = f.AppendText(nil, string(text)); err != nil {
			return fmt.Errorf("%s: %w", b.Input, err)
		}
	}
	return nil
}

// block is a Batch and its buffers, on the way from the reader to emit.
type block struct {
	Batch
	// data is lines, each with its end. For CSV it is the key of each row, then with Options.Rows the row, then with
	// Options.Second its field.
	data    []byte
	lines   int        // number of line ends in data, not for CSV
	first   bool       // data is the start of an input, not for CSV
	ended   bool       // the last line end is not from the input: it was added
	nul     bool       // data contains NUL bytes, which make rows bad, not for CSV
	bad     badRows    // skipped rows, or with Pass, accepted bad rows
	stop    error      // the error of the bad row that comes after Keys, or nil
	columns columns    // the columns to read of TSV and Fields
	ends    []int      // the ends of the parts of data, for CSV
	keyless badRows    // rows without a key, for JSONL
	json    *object    // the parser of rows, for JSONL
	done    chan error // receives the result of the worker

	prepared []byte // keys that Options.Lower changed
}

// Count returns the number of keys.
func (in *Input) Count(ctx context.Context) (uint64, error) {
	var total atomic.Uint64
	err := in.Process(ctx, 0, func(_ int, b *Batch) error {
		total.Add(uint64(len(b.Keys)))
		return nil
	}, nil)
	if err != nil {
		return 0, err
	}
	return total.Load(), nil
}

// Process reads all keys once, in batches.
//
//   - work is called from several goroutines, with the number of the goroutine in [0, workers) and a batch. If workers
//     is not positive, GOMAXPROCS goroutines call it.
//   - emit is then called with the batches in input order, from one goroutine.
//
// work and emit may be nil. An error of the input, work or emit stops the pass. Process returns the error that comes
// first in input order, after emit was called for all batches before it; so it returns the same error on every run. A
// batch ends before a bad row, so that emit gets all rows before it. work may have been called for later batches.
//
// If a file was changed or replaced since the first pass of the Input, the error wraps ErrChanged: the size and the
// time of modification are compared at the begin and at the end of each further pass.
//
// When ctx is done, Process drops the batches in progress and returns the cause. It waits until running callbacks
// return. It leaves no goroutine behind, except a goroutine that is blocked in a Read of a pipe until that Read
// returns.
func (in *Input) Process(ctx context.Context, workers int,
	work func(worker int, b *Batch) error, emit func(b *Batch) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if in.begun.Swap(true) && !in.Rewindable() {
		return ErrNotRewindable
	}

	in.bad, in.keyless = badRows{}, badRows{}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // if emit panics, the goroutines must end

	// Each channel has room for all blocks, so the reader blocks only when no block is free.
	blocks := 2*workers + 2
	free := make(chan *block, blocks)
	todo := make(chan *block, blocks)
	order := make(chan *block, blocks) // the blocks of todo, in the order in which drain waits for them
	for range blocks {
		free <- &block{done: make(chan error, 1)}
	}

	var wg sync.WaitGroup
	var readErr error // set before order is closed
	wg.Go(func() {
		defer close(order)
		defer close(todo)
		r := &reader{ctx: ctx, in: in, free: free, todo: todo, order: order}
		if readErr = r.readAll(); readErr != nil && ctx.Err() != nil {
			readErr = context.Cause(ctx) // the error of an interrupted read is not the cause
		}
	})
	for worker := range workers {
		wg.Go(func() {
			for b := range todo {
				if ctx.Err() != nil {
					return
				}
				b.stop = b.splitKeys(&in.set)
				var err error
				if work != nil && b.visible() {
					err = work(worker, &b.Batch)
				}
				b.done <- err
			}
		})
	}

	err := in.emitInOrder(ctx, order, free, emit)
	cancel()
	wg.Wait()
	if err == nil {
		err = readErr // the reader failed behind all blocks, so its error is the last one in input order
	}
	return err
}

// visible reports whether work and emit get the block.
func (b *block) visible() bool { return len(b.Keys) > 0 || len(b.Header) > 0 }

// emitInOrder waits for each block of order, calls emit and returns the block to free, until order is closed or a row
// is bad.
func (in *Input) emitInOrder(
	ctx context.Context, order <-chan *block, free chan<- *block, emit func(b *Batch) error,
) error {
	for b := range order {
		select {
		case err := <-b.done:
			if err != nil {
				return err
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if emit != nil && b.visible() {
			if err := emit(&b.Batch); err != nil {
				return err
			}
		}
		in.bad.countRows(b.bad.rows, b.bad.first)
		in.keyless.countRows(b.keyless.rows, b.keyless.first)
		if b.stop != nil {
			return b.stop
		}
		free <- b
	}
	return nil
}

// reader is the state of a pass's reader goroutine.
type reader struct {
	ctx   context.Context
	in    *Input
	free  chan *block // sending never blocks
	todo  chan<- *block
	order chan<- *block
	raw   int64  // bytes consumed, before decompression
	carry []byte // the incomplete last line, with which the next block starts; empty between inputs
	head  header // header of the first input, with Options.Rows
}

func (r *reader) readAll() error {
	for i := range r.in.sources {
		if err := r.readSource(&r.in.sources[i]); err != nil {
			return err
		}
	}
	r.progress()
	return nil
}

func (r *reader) readSource(s *source) error {
	st, err := s.openStream(r.ctx, &r.raw, r.in.set.Plain)
	if err != nil {
		return err
	}
	defer st.close()
	if r.in.set.Format == CSV {
		err = r.readCSV(st)
	} else {
		err = r.readLines(st)
	}
	if err == nil && st.unchanged != nil {
		err = st.unchanged()
	}
	return err
}

// takeBlock waits for a free block and empties it.
func (r *reader) takeBlock(input string) (*block, error) {
	select {
	case b := <-r.free:
		b.Batch = Batch{Keys: b.Keys[:0], Rows: b.Rows[:0], Second: b.Second[:0], Out: b.Out[:0],
			Hashes: b.Hashes[:0], Values: b.Values[:0], LineNumbers: b.LineNumbers[:0], Input: input}
		if b.data == nil {
			b.data = make([]byte, 0, r.in.set.BlockSize)
		}
		b.data, b.ends, b.lines, b.ended, b.nul, b.bad = b.data[:0], b.ends[:0], 0, false, false, badRows{}
		b.keyless = badRows{}
		return b, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// passOn passes a block on to the workers. An empty block goes back to free.
func (r *reader) passOn(b *block) {
	if len(b.data) == 0 && len(b.ends) == 0 && len(b.Header) == 0 && b.bad.rows == 0 {
		r.free <- b
		return
	}

	// Both channels get the block: workers take blocks in any order, and emitInOrder waits for them in input order.
	r.todo <- b
	r.order <- b
	r.progress()
}

func (r *reader) progress() {
	if r.in.set.Progress != nil {
		r.in.set.Progress(r.raw)
	}
}
