package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config configures requests to web servers. Zero fields take the default noted beside them.
type Config struct {
	Connect   time.Duration // limit of a connection and of its TLS handshake, each; default 10 s
	Answer    time.Duration // limit of the time from a request to its headers; default 30 s
	Stall     time.Duration // limit of the time between two parts of a body; default DefaultStall
	TLS       *tls.Config   // default: the certificates of the system
	UserAgent string        // default: bloomery
	// MinRate is the mean rate, in bytes per second, below which a Follower ends a poll, after twice Stall: it takes at
	// most 2 × Stall + bytes / MinRate. MinRate and Stall apply to polls of every Source. Default: DefaultMinRate.
	MinRate int64
}

// Defaults of Config.
const (
	DefaultStall   = 30 * time.Second
	DefaultMinRate = 64 << 10 // bytes per second
)

func (c Config) withDefaults() Config {
	or := func(d, normal time.Duration) time.Duration { return cmp.Or(max(d, 0), normal) }
	c.Connect = or(c.Connect, 10*time.Second)
	c.Answer = or(c.Answer, 30*time.Second)
	c.Stall = or(c.Stall, DefaultStall)
	c.UserAgent = cmp.Or(c.UserAgent, "bloomery")
	return c
}

// Limits of the headers and redirects of a server.
const (
	maxRedirects = 5
	maxHeader    = 64 << 10 // bytes
)

type web struct {
	base   *url.URL // base without user and password
	user   *url.Userinfo
	client *http.Client
	config Config
}

func newHTTP(u *url.URL, c Config) (Source, error) {
	if u.Hostname() == "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s: want http://HOST/PATH or https://HOST/PATH", withoutSecrets(u))
	}

	c = c.withDefaults()
	w := &web{base: new(*u), user: u.User, config: c}
	w.base.User = nil
	w.client = &http.Client{
		// followRedirects does it, under bounds of its own.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: c.Connect}).DialContext,
			TLSHandshakeTimeout:    c.Connect,
			TLSClientConfig:        c.TLS,
			ForceAttemptHTTP2:      true,
			ResponseHeaderTimeout:  c.Answer,
			MaxResponseHeaderBytes: maxHeader,
			// A compressed body could expand without limit, and its length would not be the length of the object.
			DisableCompression: true,
			IdleConnTimeout:    90 * time.Second,
		},
	}
	return w, nil
}

var redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
	http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// redirect returns the target of a redirect, or nil if the answer is not a redirect.
func redirect(a *http.Response, from *url.URL) (*url.URL, error) {
	location := a.Header.Get("Location")
	if location == "" || !slices.Contains(redirects, a.StatusCode) {
		return nil, nil
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, errors.New("the server redirects to an address that cannot be read")
	}
	return to, checkHost(from, to)
}

// checkHost returns an error unless a redirect stays on its host.
func checkHost(from, to *url.URL) error {
	// From http to https the port changes too; in the other direction credentials would become readable.
	up := from.Scheme == "http" && to.Scheme == "https"
	switch {
	case to.Scheme != from.Scheme && !up:
		return fmt.Errorf("a redirect from %s to %s is refused", from.Scheme, to.Scheme)
	case !strings.EqualFold(from.Hostname(), to.Hostname()) || portOf(from) != portOf(to) && !up:
		return fmt.Errorf("a redirect to another host, %s, is refused; follow that address if you trust it", to.Host)
	case to.User != nil:
		return errors.New("a redirect with credentials is refused")
	}
	return nil
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// withoutSecrets returns a URL as text, without user, password and query, which may be secret.
func withoutSecrets(u *url.URL) string {
	c := *u
	c.User, c.RawQuery, c.Fragment = nil, "", ""
	return c.String()
}

func (w *web) String() string { return withoutSecrets(w.base) }

// StatusError is the error for an answer of a web server with another status than success.
type StatusError struct {
	URL        string        // URL without credentials
	Status     int           // such as 503
	RetryAfter time.Duration // value of the header of this name, or 0
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// Unwrap returns fs.ErrNotExist for statuses 404 and 410, else nil.
func (e *StatusError) Unwrap() error {
	if e.Status == http.StatusNotFound || e.Status == http.StatusGone {
		return fs.ErrNotExist
	}
	return nil
}

// Get sends a request. Each request contains the query of the address, which may have a signature for the service.
func (w *web) Get(ctx context.Context, name string, r Request) (*Object, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "get", Path: name, Err: fs.ErrInvalid}
	}

	at := w.base.JoinPath(name)
	ctx, cancel := context.WithCancelCause(ctx)
	o, err := w.followRedirects(ctx, at, r)
	if err == nil && !o.NotModified {
		o.Body = w.limitBody(ctx, cancel, o, withoutSecrets(at), r.MaxBytes-o.Offset)
		return o, nil
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}

	cancel(nil)
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		err = inner.Err // without the text of the outer error, which has the whole URL
	}
	if err != nil && !errors.As(err, new(*StatusError)) {
		err = fmt.Errorf("%s: %w", withoutSecrets(at), err)
	}
	return o, err
}

// followRedirects follows redirects itself: an http.Client would read their bodies, which are unbounded.
func (w *web) followRedirects(ctx context.Context, at *url.URL, r Request) (*Object, error) {
	for range maxRedirects + 1 {
		a, err := w.sendRequest(ctx, at, r)
		if err != nil {
			return nil, err
		}
		var o *Object
		to, err := redirect(a, at)
		if err == nil && to == nil {
			o, err = objectOf(a, r)
		}
		if o == nil || o.NotModified {
			// Close drops the connection and reads nothing, so a server cannot send an endless body here.
			_ = a.Body.Close()
		}
		if err != nil || o != nil {
			return o, err
		}
		at = to
	}
	return nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

func (w *web) sendRequest(ctx context.Context, at *url.URL, r Request) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if w.user != nil {
		password, _ := w.user.Password()
		q.SetBasicAuth(w.user.Username(), password)
	}

	q.Header.Set("User-Agent", w.config.UserAgent)
	// Offsets of a Range request count bytes of the encoded body, so only the plain object can be resumed.
	q.Header.Set("Accept-Encoding", "identity")
	for name, value := range map[string]string{"If-None-Match": r.Have.ETag, "If-Modified-Since": r.Have.LastModified} {
		// A part of an object is checked by its hash. A 304 would leave the rest missing.
		if value != "" && r.Offset == 0 {
			q.Header.Set(name, value)
		}
	}
	if r.Offset > 0 {
		q.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.Offset))
	}
	return w.client.Do(q)
}

// objectOf checks the status and the headers of an answer.
func objectOf(a *http.Response, r Request) (*Object, error) {
	o := &Object{Body: a.Body, Size: a.ContentLength}
	if settled(a.Header) {
		o.Validators = Validators{ifShort(a.Header.Get("ETag")), ifShort(a.Header.Get("Last-Modified"))}
	}

	switch {
	case a.StatusCode == http.StatusNotModified && r.Offset == 0 && r.Have != Validators{}:
		return &Object{NotModified: true, Body: http.NoBody, Validators: r.Have}, nil
	case a.StatusCode == http.StatusPartialContent && r.Offset > 0:
		if err := o.setRange(a.Header.Get("Content-Range"), r.Offset); err != nil {
			return nil, err
		}
	case a.StatusCode != http.StatusOK:
		e := &StatusError{URL: withoutSecrets(a.Request.URL), Status: a.StatusCode}
		// 31 bits keep the number of seconds, as a Duration, far from an overflow.
		if s, err := strconv.ParseUint(a.Header.Get("Retry-After"), 10, 31); err == nil {
			e.RetryAfter = time.Duration(s) * time.Second
		}
		return nil, e
	}
	if e := a.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, fmt.Errorf("the server encodes the body as %.20q, which was not asked for; switch that off", e)
	}
	if o.Size > r.MaxBytes {
		return nil, fmt.Errorf("%d bytes, expected at most %d: %w", o.Size, r.MaxBytes, ErrTooLarge)
	}
	return o, nil
}

// settled reports whether a body was at least two seconds old when the server sent it. Validators of a younger body are
// not reliable: web servers derive them from the length and the time of the change in seconds, so that a second change
// within the same second may have the same validators.
func settled(h http.Header) bool {
	changed, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return true
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		sent = time.Now()
	}
	return sent.Sub(changed) >= 2*time.Second
}

func (o *Object) setRange(value string, offset int64) error {
	var first, last int64
	var size string
	if n, _ := fmt.Sscanf(value, "bytes %d-%d/%s", &first, &last, &size); n != 3 || first != offset || last < first {
		return fmt.Errorf("the server answers with range %.60q instead of bytes from %d on", value, offset)
	}
	// The server may write * for the size, which then is unknown.
	o.Offset, o.Size = offset, -1
	if n, err := strconv.ParseInt(size, 10, 64); err == nil && n > last {
		o.Size = n
	}
	return nil
}

// ifShort returns s, or "" if the validator is too long to be stored.
func ifShort(s string) string {
	if len(s) > 256 {
		return ""
	}
	return s
}

// slowest is the mean rate, in bytes per second, below which reading a body fails: otherwise a server that sends one
// byte at a time would never stall. A Follower is stricter: see Config.MinRate.
const slowest = 1 << 10

// limitBody returns the body of an object, of at most most bytes. Behind them, Read returns an error wrapping
// ErrTooLarge. It returns an error wrapping ErrStalled after Config.Stall without a byte, or if the mean rate is below
// slowest after twice that time. ctx is the context of the request, and cancel its cancel function, which Close calls.
func (w *web) limitBody(
	ctx context.Context, cancel context.CancelCauseFunc, o *Object, name string, most int64,
) io.ReadCloser {
	expected := most
	if o.Size >= 0 {
		expected = o.Size - o.Offset
	}

	const longest = 50 * 365 * 24 * time.Hour // far below the largest Duration
	last := 2*w.config.Stall + time.Duration(min(float64(expected)/slowest*float64(time.Second), float64(longest)))

	stalled := func() { cancel(ErrStalled) }
	return &bounded{&watched{ReadCloser: o.Body, ctx: ctx, cancel: cancel, name: name, stall: w.config.Stall,
		silent: time.AfterFunc(w.config.Stall, stalled), slow: time.AfterFunc(last, stalled)}, most}
}

// watched is a body whose Read fails when it stalls.
type watched struct {
	io.ReadCloser
	ctx          context.Context
	cancel       context.CancelCauseFunc
	name         string // the address in errors, without credentials
	stall        time.Duration
	silent, slow *time.Timer
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.silent.Reset(b.stall)
	}
	// The cause tells a stalled body from a canceled request; the error of Read is the same for both.
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", b.name, cmp.Or(context.Cause(b.ctx), err))
	}
	return n, err
}

func (b *watched) Close() error {
	b.silent.Stop()
	b.slow.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
