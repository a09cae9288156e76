package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/bloomery/bloomery/eval/lab/clock"
)

// settings are the parameters of a measurement.
type settings struct {
	rate    float64
	turns   int           // turns of queries
	builds  int           // builds of each filter
	longest time.Duration // limit for all builds of a filter; see tooLong for one build
	absent  int           // number of absent keys that measure the rate
	memory  uint64        // limit for everything, in bytes; 0 if unknown
	seed    uint64        // seed of the random order of filters in each turn
}

// asked is the number of keys of one measurement of queries.
const asked = 1_000_000

// operations are the timed operations, in the order of the tables' columns.
var operations = []string{"build", "present", "absent", "present, batch", "absent, batch"}

// measured holds a contender and its measurements. Times are in nanoseconds per key, one for each turn.
type measured struct {
	contender
	built
	times   map[string][]float64
	heap    uint64 // bytes of heap of the filter
	peak    uint64 // peak of the heap during a build, in bytes
	total   uint64 // bytes allocated during a build
	hits    uint64 // false positives
	trials  uint64 // absent keys queried
	lost    int    // false negatives
	leftOut string // why the contender was not measured; empty if it was
}

// measure builds all contenders with n distinct keys and queries them in turns. Contenders that fail or do not fit into
// memory are omitted, with the reason in leftOut. small are the same contenders, sized for the keys of the pilot.
func measure(ctx context.Context, all, small []contender, n int, s settings, p *progress) ([]*measured, error) {
	rows := make([]*measured, len(all))
	for i, c := range all {
		rows[i] = &measured{contender: c, times: map[string][]float64{}}
	}
	if s.memory > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(0.9 * float64(s.memory))))
	}
	needs, err := pilot(ctx, rows, small, n, s, p)
	if err != nil {
		return nil, err
	}
	keys := keysFrom(0, n)
	leaveOut(rows, needs, s.memory, uint64(8*(n+2*asked)))
	if err := memories(ctx, rows, keys, p); err != nil {
		return nil, err
	}
	if err := builds(ctx, rows, keys, s, p); err != nil {
		return nil, err
	}
	if err := truths(ctx, rows, keys, s, p); err != nil {
		return nil, err
	}
	return rows, questions(ctx, rows, keys, s, p)
}

// failed marks a contender that cannot be built as omitted. It returns an error if the contender is one of ours or if
// ctx has ended.
func (m *measured) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.ours {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	m.built, m.leftOut = built{}, "its build failed: "+err.Error()
	return nil
}

// remaining returns the rows that were not omitted.
func remaining(rows []*measured) (kept []*measured) {
	for _, r := range rows {
		if r.leftOut == "" {
			kept = append(kept, r)
		}
	}
	return kept
}

// builds times the builds in turns. It uses one core, so that the CPU time of the process is the time of the build and
// of the garbage collector. The last filter of each contender is kept.
func builds(ctx context.Context, rows []*measured, keys []uint64, s settings, p *progress) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := rand.New(rand.NewPCG(s.seed, 1))
	spent := map[*measured]time.Duration{}
	for turn := range s.builds {
		for _, row := range shuffled(r, remaining(rows)) {
			if turn > 0 && spent[row]+spent[row]/time.Duration(turn) > s.longest {
				p.job(row.name, "build").skip()
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			p.begin(row.name, "build", fmt.Sprintf("building, turn %d of %d", turn+1, s.builds))
			row.built = built{} // frees the filter of the last turn
			runtime.GC()
			start := clock.ProcessTime()
			b, err := row.build(ctx, keys)
			took := clock.ProcessTime() - start
			if err != nil {
				if err := row.failed(ctx, err); err != nil {
					return err
				}
				continue
			}
			row.built = b
			row.times["build"] = append(row.times["build"], perKey(took, len(keys)))
			spent[row] += took
			p.end()
		}
	}
	return nil
}

// truths queries every filter for all of its keys and for s.absent absent keys.
func truths(ctx context.Context, rows []*measured, keys []uint64, s settings, p *progress) error {
	part := make([]uint64, 1<<16)
	for _, row := range remaining(rows) {
		p.begin(row.name, "rate", "counting false positives")
		for rest := keys; len(rest) > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			now := rest[:min(len(part), len(rest))]
			hits := row.ask(now)
			row.lost += len(now) - hits
			if row.many != nil && row.many(now) != hits {
				return fmt.Errorf("%s: batch queries differ from single queries", row.name)
			}
			rest = rest[len(now):]
		}
		for row.trials < uint64(s.absent) {
			if err := ctx.Err(); err != nil {
				return err
			}
			now := part[:min(len(part), s.absent-int(row.trials))]
			for i := range now {
				now[i] = keyAt(firstAbsent + row.trials + uint64(i))
			}
			row.hits += uint64(row.ask(now))
			row.trials += uint64(len(now))
		}
		p.end()
	}
	return nil
}

// question is one filter and one way to query it.
type question struct {
	row       *measured
	operation string
	ask       asker
}

// questions times queries for present and absent keys, one by one and in batches, on one locked thread.
func questions(ctx context.Context, rows []*measured, keys []uint64, s settings, p *progress) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := rand.New(rand.NewPCG(s.seed, 2))
	kinds := []struct {
		name string
		keys []uint64
	}{{"present", some(keys, asked)}, {"absent", keysFrom(firstAbsent, min(asked, len(keys)))}}
	for turn := range s.turns {
		for _, kind := range kinds {
			var all []question
			for _, row := range remaining(rows) {
				all = append(all, question{row, kind.name, row.ask})
				if row.many != nil {
					all = append(all, question{row, kind.name + ", batch", row.many})
				}
			}
			for _, q := range shuffled(r, all) {
				if err := ctx.Err(); err != nil {
					return err
				}
				p.begin(q.row.name, "ask", fmt.Sprintf("asking, turn %d of %d", turn+1, s.turns))
				runtime.GC() // so that no collection starts during the measurement
				start := clock.ThreadTime()
				q.ask(kind.keys)
				took := clock.ThreadTime() - start
				q.row.times[q.operation] = append(q.row.times[q.operation], perKey(took, len(kind.keys)))
				p.end()
			}
		}
	}
	return nil
}

func perKey(took time.Duration, keys int) float64 {
	return float64(took.Nanoseconds()) / float64(keys)
}

func shuffled[T any](r *rand.Rand, rows []T) []T {
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// size returns the size of the filter in bits: of its arrays if the library reports them, else of its heap.
func (m *measured) size() uint64 {
	if m.bits != 0 {
		return m.bits
	}
	return 8 * m.heap
}
