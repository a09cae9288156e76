package exact

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strconv"
	"testing"
)

// numbers is a named function type that lists keys, to test that sources accept it.
type numbers func(yield func(string) bool)

// TestKeys checks that all forms of a list give the same set, and that an error ends the build.
func TestKeys(t *testing.T) {
	var texts []string
	var keys [][]byte
	for i := range 5000 {
		texts = append(texts, strconv.Itoa(i))
		keys = append(keys, []byte(texts[i]))
	}
	broken := errors.New("broken")
	failing := func(at int) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			var key []byte // is reused
			for i, k := range keys {
				if key = append(key[:0], k...); i == at && !yield(nil, broken) || i != at && !yield(key, nil) {
					return
				}
			}
		}
	}
	failingTexts := func(at int) func(yield func(string, error) bool) {
		return func(yield func(string, error) bool) {
			failing(at)(func(key []byte, err error) bool { return yield(string(key), err) })
		}
	}
	want := bytesOf(t, mustOf(Build(t.Context(), slices.Values(keys[:9]), slices.Values(keys), Config{})))
	for what, build := range map[string]func() (*Set, error){
		"strings": func() (*Set, error) {
			return Build(t.Context(), numbers(slices.Values(texts[:9])), slices.Values(texts), Config{})
		},
		"errors": func() (*Set, error) {
			return Build(t.Context(), slices.Values(keys[:9]), failing(-1), Config{})
		},
		"strings and errors": func() (*Set, error) {
			return Build(t.Context(), slices.Values(keys[:9]), failingTexts(-1), Config{})
		},
	} {
		if s, err := build(); err != nil || !bytes.Equal(bytesOf(t, s), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, at := range []int{0, 1, feedBatch, 4999} {
		_, err := Build(t.Context(), slices.Values(keys[:9]), failing(at), Config{TempDir: t.TempDir(), Memory: 1000})
		if !errors.Is(err, broken) {
			t.Errorf("broken at %d: %v", at, err)
		}
		if _, err := Build(t.Context(), failingTexts(at), slices.Values(keys), Config{}); !errors.Is(err, broken) {
			t.Errorf("members broken at %d: %v", at, err)
		}
	}
}

// TestKeysGoOn checks that a build panics, as a range loop does, if a list continues after it has yielded an error.
func TestKeysGoOn(t *testing.T) {
	all := func(yield func([]byte, error) bool) {
		yield(nil, errors.New("broken"))
		yield([]byte("a"), nil)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_, err := Build(t.Context(), iter.Seq2[[]byte, error](all), iter.Seq2[[]byte, error](all), Config{})
	t.Error(err)
}

func mustOf(s *Set, err error) *Set {
	if err != nil {
		panic(err)
	}
	return s
}
