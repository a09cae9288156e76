package otel

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"
)

// deduper is what the processors of logs and traces share.
type deduper struct {
	config  *Config
	set     processor.Settings
	signal  string
	key     *keyReader
	clock   func() time.Time // nil, except in tests
	batches sync.Pool        // of *batch

	// From Start on:
	memory  *memory
	metrics *metrics
	unlock  func()             // releases the state
	stop    context.CancelFunc // ends keep
	kept    sync.WaitGroup     // waits for keep
}

func newDeduper(set processor.Settings, c *Config, signal string) (*deduper, error) {
	key, err := newKeyReader(c.Key)
	if err != nil {
		return nil, err
	}
	return &deduper{config: c, set: set, signal: signal, key: key}, nil
}

// Capabilities tells the Collector that records are removed from what the processor gets.
func (d *deduper) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start locks and opens the state.
func (d *deduper) Start(ctx context.Context, _ component.Host) error {
	unlock, err := d.config.lockState(ctx)
	if err != nil {
		return err
	}

	if d.memory, err = d.config.openMemory(ctx, d.clock); err == nil {
		d.metrics, err = newMetrics(d.set, d.signal, d.memory)
	}
	if err != nil {
		unlock()
		return err
	}
	d.warnAhead()

	keeping, cancel := context.WithCancel(context.Background()) // ctx is for the start only
	d.unlock, d.stop = unlock, cancel
	d.kept.Go(func() { d.keep(keeping) })
	return nil
}

// warnAhead warns if the clock is behind the time of the state: time then stands still until the clock is there.
func (d *deduper) warnAhead() {
	if d.config.State == "" {
		return
	}
	for _, s := range d.memory.shards {
		if ahead := time.Until(s.Info().Time); ahead >= time.Second {
			d.set.Logger.Warn("the state was saved ahead of the clock: keys live longer by the difference",
				zap.String("state", d.config.State), zap.Duration("ahead", ahead))
			return
		}
	}
}

// keep saves the state and looks for keys that are forgotten early, one shard after the other, each once in every
// Config.SaveInterval, until ctx ends.
func (d *deduper) keep(ctx context.Context) {
	shards := d.memory.shards
	tick := time.NewTicker(max(d.config.SaveInterval/time.Duration(len(shards)), 1))
	defer tick.Stop()
	for i := 0; ; i = (i + 1) % len(shards) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}

		_ = d.save(ctx, shards[i])
		if early := shards[i].Info().Shortened; early > shards[i].early {
			shards[i].early = early
			d.metrics.warnEarly(d.config)
		}
	}
}

// save saves a shard, and counts and logs the result.
func (d *deduper) save(ctx context.Context, s *shard) error {
	if d.config.State == "" {
		return nil
	}

	saved, err := s.save(ctx)
	switch {
	case err == nil && saved:
		d.metrics.saves.Add(ctx, 1, d.metrics.labels)
	case err != nil && ctx.Err() == nil: // else Shutdown saves it
		d.metrics.saveFailures.Add(ctx, 1, d.metrics.labels)
		d.set.Logger.Error("the state was not saved; it is tried again", zap.Error(err))
	}
	return err
}

// Shutdown saves the state. If Start was not called or failed, it does nothing.
func (d *deduper) Shutdown(ctx context.Context) error {
	if d.unlock == nil {
		return nil
	}
	d.stop()
	d.kept.Wait()

	var failed error
	for _, s := range d.memory.shards {
		if err := d.save(ctx, s); err != nil {
			failed = fmt.Errorf("the state was not saved, and records since the last save pass once more: %w", err)
		}
	}
	d.metrics.close()
	d.unlock()
	d.unlock = nil
	return failed
}

// newBatch returns an empty batch.
func (d *deduper) newBatch() *batch {
	b, _ := d.batches.Get().(*batch)
	if b == nil {
		b = &batch{}
	}
	b.reset()
	return b
}

// pass calls send for a batch unless all its records are repeats. When send runs, the verdicts on its keys are known; it
// removes the repeats. Only if send returns nil, the new keys are remembered.
func (d *deduper) pass(ctx context.Context, b *batch, send func() error) error {
	defer d.batches.Put(b)
	if err := d.memory.begin(ctx, b); err != nil {
		return err
	}

	accepted := false
	defer func() { d.memory.end(b, accepted) }() // deferred, so that a panic of the next consumer leaves no reservation
	if b.repeated == 0 || b.repeated < len(b.keys) {
		if err := send(); err != nil {
			return err
		}
	}
	accepted = true
	d.metrics.count(ctx, b)
	return nil
}

// repeats returns a function that tells, of each record in order, whether it is a repeat.
func (b *batch) repeats() func() bool {
	i := -1
	return func() bool {
		i++
		return b.keys[i].verdict == isRepeated
	}
}

// logs is the processor of logs.
type logs struct {
	*deduper
	next consumer.Logs
}

// ConsumeLogs passes on the records whose keys are new. See the package comment for what an error means.
func (p *logs) ConsumeLogs(ctx context.Context, all plog.Logs) error {
	b := p.newBatch()
	for _, resource := range all.ResourceLogs().All() {
		from := fields{resource: resource.Resource().Attributes()}
		for _, scope := range resource.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				from.attributes, from.body, from.trace, from.span = r.Attributes(), r.Body(), r.TraceID(), r.SpanID()
				h, ok, room := p.key.hash(from, b.room)
				b.room = room
				b.add(h, ok)
			}
		}
	}

	return p.pass(ctx, b, func() error {
		if b.repeated > 0 {
			removeLogs(all, b.repeats())
		}
		return p.next.ConsumeLogs(ctx, all)
	})
}

// removeLogs removes the records that are repeats, and the scopes and resources that are empty then.
func removeLogs(all plog.Logs, repeated func() bool) {
	all.ResourceLogs().RemoveIf(func(resource plog.ResourceLogs) bool {
		resource.ScopeLogs().RemoveIf(func(scope plog.ScopeLogs) bool {
			scope.LogRecords().RemoveIf(func(plog.LogRecord) bool { return repeated() })
			return scope.LogRecords().Len() == 0
		})
		return resource.ScopeLogs().Len() == 0
	})
}

// traces is the processor of traces.
type traces struct {
	*deduper
	next consumer.Traces
}

// ConsumeTraces is ConsumeLogs for spans.
func (p *traces) ConsumeTraces(ctx context.Context, all ptrace.Traces) error {
	b := p.newBatch()
	for _, resource := range all.ResourceSpans().All() {
		from := fields{resource: resource.Resource().Attributes()}
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				from.attributes, from.trace, from.span = s.Attributes(), s.TraceID(), s.SpanID()
				h, ok, room := p.key.hash(from, b.room)
				b.room = room
				b.add(h, ok)
			}
		}
	}

	return p.pass(ctx, b, func() error {
		if b.repeated > 0 {
			removeSpans(all, b.repeats())
		}
		return p.next.ConsumeTraces(ctx, all)
	})
}

// removeSpans is removeLogs for spans.
func removeSpans(all ptrace.Traces, repeated func() bool) {
	all.ResourceSpans().RemoveIf(func(resource ptrace.ResourceSpans) bool {
		resource.ScopeSpans().RemoveIf(func(scope ptrace.ScopeSpans) bool {
			scope.Spans().RemoveIf(func(ptrace.Span) bool { return repeated() })
			return scope.Spans().Len() == 0
		})
		return resource.ScopeSpans().Len() == 0
	})
}
