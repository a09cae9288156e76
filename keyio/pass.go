package keyio

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// Batch is some consecutive keys of one input, at least one.
type Batch struct {
	// Keys are valid until the last callback for this batch has returned: they share a buffer that is reused.
	Keys [][]byte
	// Out and Hashes are scratch for the callbacks, empty at first, their memory reused: work may fill them
	// for emit.
	Out    []byte
	Hashes []filter.Hash
	// Input is the path of the input, or "standard input".
	Input string
	// Line is the line of the first key, from 1.
	Line int64
}

// block is a Batch on its way from the reader to emit.
type block struct {
	Batch
	data  []byte     // lines, each with its newline, or the bytes of CSV fields
	lines int        // newlines in data, for Lines
	ends  []int      // for CSV: where each field ends in data
	done  chan error // gets the outcome when a worker is through
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

// Process passes over the keys in batches. workers goroutines, or GOMAXPROCS if that is not positive, call work
// with their number in [0, workers) and a batch; emit is then called with the batches in input order, from
// one goroutine. Either may be nil.
//
// An error of the input, of work or of emit stops the pass. Process returns the one that comes first in the
// input, so that it is the same each time, after emit has seen all batches before it; work may have seen some
// that come later. When ctx ends, Process drops the batches on their way and returns the cause. It always waits for
// the callbacks that run to return. No goroutine stays behind, save one in a Read of a pipe until that returns.
func (in *Input) Process(ctx context.Context, workers int,
	work func(worker int, b *Batch) error, emit func(b *Batch) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := in.begin(); err != nil {
		return err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // for an emit that panics

	// A channel holds all the blocks there are, so that only taking a free one can block the reader.
	blocks := 2*workers + 2
	free := make(chan *block, blocks)
	todo := make(chan *block, blocks)
	order := make(chan *block, blocks) // the blocks of todo, for drain to wait for
	for range blocks {
		free <- &block{done: make(chan error, 1)}
	}

	var wg sync.WaitGroup
	var readErr error // set before order is closed
	wg.Go(func() {
		defer close(order)
		defer close(todo)
		r := &reader{ctx: ctx, in: in, free: free, todo: todo, order: order}
		if readErr = r.run(); readErr != nil && ctx.Err() != nil {
			readErr = context.Cause(ctx) // what a read cut short says is no news
		}
	})
	for worker := range workers {
		wg.Go(func() {
			for b := range todo {
				if ctx.Err() != nil {
					return
				}
				err := b.split(&in.set)
				if err == nil && work != nil && len(b.Keys) > 0 {
					err = work(worker, &b.Batch)
				}
				b.done <- err
			}
		})
	}
	err := drain(ctx, order, free, emit)
	cancel()
	wg.Wait()
	if err == nil {
		err = readErr // what comes after all blocks
	}
	return err
}

// drain gives the blocks of order back to free, each once it is done and emit has seen it, until order is closed.
func drain(ctx context.Context, order <-chan *block, free chan<- *block, emit func(b *Batch) error) error {
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
		if emit != nil && len(b.Keys) > 0 {
			if err := emit(&b.Batch); err != nil {
				return err
			}
		}
		free <- b
	}
	return nil
}

// reader is the state of a pass's reader goroutine.
type reader struct {
	ctx   context.Context
	in    *Input
	free  chan *block // to take from; giving back never blocks
	todo  chan<- *block
	order chan<- *block
	raw   int64  // bytes consumed, before decompression
	carry []byte // the begun line that the next block starts with, empty between inputs
}

// run reads the inputs one after the other.
func (r *reader) run() error {
	for i := range r.in.sources {
		if err := r.readSource(&r.in.sources[i]); err != nil {
			return err
		}
	}
	r.progress()
	return nil
}

func (r *reader) readSource(s *source) error {
	st, err := s.open(r.ctx, &r.raw)
	if err != nil {
		return err
	}
	defer st.close()
	if r.in.set.Format == CSV {
		return r.readCSV(st)
	}
	return r.readLines(st)
}

// take waits for a free block and empties it.
func (r *reader) take(input string) (*block, error) {
	select {
	case b := <-r.free:
		b.Batch = Batch{Keys: b.Keys[:0], Out: b.Out[:0], Hashes: b.Hashes[:0], Input: input}
		if b.data == nil {
			b.data = make([]byte, 0, r.in.blockSize)
		}
		b.data, b.ends, b.lines = b.data[:0], b.ends[:0], 0
		return b, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// send hands a block to the workers, or puts an empty one back.
func (r *reader) send(b *block) {
	if len(b.data) == 0 && len(b.ends) == 0 {
		r.free <- b
		return
	}
	r.todo <- b
	r.order <- b
	r.progress()
}

func (r *reader) progress() {
	if r.in.set.Progress != nil {
		r.in.set.Progress(r.raw)
	}
}
