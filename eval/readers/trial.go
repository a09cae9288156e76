package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// trial queries the Go command and other readers for the same keys.
type trial struct {
	options
	dir     string // folder of the files in work
	command reader
	readers []reader
	report  report
	log     io.Writer // log of progress and differences
}

// report is the result of a trial, also in JSON.
type report struct {
	Seed    uint64         `json:"seed"`
	Readers []string       `json:"readers"`
	Filters int            `json:"filters"` // number of filters that were built
	Sharded int            `json:"sharded_sets"`
	Large   int            `json:"large"` // further filters, of more than 2^32 bits
	Exact   int            `json:"exact_sets"`
	Windows int            `json:"windows"` // filters of package window
	Keys    int            `json:"keys"`    // keys for which every reader is queried
	Present int            `json:"present"` // keys of these that are present
	Answers map[string]int `json:"answers"` // answers of each reader, compared with the answers of the Go command
	// Families counts the filters of each family, Changes the filters by the way in which they were made.
	Families map[string]int `json:"families"`
	Changes  map[string]int `json:"changes"`
	Damaged  int            `json:"damaged"`  // files that were changed
	Refused  int            `json:"refused"`  // number of these that all readers refused
	Accepted int            `json:"accepted"` // number of these that all readers accepted, with the same answers
	Faults   []fault        `json:"faults"`
	// ByDamage maps each kind of damage to the numbers of files that were refused and accepted.
	ByDamage map[string][2]int `json:"by_damage"`
}

// fault is a difference between readers, or a reader that failed.
type fault struct {
	What string `json:"what"`
	File string `json:"file"` // kept for inspection
}

func newReport(seed uint64) report {
	return report{
		Seed: seed, Answers: map[string]int{}, Families: map[string]int{}, Changes: map[string]int{},
		ByDamage: map[string][2]int{}, Faults: []fault{},
	}
}

// maxFaults is the number of faults after which a trial ends.
const maxFaults = 20

var errFaults = errors.New("too many faults")

// answers asks for at least the given number of keys.
func (t *trial) answers(ctx context.Context, keys int) error {
	type next struct {
		s   *subject
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	made := make(chan next, 2) // filters are built while others are queried
	var builder sync.WaitGroup
	defer builder.Wait()
	defer cancel()
	builder.Go(func() {
		for number := t.first; ; number++ {
			s, err := t.newSubject(ctx, t.seed, number, t.mostKeys, t.perFilter)
			select {
			case made <- next{s, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
	for t.report.Keys < keys {
		n := <-made
		if n.err != nil {
			return n.err
		}
		if err := t.compare(ctx, n.s); err != nil {
			return err
		}
		t.report.Filters++
		t.report.Families[n.s.plan.family.Name]++
		t.report.Changes[string(n.s.plan.change)]++
		if n.s.plan.shards > 0 {
			t.report.Sharded++
		}
		t.progress("%d of %d keys in %d filters", t.report.Keys, keys, t.report.Filters)
		if err := os.RemoveAll(n.s.path); err != nil {
			return err
		}
	}
	return nil
}

// ask queries the command and all readers at the same time. Replies are in the order of names.
func (t *trial) ask(ctx context.Context, s *subject) (all []reader, replies []reply, errs []error, err error) {
	keysPath := filepath.Join(t.dir, "keys")
	if err := os.WriteFile(keysPath, records(s.keys), 0o600); err != nil {
		return nil, nil, nil, err
	}
	all = append([]reader{t.command}, t.readers...)
	replies, errs = make([]reply, len(all)), make([]error, len(all))
	var asked sync.WaitGroup
	for i, r := range all {
		asked.Go(func() { replies[i], errs[i] = r.answer(ctx, s, keysPath) })
	}
	asked.Wait()
	return all, replies, errs, ctx.Err()
}

// compare queries all readers about a filter that they must accept.
func (t *trial) compare(ctx context.Context, s *subject) error {
	all, replies, errs, err := t.ask(ctx, s)
	if err != nil {
		return err
	}
	for i, r := range all {
		switch {
		case errs[i] != nil:
			err = t.fault(s, "%s: %v", r.name(), errs[i])
		case replies[i].refused != "":
			err = t.fault(s, "%s refuses it: %s", r.name(), replies[i].refused)
		default:
			err = t.same(s, r.name(), replies[0], replies[i])
		}
		if err != nil {
			return err
		}
	}
	if errs[0] == nil && replies[0].refused == "" {
		t.report.Keys += len(s.keys)
		for i, held := range s.held {
			if replies[0].records[recordSize*i] == 1 {
				t.report.Present++
			} else if held {
				return t.fault(s, "a key is lost: %s", s.keys[i])
			}
		}
	}
	return nil
}

// same compares the records of a reader with the records of the command, and counts them if they are equal.
func (t *trial) same(s *subject, name string, want, got reply) error {
	if len(got.records) != recordSize*len(s.keys) {
		return t.fault(s, "%s wrote %d bytes for %d keys", name, len(got.records), len(s.keys))
	}
	if want.records == nil {
		return nil // the command failed, which is a separate fault
	}
	different, first := 0, 0
	for i := range s.keys {
		a, b := want.records[recordSize*i:][:recordSize], got.records[recordSize*i:][:recordSize]
		if string(a) != string(b) {
			if different == 0 {
				first = i
			}
			different++
		}
	}
	if different > 0 {
		a, b := recordText(want.records[recordSize*first:]), recordText(got.records[recordSize*first:])
		return t.fault(s, "%s gives other answers to %d of %d keys, first to %s: %s; the command: %s",
			name, different, len(s.keys), s.keys[first], b, a)
	}
	t.report.Answers[name] += len(s.keys)
	return nil
}

// recordText describes a record.
func recordText(b []byte) string {
	le := binary.LittleEndian
	return fmt.Sprintf("has %d, count %d, value %d (%d)", b[0], le.Uint64(b[1:]), le.Uint64(b[10:]), b[9])
}

// fault records a fault and keeps the file with its keys. It returns an error if there are too many faults.
func (t *trial) fault(s *subject, format string, args ...any) error {
	text := s.String() + ": " + fmt.Sprintf(format, args...)
	kept := filepath.Join(t.keep, fmt.Sprintf("%d-%s", len(t.report.Faults), filepath.Base(s.path)))
	err := os.MkdirAll(t.keep, 0o755)
	if err == nil {
		err = os.RemoveAll(kept)
	}
	if err == nil {
		if i, statErr := os.Stat(s.path); statErr == nil && i.IsDir() {
			err = os.CopyFS(kept, os.DirFS(s.path))
		} else if b, readErr := os.ReadFile(s.path); readErr != nil {
			err = readErr
		} else {
			err = os.WriteFile(kept, b, 0o644)
		}
	}
	if err == nil {
		err = os.WriteFile(kept+".keys", records(s.keys), 0o644)
	}
	if err != nil {
		return err
	}
	t.report.Faults = append(t.report.Faults, fault{text, kept})
	fmt.Fprintf(t.log, "\nFAULT %s\n  kept as %s, secret %s\n", text, kept, s.secret)
	if len(t.report.Faults) >= maxFaults {
		return errFaults
	}
	return nil
}

// progress shows a line, at most ten times per second.
func (t *trial) progress(format string, args ...any) {
	if t.quiet || time.Since(t.shown) < 100*time.Millisecond {
		return
	}
	t.shown = time.Now()
	fmt.Fprintf(t.log, "\r\x1b[K%s, %.0f s", fmt.Sprintf(format, args...), time.Since(t.start).Seconds())
}
