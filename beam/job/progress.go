package job

import (
	"context"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/internal/steps"
)

// The progress is what stands in the output: see newTally. The job servers of Flink and Spark have no counters
// before the job has ended; the output has the same truth for all runners, and for all workers.
const (
	lookInterval = time.Second // from one look at the output to the next, at least
	lookShare    = 20          // a look takes at most one part in so many of the time
	stallTime    = 5 * time.Minute
)

// stall notices that no range and no shard is finished any more. An engine that has too few machines may wait without
// an end, and say so only in its own log.
type stall struct {
	tally tally
	since time.Time
}

// warning returns a text if nothing was finished for stallTime, then once in each further stallTime.
func (s *stall) warning(t tally, now time.Time) string {
	if s.since.IsZero() || t != s.tally {
		s.tally, s.since = t, now
	}
	if now.Sub(s.since) < stallTime {
		return ""
	}
	s.since = now
	return fmt.Sprintf("no range and no shard was finished for %.0f minutes: the runner's pages and logs say whether it "+
		"waits for machines; what is finished stays if you interrupt", stallTime.Minutes())
}

func (c *Config) show(p Progress) {
	if c.Progress != nil {
		c.Progress(p)
	}
}

// watch calls c.Progress until stop. stop waits for the last call, and returns the keys in it.
func (c *Config) watch(ctx context.Context, p *steps.Plan, out steps.Source) (stop func() (keys int64)) {
	if c.Progress == nil {
		return func() int64 { return 0 }
	}

	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var last tally
	go func() {
		defer close(done)
		var s stall
		for {
			start := time.Now()
			now, err := newTally(ctx, p, out, last)
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				last = now
			}
			c.Progress(Progress{
				Ranges: len(p.Ranges), Shards: p.Shards,
				RangesDone: last.ranges, ShardsDone: last.shards, Keys: int64(last.keys),
			})
			if text := s.warning(last, time.Now()); text != "" && c.Warn != nil {
				c.Warn(text)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(lookInterval, lookShare*time.Since(start))):
			}
		}
	}()
	return func() int64 {
		cancel()
		<-done
		return int64(last.keys)
	}
}
