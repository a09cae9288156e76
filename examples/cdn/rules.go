package main

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// These are the rules of RFC 9111 for the answers that a shared cache may store, and for how long. This cache never
// revalidates.

// personal reports whether a request bypasses the cache: it identifies its client, has a body, forbids storing, or is
// neither GET nor HEAD.
func personal(r *http.Request) bool {
	_, dont := directive(r.Header, "no-store")
	return r.Method != http.MethodGet && r.Method != http.MethodHead || r.ContentLength != 0 || dont ||
		len(r.Header.Values("Authorization"))+len(r.Header.Values("Cookie"))+len(r.Header.Values("Upgrade")) > 0
}

// storable reports whether an answer may be stored for all clients. An answer that ends with its connection may not be
// stored, because it may be incomplete.
func storable(r *http.Response) bool {
	h := r.Header
	ends := r.ContentLength < 0 && len(r.TransferEncoding) == 0 && r.ProtoMajor < 2 // with its connection
	if ends || r.StatusCode != http.StatusOK {
		return false
	}
	for _, vary := range h.Values("Vary") {
		for name := range strings.SplitSeq(vary, ",") {
			name = strings.TrimSpace(name)
			if name != "" && !strings.EqualFold(name, "Accept-Encoding") { // it is the same in all requests to the origin
				return false
			}
		}
	}
	return len(h.Values("Set-Cookie")) == 0 && len(h.Values("Content-Encoding")) == 0 && lifetime(h, time.Now()) > 0
}

// lifetime returns how long an answer received at time came may be served, by its header. It returns 0 or less for
// never.
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

// earlier returns the age of an answer when it was received: it may come from another cache.
func earlier(h http.Header) time.Duration { return seconds(h.Get("Age")) }

// seconds parses a number of seconds. It returns 0 if s is not a number, and at most 68 years.
func seconds(s string) time.Duration {
	n, _ := strconv.ParseUint(strings.Trim(s, `"`), 10, 31) // on errors n is 0 or the maximum
	return time.Duration(n) * time.Second
}

// directive returns the value of a directive of Cache-Control. The header may have several lines with several
// directives.
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
