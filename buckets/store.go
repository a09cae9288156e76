package buckets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bloomery/bloomery/distribute"
)

// Store is a distribute.Store that can read one version of an object.
type Store interface {
	distribute.Store
	// OpenVersion is Open for the version of the object that Stat or List reported. If the object was replaced, the
	// error wraps ErrReplaced, or fs.ErrNotExist if it was removed. The empty version means any version.
	OpenVersion(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, error)
	// Close releases connections.
	Close() error
}

// ErrReplaced means that an object no longer has the requested version.
var ErrReplaced = errors.New("the object was replaced since it was listed")

// Opener opens the bucket of a URL. The path of the URL is the prefix of all names.
type Opener func(ctx context.Context, u *url.URL) (Store, error)

var openers = struct {
	sync.RWMutex
	byScheme map[string]Opener
}{byScheme: map[string]Opener{}}

// Register makes OpenStore use open for the URLs of a scheme. Packages such as buckets/s3 call it. It panics if the
// scheme already has an Opener.
func Register(scheme string, open Opener) {
	openers.Lock()
	defer openers.Unlock()
	if openers.byScheme[scheme] != nil || scheme == "file" {
		panic("buckets: scheme " + scheme + " is registered twice")
	}
	openers.byScheme[scheme] = open
}

// OpenStore opens the bucket, the prefix of a bucket, or the folder of a URL. Text without a scheme is the path of a
// folder. A bucket must exist; a folder need not. OpenStore sends no request to a bucket.
func OpenStore(ctx context.Context, address string) (Store, error) {
	scheme, _, ok := strings.Cut(address, "://")
	if !ok {
		return Folder(address), nil
	}

	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("bucket: %w", err)
	}
	if scheme == "file" {
		path, err := filePath(u)
		return Folder(path), err
	}

	openers.RLock()
	open := openers.byScheme[scheme]
	known := slices.Sorted(maps.Keys(openers.byScheme))
	openers.RUnlock()
	if open == nil {
		return nil, fmt.Errorf("%s: unknown kind of bucket; this program has %s: import the package of the kind, such as "+
			"github.com/bloomery/bloomery/buckets/all", address, strings.Join(append([]string{"file"}, known...), ", "))
	}

	s, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return s, nil
}

// filePath returns the folder of a URL: file:///a/b is /a/b, and file://./a is a.
func filePath(u *url.URL) (string, error) {
	path := u.Path
	switch {
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%s: the URL of a folder has no parameters; write ? as %%3F and # as %%23", u)
	case u.Host == ".":
		path = strings.TrimPrefix(path, "/")
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("%s: the folder %s%s is file:///%s%s", u, u.Host, path, u.Host, path)
	case filepath.Separator != '/':
		path = strings.TrimPrefix(path, "/") // /c:/a is c:\a
	}
	if path == "" {
		return "", fmt.Errorf("%s: no path", u)
	}
	return filepath.FromSlash(path), nil
}

// Split divides the address of objects into the address of a Store and a pattern for distribute.NewPlan. The pattern
// begins at the first part of the path that contains one of *[\. In a path without these, the pattern is the last part,
// with a slash at its end if the path has one. For a whole bucket the pattern is empty. In URLs, ? begins the
// parameters, so patterns cannot contain it.
//
//	s3://logs/2026/*.gz?region=eu-west-1   s3://logs/2026/?region=eu-west-1, *.gz
//	/data/a/keys.txt                       /data/a/, keys.txt
func Split(address string) (store, pattern string) {
	path, tail := address, ""
	at := 0 // of the path
	if i := strings.Index(address, "://"); i >= 0 {
		if q := strings.IndexByte(address, '?'); q >= 0 {
			path, tail = address[:q], address[q:]
		}
		at = i + len("://")
		if slash := strings.IndexByte(path[at:], '/'); slash >= 0 {
			at += slash + 1
		} else {
			return address, ""
		}
	}
	end := len(path)
	if i := strings.IndexAny(path[at:], `*[\`); i >= 0 {
		end = at + i
	} else if i := strings.IndexByte(path[at:], '?'); i >= 0 { // without a scheme only
		end = at + i
	}
	cut := max(at, strings.LastIndexByte(strings.TrimSuffix(path[:end], "/"), '/')+1)
	if end < len(path) {
		cut = max(at, strings.LastIndexByte(path[:end], '/')+1)
	}
	store = path[:cut] + tail
	if store == "" {
		store = "."
	}
	return store, path[cut:]
}

// Folder returns the Store of a folder: distribute.Dir, with its Lock and Rename. It does not use
// gocloud.dev/blob/fileblob, which silently skips unreadable folders in a listing, so that keys would be lost, does not
// sync files, and returns errors for names that end with .attrs.
func Folder(path string) Store { return folder{distribute.Dir(path)} }

type folder struct{ distribute.Store }

// locker and renamer are optional methods of a Store. The Store of a folder has them.
type locker interface {
	Lock(ctx context.Context) (unlock func() error, err error)
}

type renamer interface {
	Rename(ctx context.Context, from, to []string) error
}

// lockWithin locks a folder. It waits for another process, but not longer than wait. ok is false if the other process
// still has the lock.
func lockWithin(ctx context.Context, f locker, wait time.Duration) (unlock func() error, ok bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	unlock, err = f.Lock(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil, false, nil
	}
	return unlock, err == nil, err
}

// OpenVersion first opens the file and then checks the version of the path: if it is right, the open file has this
// version, unless the same version was restored in between.
func (f folder) OpenVersion(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, error) {
	return OpenChecked(ctx, f.Store, name, version, offset, length)
}

func (folder) Close() error { return nil }

func (f folder) Lock(ctx context.Context) (unlock func() error, err error) {
	return f.Store.(locker).Lock(ctx)
}

func (f folder) Rename(ctx context.Context, from, to []string) error {
	return f.Store.(renamer).Rename(ctx, from, to)
}

// OpenChecked is OpenVersion for a Store that can only open the newest version. It needs one more Stat.
func OpenChecked(
	ctx context.Context, s distribute.Store, name, version string, offset, length int64,
) (io.ReadCloser, error) {
	r, err := s.Open(ctx, name, offset, length)
	if err != nil || version == "" {
		return r, err
	}

	o, err := s.Stat(ctx, name)
	if err == nil && o.Version != version {
		err = fmt.Errorf("%s: %w", name, ErrReplaced)
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}
