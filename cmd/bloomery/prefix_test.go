package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/internal/patch"
	"github.com/bloomery/bloomery/interop/clubcard"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/shard"
)

// TestNoPrefix checks that no proper prefix of a file that Bloomery writes or reads is a file of that kind. Only the
// newline at the end of a text may be missing.
func TestNoPrefix(t *testing.T) {
	read := func(path string) []byte {
		t.Helper()
		return mustRead(t, filepath.FromSlash("../../"+path))
	}
	dir := t.TempDir()
	command := func(args ...string) {
		t.Helper()
		if code, out := runOn(t, trialKeys("key", 200), args...); code != exitOK {
			t.Fatalf("%q: exit code %d, %s", args, code, out)
		}
	}
	written := func(name string) []byte { t.Helper(); return mustRead(t, filepath.Join(dir, name)) }
	path := func(name string) string { return filepath.Join(dir, name) }
	command("build", "-q", "-o", path("f.bloom"), "--spec", "fuse")
	command("build", "-q", "-o", path("g.bloom"), "--spec", "fuse(width=13)")
	command("build", "-q", "-o", path("set"), "--shards", "2", "--spec", "fuse")
	command("keygen", "-o", path("k.key"))
	command("publish", path("site"), path("f.bloom"), "--sign", path("k.key"), "--name", "list", "--number", "1")
	secret := []byte("00112233445566778899aabbccddeeff\n")
	filterOf := func(b []byte) error { _, err := bloomery.FromBytes(b); return err }
	setOf := func(b []byte) error { _, err := exact.FromBytes(b); return err }
	const deltas = "internal/patch/testdata/"
	patched := func(base string) func(b []byte) error {
		old := patch.Version{File: read(base)}
		return func(b []byte) error { _, err := patch.Patch(t.Context(), old, b, 0, nil); return err }
	}
	publicKey := func(b []byte) error { _, err := publish.ParsePublicKey(string(b)); return err }
	privateKey := func(b []byte) error { _, err := publish.ParsePrivateKey(string(b)); return err }
	for name, c := range map[string]struct {
		file []byte
		read func([]byte) error
	}{
		"filter":           {written("f.bloom"), filterOf},
		"filter of family": {written("g.bloom"), filterOf},
		"exact set":        {read("exact/testdata/few.exact"), setOf},
		"with an update":   {read("exact/testdata/update.exact"), setOf},
		"with four":        {read("exact/testdata/updates.exact"), setOf},
		"delta, bits":      {read(deltas + "gaps.delta"), patched(deltas + "gaps.base")},
		"delta, replay":    {read(deltas + "rank.delta"), patched(deltas + "rank.base")},
		"delta, append":    {read(deltas + "exact/append.delta"), patched(deltas + "exact/append.base")},
		"delta, same":      {read(deltas + "exact/same.delta"), patched(deltas + "exact/same.base")},
		"delta, whole":     {read(deltas + "exact/whole.delta"), patched(deltas + "exact/whole.base")},
		"set manifest": {written("set/" + shard.ManifestName), func(b []byte) error {
			_, err := shard.ReadManifest(bytes.NewReader(b))
			return err
		}},
		"release": {written("site/" + publish.ReleaseName), func(b []byte) error { // complete even without signatures
			key, err := publish.ParsePublicKey(strings.TrimSpace(string(written("k.key.pub"))))
			if err == nil {
				_, err = publish.Verify(b, key)
			}
			return err
		}},
		"private key": {written("k.key"), privateKey},
		"public key":  {written("k.key.pub"), publicKey},
		"secret": {secret, func(b []byte) error {
			mustWrite(t, path("secret"), b)
			_, err := readSecret(t.Context(), path("secret"))
			return err
		}},
		"Clubcard": {read("interop/clubcard/testdata/cache/base.clubcard"), func(b []byte) error {
			_, err := clubcard.Read(b)
			return err
		}},
		"index of Clubcards": {read("interop/clubcard/testdata/cache/index.bin"), func(b []byte) error {
			folder := fstest.MapFS{clubcard.IndexName: {Data: b}}
			_, err := clubcard.CheckDir(t.Context(), folder, clubcard.Certificate{SCTs: []clubcard.SCT{{}}})
			return err
		}},
	} {
		if err := c.read(c.file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text := strings.TrimRight(string(c.file), "\n")
		for n := range len(text) {
			if err := c.read(bytes.Clone(c.file[:n])); err == nil {
				t.Errorf("%s: the first %d of %d bytes are accepted", name, n, len(c.file))
				break
			}
		}
	}
}
