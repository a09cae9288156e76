package versus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Operations, the keys of Side.Times.
const (
	Build        = "build"
	Present      = "present"
	Absent       = "absent"
	PresentBatch = "present, batch"
	AbsentBatch  = "absent, batch"
)

// Config configures a comparison.
type Config struct {
	Keys     int // keys of each filter
	Rates    []float64
	Builds   int // timed builds of each filter
	Warm     int // keys of the warm-up builds, of which there is at least one
	Turns    int // timed rounds of queries
	Asked    int // queries of a round
	Absent   int // absent keys that measure the rate, at least Asked
	Pairs    []Pair
	Ours     Command   // starts a process that calls Serve
	Programs []Program // programs of the peers; pairs in other languages are left out
	// Key returns the key of an index. It is a bijection. Absent keys have indices from FirstAbsent.
	Key         func(i uint64) uint64
	FirstAbsent uint64
	TempDir     string // folder for the file of keys; default: os.TempDir()
	// Progress, if not nil, is called before each step with the number of finished steps and the number of all steps.
	Progress func(what string, done, all int)
}

// Side is one filter of a comparison.
type Side struct {
	Told    string               // parameters of the filter
	Bits    uint64               // bits of its arrays
	Refused int                  // keys that the filter refused
	Lost    int                  // keys of the filter that it does not find
	Hits    uint64               // absent keys that it finds
	Trials  uint64               // absent keys queried
	Times   map[string][]float64 // ns of CPU time a key, one for each round, by operation
}

// Comparison is one pair with one kind of keys and one rate.
type Comparison struct {
	Pair
	Kind   Kind
	Rate   float64 // 0 if the rates are fixed
	Ours   Side
	Theirs Side
	// Failed is the reason why the comparison stopped early, such as a false negative, or "".
	Failed string
}

// run is a running comparison.
type run struct {
	Config
	at        layout
	done, all int // steps
}

// Run makes all comparisons: kinds of keys, then programs, then pairs, then rates. If a side fails, Failed of the
// comparison holds the reason, and the next comparison starts new processes. Run returns only errors of ctx and of the
// file of keys.
func Run(ctx context.Context, c Config) ([]Comparison, error) {
	dir, err := os.MkdirTemp(c.TempDir, "bloomery-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &run{Config: c, at: layoutOf(c.Keys, c.Asked, c.Absent)}
	for _, p := range c.Programs {
		for _, kind := range Kinds {
			r.all += len(r.comparisons(kind, p)) * r.steps()
		}
	}
	var all []Comparison
	for _, kind := range Kinds {
		r.say("writing " + kind.String())
		file := filepath.Join(dir, string(kind))
		if err := writeKeys(ctx, file, kind, r.at, c.Key, c.FirstAbsent); err != nil {
			return nil, err
		}
		for _, program := range c.Programs {
			made, err := r.program(ctx, kind, program, file)
			if err != nil {
				return nil, err
			}
			all = append(all, made...)
		}
		if err := os.Remove(file); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// warm returns the number of builds of a filter before the timed ones.
func (r *run) warm() int { return 1 + r.Warm/(r.Keys+1) }

// WarmKeys is a value of Config.Warm for languages with a just-in-time compiler, which starts after about 10,000 calls
// and works on other threads.
const WarmKeys = 500_000

// steps returns the number of steps of a comparison.
func (r *run) steps() int { return r.Builds + r.warm() + r.Turns + 1 }

func (r *run) say(what string) {
	if r.Progress != nil {
		r.Progress(what, r.done, r.all)
	}
}

// comparisons returns the comparisons with a program, without measurements.
func (r *run) comparisons(kind Kind, program Program) (all []Comparison) {
	for _, p := range r.Pairs {
		switch {
		case slices.Contains(program.Without, kind):
		case p.Language != program.Language:
		case p.Fixed:
			all = append(all, Comparison{Pair: p, Kind: kind})
		default:
			for _, rate := range r.Rates {
				all = append(all, Comparison{Pair: p, Kind: kind, Rate: rate})
			}
		}
	}
	return all
}

// program makes the comparisons with one program. Both processes are restarted for each kind of keys, so that a
// just-in-time compiler sees one type of keys.
func (r *run) program(ctx context.Context, kind Kind, program Program, file string) ([]Comparison, error) {
	var both *sides
	defer func() { both.close() }()
	all := r.comparisons(kind, program)
	for i := range all {
		until := r.done + r.steps()
		err := error(nil)
		if both == nil {
			r.say("loading " + kind.String())
			both, err = r.start(ctx, kind, program, file)
		}
		if err == nil {
			err = r.compare(&all[i], both)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			all[i].Failed = err.Error()
			both.close()
			both = nil
		}
		r.done = until
	}
	return all, nil
}

// sides are the two processes of a comparison.
type sides struct{ ours, theirs process }

// start starts both processes and makes them load the keys.
func (r *run) start(ctx context.Context, kind Kind, program Program, file string) (*sides, error) {
	both := &sides{}
	var err error
	if both.ours, _, err = start(ctx, "bloomery", r.Ours); err == nil {
		both.theirs, _, err = start(ctx, program.Language, program.Command)
	}
	load := fmt.Sprintf("keys %s %d %s", string(kind), r.at.end, file)
	if err == nil {
		_, err = both.ours.call(load)
	}
	if err == nil {
		_, err = both.theirs.call(load)
	}
	if err != nil {
		both.close()
		return nil, err
	}
	return both, nil
}

// close ends the processes. It does nothing if the receiver is nil.
func (s *sides) close() {
	if s == nil {
		return
	}
	s.ours.close()
	s.theirs.close()
}
