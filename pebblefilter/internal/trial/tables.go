package trial

import (
	"fmt"
	"runtime"
	"slices"
)

// TableResult holds the measurements of a contender with tables of one size.
type TableResult struct {
	Contender string
	Keys      int
	Bits      float64 // a key
	Rate      Share   // rate of absent keys for which the filter answers yes
	Build     Ratio   // CPU time of the filter alone
	Flush     Ratio   // CPU time of writing the table with a flush
	Present   Ratio   // time of a query
	Absent    Ratio
}

// fewest is the total number of keys in all tables of a size, if there are enough queries, so that the rate is a mean
// over many tables.
const fewest = 200_000

// tables measures tables of n keys.
func (c Config) tables(r *Report, all []Contender, n int) error {
	count := max(1, min(fewest, 5*c.Queries)/n)
	results := make([]TableResult, len(all))
	blocks := make([][][]byte, len(all))
	build, flush := make([][]float64, len(all)), make([][]float64, len(all))
	present, absent := make([]turns, len(all)), make([]turns, len(all))
	for turn := range c.Turns {
		if c.stopped() {
			if turn == 0 {
				return nil
			}
			break
		}
		for _, i := range order(len(all), turn) {
			start := ProcessTime()
			blocks[i] = blocks[i][:0]
			for t := range count {
				blocks[i] = append(blocks[i], makeTable(all[i], t*n, n))
			}
			build[i] = append(build[i], float64(ProcessTime()-start)/float64(count*n))
			took, err := flushTables(all[i], n, min(count, 20))
			if err != nil {
				return err
			}
			flush[i] = append(flush[i], took)
		}
		yes := askAll(all, blocks, n, c.Queries, false, present)
		for i, x := range all {
			if yes[i] != c.Queries {
				return fmt.Errorf("%s: %d of %d keys are missing in tables of %d keys", x.Name, c.Queries-yes[i], c.Queries, n)
			}
		}
		for i, hits := range askAll(all, blocks, n, c.Queries, true, absent) {
			results[i].Rate.Hits += hits
			results[i].Rate.Trials += c.Queries
		}
		c.logf("tables of %d keys: turn %d of %d", n, turn+1, c.Turns)
	}
	for i := range all {
		size := 0
		for _, b := range blocks[i] {
			size += len(b)
		}
		t := &results[i]
		t.Contender, t.Keys, t.Bits = all[i].Name, n, 8*float64(size)/float64(n*count)
		t.Build, t.Flush = ratio(build[i], build[0]), ratio(flush[i], flush[0])
		t.Present, t.Absent = present[i].ratio(), absent[i].ratio()
	}
	r.Tables = append(r.Tables, results...)
	return nil
}

// makeTable makes the filter of keys first to first+n.
func makeTable(x Contender, first, n int) []byte {
	w := x.NewTable()
	var key [keySize]byte
	for i := range n {
		w.AddKey(Key(&key, first+i, false))
	}
	return w.Done()
}

// askAll queries the tables of every contender, one after the other, for their own keys or for absent ones. It returns
// the number of yes answers of each contender, and adds to times the median times of a query and their median ratios to
// the first contender. All contenders get the same keys, then all the next ones, a few milliseconds each. The first
// keys are not timed: they load the filter of the contender into the caches.
func askAll(all []Contender, blocks [][][]byte, n, queries int, absent bool, times []turns) (yes []int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const batch, warm = 1 << 14, 1 << 11
	keys, at := make([][keySize]byte, batch), make([]int, batch)
	ns, ratios := make([][]float64, len(all)), make([][]float64, len(all))
	yes = make([]int, len(all))
	took := make([]float64, len(all))
	for asked := 0; asked < queries; asked += batch {
		todo := min(batch, queries-asked)
		for j := range todo {
			i := (asked + j) * 7919 // prime
			at[j] = i / n % len(blocks[0])
			if absent {
				Key(&keys[j], 1<<40+asked+j, true)
			} else {
				Key(&keys[j], at[j]*n+i%n, false)
			}
		}
		for _, i := range order(len(all), asked/batch) {
			has, blocks, timed := all[i].Has, blocks[i], todo
			start := ThreadTime()
			for j := range todo {
				if j == warm {
					start, timed = ThreadTime(), todo-warm
				}
				if has(blocks[at[j]], keys[j][:]) {
					yes[i]++
				}
			}
			took[i] = float64(ThreadTime()-start) / float64(timed)
		}
		for i := range all {
			ns[i], ratios[i] = append(ns[i], took[i]), append(ratios[i], took[i]/took[0])
		}
	}
	for i := range all {
		times[i].ns = append(times[i].ns, median(ns[i]))
		times[i].ratios = append(times[i].ratios, median(ratios[i]))
	}
	return yes
}

// flushTables writes n keys to a database in memory count times and returns the CPU time of the flush, in nanoseconds a
// key.
func flushTables(x Contender, n, count int) (float64, error) {
	s, err := x.Open("", 4<<20+256*uint64(n), 1<<40)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var key [keySize]byte
	value := make([]byte, valueSize)
	var took []float64
	for t := range count {
		for i := range n {
			setValue(value, i)
			if err := s.Set(Key(&key, t*n+i, false), value); err != nil {
				return 0, err
			}
		}
		start := ProcessTime()
		if err := s.Flush(); err != nil {
			return 0, err
		}
		took = append(took, float64(ProcessTime()-start)/float64(n))
	}
	slices.Sort(took)
	return took[len(took)/2], s.Close()
}
