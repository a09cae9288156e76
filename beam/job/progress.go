package job

import (
	"context"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/internal/steps"
)

// The progress is computed from the files in the output: see newTally. The job servers of Flink and Spark report no
// counters before the job has ended; the files in the output are the same for all runners and all workers.
const (
	lookInterval = time.Second // the least time between two looks at the output
	lookShare    = 20          // looks take at most one part in lookShare of the time
	stallTime    = 5 * time.Minute
)

// stall detects that no range and no shard has finished for long. An engine with too few machines may wait endlessly,
// and report this only in its own log.
type stall struct {
	tally tally
	since time.Time
}

// warning returns a text if nothing has finished for stallTime, and again after each further stallTime.
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

func (c *Config) showProgress(p Progress) {
	if c.Progress != nil {
		c.Progress(p)
	}
}

// watchProgress calls c.Progress until stop is called. stop waits for the last call, and returns its number of keys.
func (c *Config) watchProgress(ctx context.Context, p *steps.Plan, out steps.Source) (stop func() (keys int64)) {
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
