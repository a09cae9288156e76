// Package fakegcs imitates Google Cloud Storage for tests: objects with generations and conditions on them, ranges,
// listings in pages, and uploads in one request or resumable. It checks no credentials and keeps no replaced
// generations.
package fakegcs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
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
	uploads map[string]*upload
	last    int64 // generation
	page    int
	cut     func() int // bytes after which the body of an answer breaks off, or negative
}

type object struct {
	data       []byte
	generation int64
	time       time.Time
}

type upload struct {
	name, match string
	data        []byte
}

// store stores an object and answers the request. If match is set, the object must have this generation; 0 means that
// it must not exist.
func (s *Server) store(w http.ResponseWriter, name, match string, data []byte) {
	if match != "" && match != strconv.FormatInt(s.objects[name].generation, 10) {
		w.WriteHeader(http.StatusPreconditionFailed)
		_, _ = io.WriteString(w, `{"error":{"code":412,"message":"imitated"}}`)
		return
	}
	_ = json.NewEncoder(w).Encode(s.put(name, data).json(name))
}

// New starts a server that ends with the test, and makes clients use it.
func New(t testing.TB) *Server {
	s := &Server{objects: map[string]object{}, uploads: map[string]*upload{}, page: 1000}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(s.URL, "http://"))
	return s
}

// Page sets the number of objects in an answer to a listing.
func (s *Server) Page(n int) { s.mu.Lock(); s.page = n; s.mu.Unlock() }

// Cut sets a function that returns the number of bytes after which an answer breaks off, or a negative number.
func (s *Server) Cut(cut func() int) { s.mu.Lock(); s.cut = cut; s.mu.Unlock() }

// Change stores the result of change as a new generation. The caller must not hold the server's lock.
func (s *Server) Change(name string, change func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, change(slices.Clone(s.objects[name].data)))
}

func (s *Server) put(name string, b []byte) object {
	s.last++
	o := object{b, 1_700_000_000_000_000 + s.last, time.Now().UTC()}
	s.objects[name] = o
	return o
}

func (o object) json(name string) map[string]any {
	return map[string]any{
		"kind": "storage#object", "bucket": "bucket", "name": name, "size": strconv.Itoa(len(o.data)),
		"generation": strconv.FormatInt(o.generation, 10), "updated": o.time.Format(time.RFC3339Nano),
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	const objects = "/storage/v1/b/bucket/o"
	name, single := strings.CutPrefix(r.URL.Path, objects+"/")
	plain, download := strings.CutPrefix(r.URL.Path, "/bucket/")
	switch {
	case r.URL.Path == "/upload"+objects || strings.HasPrefix(r.URL.Path, "/session/"):
		s.write(w, r)
	case r.URL.Path == objects && r.Method == "GET":
		s.list(w, q.Get("prefix"), q.Get("pageToken"))
	case single && r.Method == "GET":
		if o, ok := s.objects[name]; ok {
			_ = json.NewEncoder(w).Encode(o.json(name))
		} else {
			http.Error(w, `{"error":{"code":404,"message":"imitated"}}`, http.StatusNotFound)
		}
	case single && r.Method == "DELETE":
		if _, ok := s.objects[name]; !ok {
			http.Error(w, `{"error":{"code":404,"message":"imitated"}}`, http.StatusNotFound)
			return
		}
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case download && (r.Method == "GET" || r.Method == "HEAD"):
		s.read(w, r, plain)
	default:
		http.Error(w, "not imitated: "+r.Method+" "+r.URL.String(), http.StatusNotImplemented)
	}
}

func (s *Server) list(w http.ResponseWriter, prefix, token string) {
	out := map[string]any{"kind": "storage#objects"}
	var items []any
	last := ""
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(name, prefix) || name <= token {
			continue
		}
		if len(items) == s.page {
			out["nextPageToken"] = last
			break
		}
		items = append(items, s.objects[name].json(name))
		last = name
	}
	out["items"] = items
	_ = json.NewEncoder(w).Encode(out)
}

func (s *Server) read(w http.ResponseWriter, r *http.Request, name string) {
	o, ok := s.objects[name]
	if g := r.URL.Query().Get("generation"); !ok || g != "" && g != strconv.FormatInt(o.generation, 10) {
		http.Error(w, "imitated", http.StatusNotFound)
		return
	}

	from, to := 0, len(o.data)
	if text := r.Header.Get("Range"); text != "" {
		a, b, _ := strings.Cut(strings.TrimPrefix(text, "bytes="), "-")
		from, _ = strconv.Atoi(a)
		if n, err := strconv.Atoi(b); err == nil {
			to = min(to, n+1)
		}
		if from >= len(o.data) {
			http.Error(w, "imitated", http.StatusRequestedRangeNotSatisfiable)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(o.data)))
	}

	w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.generation, 10))
	w.Header().Set("Last-Modified", o.time.Format(http.TimeFormat))
	w.Header().Set("Content-Length", strconv.Itoa(to-from))
	if r.Header.Get("Range") != "" {
		w.WriteHeader(http.StatusPartialContent)
	}

	b := o.data[from:to]
	if s.cut != nil && r.Method == "GET" {
		if n := s.cut(); n >= 0 && n < len(b) {
			_, _ = w.Write(b[:n])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler) // closes the connection
		}
	}
	if r.Method == "GET" {
		_, _ = w.Write(b)
	}
}

// write takes an upload: its description and contents in one request, or the description first.
func (s *Server) write(w http.ResponseWriter, r *http.Request) {
	id, session := strings.CutPrefix(r.URL.Path, "/session/")
	switch kind := r.URL.Query().Get("uploadType"); {
	case session:
		s.chunk(w, r, id)
	case kind == "multipart":
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		var about struct{ Name string }
		var data []byte
		head, err := parts.NextPart()
		if err == nil {
			err = json.NewDecoder(head).Decode(&about)
		}
		if err == nil {
			var body *multipart.Part
			if body, err = parts.NextPart(); err == nil {
				data, err = io.ReadAll(body)
			}
		}
		if err == nil {
			_, err = parts.NextPart() // the end
		}
		if err != io.EOF {
			http.Error(w, "incomplete", http.StatusBadRequest)
			return
		}
		s.store(w, about.Name, r.URL.Query().Get("ifGenerationMatch"), data)
	case kind == "resumable":
		var about struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&about); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.last++
		id := strconv.FormatInt(s.last, 10)
		s.uploads[id] = &upload{name: about.Name, match: r.URL.Query().Get("ifGenerationMatch")}
		w.Header().Set("Location", s.URL+"/session/"+id)
	default:
		http.Error(w, "not imitated: "+kind, http.StatusNotImplemented)
	}
}

// chunk takes a part of a resumable upload.
func (s *Server) chunk(w http.ResponseWriter, r *http.Request, id string) {
	u := s.uploads[id]
	data, err := io.ReadAll(r.Body)
	if u == nil || err != nil {
		http.Error(w, "no such upload, or incomplete", http.StatusBadRequest)
		return
	}

	u.data = append(u.data, data...)
	_, all, _ := strings.Cut(r.Header.Get("Content-Range"), "/")
	if n, err := strconv.Atoi(all); err != nil || n != len(u.data) {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(u.data)-1))
		w.Header().Set("X-Http-Status-Code-Override", "308")
		w.WriteHeader(http.StatusOK)
		return
	}
	delete(s.uploads, id)
	s.store(w, u.name, u.match, u.data)
}
