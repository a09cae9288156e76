package ribbon

import "math"

// The overload of a layer: how many of 1024 keys it has no slot for.
const (
	fastOverload = 56 // width 64
	wideOverload = 35 // width 128
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
	if shapeOf(w, starts).width == 64 {
		return starts
	}
	// A number of slots may have starts for both shapes, or for neither.
	return max(slots-128*segments, smallLayer)
}

// bumpedOf1024 is about how many of 1024 keys a layer bumps.
func bumpedOf1024(s *shape) float64 {
	if s.width == 128 {
		return 33
	}
	return 59
}

// prediction is the expected geometry of a filter.
type prediction struct {
	geometry
	slots   float64 // of layers and tail
	buckets uint64
	bits    float64
}

// predict returns the expected geometry for n keys, at most maxKeys, with a number of columns in most blocks and a
// share of wide ones.
func predict(w uint, n uint64, columns, wide uint) prediction {
	p := prediction{geometry: geometry{w: w, r: columns, wide: uint64(wide)}}
	left := n
	for left > maxTail && len(p.layers) < maxLayers {
		l := p.addLayer(startsFor(w, left))
		left = uint64(float64(left) * bumpedOf1024(l.shape) / 1024)
	}
	p.geometry.slots = left
	p.slots, p.buckets, p.bits = float64(p.allSlots()), p.geometry.buckets(), float64(p.geometry.bits())
	return p
}

// rate returns the expected false-positive rate with fingerprints of r bits.
func (p prediction) rate(r uint) float64 {
	wide, reach := 0.0, 1.0
	for i := range p.layers {
		l := &p.layers[i]
		bumped := bumpedOf1024(l.shape) / 1024
		wide += reach * (1 - bumped) * float64(l.wideStarts()) / float64(l.starts)
		reach *= bumped
	}
	if p.wide > 0 {
		wide += reach
	}
	return math.Ldexp(1-wide/2, -int(r))
}
