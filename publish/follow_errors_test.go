package publish

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
)

// keyed returns the files of a filter and of an exact set with a keyed hash.
func keyed(t *testing.T, secret *filter.Secret) (file, set []byte) {
	t.Helper()
	f, err := bloomery.Build(t.Context(), slices.Values([]string{"a", "b"}),
		bloomery.Config{Spec: "standard(fpr=0.01)", Hashing: bloomery.Hashing{Secret: secret}})
	must(t, err)
	all := slices.Values([][]byte{[]byte("a"), []byte("b")})
	e, err := exact.Build(t.Context(), all, all, exact.Config{Secret: secret})
	must(t, err)
	return encoded(t, f), encoded(t, e)
}

// TestFollowGivesUp checks that Follow and FollowExact return errors that no later poll can fix, without waiting for
// ctx to end.
func TestFollowGivesUp(t *testing.T) {
	right, wrong := filter.NewSecret(), filter.NewSecret()
	secretFile, secretSet := keyed(t, right)
	plain := filterOf(t, 1000, 0)
	down := func(_ *testing.T, s *site, web *server, file string) {
		write(s.t, file, s.last, 0o600)
		web.hook(at("", status(503)))
	}
	for name, c := range map[string]struct {
		content []byte
		kind    string
		option  FollowOption
		before  func(t *testing.T, s *site, web *server, file string)
		err     error
		want    string
	}{
		"wrong secret": {content: secretFile, option: WithSecret(wrong), err: filter.ErrSecret},
		"no secret":    {content: secretFile, err: filter.ErrNoSecret},
		"wrong secret, no server": {content: secretFile, option: WithSecret(wrong), before: down,
			err: filter.ErrSecret},
		"wrong secret of an exact set": {content: secretSet, kind: Exact, option: WithSecret(wrong),
			err: filter.ErrSecret},
		"no secret of an exact set": {content: secretSet, kind: Exact, err: filter.ErrNoSecret},
		"limit":                     {content: plain, option: WithMaxBytes(100), err: filter.ErrTooLarge},
		"limit of a file, no server": {content: plain, option: WithMaxBytes(100), before: down,
			err: filter.ErrTooLarge},
		"limit of opening": {content: plain, option: WithOpen(bloomery.WithMaxBytes(100)),
			err: filter.ErrTooLarge},
		"no filter":                         {content: bytes.Repeat([]byte("no filter"), 99), want: "cannot open it"},
		"exact set, and a filter is wanted": {content: secretSet, kind: Exact + "?", err: ErrKind},
		"another text in the file": {content: plain, before: func(t *testing.T, _ *site, _ *server, file string) {
			write(t, file, []byte("precious"), 0o600)
		}, want: "exists and is no filter"},
		"a folder": {content: plain, before: func(t *testing.T, _ *site, _ *server, file string) {
			must(t, os.Mkdir(file, 0o700))
		}, want: "is a folder, and one file is published"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			web := s.serve()
			if strings.HasPrefix(c.kind, Exact) {
				s.forge = func(r *record) { r.Kind = Exact }
			}
			s.publish(c.content)
			file := filepath.Join(t.TempDir(), "f")
			if c.before != nil {
				c.before(t, s, web, file)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			o := []FollowOption{WithKeys(s.keys[0].Public()), WithInterval(time.Millisecond)}
			if c.option != nil {
				o = append(o, c.option)
			}
			var err error
			if c.kind == Exact {
				_, err = FollowExact(ctx, web.URL, file, o...)
			} else {
				_, err = Follow(ctx, web.URL, file, o...)
			}
			if err == nil || ctx.Err() != nil || c.err != nil && !errors.Is(err, c.err) ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %v %s", err, c.err, c.want)
			}
		})
	}
}

// TestFollowWaits checks that a transient error is not treated as permanent if a delta was also missing.
func TestFollowWaits(t *testing.T) {
	s := newSite(t)
	s.deltas = true
	web := s.serve()
	first, second := filterOf(t, 20000, 0), filterOf(t, 20000, 1)
	s.publish(first)
	f := s.follower(web.URL)
	mustPoll(t, f)
	r := s.publish(second)
	s.drop(r.Previous.Delta.SHA256)
	web.hook(at(r.SHA256.String(), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	if _, err := f.Poll(t.Context()); err == nil || !passes(err) || !strings.Contains(err.Error(), "503") ||
		!strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
	web.around.Store(nil)
	mustPoll(t, f)
	holds(t, f, second)
}

// TestFollowEnds checks that after the end of its context, the error of a Live says that its file is no longer
// followed, and why.
func TestFollowEnds(t *testing.T) {
	cause := errors.New("enough")
	ended := func(t *testing.T, err func() error, end func()) {
		t.Helper()
		end()
		eventually(t, "no error", func() bool { return errors.Is(err(), cause) })
		if !strings.Contains(err().Error(), "is not followed any more: enough") {
			t.Error(err())
		}
	}
	secret := filter.NewSecret()
	file, set := keyed(t, secret)
	for _, hangs := range []bool{false, true} {
		s := newSite(t)
		web := s.serve()
		o := []FollowOption{WithKeys(s.keys[0].Public()), WithInterval(time.Millisecond), WithSecret(secret)}
		s.publish(file)
		ctx, cancel := context.WithCancelCause(t.Context())
		live, err := Follow(ctx, web.URL, filepath.Join(t.TempDir(), "f"), o...)
		must(t, err)
		s.forge = func(r *record) { r.Kind = Exact }
		s.publish(set)
		two, err := FollowExact(ctx, web.URL, filepath.Join(t.TempDir(), "f"), o...)
		must(t, err)
		if hangs {
			web.hook(at("", hang))
		}
		ended(t, live.Err, func() { cancel(cause) })
		ended(t, two.Err, func() {})
		if !live.ContainsString("a") || !two.Set().Contains([]byte("a")) {
			t.Error("the last release is gone")
		}
		if err := errors.Join(live.Close(), two.Close()); err != nil {
			t.Error(err)
		}
	}
}
