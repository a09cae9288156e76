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

	"github.com/bloomery/bloomery/admission"
)

// cache answers requests from files in a folder, or else from an origin. An object becomes a file at its second request.
//
// A file is named by the SHA-256 of the object's address and holds its header, an empty line and its body. It is written under
// another name and renamed when it is complete, so that whatever ends the program leaves no half of one to be served.
type cache struct {
	dir   string
	limit int64         // bytes of all files
	fresh time.Duration // how long an object is served from its file at most
	door  *admission.Doorkeeper
	proxy *httputil.ReverseProxy

	mu   sync.Mutex // for what changes the folder
	size int64      // bytes of all files
}

// unfinished is the beginning of the name of a file that is being written.
const unfinished = "unfinished-"

// complete are the names of all others. What has another name is not the cache's, and stays.
var complete = regexp.MustCompile("^[0-9a-f]{64}$")

// newCache returns a cache over a folder, which it makes if there is none. What another run left unfinished is removed.
func newCache(dir string, limit int64, fresh time.Duration, origin *url.URL, door *admission.Doorkeeper) (*cache, error) {
	c := &cache{dir: dir, limit: limit, fresh: fresh, door: door}
	c.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(origin)
			if _, ok := r.In.Context().Value(storing{}).(string); ok {
				r.Out.Header.Set("Accept-Encoding", "identity") // which all clients can read
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

// storing is the key of the context value that says under which name an answer shall be stored.
type storing struct{}

// ServeHTTP answers from a file if there is one, or else passes the request on. The doorkeeper hears of misses only: what is
// on disk need not be remembered, too.
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
	if err != nil {
		return false
	}
	var read bytes.Buffer // the header, and some of the body
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

// tee has an answer written to a file while it goes to the client, if it was asked for before and may be stored.
func (c *cache) tee(r *http.Response) error {
	name, ok := r.Request.Context().Value(storing{}).(string)
	if !ok || !storable(r) || r.ContentLength > c.limit {
		return nil
	}
	f, err := os.CreateTemp(c.dir, unfinished+"*")
	if err != nil {
		return nil // the client need not care
	}
	header := r.Header.Clone()
	header.Del("Content-Length") // follows from the file
	header.Set("X-Cache", "")    // so that there is a line in any case
	var head bytes.Buffer
	_ = header.Write(&head) // cannot fail
	head.WriteString("\r\n")
	body := &teeBody{from: r.Body, to: f, cache: c, name: name}
	body.write(head.Bytes())
	r.Body = body
	return nil
}

// teeBody writes what is read from it to a file, which joins the cache once all of it was read, and goes away otherwise.
type teeBody struct {
	from  io.ReadCloser
	to    *os.File
	cache *cache
	name  string
	size  int64
	whole bool  // the body was read to its end
	err   error // of the file, which is gone then
}

func (b *teeBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.write(p[:n])
	b.whole = err == io.EOF // a body that is shorter than announced ends in another error
	return n, err
}

// write adds to the file. What does not fit gives back its place at once: the client may still read for hours.
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

// keep has a complete file join the cache.
func (b *teeBody) keep() error {
	err := b.to.Sync() // or else a machine that loses power might keep the name without the content
	if err = cmp.Or(err, b.to.Close()); err == nil {
		err = b.cache.take(b.to.Name(), b.name)
	}
	return err
}

// take gives a complete file its name, and makes room for it: the oldest files go first, a tenth of the cache at a time, so
// that the folder is not listed for each.
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
	files, size, err := c.files()
	if err != nil {
		return err
	}
	c.size = size // someone else may have removed files
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files[:max(0, len(files)-1)] { // the last one fits, as teeBody saw
		if c.size > c.limit-c.limit/10 && os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			c.size -= f.Size()
		}
	}
	return nil
}

// files returns the complete files and their bytes in all.
func (c *cache) files() (files []fs.FileInfo, size int64, err error) {
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if !complete.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // or else it has just gone away
			files = append(files, info)
			size += info.Size()
		}
	}
	return files, size, err
}
