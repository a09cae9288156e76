package keyio

import (
	"context"
	"io"
)

// pumpSize is the size in bytes of a buffer of a pump: the capacity of a Linux pipe.
const pumpSize = 64 << 10

// pump reads from a pipe in its own goroutine, so that a pass can end while a Read is blocked. Go cannot cancel a
// blocked Read of an arbitrary io.Reader: the goroutine stays until Read returns. It touches only its own buffer and
// drops the data.
type pump struct {
	ctx    context.Context
	chunks chan chunk
	free   chan []byte
	last   chunk
	rest   []byte // the part of last.data that Read has not returned yet
}

// chunk is the result of one Read.
type chunk struct {
	data []byte
	err  error
}

func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, chunks: make(chan chunk), free: make(chan []byte, 2)}
	for range cap(p.free) {
		p.free <- make([]byte, pumpSize)
	}
	go p.run(r)
	return p
}

func (p *pump) run(r io.Reader) {
	for {
		var c chunk
		select {
		case buf := <-p.free:
			n, err := r.Read(buf)
			c = chunk{buf[:n], err}
		case <-p.ctx.Done():
			return
		}
		select {
		case p.chunks <- c:
		case <-p.ctx.Done():
			return
		}
		if c.err != nil {
			return
		}
	}
}

// Read returns data as soon as there is some, or the cause of ctx when ctx is done.
func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.last.err != nil {
			return 0, p.last.err
		}
		if p.last.data != nil {
			p.free <- p.last.data[:pumpSize]
			p.last.data = nil
		}
		select {
		case p.last = <-p.chunks:
			p.rest = p.last.data
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
