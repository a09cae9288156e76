package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedFiles damages the small files of publishers and followers, 2,000 times each: their readers must refuse the
// file or return the same content.
func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	public, err := CreateKey(t.Context(), at("key"))
	must(t, err)
	private, err := ReadPrivateKey(t.Context(), at("key"))
	must(t, err)
	signed, err := testRelease().marshal(private)
	must(t, err)
	write(t, at("release.json"), signed, 0o600)

	// The states were written by a publisher and a follower.
	s := newSite(t)
	s.publish(filterOf(t, 1000, 0))
	follower := newFollower(t, s.dir, at("copy"), WithKeys(s.keys[0].Public()))
	mustPoll(t, follower)
	keys := &states{paths: []string{at("key.state")}, lists: [][]lastSigned{nil}}
	for i, name := range []string{"a list", "another list"} {
		l := lastSigned{Name: name, Number: uint64(17 * (i + 1)), Kind: File, Keys: 1000, Folder: "/srv/" + name}
		must(t, keys.record(t.Context(), l))
		must(t, keys.readAll(t.Context()))
	}

	text := func(v any, err error) (string, error) {
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(v)
		return string(b), err
	}
	for _, c := range []struct {
		what, file string
		read       func() (meaning string, err error)
		want       error // error of every refusal
	}{
		{"private key", "key", func() (string, error) {
			k, err := ReadPrivateKey(t.Context(), at("key"))
			return k.String(), err
		}, ErrKey},
		{"public key beside it", "key.pub", func() (string, error) {
			k, err := ReadPrivateKey(t.Context(), at("key"))
			return k.String(), err
		}, ErrKey},
		// A public key has no checksum. A damaged key that still parses must not verify any release.
		{"public key of a reader", "key.pub", func() (string, error) {
			k, err := ReadPublicKey(t.Context(), at("key.pub"))
			if err != nil {
				return "", err
			}
			k, err = Verify(signed, k)
			return k.String(), err
		}, nil},
		{"state of a key", "key.state", func() (string, error) {
			err := keys.readAll(t.Context())
			return text(keys.lists, err)
		}, ErrKeyState},
		{"state of a follower", "copy" + stateSuffix, func() (string, error) {
			state, err := follower.readState(t.Context(), follower.file)
			return text(state, err)
		}, ErrState},
		{"release", "release.json", func() (string, error) {
			b, err := os.ReadFile(at("release.json"))
			if err != nil {
				return "", err
			}
			if _, err := Verify(b, public); err != nil {
				return "", err
			}
			return text(parseRecord(b))
		}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			good := read(t, at(c.file))
			want, err := c.read()
			must(t, err)
			defer write(t, at(c.file), good, 0o600)
			const seed1, seed2 = 28, 2000
			r, refused := rand.New(rand.NewPCG(seed1, seed2)), 0
			for i := range 2000 {
				b, what := damaged(r, good, i)
				if c.what == "state of a key" && len(b) == 0 {
					continue // a publisher has just created it; the signed release.json counts
				}
				write(t, at(c.file), b, 0o600)
				switch got, err := c.read(); {
				case err == nil && got != want:
					t.Fatalf("seed %d, %d: %s: it says %s, want %s", seed1, seed2, what, got, want)
				case errors.Is(err, fs.ErrNotExist), c.want != nil && err != nil && !errors.Is(err, c.want):
					t.Fatalf("seed %d, %d: %s: error %v", seed1, seed2, what, err)
				case err != nil:
					refused++
				}
			}
			t.Logf("%d of 2000 refused", refused)
			if refused < 1000 {
				t.Errorf("only %d of 2000 are refused", refused)
			}
		})
	}
}

// damaged returns a file with damage number i: first all truncations, then one or two flipped bits, and overwritten or
// repeated parts.
func damaged(r *rand.Rand, good []byte, i int) (b []byte, what string) {
	if i < min(len(good), 500) {
		n := i * len(good) / min(len(good), 500)
		return good[:n:n], fmt.Sprintf("cut to %d bytes of %d", n, len(good))
	}
	b = append([]byte(nil), good...)
	at := r.IntN(len(b))
	switch r.IntN(8) {
	case 0:
		b[at] = byte(r.Uint32())
		return b, fmt.Sprintf("byte %d is %#x", at, b[at])
	case 1:
		b = append(b[:at:at], b[min(at+1+r.IntN(16), len(b)):]...)
		return b, fmt.Sprintf("bytes from %d missing: %d of %d left", at, len(b), len(good))
	case 2:
		b = append(b[:at:at], good...)
		return b, fmt.Sprintf("the file again from %d", at)
	}
	b[at] ^= 1 << r.IntN(8)
	return b, fmt.Sprintf("byte %d: %#x for %#x", at, b[at], good[at])
}

// TestSeal checks that a state file needs a correct check, or an empty one if it was edited by hand.
func TestSeal(t *testing.T) {
	text := []byte(`{"format":"x","n":1}` + "\n")
	sealed := seal(text)
	if body, err := unseal(sealed); err != nil || !json.Valid(sealed) || string(body)+"\n" != string(text) {
		t.Errorf("%s: %s, %v", sealed, body, err)
	}
	for _, good := range []string{byHand(sealed), byHand(sealed) + "\n", string(seal([]byte("{}")))} {
		if _, err := unseal([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "{}", string(text), strings.ReplaceAll(byHand(sealed), `""`, `null`)} {
		if body, err := unseal([]byte(bad)); err == nil {
			t.Errorf("%s is accepted as %s", bad, body)
		}
	}
	for i, c := range sealed[:len(text)-2] {
		bad := append([]byte(nil), sealed...)
		bad[i] = c ^ 1
		if _, err := unseal(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// byHand returns a state file with an empty check, like a file that was edited by hand.
func byHand(b []byte) string {
	body, _, _ := strings.Cut(string(b), checkMark)
	return body + checkMark + "\"}\n"
}
