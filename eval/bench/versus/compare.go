// Package versus compares our sets with filters of other languages.
//
// Each side is a process with one filter at a time: this program for ours (see [Serve]), and a small program in the
// peer's language, in ../rust and ../java. Both read the same file of keys and answer commands on standard input, one
// line each, so that rounds alternate (ours, peer, ours, peer, ...) without the cost of a start. A process measures its
// own CPU time, around the work alone.
//
// # Commands
//
// The reply to a command is one line: "ok" and fields such as ns=1200, or "error" and a sentence. At the end of its
// standard input the program ends, so that nothing is left when bench is killed.
//
//	hello                            the first command. Reply: protocol=1, and runtime=NAME if that is known
//	keys KIND COUNT FILE             loads a file of records of 16 bytes, ASCII, if KIND is strings or arrays, or of 8
//	                                 bytes, little endian, if it is integers
//	build FILTER FROM TO NAME=VALUE  builds a filter of the keys FROM to TO-1. Reply: ns=, bits= of its arrays,
//	                                 refused= keys that it did not take, batch=1 if it has batch queries, else 0
//	ask single|batch FROM TO         asks for those keys. Reply: ns=, and positives=, the number of keys found
//	quit                             ends the program
//
// FILTER is a name in [Pairs], or for ours a spec. Names and values of build: fpr= is the target rate, bits= the size
// of our filter, for peers that take no rate, and hash= the hash function, for ours. The number of positives keeps
// compilers from dropping queries, and bench compares it between rounds.
//
//   - pairs.go lists what is compared, compare.go measures it.
//   - languages.go finds and builds the programs of the peers, process.go talks to them, keys.go writes the keys.
//   - serve.go and sets.go are our side.
package versus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// Operations, the keys of Side.Times.
const (
	Build        = "build"
	Present      = "present"
	Absent       = "absent"
	PresentBatch = "present, batch"
	AbsentBatch  = "absent, batch"
)

// Config says what to compare.
type Config struct {
	Keys     int // of each filter
	Rates    []float64
	Builds   int // timed builds of each filter
	Warm     int // keys of the builds before the timed ones, of which there is at least one
	Turns    int // timed rounds of queries
	Asked    int // queries of a round
	Absent   int // absent keys that measure the rate, at least Asked
	Pairs    []Pair
	Ours     Command   // starts a process that calls Serve
	Programs []Program // of the peers; pairs in other languages are left out
	// Key returns the key of an index. It is a bijection. Absent keys have indices from FirstAbsent.
	Key         func(i uint64) uint64
	FirstAbsent uint64
	TempDir     string // for the file of keys; default: os.TempDir()
	// Progress, if not nil, is called before each step, with the finished and all steps.
	Progress func(what string, done, all int)
}

// Side is one filter of a comparison.
type Side struct {
	Told    string               // its parameters
	Bits    uint64               // of its arrays
	Refused int                  // keys that it did not take
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
	// Failed says why there are no more measurements, such as a false negative, or is empty.
	Failed string
}

// run is a running comparison.
type run struct {
	Config
	at        layout
	done, all int // steps
}

// Run makes all comparisons: kinds of keys, then programs, then pairs, then rates. If a side fails, the comparison says
// so in Failed, and the next one starts with new processes. The error comes from ctx or from the file of keys.
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

// WarmKeys is a Config.Warm for compilers at run time. They start after about 10,000 calls and work on other threads.
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

// program makes the comparisons with one program. Both processes are new for each kind of keys, so that a compiler at
// run time sees one type of keys.
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
type sides struct{ ours, theirs *process }

// start starts both processes and lets them load the keys.
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

// close ends the processes. A nil receiver has none.
func (s *sides) close() {
	if s == nil {
		return
	}
	for _, p := range []*process{s.ours, s.theirs} {
		if p != nil {
			p.close()
		}
	}
}

// Pair is one of our filters and the peer to compare it with.
type Pair struct {
	Ours     string        // spec without the target rate
	Hash     filter.HashID // of our filter; 0 is its own
	Language string        // of the peer: rust or java
	Peer     string        // FILTER of the command build
	Library  string        // a key of Program.Versions
	Told     string        // the peer's filter in terms of its library, with %g for the target rate
	Note     string
	Fixed    bool // both have fixed rates and ignore the target
}

// Pairs are all pairs.
var Pairs = []Pair{
	{
		Ours: "standard", Language: "rust", Peer: "fastbloom", Library: "fastbloom",
		Told: "BloomFilter::with_false_pos(%g).hasher(ahash)",
	},
	{
		Ours: "blocked", Language: "rust", Peer: "fastbloom", Library: "fastbloom",
		Told: "BloomFilter::with_false_pos(%g).hasher(ahash)",
	},
	{
		Ours: "blocked(layout=split)", Hash: filter.XXH64, Language: "rust",
		Peer: "sbbf-rs-safe", Library: "sbbf-rs-safe",
		Told: "Filter::new(256, blocks) of XXH64",
		Note: "takes no rate: as many blocks as ours; both are filters of Parquet with the same bits",
	},
	{
		Ours: "fuse(width=8)", Language: "rust", Peer: "xorf-8", Library: "xorf", Told: "BinaryFuse8", Fixed: true,
		Note: "takes integers and mixes them; strings are hashed with ahash",
	},
	{
		Ours: "fuse(width=16)", Language: "rust", Peer: "xorf-16", Library: "xorf", Told: "BinaryFuse16", Fixed: true,
		Note: "takes integers and mixes them; strings are hashed with ahash",
	},
	{
		Ours: "rankindexed", Language: "rust", Peer: "cuckoofilter", Library: "cuckoofilter",
		Told: "CuckooFilter::with_capacity(n), DefaultHasher",
		Note: "a power of two fingerprints of 8 bits: size and rate depend on the load",
	},
	{
		Ours: "guava", Language: "java", Peer: "guava", Library: "guava", Told: "BloomFilter.create(funnel, n, %g)",
		Note: "byteArrayFunnel or longFunnel; ours has the same format",
	},
}

// Name returns the pair's name in tables.
func (p Pair) Name() string { return p.Ours + " / " + p.Peer }

// spec returns the spec of our filter.
func (p Pair) spec(rate float64) (string, error) {
	s, err := filter.ParseSpec(p.Ours)
	if err != nil {
		return "", err
	}
	if !p.Fixed {
		s = s.With("fpr", rate)
	}
	return s.String(), nil
}

// told returns the peer's filter in terms of its library.
func (p Pair) told(rate float64) string {
	if strings.Contains(p.Told, "%g") {
		return fmt.Sprintf(p.Told, rate)
	}
	return p.Told
}
