package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/window"
)

// memory holds the keys that dedup has seen.
type memory interface {
	// testAndAdd sets dst[i] to whether the key of hs[i] was present, and adds absent keys, in order, until there is no
	// room. It returns how many it set. times has the time of each key in ns since 1970, or is empty.
	testAndAdd(dst []bool, hs []filter.Hash, times []uint64) (n int, err error)
	hasher() filter.Hasher
	facts() memoryFacts
	save(ctx context.Context, path string) error
}

type memoryFacts struct {
	keys, bytes uint64
	fpr         float64
	early       uint64        // keys that were forgotten early
	came        uint64        // estimated number of different keys within the time to live
	late        uint64        // rows whose time was before the time of an earlier row
	latest      time.Duration // largest delay of such a row
}

// memory returns the memory in the state, or an empty memory without a state.
func (a *app) memory(f dedupFlags) (m memory, err error) {
	defer func() {
		switch { // an empty file, which dedup never writes, is an error, too
		case errors.Is(err, filter.ErrVersion):
			err = cli.Advise(err, "Install a newer bloomery: this one does not know all that the state remembers.")
		case errors.As(err, new(*container.FormatError)):
			err = cli.Advise(err, "A state was damaged or cut: restore it from a copy, or remove it, and all rows are new again."+
				"\n  If it is another file, name one for the state.")
		}
	}()
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}

	head, err := a.stateHead(f, secret)
	if err != nil {
		return nil, err
	}
	if f.ttl > 0 {
		return a.windowMemory(f, head, secret)
	}
	return a.setMemory(f, head, secret)
}

// stateHead returns the header of the file of a state, or nil if there is no state yet. It returns an error if the
// state was made with other flags.
func (a *app) stateHead(f dedupFlags, secret *filter.Secret) (*container.File, error) {
	if f.state == "" {
		return nil, nil
	}

	switch _, err := os.Stat(f.state); {
	case errors.Is(err, fs.ErrNotExist):
		if err := shardset.CheckFile(f.state); err != nil {
			return nil, err
		}
		return nil, container.MayWrite(f.state)
	case err != nil:
		return nil, err
	}
	if err := container.MayWrite(f.state); err != nil {
		return nil, err
	}

	var head *container.File
	_, err := container.ReadFile(f.state, container.Options{
		Context: a.ctx, Regular: true, Window: true,
		Check: func(file *container.File, _ []uint64) error {
			head = file
			return errors.New("only the header is read")
		},
	})
	if head == nil {
		return nil, fmt.Errorf("--state: %w", err)
	}

	was := flagsOf(head)
	if was == nil {
		return nil, fmt.Errorf("--state %s: a filter of the spec %s, and no state of dedup; name another file",
			f.state, head.Spec)
	}
	now := stateFlags(f.ttl, f.keys, f.fpr, f.timeColumn != "", secret != nil)
	return head, differs(was, now, f.state)
}

// stateFlags returns the flags that must be the same in all runs with a state, as text.
func stateFlags(ttl time.Duration, keys uint64, fpr float64, event, keyed bool) []string {
	text := func(given bool, name string, value ...any) string {
		if !given {
			return "no " + name
		}
		return strings.TrimSpace(name + " " + fmt.Sprint(value...))
	}
	return []string{
		text(ttl > 0, "--ttl", ttl), text(keys > 0, "--keys", keys), text(true, "--fpr", fpr),
		text(event, "--time-column"), text(keyed, "--secret-file"),
	}
}

// differs returns an error that names the flags that differ between was, of the state at path, and now, of this
// command.
func differs(was, now []string, path string) error {
	var old, other []string
	for i, text := range was {
		if now[i] != text {
			old, other = append(old, text), append(other, now[i])
		}
	}
	if len(old) == 0 {
		return nil
	}
	return fmt.Errorf("--state %s was made with %s, and this command has %s: give the same, or name another file",
		path, strings.Join(old, " and "), strings.Join(other, " and "))
}

// flagsOf returns the flags with which the memory in a file was made, or nil if dedup did not make it.
func flagsOf(head *container.File) []string {
	in, keyed := family.Reader(head.Spec), head.Hash == filter.SipHash
	given := func(name string) bool { return family.Given(head.Spec, name) }
	if head.Window {
		return stateFlags(time.Duration(in.Uint("ttl")), in.Uint("keys"), head.FPRPlanned, given("event"), keyed)
	}

	if head.Spec.Family() != neverForgets || head.HasExceptions() || family.Foreign(head.Hash) ||
		given("counting") || given("value_bits") || given("trimmed") {
		return nil
	}

	keys := in.Uint("capacity")
	if given("growth") {
		keys = 0
	}
	return stateFlags(0, keys, head.FPRPlanned, false, keyed)
}

// windowMemory forgets.
type windowMemory struct {
	keys  *window.Filter[filter.Hash]
	hash  filter.Hasher
	early uint64 // keys that earlier runs have forgotten early

	ttl    time.Duration
	begun  int64 // time of the first row, or of the start without times of rows
	now    int64 // latest time of a row
	late   uint64
	latest int64
}

func (a *app) windowMemory(f dedupFlags, head *container.File, secret *filter.Secret) (memory, error) {
	c := window.Config{
		Keys: f.keys, TTL: f.ttl, FPR: f.fpr, Overflow: window.Shorten, Refresh: f.refresh,
		EventTime: f.timeColumn != "", Secret: secret,
	}

	w := &windowMemory{hash: filter.NewHasher(0), ttl: f.ttl, begun: time.Now().UnixNano(), now: math.MinInt64}
	if secret != nil {
		w.hash = filter.NewKeyedHasher(*secret)
	}

	var err error
	if head == nil {
		w.keys, err = window.New[filter.Hash](c)
		return w, err
	}
	if w.hash, err = head.Hasher(secret); err != nil {
		return nil, fmt.Errorf("--state %s: %w", f.state, err)
	}
	if w.keys, err = window.Open[filter.Hash](a.ctx, f.state, c); err != nil {
		return nil, err
	}

	i := w.keys.Info()
	if w.early = i.Shortened; !i.Time.IsZero() {
		w.now = i.Time.UnixNano()
	}
	return w, a.aheadState(f, i.Time)
}

// aheadState compares the time of a state with the clock of this machine. With --time-column, rows that are more than a
// day ahead are refused, so a state that is further ahead was made with another clock. Without it, window.Open has
// refused a state that is too far ahead; with a smaller difference the time stands still.
func (a *app) aheadState(f dedupFlags, state time.Time) error {
	ahead, at := time.Until(state), state.UTC().Format(time.RFC3339)
	switch {
	case f.timeColumn != "" && ahead > mostAhead:
		return fmt.Errorf("--state %s: its latest row, of %s, is more than a day ahead of this machine: correct the clock, "+
			"or remove the state if the clock was wrong when it was saved", f.state, at)
	case f.timeColumn == "" && ahead >= time.Millisecond: // less than any --ttl
		a.warn("--state %s was saved at %s, %v ahead of the clock of this machine: time stands still until the clock is "+
			"there, and rows that were printed are left out for longer than %v, by as much", f.state, at,
			ahead.Round(time.Millisecond), f.ttl)
	}
	return nil
}

func (w *windowMemory) testAndAdd(dst []bool, hs []filter.Hash, times []uint64) (n int, err error) {
	for n < len(hs) && err == nil {
		end := len(hs)
		if len(times) > 0 {
			end = w.advance(n, times)
		}
		var done int
		done, err = w.keys.TestAndAddMany(dst[n:end], hs[n:end])
		n += done
	}
	return n, err
}

// advance moves the time to the time of row n, and returns the end of the following rows that do not move it further.
func (w *windowMemory) advance(n int, times []uint64) (end int) {
	t := int64(times[n])
	w.begun = min(w.begun, t)
	w.keys.Advance(time.Unix(0, t))
	w.now = max(w.now, t)
	for end = n; end < len(times) && int64(times[end]) <= w.now; end++ {
		if by := w.now - int64(times[end]); by > 0 {
			w.late, w.latest = w.late+1, max(w.latest, by)
		}
	}
	return end
}

func (w *windowMemory) hasher() filter.Hasher { return w.hash }

func (w *windowMemory) facts() memoryFacts {
	i := w.keys.Info()
	early := i.Shortened - w.early

	// After a run of several times to live, only the last one counts.
	now := w.now
	if now == math.MinInt64 {
		now = time.Now().UnixNano()
	}
	share := min(1, float64(w.ttl)/float64(max(now-w.begun, 1)))
	return memoryFacts{
		keys: i.Keys, bytes: i.Bytes, fpr: i.FPR, early: early, came: i.Keys + uint64(share*float64(early)),
		late: w.late, latest: time.Duration(w.latest),
	}
}

func (w *windowMemory) save(ctx context.Context, path string) error { return w.keys.Save(ctx, path) }

// setMemory never forgets.
type setMemory struct{ set *bloomery.Set }

// neverForgets is the family of filters that dedup makes without --ttl.
const neverForgets = "rankindexed"

// atOnce is the number of keys that are looked up at once.
const atOnce = 32

// A growing memory begins with room for a million keys, and doubles up to 8.6G keys.
const (
	firstKeys = 1 << 20
	doublings = 13
)

func (a *app) setMemory(f dedupFlags, head *container.File, secret *filter.Secret) (memory, error) {
	if head != nil {
		o := []bloomery.Option{bloomery.InMemory(), bloomery.WithSecret(secret)}
		set, err := bloomery.Open(a.ctx, f.state, o...)
		return setMemory{set}, err
	}

	// Only one goroutine uses the filter, but a filter for many writers grows in small steps. With a state it is not
	// used, since each save would copy it.
	c := bloomery.Config{Keys: f.keys, Concurrent: f.keys == 0 && f.state == "", Hashing: bloomery.Hashing{Secret: secret}}
	spec := family.NewSpec(neverForgets, "fpr", f.fpr)
	if c.Keys == 0 {
		c.Keys, spec = firstKeys, spec.With("growth", doublings)
	}

	c.Spec = spec.String()
	set, err := bloomery.New(c)
	return setMemory{set}, err
}

// testAndAdd queries many keys at once, which is faster, and then adds the absent keys one by one.
func (s setMemory) testAndAdd(dst []bool, hs []filter.Hash, _ []uint64) (n int, err error) {
	keyed := bloomery.Keyed[filter.Hash](s.set)
	for n < len(hs) {
		m := min(n+atOnce, len(hs))
		keyed.ContainsMany(dst[n:m], hs[n:m])
		for ; n < m; n++ {
			if dst[n] {
				continue
			}
			if dst[n], err = keyed.TestAndAdd(hs[n]); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (s setMemory) hasher() filter.Hasher { return s.set.Hasher() }

func (s setMemory) facts() memoryFacts {
	i := s.set.Info()
	return memoryFacts{keys: i.Keys, bytes: i.Bits / 8, fpr: i.FPRPosterior}
}

func (s setMemory) save(ctx context.Context, path string) error { return s.set.Save(ctx, path) }
