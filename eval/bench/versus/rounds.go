package versus

import "fmt"

// asker is one side of a running comparison.
type asker struct {
	*Side
	process interface {
		numbers(command string, names ...string) ([]uint64, error)
	}
	name    string // name for errors
	filter  string // FILTER of the command build
	options string // NAME=VALUE of the command build
	batch   bool   // whether the filter has batch queries
	// positives holds the number of positives for each range of keys.
	positives map[[2]int]uint64
}

// compare measures one pair: builds, then the answers for all keys, then queries, our side and the peer in turn.
func (r *run) compare(c *Comparison, both *sides) error {
	spec, err := c.spec(c.Rate)
	if err != nil {
		return err
	}
	c.Ours = Side{Told: spec, Times: map[string][]float64{}}
	c.Theirs = Side{Told: c.told(c.Rate), Times: map[string][]float64{}}
	ours := &asker{Side: &c.Ours, process: both.ours, name: "bloomery, " + spec, filter: spec}
	theirs := &asker{Side: &c.Theirs, process: both.theirs, name: c.Language + ", " + c.Peer, filter: c.Peer}
	if c.Hash != 0 {
		ours.Told += fmt.Sprintf(" of %v", c.Hash)
		ours.options = fmt.Sprintf(" hash=%d", c.Hash)
	}
	what := fmt.Sprintf("%s, %v", c.Name(), c.Kind)

	for round := range r.warm() + r.Builds {
		timed := round >= r.warm()
		r.say(fmt.Sprintf("%s: building, round %d of %d", what, round+1, r.warm()+r.Builds))
		if err := ours.make(r.at, timed); err != nil {
			return err
		}
		theirs.options = fmt.Sprintf(" fpr=%g bits=%d", c.Rate, ours.Bits)
		if err := theirs.make(r.at, timed); err != nil {
			return err
		}
		r.done++
	}
	r.say(what + ": counting false positives")
	for _, side := range []*asker{ours, theirs} {
		if err := side.truth(r.at); err != nil {
			return err
		}
	}
	r.done++
	present, absent := [2]int{r.at.sample, r.at.absent}, [2]int{r.at.absent, r.at.absent + r.Asked}
	for round := range r.Turns {
		r.say(fmt.Sprintf("%s: asking, round %d of %d", what, round+1, r.Turns))
		for _, op := range []struct {
			name, how   string
			keys, other [2]int
		}{
			{Present, "single", present, absent},
			{Absent, "single", absent, present},
			{PresentBatch, "batch", present, absent},
			{AbsentBatch, "batch", absent, present},
		} {
			for _, side := range []*asker{ours, theirs} {
				if op.how == "batch" && !side.batch {
					continue
				}
				if err := side.time(op.name, op.how, op.keys, op.other); err != nil {
					return err
				}
			}
		}
		r.done++
	}
	return nil
}

// time records the time of queries for keys. It first queries other keys, so that on both sides the caches contain as
// much of the filter as possible before each measurement.
func (a *asker) time(operation, how string, keys, other [2]int) error {
	if _, err := a.ask(how, other); err != nil {
		return err
	}
	ns, err := a.ask(how, keys)
	if err != nil {
		return err
	}
	return a.keep(operation, ns, keys[1]-keys[0])
}

// make builds the filter. If timed is true, it records the time.
func (a *asker) make(at layout, timed bool) error {
	a.positives = map[[2]int]uint64{}
	command := fmt.Sprintf("build %s %d %d%s", a.filter, at.present, at.sample, a.options)
	got, err := a.process.numbers(command, "ns", "bits", "refused", "batch")
	if err != nil {
		return err
	}
	a.Bits, a.Refused, a.batch = got[1], int(got[2]), got[3] != 0
	if !timed {
		return nil
	}
	return a.keep(Build, got[0], at.sample-at.present)
}

// keep records a time in nanoseconds per key.
func (a *asker) keep(operation string, ns uint64, keys int) error {
	if ns == 0 {
		return fmt.Errorf("%s: %s of %d keys took 0 ns of CPU time: the clock is too coarse, take more keys",
			a.name, operation, keys)
	}
	a.Times[operation] = append(a.Times[operation], float64(ns)/float64(keys))
	return nil
}

// ask queries a range of keys. It returns an error if the number of positives differs from the last query of this
// range.
func (a *asker) ask(how string, keys [2]int) (ns uint64, err error) {
	got, err := a.process.numbers(fmt.Sprintf("ask %s %d %d", how, keys[0], keys[1]), "ns", "positives")
	if err != nil {
		return 0, err
	}
	before, known := a.positives[keys]
	if known && got[1] != before {
		return 0, fmt.Errorf("%s: found %d of %d keys, and now, asked by %s queries, %d",
			a.name, before, keys[1]-keys[0], how, got[1])
	}
	a.positives[keys] = got[1]
	return got[0], nil
}

// truth queries all keys of the filter and all absent keys.
func (a *asker) truth(at layout) error {
	ways := []string{"single", "batch"}
	if !a.batch {
		ways = ways[:1]
	}
	for _, how := range ways {
		for _, part := range [][2]int{{at.present, at.sample}, {at.absent, at.end}} {
			if _, err := a.ask(how, part); err != nil {
				return err
			}
		}
	}
	keys := at.sample - at.present
	a.Lost = keys - int(a.positives[[2]int{at.present, at.sample}])
	a.Hits, a.Trials = a.positives[[2]int{at.absent, at.end}], uint64(at.end-at.absent)
	if a.Lost < 0 || a.Hits > a.Trials {
		return fmt.Errorf("%s: found more keys than it was asked for", a.name)
	}
	if a.Lost > a.Refused {
		return fmt.Errorf("%s: %d false negatives among its %d keys, of which it refused %d",
			a.name, a.Lost, keys, a.Refused)
	}
	return nil
}
