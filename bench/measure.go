package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/bloomery/bloomery/internal/stat"
)

// settings say how to measure.
type settings struct {
	rate    float64
	turns   int           // of questions
	builds  int           // of each filter
	longest time.Duration // a filter is built no further time if its builds would then take longer, and not at all if one takes five times that
	absent  int           // keys for the rate
	memory  uint64        // bytes that all may take together; 0 if not known
	seed    uint64        // of the order in which filters take their turns
}

// asked is the number of keys of one measurement of questions.
const asked = 1_000_000

// operations are what is timed, in the order in which tables show them.
var operations = []string{"build", "present", "absent", "present, batch", "absent, batch"}

// measured is what is known of one contender. Times are nanoseconds a key, turn by turn.
type measured struct {
	contender
	built
	times   map[string][]float64
	heap    uint64 // bytes that the filter keeps
	peak    uint64 // bytes of heap while it was built
	total   uint64 // bytes allocated while it was built
	hits    uint64 // of the absent keys
	trials  uint64
	lost    int    // present keys that it denies
	leftOut string // why there is nothing; empty if there is
}

// measure builds all contenders of distinct keys and asks them, in turns. What fails or does not fit is left out and says why.
// small are the same contenders for the keys of a pilot.
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
	steps := []func() error{
		func() error { return memories(ctx, rows, keys, p) },
		func() error { return builds(ctx, rows, keys, s, p) },
		func() error { return truths(ctx, rows, keys, s, p) },
		func() error { return questions(ctx, rows, keys, s, p) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// failed leaves out a peer that cannot be built, and returns an error if it is a filter of ours.
func (m *measured) failed(err error) error {
	if m.ours {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	m.built, m.leftOut = built{}, "its build failed: "+err.Error()
	return nil
}

// remaining returns the rows that have not been left out.
func remaining(rows []*measured) (kept []*measured) {
	for _, r := range rows {
		if r.leftOut == "" {
			kept = append(kept, r)
		}
	}
	return kept
}

// builds times the builds in turns, on one core, so that the CPU time of the process is that of the filter's own work and of
// the collector for it. The last filter of each stays.
func builds(ctx context.Context, rows []*measured, keys []uint64, s settings, p *progress) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := rand.New(rand.NewPCG(s.seed, 1))
	spent := map[*measured]time.Duration{}
	for turn := range s.builds {
		for _, row := range shuffled(r, remaining(rows)) {
			if turn > 0 && spent[row]+spent[row]/time.Duration(turn) > s.longest {
				p.skip(row.name, "build")
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			p.begin(row.name, "build", fmt.Sprintf("building, turn %d of %d", turn+1, s.builds))
			row.built = built{} // frees the filter of the last turn
			runtime.GC()
			start := processTime()
			b, err := row.build(ctx, keys)
			took := processTime() - start
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				if err := row.failed(err); err != nil {
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

// truths asks every filter for all of its keys, and for absent ones enough for the rate.
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
				return fmt.Errorf("%s answers otherwise in batches", row.name)
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

// question is one filter asked in one way.
type question struct {
	row       *measured
	operation string
	ask       asker
}

// questions times present and absent keys, one by one and in batches, on one locked thread.
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
				runtime.GC() // so that none begins by itself
				start := threadTime()
				q.ask(kind.keys)
				took := threadTime() - start
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

// observed returns the observed rate with its exact 95% interval.
func (m *measured) observed() (rate, low, high float64) {
	low, high = stat.Interval(m.hits, m.trials, 0.95)
	return float64(m.hits) / float64(m.trials), low, high
}

// size returns the bits of the filter: those of its arrays, or of its heap if the library does not tell them.
func (m *measured) size() uint64 {
	if m.bits != 0 {
		return m.bits
	}
	return 8 * m.heap
}
