// Package storetest tests that a buckets.Store meets its contract.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/distribute"
)

// Lacks lists what a service does not support although its Store requests it.
type Lacks struct {
	IfMatchOfParts    bool // the service ignores If-Match in the completion of an upload in parts
	ConditionsOfParts bool // an upload in parts that is refused damages the object
	OneCreates        bool // more than one of several writers that create an object at the same time may win
}

// Run tests an empty Store.
func Run(t *testing.T, s buckets.Store) { RunWithout(t, s, Lacks{}) }

// RunWithout is Run for a service that lacks something. It skips only what cannot pass.
func RunWithout(t *testing.T, s buckets.Store, lacks Lacks) {
	ctx := t.Context()
	put := func(name string, b []byte) {
		t.Helper()
		if err := s.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			t.Fatal(err)
		}
	}

	big := bytes.Repeat([]byte("0123456789"), 100_000)
	put("a/1", []byte("one"))
	put("a/2", big)
	put("a/b/3", nil)
	put("ab", []byte("other"))
	put("name with ? and #", []byte("odd"))

	t.Run("read", func(t *testing.T) {
		for _, c := range []struct {
			name           string
			offset, length int64
			want           []byte
		}{
			{"a/1", 0, -1, []byte("one")}, {"a/1", 1, -1, []byte("ne")}, {"a/1", 0, 2, []byte("on")},
			{"a/1", 1, 1, []byte("n")}, {"a/1", 1, 100, []byte("ne")}, {"a/1", 3, -1, nil}, {"a/1", 3, 5, nil},
			{"a/1", 9, 5, nil}, {"a/1", 0, 0, nil}, {"a/2", 0, -1, big}, {"a/2", 500_001, 300_000, big[500_001:800_001]},
			{"a/b/3", 0, -1, nil}, {"a/b/3", 0, 10, nil}, {"name with ? and #", 0, -1, []byte("odd")},
		} {
			if b, err := Read(ctx, s, c.name, "", c.offset, c.length); err != nil || !bytes.Equal(b, c.want) {
				t.Errorf("%s from %d, %d bytes: %d bytes %.20q, %v", c.name, c.offset, c.length, len(b), b, err)
			}
		}
	})
	t.Run("missing", func(t *testing.T) {
		_, err := Read(ctx, s, "a/none", "", 0, -1)
		_, err2 := Read(ctx, s, "a/none", "", 5, 7)
		_, err3 := s.Stat(ctx, "a/none")
		_, err4 := Read(ctx, s, "a", "", 0, 1)
		for i, err := range []error{err, err2, err3} {
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "a/none") {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if err4 == nil {
			t.Error("a prefix was opened as an object")
		}
		if err := s.Remove(ctx, "a/none"); err != nil {
			t.Error(err)
		}
	})
	t.Run("names", func(t *testing.T) {
		for _, name := range []string{"", ".", "../x", "/x", "a/../../x", "a//b", "a/"} {
			if _, err := s.Open(ctx, name, 0, -1); err == nil {
				t.Errorf("opened %q", name)
			}
			if err := s.Write(ctx, name, func(io.Writer) error { return nil }); err == nil {
				t.Errorf("wrote %q", name)
			}
			if err := s.Remove(ctx, name); err == nil {
				t.Errorf("removed %q", name)
			}
		}
	})
	t.Run("list", func(t *testing.T) {
		for prefix, want := range map[string]string{
			"": "a/1 a/2 a/b/3 ab name with ? and #", "a": "a/1 a/2 a/b/3 ab", "a/": "a/1 a/2 a/b/3", "a/b/": "a/b/3", "c": "",
		} {
			var names []string
			for o, err := range s.List(ctx, prefix) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, o.Name)
				if st, err := s.Stat(ctx, o.Name); err != nil || st != o || o.Version == "" {
					t.Errorf("listed %+v, Stat %+v, %v", o, st, err)
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != want {
				t.Errorf("prefix %q: %q, want %q", prefix, got, want)
			}
		}
		c := distribute.Config{Build: bloomery.Config{Spec: "blocked", Sharding: bloomery.Sharding{Shards: 1}}}
		if p, err := distribute.NewPlan(ctx, s, []string{"a/*", "a*"}, c); err != nil || p.Ranges == 0 {
			t.Errorf("a plan of patterns: %+v, %v", p, err)
		}
		if _, err := distribute.NewPlan(ctx, s, []string{"c*"}, c); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a pattern of nothing: %v", err)
		}
	})
	t.Run("failed writes", func(t *testing.T) { failedWrites(t, s) })
	t.Run("conditions", func(t *testing.T) { conditions(t, s, lacks) })
	t.Run("versions", func(t *testing.T) {
		was, err := s.Stat(ctx, "a/2")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := Read(ctx, s, "a/2", was.Version, 5, 10); err != nil || string(b) != "5678901234" {
			t.Errorf("%q, %v", b, err)
		}
		time.Sleep(5 * time.Millisecond) // so that the time of modification differs
		put("a/2", bytes.Repeat([]byte("abcdefghij"), 100_000))
		if b, err := Read(ctx, s, "a/2", was.Version, 5, 10); !Gone(err) {
			t.Errorf("a replaced object: %q, %v", b, err)
		}
		now, err := s.Stat(ctx, "a/2")
		if b, err2 := Read(ctx, s, "a/2", now.Version, 5, 10); err != nil || err2 != nil || string(b) != "fghijabcde" {
			t.Errorf("%q, %v, %v", b, err, err2)
		}
		if err := s.Remove(ctx, "a/2"); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(ctx, s, "a/2", now.Version, 5, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a removed object: %v", err)
		}
	})
}

// Gone reports whether err means that the version of an object no longer exists.
func Gone(err error) bool {
	return errors.Is(err, buckets.ErrReplaced) || errors.Is(err, fs.ErrNotExist)
}

// Read reads a part of an object.
func Read(ctx context.Context, s buckets.Store, name, version string, offset, length int64) ([]byte, error) {
	r, err := s.OpenVersion(ctx, name, version, offset, length)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// failedWrites ends writes early, small and large, in every way: nothing new may appear.
func failedWrites(t *testing.T, s buckets.Store) {
	wrong := errors.New("wrong")
	for _, size := range []int{0, 10, 1 << 20} {
		for how, write := range map[string]func(w io.Writer, cancel func()) error{
			"error":  func(io.Writer, func()) error { return wrong },
			"cancel": func(_ io.Writer, cancel func()) error { cancel(); return nil },
			"panic":  func(io.Writer, func()) error { panic(wrong) },
		} {
			for name, before := range map[string]string{"new": "", "a/1": "one"} {
				ctx, cancel := context.WithCancel(t.Context())
				err := func() (err error) {
					defer func() {
						if p := recover(); p != nil {
							err = fmt.Errorf("panic: %v", p)
						}
					}()
					return s.Write(ctx, name, func(w io.Writer) error {
						if _, err := w.Write(make([]byte, size)); err != nil {
							return err
						}
						return write(w, cancel)
					})
				}()
				cancel()
				if err == nil {
					t.Errorf("%s after %d bytes: no error", how, size)
				}
				b, err := Read(t.Context(), s, name, "", 0, -1)
				if string(b) != before || (before == "") != errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s after %d bytes: %s has %d bytes, want %q: %v", how, size, name, len(b), before, err)
				}
			}
		}
	}
}

// Put writes an object.
func Put(t testing.TB, s buckets.Store, name, text string) {
	t.Helper()
	err := s.Write(t.Context(), name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err != nil {
		t.Fatal(err)
	}
}

// conditions writes under conditions, small objects and some in several parts, from several goroutines at once: one of
// them creates an object, and one replaces a version.
func conditions(t *testing.T, s buckets.Store, lacks Lacks) {
	c, ok := s.(conditional)
	if !ok {
		type renamer interface {
			Rename(ctx context.Context, from, to []string) error
		}
		if _, ok := s.(renamer); !ok {
			t.Error("it has neither WriteIf nor Rename")
		}
		return
	}
	defer s.Remove(t.Context(), "once")
	if lacks.OneCreates {
		t.Log("NOT TESTED: several writers that create an object at the same time")
	}

	sizes := []int{10, 20 << 20}
	if lacks.ConditionsOfParts {
		t.Log("NOT TESTED: conditional writes in parts, which would remove the object")
		sizes = sizes[:1]
	}

	for _, size := range sizes {
		writeIf := func(version string, fill byte) error {
			return c.WriteIf(t.Context(), "once", version, func(w io.Writer) error {
				_, err := w.Write(bytes.Repeat([]byte{fill}, size))
				return err
			})
		}
		version, writers, rounds := "", 3, 2
		replaces := size < 10<<20 || !lacks.IfMatchOfParts
		if !replaces {
			t.Log("NOT TESTED: If-Match in parts")
			rounds = 1
		}
		for round := range rounds {
			var wg sync.WaitGroup
			errs := make([]error, writers)
			for i := range writers {
				fill := byte('a' + round*writers + i) // services whose version is the MD5 do not see the same bytes again
				wg.Go(func() { errs[i] = writeIf(version, fill) })
				if round > 0 || lacks.OneCreates {
					wg.Wait() // not every driver replaces a version in one step
				}
			}
			wg.Wait()
			winner := slices.Index(errs, nil)
			for i, err := range errs {
				if i != winner && !errors.Is(err, fs.ErrExist) {
					t.Errorf("%d bytes, round %d, writer %d: %v", size, round, i, err)
				}
			}
			b, err := Read(t.Context(), s, "once", "", 0, -1)
			if winner < 0 || err != nil || !bytes.Equal(b, bytes.Repeat([]byte{byte('a' + round*writers + winner)}, size)) {
				t.Fatalf("%d bytes, round %d: %d bytes of the winner %d, %v", size, round, len(b), winner, err)
			}
			o, err := s.Stat(t.Context(), "once")
			if err != nil {
				t.Fatal(err)
			}
			version = o.Version
			time.Sleep(5 * time.Millisecond) // so that the time of modification differs
		}
		if err := s.Remove(t.Context(), "once"); err != nil {
			t.Fatal(err)
		}
		if err := writeIf(version, 'x'); replaces && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%d bytes: a version of a removed object: %v", size, err)
		}
	}
}
