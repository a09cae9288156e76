package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/bench/versus"
	"github.com/bloomery/bloomery/eval/child"
)

// Across holds the comparison with filters of other languages, with one number of keys. Its JSON is the output of
// --peers --json. Times are in nanoseconds of CPU time per key.
type Across struct {
	Run
	FPRs     []float64 `json:"fprs"` // targets
	Programs []Program `json:"programs"`
	Rows     []Against `json:"rows"`
}

// Program is the program of the peers of one language.
type Program struct {
	Language  string            `json:"language"`
	NotRun    string            `json:"not_run,omitempty"` // what the machine lacks to run the program
	Toolchain string            `json:"toolchain,omitempty"`
	Flags     string            `json:"flags,omitempty"`
	Versions  map[string]string `json:"versions,omitempty"` // versions of the libraries
}

// Against is one of our filters and a peer, with one kind of keys and one rate.
type Against struct {
	Language string            `json:"language"` // language of the peer
	Kind     string            `json:"keys"`
	FPR      float64           `json:"fpr"` // target; 0 if both have fixed rates
	Ours     Row               `json:"ours"`
	Peer     Row               `json:"peer"`
	Ratios   map[string]spread `json:"ratios"` // ours / theirs, as in Pair
	Bits     float64           `json:"bits"`   // ratio of the filters' sizes
	Failed   string            `json:"failed,omitempty"`
}

// across builds the peers of other languages and compares with them. It prints and writes as run does.
func (o options) across(ctx context.Context, w, wErr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.compare.Ours = versus.Command{self, serveCommand}
	var all []Program
	for _, language := range o.peers {
		p, err := versus.Prepare(ctx, language, ".", wErr)
		var lack child.LackError
		if err != nil && !errors.As(err, &lack) {
			return err
		}
		if lack != "" {
			fmt.Fprintf(wErr, "\nNOT RUN: %s: %s\n\n", language, lack)
		} else {
			o.compare.Programs = append(o.compare.Programs, p)
		}
		all = append(all, Program{language, string(lack), p.Toolchain, p.Flags, p.Versions})
	}
	if len(o.compare.Programs) == 0 {
		return fmt.Errorf("--peers %s: nothing was run; see above", strings.Join(o.peers, ","))
	}
	return o.acrossAll(ctx, all, w, wErr)
}

// acrossAll compares filters of each number of keys. all lists the programs, including programs that are not run. If a
// comparison fails, acrossAll returns an error after the last comparison.
func (o options) acrossAll(ctx context.Context, all []Program, w, wErr io.Writer) error {
	var failed error
	for _, n := range o.keys {
		r, err := o.acrossKeys(ctx, n, wErr)
		if err != nil {
			return err
		}
		r.Programs = all
		if err := o.report(ctx, r, w, wErr); err != nil {
			return err
		}
		failed = errors.Join(failed, r.failed())
	}
	return failed
}

// acrossKeys compares filters of n keys.
func (o options) acrossKeys(ctx context.Context, n int, wErr io.Writer) (Across, error) {
	s := o.defaults(n)
	c := o.compare
	c.Keys, c.Turns, c.Builds, c.Warm = n, s.turns, s.builds, versus.WarmKeys
	if o.quick {
		c.Warm = 0
	}
	// Two processes store strings of 16 bytes with headers of up to 20 bytes, and one build uses up to 40 bytes per
	// key.
	if need := uint64(2*36*(n+c.Asked+c.Absent) + 40*n); s.memory > 0 && need > s.memory {
		return Across{}, fmt.Errorf("%s keys need about %s of memory, and %s are available; see --memory",
			countText(n), bytesText(float64(need)), bytesText(float64(s.memory)))
	}
	p := newProgress(wErr, countText(n))
	start := time.Now()
	c.Progress = func(what string, done, all int) {
		if done > 0 {
			left := time.Since(start) * time.Duration(all-done) / time.Duration(done)
			what = fmt.Sprintf("about %v left, %s", left.Round(time.Second), what)
		}
		p.say(what)
	}
	got, err := versus.Run(ctx, c)
	p.done()
	if err != nil {
		return Across{}, err
	}
	r := Across{Run: newRun(start, n, c.Asked, s, o.command), FPRs: c.Rates}
	for _, x := range got {
		r.Rows = append(r.Rows, againstOf(x, n))
	}
	return r, nil
}

// againstOf summarizes a comparison of filters of n keys.
func againstOf(x versus.Comparison, n int) Against {
	of := func(s versus.Side, c contender) *measured {
		c.fixed = x.Fixed
		return &measured{
			contender: c, built: built{bits: s.Bits, refused: s.Refused}, times: s.Times,
			hits: s.Hits, trials: s.Trials, lost: s.Lost,
		}
	}
	ours := of(x.Ours, contender{name: x.Pair.Ours, module: ourModule, ours: true, told: x.Ours.Told})
	peer := of(x.Theirs, contender{name: x.Peer, module: x.Library, told: x.Theirs.Told, note: x.Note})
	a := Against{
		Language: x.Language, Kind: x.Kind.String(), FPR: x.Rate,
		Ours: ours.row(n), Peer: peer.row(n), Failed: x.Failed,
	}
	if x.Failed == "" {
		p := pairOf(ours, peer)
		a.Ratios, a.Bits = p.Ratios, p.Bits
	}
	return a
}

// name returns the pair's name in tables.
func (a Against) name() string { return a.Ours.Name + " / " + a.Peer.Name }

// target describes the rate.
func (a Against) target() string {
	if a.FPR == 0 {
		return "rate of the fingerprints' width"
	}
	return "target rate " + rateText(a.FPR)
}

// failed returns an error that names the comparisons that failed.
func (r Across) failed() error {
	var all []error
	for _, a := range r.Rows {
		if a.Failed != "" {
			all = append(all, fmt.Errorf("%s keys, %s, %s: %s", countText(r.Keys), a.name(), a.Kind, a.Failed))
		}
	}
	return errors.Join(all...)
}

// parsePeers parses the languages of --peers, and the pairs that --only keeps.
func (o *options) parsePeers(languages string) error {
	for l := range strings.SplitSeq(languages, ",") {
		if !slices.Contains(versus.Languages, l) {
			return fmt.Errorf("--peers %q: want languages among %s", languages, strings.Join(versus.Languages, ","))
		}
		if !slices.Contains(o.peers, l) {
			o.peers = append(o.peers, l)
		}
	}
	for _, p := range versus.Pairs {
		if slices.Contains(o.peers, p.Language) && (o.only.MatchString(p.Ours) || o.only.MatchString(p.Peer)) {
			o.compare.Pairs = append(o.compare.Pairs, p)
		}
	}
	if len(o.compare.Pairs) == 0 {
		return fmt.Errorf("--only %q: matches no filter that is compared with --peers %s", o.only, languages)
	}
	c := &o.compare
	c.Rates, c.Absent, c.Asked, c.Key, c.FirstAbsent = o.rates, o.absent, min(asked, o.absent), keyAt, firstAbsent
	return nil
}
