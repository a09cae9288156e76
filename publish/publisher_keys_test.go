package publish

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFirstSignature checks that the first signed release uses nothing from an unsigned folder, so that name and number
// must be set.
func TestFirstSignature(t *testing.T) {
	for _, state := range []bool{false, true} {
		s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
		if !state {
			s.State = nil
		}
		mustPublish(t, dir, s.next(), Options{Name: "forged"})
		mustPublish(t, dir, s.next(), Options{})
		before := released(t, dir)
		for what, o := range map[string]Options{
			"nothing": {}, "the name": {Name: "list"}, "the number": {Number: 9}, "renew": {Renew: true},
		} {
			o.Sign, o.State, o.Now = s.Sign, s.State, s.Now
			_, err := Publish(t.Context(), dir, s.next(), o)
			if !errors.Is(err, ErrUntrusted) || !errors.Is(err, ErrUnsigned) {
				t.Errorf("%s is stated: %v", what, err)
			}
		}
		if string(released(t, dir)) != string(before) {
			t.Fatal("the folder has changed")
		}
		s.Name, s.Number = "list", 9
		if r := s.publish(dir); r.Release.Name != "list" || r.Release.Number != 9 || r.record.Previous != nil ||
			r.record.History != nil || len(r.Warnings) != 1 {
			t.Errorf("%+v", r)
		}
		s.Name, s.Number = "", 0
		if r := s.publish(dir); r.Release.Number != 10 || r.record.Previous.Number != 9 || len(r.kept) != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// TestRotate checks that a new key is refused unless Options.Rotate contains the key of the last release. Signing with
// both keys is not a rotation.
func TestRotate(t *testing.T) {
	a, b, c := testKey(t, "A"), testKey(t, "E"), testKey(t, "I")
	public := func(k PrivateKey) []PublicKey { return []PublicKey{k.Public()} }
	start := func() (*signer, string) {
		s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
		s.publish(dir)
		s.State = []string{filepath.Join(s.src, "new"+StateSuffix)}
		return s, dir
	}
	s, dir := start()
	s.Sign = []PrivateKey{b}
	s.refuses("no old key", dir, s.Options, ErrOtherKey)
	o := s.Options
	o.Rotate = public(c)
	s.refuses("another old key", dir, o, ErrOtherKey)
	o.Renew = true
	s.refuses("another old key, renew", dir, o, ErrOtherKey)
	o.Sign = nil
	s.refuses("no new key", dir, o, ErrOptions)
	s.Rotate = append(public(c), a.Public())
	r := s.publish(dir)
	if r.Release.Number != 2 || r.Rotated == nil || *r.Rotated != a.Public() || r.record.Previous.Number != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := Verify(released(t, dir), a.Public()); !errors.Is(err, ErrOtherKey) {
		t.Error(err)
	}
	if r := s.publish(dir); r.Release.Number != 3 || r.Rotated != nil { // the option may still be set
		t.Errorf("%+v", r)
	}
	s.Sign, s.Rotate = []PrivateKey{a}, nil
	s.refuses("the key that was replaced", dir, s.Options, ErrOtherKey)

	s, dir = start() // the same content
	s.Sign, s.Rotate = []PrivateKey{b}, public(a)
	if r := mustPublish(t, dir, filepath.Join(s.src, "v1"), s.Options); !r.Renewed || r.Release.Number != 1 ||
		*r.Rotated != a.Public() {
		t.Errorf("%+v", r)
	}

	s, dir = start() // with both keys for some releases
	for _, sign := range [][]PrivateKey{{a, b}, {a, b}, {b}, {b}} {
		s.Sign = sign
		if r := s.publish(dir); r.Rotated != nil {
			t.Errorf("%+v", r)
		}
		if ids, err := signedBy(released(t, dir)); err != nil || len(ids) != len(sign) ||
			!slices.Contains(ids, b.Public().ID()) {
			t.Errorf("%v, %v", ids, err)
		}
	}
}

// TestStolenKey signs the highest number with a stolen key. The publisher must continue with a new key from its own
// last number, and use nothing from the forged release.
func TestStolenKey(t *testing.T) {
	stolen, fresh := testKey(t, "A"), testKey(t, "E")
	for _, number := range []uint64{maxNumber, maxNumber - 1, 40} {
		s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
		s.publish(dir)
		s.publish(dir)
		forge(t, dir, func(r *record) {
			r.Number, r.Name, r.Expires = number, "list", r.Expires.AddDate(70, 0, 0)
		}, stolen)
		if number == maxNumber {
			s.refuses("the highest number", dir, s.Options, ErrOptions)
		}
		s.Sign = []PrivateKey{fresh}
		s.refuses("a new key, and nothing stated", dir, s.Options, ErrOtherKey)
		s.State = []string{filepath.Join(s.src, "fresh"+StateSuffix)}
		s.refuses("without a state", dir, s.Options, ErrOtherKey)
		s.Name, s.Number = "list", 3
		r := s.publish(dir)
		if r.Release.Number != 3 || r.record.Previous != nil || r.Release.Expires.After(s.Now.Add(DefaultLifetime)) {
			t.Errorf("%d: %+v", number, r.Release)
		}
		if _, err := Verify(released(t, dir), fresh.Public()); err != nil {
			t.Error(err)
		}
		s.Name, s.Number = "", 0
		if r := s.publish(dir); r.Release.Number != 4 || len(r.Warnings) != 0 {
			t.Errorf("%d: %+v", number, r)
		}
	}
	// The state of the stolen key, copied for the new key, contains the last number of the publisher.
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	s.publish(dir)
	forge(t, dir, func(r *record) { r.Number = maxNumber }, stolen)
	s.Sign, s.Name, s.Number = []PrivateKey{fresh}, "list", 2
	s.refuses("a number that the state knows", dir, s.Options, ErrOptions)
	s.Number = 3
	s.publish(dir)
}

// TestHighestNumber checks that no number exceeds 2^53 - 1, and that the error after the last one gives advice.
func TestHighestNumber(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.Number = maxNumber + 1
	s.refuses("too high", dir, s.Options, ErrOptions)
	s.Number = maxNumber
	s.publish(dir)
	s.Number = 0
	_, err := Publish(t.Context(), dir, s.next(), s.Options)
	if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "make a new key") {
		t.Error(err)
	}
	s.Renew = true // the content can still be renewed
	if r := mustPublish(t, dir, filepath.Join(s.src, "v2"), s.Options); !r.Renewed || r.Release.Number != maxNumber {
		t.Errorf("%+v", r)
	}
}

// TestDamagedRelease checks that a release.json that cannot be read is refused unless name and number are given.
func TestDamagedRelease(t *testing.T) {
	s, dir := newSigner(t, "A"), filepath.Join(t.TempDir(), "list")
	s.publish(dir)
	path := filepath.Join(dir, ReleaseName)
	good := released(t, dir)
	for what, bad := range map[string]string{
		"empty": "", "cut": string(good[:100]), "zeros": string(make([]byte, 100)),
		"huge":  string(good) + strings.Repeat(" ", maxRelease),
		"newer": strings.Replace(string(good), `"version":1`, `"version":2`, 1),
	} {
		write(t, path, []byte(bad), 0o600)
		s.refuses(what, dir, s.Options, ErrUntrusted)
		stated := *s
		stated.Name, stated.Number = "list", uint64(len(s.contents))+1
		stated.publish(dir)
		s.version = stated.version
	}
}
