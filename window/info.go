package window

import "time"

// Info describes a Filter at a time.
type Info struct {
	Time time.Time // latest time; the zero Time if time has not begun
	TTL  time.Duration
	// Keys is the number of keys in memory; keys that look alike count once.
	Keys uint64
	// Ages has Keys by age: the keys in Ages[i] were added, or renewed, at least i-1 and at most i+1 sevenths of TTL
	// ago.
	Ages [8]uint64
	// Capacity is the number of keys that the filter is planned for, all ages together, and Room is what is left of it.
	// A few more fit: the fewer the larger the filter is.
	Capacity, Room uint64
	// FPR is the false-positive rate now, and MaxFPR what it would be if all cells were in use.
	FPR, MaxFPR float64
	// FPRChosen is Config.FPR.
	FPRChosen float64
	// Refused is the number of operations since New, over all files, that returned filter.ErrFull. Shortened is the
	// number of keys that were removed before their time to make room. Only one of them can be above 0; see Overflow.
	Refused, Shortened uint64
	// Bytes is the memory of the filter. It never changes. The copy that Save keeps is not counted.
	Bytes uint64
}

// Info describes the filter at the current time. Like Len it first removes what is too old, and it then reads the whole
// filter: about 2 ms for a million keys. Others may use the filter meanwhile; the numbers are then of slightly
// different times.
func (f *Filter[K]) Info() Info { return f.ring.info() }

func (r *ring) info() Info {
	r.tick()
	r.catchUp()
	i := Info{
		TTL: time.Duration(r.ttl), Capacity: uint64(r.keys), FPRChosen: r.fpr,
		Refused: r.refused.Load(), Shortened: r.shortened.Load(), Bytes: r.bytes(),
	}
	if now, started := r.time(); started {
		i.Time = time.Unix(0, now)
	}
	r.each(func(b uint64, e uint32) {
		var counts [stamps]uint64
		r.table.CountValues(b, counts[:])
		for age := range uint32(stamps) {
			i.Ages[age] += counts[stamp(e-age)]
		}
	})
	for _, n := range i.Ages {
		i.Keys += n
	}
	i.Room = i.Capacity - min(i.Capacity, i.Keys)
	i.FPR, i.MaxFPR = r.table.Rate(i.Keys), r.table.Rate(r.table.Cells())
	return i
}

// time returns the latest time, and whether it has begun.
func (d *dial) time() (now int64, started bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now, d.started
}
