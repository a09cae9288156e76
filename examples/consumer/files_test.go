package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/tablefilter"
)

// TestFiles saves a filter of each family and reads it back in every way.
func TestFiles(t *testing.T) {
	keys := words("key ", 2000)
	for _, spec := range slices.Concat(specs, foreignSpecs) {
		set := built(t, keys, bloomery.Config{Spec: spec})
		path := filepath.Join(t.TempDir(), "keys.bloom")
		if err := set.Save(t.Context(), path); err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		file := must(os.ReadFile(path))(t)
		stream := bytes.NewReader(append(slices.Clone(file), "what follows"...))
		for what, back := range map[string]*bloomery.Set{
			"Open":      must(bloomery.Open(t.Context(), path))(t),
			"InMemory":  must(bloomery.Open(t.Context(), path, bloomery.InMemory()))(t),
			"Read":      must(bloomery.Read(stream))(t),
			"FromBytes": must(bloomery.FromBytes(file))(t),
		} {
			if !back.Equal(set) || back.Len() != set.Len() {
				t.Errorf("%s: %s: %v, want %v", spec, what, back, set)
			}
			for _, k := range keys {
				if !back.ContainsString(k) {
					t.Fatalf("%s: %s: %s is missing", spec, what, k)
				}
			}
			if err := errors.Join(back.Err(), back.Close()); err != nil {
				t.Errorf("%s: %s: %v", spec, what, err)
			}
		}
		if rest := must(io.ReadAll(stream))(t); string(rest) != "what follows" {
			t.Errorf("%s: Read leaves %q", spec, rest)
		}
		if n, err := set.WriteTo(io.Discard); n != int64(len(file)) || err != nil {
			t.Errorf("%s: WriteTo writes %d bytes, the file has %d: %v", spec, n, len(file), err)
		}
	}
}

// TestSaveCancelled checks that a cancelled Save leaves the old file unchanged.
func TestSaveCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.bloom")
	old := built(t, words("old ", 10), bloomery.Config{})
	if err := old.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := built(t, words("new ", 10), bloomery.Config{}).Save(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !must(bloomery.Open(t.Context(), path))(t).Equal(old) || len(must(os.ReadDir(filepath.Dir(path)))(t)) != 1 {
		t.Error("the file was changed, or a temporary file is left")
	}
}

// TestFromBytes reads filters at every alignment within a larger file, and changes them. The bytes must not change.
func TestFromBytes(t *testing.T) {
	keys := words("key ", 500)
	for _, spec := range specs {
		set := built(t, keys, bloomery.Config{Spec: spec})
		file := bytesOf(t, set)
		for shift := range 8 {
			section := make([]byte, shift+len(file))[shift:]
			copy(section, file)
			s := must(bloomery.FromBytes(section))(t)
			holds(t, s, keys)
			err := s.AddString("another key")
			if err == nil && (!s.ContainsString("another key") || s.Equal(set)) {
				t.Errorf("%s: the added key is missing", spec)
			} else if err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", spec, err)
			}
			if err := s.Reset(); err == nil && s.Len() != 0 {
				t.Errorf("%s: %v after Reset", spec, s)
			}
			if !bytes.Equal(section, file) {
				t.Errorf("%s: a change of the set wrote to its bytes", spec)
			}
		}
		if _, err := bloomery.FromBytes(append(slices.Clone(file), 0)); !errors.Is(err, filter.ErrCorrupt) {
			t.Errorf("%s: a byte behind the filter: %v", spec, err)
		}
	}
	shared := bytesOf(t, built(t, words("key ", 100_000), bloomery.Config{}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(bloomery.FromBytes(shared))(t)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(len(shared)/4) {
		t.Errorf("FromBytes allocates %d bytes for a filter of %d: it copies", got, len(shared))
	}
}

// TestOptions opens one file with each option.
func TestOptions(t *testing.T) {
	dir := t.TempDir()
	keys := words("key ", 1000)
	secret := filter.NewSecret()
	keyed := built(t, keys, bloomery.Config{Hashing: bloomery.Hashing{Secret: secret}})
	path := filepath.Join(dir, "keyed.bloom")
	if err := keyed.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	file := must(os.ReadFile(path))(t)
	if bytes.Contains(file, secret[:]) || bytes.Contains(file, secret[:8]) {
		t.Error("the secret stands in the file")
	}
	type reading func(...bloomery.Option) (*bloomery.Set, error)
	for what, read := range map[string]reading{
		"Open":      func(o ...bloomery.Option) (*bloomery.Set, error) { return bloomery.Open(t.Context(), path, o...) },
		"Read":      func(o ...bloomery.Option) (*bloomery.Set, error) { return bloomery.Read(bytes.NewReader(file), o...) },
		"FromBytes": func(o ...bloomery.Option) (*bloomery.Set, error) { return bloomery.FromBytes(file, o...) },
		"OpenLive": func(o ...bloomery.Option) (s *bloomery.Set, err error) {
			l, err := bloomery.OpenLive(t.Context(), path, o...)
			if err != nil {
				return nil, err
			}
			l.View(func(current *bloomery.Set) { s, err = current.Clone() })
			return s, errors.Join(err, l.Close())
		},
	} {
		for _, o := range [][]bloomery.Option{nil, {bloomery.WithSecret(filter.NewSecret())}} {
			if _, err := read(o...); !errors.Is(err, filter.ErrSecret) {
				t.Errorf("%s without the secret: %v", what, err)
			}
		}
		s := must(read(bloomery.WithSecret(secret), bloomery.WithMaxBytes(uint64(len(file)))))(t)
		holds(t, s, keys)
		tooSmall := bloomery.WithMaxBytes(uint64(len(file) - 1))
		if _, err := read(bloomery.WithSecret(secret), tooSmall); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s of a filter of %d bytes, one more than allowed: %v", what, len(file), err)
		}
	}
	if bloomery.DefaultMaxBytes != 1<<30 {
		t.Errorf("the default of WithMaxBytes is %d", bloomery.DefaultMaxBytes)
	}
	fuse := bytesOf(t, built(t, keys, bloomery.Config{Spec: "fuse(width=8)"}))
	_, err := bloomery.FromBytes(fuse, bloomery.WithConcurrent())
	unsupported(t, "WithConcurrent", err, "standard")
}

// TestDamage reads files with a flipped bit or without their end, and data that is not a filter.
func TestDamage(t *testing.T) {
	file := bytesOf(t, built(t, words("key ", 1000), bloomery.Config{}))
	flipped := slices.Clone(file)
	flipped[len(file)/2] ^= 1
	for what, b := range map[string][]byte{
		"flipped": flipped, "cut": file[:len(file)-1], "empty": {}, "short": []byte("PK"), "text": make([]byte, 4096),
	} {
		want := map[string]error{"flipped": filter.ErrChecksum, "cut": io.ErrUnexpectedEOF}[what]
		path := filepath.Join(t.TempDir(), what)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, open := bloomery.Open(t.Context(), path)
		_, read := bloomery.Read(bytes.NewReader(b))
		_, from := bloomery.FromBytes(b)
		for _, err := range []error{open, read, from, new(bloomery.Set).UnmarshalBinary(b)} {
			if want == nil && (what == "short" || what == "text") {
				want = filter.ErrMagic
			}
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
	}
	if _, err := bloomery.Open(t.Context(), filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestOverwritten truncates and overwrites an open file in place. The answers of the Set must then be right, or Err
// must report that they may be wrong. With InMemory they must be right.
func TestOverwritten(t *testing.T) {
	const n = 1_500_000 // bits of a file above 1 MiB, which is mapped where the system can
	var keys []uint64
	for i := range uint64(n) {
		keys = append(keys, i)
	}
	set := built(t, keys, bloomery.Config{Spec: "blocked(bits_per_key=8)", Keys: n})
	for what, change := range map[string]func(path string) error{
		"truncated":   func(path string) error { return os.Truncate(path, 4096) },
		"overwritten": func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), what)
		if err := set.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		mapped := must(bloomery.Open(t.Context(), path))(t)
		memory := must(bloomery.Open(t.Context(), path, bloomery.InMemory()))(t)
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		missing := map[*bloomery.Set]int{}
		for _, s := range []*bloomery.Set{mapped, memory} {
			dst := make([]bool, 1000)
			for start := 0; start < n; start += 100_000 {
				part := keys[start:][:1000]
				bloomery.Keyed[uint64](s).ContainsMany(dst, part)
				for i, k := range part {
					if !dst[i] || !bloomery.Keyed[uint64](s).Contains(k) {
						missing[s]++
					}
				}
			}
		}
		if missing[mapped] > 0 && !errors.Is(mapped.Err(), filter.ErrFile) {
			t.Errorf("%s: %d keys are missing and Err is %v", what, missing[mapped], mapped.Err())
		}
		t.Logf("%s: %d keys missing, Err: %v", what, missing[mapped], mapped.Err())
		if missing[memory] > 0 || memory.Err() != nil {
			t.Errorf("%s, InMemory: %d keys are missing, Err: %v", what, missing[memory], memory.Err())
		}
		if err := errors.Join(mapped.Close(), memory.Close()); err != nil {
			t.Logf("%s: Close: %v", what, err)
		}
	}
}

// TestTables writes the filter block of a table and queries it.
func TestTables(t *testing.T) {
	policy := must(tablefilter.New("blocked(bits_per_key=10)"))(t)
	policy.MaxKeys, policy.Workers = tablefilter.DefaultMaxKeys, 1
	if again := must(tablefilter.Parse(policy.Name()))(t); again.Name() != policy.Name() {
		t.Errorf("%s is parsed as %s", policy.Name(), again.Name())
	}
	w := policy.NewWriter()
	keys := words("row ", 1000)
	for _, k := range keys {
		w.Add([]byte(k))
	}
	block := w.Finish(nil)
	if !tablefilter.HasFilter(block) {
		t.Fatal("no filter")
	}
	for _, k := range keys {
		if !tablefilter.MayContain(block, []byte(k)) {
			t.Errorf("%s is lost", k)
		}
	}
}
