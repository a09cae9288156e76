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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bloomery/bloomery/admission"
)

// cache answers requests from files in a folder, or else from an origin. An object becomes a file at its second request.
//
// A file is named by the SHA-256 of the object's address and holds its header, an empty line and its body. It is written under
// another name and renamed when it is complete, so that whatever ends the program leaves no half of one to be served.
type cache struct {
	dir   string
	limit int64         // bytes of all files
	fresh time.Duration // how long an object is served from its file
	door  *admission.Doorkeeper
	proxy *httputil.ReverseProxy

	mu   sync.Mutex // for what changes the folder
	size int64      // bytes of all files
}

// unfinished is the end of the name of a file that is being written.
const unfinished = ".tmp"

// newCache returns a cache over a folder, which it makes if there is none. What another run left unfinished is removed.
func newCache(dir string, limit int64, fresh time.Duration, origin *url.URL, door *admission.Doorkeeper) (*cache, error) {
	c := &cache{dir: dir, limit: limit, fresh: fresh, door: door}
	c.proxy = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(origin) },
		ModifyResponse: c.tee,
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files, err := c.files()
	for _, f := range files {
		if strings.HasSuffix(f.Name(), unfinished) {
			err = cmp.Or(err, os.Remove(filepath.Join(dir, f.Name())))
		} else {
			c.size += f.Size()
		}
	}
	return c, err
}

// storing is the key of the context value that says under which name an answer shall be stored.
type storing struct{}

// ServeHTTP answers from a file if there is one, or else passes the request on. The doorkeeper hears of misses only: what is
// on disk need not be remembered, too.
func (c *cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// What says who asks, or is more than a question, is none of the cache's business.
	if (r.Method != http.MethodGet && r.Method != http.MethodHead) || r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
		c.proxy.ServeHTTP(w, r)
		return
	}
	key := r.URL.RequestURI()
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
	if c.serve(w, r, name) {
		return
	}
	if whole := r.Method == http.MethodGet && r.Header.Get("Range") == ""; whole && c.door.AdmitString(key) {
		r = r.WithContext(context.WithValue(r.Context(), storing{}, name))
	}
	c.proxy.ServeHTTP(w, r)
}

// serve answers from a file, if there is one that is fresh, and reports whether it did.
func (c *cache) serve(w http.ResponseWriter, r *http.Request, name string) bool {
	f, err := os.Open(filepath.Join(c.dir, name))
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || time.Since(info.ModTime()) > c.fresh {
		return false
	}
	var read bytes.Buffer // the header, and some of the body
	header, err := textproto.NewReader(bufio.NewReader(io.TeeReader(f, &read))).ReadMIMEHeader()
	if err != nil {
		return false
	}
	start := int64(bytes.Index(read.Bytes(), []byte("\r\n\r\n")) + 4)
	for field, values := range header {
		w.Header()[field] = values
	}
	w.Header().Set("X-Cache", "hit")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, start, info.Size()-start))
	return true
}

// tee has an answer written to a file while it goes to the client, if it was asked for before and may be stored.
func (c *cache) tee(r *http.Response) error {
	name, ok := r.Request.Context().Value(storing{}).(string)
	control := strings.ToLower(r.Header.Get("Cache-Control"))
	if !ok || r.StatusCode != http.StatusOK || r.Header.Get("Set-Cookie") != "" || r.Header.Get("Vary") != "" ||
		strings.Contains(control, "no-store") || strings.Contains(control, "private") || strings.Contains(control, "no-cache") {
		return nil
	}
	f, err := os.CreateTemp(c.dir, "*"+unfinished)
	if err != nil {
		return nil // the client need not care
	}
	header := r.Header.Clone()
	header.Del("Content-Length") // follows from the file
	header.Set("X-Cache", "")    // so that there is a line in any case
	body := &teeBody{from: r.Body, to: f, cache: c, name: name}
	body.err = cmp.Or(header.Write(f), second(f.WriteString("\r\n")))
	r.Body = body
	return nil
}

func second(_ int, err error) error { return err }

// teeBody writes what is read from it to a file, which joins the cache once all of it was read, and goes away otherwise.
type teeBody struct {
	from  io.ReadCloser
	to    *os.File
	cache *cache
	name  string
	size  int64
	whole bool  // the body was read to its end
	err   error // of the file
}

func (b *teeBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.size += int64(n); b.size > b.cache.limit {
		b.err = errors.New("larger than the cache")
	}
	if b.err == nil {
		b.err = second(b.to.Write(p[:n]))
	}
	b.whole = err == io.EOF // a body that is shorter than announced ends in another error
	return n, err
}

func (b *teeBody) Close() error {
	temporary := b.to.Name()
	if b.err == nil && b.whole {
		b.err = b.to.Sync() // or else a machine that loses power might keep the name without the content
	}
	b.err = cmp.Or(b.err, b.to.Close())
	if b.err == nil && b.whole {
		b.err = b.cache.take(temporary, b.name)
	}
	if b.err != nil || !b.whole {
		_ = b.to.Close()
		_ = os.Remove(temporary)
	}
	return b.from.Close()
}

// take gives a complete file its name, and makes room for it: the oldest files go first.
func (c *cache) take(temporary, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = filepath.Join(c.dir, name)
	var before int64 // of the file that is replaced, if the object was stored at the same time or is no longer fresh
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
	files, err := c.files()
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if c.size > c.limit && !strings.HasSuffix(f.Name(), unfinished) && os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			c.size -= f.Size()
		}
	}
	return err
}

// files returns what is in the folder.
func (c *cache) files() (files []fs.FileInfo, err error) {
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // or else it has just gone away
			files = append(files, info)
		}
	}
	return files, err
}
