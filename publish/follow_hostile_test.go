package publish

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/publish/transport"
	"github.com/bloomery/bloomery/shard"
)

// hostile is a server or a publisher with a fault.
type hostile struct {
	name string
	// answer answers a request in place of the server, or returns false.
	answer func(w http.ResponseWriter, r *http.Request) bool
	// change changes the second release of the site, or publishes something else in its place.
	change func(s *site, second *record)
	option FollowOption
	hangs  bool   // the follower has short timeouts
	err    error  // error that the poll must wrap, or nil
	want   string // part of the text of the error
}

// at answers requests whose path contains a text.
func at(path string, f http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, path) {
			return false
		}
		f(w, r)
		return true
	}
}

// to redirects to an address.
func to(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// body sends headers and some bytes of a body, then calls rest.
func body(length int64, text string, rest func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if length >= 0 {
			w.Header().Set("Content-Length", fmt.Sprint(length))
		}
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
		rest(w, r)
	}
}

func end(http.ResponseWriter, *http.Request) {}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang waits until the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// endless writes until the client gives up.
func endless(w http.ResponseWriter, _ *http.Request) {
	for line := []byte(strings.Repeat("x", 1<<12)); ; {
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}

func zip(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = io.WriteString(z, strings.Repeat(" ", 1<<20))
	_ = z.Close()
}

const objectPath = "/objects/"

// servers lists the hostile servers.
var servers = []hostile{
	{name: "cut release", answer: at(ReleaseName, body(900, "{", abort)), want: "unexpected EOF"},
	{name: "cut object", answer: at(objectPath, body(1384, "{", abort)), want: "unexpected EOF"},
	{name: "short object", answer: at(objectPath, body(20, "12345678901234567890", end)),
		err: ErrObject, want: "the server has 20 bytes, and the release names"},
	{name: "object of chunks cut", answer: at(objectPath, body(-1, "x", end)),
		want: "after 1 of"},
	{name: "no answer", answer: at(ReleaseName, hang), hangs: true, want: "timeout awaiting response headers"},
	{name: "release stalls", answer: at(ReleaseName, body(500, "{", hang)), hangs: true, err: transport.ErrStalled,
		want: "no progress"},
	{name: "object stalls", answer: at(objectPath, body(-1, "{", hang)), hangs: true, err: transport.ErrStalled,
		want: "no progress"},
	{name: "endless release", answer: at(ReleaseName, body(-1, "{", endless)), err: transport.ErrTooLarge,
		want: "longer than expected"},
	{name: "long release", answer: at(ReleaseName, body(1<<40, "{", endless)), err: transport.ErrTooLarge,
		want: "1099511627776 bytes, expected at most 65536"},
	{name: "endless object", answer: at(objectPath, body(-1, "{", endless)), err: transport.ErrTooLarge,
		want: "longer than expected"},
	{name: "another host", answer: at(ReleaseName, to("http://example.org/list/release.json")),
		want: "a redirect to another host, example.org, is refused"},
	{name: "object on another host", answer: at(objectPath, to("http://localhost:1/object")),
		want: "another host, localhost:1"},
	{name: "another host at the same port", answer: at(ReleaseName, func(w http.ResponseWriter, r *http.Request) {
		to(strings.Replace("http://"+r.Host+"/release.json", "127.0.0.1", "localhost", 1))(w, r)
	}), want: "another host, localhost:"},
	{name: "another port", answer: at(ReleaseName, to("http://127.0.0.1:1/")), want: "another host, 127.0.0.1:1"},
	{name: "loop", answer: at(ReleaseName, to("/release.json")), want: "more than 5 redirects"},
	{name: "a file of the machine", answer: at(ReleaseName, to("file:///etc/passwd")),
		want: "from http to file is refused"},
	{name: "credentials", answer: at(ReleaseName, func(w http.ResponseWriter, r *http.Request) {
		to("http://u:p@"+r.Host+"/release.json")(w, r)
	}), want: "with credentials is refused"},
	{name: "web page", answer: at(ReleaseName, body(-1, "\n<!DOCTYPE html><title>Welcome", end)),
		err: ErrRelease, want: "it is a web page; does this network want a login"},
	{name: "web page for an object", answer: at(objectPath, body(-1, "<!DOCTYPE html>", end)),
		want: "after 15 of"},
	{name: "gzip", answer: at(ReleaseName, zip), want: `encodes the body as "gzip", which was not asked for`},
	{name: "404", answer: at(ReleaseName, status(404)), err: os.ErrNotExist,
		want: "release.json: the server answers 404 Not Found"},
	{name: "object 410", answer: at(objectPath, status(410)), err: os.ErrNotExist, want: "the server answers 410 Gone"},
	{name: "503", answer: at(ReleaseName, status(503)), want: "the server answers 503 Service Unavailable"},
	{name: "206 without a range", answer: at(ReleaseName, status(206)), want: "the server answers 206 Partial Content"},
	{name: "empty", answer: at(ReleaseName, status(200)), err: ErrRelease, want: "it is not the text of a release"},
	{name: "disconnects", answer: at("", abort), want: "EOF"},
}

// publishers publish releases that a follower must refuse.
var publishers = []hostile{
	{name: "garbled object", change: func(s *site, r *record) { s.spoil(r.SHA256, 100) },
		err: ErrObject, want: "damaged"},
	{name: "missing object", change: func(s *site, r *record) { s.drop(r.SHA256) }, err: os.ErrNotExist, want: "404"},
	{name: "another release's object", change: func(s *site, r *record) {
		s.swap(r.SHA256, filterOf(s.t, 1000, 7))
	}, err: ErrObject, want: "missing or damaged"},
	{name: "garbled release", change: func(s *site, _ *record) { s.edit(`"keys":1`, `"keys":2`) },
		err: ErrSignature, want: "it was changed after it was signed"},
	{name: "members behind the signature", change: func(s *site, _ *record) {
		s.edit("\"signatures\":[", "\"release\":99,\n\"signatures\":[")
	}, err: ErrSignature, want: "wrong"},
	{name: "unsigned", change: func(s *site, r *record) { s.keys = nil; s.write(r) },
		err: ErrUnsigned, want: "not signed"},
	{name: "another key", change: func(s *site, r *record) { s.keys = []PrivateKey{testKey(s.t, "I")}; s.write(r) },
		err: ErrOtherKey, want: "by none of the given keys"},
	{name: "older", change: func(s *site, r *record) { s.release(r, 1, nil) }, err: ErrOlder,
		want: "the server has an older release: 1, and 3 was seen before"},
	{name: "the same number", change: func(s *site, r *record) { s.release(r, 3, nil) }, err: ErrConflict,
		want: "another release with the same number: 3"},
	{name: "another name", change: func(s *site, r *record) { s.release(r, 4, func(r *record) { r.Name = "other" }) },
		err: ErrOtherName, want: `another name is published: "other"`},
	{name: "wrong size", change: func(s *site, r *record) {
		s.release(r, 4, func(r *record) { r.Bytes++; r.Total++ })
	}, err: ErrObject, want: "and the release names"},
	{name: "too large", change: func(s *site, r *record) {
		s.release(r, 4, func(r *record) { r.Bytes, r.Total = 1<<50, 1<<50 })
	}, err: filter.ErrTooLarge, want: "1125899906842624 bytes, and at most 1073741824 are allowed"},
	{name: "a set", change: func(s *site, r *record) { s.release(r, 4, func(r *record) { r.Kind = Set }) },
		want: "is a file, and a sharded set is published; name a folder"},
	{name: "no filter", change: func(s *site, _ *record) { s.publish([]byte(strings.Repeat("no filter", 99))) },
		want: "this program cannot open it"},
	{name: "newer format", change: func(s *site, _ *record) {
		s.edit(`"version":1`, `"version":2`)
		s.sign()
	}, err: ErrVersion, want: "use a newer Bloomery"},
	{name: "no JSON", change: func(s *site, _ *record) { s.put([]byte("release 17")) },
		err: ErrRelease, want: "not the text"},
	{name: "cut", change: func(s *site, _ *record) { s.put(s.text()[:300]) },
		err: ErrRelease, want: "one line with signatures"},
	{name: "full disk", option: WithOpen(bloomery.WithMaxBytes(100)), err: filter.ErrTooLarge, want: "cannot open it"},
}

// TestHostile checks that after each wrong answer the follower keeps the last good version, returns the reason, and
// continues as soon as the server is correct again.
func TestHostile(t *testing.T) {
	for _, h := range append(servers, publishers...) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.number = 1
			web := s.serve()
			first := filterOf(t, 1000, 1)
			s.publish(filterOf(t, 1000, 0)) // number 2
			f := s.follower(web.URL)
			mustPoll(t, f)
			s.publish(first)
			mustPoll(t, f)
			if h.option != nil {
				h.option(&f.options)
			}
			second := s.publish(filterOf(t, 1000, 2))
			if h.change != nil {
				h.change(s, second)
			}
			if h.answer != nil {
				web.hook(h.answer)
			}
			patient := f.source
			if h.hangs {
				WithTransport(transport.Config{Answer: 50 * time.Millisecond, Stall: 500 * time.Millisecond})(&f.options)
				var err error
				if f.source, err = transport.Open(web.URL, f.options.transport); err != nil {
					t.Fatal(err)
				}
			}
			e, err := f.Poll(t.Context())
			if e.Kind != "" || err == nil || !strings.Contains(err.Error(), h.want) ||
				h.err != nil && !errors.Is(err, h.err) {
				t.Errorf("%v, %v; want %q, %v", e, err, h.want, h.err)
			}
			holds(t, f, first)
			if e, again := f.Poll(t.Context()); e.Kind != "" || again == nil {
				t.Errorf("the second time: %v, %v", e, again)
			}
			holds(t, f, first)

			web.around.Store(nil)
			f.source = patient
			s.keys, f.options.open = []PrivateKey{testKey(t, "A")}, nil
			s.number = 10
			third := filterOf(t, 1000, 3)
			s.publish(third)
			if _, ok := mustPoll(t, f).is(Updated); !ok {
				t.Error("it does not go on")
			}
			holds(t, f, third)
			if names := around(t, f); len(names) != len(afterPoll()) {
				t.Errorf("left behind: %s", names)
			}
		})
	}
}

// The methods below change a site.

func (s *site) path(h shard.Sum) string { return filepath.Join(s.dir, ObjectsName, h.String()) }

// spoil changes a byte of an object.
func (s *site) spoil(h shard.Sum, at int) {
	b := read(s.t, s.path(h))
	b[at]++
	s.swap(h, b)
}

// swap replaces an object.
func (s *site) swap(h shard.Sum, b []byte) {
	write(s.t, s.path(h), b, 0o666)
}

func (s *site) drop(h shard.Sum) {
	must(s.t, os.Remove(s.path(h)))
}

// text returns release.json.
func (s *site) text() []byte {
	b := read(s.t, filepath.Join(s.dir, ReleaseName))
	return b
}

// edit replaces a text in release.json.
func (s *site) edit(old, text string) {
	was := string(s.text())
	if !strings.Contains(was, old) {
		s.t.Fatalf("no %s", old)
	}
	s.put([]byte(strings.Replace(was, old, text, 1)))
}

// sign signs release.json again.
func (s *site) sign() {
	signed, _, err := splitSigned(s.text())
	must(s.t, err)
	one := signAll(signed, s.keys)[0]
	s.put(fmt.Appendf(append(append([]byte{}, signed...), signaturesMark...), "[{%q:%q,%q:%q}]\n}\n",
		"key", one.Key, "signature", one.Signature))
}

// release publishes a release with another number, changed by forge.
func (s *site) release(r *record, number uint64, forge func(*record)) {
	r.Number, r.Previous = number, nil
	if forge != nil {
		forge(r)
	}
	s.write(r)
}
