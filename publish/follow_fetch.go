package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/publish/transport"
)

// objectName returns the name of the object with a hash in the folder of a publisher.
func objectName(h Hash) string { return ObjectsName + "/" + h.String() }

// match returns an error wrapping ErrObject unless b is the object.
func (o Object) match(b []byte) error {
	if uint64(len(b)) != o.Bytes {
		return fmt.Errorf("%w: %d bytes, and the release names %d", ErrObject, len(b), o.Bytes)
	}
	if sum := Hash(sha256.Sum256(b)); sum != o.SHA256 {
		return fmt.Errorf("%w: SHA-256 %.8s, and the release names %.8s", ErrObject, sum, o.SHA256)
	}
	return nil
}

// object loads an object into memory and checks it.
func (p *poll) object(ctx context.Context, o Object) ([]byte, error) {
	if o.Bytes > p.options.maxBytes {
		return nil, fmt.Errorf("an object of %d bytes, and at most %d are allowed", o.Bytes, p.options.maxBytes)
	}
	b, _, err := p.load(ctx, objectName(o.SHA256), transport.Request{MaxBytes: int64(o.Bytes)})
	if err != nil {
		return nil, err
	}
	return b, o.match(b)
}

// part returns the path of the part file of an object.
func (f *Follower) part(h Hash) string { return f.file + partSuffix + h.String()[:partDigits] }

// isPart reports whether a name is that of a part file, or of the folder in which a set is tried.
func (f *Follower) isPart(name string) bool {
	digits, ok := strings.CutPrefix(name, filepath.Base(f.file)+partSuffix)
	digits = strings.TrimSuffix(digits, trialSuffix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == partDigits
}

// clean removes all part files, or all but those of the objects keep.
func (f *Follower) clean(keep ...Hash) {
	all, _ := os.ReadDir(filepath.Dir(f.file))
next:
	for _, e := range all {
		if !f.isPart(e.Name()) {
			continue
		}
		path := filepath.Join(filepath.Dir(f.file), e.Name())
		for _, h := range keep {
			if path == f.part(h) {
				continue next
			}
		}
		_ = os.RemoveAll(path)
	}
}

// download loads an object into its part file, from where an earlier download has ended, checks it, and returns the
// path.
func (p *poll) download(ctx context.Context, o Object) (path string, err error) {
	if o.Bytes > math.MaxInt64 {
		return "", fmt.Errorf("an object of %d bytes", o.Bytes)
	}
	p.clean(o.SHA256)
	path = p.part(o.SHA256)
	for {
		resumed, err := p.resume(ctx, path, o)
		if errors.Is(err, ErrObject) {
			_ = os.Remove(path)
			if resumed {
				continue // what was there may have been damaged
			}
		}
		return path, err
	}
}

// resume is one attempt of download. It reports whether it has used bytes that were there.
func (p *poll) resume(ctx context.Context, path string, o Object) (resumed bool, err error) {
	out, err := openPart(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	sum := sha256.New()
	at, err := io.Copy(sum, &reading{ctx, io.LimitReader(out, int64(o.Bytes)+1)})
	if err != nil {
		return false, err
	}
	resumed = at > 0
	if uint64(at) < o.Bytes {
		if at, err = p.rest(ctx, out, sum, at, o); err != nil {
			return resumed, err
		}
	}
	if uint64(at) != o.Bytes || Hash(sum.Sum(nil)) != o.SHA256 {
		return resumed, fmt.Errorf("%w: %d bytes with SHA-256 %.8s, and the release names %d with %.8s",
			ErrObject, at, Hash(sum.Sum(nil)), o.Bytes, o.SHA256)
	}
	return resumed, nil
}

// openPart opens or creates a part file. What is no regular file, such as a symbolic link that another user has made,
// is removed first.
func openPart(path string) (*os.File, error) {
	was, err := os.Lstat(path)
	if err == nil && was.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		if now, err := f.Stat(); err != nil || !os.SameFile(was, now) {
			return nil, errors.Join(fmt.Errorf("%s was replaced while it was opened", path), err, f.Close())
		}
		return f, nil
	}
	if err == nil {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// rest appends to a file what is missing behind at bytes, whose sum is given, and returns the length then.
func (p *poll) rest(ctx context.Context, out *os.File, sum hash.Hash, at int64, o Object) (int64, error) {
	name := objectName(o.SHA256)
	got, err := p.source.Get(ctx, name, transport.Request{Offset: at, MaxBytes: int64(o.Bytes)})
	if err != nil {
		return at, err
	}
	defer got.Body.Close()
	if got.Size >= 0 && uint64(got.Size) != o.Bytes {
		return at, fmt.Errorf("%w: the server has %d bytes, and the release names %d", ErrObject, got.Size, o.Bytes)
	}
	if got.Offset != at {
		sum.Reset()
		if at, err = 0, out.Truncate(0); err != nil {
			return at, err
		}
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			return at, err
		}
	}
	p.expected -= at
	n, err := io.Copy(io.MultiWriter(out, sum), p.count(got.Body))
	at += n
	if err == nil && uint64(at) < o.Bytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		err = fmt.Errorf("%s: after %d of %d bytes: %w", name, at, o.Bytes, err)
	}
	return at, err
}
