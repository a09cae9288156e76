package publish

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/shard"
)

// Publish publishes a filter file, an exact set, or the folder of a sharded set, as the current release in the folder
// dir, which it creates if needed. It writes dir/release.json and files in dir/objects, and leaves everything else
// alone. It first reads the filter once and checks it completely; it needs no secret for a keyed hash.
//
// It stores the objects, makes a delta from each kept older release, and then replaces release.json by rename. After a
// crash at any moment the folder has the complete old release or the complete new one. The next Publish removes
// leftover temporary files, and the next new release removes the objects that neither it nor the previous release
// names. If the current release has the same filter, nothing changes; see Options.Renew. A filter that was published in
// an older release gets a new, higher number.
//
// A user who can write dir but has no key can only stop releases. A signed release takes name, number, history and
// expiry only from a release.json that a key of Options.Sign or Options.Rotate has signed, and uses only objects with
// the right hash. Otherwise the error wraps ErrUntrusted, with the reason: ErrUnsigned, ErrOtherKey, ErrSignature,
// ErrRelease or ErrVersion. With Options.State, Publish also detects an outdated release.json and a lost one (ErrLost).
//
// Publish locks dir and waits while another process publishes there. Peak memory: two versions of a filter, or of a
// shard, a delta, and the memory of delta.DiffFiles. On error the current release is unchanged, and new files are
// removed. Other errors wrap ErrName, ErrOptions, ErrKeyState, ErrUnsigned (the current release is signed, and no key
// was given), filter.ErrShrunk, errors of bloomery.Open, or one of the file system.
func Publish(ctx context.Context, dir, file string, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}

	p := publisher{dir: dir, o: o, store: objects{dir: filepath.Join(dir, ObjectsName)}}
	if err := mayPublish(file); err != nil { // before the folder is created
		return Report{}, err
	}
	if err := p.checkFolder(); err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(p.store.dir, 0o777); err != nil {
		return Report{}, err
	}

	lock, _, err := container.Lock(ctx, dir, o.Waiting)
	if err != nil {
		return Report{}, err
	}
	defer container.Unlock(lock)
	// Deferred calls run in reverse order: the folder of the objects is closed before the lock is given up.
	defer p.store.release()
	if err := p.publish(ctx, file); err != nil {
		p.store.removeWritten()
		return Report{}, err
	}
	return p.report, nil
}

type publisher struct {
	dir     string
	o       Options
	store   objects
	states  *states
	folder  string      // dir in the form of state files, or "" if it is too long for them
	current *record     // the release in the folder if the next one may build on it, or nil
	raw     []byte      // the bytes of its release.json
	older   history     // the history of current
	name    string      // the name of the next release
	last    *lastSigned // the entry of that name in the state files, or nil
	keepAll bool        // remove no object, since the objects of older releases are not known
	report  Report
}

func (p *publisher) releasePath() string { return filepath.Join(p.dir, ReleaseName) }

func (p *publisher) warn(err error) { p.report.Warnings = append(p.report.Warnings, err) }

// publish does the work of Publish, under the lock.
func (p *publisher) publish(ctx context.Context, file string) error {
	if err := p.openFolder(ctx); err != nil {
		return err
	}
	if err := p.readCurrent(ctx); err != nil {
		return err
	}
	if err := p.findName(); err != nil {
		return err
	}
	if err := p.compareState(ctx); err != nil {
		return err
	}
	if err := p.mayBeUnsigned(); err != nil {
		return err
	}

	// All checks that need only the small files come first, since loading the filter may take minutes.
	c, err := loadContent(ctx, file, &p.store, p.o)
	if err != nil {
		return err
	}

	p.report.Trimmed, p.report.BuildDue = c.trimmed, c.due

	if p.unchanged(c) {
		return p.renewRelease(ctx)
	}
	if err := p.checkContent(c); err != nil {
		return err
	}
	return p.release(ctx, c)
}

// openFolder checks that the folder is writable, reads the state files, and keeps the folder of the objects open.
func (p *publisher) openFolder(ctx context.Context) (err error) {
	if err := container.MayWrite(p.releasePath()); err != nil {
		return err
	}
	if err := container.MayWrite(filepath.Join(p.store.dir, "object")); err != nil {
		return err
	}
	if p.states, err = openStates(ctx, p.o.State, p.warn); err != nil {
		return err
	}
	if err := p.checkFolder(); err != nil { // again, under the lock
		return err
	}
	return p.store.openRoot()
}

// mayBeUnsigned returns an error wrapping ErrUnsigned if an unsigned release would follow a signed one.
func (p *publisher) mayBeUnsigned() error {
	if p.current == nil || len(p.o.Sign) > 0 || p.o.Unsigned {
		return nil
	}
	if ids, err := signedBy(p.raw); err != nil || len(ids) > 0 {
		return fmt.Errorf("%s: %w, but the current one is; readers that pin its key would refuse it", p.dir, ErrUnsigned)
	}
	return nil
}

// renewRelease completes a Publish of the same filter as the current release. It signs the release again, with a new
// expiry, if less than half of the lifetime is left, if other keys sign, or with Options.Renew.
func (p *publisher) renewRelease(ctx context.Context) error {
	p.report.record, p.report.kept, p.report.Same = p.current, p.older, true
	if l := p.last; l != nil && l.Number == p.current.Number {
		p.report.State = p.states.paths
	}

	before, err := signedBy(p.raw)
	if err != nil {
		return err
	}

	p.removeLeftovers(ctx, nil)

	left := p.current.Expires.Sub(p.o.Now)
	if p.o.Renew || left < p.o.Lifetime/2 || left > p.o.Lifetime || !slices.Equal(before, idsOf(p.o.signers())) {
		r := *p.current
		// The number stays, because the content does: readers accept equal numbers with equal content.
		if r.Expires = p.o.Now.Add(p.o.Lifetime); !r.Expires.After(r.Published) {
			return fmt.Errorf("%w: the clock says %s, before release %d was published; if the clock is right now, state "+
				"a number: that makes a new release", ErrOptions, p.o.Now.Format(timeForm), r.Number)
		}
		if err := p.signAndReplace(ctx, &r); err != nil {
			return err
		}
		p.report.Renewed = true
	}
	p.finish()
	return nil
}

// release makes a new release of c, with deltas from the kept older releases.
func (p *publisher) release(ctx context.Context, c *content) error {
	r := &c.record
	r.Name, r.Published, r.Expires = p.name, p.o.Now, p.o.Now.Add(p.o.Lifetime)
	if was := p.current; was != nil {
		r.Previous = &previous{Number: was.Number, SHA256: was.SHA256}
		kept := retain(append(history{was.asStep()}, p.older...), p.o.Keep, p.o.Now)
		if err := p.deltas(ctx, kept, c); err != nil {
			return err
		}
		if len(kept) > 0 {
			b, err := kept.marshal()
			if err != nil {
				return err
			}
			o, err := p.store.storeObject(ctx, b)
			if err != nil {
				return err
			}
			r.History, r.Previous.Delta = &o, kept[0].Delta
		}
		p.report.kept = kept
	}

	// The objects must be on disk before release.json names them. Otherwise readers would request objects that were
	// lost in a crash.
	container.SyncFolder(p.store.dir)
	if err := p.signAndReplace(ctx, r); err != nil {
		return err
	}

	p.removeLeftovers(ctx, r)
	p.finish()
	return nil
}

// deltas stores a delta from each older release to c if it is smaller than c, and sets step.Delta. A release with the
// content of c needs no delta. If an old file cannot be used, deltas adds a warning and stores no delta for it.
func (p *publisher) deltas(ctx context.Context, older history, c *content) error {
	// The key is the content, since releases may share a filter, which is then compared once.
	same := map[shard.Sum]*object{c.SHA256: nil}
	for i := range older {
		step := &older[i]
		known, ok := same[step.SHA256]
		if !ok {
			d, err := p.store.deltaFrom(ctx, step.object, c)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				p.warn(fmt.Errorf("there is no delta from release %d: %w", step.Number, err))
			case uint64(len(d)) < c.Total:
				o, err := p.store.storeObject(ctx, d)
				if err != nil {
					return err
				}
				known = &o
			}
			same[step.SHA256] = known
		}
		step.Delta = known
		if p.o.Progress != nil {
			p.o.Progress(i+1, len(older))
		}
	}
	return nil
}

// signAndReplace gives a release its number, unless it has one, records it in the state files, and replaces
// release.json. The state files are locked until the number is recorded, since other folders may use the same keys.
// Nothing signed is written to the folder before the number is recorded, not even a temporary file: somebody could copy
// it and publish it later.
func (p *publisher) signAndReplace(ctx context.Context, r *record) error {
	unlock, err := p.states.lockAll(ctx, p.o.Waiting)
	if err != nil {
		return err
	}
	defer unlock()

	p.last = p.states.newestOf(p.name)
	if r.Number == 0 {
		if r.Number, err = p.number(); err != nil {
			return err
		}
	}
	// A renewed release may be older than the newest signed one, which must stay in the state files.
	if p.last == nil || r.Number >= p.last.Number {
		l := r.signed()
		l.Folder = p.folder
		if err := p.states.record(ctx, l); err != nil {
			return err
		}
	}

	p.report.State = p.states.paths

	b, err := r.marshal(p.o.Sign...)
	if err != nil {
		return err
	}
	if err := replace(container.NoLinks(ctx), p.releasePath(), b); err != nil {
		return err
	}

	p.store.written = nil // from now on no error undoes the release
	p.report.record, p.raw = r, b
	return nil
}

// removeLeftovers removes temporary files, and after a new release the objects that neither it nor the previous release
// names. If these are not known, the next release removes them.
func (p *publisher) removeLeftovers(ctx context.Context, r *record) {
	container.RemoveAbandoned(p.dir, func(name string) bool { return name == ReleaseName })
	// RemoveAbandoned works by path, so the folder must still be the one that was opened.
	err := p.store.checkHeld()
	if err == nil {
		container.RemoveAbandoned(p.store.dir, isHash)
	}
	if r == nil || p.current == nil || p.keepAll {
		return
	}

	if err == nil {
		err = p.removeObjects(ctx, r)
	}
	if err != nil {
		p.warn(fmt.Errorf("objects of earlier releases are still there: %w", err))
	}
}

// removeObjects removes the objects that neither r nor the release before it names.
func (p *publisher) removeObjects(ctx context.Context, r *record) error {
	keep, err := p.store.namedBy(ctx, r, p.report.kept)
	if err != nil {
		return err
	}
	// A reader that loaded release.json just before it was replaced still needs the objects of that release.
	before, err := p.store.namedBy(ctx, p.current, p.older)
	if err != nil {
		return err
	}
	maps.Copy(keep, before)
	p.report.Removed, p.report.RemovedBytes, err = p.store.removeUnnamed(keep)
	return err
}

// finish completes the report.
func (p *publisher) finish() {
	r := p.report.record
	p.report.Release = &r.Release
	p.report.Daily = uint64(len(p.raw)) + r.Total
	if was := r.Previous; was != nil && was.SHA256 == r.SHA256 {
		p.report.Daily = uint64(len(p.raw))
	} else if was != nil && was.Delta != nil {
		p.report.Daily = uint64(len(p.raw)) + was.Delta.Bytes
	}

	all := []drift.Measured{{Release: r.Number, FPRPosterior: r.FPRPosterior}}
	for _, s := range p.report.kept {
		o := Older{Number: s.Number, Published: s.Published, Same: s.SHA256 == r.SHA256}
		if s.Delta != nil {
			o.Delta = s.Delta.Bytes
		}
		p.report.Older = append(p.report.Older, o)
		all = append(all, drift.Measured{Release: s.Number, FPRPosterior: s.FPRPosterior})
	}

	slices.Reverse(all)
	d := drift.Of(r.FPRPlanned, all)
	p.report.Drift, p.report.Slope, p.report.Due = d.String(), d.Slope, d.Due
}
