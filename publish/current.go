package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// checkFolder returns an error if release.json or objects is a symbolic link, a pipe or the like: otherwise a user who
// can write the folder could make the publisher read, replace and remove files elsewhere.
func (p *publisher) checkFolder() error {
	for path, folder := range map[string]bool{p.releasePath(): false, p.store.dir: true} {
		// Lstat, not Stat: a link is what the check is for.
		st, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case folder && !st.IsDir():
			return fmt.Errorf("%s: %w: want a folder, not a link; DIR itself may be one", path, untrusted.ErrNotRegular)
		case !folder && !st.Mode().IsRegular():
			return fmt.Errorf("%s: %w", path, untrusted.ErrNotRegular)
		}
	}
	return nil
}

// readRelease reads a release.json of at most maxRelease bytes. For a longer file the error wraps ErrRelease.
func readRelease(ctx context.Context, path string) ([]byte, error) {
	b, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxRelease})
	if errors.Is(err, filter.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrRelease, err)
	}
	return b, err
}

// readCurrent reads the current release and its history, if the next release may build on them.
func (p *publisher) readCurrent(ctx context.Context) error {
	raw, err := readRelease(ctx, p.releasePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	var r *record
	if err == nil {
		r, err = p.trusted(raw)
	}

	switch {
	case err == nil:
	case ctx.Err() != nil || !isUntrusted(err):
		return err
	case p.o.restarts():
		p.warn(fmt.Errorf("%s: nothing was taken over: %w", p.releasePath(), err))
		return nil
	default:
		return fmt.Errorf("%s: %w: %w", p.releasePath(), ErrUntrusted, err)
	}

	p.current, p.raw = r, raw
	// The expiry is computed from the clock, so a wrong clock makes releases expire at once or years too late.
	if ahead := r.Published.Sub(p.o.Now); ahead > 24*time.Hour {
		p.warn(fmt.Errorf("release %d says that it was published at %s, and here it is %s: is the clock right?",
			r.Number, r.Published.Format(timeForm), p.o.Now.Format(timeForm)))
	}
	return p.readHistory(ctx)
}

// isUntrusted reports whether an error means that the content of a release.json cannot be used, rather than that it
// could not be read.
func isUntrusted(err error) bool {
	return slices.ContainsFunc([]error{ErrUnsigned, ErrOtherKey, ErrSignature, ErrRelease, ErrVersion},
		func(reason error) bool { return errors.Is(err, reason) })
}

// trusted returns the content of the current release.json. If the next release is signed, a key of Options.Sign or
// Options.Rotate must have signed the current one.
func (p *publisher) trusted(raw []byte) (*record, error) {
	if len(p.o.Sign) > 0 {
		_, err := Verify(raw, p.o.signers()...)
		if errors.Is(err, ErrOtherKey) && len(p.o.Rotate) > 0 {
			var old PublicKey
			if old, err = Verify(raw, p.o.Rotate...); err == nil {
				p.report.Rotated = &old
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return parseRecord(raw)
}

// readHistory reads the history of the current release. If it is damaged, it adds a warning, and the next release has
// no deltas. It returns other errors, since the next attempt may succeed.
func (p *publisher) readHistory(ctx context.Context) error {
	older, err := p.store.history(ctx, p.current)
	if isUntrusted(err) || errors.Is(err, ErrObject) {
		p.keepAll = true
		p.warn(fmt.Errorf("older releases are lost, readers that skipped releases load the whole filter: %w", err))
		return nil
	}
	p.older = older
	return err
}

// history returns the history of a release.
func (s *objects) history(ctx context.Context, r *record) (history, error) {
	if r.History == nil {
		return nil, nil
	}
	b, err := s.read(ctx, *r.History, maxHistory)
	if err != nil {
		return nil, err
	}
	return parseHistory(b)
}

// findName sets the name of the release, and its entry in the state files.
func (p *publisher) findName() (err error) {
	if p.folder, err = folderOf(p.dir); err != nil {
		return err
	}

	name := p.o.Name
	if name == "" && p.folder != "" {
		if name, err = p.states.nameIn(p.folder); err != nil {
			return err
		}
	}

	switch {
	case p.current != nil && name != "" && name != p.current.Name:
		return fmt.Errorf("%s: %w: %q, not %q; use one folder for each", p.dir, ErrName, p.current.Name, name)
	case p.current != nil:
		name = p.current.Name
	case name == "":
		path, err := filepath.Abs(p.dir)
		if err != nil {
			return err
		}
		name = filepath.Base(path)
	}

	if !validName(name) || name == string(filepath.Separator) {
		return fmt.Errorf("%w: name %q; want 1 to %d bytes of printable text", ErrOptions, name, maxName)
	}

	p.name, p.last = name, p.states.newestOf(name)
	// Two folders under one name would sign the same numbers for different contents.
	if l := p.last; p.o.Name == "" && l != nil && l.Folder != "" && p.folder != "" && l.Folder != p.folder {
		return fmt.Errorf("%s: %w: the state of the key says that %q is published in %s; if that folder has moved here, "+
			"state the name", p.dir, ErrName, name, l.Folder)
	}
	return nil
}

// compareState compares the folder with the state files. If the folder was lost or is older than the state files, it
// reports this, and the numbers continue after the newest number in the state files.
func (p *publisher) compareState(ctx context.Context) error {
	last, current := p.last, p.current
	switch {
	case current == nil && last == nil:
		return p.beginList(ctx)
	case last == nil || last.Number == 0:
	case current == nil:
		if p.o.Number == 0 {
			p.warn(fmt.Errorf("%s is lost: the state of the key says that release %d of %q was signed; readers load "+
				"the whole filter", p.releasePath(), last.Number, last.Name))
		}
		p.report.Behind = last.Number
	case last.Number > current.Number || last.Number == current.Number && last.SHA256 != current.SHA256:
		p.warn(fmt.Errorf("%s has release %d, and the state of the key says that %d was signed: a publisher was "+
			"killed, or an older folder was put back", p.releasePath(), current.Number, last.Number))
		p.report.Behind = last.Number
	case last.Number < current.Number:
		p.warn(fmt.Errorf("%s has release %d, and the state of the key says that %d was the last one signed here: if "+
			"nobody else has the key, it was stolen", p.releasePath(), current.Number, last.Number))
	}
	if p.o.Number == 0 { // whether a new release is needed depends on the content
		return nil
	}
	_, err := p.number()
	return err
}

// beginList checks that a new list may start in the folder, and records the start. Without this record, a publisher
// that was killed before its first release would make the next one report a lost release.json.
func (p *publisher) beginList(ctx context.Context) error {
	lost, err := p.store.hasAny()
	if err != nil {
		return err
	}

	switch {
	case !lost || p.o.restarts():
	case len(p.o.Sign) > 0:
		return fmt.Errorf("%s: %w", p.dir, ErrLost)
	case p.o.Number == 0:
		p.warn(fmt.Errorf("%s has objects, but no %s: the numbers start at 1 again, and readers that have seen a higher "+
			"one refuse that; state a number", p.dir, ReleaseName))
	}

	unlock, err := p.states.lockAll(ctx, p.o.Waiting)
	if err != nil {
		return err
	}
	defer unlock()
	// Another folder may have recorded the name while this process waited for the lock.
	if p.last = p.states.newestOf(p.name); p.last != nil {
		return nil
	}
	return p.states.record(ctx, lastSigned{Name: p.name})
}

// newestKnown returns the newest release in the folder or the state files, or zero.
func (p *publisher) newestKnown() (newest lastSigned) {
	if p.current != nil {
		newest = p.current.signed()
	}
	// With equal numbers the state wins: it is written first, so it describes what was signed.
	if p.last != nil && p.last.Number >= newest.Number {
		newest = *p.last
	}
	return newest
}

// number returns the number of the next release.
func (p *publisher) number() (uint64, error) {
	used := p.newestKnown().Number
	switch {
	case p.o.Number != 0 && p.o.Number <= used:
		return 0, fmt.Errorf("%w: number %d; release %d of %q was signed, and may have been seen: state a higher number",
			ErrOptions, p.o.Number, used, p.name)
	case p.o.Number != 0:
		return p.o.Number, nil
	case used >= maxNumber:
		return 0, fmt.Errorf("%w: release %d of %q has the highest number that there is: make a new key, let readers pin "+
			"only that one, and state the name and a number", ErrOptions, used, p.name)
	}
	return used + 1, nil
}

// unchanged reports whether the current release has this content and no newer release may have been signed.
func (p *publisher) unchanged(c *content) bool {
	return p.current != nil && p.current.SHA256 == c.SHA256 && p.o.Number == 0 && p.report.Behind == 0
}

// checkContent checks that new content has the kind of the newest known release and has not shrunk.
func (p *publisher) checkContent(c *content) error {
	was := p.newestKnown()
	if was.Number == 0 {
		return nil
	}
	if was.Kind != c.Kind && !(p.current == nil && p.o.restarts()) {
		return fmt.Errorf("%w: the releases of %q are of kind %s, and this is a %s; publish it in another folder and "+
			"under another name", ErrName, p.name, was.Kind, c.Kind)
	}
	return errors.Join(drift.CheckShrink(kinds[c.Kind].members, was.Keys, c.Keys, p.o.Shrink),
		drift.CheckShrink("keys of the universe", was.Universe, c.Universe, p.o.Shrink))
}
