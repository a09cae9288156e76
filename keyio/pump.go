package keyio

import (
	"context"
	"io"
)

// pumpSize is the size in bytes of the buffer of a pump: the capacity of a Linux pipe.
const pumpSize = 64 << 10

// newPump returns a reader of r that returns data as soon as there is some, and the cause of ctx when ctx is done. It
// reads r in its own goroutine, so that a pass can end while a Read is blocked. Go cannot cancel a blocked Read of an
// arbitrary io.Reader: the goroutine stays until Read returns. It touches only its own buffer and drops the data.
func newPump(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.CopyBuffer(in, struct{ io.Reader }{r}, make([]byte, pumpSize)) // not by WriterTo of r
		in.CloseWithError(err)
	}()
	return out
}
