package shards

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// ErrNoManifest means that a folder has no manifest, so that it is no sharded set. It wraps fs.ErrNotExist.
var ErrNoManifest = fmt.Errorf("no %s in this folder: %w", shard.ManifestName, fs.ErrNotExist)

// Dir returns the folder of a sharded set, if path is a folder or its manifest.
func Dir(path string) (dir string, ok bool) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case st.IsDir():
		return path, true
	case filepath.Base(path) == shard.ManifestName:
		return filepath.Dir(path), true
	}
	return "", false
}

// ReadManifest reads the manifest in a folder.
func ReadManifest(dir string) (*shard.Manifest, fs.FileInfo, error) {
	f, st, err := untrusted.Open(filepath.Join(dir, shard.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: %w%s", dir, ErrNoManifest, adviceFolder(dir))
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	m, err := shard.ReadManifest(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return m, st, nil
}

// adviceFolder says what to do about a folder without a manifest.
func adviceFolder(dir string) string {
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, "work-") || strings.Contains(name, "-of-") && strings.HasSuffix(name, ".bloom") {
				return "; an unfinished build or copy? Run it again"
			}
		}
		if err != nil {
			return "; name a filter file, or the folder that bloomery build --shards wrote"
		}
	}
}

// ErrLocked means that another process builds or changes the sharded set in the folder.
var ErrLocked = errors.New("another process builds or changes the set in this folder")

// lockWait is the time for which a writer that replaces a set waits for one that only needs the lock for a moment.
const lockWait = 2 * time.Second

// LockFolder locks a folder. The error wraps ErrLocked if another process still has the lock after lockWait, or at once
// with now.
func LockFolder(ctx context.Context, dir string, now bool) (*os.File, error) {
	wait := lockWait
	if now {
		wait = 0
	}
	inner, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	f, _, err := flock.Lock(inner, dir, nil)
	if err != nil && err == inner.Err() && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w; wait for it, or name another folder", dir, ErrLocked)
	}
	return f, err
}

// Foreign returns the name of a file in a folder that neither a killed writer of a set has left nor a distributed build
// works with, or "".
func Foreign(dir string) (string, error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if !shard.IsUnfinished(e.Name()) && !(e.IsDir() && run.IsWork(e.Name())) {
			return e.Name(), err
		}
	}
	return "", err
}

// RemoveOthers removes the shards in a folder that the manifest does not name.
func RemoveOthers(dir string, m *shard.Manifest) error {
	keep := map[string]bool{}
	for _, e := range m.Shards {
		keep[e.File] = true
	}
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if n := e.Name(); !keep[n] && shard.IsName(n) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, n)))
		}
	}
	return err
}

// SameFile reports whether two paths name one file or folder.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// sweep removes what a writer left behind that was killed: temporary files, and shards with a suffix that the manifest
// does not name. The workers of a distributed build write to a folder of their own, which sweep leaves alone. The caller
// has the lock.
func sweep(dir string, m *shard.Manifest) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	named := map[string]bool{}
	for _, e := range m.Shards {
		named[e.File] = true
	}
	count := fmt.Sprintf("-of-%05d.", len(m.Shards))
	for _, e := range all {
		name := e.Name()
		_, suffix, ok := strings.Cut(name, count)
		if ok && suffix != "bloom" && shard.IsName(name) && !named[name] {
			removeShard(dir, name)
		}
	}
	container.RemoveAbandoned(dir, nil)
}
