// Package transport reads the files of a published folder: from a web server, a folder, or any other Source. It does
// not check contents: package publish compares them with hashes and signatures. Most programs need only [Config], with
// publish.WithTransport; for another kind of server, write a [Source] and pass it to publish.WithSource.
//
// All input from a server is bounded: the length of bodies, headers and redirects, and the time until it answers and
// between two parts of a body. Redirects stay on the host, and never lead from https to http. Their bodies are not
// read. A Follower bounds all requests of a poll together; see Config.MinRate.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// Source reads the objects of a published folder. Its methods are safe for concurrent use.
type Source interface {
	// Get opens an object. name is a relative slash-separated path, such as "release.json". The error wraps
	// fs.ErrNotExist if there is no such object. Reads of the body fail soon after ctx is done.
	Get(ctx context.Context, name string, r Request) (*Object, error)
	// String returns the address, without credentials.
	String() string
}

// Request describes the wanted part of an object.
type Request struct {
	// Have are the validators of the version that the caller already has. If the object has not changed, Get may return
	// NotModified instead of a body. Zero: Get always returns the body.
	Have Validators
	// Offset is the first wanted byte. A Source that cannot begin there begins at 0; see Object.Offset.
	Offset int64
	// MaxBytes limits the length of the whole object. If the object is longer, Get or the body returns an error
	// wrapping ErrTooLarge. MaxBytes must be positive.
	MaxBytes int64
}

// Validators identify a version of an object. A Source without validators leaves both empty.
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// Object is an opened object. The caller closes its Body.
type Object struct {
	NotModified bool          // the object still has the version Request.Have; Body is then empty
	Body        io.ReadCloser // body from Offset on
	Offset      int64         // offset of the first byte of Body: Request.Offset or 0
	Size        int64         // size of the whole object in bytes, or -1 if it is not known in advance
	Validators  Validators    // validators of this version
}

var (
	// ErrTooLarge means that a body is longer than Request.MaxBytes, so it is not the expected object.
	ErrTooLarge = errors.New("the body is longer than expected")
	// ErrStalled means that the other side was silent, or slow, for too long. Try again later.
	ErrStalled = errors.New("no progress")
)

// Open returns the Source of an address: a URL with http, https or file, or the path of a folder. The address may end
// with /release.json, before a query. Open sends no request. Errors do not contain the user, password or query of the
// address.
func Open(address string, c Config) (Source, error) {
	scheme, _, isURL := strings.Cut(address, "://")
	query := len(address)
	if at := strings.IndexByte(address, '?'); isURL && at >= 0 {
		query = at
	}

	address = strings.TrimSuffix(strings.TrimSuffix(address[:query], "/release.json"), "/") + address[query:]
	switch {
	case address == "":
		return nil, errors.New("no address; name a URL or a folder")
	case !isURL:
		return Folder(address), nil
	}

	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the URL cannot be read; want https://HOST:PORT/PATH, with special characters as %XX, " +
			"such as %2F for / in a password")
	}

	switch u.Scheme {
	case "file":
		return fileURL(u)
	case "http", "https":
		return newHTTP(u, c)
	}
	const want = "http://, https://, file:// or a folder; package buckets reads buckets"
	return nil, fmt.Errorf("%.20q: unknown scheme; want %s", scheme, want)
}

// Folder is the Source of a folder of this machine. It has no validators: a file is read each time.
type Folder string

// Get opens a file of the folder. Names that lead out of it are errors.
func (f Folder) Get(ctx context.Context, name string, r Request) (*Object, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}

	file, st, err := untrusted.Open(filepath.Join(string(f), local))
	if err != nil {
		return nil, err
	}

	o := &Object{Size: st.Size()}
	if st.Size() > r.MaxBytes {
		err = fmt.Errorf("%s: %d bytes, expected at most %d: %w", file.Name(), st.Size(), r.MaxBytes, ErrTooLarge)
		// Behind the end of a file that became shorter, the body starts at 0, as for a Source that cannot resume.
	} else if r.Offset <= st.Size() {
		o.Offset, err = file.Seek(r.Offset, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}

	o.Body = &bounded{struct {
		io.Reader
		io.Closer
	}{untrusted.Reader(ctx, file), file}, r.MaxBytes - o.Offset}
	return o, nil
}

func (f Folder) String() string { return string(f) }

// fileURL returns the folder of a URL: file:///a/b is /a/b, and file://./a is a.
func fileURL(u *url.URL) (Source, error) {
	path := u.Path
	switch {
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s: the URL of a folder has no parameters; write ? as %%3F and # as %%23", withoutSecrets(u))
	case u.Host == ".":
		path = strings.TrimPrefix(path, "/")
	case u.Host != "" && u.Host != "localhost":
		return nil, fmt.Errorf("%s: the folder %s%s is file:///%s%s", withoutSecrets(u), u.Host, path, u.Host, path)
	case filepath.Separator != '/':
		path = strings.TrimPrefix(path, "/") // /c:/a is c:\a
	}
	if path == "" {
		return nil, fmt.Errorf("%s: no path", withoutSecrets(u))
	}
	return Folder(filepath.FromSlash(path)), nil
}

// bounded is a body of at most left bytes. The file of a Folder may grow while it is read.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	// One byte more than allowed tells an object of the right length from a longer one.
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}
