package partitioned

import (
	"context"
	"math/bits"
	"sync/atomic"
)

// noisePlanes returns how many planes of noise a pass has: scores get a random number below 2^planes. Of several
// schedules tried at 150 and 1000 passes, those that spend most passes at three planes came out within a hundredth of
// each other; see docs/partitioned.md.
func noisePlanes(pass, passes int) int {
	done := float64(pass) / float64(passes)
	switch {
	case passes >= 30 && done < 0.1:
		return 4
	case done < 0.8:
		return 3
	case done < 0.97:
		return 2
	}
	return 0
}

// random is a generator of 64 bits: a counter whose steps are folded products (wyrand).
type random uint64

//
//go:norace
func (r *random) next() uint64 {
	*r += 0xa0761d6478bd642f
	h, l := bits.Mul64(uint64(*r), uint64(*r)^0xe7037ed1a0b428db)
	return h ^ l
}

// run searches: a first choice for every slot, then passes that choose anew, the noise falling. It returns false if ctx
// was done before the end. done counts passes.
func (s *state) run(ctx context.Context, shard uint64, passes int, done *atomic.Int64) bool {
	rnd := random(shard * 0x9E3779B97F4A7C15)
	for p := range passes {
		if ctx.Err() != nil {
			return false
		}
		s.pass(noisePlanes(p, passes), &rnd, p == 0)
		done.Add(1)
	}
	return true
}

// pass takes every slot of every group away once and selects it anew, with scores that have planes of noise.
//
//go:norace
func (s *state) pass(planes int, rnd *random, first bool) {
	allowed := uint32(1<<s.candidates - 1)
	if first {
		planes = 0
	}
	var noise [4]uint64
	for j := range len(s.starts) - 1 {
		if s.starts[j] == s.starts[j+1] {
			continue
		}
		for l := range s.k {
			pos := s.slot(j, l)
			shift := &s.shifts[j*s.k+l]
			if !first {
				s.remove(pos, *shift)
			}
			r := rnd.next()
			if planes > 0 {
				noise[0] = r & (1<<64 - 1<<32)
				noise[1] = r << 32
			}
			if planes > 2 {
				r = rnd.next()
				noise[2] = r & (1<<64 - 1<<32)
				if planes > 3 {
					noise[3] = r << 32
				}
			}
			var best uint32
			if len(pos) <= maxSliced {
				best = s.best(pos, allowed, &noise)
			} else {
				best = s.bestPlain(pos, s.candidates, unslice(&noise))
			}
			*shift = oneOf(best, rnd.next())
			s.add(pos, *shift)
		}
	}
}

// unslice returns the number that the planes hold for each shift.
func unslice(planes *[4]uint64) *[window]uint {
	var n [window]uint
	for c := range n {
		for p, w := range planes {
			n[c] += uint(w>>(32+c)&1) << p
		}
	}
	return &n
}
