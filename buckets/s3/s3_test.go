package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	_ "github.com/bloomery/bloomery/buckets/s3"
)

// server is a bucket in an imitation of S3, or in a server that is not of this project.
type server interface {
	Address(prefix string) string
	Fault(fault func(w http.ResponseWriter, r *http.Request) bool, cut func(r *http.Request) int)
	Lose(lose func(r *http.Request) bool)
}

func openURL(t *testing.T, f server, prefix string) buckets.Store {
	s, err := buckets.OpenStore(t.Context(), f.Address(prefix))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	f := fakes3.New(t)
	f.Page(2)
	storetest.Put(t, openURL(t, f, ""), "sets", "not below the prefix")
	storetest.Run(t, openURL(t, f, "sets/one"))
}

// TestParts writes an object in parts, aborts the upload of a second object, and cancels the upload of a third. No
// object or parts of the last two may remain.
func TestParts(t *testing.T) {
	f := fakes3.New(t)
	parts(t, openURL(t, f, ""))
	if n, _ := f.Counts(); n["POST"] != 4 { // begin and complete big, begin the other uploads
		t.Errorf("requests %v: not written in parts", n)
	}
	if n := f.Uploads(); n != 0 {
		t.Errorf("%d uploads are left behind", n)
	}
}

func parts(t *testing.T, s buckets.Store) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 20<<16)
	write := func(name string, fail error) error {
		return s.Write(t.Context(), name, func(w io.Writer) error {
			_, err := w.Write(big)
			return errors.Join(err, fail)
		})
	}
	if err := write("big", nil); err != nil {
		t.Fatal(err)
	}
	if b, err := storetest.Read(t.Context(), s, "big", "", 0, -1); err != nil || !bytes.Equal(b, big) {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if err := write("broken", errors.New("wrong")); err == nil || err.Error() != "wrong" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Write(ctx, "broken", func(w io.Writer) error {
		_, err := w.Write(big)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Stat(t.Context(), "broken"); err == nil {
		t.Error("an object appeared")
	}
}

// TestCut cuts off every response after some bytes. The reader must resume with the same version.
func TestCut(t *testing.T) {
	f := fakes3.New(t)
	s := openURL(t, f, "x")
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	storetest.Put(t, s, "big", string(big))
	var cuts atomic.Int32
	f.Fault(nil, func(*http.Request) int {
		cuts.Add(1)
		return 300_000
	})
	for _, c := range [][2]int64{{0, -1}, {100, -1}, {100, 900_000}} {
		want := big[c[0]:]
		if c[1] >= 0 {
			want = want[:c[1]]
		}
		b, err := storetest.Read(t.Context(), s, "big", "", c[0], c[1])
		if err != nil || !bytes.Equal(b, want) {
			t.Errorf("%v: %d bytes, want %d: %v", c, len(b), len(want), err)
		}
	}
	if cuts.Load() < 9 {
		t.Errorf("%d answers", cuts.Load())
	}
	// The object is replaced between two responses.
	f.Fault(nil, func(*http.Request) int {
		f.Change("x/big", func(b []byte) []byte { return bytes.ToUpper(b) })
		return 300_000
	})
	if b, err := storetest.Read(t.Context(), s, "big", "", 0, -1); !errors.Is(err, buckets.ErrReplaced) ||
		len(b) > 0 && !bytes.HasPrefix(big, b) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	// No more bytes arrive.
	f.Fault(nil, func(*http.Request) int { return 0 })
	if _, err := storetest.Read(t.Context(), s, "big", "", 0, -1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// TestRetries answers requests with errors. The SDK repeats the request after some of them, and returns the others.
func TestRetries(t *testing.T) {
	f := fakes3.New(t)
	s := openURL(t, f, "")
	storetest.Put(t, s, "a", "text")
	var n atomic.Int32
	f.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		if n.Add(1) > 2 {
			return false
		}
		fakes3.Fail(w, http.StatusServiceUnavailable, "SlowDown")
		return true
	}, nil)
	if b, err := storetest.Read(t.Context(), s, "a", "", 0, -1); err != nil || string(b) != "text" || n.Load() != 3 {
		t.Errorf("%q, %v after %d requests", b, err, n.Load())
	}
	f.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		fakes3.Fail(w, http.StatusForbidden, "AccessDenied")
		return true
	}, nil)
	_, err := storetest.Read(t.Context(), s, "a", "", 0, -1)
	if err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Error(err)
	}
	for _, err := range s.List(t.Context(), "") {
		if err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Error(err)
		}
	}
}
