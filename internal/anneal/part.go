package anneal

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Part is a part of a search. It consists of one State, or of many small ones. It belongs to one goroutine.
type Part struct {
	Each  func(*State) // if not nil, Run calls it after every pass
	pace  *Pace
	keys  uint64
	start time.Time
	time  time.Duration // time that the part may take, in a search by time
	done  float64
	spent float64 // keys times passes of RunSmall
}

// NewPart returns a search of one part.
func NewPart(passes int) *Part {
	return newPace(context.Background(), nil, filter.Effort{Passes: passes}, time.Time{}, 1, 1).Take(1)
}

// Advance records that a share of the part, in [0, 1], is done.
func (p *Part) Advance(done float64) {
	p.pace.done.Add(uint64((done - p.done) * float64(p.keys) * millionths))
	p.done = done
}

// shareDone returns the share of the part, in [0, 1], that is done after these passes.
func (p *Part) shareDone(passes int) float64 {
	if p.pace.passes != 0 {
		return float64(passes) / float64(p.pace.passes)
	}
	return min(1, float64(p.pace.clock.timeSince(p.start))/float64(max(1, p.time)))
}

// resume is the share of a schedule that a search skips if it starts from earlier shifts: the noise of those passes
// would undo the progress of the earlier search.
const resume = 0.4

// beginSearch sets the bits of all keys: with the present shifts if again is true, else with a first choice of every
// shift. It returns the share of the schedule at which the search starts, and a function to call at the end of the
// search: a short search from earlier shifts may end with more set bits than before, and settle then restores the
// earlier shifts.
func beginSearch(s *State, rnd *Random, again bool) (from float64, settle func()) {
	if !again {
		s.First(rnd)
		return 0, func() {}
	}

	s.Fill(rnd)
	ones, shifts := s.Ones(), slices.Clone(s.Shifts)
	return resume, func() {
		if s.Ones() > ones {
			clear(s.cells)
			copy(s.Shifts, shifts)
			s.Fill(rnd)
		}
	}
}

// Run searches a State after Reset. If again is true, it starts from the shifts in s. If the Pace is stopped, Run ends
// with one pass without noise.
func (p *Part) Run(s *State, rnd *Random, again bool) {
	if p.pace.keep {
		s.Fill(rnd)
		p.Advance(1)
		p.pace.finishPart(p.keys, s.Rate)
		return
	}

	from, settle := beginSearch(s, rnd, again)
	defer settle()
	for pass := 1; ; pass++ {
		p.pace.clock.advance(p.keys, 1)
		done := p.shareDone(pass)
		p.Advance(done)
		p.tellRate(s.Rate)
		if p.Each != nil {
			p.Each(s)
		}
		if done >= 1 {
			p.pace.finishPart(p.keys, s.Rate)
			return
		}
		if stopped, _ := p.pace.Stopped(); stopped {
			s.Pass(0, rnd)
			return
		}

		passes := p.pace.passes
		if passes == 0 { // by time: the number that the search would make at the pace so far
			passes = int(float64(pass) / max(done, 1e-9))
		}
		s.Pass(s.noise(from+float64((1-from)*done), passes), rnd) // no fused product: the same noise on every machine
	}
}

// tellRate stores the rate for the progress report if the report has asked for it.
func (p *Part) tellRate(rate func() float64) {
	if p.pace.ask.Swap(false) {
		p.pace.rate.Store(math.Float64bits(rate()))
	}
}

// Loop runs a search that is not over a State. It calls pass for every pass, with the position of the pass in the
// schedule: 0 for the first, 1 for the last or only one. Loop ends when pass returns false. If the Pace is stopped, one
// more pass at 1 is the last. rate returns the rate so far, for the progress report.
func (p *Part) Loop(rate func() float64, pass func(at float64) (more bool)) {
	for n := 0; ; n++ {
		at := p.shareDone(n)
		switch passes := p.pace.passes; {
		case passes == 1:
			at = 1
		case passes > 1:
			at = float64(n) / float64(passes-1)
		}
		if stopped, _ := p.pace.Stopped(); stopped {
			at = 1
		}

		p.tellRate(rate)
		more := pass(at)
		p.pace.clock.advance(p.keys, 1)
		if !more || at >= 1 {
			p.pace.finishPart(p.keys, rate)
			p.Advance(1)
			return
		}
		p.Advance(p.shareDone(n + 1))
	}
}

// RunSmall is Run for one of many States in a Part. It reads the clock once, before the search, and checks the context
// every 1024 passes. In a search by time, it makes as many passes as fit into the time of the part on average.
func (p *Part) RunSmall(s *State, rnd *Random, keys int, again bool) {
	if p.pace.keep {
		s.Fill(rnd)
		return
	}

	passes := p.pace.passes
	if passes == 0 {
		passes = p.passesInTime()
	}

	if stopped, _ := p.pace.Stopped(); stopped {
		passes = 1
	}

	from, settle := beginSearch(s, rnd, again)
	defer settle()
	for pass := 1; pass < passes; pass++ {
		s.Pass(s.noise(from+float64((1-from)*float64(pass)/float64(passes)), passes), rnd)
		if pass%1024 == 0 {
			if stopped, _ := p.pace.Stopped(); stopped {
				s.Pass(0, rnd)
				break
			}
		}
	}

	p.pace.clock.advance(uint64(keys), passes)
	p.spent += float64(keys) * float64(passes)
}

// passesInTime returns how many passes over the rest of the part fit into its time, at the pace so far.
func (p *Part) passesInTime() int {
	elapsed, left := float64(p.pace.clock.timeSince(p.start)), max(1, float64(p.keys)*(1-p.done))
	cost := 40. // ns per key and pass, a first guess
	if p.spent > 0 {
		cost = elapsed / p.spent
	}
	return int(max(1, min(filter.MaxPasses, (float64(p.time)-elapsed)/(cost*left))))
}
