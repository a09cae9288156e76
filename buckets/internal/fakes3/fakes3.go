// Package fakes3 imitates S3 for tests: objects with ETags, ranges, If-Match and If-None-Match, listings in pages, and
// uploads in one or many parts, with faults on request. It checks no signatures.
package fakes3

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a bucket named "bucket".
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]object
	uploads map[string]map[int][]byte
	next    int
	page    int
	// Fault, if not nil, sees every request first. If it returns true, it has answered.
	fault func(w http.ResponseWriter, r *http.Request) bool
	lose  func(r *http.Request) bool // see Lose
	cut   func(r *http.Request) int  // bytes after which the body of an answer breaks off, or negative
	count map[string]int             // requests by method
	sent  int64                      // bytes of objects
}

type object struct {
	data []byte
	etag string
	time time.Time
}

// New starts a server that ends with the test, and sets credentials for the SDK.
func New(t testing.TB) *Server {
	s := &Server{
		objects: map[string]object{}, uploads: map[string]map[int][]byte{}, page: 1000, count: map[string]int{},
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	Credentials(t, "key", "secret")
	return s
}

// Credentials sets the credentials that the SDK finds during the test, and hides all its other settings.
func Credentials(t testing.TB, key, secret string) {
	for _, v := range os.Environ() { // a profile, endpoint or region of the machine
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_CONFIG_FILE", "/does/not/exist")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/does/not/exist")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// Address returns the URL of a prefix for buckets.OpenStore.
func (s *Server) Address(prefix string) string {
	return "s3://bucket/" + prefix + "?region=us-east-1&use_path_style=true&endpoint=" + s.URL
}

// Page sets the number of objects in an answer to a listing.
func (s *Server) Page(n int) { s.mu.Lock(); s.page = n; s.mu.Unlock() }

// Fault sets functions that see every request: fault may answer it and return true, and cut returns the number of bytes
// after which the body breaks off, or a negative number. Both may be nil.
func (s *Server) Fault(fault func(w http.ResponseWriter, r *http.Request) bool, cut func(r *http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.cut = fault, cut
}

// Lose sets a function that sees every request after it took effect, and returns true if the answer is to be lost
// because the connection breaks. It may be nil.
func (s *Server) Lose(lose func(r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = lose
}

// Counts returns the number of requests by method, LIST among them, and the bytes of objects that were sent, and begins
// to count again.
func (s *Server) Counts() (requests map[string]int, sent int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, sent = s.count, s.sent
	s.count, s.sent = map[string]int{}, 0
	return requests, sent
}

// Change calls change with the contents of an object and stores the result with a new ETag. nil removes the object.
func (s *Server) Change(name string, change func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := change(bytes.Clone(s.objects[name].data)); b != nil {
		s.put(name, b)
	} else {
		delete(s.objects, name)
	}
}

// Uploads returns the number of uploads in parts that were neither completed nor aborted.
func (s *Server) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

func (s *Server) put(name string, b []byte) string {
	s.next++
	sum := md5.Sum(append([]byte(strconv.Itoa(s.next)), b...))
	o := object{b, `"` + hex.EncodeToString(sum[:]) + `"`, time.Now().UTC()}
	s.objects[name] = o
	return o.etag
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/bucket")
	name = strings.TrimPrefix(name, "/")
	q := r.URL.Query()
	s.mu.Lock()
	method := r.Method
	if q.Has("list-type") {
		method = "LIST"
	}

	s.count[method]++
	fault, lose := s.fault, s.lose
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	if lose != nil {
		to := w
		answer := httptest.NewRecorder()
		w = answer
		defer func() {
			if lose(r) {
				panic(http.ErrAbortHandler) // closes the connection
			}
			maps.Copy(to.Header(), answer.Header())
			to.WriteHeader(answer.Code)
			_, _ = to.Write(answer.Body.Bytes())
		}()
	}

	switch {
	case !ok:
		Fail(w, http.StatusNotFound, "NoSuchBucket")
	case method == "LIST":
		s.list(w, q.Get("prefix"), q.Get("continuation-token"))
	case r.Method == "GET" || r.Method == "HEAD":
		s.get(w, r, name)
	case r.Method == "DELETE" && q.Has("uploadId"):
		s.mu.Lock()
		delete(s.uploads, q.Get("uploadId"))
		s.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case r.Method == "DELETE":
		s.Change(name, func([]byte) []byte { return nil })
		w.WriteHeader(http.StatusNoContent)
	case r.Method == "PUT" || r.Method == "POST":
		s.write(w, r, name)
	default:
		Fail(w, http.StatusNotImplemented, "NotImplemented")
	}
}

// Fail answers with an error of S3.
func Fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>imitated</Message></Error>", code)
}

func (s *Server) list(w http.ResponseWriter, prefix, token string) {
	type content struct {
		Key, ETag    string
		Size         int
		LastModified string
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []content
	}
	s.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(name, prefix) || name <= token {
			continue
		}
		if len(out.Contents) == s.page {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[s.page-1].Key
			break
		}
		o := s.objects[name]
		out.Contents = append(out.Contents, content{name, o.etag, len(o.data), o.time.Format(time.RFC3339Nano)})
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, name string) {
	s.mu.Lock()
	o, ok := s.objects[name]
	cut := s.cut
	s.mu.Unlock()
	if !ok {
		Fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	if m := r.Header.Get("If-Match"); m != "" && m != o.etag {
		Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}

	from, to := 0, len(o.data)
	if text := r.Header.Get("Range"); text != "" {
		a, b, _ := strings.Cut(strings.TrimPrefix(text, "bytes="), "-")
		from, _ = strconv.Atoi(a)
		if last, err := strconv.Atoi(b); err == nil {
			to = min(to, last+1)
		}
		if from >= len(o.data) {
			Fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(o.data)))
	}

	w.Header().Set("ETag", o.etag)
	w.Header().Set("Last-Modified", o.time.Format(http.TimeFormat))
	w.Header().Set("Content-Length", strconv.Itoa(to-from))
	if r.Header.Get("Range") != "" {
		w.WriteHeader(http.StatusPartialContent)
	}
	if r.Method == "HEAD" {
		return
	}

	b := o.data[from:to]
	if cut != nil {
		if n := cut(r); n >= 0 && n < len(b) {
			_, _ = w.Write(b[:n])
			_ = http.NewResponseController(w).Flush() // the header, if n is 0
			panic(http.ErrAbortHandler)               // closes the connection
		}
	}

	n, _ := w.Write(b)
	s.mu.Lock()
	s.sent += int64(n)
	s.mu.Unlock()
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, name string) {
	b, err := body(r)
	if err != nil {
		Fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	id := q.Get("uploadId")
	parts, known := s.uploads[id]
	old, there := s.objects[name]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch { // conditions count when the object is made
	case id != "" && !known: // aborted, or completed: a completion that is repeated is an error
		Fail(w, http.StatusNotFound, "NoSuchUpload")
		return
	case q.Has("uploads") || q.Has("partNumber"):
	case match != "" && !there:
		Fail(w, http.StatusNotFound, "NoSuchKey")
		return
	case match != "" && match != old.etag || none != "" && there:
		Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	switch {
	case q.Has("uploads"):
		s.next++
		id = strconv.Itoa(s.next)
		s.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case r.Method == "PUT" && id != "":
		n, _ := strconv.Atoi(q.Get("partNumber"))
		parts[n] = b
		w.Header().Set("ETag", fmt.Sprintf(`"part-%d"`, n))
	case r.Method == "PUT":
		w.Header().Set("ETag", s.put(name, b))
	case id != "":
		var all []byte
		for _, n := range slices.Sorted(maps.Keys(parts)) {
			all = append(all, parts[n]...)
		}
		delete(s.uploads, id)
		fmt.Fprintf(w, "<CompleteMultipartUploadResult><ETag>%s</ETag></CompleteMultipartUploadResult>", s.put(name, all))
	default:
		Fail(w, http.StatusNotImplemented, "NotImplemented")
	}
}

// body reads the body of a request, which the SDK may send in its own chunks.
func body(r *http.Request) ([]byte, error) {
	if !strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		return io.ReadAll(r.Body)
	}

	in := bufio.NewReader(r.Body)
	var all []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			_, err := io.Copy(io.Discard, in) // trailers
			return all, err
		}
		part := make([]byte, n+2)
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, err
		}
		all = append(all, part[:n]...)
	}
}
