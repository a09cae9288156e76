package publish

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
	"github.com/bloomery/bloomery/shard"
)

// Suffixes of the files beside the followed file. The lock has its own file, since the state is replaced by rename and
// a replaced file loses its lock.
const (
	stateSuffix = ".follow"
	lockSuffix  = ".follow.lock"
	partSuffix  = ".part-" // followed by partDigits digits of the SHA-256
	trialSuffix = ".set"   // follows the digits in the name of a folder
)

const partDigits = 16

const (
	stateFormat = "bloomery-follow"
	maxState    = 1 << 20 // bytes; a key needs 150
)

// state describes the last accepted release, and the newest release of each key. It is written before the file is
// replaced, so that no number goes back even if the follower is killed.
type state struct {
	Name string `json:"name"`
	newest
	Published time.Time `json:"published"`
	Expires   time.Time `json:"expires"`
	Key       string    `json:"key,omitempty"` // the id of a key that signed it, or none if it was not checked
	URL       string    `json:"url"`
	transport.Validators
	Seen map[string]newest `json:"seen"` // the newest release of each key
}

// readState returns the state beside a target. Its Release is 0 if there is none.
func (f *Follower) readState(ctx context.Context, target string) (*state, error) {
	path := target + stateSuffix
	in, st, err := f.options.guard.openTrusted(path, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return new(state), nil
	case errors.Is(err, untrusted.ErrNotRegular):
		return nil, fmt.Errorf("%w: %w; remove it", ErrState, err)
	case err != nil:
		return nil, err
	}
	defer in.Close()
	if f.options.guard.shared(path, st) && !f.options.guard.off {
		return nil, fmt.Errorf("%s: %w: its permissions are %v", path, ErrForeign, st.Mode())
	}

	var s state
	b, err := untrusted.Read(ctx, in, untrusted.Limit{MaxBytes: maxState})
	switch {
	case err == nil:
		err = parseState(b, stateFormat, &s)
	case !errors.Is(err, filter.ErrTooLarge):
		return nil, err
	}
	if err == nil && (!validName(s.Name) || s.Release == 0) {
		err = fmt.Errorf("name %.40q, release %d", s.Name, s.Release)
	}
	if errors.Is(err, ErrVersion) { // without the state, an older release would be taken
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; restore it from a copy, or remove it, and the next release is taken whatever "+
			"its number", path, ErrState, err)
	}
	return &s, nil
}

// marshal returns the text of a state file.
func (s *state) marshal() ([]byte, error) {
	b, err := json.Marshal(struct {
		header
		*state
	}{header{stateFormat, formatVersion}, s})
	return seal(b), err
}

// writeState replaces the state unless it is the same.
func (p *poll) writeState(ctx context.Context) error {
	b, err := p.next.marshal()
	if err != nil {
		return err
	}
	if old, err := p.was.marshal(); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if !p.options.guard.off {
		ctx = container.NewMode(ctx, 0o644)
	}
	return replace(ctx, p.target+stateSuffix, b)
}

// replace writes a file by container.WriteAtomic.
func replace(ctx context.Context, path string, content []byte) error {
	return container.WriteAtomic(ctx, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// accept checks a release.json and returns its content and the state after it. was is the state before.
func (f *Follower) accept(text []byte, was *state) (*record, *state, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")) {
		return nil, nil, fmt.Errorf("%w: it is a web page; does this network want a login, or is the address wrong?",
			ErrRelease)
	}

	by, err := f.signers(text)
	if err != nil {
		return nil, nil, err
	}

	r, err := parseRecord(text)
	if err != nil {
		return nil, nil, err
	}

	now := newest{r.Number, r.SHA256}
	if name := cmp.Or(f.options.name, was.Name); name != "" && r.Name != name {
		return nil, nil, fmt.Errorf("%w: %q, and %s follows %q", ErrOtherName, r.Name, f.file, name)
	}
	if f.kinds != nil && !slices.Contains(f.kinds, r.Kind) {
		return nil, nil, fmt.Errorf("%w: %s; FollowExact follows exact sets, and Follow filters", ErrKind, r.Kind)
	}
	if err := f.mayFollow(was, now); err != nil {
		return nil, nil, err
	}

	next := &state{Name: r.Name, newest: now, Published: r.Published, Expires: r.Expires, URL: f.source.String()}
	next.Seen = map[string]newest{}
	maps.Copy(next.Seen, was.Seen)
	for _, id := range by {
		next.Seen[id] = now
	}
	if by[0] != unchecked {
		next.Key = by[0]
	}
	return r, next, nil
}

// expired returns an error wrapping ErrExpired if a release has expired.
func (f *Follower) expired(s *state) error {
	now := f.options.now()
	if now.Before(s.Expires) {
		return nil
	}
	return fmt.Errorf("%w: release %d of %q was good until %s (here it is %s); ask its publisher, or another mirror",
		ErrExpired, s.Release, s.Name, s.Expires.UTC().Format(timeForm), now.UTC().Format(timeForm))
}

// sums caches the SHA-256 of files until they change. It is not safe for concurrent use.
type sums map[string]known

type known struct {
	info fs.FileInfo
	sum  shard.Sum
}

// sameFile reports whether a file has not changed.
func sameFile(was, now fs.FileInfo) bool {
	return os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// lookUp returns the cached facts of a file, with its SHA-256.
func (s sums) lookUp(ctx context.Context, path string) (k known, err error) {
	in, now, err := untrusted.Open(path)
	if err != nil {
		return k, err
	}
	defer in.Close()
	if k, ok := s[path]; ok && sameFile(k.info, now) {
		return k, nil
	}

	h := sha256.New()
	if _, err := io.Copy(h, untrusted.Reader(ctx, in)); err != nil {
		return k, err
	}

	k.info = now
	h.Sum(k.sum[:0])
	s[path] = k
	return k, nil
}

// The number of a release must not go down: otherwise a mirror could serve an old release. But the thief of a key can
// sign the largest possible number. So numbers are stored per key, and the next release must not be below the largest
// number of the keys that are pinned now. A reader that pins only a new key of the publisher ignores numbers that only
// the stolen key has signed.

// newest is the newest release that a key has verified.
type newest struct {
	Release uint64    `json:"release"`
	SHA256  shard.Sum `json:"sha256"`
}

// unchecked takes the place of a key id in state.Seen for releases that were accepted without a check.
const unchecked = "unchecked"

// pinnedIDs returns the ids of the pinned keys, or unchecked if there are none.
func (f *Follower) pinnedIDs() []string {
	if len(f.options.keys) == 0 {
		return []string{unchecked}
	}
	return idsOf(f.options.keys)
}

// signers returns the ids of all pinned keys that have signed a release.json, or unchecked if no key is pinned. Errors
// come from Verify.
func (f *Follower) signers(text []byte) (ids []string, err error) {
	if len(f.options.keys) == 0 {
		return f.pinnedIDs(), nil
	}

	for _, k := range f.options.keys {
		if _, err := Verify(text, k); err == nil {
			ids = append(ids, k.ID())
		}
	}
	if ids == nil {
		_, err = Verify(text, f.options.keys...)
	}
	return ids, err
}

// mayFollow returns an error wrapping ErrOlder or ErrConflict unless a release may follow the releases that the pinned
// keys have verified.
func (f *Follower) mayFollow(was *state, next newest) error {
	floor, by := newest{}, ""
	for _, id := range f.pinnedIDs() {
		seen, ok := was.Seen[id]
		if ok && next.Release == seen.Release && next.SHA256 != seen.SHA256 {
			return fmt.Errorf("%w: %d has SHA-256 %.8s, and %.8s was seen before", ErrConflict, next.Release, next.SHA256,
				seen.SHA256)
		}
		if seen.Release > floor.Release {
			floor, by = seen, id
		}
	}
	if next.Release >= floor.Release {
		return nil
	}
	if by != unchecked {
		by = "signed by key " + by
	}
	return fmt.Errorf("%w: %d, and %d was seen before, %s", ErrOlder, next.Release, floor.Release, by)
}

// stands reports whether the release of a state would be accepted again: a pinned key has signed it, and its name and
// number are still right. Only then may the request accept the answer that nothing has changed.
func (f *Follower) stands(s *state) bool {
	return slices.Contains(f.pinnedIDs(), cmp.Or(s.Key, unchecked)) && f.mayFollow(s, s.newest) == nil &&
		(f.options.name == "" || f.options.name == s.Name)
}
