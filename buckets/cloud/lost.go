package cloud

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
)

// written is the size and the hash of what was written to an object.
type written struct {
	sum  maphash.Hash
	size int64
}

func (w *written) Write(p []byte) (int, error) {
	w.size += int64(len(p))
	return w.sum.Write(p)
}

// there reports whether an object has the bytes that were written. It reads the whole object.
func (s *store) there(ctx context.Context, name string, w *written) bool {
	o, err := s.Stat(ctx, name)
	if err != nil || o.Size != w.size {
		return false
	}
	r, err := s.OpenVersion(ctx, name, o.Version, 0, -1)
	if err != nil {
		return false
	}
	var now written
	now.sum.SetSeed(w.sum.Seed())
	_, err = io.Copy(&now, r)
	return errors.Join(err, r.Close()) == nil && now.size == w.size && now.sum.Sum64() == w.sum.Sum64()
}
