package anneal

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Passes returns the number of passes of an Effort that names one, 0 for one by time or target.
func Passes(e filter.Effort) int {
	switch {
	case e.Passes != 0:
		return e.Passes
	case e.Budget != 0 || e.Target != 0:
		return 0
	case e.Level == filter.Max:
		return 2500
	case e.Level == filter.Fast:
		return 24
	}
	return 64
}

// soonSearched is how many keys times passes are searched in some tenths of a second: 32768 keys at the default.
const soonSearched = 64 << 15

// Longer returns the Effort for another search at the same size, twice as long, where that is soon done: with few keys, of whose
// rate a forecast knows least. It returns false where the search is to be what it was: with many keys, with an Effort by
// time or of so many passes, or after a second time.
func Longer(asked, was filter.Effort, keys uint64) (filter.Effort, bool) {
	first, now := Passes(asked), Passes(was)
	if asked.Passes != 0 || first == 0 || keys > soonSearched/uint64(first) || now >= 4*first {
		return was, false
	}
	return filter.Effort{Passes: 2 * now}, true
}

// Pace divides a search among its parts, which workers take one after the other, and knows how much is done.
type Pace struct {
	ctx      context.Context
	clock    clock
	passes   int       // or 0, and
	deadline time.Time // when to end
	workers  int
	keys     uint64
	begun    atomic.Uint64 // keys of the parts that somebody took
	done     atomic.Uint64 // the sum over all parts of keys and millionths done
	ask      atomic.Bool   // somebody wants to know the rate
	rate     atomic.Uint64 // its bits
}

// NewPace returns the pace of a search of so many keys. Passes is 0 for a search by time: it ends a budget after start, when
// the build began, but half of the budget is for the search whatever came before.
func NewPace(ctx context.Context, passes int, start time.Time, budget time.Duration, keys uint64, workers int) *Pace {
	deadline := start.Add(budget)
	if least := clockOf(ctx).now().Add(budget / 2); deadline.Before(least) {
		deadline = least
	}
	return &Pace{ctx: ctx, clock: clockOf(ctx), passes: passes, deadline: deadline, workers: workers, keys: keys}
}

// Unless returns a context that ends as ctx does, but not if that ends with the cause filter.ErrEnough: for what a search
// needs before it has anything to keep.
func Unless(ctx context.Context) (context.Context, context.CancelFunc) {
	to, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), filter.ErrEnough) {
			cancel()
		}
	})
	return to, func() { stop(); cancel() }
}

const millionths = 1_000_000

// Done returns the share of the search that is done, in [0, 1].
func (p *Pace) Done() float64 {
	return min(1, float64(p.done.Load())/millionths/float64(max(p.keys, 1)))
}

// Stopped reports whether the search has to end, and whether its result is wanted all the same: that the context ended
// with the cause filter.ErrEnough.
func (p *Pace) Stopped() (stopped, keep bool) {
	if p.ctx.Err() == nil {
		return false, true
	}
	return true, errors.Is(context.Cause(p.ctx), filter.ErrEnough)
}

// Part is a share of a search.
type Part struct {
	Each  func(*State) // called by Run after every pass, if not nil
	pace  *Pace
	keys  uint64
	start time.Time
	time  time.Duration // that it may take, if the search is by time
	done  float64
	spent float64 // (key, pass) pairs of RunSmall
}

// NewPart returns a part that stands for itself.
func NewPart(passes int) *Part {
	return NewPace(context.Background(), passes, time.Time{}, 0, 1, 1).Take(1)
}

// Take returns the next part, which has that many keys. By time it gets as much of what is left as its share of the keys
// that are left.
func (p *Pace) Take(keys uint64) *Part {
	part := &Part{Each: watcher(p.ctx), pace: p, keys: keys, start: p.clock.now()}
	left := max(1, p.keys-(p.begun.Add(keys)-keys))
	if p.passes == 0 {
		remains := float64(max(0, p.deadline.Sub(part.start)))
		part.time = time.Duration(min(1, float64(p.workers)*float64(keys)/float64(left)) * remains)
	}
	return part
}

// Advance notes that a share of the part is done, in [0, 1].
func (p *Part) Advance(done float64) {
	p.pace.done.Add(uint64((done - p.done) * float64(p.keys) * millionths))
	p.done = done
}

// share returns how much of the part lies behind after so many passes.
func (p *Part) share(passes int) float64 {
	if p.pace.passes != 0 {
		return float64(passes) / float64(p.pace.passes)
	}
	return min(1, float64(p.pace.clock.now().Sub(p.start))/float64(max(1, p.time)))
}

// resume is the share of a schedule that a search which goes on from earlier shifts leaves out: the passes whose noise
// would wipe out what was reached.
const resume = 0.4

// begin sets the bits of all keys: with a first choice of every slot, or with the present shifts. It returns the share of
// the schedule that the search starts at, and what settles it: a search from earlier shifts that was short may end worse
// than it began; then the shifts stay as they were.
func begin(s *State, rnd *Random, again bool) (from float64, settle func()) {
	if !again {
		s.First(rnd)
		return 0, func() {}
	}
	s.Fill()
	ones, shifts := s.Ones(), slices.Clone(s.Shifts)
	return resume, func() {
		if s.Ones() > ones {
			clear(s.cells)
			copy(s.Shifts, shifts)
			s.Fill()
		}
	}
}

// Run searches after Reset. With again it goes on from the shifts that s has been given. When the Pace is stopped it ends
// with a pass without noise.
func (p *Part) Run(s *State, rnd *Random, again bool) {
	from, settle := begin(s, rnd, again)
	defer settle()
	for pass := 1; ; pass++ {
		done := p.share(pass)
		p.Advance(done)
		if p.pace.ask.Swap(false) {
			p.pace.rate.Store(math.Float64bits(s.Rate()))
		}
		if p.Each != nil {
			p.Each(s)
		}
		if done >= 1 {
			return
		}
		if stopped, _ := p.pace.Stopped(); stopped {
			s.Pass(0, rnd)
			return
		}
		passes := p.pace.passes
		if passes == 0 {
			passes = int(float64(pass) / max(done, 1e-9))
		}
		s.Pass(Noise(from+float64((1-from)*done), passes), rnd) // no fused product: the same noise on every machine
		p.pace.clock.worked(float64(p.keys))
	}
}

// Loop runs a search of another kind: it calls pass for every pass, with the share of the schedule that the pass stands
// at, 0 for the first and 1 for the last or only one, until that returns false. Once the Pace is stopped, one more pass, at 1,
// is the last. rate is for those who watch.
func (p *Part) Loop(rate func() float64, pass func(at float64) (more bool)) {
	for n := 0; ; n++ {
		at := p.share(n)
		switch passes := p.pace.passes; {
		case passes == 1:
			at = 1
		case passes > 1:
			at = float64(n) / float64(passes-1)
		}
		if stopped, _ := p.pace.Stopped(); stopped {
			at = 1
		}
		if p.pace.ask.Swap(false) {
			p.pace.rate.Store(math.Float64bits(rate()))
		}
		more := pass(at)
		p.pace.clock.worked(float64(p.keys))
		if !more || at >= 1 {
			p.Advance(1)
			return
		}
		p.Advance(p.share(n + 1))
	}
}

// RunSmall is Run for a state so small that many of them make a Part: it looks at no clock in between, and at the context now and then. By time it makes as
// many passes as the part has time for on average.
func (p *Part) RunSmall(s *State, rnd *Random, keys int, again bool) {
	passes := p.pace.passes
	if passes == 0 {
		passes = p.passesInTime()
	}
	if stopped, _ := p.pace.Stopped(); stopped {
		passes = 1
	}
	from, settle := begin(s, rnd, again)
	defer settle()
	for pass := 1; pass < passes; pass++ {
		s.Pass(Noise(from+float64((1-from)*float64(pass)/float64(passes)), passes), rnd)
		if pass%1024 == 0 {
			if stopped, _ := p.pace.Stopped(); stopped {
				s.Pass(0, rnd)
				break
			}
		}
	}
	p.spent += float64(keys) * float64(passes)
	p.pace.clock.worked(float64(keys) * float64(passes))
}

// passesInTime returns how many passes over the rest of the part fit into its time, at the pace so far.
func (p *Part) passesInTime() int {
	elapsed, left := float64(p.pace.clock.now().Sub(p.start)), max(1, float64(p.keys)*(1-p.done))
	cost := 40. // ns a key and pass, at first a guess
	if p.spent > 0 {
		cost = elapsed / p.spent
	}
	return int(max(1, min(filter.MaxPasses, (float64(p.time)-elapsed)/(cost*left))))
}

// Report calls give some ten times a second, until stop is called.
func (p *Pace) Report(give func(filter.Progress)) (stop func()) {
	if give == nil {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		start := time.Now()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			now := filter.Progress{Done: p.Done(), Rate: math.Float64frombits(p.rate.Load())}
			if now.Done > 0 {
				now.Left = time.Duration(float64(time.Since(start)) * (1 - now.Done) / now.Done)
			}
			p.ask.Store(true)
			give(now)
		}
	}()
	return func() { close(quit); <-gone }
}
