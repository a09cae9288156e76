package transport

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// Folder is the Source of a folder of this machine. It has no validators: a file is read each time.
type Folder string

// Get opens a file of the folder. Names that lead out of it are errors.
func (f Folder) Get(ctx context.Context, name string, r Request) (*Object, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, st, err := untrusted.Open(filepath.Join(string(f), filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	if st.Size() > r.MaxBytes {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %d bytes, expected at most %d: %w", file.Name(), st.Size(), r.MaxBytes, ErrTooLarge)
	}
	o := &Object{Size: st.Size()}
	if r.Offset > 0 && r.Offset <= st.Size() {
		if o.Offset, err = file.Seek(r.Offset, io.SeekStart); err != nil {
			_ = file.Close()
			return nil, err
		}
	}
	o.Body = untrusted.BoundedBody(struct {
		io.Reader
		io.Closer
	}{untrusted.Reader(ctx, file), file}, r.MaxBytes-o.Offset)
	return o, nil
}

func (f Folder) String() string { return string(f) }

// fileURL returns the folder of a URL: file:///a/b is /a/b, and file://./a is a.
func fileURL(u *url.URL) (Source, error) {
	path := u.Path
	switch {
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s: the URL of a folder has no parameters; write ? as %%3F and # as %%23", clean(u))
	case u.Host == ".":
		path = strings.TrimPrefix(path, "/")
	case u.Host != "" && u.Host != "localhost":
		return nil, fmt.Errorf("%s: the folder %s%s is file:///%s%s", clean(u), u.Host, path, u.Host, path)
	case filepath.Separator != '/':
		path = strings.TrimPrefix(path, "/") // /c:/a is c:\a
	}
	if path == "" {
		return nil, fmt.Errorf("%s: no path", clean(u))
	}
	return Folder(filepath.FromSlash(path)), nil
}
