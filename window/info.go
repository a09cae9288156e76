package window

import (
	"math"
	"time"
)

// Info describes a Filter at a time.
type Info struct {
	Time time.Time // latest time; the zero Time if no time was set yet
	TTL  time.Duration
	// Keys is the number of keys in memory; keys with the same fingerprint count once.
	Keys uint64
	// Ages divides Keys by age: the keys counted in Ages[i] were added, or renewed, at least i-1 and at most i+1
	// sevenths of TTL ago.
	Ages [8]uint64
	// Capacity is the number of keys of all ages that the filter is planned for, and Room is Capacity minus Keys. A few
	// more keys fit; the larger the filter, the smaller their share.
	Capacity, Room uint64
	// FPR is the current false-positive rate, and MaxFPR is the rate if all cells were in use.
	FPR, MaxFPR float64
	// FPRPlanned is Config.FPR.
	FPRPlanned float64
	// Refused is the number of operations since New that returned filter.ErrFull. Shortened is the number of keys that
	// were removed early to make room. Both also count what happened before the filter was saved and opened. Only one
	// of them can be above 0; see Overflow.
	Refused, Shortened uint64
	// Bytes is the memory of the filter, which never changes. A copy that Save keeps is not counted.
	Bytes uint64
}

// Info describes the filter at the current time. It first removes expired keys, like Len, and then reads the whole
// filter, in about 2 ms for a million keys. If other goroutines use the filter meanwhile, the numbers are from slightly
// different times.
func (f *Filter[K]) Info() Info { return f.ring.describe() }

func (r *ring) describe() Info {
	r.readClock()
	r.catchUp()
	i := Info{
		TTL: time.Duration(r.ttl), Capacity: uint64(math.Ceil(r.keys)), FPRPlanned: r.fpr,
		Refused: r.refused.Load(), Shortened: r.shortened.Load(), Bytes: r.memoryBytes(),
	}
	if now, started := r.latestTime(); started {
		i.Time = time.Unix(0, now)
	}

	r.eachBucket(func(b uint64, e uint32) {
		var counts [stamps]uint64
		r.table.CountValues(b, counts[:])
		for age := range uint32(stamps) {
			i.Ages[age] += counts[stampOf(e-age)]
		}
	})
	for _, n := range i.Ages {
		i.Keys += n
	}

	i.Room = i.Capacity - min(i.Capacity, i.Keys)
	i.FPR, i.MaxFPR = r.table.Rate(i.Keys), r.table.Rate(r.table.Cells())
	return i
}

// latestTime returns the latest time, and whether any time was set.
func (d *dial) latestTime() (now int64, started bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now, d.started
}
