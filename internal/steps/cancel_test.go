package steps_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/steps"
)

// endlessStore is a Store in which reads of objects whose names begin with a text, and writes of objects whose names
// end with it, block until their context ends.
type endlessStore struct {
	steps.Store
	reads, writes string
	began         chan struct{}
}

func (s endlessStore) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.Store.Open(ctx, name, offset, length)
	if err != nil || s.reads == "" || !strings.HasPrefix(name, s.reads) {
		return r, err
	}
	return endless{ctx, r, s.began}, nil
}

type endless struct {
	ctx context.Context
	io.ReadCloser
	began chan struct{}
}

func (e endless) Read([]byte) (int, error) {
	e.began <- struct{}{}
	<-e.ctx.Done()
	return 0, context.Cause(e.ctx)
}

func (s endlessStore) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	if s.writes == "" || !strings.HasSuffix(name, s.writes) {
		return s.Store.Write(ctx, name, write)
	}
	return s.Store.Write(ctx, name, func(w io.Writer) error {
		s.began <- struct{}{}
		<-ctx.Done()
		return errors.Join(context.Cause(ctx), write(w))
	})
}

// TestCancel cancels a step while it reads a range, writes a run file, searches, and writes a shard. The step must end
// within 5 seconds with the error of its context, without an output.
func TestCancel(t *testing.T) {
	const keys = 60_000
	var text bytes.Buffer
	for i := range keys {
		fmt.Fprintf(&text, "key-%d\n", i)
	}
	for _, tt := range []struct{ what, spec, reads, writes string }{
		{"range", "fuse", "keys", ""},
		{"run file", "fuse", "", ".run"},
		{"search", "partitioned(bits_per_key=16,effort=max)", "", ""}, // takes about 20 s
		{"upload", "fuse", "", ".bloom"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			in := memoryOf("keys.txt", text.String())
			p, err := steps.NewPlan(t.Context(), in, []string{"keys.txt"}, steps.Config{
				Build: bloomery.Config{Spec: tt.spec, Sharding: bloomery.Sharding{Shards: 1}},
			})
			check(t, err)
			out := endlessStore{Store: memoryOf(), reads: tt.reads, writes: tt.writes, began: make(chan struct{}, 100)}
			source := endlessStore{Store: in, reads: tt.reads, began: out.began}
			check(t, p.Save(t.Context(), out))
			step := func(ctx context.Context) error {
				_, err := p.Range(ctx, source, out, 0, steps.Options{})
				if err == nil {
					if tt.what == "search" {
						out.began <- struct{}{}
					}
					_, err = p.Build(ctx, out, 0, steps.Options{})
				}
				return err
			}
			watched, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- step(watched) }()
			<-out.began
			time.Sleep(100 * time.Millisecond)
			start := time.Now()
			cancel()
			err = <-ended
			took := time.Since(start)
			t.Logf("%v, %v", took, err)
			if took > 5*time.Second || !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", took, err)
			}
			if st, err := p.Status(t.Context(), out); err != nil || len(st.MissingShards) != 1 {
				t.Errorf("%+v, %v", st, err)
			}
		})
	}
}
