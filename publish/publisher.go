package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/flock"
)

// Errors of Publish, besides those of the filter file.
var (
	// ErrName means that the folder publishes something else.
	ErrName = errors.New("the folder publishes something else")
	// ErrOptions means that an option is out of range.
	ErrOptions = errors.New("invalid option")
)

// Publish publishes a filter file, an exact set, or the folder of a sharded set, as the current release in the folder
// dir, which it creates if needed. It writes dir/release.json and files in dir/objects, and leaves everything else
// alone. The filter is read once and checked completely first; no secret is needed for a keyed one.
//
// It stores the objects, makes a delta from each older release that is kept, and then replaces release.json by rename.
// After a crash at any moment the folder has the complete old release or the complete new one. The next Publish removes
// temporary files that were left behind, and the next release objects that neither it nor the one before names. If the
// filter is that of the current release, nothing changes; see Options.Renew. A filter that was current earlier gets a
// new, higher number.
//
// Publish locks dir and waits while another process publishes there. Peak memory: two versions of a filter, or of a
// shard, and a delta, besides what the delta takes. On error the current release is unchanged, and new files are
// removed. The error wraps ErrName, ErrOptions, ErrRelease, ErrUnsigned (the current release is signed, and no key was
// given), those of bloomery.Open, or that of the file system.
func Publish(ctx context.Context, dir, file string, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	p := publisher{dir: dir, o: o, store: objects{dir: filepath.Join(dir, ObjectsName)}}
	if _, err := os.Stat(file); err != nil { // before the folder is made
		return Report{}, err
	}
	if err := os.MkdirAll(p.store.dir, 0o777); err != nil {
		return Report{}, err
	}
	lock, _, err := flock.Lock(ctx, dir, o.Waiting)
	if err != nil {
		return Report{}, err
	}
	defer flock.Unlock(lock)
	if err := p.publish(ctx, file); err != nil {
		p.store.undo()
		return Report{}, err
	}
	return p.report, nil
}

// publisher is a call of Publish.
type publisher struct {
	dir     string
	o       Options
	store   objects
	current *Release // in the folder, or nil
	raw     []byte   // its release.json
	older   History  // of current
	report  Report
}

func (p *publisher) path() string { return filepath.Join(p.dir, ReleaseName) }

func (p *publisher) warn(err error) { p.report.Warnings = append(p.report.Warnings, err) }

// publish does the work of Publish, under the lock.
func (p *publisher) publish(ctx context.Context, file string) error {
	for _, path := range []string{p.path(), filepath.Join(p.store.dir, "object")} {
		if err := container.MayWrite(path); err != nil {
			return err
		}
	}
	if err := p.readCurrent(); err != nil {
		return err
	}
	name, err := p.name()
	if err != nil {
		return err
	}
	if p.current != nil && p.o.Number != 0 && p.o.Number <= p.current.Number {
		return fmt.Errorf("%w: number %d; the current release has %d", ErrOptions, p.o.Number, p.current.Number)
	}
	if p.current != nil && len(p.o.Sign) == 0 && !p.o.Unsigned {
		if ids, err := Signers(p.raw); err != nil || len(ids) > 0 {
			return fmt.Errorf("%s: %w, but the current one is; readers that pin its key would refuse it", p.dir,
				ErrUnsigned)
		}
	}
	c, err := load(ctx, file, &p.store, p.o)
	if err != nil {
		return err
	}
	p.report.Trimmed, p.report.BuildDue = c.trimmed, c.due
	if p.current != nil && p.current.Kind != c.kind {
		return fmt.Errorf("%w: its releases are of kind %s, and this is a %s; publish it in another folder", ErrName,
			p.current.Kind, c.kind)
	}
	if p.current != nil && p.current.SHA256 == c.SHA256 && p.o.Number == 0 {
		return p.renew(ctx)
	}
	return p.release(ctx, name, c)
}

// readCurrent reads the current release and its history, if there are any.
func (p *publisher) readCurrent() error {
	f, err := os.Open(p.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if p.raw, err = io.ReadAll(io.LimitReader(f, MaxRelease+1)); err != nil {
		return err
	}
	if p.current, err = ParseRelease(p.raw); err != nil {
		return fmt.Errorf("%s: %w; restore it, or publish in a new folder", p.path(), err)
	}
	if p.older, err = p.store.history(p.current); err != nil {
		p.warn(fmt.Errorf("older releases are lost, readers that skipped releases load the whole filter: %w", err))
	}
	return nil
}

// history returns the history of a release.
func (s *objects) history(r *Release) (History, error) {
	if r.History == nil {
		return nil, nil
	}
	b, err := s.read(*r.History)
	if err != nil {
		return nil, err
	}
	return ParseHistory(b)
}

// name returns the name of the release.
func (p *publisher) name() (string, error) {
	if p.current != nil {
		if p.o.Name != "" && p.o.Name != p.current.Name {
			return "", fmt.Errorf("%s: %w: %q, not %q; use one folder for each", p.dir, ErrName, p.current.Name,
				p.o.Name)
		}
		return p.current.Name, nil
	}
	name := p.o.Name
	if name == "" {
		path, err := filepath.Abs(p.dir)
		if err != nil {
			return "", err
		}
		name = filepath.Base(path)
	}
	if !ValidName(name) || name == string(filepath.Separator) {
		return "", fmt.Errorf("%w: name %q; want 1 to %d bytes of printable text", ErrOptions, name, MaxName)
	}
	return name, nil
}

// renew ends a Publish of the filter of the current release. It gives that a new expiry if it needs one.
func (p *publisher) renew(ctx context.Context) error {
	p.report.Release, p.report.Same, p.report.History = p.current, true, p.older
	before, err := Signers(p.raw)
	if err != nil {
		return err
	}
	var now []string
	for _, k := range p.o.Sign {
		now = append(now, k.Public().ID())
	}
	p.clean(nil)
	if p.o.Renew || p.current.Expires.Sub(p.o.Now) < p.o.Lifetime/2 || !slices.Equal(before, now) {
		r := *p.current
		if r.Expires = p.o.Now.Add(p.o.Lifetime); !r.Expires.After(r.Published) {
			return fmt.Errorf("%w: the clock says %s, before release %d was published", ErrOptions,
				p.o.Now.Format(timeForm), r.Number)
		}
		if err := p.write(ctx, &r); err != nil {
			return err
		}
		p.report.Renewed = true
	}
	p.finish()
	return nil
}

// release publishes new content.
func (p *publisher) release(ctx context.Context, name string, c *content) error {
	r := &Release{
		Name: name, Number: 1, Published: p.o.Now, Expires: p.o.Now.Add(p.o.Lifetime), Kind: c.kind,
		Object: c.Object, Total: c.total, Spec: c.spec, Keys: c.keys, FPRChosen: c.chosen, FPRPosterior: c.posterior,
	}
	if was := p.current; was != nil {
		r.Number = was.Number + 1
		all := append(History{{Number: was.Number, Published: was.Published, SHA256: was.SHA256, Bytes: was.Bytes,
			Keys: was.Keys, FPRPosterior: was.FPRPosterior}}, p.older...)
		r.Previous = &Previous{Number: was.Number, SHA256: was.SHA256}
		kept := retain(all, p.o.Keep, p.o.Now)
		if err := p.deltas(ctx, kept, c); err != nil {
			return err
		}
		if len(kept) > 0 {
			b, err := kept.Marshal()
			if err != nil {
				return err
			}
			o, err := p.store.put(ctx, b)
			if err != nil {
				return err
			}
			r.History, r.Previous.Delta = &o, kept[0].Delta
		}
		p.report.History = kept
	}
	if p.o.Number != 0 {
		r.Number = p.o.Number
	}
	container.SyncFolder(p.store.dir)
	if err := p.write(ctx, r); err != nil {
		return err
	}
	keep := p.store.named(r, p.report.History)
	for h := range p.store.named(p.current, p.older) {
		keep[h] = true
	}
	p.clean(keep)
	p.finish()
	return nil
}

// write replaces release.json. From then on no error undoes the release.
func (p *publisher) write(ctx context.Context, r *Release) error {
	b, err := r.Marshal(p.o.Sign...)
	if err != nil {
		return err
	}
	err = container.WriteAtomic(ctx, p.path(), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	p.store.written = nil
	p.report.Release, p.raw = r, b
	return nil
}

// clean removes temporary files, and the objects that are not in keep, unless that is nil.
func (p *publisher) clean(keep map[Hash]bool) {
	container.RemoveAbandoned(p.dir, func(name string) bool { return name == ReleaseName })
	if keep == nil {
		container.RemoveAbandoned(p.store.dir, isHash)
		return
	}
	var err error
	if p.report.Removed, p.report.RemovedBytes, err = p.store.clean(keep); err != nil {
		p.warn(fmt.Errorf("objects of earlier releases are still there: %w", err))
	}
}

// finish fills in the figures of the report.
func (p *publisher) finish() {
	r := p.report.Release
	p.report.Daily = uint64(len(p.raw)) + r.Total
	switch was := r.Previous; {
	case was == nil:
	case was.SHA256 == r.SHA256:
		p.report.Daily = uint64(len(p.raw))
	case was.Delta != nil:
		p.report.Daily = uint64(len(p.raw)) + was.Delta.Bytes
	}
	all := []Measured{{Release: r.Number, Keys: r.Keys, FPRPosterior: r.FPRPosterior}}
	for _, s := range p.report.History {
		all = append(all, Measured{Release: s.Number, Keys: s.Keys, FPRPosterior: s.FPRPosterior})
	}
	slices.Reverse(all)
	p.report.Drift = DriftOf(r.FPRChosen, all)
}
