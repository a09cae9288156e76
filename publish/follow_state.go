package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/publish/transport"
)

// Names of the files beside the one that is followed. The lock has a file of its own, since the state is replaced by
// rename and a replaced file has lost its lock.
const (
	stateSuffix = ".follow"
	lockSuffix  = ".follow.lock"
	partSuffix  = ".part-" // and partDigits digits of the SHA-256
	trialSuffix = ".set"   // after those, of a folder
)

const partDigits = 16

const (
	stateFormat = "bloomery-follow"
	maxState    = 8 << 10 // bytes
)

// state is what a follower keeps of the newest release that it has seen. It is written before the file is replaced, so
// that the number never goes back, whenever the follower is killed.
type state struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Name      string    `json:"name"`
	Release   uint64    `json:"release"`
	SHA256    Hash      `json:"sha256"`
	Published time.Time `json:"published"`
	Expires   time.Time `json:"expires"`
	Key       string    `json:"key,omitempty"` // the id of the key that signed it, or none if it was not checked
	URL       string    `json:"url"`
	transport.Validators
}

// readState returns the state, or nil if there is none.
func (f *Follower) readState() (*state, error) {
	path := f.file + stateSuffix
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular(): // a pipe would never open
		return nil, fmt.Errorf("%s: %w: not a regular file; remove it", path, ErrState)
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxState+1))
	if err != nil {
		return nil, err
	}
	var s state
	err = json.Unmarshal(b, &s)
	switch {
	case err != nil:
	case s.Format != stateFormat || s.Version != 1 || len(b) > maxState:
		err = fmt.Errorf("format %.40q, version %d, %d bytes", s.Format, s.Version, len(b))
	case !ValidName(s.Name) || s.Release == 0:
		err = fmt.Errorf("name %.40q, release %d", s.Name, s.Release)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; remove it to accept any release of the server", path, ErrState, err)
	}
	return &s, nil
}

// writeState replaces the state unless it is the same.
func (f *Follower) writeState(ctx context.Context, was, s *state) error {
	if was != nil && *was == *s {
		return nil
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return container.WriteAtomic(ctx, f.file+stateSuffix, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

// trusts reports whether the release of a state was checked as this follower checks releases.
func (f *Follower) trusts(s *state) bool {
	return len(f.options.keys) == 0 ||
		slices.ContainsFunc(f.options.keys, func(k PublicKey) bool { return k.ID() == s.Key })
}

// accept checks a release.json and returns its content and the state after it. was is the state before, or nil.
func (f *Follower) accept(text []byte, was *state) (*Release, *state, error) {
	if start := bytes.TrimSpace(text); len(start) > 0 && start[0] == '<' {
		return nil, nil, fmt.Errorf("%w: it is a web page; does this network want a login, or is the address wrong?",
			ErrRelease)
	}
	next := &state{Format: stateFormat, Version: 1, URL: f.source.String()}
	if len(f.options.keys) > 0 {
		key, err := Verify(text, f.options.keys...)
		if err != nil {
			return nil, nil, err
		}
		next.Key = key.ID()
	}
	r, err := ParseRelease(text)
	if err != nil {
		return nil, nil, err
	}
	next.Name, next.Release, next.SHA256 = r.Name, r.Number, r.SHA256
	next.Published, next.Expires = r.Published, r.Expires
	name := f.options.name
	if name == "" && was != nil {
		name = was.Name
	}
	switch {
	case name != "" && r.Name != name:
		err = fmt.Errorf("%w: %q, and %s follows %q", ErrOtherName, r.Name, f.file, name)
	case f.kind != "" && (f.kind == Exact) != (r.Kind == Exact):
		err = fmt.Errorf("%w: %s; FollowExact follows exact sets, and Follow filters", ErrKind, r.Kind)
	case was == nil:
	case r.Number < was.Release:
		err = fmt.Errorf("%w: %d, and %d was seen before", ErrOlder, r.Number, was.Release)
	case r.Number == was.Release && r.SHA256 != was.SHA256:
		err = fmt.Errorf("%w: %d has SHA-256 %.8s, and %.8s was seen before",
			ErrConflict, r.Number, r.SHA256, was.SHA256)
	}
	if err != nil {
		return nil, nil, err
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

// sums keeps the SHA-256 of files until they change. It is not safe for concurrent use.
type sums map[string]known

type known struct {
	info fs.FileInfo
	sum  Hash
}

// is reports whether a file is the known one, unchanged.
func (k known) is(now fs.FileInfo) bool {
	return os.SameFile(k.info, now) && k.info.Size() == now.Size() && k.info.ModTime().Equal(now.ModTime())
}

// of returns the SHA-256 of a file.
func (s sums) of(ctx context.Context, path string) (sum Hash, err error) {
	in, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer in.Close()
	now, err := in.Stat()
	if err != nil {
		return sum, err
	}
	if k, ok := s[path]; ok && k.is(now) {
		return k.sum, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, &reading{ctx, in}); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	s[path] = known{now, sum}
	return sum, nil
}

// reading is a Reader that ends with its context.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r *reading) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(b)
}
