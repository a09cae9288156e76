package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestKeyFiles checks that a key is written only once and readable only for its owner, and that it is found by its text
// and by its file.
func TestKeyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := CreateKey(t.Context(), path)
	must(t, err)
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", err, st.Mode())
	}
	private, err := ReadPrivateKey(t.Context(), path)
	if err != nil || private.Public() != public {
		t.Errorf("%v, %v", err, private)
	}
	if got, err := ReadPublicKey(t.Context(), path+PublicSuffix); err != nil || got != public {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := CreateKey(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	must(t, os.Remove(path+PublicSuffix))
	if _, err := CreateKey(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if again, err := ReadPrivateKey(t.Context(), path); err != nil || again.Public() != public {
		t.Errorf("the key was replaced: %v", err)
	}
	if _, err := os.Stat(path + PublicSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a public key without a private one: %v", err)
	}
	if _, err := ReadPublicKey(t.Context(), path); !errors.Is(err, ErrKey) {
		t.Errorf("a private key as a public one: %v", err)
	}
	if _, err := ReadPrivateKey(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestKeys tests the text of keys, and checks that a private key is not printed by accident.
func TestKeys(t *testing.T) {
	k, err := NewKey()
	must(t, err)
	again, err := ParsePrivateKey(k.Text() + "\n")
	if err != nil || again.Public() != k.Public() {
		t.Fatal(err)
	}
	public, err := ParsePublicKey(k.Public().String() + "\r\n")
	if err != nil || public != k.Public() || len(public.ID()) != 16 {
		t.Fatal(err)
	}
	secret := k.Text()[len(privatePrefix):]
	if text := fmt.Sprintf("%v %+v %#v %s", k, k, k, k); strings.Contains(text, secret) {
		t.Error("a format prints the private key")
	}
	wrong := "ed25519:" + strings.Repeat("!", 44)
	for _, bad := range []string{"", "ed25519:", k.Public().String() + "A", k.Text(), wrong} {
		if _, err := ParsePublicKey(bad); !errors.Is(err, ErrKey) || strings.Contains(err.Error(), secret) {
			t.Errorf("public key %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", k.Public().String(), k.Text()[1:], k.Text()[:len(k.Text())-1]} {
		if _, err := ParsePrivateKey(bad); !errors.Is(err, ErrKey) || strings.Contains(err.Error(), secret) {
			t.Errorf("private key: %v", err)
		}
	}
}
