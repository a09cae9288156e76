package window

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// docs/format/window.md describes the format. All buckets of a file are up to date for the time of the file, so that
// the epochs of buckets and the hand follow from the clock.

// specName is the name in the Spec of a file.
const specName = "window"

// clockWords is the number of words of the last section: 1 if time has begun, origin, now, skipped, refused, shortened.
const clockWords = 6

// hashing are the fields of a file that describe the hash function.
type hashing struct {
	id             filter.HashID
	seed, keyCheck uint64
}

func hashOf(h filter.Hasher) hashing { return hashing{h.ID(), h.Seed(), h.KeyCheck()} }

// A saved is a copy of a filter. The next copy reuses its memory.
type saved struct {
	copy   *rankindexed.Copy
	epochs []uint32 // epochs per bucket, the epoch in which it was copied
}

// A filter of at least keepCopyFrom bytes keeps the memory of its last copy. Otherwise garbage copies would make the
// memory of the process three times the filter. A program that saves many small filters in turn needs less if they keep
// none.
const keepCopyFrom = 8 << 20

// snapshotFile returns a copy of the filter, up to date for the latest time. When the caller no longer uses the file,
// spare.Store may keep its memory for the next copy.
//
// It copies group by group, while other goroutines use the filter. A bucket of the copy is in the epoch in which it was
// copied. The clock is copied last, so that no bucket is ahead of it; then each bucket of the copy is brought up to the
// time of this clock.
func (r *ring) snapshotFile() (*container.File, *saved, error) {
	r.readClock()
	to := r.spare.Swap(nil) // nil at first, in small filters, and while another copy is written
	if to == nil {
		to = &saved{epochs: make([]uint32, r.buckets)}
	}

	table, clock, err := r.copyTable(to)
	if err != nil {
		return nil, nil, err
	}

	e := table.Encode()
	e.Spec = r.fileSpec(e.Spec)
	e.Sections = append(e.Sections, clock[:])
	return &container.File{
		Encoded: e, Window: true, FPRPlanned: r.fpr, Hash: r.hash.id, Seed: r.hash.seed, KeyCheck: r.hash.keyCheck,
	}, to, nil
}

// saveTo calls write with the file of the filter.
func (r *ring) saveTo(write func(*container.File) error) error {
	file, copied, err := r.snapshotFile()
	if err != nil {
		return err
	}
	if r.memoryBytes() >= keepCopyFrom {
		defer r.spare.Store(copied)
	}
	return write(file)
}

// copyTable copies the table and the clock into the memory of to.
func (r *ring) copyTable(to *saved) (*rankindexed.Cells, [clockWords]uint64, error) {
	var none [clockWords]uint64
	r.saving.Lock()
	defer r.saving.Unlock() // Cells allows one copy at a time

	c, err := r.table.StartCopy(to.copy, func(b uint64) { to.epochs[b] = epochOf(r.groups[b/group].Load(), b) })
	if err != nil {
		return nil, none, err
	}

	to.copy = c
	for first := uint64(0); first < r.buckets; first += group {
		l, _ := r.lockBucket(first)
		for b := first; b < min(first+group, r.buckets); b++ {
			c.Bucket(b)
		}
		l.unlock()
	}

	table := c.Finish()
	clock, target := r.fileClock() // after the last bucket, see above
	clock[4], clock[5] = r.refused.Load(), r.shortened.Load()
	for b := range r.buckets {
		sweepBucket(table, b, to.epochs[b], epochOf(target.groupEntry(b/group), b))
	}
	return table, clock, nil
}

// fileClock returns the first words of the clock of a file, and the target.
func (d *dial) fileClock() (words [clockWords]uint64, target point) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started {
		words = [clockWords]uint64{1, uint64(d.origin), uint64(d.now), d.skipped}
	}
	return words, point(d.target.Load())
}

// fileSpec returns the Spec of the file: the parameters of the filter, and the parameters of the table except
// value_bits, which is the same in all files.
func (r *ring) fileSpec(table filter.Spec) filter.Spec {
	s := family.NewSpec(specName, "burst", r.burst, "keys", r.asked, "ttl", r.ttl)
	if r.event {
		s = s.With("event", 1)
	}
	for _, p := range table.Params() {
		if p.Name != "value_bits" {
			s = s.With(p.Name, p.Value)
		}
	}
	return s
}

// splitSpec returns the Config and the Spec of the table of a file. It returns an error if the Spec of the file differs
// from the result of fileSpec for them.
func splitSpec(s filter.Spec) (c Config, table filter.Spec, err error) {
	own, table := family.NewSpec(specName), family.NewSpec(rankindexed.Family, "value_bits", stampBits)
	for _, p := range s.Params() {
		if slices.Contains([]string{"burst", "event", "keys", "ttl"}, p.Name) {
			own = own.With(p.Name, p.Value)
		} else {
			table = table.With(p.Name, p.Value)
		}
	}

	in := family.Reader(own)
	ttl := in.Count("ttl", math.MaxInt64)
	c = Config{Keys: in.Uint("keys"), TTL: time.Duration(ttl), Burst: in.Float("burst"), EventTime: in.Flag("event")}
	if err := in.Err(); err != nil {
		return c, table, err
	}
	if err := c.validate(); err != nil {
		return c, table, err
	}

	// The Spec made anew must be equal, so that no two texts mean the same filter.
	same := (&ring{dial: dial{ttl: ttl}, burst: c.burstShare(), asked: c.Keys, event: c.EventTime}).fileSpec(table)
	if same != s || strings.Contains(s.String(), "value_bits") {
		return c, table, family.Invalid("spec", s, "want burst, keys, ttl and the geometry of a table, in canonical form")
	}
	return c, table, nil
}

// checkFile returns an error unless the header of a file belongs to a filter of this package, with sections of these
// numbers of words.
func checkFile(f *container.File, words []uint64) error {
	switch {
	case !f.Window:
		return container.Broken(0, "magic", fmt.Errorf("%w: a filter file; open it with package bloomery", filter.ErrMagic))
	case f.Family != 0 || f.Spec.Family() != specName:
		return fmt.Errorf("family %d, spec %s in a file of package window", f.Family, f.Spec)
	case f.Form != (filter.KeyForm{}):
		return fmt.Errorf("form of keys %s in a file of package window", f.Form)
	case f.HasExceptions():
		return fmt.Errorf("exceptions in a file of package window")
	case family.Foreign(f.Hash):
		return fmt.Errorf("hash %s in a file of package window", f.Hash)
	case !(f.FPRPlanned >= minFPR && f.FPRPlanned <= maxFPR):
		return fmt.Errorf("planned rate %v in a file of package window", f.FPRPlanned)
	}

	_, table, err := splitSpec(f.Spec)
	if err != nil {
		return fmt.Errorf("spec %s: %v", f.Spec, err)
	}

	// The sizes must follow from the Spec before memory for the sections is allocated.
	g, want, err := rankindexed.StoredCells(table)
	if err != nil {
		return fmt.Errorf("spec %s: %v", f.Spec, err)
	}
	if g.Buckets > mostBuckets || g.ValueBits != stampBits {
		return fmt.Errorf("spec %s: more than %d buckets, or no stamps", f.Spec, uint64(mostBuckets))
	}
	if want = append(want, clockWords); !slices.Equal(words, want) {
		return fmt.Errorf("sections of %d words, want %d for %s", words, want, f.Spec)
	}
	return nil
}

// restore returns the ring of a file that checkFile has accepted. The ring keeps the words of the file. hashed is true
// if the keys are of type filter.Hash.
func (c Config) restore(f *container.File, hashed bool) (*ring, error) {
	saved, spec, err := splitSpec(f.Spec)
	if err != nil {
		return nil, err
	}

	saved.FPR = f.FPRPlanned
	if c, err = c.filledFrom(saved); err != nil {
		return nil, err
	}

	h, err := c.hasherOf(f, hashed)
	if err != nil {
		return nil, err
	}

	last := len(f.Sections) - 1
	table, err := rankindexed.DecodeCells(family.Encoded{Spec: spec, Keys: f.Keys, Sections: f.Sections[:last]})
	if err != nil {
		return nil, container.Broken(f.SectionAt(0), err.Error(), filter.ErrCorrupt)
	}

	r := c.ringOver(table, h)
	r.hash = hashing{f.Hash, f.Seed, f.KeyCheck}
	if at, err := r.restoreClock(f.Sections[last]); err != nil {
		return nil, container.Broken(f.SectionAt(last)+8*at, err.Error(), filter.ErrCorrupt)
	}
	if err := r.checkAges(); err != nil {
		return nil, container.Broken(f.SectionAt(0), err.Error(), filter.ErrCorrupt)
	}
	r.dial.startClock(c.Clock, c.EventTime) // never moves the time back, so checkAhead still finds a time that is ahead
	return r, r.checkAhead()
}

// filledFrom returns c with its zero fields set from saved, the Config of a file. It returns an error if another field
// differs from saved.
func (c Config) filledFrom(saved Config) (Config, error) {
	differs := func(field string, value, was any) (Config, error) {
		return Config{}, family.Invalid(field, value, "the filter in the file was made for %v; take that, or a new file", was)
	}

	switch {
	case c.Keys != 0 && c.Keys != saved.Keys:
		return differs("Keys", c.Keys, saved.Keys)
	case c.TTL != 0 && c.TTL != saved.TTL:
		return differs("TTL", c.TTL, saved.TTL)
	case c.FPR != 0 && c.FPR != saved.FPR:
		return differs("FPR", c.FPR, saved.FPR)
	case c.Burst != 0 && c.burstShare() != saved.Burst:
		return differs("Burst", c.Burst, saved.Burst)
	case c.EventTime != saved.EventTime:
		return differs("EventTime", c.EventTime, saved.EventTime)
	}
	c.Keys, c.TTL, c.FPR, c.Burst = saved.Keys, saved.TTL, saved.FPR, saved.Burst
	return c, c.validate()
}

// hasherOf returns the hasher of the keys of a file. Keys that are hashes need no secret.
func (c Config) hasherOf(f *container.File, hashed bool) (filter.Hasher, error) {
	switch {
	case f.Hash != filter.SipHash && c.Secret != nil:
		return filter.Hasher{}, family.Invalid("Secret", "REDACTED", "the filter in the file was made without a secret")
	case f.Hash == filter.SipHash && c.Secret == nil && hashed:
		return filter.NewHasher(0), nil // this hasher is never used
	}
	return f.Hasher(c.Secret)
}

// restoreClock sets the clock to the clock of a file, and all groups and the hand to its time. On error, at is the
// index of the wrong word.
func (r *ring) restoreClock(words []uint64) (at uint64, err error) {
	origin, now, skipped := int64(words[1]), int64(words[2]), words[3]
	r.refused.Store(words[4])
	r.shortened.Store(words[5])
	switch {
	case words[0] > 1:
		return 0, fmt.Errorf("clock of kind %d", words[0])
	case words[0] == 0 && (origin != 0 || now != 0 || skipped != 0):
		return 1, fmt.Errorf("times of a clock that has not begun")
	case words[0] == 0 && !r.event:
		return 0, fmt.Errorf("a clock that has not begun, not of event time")
	case now < origin:
		return 2, fmt.Errorf("latest time %d before the first one, %d", now, origin)
	case words[0] == 0:
		return 0, nil
	}

	r.started, r.origin, r.now, r.skipped = true, origin, now, skipped
	laps, rest := r.lapsPassed()
	if skipped > laps {
		return 3, fmt.Errorf("%d laps skipped of %d", skipped, laps)
	}

	r.setTarget(laps, rest)
	target := point(r.target.Load())
	for g := range r.groups {
		r.groups[g].Store(target.groupEntry(uint64(g)))
	}
	r.hand.Store(uint64(target))
	return 0, nil
}

// checkAges returns an error if a key was added before the time began.
func (r *ring) checkAges() error {
	if r.laps+r.skipped >= epochs { // keys of all stamps are possible
		return nil
	}

	for b := range r.buckets {
		passes := epochOf(r.groups[b/group].Load(), b) + uint32(r.skipped)
		var counts [stamps]uint64
		r.table.CountValues(b, counts[:])
		for age := passes + 1; age < stamps; age++ {
			if counts[stampOf(epochOf(r.groups[b/group].Load(), b)-age)] > 0 {
				return fmt.Errorf("bucket %d: a key from before the time began", b)
			}
		}
	}
	return nil
}
