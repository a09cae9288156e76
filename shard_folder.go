package bloomery

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/shard"
)

// shardFolder is the folder that a ShardBuilder writes to. Its lock is advisory and that of the folder itself.
type shardFolder struct {
	dir     string
	lock    *os.File
	created bool            // the folder did not exist
	old     *shard.Manifest // of the set that is replaced, or nil

	mu      sync.Mutex
	written []string // names of new files
}

// openFolder makes the folder if it does not exist, locks it and looks what is in it.
func openFolder(dir string) (f *shardFolder, err error) {
	f = &shardFolder{dir: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		f.created = true
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.lock, err = shards.LockFolder(context.Background(), dir, true); err != nil {
		return f, err
	}
	if f.old, err = f.look(); err != nil {
		return f, err
	}
	return f, container.MayWrite(f.path(shard.ManifestName))
}

func (f *shardFolder) path(name string) string { return filepath.Join(f.dir, name) }

// look returns the manifest of the set in the folder. Without one it returns an error if there are other files than
// those that a killed build leaves.
func (f *shardFolder) look() (*shard.Manifest, error) {
	in, _, err := untrusted.Open(f.path(shard.ManifestName))
	if err == nil {
		defer in.Close()
		m, err := shard.ReadManifest(bufio.NewReader(in))
		if err != nil {
			err = fmt.Errorf("%s: %w; if the set is of no use, remove the folder", in.Name(), err)
		}
		return m, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	name, err := shards.Foreign(f.dir)
	if name != "" {
		err = fmt.Errorf("%s: there is %s and no sharded set in the folder; name an empty folder", f.dir, name)
	}
	return nil, err
}

// write writes the file of a shard. It is not that of a file with other contents in the old manifest.
func (f *shardFolder) write(ctx context.Context, set *Set, s, shards int) (e shard.Entry, err error) {
	info := set.Info()
	e.Keys, e.FPRPrior, e.FPRPosterior = info.Keys, shard.Rate(info.FPRPrior), shard.Rate(info.FPRPosterior)
	sum := sha256.New()
	if f.old != nil && len(f.old.Shards) == shards { // the name depends on the contents
		if _, err := set.WriteTo(sum); err != nil {
			return e, err
		}
		e.File = shard.NewName(f.old, s, shards, [sha256.Size]byte(sum.Sum(nil)))
		sum.Reset()
	} else {
		e.File = shard.NewName(nil, s, shards, [sha256.Size]byte{})
	}
	if f.old == nil || len(f.old.Shards) != shards || f.old.Shards[s].File != e.File {
		f.mu.Lock()
		f.written = append(f.written, e.File)
		f.mu.Unlock()
	}
	err = container.WriteAtomic(container.Batch(ctx), f.path(e.File), func(w io.Writer) error {
		n, err := set.WriteTo(io.MultiWriter(w, sum))
		e.Bytes = uint64(n)
		return err
	})
	e.SHA256 = [sha256.Size]byte(sum.Sum(nil))
	return e, err
}

// commit writes the manifest and removes all other shards.
func (f *shardFolder) commit(ctx context.Context, m *shard.Manifest) error {
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return err
	}
	return f.commitText(ctx, m, b.Bytes())
}

// commitText is commit of a manifest with that text.
func (f *shardFolder) commitText(ctx context.Context, m *shard.Manifest, text []byte) error {
	container.SyncFolder(f.dir)
	err := container.WriteAtomic(ctx, f.path(shard.ManifestName), writerOf(text))
	if err != nil {
		return err
	}
	f.written = nil
	container.RemoveAbandoned(f.dir, nil)
	return shards.RemoveOthers(f.dir, m)
}

// close removes the files that were written and not committed, and unlocks the folder.
func (f *shardFolder) close() (err error) {
	for _, name := range f.written {
		if e := os.Remove(f.path(name)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	f.written = nil
	if f.created && f.lock != nil { // else another process works in it
		_ = os.Remove(f.dir) // unless there is something in it
	}
	if f.lock != nil {
		err = errors.Join(err, flock.Unlock(f.lock))
		f.lock = nil
	}
	return err
}
