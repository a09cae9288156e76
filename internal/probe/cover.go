package probe

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// sampler computes the rate of filters of one geometry as the mean over steps. For each step it tries all starts modulo
// m at once.
type sampler struct {
	Double
	wrap    uint64 // 2^Word mod m: the shift of the positions by a sum above 2^Word
	stride  uint64 // coprime to m and near its golden section: the order in which steps are tried
	special []special
}

// special is a step modulo m with which a key may have only a few positions: if the sums of the key pass 2^Word rarely,
// always, or at nearly equal intervals. The rate depends on how often they do, so such steps are sampled more often
// than others.
type special struct {
	step    uint64
	samples int
}

// specialRatio is the largest h for which steps with h·step = c·wrap mod m, 0 <= c <= h, are special.
const specialRatio = 8

func (d Double) sampler() *sampler {
	s := &sampler{Double: d, wrap: (math.MaxUint64>>(64-d.Word)%d.Bits + 1) % d.Bits}
	s.stride = uint64(float64(d.Bits)*0.6180339887498949) | 1
	for gcd(s.stride, d.Bits) != 1 { // coprime: the strides then visit every step once before they repeat
		s.stride++
	}

	if d.Pairs != 1 {
		return s
	}

	for h := uint64(1); h <= specialRatio; h++ {
		for c := range h + 1 {
			for turn := range h {
				if at := c*s.wrap + turn*d.Bits; at%h == 0 && !s.isSpecial(at/h%d.Bits) {
					s.special = append(s.special, special{at / h % d.Bits, int(512 / (h * h))})
				}
			}
		}
	}
	return s
}

// isExact reports whether the positions of a key follow from its start and step modulo m.
func (s *sampler) isExact() bool { return s.wrap == 0 && s.Pairs == 1 && !s.Falls }

func (s *sampler) isSpecial(step uint64) bool {
	return slices.ContainsFunc(s.special, func(x special) bool { return x.step == step })
}

// The costs of one step and of one probe, in units of the time to read a word.
const tryCost, probeCost = 40, 12

// sampledRate returns the false-positive rate of a filter. It reads about work words of it.
func (s *sampler) sampledRate(c *cover, r rand.Source, work int) float64 {
	var rare float64
	for _, x := range s.special {
		n, sum := max(1, min(x.samples, work/8/len(s.special)/(tryCost+len(c.all[0])))), 0.0
		for i := range n {
			sum += s.tryStep(c, r, x.step, (float64(i)+randomUnit(r))/float64(n))
		}
		rare += sum / float64(n)
	}

	end := c.work + work
	hit := make(map[uint64]bool)
	first := work / 4
	if s.Pairs == 2 {
		first = work // the result for half of a pair does not show which steps to try more often
	}

	mean := s.trySteps(c, r, c.work+first, nil, func(step uint64) { hit[step] = true })
	if n := uint64(len(hit)); !s.isExact() && 0 < n && n < s.Bits/(2*oftenTries) && c.work+2*c.passed < end {
		mean = s.trySteps(c, r, end, hit, func(uint64) {})
	}

	share := float64(len(s.special)) / float64(s.Bits)
	return rare/float64(s.Bits) + float64((1-share)*mean)
}

// plenty is the number of pairs of a start and a step that are present after which the error is below 1%.
const plenty = 30_000

// oftenTries is the factor by which trySteps tries steps that are present for some start more often than other steps.
const oftenTries = 16

// trySteps returns the mean of the steps that are not special. It tries all of them, the steps in often several times,
// and repeats this until c.work is close to end. It stops the first round only if c.work is far above end. It calls hit
// with the steps that are present for some start.
func (s *sampler) trySteps(c *cover, r rand.Source, end int, often map[uint64]bool, hit func(step uint64)) float64 {
	if uint64(len(s.special)) == s.Bits {
		return 0
	}

	var sum float64
	tried, begin := 0, c.work
	turn, step := randomUnit(r), r.Uint64()%s.Bits
	goOn := func() bool {
		few := s.Pairs == 2 || sum*float64(s.Bits) < plenty
		return few && c.work+c.passed <= end && !s.isExact()
	}

	for pass := 1; pass == 1 || goOn(); pass++ {
		for range s.Bits {
			if step = (step + s.stride) % s.Bits; s.isSpecial(step) {
				continue
			}

			n, found := 1, 0.0
			if often[step] {
				n = oftenTries
			}
			for i := range n {
				// Multiples of the golden section and of the inverse of the plastic number spread evenly over [0, 1).
				at := turn + float64(float64(step)*0.7548776662466927) + float64(float64(pass*n+i)*0.6180339887498949)
				found += s.tryStep(c, r, step, at-math.Floor(at))
			}

			if found > 0 {
				hit(step)
			}
			sum += found / float64(n)
			if tried++; pass == 1 && c.work-end > end-begin {
				break
			}
		}
		c.passed = (c.work - begin) / pass
	}
	return sum / float64(max(tried, 1))
}

// randomUnit returns a random number in [0, 1).
func randomUnit(r rand.Source) float64 { return float64(r.Uint64()>>11) / (1 << 53) } // a float64 has 53 bits

// tryStep returns the share of starts modulo m for which a key is present. The step of the key, divided by 2^Word, is
// at before it is adjusted to the given value modulo m.
func (s *sampler) tryStep(c *cover, r rand.Source, step uint64, at float64) float64 {
	m := s.Bits
	steps := [2]uint64{step, r.Uint64() >> (64 - s.Word)}
	steps[0] += uint64(at*math.Ldexp(1, int(s.Word))/float64(m)) * m
	return c.presentShare(s.Double, s.randomPair(r), steps)
}

// cover finds the starts of a step at which all positions are set.
type cover struct {
	m    uint64
	all  [2][]uint64 // the bits of the filter, repeated; and the same in reverse order
	acc  [2][]uint64
	work int // words read, about
	// passed is the work of the last pass over all steps.
	passed int
}

func newCover(words []uint64, m uint64) *cover {
	c := &cover{m: m}
	n := (m + 63) / 64
	for i := range c.all {
		c.all[i] = make([]uint64, 2*n+2)
		c.acc[i] = make([]uint64, n)
	}

	for at := range m {
		if words[at/64]>>(at%64)&1 == 0 {
			continue
		}
		for i, x := range [2]uint64{at, m - 1 - at} {
			for ; x < 64*uint64(len(c.all[i])); x += m {
				c.all[i][x/64] |= 1 << (x % 64)
			}
		}
	}
	return c
}

// presentShare returns the share of starts modulo m with which all K positions of a key are set. With two pairs it is
// the product of the shares of both starts.
func (c *cover) presentShare(d Double, start, step [2]uint64) float64 {
	acc := c.acc[:d.Pairs]
	c.work += tryCost
	for g := range acc { // bit b: all positions so far are set if the start is b
		for j := range acc[g] {
			acc[g][j] = math.MaxUint64
		}
		if tail := c.m % 64; tail != 0 {
			acc[g][len(acc[g])-1] = 1<<tail - 1
		}
	}

	for i := range d.K {
		at, g, falls := d.Probe(&start, &step, i, c.m)
		all := c.all[0]
		if falls { // the mirror image turns a position that falls into one that rises
			all, at = c.all[1], c.m-1-at
		}

		var any uint64
		low, shift, a := all[at/64:], at%64, acc[g]
		low = low[:len(a)+1]
		for j := range a {
			a[j] &= low[j]>>shift | low[j+1]<<1<<(63-shift)
			any |= a[j]
		}
		c.work += len(a) + probeCost
		if any == 0 {
			return 0
		}
	}

	share := 1.0
	for _, a := range acc {
		n := 0
		for _, w := range a {
			n += bits.OnesCount64(w)
		}
		share *= float64(n) / float64(c.m)
	}
	return share
}
