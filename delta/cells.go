package delta

import "encoding/binary"

// Cells have 1, 2, 4 or 8 bits; the logarithm of that takes cellBits bits.
const (
	cellBits  = 2
	cellSizes = 1 << cellBits
)

// grid is a section as cells of 2^log bits.
type grid struct {
	b   []byte
	log uint
}

func (g grid) len() uint64 { return 8 * uint64(len(g.b)) >> g.log }

// top returns the largest value of a cell.
func (g grid) top() uint64 { return 1<<(1<<g.log) - 1 }

func (g grid) at(i uint64) uint64 {
	bit := i << g.log
	return uint64(g.b[bit/8]>>(bit%8)) & g.top()
}

func (g grid) set(i, v uint64) {
	bit := i << g.log
	g.b[bit/8] = g.b[bit/8]&^byte(g.top()<<(bit%8)) | byte(v<<(bit%8))
}

// The lists of mode cells, in this order: cells that fall by one, of those that are not 0; cells that rise by one, of
// those that do not have the largest value; other changes, of all cells.
const (
	falls = iota
	rises
	others
	kinds
)

// of reports whether a cell with that old value counts in a list.
func (g grid) of(kind int, v uint64) bool {
	return kind == others || kind == falls && v != 0 || kind == rises && v != g.top()
}

// kind returns the list of a change.
func kind(old, new uint64) int {
	switch new {
	case old - 1:
		return falls
	case old + 1:
		return rises
	}
	return others
}

// putCells returns the trial of mode cells, or false if it cannot be the smallest.
func (p *pair) putCells(log uint) (put func(w *bitWriter, most uint64) bool, ok bool) {
	old, new := grid{p.old, log}, grid{p.new, log}
	var changed, eligible [kinds]uint64
	for at := 0; at < len(p.old); at += 8 {
		a, b := binary.LittleEndian.Uint64(p.old[at:]), binary.LittleEndian.Uint64(p.new[at:])
		for range 64 >> log {
			v := a & old.top()
			for k := range kinds {
				if old.of(k, v) {
					eligible[k]++
				}
			}
			if u := b & old.top(); u != v {
				changed[kind(v, u)]++
			}
			a, b = a>>(1<<log), b>>(1<<log)
		}
	}
	if changed[others]*4 > changed[falls]+changed[rises] {
		return nil, false
	}
	return func(w *bitWriter, most uint64) bool {
		w.field(uint64(log), cellBits)
		for k := range kinds {
			w.number(changed[k])
			l := newList(eligible[k], changed[k])
			rank := uint64(0)
			for i := uint64(0); l.left > 0; i++ {
				v := old.at(i)
				if u := new.at(i); u != v && kind(v, u) == k {
					l.put(w, rank)
					if k == others {
						w.field(u, 1<<log)
					}
				}
				if old.of(k, v) {
					rank++
				}
			}
			if w.bits() >= most {
				return false
			}
		}
		return true
	}, true
}

// getCells changes cells of b, which is a copy of old.
func getCells(r *bitReader, b, old []byte) {
	log := uint(r.field(cellBits))
	was, now := grid{old, log}, grid{b, log}
	for k := range kinds {
		eligible := uint64(0)
		for i := range was.len() {
			if was.of(k, was.at(i)) {
				eligible++
			}
		}
		rank, i := uint64(0), uint64(0)
		for l := begin(r, eligible); l.left > 0 && r.err == nil; {
			for to := l.get(r); ; i++ {
				if was.of(k, was.at(i)) {
					if rank++; rank > to {
						break
					}
				}
			}
			switch v := was.at(i); k {
			case falls:
				now.set(i, v-1)
			case rises:
				now.set(i, v+1)
			default:
				now.set(i, r.field(1<<log))
			}
			i++
		}
	}
}
