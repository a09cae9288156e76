package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// StateSuffix is the suffix of the state file beside the file of a private key: see Options.State.
const StateSuffix = ".state"

const (
	keyStateFormat = "bloomery-key-state"
	maxKeyState    = 4 << 20 // bytes
	maxLists       = 1000    // largest number of lists in a state file
	maxFolder      = 1 << 10 // bytes of a path; a longer one is not kept
)

// lastSigned is the newest release of a list that a key may have signed. It is written to disk before release.json is
// replaced: so no number is used for two contents, even if a publisher is killed.
type lastSigned struct {
	Name     string    `json:"name"`
	Number   uint64    `json:"release"` // 0: the first one was begun
	SHA256   shard.Sum `json:"sha256"`
	Kind     string    `json:"kind,omitempty"`
	Keys     uint64    `json:"keys"`
	Universe uint64    `json:"universe,omitempty"` // universe of an exact set
	Folder   string    `json:"folder,omitempty"`   // the absolute path of the folder that published it
}

// signed returns the entry of a release for state files.
func (r *record) signed() lastSigned {
	return lastSigned{Name: r.Name, Number: r.Number, SHA256: r.SHA256, Kind: r.Kind, Keys: r.Keys,
		Universe: r.Universe}
}

// check returns an error if a field is out of range.
func (l *lastSigned) check() error {
	switch {
	case !validName(l.Name):
		return fmt.Errorf("name %.80q", l.Name)
	case l.Number > maxNumber || l.Keys > maxNumber || l.Universe > maxNumber:
		return fmt.Errorf("%q: release %d, %d keys, universe %d", l.Name, l.Number, l.Keys, l.Universe)
	case l.Number > 0 && kinds[l.Kind].form == nil:
		return fmt.Errorf("%q: kind %.40q", l.Name, l.Kind)
	case len(l.Folder) > maxFolder:
		return fmt.Errorf("%q: a folder of %d bytes", l.Name, len(l.Folder))
	}
	return nil
}

// parseKeyState returns the lists of a state file.
func parseKeyState(b []byte) ([]lastSigned, error) {
	var s struct {
		Lists []lastSigned `json:"lists"` // sorted by name
	}
	if err := parseState(b, keyStateFormat, &s); err != nil {
		return nil, err
	}
	return s.Lists, checkLists(s.Lists)
}

// checkLists returns an error if the lists are not valid in a state file.
func checkLists(lists []lastSigned) error {
	if len(lists) > maxLists {
		return fmt.Errorf("%d lists; want at most %d: remove lines of lists that are no longer published", len(lists),
			maxLists)
	}

	for i := range lists {
		if err := lists[i].check(); err != nil {
			return err
		}
		if i > 0 && lists[i].Name <= lists[i-1].Name {
			return fmt.Errorf("%q after %q; want different names in order", lists[i].Name, lists[i-1].Name)
		}
	}
	return nil
}

// marshalKeyState returns a state file, with one list per line.
func marshalKeyState(lists []lastSigned) ([]byte, error) {
	if err := checkLists(lists); err != nil {
		return nil, err
	}
	out, err := marshalTable(keyStateFormat, "lists", lists)
	return seal(out), err
}

// replaceEntry returns lists with l in place of the entry with the same name. Other entries with the folder of l lose
// it.
func replaceEntry(lists []lastSigned, l lastSigned) []lastSigned {
	lists = slices.Clone(lists)
	for i := range lists {
		if l.Folder != "" && lists[i].Folder == l.Folder {
			lists[i].Folder = ""
		}
	}

	at, found := slices.BinarySearchFunc(lists, l.Name, func(e lastSigned, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !found {
		return slices.Insert(lists, at, l)
	}
	lists[at] = l
	return lists
}

// states are the state files of the keys that sign, in the order of their paths. Each process locks them in that order.
type states struct {
	paths []string
	lists [][]lastSigned // lists of each file, when it was last read
}

// openStates reads state files. A missing file counts as empty. If a file is missing and cannot be created because its
// folder is read-only, openStates leaves it out and passes the error to warn.
func openStates(ctx context.Context, paths []string, warn func(error)) (*states, error) {
	s := new(states)
	for _, name := range paths {
		path, err := container.Resolve(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeyState, err)
		}
		_, missing := os.Stat(path)
		err = container.MayWrite(path)
		if missing != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
			warn(fmt.Errorf("%w: %w; without it, only release.json says which numbers are used", ErrKeyState, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeyState, err)
		}
		// Resolved paths make two names of one file equal, so that it is locked once.
		s.paths = append(s.paths, path)
	}

	// All processes lock in this order, so two of them never wait for each other.
	slices.Sort(s.paths)
	s.paths = slices.Compact(s.paths)
	return s, s.readAll(ctx)
}

func (s *states) readAll(ctx context.Context) error {
	s.lists = nil
	for _, path := range s.paths {
		b, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxKeyState})
		if errors.Is(err, fs.ErrNotExist) {
			s.lists = append(s.lists, nil)
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrKeyState, err)
		}
		lists, err := parseKeyState(b)
		switch {
		case err != nil && isKeyText(b): // the advice below would make the user remove the key
			return fmt.Errorf("%w: %s: %w; it is a key, not the state of one", ErrKeyState, path, err)
		case errors.Is(err, ErrVersion): // without the state, a number could be used twice
			return fmt.Errorf("%w: %s: %w", ErrKeyState, path, err)
		case err != nil:
			return fmt.Errorf("%w: %s: %w; restore it from a copy, repair it, or remove it: then the signed release.json counts",
				ErrKeyState, path, err)
		}
		s.lists = append(s.lists, lists)
	}
	return nil
}

// stateWait is the time for which a publisher waits for the lock of a state file. Other publishers hold it only
// briefly.
var stateWait = time.Minute

// lockAll takes the locks of all files, reads them again, and returns a function that unlocks them. waiting, if not
// nil, is called before it waits for another publisher.
func (s *states) lockAll(ctx context.Context, waiting func()) (unlock func(), err error) {
	var locked []*os.File
	unlock = func() {
		for _, f := range locked {
			_ = container.Unlock(f)
		}
	}

	for _, path := range s.paths {
		f, err := lockState(ctx, path, waiting)
		if err != nil {
			unlock()
			return nil, fmt.Errorf("%w: %w", ErrKeyState, err)
		}
		locked = append(locked, f)
	}

	// Another publisher may have changed the files while this one waited.
	if err := s.readAll(ctx); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// lockState takes the lock of a file. It waits for at most stateWait.
func lockState(ctx context.Context, path string, waiting func()) (*os.File, error) {
	late := fmt.Errorf("%s: another process has locked it for %v; end it", path, stateWait)
	ctx, cancel := context.WithTimeoutCause(ctx, stateWait, late)
	defer cancel()
	f, _, err := container.LockFile(ctx, path+container.LockSuffix, nil, waiting)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return f, err
}

// newestOf returns the entry of a list with the highest number, or nil if no file has one.
func (s *states) newestOf(name string) (last *lastSigned) {
	for _, l := range slices.Concat(s.lists...) {
		if l.Name == name && (last == nil || l.Number > last.Number) {
			last = &l
		}
	}
	return last
}

// nameIn returns the name of the list that a folder publishes, or "" if the files do not have it. The error wraps
// ErrName if they have different names.
func (s *states) nameIn(folder string) (name string, err error) {
	for _, l := range slices.Concat(s.lists...) {
		switch {
		case l.Folder != folder || l.Name == name:
		case name == "":
			name = l.Name
		default:
			return "", fmt.Errorf("%s: %w: %q or %q, as the states of the keys say; state the name", folder, ErrName,
				name, l.Name)
		}
	}
	return name, nil
}

// record replaces the entry of a list in all files. The files must be locked.
func (s *states) record(ctx context.Context, l lastSigned) error {
	ctx = container.NewMode(ctx, 0o600)
	for i, path := range s.paths {
		b, err := marshalKeyState(replaceEntry(s.lists[i], l))
		if err == nil {
			err = replace(ctx, path, b)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrKeyState, err)
		}
	}
	return nil
}

// folderOf returns the path of a folder in the form of state files, or "" if it is too long for them.
func folderOf(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil || len(path) > maxFolder {
		return "", err
	}
	return path, nil
}
