package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
)

// part returns the path of the part file of an object.
func (f *Follower) part(h Hash) string { return f.file + partSuffix + h.String()[:partDigits] }

// isPart reports whether a name is that of a part file, or of the folder in which a set is tried.
func (f *Follower) isPart(name string) bool {
	digits, ok := strings.CutPrefix(name, filepath.Base(f.file)+partSuffix)
	digits = strings.TrimSuffix(digits, trialSuffix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == partDigits
}

// clean removes all part files. If keep is not empty, it leaves that one and the newest other one: a poll that loads a
// delta must not lose what an earlier one has loaded of the whole file.
func (f *Follower) clean(keep string) {
	all, _ := os.ReadDir(filepath.Dir(f.file))
	var other string
	var newest time.Time
	for _, e := range all {
		if !f.isPart(e.Name()) {
			continue
		}
		path := filepath.Join(filepath.Dir(f.file), e.Name())
		if path == keep {
			continue
		}
		if st, err := e.Info(); keep != "" && err == nil && st.Mode().IsRegular() && st.ModTime().After(newest) {
			path, other, newest = other, path, st.ModTime()
		}
		if path != "" {
			_ = f.options.guard.remove(path)
		}
	}
}

// download loads an object into its part file, from where an earlier download has ended, checks it, and returns the
// path.
func (p *poll) download(ctx context.Context, o Object) (path string, err error) {
	if o.Bytes >= math.MaxInt64 {
		return "", fmt.Errorf("an object of %d bytes", o.Bytes)
	}
	path = p.part(o.SHA256)
	p.clean(path)
	out, err := p.openPart(path)
	if err != nil {
		return "", err
	}
	resumed, err := p.fill(ctx, out, o)
	if resumed && errors.Is(err, ErrObject) { // what was there may have been damaged
		_, err = p.fill(ctx, out, o)
	}
	err = errors.Join(err, out.Close())
	if errors.Is(err, ErrObject) {
		_ = os.Remove(path)
	}
	return path, err
}

// openPart opens or creates a part file. What nobody but this user or root may have written is resumed. All else with
// that name, such as a link, is removed; if that fails, it is an error. WithForeign accepts the files of others.
func (p *poll) openPart(path string) (*os.File, error) {
	g := p.options.guard
	out, st, err := g.open(path, os.O_RDWR, 0)
	if err == nil {
		by, _ := g.owner(path, st)
		if by.links <= 1 && (g.off || !g.shared(path, st)) {
			return out, nil
		}
		err = fmt.Errorf("%s: %w: it has permissions %v and %d names", path, ErrForeign, st.Mode(), by.links)
		_ = out.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if failed := g.remove(path); failed != nil {
			return nil, errors.Join(err, failed)
		}
	}
	out, _, err = untrusted.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, g.perm(0o666, 0o600))
	return out, err
}

// fill is one attempt of download. It reports whether it has used bytes that were there. If the error wraps ErrObject,
// the file is empty.
func (p *poll) fill(ctx context.Context, out *os.File, o Object) (resumed bool, err error) {
	defer func() {
		if errors.Is(err, ErrObject) {
			err = errors.Join(err, out.Truncate(0))
		}
	}()
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
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

// rest appends to a file what is missing behind at bytes, whose sum is given, and returns the length then.
func (p *poll) rest(ctx context.Context, out *os.File, sum hash.Hash, at int64, o Object) (int64, error) {
	name := objectName(o.SHA256)
	got, err := p.get(ctx, name, transport.Request{Offset: at, MaxBytes: int64(o.Bytes)})
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
	n, err := io.Copy(io.MultiWriter(out, sum), got.Body)
	at += n
	if err == nil && uint64(at) < o.Bytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		err = fmt.Errorf("%s: after %d of %d bytes: %w", name, at, o.Bytes, err)
	}
	return at, err
}

// copyPart copies the part file of an object, and checks what it copies: the file may have changed since it was loaded.
func (p *poll) copyPart(w io.Writer, path string, o Object) error {
	in, _, err := p.options.guard.open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(in, int64(o.Bytes)+1))
	if err == nil && (uint64(n) != o.Bytes || Hash(sum.Sum(nil)) != o.SHA256) {
		err = fmt.Errorf("%w: %s was changed after it was loaded", ErrObject, path)
	}
	return err
}
