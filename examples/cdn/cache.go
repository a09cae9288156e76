package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cache answers requests from files in a directory, or else from an origin. It stores an object at its second request.
//
// The name of a file is the SHA-256 of the request URI. The file holds the header, an empty line and the body. It is
// written under another name and renamed when it is complete, so an incomplete file is never served, even after a
// crash.
type cache struct {
	dir   string
	limit int64         // bytes of all files
	fresh time.Duration // longest time that an object is served from its file
	door  *doorkeeper
	proxy *httputil.ReverseProxy

	mu   sync.Mutex // lock for changes of the directory
	size int64      // bytes of all files
}

// unfinished is the prefix of the names of files that are being written.
const unfinished = "unfinished-"

// complete matches the names of complete files. The cache never touches files with other names.
var complete = regexp.MustCompile("^[0-9a-f]{64}$")

// newCache returns a cache in directory dir, which it creates if necessary. It removes unfinished files of earlier
// runs.
func newCache(
	dir string, limit int64, fresh time.Duration, origin *url.URL, door *doorkeeper,
) (*cache, error) {
	c := &cache{dir: dir, limit: limit, fresh: fresh, door: door}
	c.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(origin)
			if _, ok := r.In.Context().Value(storing{}).(string); ok {
				r.Out.Header.Set("Accept-Encoding", "identity") // readable for all clients
			}
		},
		ModifyResponse: c.tee,
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) && e.Type().IsRegular() {
			err = cmp.Or(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return nil, err
	}
	_, c.size, err = c.files()
	return c, err
}

// storing is the key of the context value that holds the file name for the answer to a request.
type storing struct{}

// ServeHTTP answers from a file if there is one, and otherwise passes the request on. Only misses go to the doorkeeper:
// the directory already records the stored objects.
func (c *cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if personal(r) {
		c.proxy.ServeHTTP(w, r)
		return
	}
	key := r.URL.RequestURI()
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
	if c.serve(w, r, name) {
		return
	}
	if r.Method == http.MethodGet && r.Header.Get("Range") == "" && c.door.admit(key) {
		r = r.WithContext(context.WithValue(r.Context(), storing{}, name))
	}
	c.proxy.ServeHTTP(w, r)
}

// serve answers from the file with this name if it exists and is fresh, and reports whether it did.
func (c *cache) serve(w http.ResponseWriter, r *http.Request, name string) bool {
	f, err := os.Open(filepath.Join(c.dir, name))
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	var read bytes.Buffer // the header and the beginning of the body
	header, err := textproto.NewReader(bufio.NewReader(io.TeeReader(f, &read))).ReadMIMEHeader()
	if err != nil {
		return false
	}
	came := info.ModTime()
	age := max(0, time.Since(came))
	if age > min(lifetime(http.Header(header), came), c.fresh) {
		return false
	}
	start := int64(bytes.Index(read.Bytes(), []byte("\r\n\r\n")) + 4)
	for field, values := range header {
		w.Header()[field] = values
	}
	w.Header().Set("X-Cache", "hit")
	w.Header().Set("Age", strconv.FormatInt(int64((age+earlier(http.Header(header))).Seconds()), 10))
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, start, info.Size()-start))
	return true
}

// tee copies an answer to a file while the client receives it, if the doorkeeper admitted it and it may be stored.
func (c *cache) tee(r *http.Response) error {
	name, ok := r.Request.Context().Value(storing{}).(string)
	if !ok || !storable(r) || r.ContentLength > c.limit {
		return nil
	}
	f, err := os.CreateTemp(c.dir, unfinished+"*")
	if err != nil {
		return nil // the client still gets its answer
	}
	header := r.Header.Clone()
	header.Del("Content-Length") // follows from the size of the file
	header.Set("X-Cache", "")    // so that the file has at least one header line
	var head bytes.Buffer
	_ = header.Write(&head) // cannot fail
	head.WriteString("\r\n")
	body := &teeBody{from: r.Body, to: f, cache: c, name: name}
	body.write(head.Bytes())
	r.Body = body
	return nil
}

// teeBody copies a body to a file while it is read. The file joins the cache if the body was read to its end; otherwise
// it is removed.
type teeBody struct {
	from  io.ReadCloser
	to    *os.File
	cache *cache
	name  string
	size  int64
	whole bool  // the body was read to its end
	err   error // error of the file, which is then already removed
}

func (b *teeBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.write(p[:n])
	b.whole = err == io.EOF // a truncated body ends with another error
	return n, err
}

// write appends to the file. On an error it removes the file at once, because the client may keep reading for hours.
func (b *teeBody) write(p []byte) {
	if b.err != nil {
		return
	}
	if b.size += int64(len(p)); b.size > b.cache.limit {
		b.err = errors.New("larger than the cache")
	} else {
		_, b.err = b.to.Write(p)
	}
	if b.err != nil {
		b.drop()
	}
}

func (b *teeBody) drop() {
	_ = b.to.Close()
	_ = os.Remove(b.to.Name())
}

func (b *teeBody) Close() error {
	if b.err == nil {
		if b.err = errors.New("closed"); !b.whole || b.keep() != nil {
			b.drop()
		}
	}
	return b.from.Close()
}

// keep adds a complete file to the cache.
func (b *teeBody) keep() error {
	err := b.to.Sync() // otherwise a power failure could leave the name without the content
	if err = cmp.Or(err, b.to.Close()); err == nil {
		err = b.cache.take(b.to.Name(), b.name)
	}
	return err
}

// take renames a complete file to its name. If the cache is over its limit then, it removes the oldest files, a tenth
// of the cache at a time, so that it lists the directory rarely.
func (c *cache) take(temporary, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = filepath.Join(c.dir, name)
	var before int64 // size of the file that is replaced: it is stale, or another client has just stored it
	if old, err := os.Stat(name); err == nil {
		before = old.Size()
	}
	if err := os.Rename(temporary, name); err != nil {
		return err
	}
	if now, err := os.Stat(name); err == nil {
		c.size += now.Size() - before
	}
	if c.size <= c.limit {
		return nil
	}
	files, size, err := c.files()
	if err != nil {
		return err
	}
	c.size = size // other programs may have removed files
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files[:max(0, len(files)-1)] { // the newest fits: teeBody has checked it
		if c.size > c.limit-c.limit/10 && os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			c.size -= f.Size()
		}
	}
	return nil
}

// files returns the complete files and their total size in bytes.
func (c *cache) files() (files []fs.FileInfo, size int64, err error) {
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if !complete.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // otherwise it was just removed
			files = append(files, info)
			size += info.Size()
		}
	}
	return files, size, err
}
