package main

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What a cache that many clients share may store, and for how long (RFC 9111), as far as this one goes: it never asks an origin
// whether an object has changed.

// personal reports whether a request says who asks, or is more than a question: these are none of the cache's business.
func personal(r *http.Request) bool {
	_, dont := directive(r.Header, "no-store")
	return r.Method != http.MethodGet && r.Method != http.MethodHead || r.ContentLength != 0 || dont ||
		len(r.Header.Values("Authorization"))+len(r.Header.Values("Cookie"))+len(r.Header.Values("Upgrade")) > 0
}

// storable reports whether an answer may be stored for all. One that ends with its connection may not: nobody can tell whether
// all of it came.
func storable(r *http.Response) bool {
	h := r.Header
	if ends := r.ContentLength < 0 && len(r.TransferEncoding) == 0 && r.ProtoMajor < 2; ends || r.StatusCode != http.StatusOK {
		return false
	}
	for _, vary := range h.Values("Vary") {
		for name := range strings.SplitSeq(vary, ",") {
			if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "Accept-Encoding") { // that is the same for all
				return false
			}
		}
	}
	return len(h.Values("Set-Cookie")) == 0 && len(h.Values("Content-Encoding")) == 0 && lifetime(h, time.Now()) > 0
}

// lifetime returns how long an answer that came at that time may be served, by its own header, or 0 if not at all.
func lifetime(h http.Header, came time.Time) time.Duration {
	for _, name := range []string{"no-store", "private", "no-cache"} {
		if _, ok := directive(h, name); ok {
			return 0
		}
	}
	for _, name := range []string{"s-maxage", "max-age"} {
		if value, ok := directive(h, name); ok {
			return seconds(value) - earlier(h)
		}
	}
	if expires := h.Values("Expires"); len(expires) > 0 {
		at, err := http.ParseTime(expires[0])
		if date, e := http.ParseTime(h.Get("Date")); e == nil {
			came = date
		}
		if err != nil {
			return 0 // such as Expires: -1
		}
		return at.Sub(came) - earlier(h)
	}
	return math.MaxInt64
}

// earlier returns how old an answer was when it came: other caches may have had it.
func earlier(h http.Header) time.Duration { return seconds(h.Get("Age")) }

// seconds reads a number of seconds: 0 if it is none, 68 years if it is larger.
func seconds(s string) time.Duration {
	n, _ := strconv.ParseUint(strings.Trim(s, `"`), 10, 31) // the least or the most, on errors
	return time.Duration(n) * time.Second
}

// directive returns a directive of Cache-Control and its value. There may be several lines of several of them.
func directive(h http.Header, name string) (value string, ok bool) {
	for _, line := range h.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			if n, v, _ := strings.Cut(part, "="); strings.EqualFold(strings.TrimSpace(n), name) {
				return strings.TrimSpace(v), true
			}
		}
	}
	return "", false
}
