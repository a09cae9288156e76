package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/keyio"
)

// deduper is a run of dedup.
type deduper struct {
	*app
	dedupFlags
	memory memory

	mu             sync.Mutex // guards the fields below and the memory
	rows, selected int64
	unsaved        bool   // the memory has keys that the state does not have
	unprinted      bool   // the memory has keys whose rows were not printed, so it must not be saved
	advised        uint64 // the number of keys in the last warning that keys are forgotten early
	hits           []bool
}

// dedup prints the rows of the inputs whose keys are new to the memory.
func (a *app) dedup(ctx context.Context, f dedupFlags, inputs []string) error {
	what := "reading"
	if !f.count {
		what = a.answering(what)
	}

	s, err := a.source(f.in, inputs)
	if err != nil {
		return err
	}

	if f.state != "" {
		state, err := container.Resolve(f.state)
		if err != nil {
			return fmt.Errorf("--state: %w", err)
		}
		waiting := func() { a.note("waiting for another dedup with the state %s", state) }
		lock, _, err := container.LockFile(ctx, state+container.LockSuffix, nil, waiting)
		if err != nil {
			return err
		}
		defer container.Unlock(lock)
		f.state = state // the folder may change later
	}

	m, err := a.memory(f)
	if err != nil {
		return err
	}

	d := &deduper{app: a, dedupFlags: f, memory: m}
	stop := d.keep(ctx)
	err = s.pass(ctx, what, hashing(m.hasher()), d.emit)
	stop()
	return d.end(ctx, err)
}

// emit prints the rows of a batch that are selected.
func (d *deduper) emit(b *keyio.Batch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hits = append(d.hits[:0], make([]bool, len(b.Hashes))...)
	n, err := d.memory.testAndAdd(d.hits, b.Hashes, b.Values)
	for i, repeated := range d.hits[:n] {
		if repeated != d.repeats {
			continue
		}
		if d.selected++; !d.count {
			d.in.printRow(b, i, d.json, nil)
		}
	}

	d.rows += int64(n)
	d.unsaved = d.unsaved || n > 0
	if printErr := d.print(b); printErr != nil {
		d.unprinted = true
		return printErr
	}
	if errors.Is(err, filter.ErrFull) {
		err = d.full(fmt.Sprintf("%s: line %d", b.Input, b.LineNumbers[n]))
	}
	return err
}

// full returns the error for a row whose key has no room.
func (d *deduper) full(row string) error {
	keys := d.memory.facts().keys
	err := fmt.Errorf("%s: the memory is full, with %d different keys: all rows before this one were printed, if new",
		row, keys)
	hint := "Give more --keys, or none: the memory then grows."
	if d.state != "" {
		hint = fmt.Sprintf("Give more --keys, or none, and another --state: %s keeps its size.", d.state)
	}
	return cli.Advise(err, hint)
}

// keep saves the state at intervals, and warns if keys are forgotten early, until stop is called.
func (d *deduper) keep(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(d.interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				d.look(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// look saves the state if it has changed, and warns once if keys were forgotten early. If the state cannot be saved, it
// only warns: dedup continues, and the next attempt may succeed.
func (d *deduper) look(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsaved && d.state != "" && !d.count { // the count is printed at the end
		if err := d.saveState(ctx); err != nil && ctx.Err() == nil {
			d.warn("the state was not saved: %v", err)
		}
	}
	d.warnEarly(d.memory.facts())
}

// saveState saves the state. If the rows go to a file, saveState first waits until the rows are on the disk.
func (d *deduper) saveState(ctx context.Context) error {
	if d.unprinted {
		return nil
	}
	if err := cli.Sync(d.stdout); err != nil {
		return err
	}
	err := d.memory.save(ctx, d.state)
	d.unsaved = d.unsaved && err != nil
	return err
}

func (d *deduper) warnEarly(facts memoryFacts) {
	if facts.early == 0 {
		return
	}

	enough := enoughKeys(facts.came, d.keys)
	if enough <= d.advised { // more keys may come after a warning: then another one advises twice as many or so
		return
	}
	d.advised = enough
	d.warn("more than %d different keys came within %v: the oldest are forgotten too early, and their rows may be "+
		"printed again\n  About %s different lines came: --keys %s.", d.keys, d.ttl,
		cli.Short(float64(max(facts.came, d.keys))), cli.Short(float64(enough)))
}

// enoughKeys returns a round number of keys that is above the number that came and above the number that was too small.
func enoughKeys(came, tooSmall uint64) uint64 {
	unit := uint64(1)
	for came/unit >= 10 {
		unit *= 10
	}
	return max((came+unit-1)/unit*unit, (tooSmall/unit+1)*unit)
}

// end saves the state, reports, and returns the error of the run.
func (d *deduper) end(ctx context.Context, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	facts := d.memory.facts()
	d.warnEarly(facts)
	if facts.late > 0 && facts.latest > d.ttl/7 {
		d.warn("%d rows came late, by up to %v: they count as of the latest time before them, and may be printed "+
			"although their keys were printed within %v", facts.late, facts.latest, d.ttl)
	}
	if d.count && err == nil {
		err = d.answer(&object{
			{"count", d.selected}, {"rows", d.rows}, {"keys", facts.keys}, {"bytes", facts.bytes}, {"fpr", facts.fpr},
			{"early", facts.early}, {"late", facts.late}, {"bad_rows", d.badRows},
			{"without_key", d.keyless},
		}, "%d\n", d.selected)
	}
	if !d.count && !d.json && err == nil { // after an error, some of the rows may not have been printed
		unit, found := "lines", "new"
		if d.in.columns() {
			unit = "rows"
		}
		if d.repeats {
			found = "repeated"
		}
		d.note("%d %s, %d %s", d.rows, unit, d.selected, found)
	}
	if d.state == "" || d.count && err != nil { // a state must not remember rows that were not counted
		return err
	}

	saveErr := d.saveState(context.WithoutCancel(ctx))
	switch {
	case saveErr != nil:
		return errors.Join(err, fmt.Errorf("the state was not saved: %w", saveErr))
	case d.unprinted:
		return cli.Advise(err, fmt.Sprintf("%s remembers what had been printed when it was last saved.", d.state))
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; %s remembers what was printed", d.state)
	}
	return err
}
