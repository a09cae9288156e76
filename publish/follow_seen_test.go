package publish

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

// pinning returns a follower of the same file that pins other keys.
func (f *Follower) pinning(t *testing.T, address string, keys ...PrivateKey) *Follower {
	t.Helper()
	var o []FollowOption
	for _, k := range keys {
		o = append(o, WithKeys(k.Public()))
	}
	if len(keys) == 0 {
		o = append(o, WithInsecure())
	}
	other := newFollower(t, address, f.file, o...)
	return other
}

// refuses fails the test unless a poll ends with an error that wraps want and the file is unchanged.
func refuses(t *testing.T, f *Follower, want error, content []byte) {
	t.Helper()
	pollFails(t, f, want)
	holds(t, f, content)
}

// signs publishes content under a number, signed by some keys.
func (s *site) signs(content []byte, number uint64, keys ...PrivateKey) {
	s.t.Helper()
	s.keys, s.number, s.last = keys, number-1, nil
	s.forge = func(r *record) { r.Published = time.Unix(1.6e9, 0).UTC() }
	s.publish(content)
	s.forge = nil
}

// TestFastForward checks that a release with the largest number, signed by a stolen key, does not stop updates forever:
// a reader that pins only the next key must accept the next release of the publisher, and no older one.
func TestFastForward(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	stolen, next := testKey(t, "A"), testKey(t, "E")
	v := [][]byte{filterOf(t, 1000, 0), filterOf(t, 1000, 1), filterOf(t, 1000, 2), filterOf(t, 1000, 3)}

	f := s.follower(web.URL, WithKeys(next.Public()))
	s.signs(v[0], 16, stolen, next)
	mustPoll(t, f)
	s.signs(v[1], 17, stolen, next)
	mustPoll(t, f)
	s.signs(v[2], maxNumber, stolen) // by the thief
	mustPoll(t, f)
	holds(t, f, v[2])
	s.signs(v[3], 18, stolen, next)
	refuses(t, f, ErrOlder, v[2])

	f = f.pinning(t, web.URL, next)
	s.signs(v[0], 16, stolen, next)
	refuses(t, f, ErrOlder, v[2]) // both keys have signed 17
	s.signs(v[0], 17, stolen, next)
	refuses(t, f, ErrConflict, v[2])
	s.signs(v[3], 18, stolen, next)
	mustPoll(t, f)
	holds(t, f, v[3])
	s.signs(v[1], 17, stolen, next)
	refuses(t, f, ErrOlder, v[3])

	f = f.pinning(t, web.URL, stolen, next) // a reader that pins the stolen key again is stuck again
	s.signs(v[0], 19, stolen, next)
	refuses(t, f, ErrOlder, v[3])
	f = f.pinning(t, web.URL, next)
	mustPoll(t, f)
	holds(t, f, v[0])
}

// TestNumbersOfStrangers checks that the numbers of unsigned releases, or of releases signed only by keys that are not
// pinned, are ignored.
func TestNumbersOfStrangers(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	key, stranger := testKey(t, "A"), testKey(t, "I")
	first, second, other := filterOf(t, 1000, 0), filterOf(t, 1000, 1), filterOf(t, 1000, 2)
	f := s.follower(web.URL)
	s.signs(first, 1, key)
	mustPoll(t, f)
	s.signs(other, maxNumber, stranger)
	refuses(t, f, ErrOtherKey, first)
	s.edit(stranger.Public().ID(), key.Public().ID())
	refuses(t, f, ErrSignature, first)
	s.signs(second, 2, key, stranger) // a key that is not pinned may also sign
	mustPoll(t, f)
	holds(t, f, second)

	open := f.pinning(t, web.URL)
	s.signs(other, maxNumber)
	mustPoll(t, open)
	holds(t, open, other)
	s.signs(first, 3)
	refuses(t, open, ErrOlder, other)
	s.signs(first, 1, key)
	refuses(t, f, ErrOlder, other)
	s.signs(second, 2, key)
	mustPoll(t, f)
	holds(t, f, second)
}

// TestStolenName checks that a reader whose first release was signed by a thief, with another name and the largest
// number, recovers with the next key and the right name.
func TestStolenName(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	stolen, next := testKey(t, "A"), testKey(t, "E")
	first, second := filterOf(t, 1000, 0), filterOf(t, 1000, 1)
	f := s.follower(web.URL)
	s.signs(first, maxNumber, stolen)
	s.release(s.publishing(t), maxNumber, func(r *record) { r.Name = "of the thief" })
	mustPoll(t, f)
	s.signs(second, 18, next)
	f = f.pinning(t, web.URL, next)
	refuses(t, f, ErrOtherName, first)
	f.options.name = "list"
	mustPoll(t, f)
	holds(t, f, second)
	f.options.name = ""
	mustPoll(t, f)
}

// TestConditionsOfKeys checks that a server may answer that nothing has changed only while the key that has signed the
// release is pinned: otherwise a thief could keep a reader on a release that expires in a hundred years.
func TestConditionsOfKeys(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	stolen, next := testKey(t, "A"), testKey(t, "E")
	content := filterOf(t, 1000, 0)
	f := s.follower(web.URL, WithKeys(next.Public()))
	s.signs(content, 7, stolen, next)
	mustPoll(t, f)
	s.expires = time.Now().Add(100 * 365 * 24 * time.Hour)
	s.signs(content, 7, stolen)
	mustPoll(t, f)

	s.expires = time.Now().Add(-time.Hour)
	s.signs(content, 7, next)
	f = f.pinning(t, web.URL, next)
	asked := 0
	web.hook(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
			asked++
		}
		return false
	})
	if e, err := f.Poll(t.Context()); e.Kind == "" || !errors.Is(err, ErrExpired) || asked != 0 {
		t.Errorf("%v, %v, %d conditions", e, err, asked)
	}
	if e, err := f.Poll(t.Context()); e.Kind == "" || !errors.Is(err, ErrExpired) || asked != 1 {
		t.Errorf("again: %v, %v, %d conditions", e, err, asked)
	}
}
