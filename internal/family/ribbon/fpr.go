package ribbon

import (
	"math"
)

// The overload of a layer: how many of 1024 keys it has no slot for.
const (
	fastOverload = 62 // width 64
	wideOverload = 38 // width 128
)

// startsFor returns the number of starts of a layer for n keys, more than maxTail.
func startsFor(w uint, n uint64) uint64 {
	overload := uint64(fastOverload)
	if w == 128 && n >= smallLayer {
		overload = wideOverload
	}

	slots := (n - n/1024*overload - n%1024*overload/1024) / 64 * 64
	segments := (slots + segmentStart - 1) >> segmentBits
	starts := slots - 64*segments
	if profileOf(w, starts).width == 64 {
		return starts
	}

	// A number of slots may have starts for both profiles, or for neither.
	return max(slots-128*segments, smallLayer)
}

// prediction is the expected geometry of a filter.
type prediction struct {
	geometry
	bumped []float64 // the share of its keys that a layer bumps
}

// predict returns the expected geometry for n keys, at most maxStarts, with fingerprints of r bits in most blocks and a
// share of wide ones.
func (c Config) predict(n uint64, r, wide uint) prediction {
	return predict(geometry{w: c.width(), r: r, wide: uint64(wide), valueBits: c.ValueBits}, n)
}

// predict adds the expected layers and tail for n keys, at most maxStarts, to a geometry without them.
func predict(g geometry, n uint64) prediction {
	p := prediction{geometry: g}
	left := n
	for left > maxTail && len(p.layers) < maxLayers {
		l := p.addLayer(startsFor(g.w, left))
		slots := l.blocks * 64
		next := left - slots + slots/l.empty
		p.bumped = append(p.bumped, float64(next)/float64(left))
		left = next
	}
	p.slots = left
	return p
}

// rate returns the expected false-positive rate.
func (p prediction) rate() float64 {
	wide, reach := 0.0, 1.0
	for i, bumped := range p.bumped {
		l := &p.layers[i]
		wide += reach * (1 - bumped) * float64(l.wideStarts()) / float64(l.starts)
		reach *= bumped
	}
	if p.wide > 0 {
		wide += reach
	}
	return math.Ldexp(1-wide/2, -int(p.r))
}
