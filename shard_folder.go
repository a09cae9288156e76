package bloomery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/shard"
)

// ErrLocked means that another process builds or changes the sharded set in the folder.
var ErrLocked = shard.ErrLocked

// openFolder begins to replace the set in a folder, which is new, empty, has a set, or what a killed build has left.
func openFolder(dir string) (*shard.Folder, error) {
	f, err := shard.LockFolder(context.Background(), dir, shard.Locking{Wait: shard.NoWait})
	if err != nil {
		return nil, err
	}
	err = f.Read()
	if name := f.Foreign(); err == nil && name != "" {
		err = fmt.Errorf("%s: there is %s and no sharded set in the folder; name an empty folder", dir, name)
	}
	if err == nil {
		err = container.MayWrite(f.Path(shard.ManifestName))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
