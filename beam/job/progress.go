package job

import (
	"context"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// Intervals of the progress. Counters of workers in this process are exact and cost nothing; those of others are asked
// from the runner.
const (
	showInterval = 200 * time.Millisecond
	askInterval  = 2 * time.Second
)

// watch calls c.Progress until the returned function is called.
func (c *Config) watch(ctx context.Context, s *server, t Task, id string) (stop func()) {
	if c.Progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	interval := showInterval
	if c.remote() {
		interval = askInterval
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			p := Progress{Ranges: t.Ranges, Shards: t.Shards}
			if c.remote() {
				s.counters(ctx, id, &p)
			} else {
				local(t, &p)
			}
			c.Progress(p)
		}
	}()
	return func() { cancel(); <-done }
}

// local sets what the worker in this process has done.
func local(t Task, p *Progress) {
	workers.Lock()
	defer workers.Unlock()
	if w := workers.m[t.shared()]; w != nil {
		p.RangesDone, p.ShardsDone, p.Keys = int(w.ranges.Load()), int(w.shards.Load()), w.keys.Load()
	}
}

// counters sets what the runner says has been done. It leaves p as it is if the runner has no counters.
func (s *server) counters(ctx context.Context, id string, p *Progress) {
	r, err := s.client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: id})
	if err != nil {
		return
	}
	all := metricsx.FromMonitoringInfos(nil, r.GetMetrics().GetAttempted(), r.GetMetrics().GetCommitted())
	for _, counter := range all.AllMetrics().Counters() {
		if counter.Namespace() != countersOf {
			continue
		}
		switch n := value(counter); counter.Name() {
		case "ranges":
			p.RangesDone = int(n)
		case "shards":
			p.ShardsDone = int(n)
		case "keys":
			p.Keys = n
		}
	}
}

func value(c metrics.CounterResult) int64 { return max(c.Attempted, c.Committed) }
