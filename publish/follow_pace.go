package publish

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bloomery/bloomery/publish/transport"
)

// pace ends a poll whose requests take longer than patience + bytes / rate, all together: redirects, headers and bodies
// that come slowly. Time between requests, for the files of this machine, does not count. So a poll ends soon although
// each part of an answer comes within its own limit, and a large download goes on as long as it makes progress.
type pace struct {
	rate    float64 // bytes a second
	timer   *time.Timer
	running bool          // during a request
	left    time.Duration // from since on
	since   time.Time
}

// newPace returns a pace that calls cancel, and is paused.
func newPace(patience time.Duration, rate int64, cancel context.CancelCauseFunc) *pace {
	if rate <= 0 {
		rate = transport.DefaultMinRate
	}
	slow := fmt.Errorf("%w: the requests of this poll take longer than %v + bytes / %d a second",
		transport.ErrStalled, patience, rate)
	p := &pace{rate: float64(rate), left: patience, timer: time.AfterFunc(time.Hour, func() { cancel(slow) })}
	p.timer.Stop()
	return p
}

// longest is far above the time of any poll, and far below the largest Duration.
const longest = 50 * 365 * 24 * time.Hour

func (p *pace) start()       { p.step(true, 0) }
func (p *pace) loaded(n int) { p.step(true, n) }
func (p *pace) stop()        { p.step(false, 0) }

// step takes off the time of the request since the last step, and adds that for n bytes.
func (p *pace) step(running bool, n int) {
	now := time.Now()
	if p.running {
		p.left -= now.Sub(p.since)
	}
	p.left = min(p.left+time.Duration(float64(n)/p.rate*float64(time.Second)), longest)
	p.running, p.since = running, now
	if p.timer.Stop(); running {
		p.timer.Reset(max(p.left, 0))
	}
}

// get is Source.Get, at the pace of the poll. Closing the body is needed also if there is none.
func (p *poll) get(ctx context.Context, name string, r transport.Request) (*transport.Object, error) {
	p.pace.start()
	o, err := p.source.Get(ctx, name, r)
	if err != nil {
		p.pace.stop()
		if ctx.Err() != nil {
			err = fmt.Errorf("%s: %w", name, context.Cause(ctx))
		}
		return nil, err
	}
	body := o.Body
	if body == nil {
		body = http.NoBody
	}
	got := *o
	got.Body = &paced{ReadCloser: body, ctx: ctx, p: p}
	return &got, nil
}

// paced is a body whose bytes are counted.
type paced struct {
	io.ReadCloser
	ctx context.Context
	p   *poll
}

func (b *paced) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if n > 0 {
		b.p.pace.loaded(n)
		b.p.loaded += int64(n)
		b.p.report()
	}
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

func (b *paced) Close() error {
	b.p.pace.stop()
	return b.ReadCloser.Close()
}

// report calls OnProgress.
func (p *poll) report() {
	if p.options.progress != nil && p.expected > 0 {
		p.calls.Lock()
		defer p.calls.Unlock()
		p.options.progress(p.loaded, p.expected)
	}
}
