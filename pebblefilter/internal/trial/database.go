package trial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DatabaseResult holds the measurements of a contender with a database in two states. In state "levels", nine tenths of
// the keys have been written and compacted into the last level, and the others have been written and flushed to level
// 0. In state "last", all keys have been compacted into the last level. Each contender has the same keys in the same
// tables.
//
// Pebble queries the filters of the last level only in seeks, and only if the iterator requests it. Blocks are read per
// query: data, index and filter blocks, from the cache or not.
type DatabaseResult struct {
	Contender  string
	Keys       int
	Tables     []int   // tables of each level in state levels
	Bits       float64 // bytes of all filter blocks, in bits per key, after the last compaction
	Load       Ratio   // CPU time of writing all keys, with flushes
	Compaction Ratio   // CPU time of both compactions
	GetPresent Query   // state levels
	GetAbsent  Query   // state levels
	Seek       Query   // present keys, state last
	SeekAbsent Query   // state last
	Missing    int     // keys that were not found
	Found      int     // absent keys that were found
}

// Query is a kind of query.
type Query struct {
	Time   Ratio
	Blocks float64 // read a query
	Yes    float64 // filters that answered yes a query
	No     float64
}

const (
	valueSize = 32
	memTable  = 16 << 20
)

// setValue writes the value of a key. Half of the value compresses.
func setValue(value []byte, i int) {
	for j := 0; j < len(value)/2; j += 8 {
		binary.LittleEndian.PutUint64(value[j:], uint64(i+j)*0xD6E8FEB86659FD93)
	}
}

// sample is a Query of one turn.
type sample struct{ ns, blocks, yes, no float64 }

func (c Config) database(r *Report, all []Contender) error {
	results := make([]DatabaseResult, len(all))
	load, compaction := make([][]float64, len(all)), make([][]float64, len(all))
	var queries [4][][]sample
	for k := range queries {
		queries[k] = make([][]sample, len(all))
	}
	for turn := range c.Turns {
		for _, i := range order(len(all), turn) {
			if c.stopped() {
				break
			}
			err := c.oneDatabase(all[i], &results[i], func(l, comp float64, s [4]sample) {
				load[i], compaction[i] = append(load[i], l), append(compaction[i], comp)
				for k := range queries {
					queries[k][i] = append(queries[k][i], s[k])
				}
			})
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].Name, err)
			}
			c.logf("database of %d keys: turn %d of %d, %s", c.Keys, turn+1, c.Turns, all[i].Name)
		}
	}
	turns := c.Turns
	for i := range all {
		turns = min(turns, len(load[i])) // ignore an incomplete turn that was stopped
	}
	if turns == 0 {
		return nil
	}
	for i := range all {
		d := &results[i]
		d.Contender, d.Keys = all[i].Name, c.Keys
		d.Load, d.Compaction = ratio(load[i][:turns], load[0]), ratio(compaction[i][:turns], compaction[0])
		for k, q := range []*Query{&d.GetPresent, &d.GetAbsent, &d.Seek, &d.SeekAbsent} {
			*q = query(queries[k][i][:turns], queries[k][0])
		}
	}
	r.Database = results
	return nil
}

func query(s, base []sample) (q Query) {
	var ns, baseNS []float64
	for t := range s {
		ns, baseNS = append(ns, s[t].ns), append(baseNS, base[t].ns)
		q.Blocks += s[t].blocks / float64(len(s))
		q.Yes += s[t].yes / float64(len(s))
		q.No += s[t].no / float64(len(s))
	}
	q.Time = ratio(ns, baseNS)
	return q
}

// oneDatabase writes a database and queries it.
func (c Config) oneDatabase(x Contender, d *DatabaseResult, done func(load, compaction float64, s [4]sample)) error {
	dir := ""
	if c.Dir != "" {
		dir = filepath.Join(c.Dir, "compare")
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	s, err := x.Open(dir, memTable, 0)
	if err != nil {
		return err
	}
	defer s.Close()
	var key [keySize]byte
	value := make([]byte, valueSize)
	var load, compaction float64
	write := func(from, to int) error {
		start := ProcessTime()
		for i := from; i < to; i++ {
			setValue(value, i)
			if err := s.Set(Key(&key, i, false), value); err != nil {
				return err
			}
		}
		err := s.Flush()
		load += float64(ProcessTime()-start) / float64(c.Keys)
		return err
	}
	compact := func() error {
		start := ProcessTime()
		err := s.Compact(make([]byte, keySize), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
		compaction += float64(ProcessTime()-start) / float64(c.Keys)
		return err
	}
	runtime.GC()
	if err := errors.Join(write(0, c.Keys/10*9), compact(), write(c.Keys/10*9, c.Keys)); err != nil {
		return err
	}
	d.Tables = s.Counts().Levels
	var samples [4]sample
	if samples[0], err = c.queries(s, s.Get, false, d); err != nil {
		return err
	}
	if samples[1], err = c.queries(s, s.Get, true, d); err != nil {
		return err
	}
	if err := compact(); err != nil {
		return err
	}
	if samples[2], err = c.queries(s, s.Seek, false, d); err != nil {
		return err
	}
	if samples[3], err = c.queries(s, s.Seek, true, d); err != nil {
		return err
	}
	d.Bits = 8 * float64(s.Counts().Filters) / float64(c.Keys)
	done(load, compaction, samples)
	return s.Close()
}

// queries queries keys in a random order and counts wrong answers.
func (c Config) queries(s Store, ask func([]byte) (bool, error), absent bool, d *DatabaseResult) (sample, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var key [keySize]byte
	for i := range min(c.Queries, 50_000) { // fills the cache
		if _, err := ask(Key(&key, i*7919%c.Keys, absent)); err != nil {
			return sample{}, err
		}
	}
	before, start := s.Counts(), ThreadTime()
	for i := range c.Queries {
		found, err := ask(Key(&key, i*7919%c.Keys, absent))
		if err != nil {
			return sample{}, err
		}
		switch {
		case absent && found:
			d.Found++
		case !absent && !found:
			d.Missing++
		}
	}
	took, after, n := ThreadTime()-start, s.Counts(), float64(c.Queries)
	return sample{
		ns: float64(took) / n, blocks: float64(after.Blocks-before.Blocks) / n,
		yes: float64(after.Yes-before.Yes) / n, no: float64(after.No-before.No) / n,
	}, nil
}
