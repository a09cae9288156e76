package clubcard_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/interop/clubcard"
)

// writer writes numbers of any length, for files that the encoder cannot write.
type writer struct{ out []byte }

// u appends v in n bytes, big endian.
func (w *writer) u(n int, v uint32) *writer {
	for i := n - 1; i >= 0; i-- {
		b := byte(0)
		if i < 4 {
			b = byte(v >> (8 * i))
		}
		w.out = append(w.out, b)
	}
	return w
}

// head appends the beginning of a file that covers log 1 from 0 to 9, and the number of issuers.
func (w *writer) head(issuers uint32) *writer {
	return w.u(1, 4).u(1, 0).u(2, 1).u(32, 1).u(8, 0).u(8, 9).u(4, issuers)
}

// block appends an issuer with rank columns.
func (w *writer) block(issuer, rank, inverted uint32) *writer {
	return w.u(32, issuer).u(4, 9).u(1, rank).u(4, 0).u(4, 9).u(4, 0).u(1, inverted)
}

// TestRefused checks that everything that the format forbids is an error with an offset.
func TestRefused(t *testing.T) {
	const corrupt, short = "the file contradicts itself", "unexpected EOF"
	file := func() *writer { return &writer{} }
	for name, c := range map[string]struct {
		w         *writer
		err, text string
	}{
		"empty":         {file(), short, "version at byte 0"},
		"version 3":     {file().u(1, 3).u(1, 0), clubcard.ErrFormat.Error(), "version 3"},
		"little endian": {file().u(1, 4).u(1, 1), clubcard.ErrFormat.Error(), "reserved byte at byte 1"},
		"same log":      {file().u(2, 1024).u(2, 2).u(32, 1).u(16, 0).u(32, 1).u(25, 0), corrupt, "comes twice"},
		"logs":          {file().u(2, 1024).u(2, 2).u(95, 0), short, "2 elements do not fit into 95 bytes"},
		"issuers":       {file().head(1<<31).u(60, 0), short, "2147483648 elements"},
		"same issuer":   {file().head(2).block(1, 0, 0).u(2, 0).block(1, 0, 0).u(7, 0), corrupt, "comes twice"},
		"apart": {file().head(3).block(2, 0, 0).u(2, 0).block(1, 0, 0).u(2, 0).block(2, 0, 0).u(7, 0), corrupt,
			"comes twice"},
		"exceptions":   {file().head(1).block(1, 0, 0).u(2, 9).u(5, 0), short, "exceptions at byte"},
		"empty serial": {file().head(1).block(1, 0, 0).u(2, 1).u(6, 0), corrupt, "empty serial"},
		"long serial":  {file().head(1).block(1, 0, 0).u(2, 1).u(1, 255).u(9, 0), short, "255 are needed"},
		"rank":         {file().head(1).block(1, 1, 0).u(7, 0), corrupt, "needs 1 columns of 0"},
		"columns":      {file().head(0).u(1, 255).u(9, 0), short, "255 elements"},
		"column":       {file().head(0).u(1, 1).u(4, 1<<32-1).u(9, 0), short, "34359738360 are needed"},
		"exact":        {file().head(0).u(1, 0).u(4, 1).u(7, 0), short, "exact matrix at byte"},
		"more bytes":   {file().head(0).u(1, 0).u(4, 0).u(3, 0), corrupt, "3 more bytes"},
	} {
		f, err := clubcard.Read(c.w.out)
		var at *container.FormatError
		if f != nil || !errors.As(err, &at) || !strings.Contains(err.Error(), c.err) ||
			!strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q and %q", name, err, c.err, c.text)
		}
	}
}

// TestTruncated checks that every truncated file is refused.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"cache/base.clubcard", "cache/delta.clubcard"} {
		data := read(t, name)
		for n := range data {
			if _, err := clubcard.Read(data[:n:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: %d of %d bytes: %v", name, n, len(data), err)
			}
		}
	}
	index := read(t, "cache/index.bin")
	for n := range index {
		if x, err := clubcard.ReadIndex(index[:n:n]); err == nil || x != nil {
			t.Fatalf("index: %d of %d bytes are an index", n, len(index))
		}
	}
}

// TestFlipped checks that a file with a flipped byte or bit is refused or can be queried. No checksum protects its
// content.
func TestFlipped(t *testing.T) {
	data := read(t, "cache/base.clubcard")
	u, refused := baseUniverse(), 0
	for i := range data {
		for _, flip := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			data[i] ^= flip
			if f, err := clubcard.Read(data); err != nil {
				refused++
			} else {
				for _, serial := range u.issuers[0].revoked {
					ask(f, u.issuers[0].hash, serial, logA, someTime)
				}
				f.Info()
			}
			data[i] ^= flip
		}
	}
	if refused == 0 || refused == 9*len(data) {
		t.Errorf("%d of %d refused", refused, 9*len(data))
	}
	compare(t, u, open(t, data))
}

// TestAllocated checks that memory is bounded by the bytes read, not by the numbers that a file states. Read allocates
// at most twice the length of the file plus 8 KiB, and ReadIndex four times.
func TestAllocated(t *testing.T) {
	many := (&writer{}).head(1 << 12)
	for i := range uint32(1 << 12) {
		many.block(i, 0, 0).u(2, 0)
	}
	logs := (&writer{}).u(2, 1024).u(2, 1<<16-1)
	for i := range uint32(1<<16 - 1) {
		logs.u(32, i).u(16, 0)
	}
	columns := (&writer{}).head(0).u(1, 255).u(255*4+4, 0)
	index := (&writer{}).u(0, 0)
	index.out = append(index.out, "upkiidx1"...)
	index.u(2, 0).u(4, 1<<15)
	for i := range uint32(1 << 15) {
		index.u(32, i).u(4, 0).u(4, 14+42<<15).u(2, 0)
	}
	for name, c := range map[string]struct {
		w    *writer
		most uint64
		ok   bool
	}{
		"issuers": {many.u(5, 0), 2, true}, "logs": {logs.u(9, 0), 2, true}, "columns": {columns, 2, true},
		"index": {index, 4, true}, "claims": {(&writer{}).head(1<<32-1).u(4096, 0), 1, false},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := clubcard.Read(c.w.out)
		if name == "index" {
			_, err = clubcard.ReadIndex(c.w.out)
		}
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		if bound := c.most*uint64(len(c.w.out)) + 8192; (err == nil) != c.ok || used > bound {
			t.Errorf("%s: %v, %d bytes for %d, want at most %d", name, err, used, len(c.w.out), bound)
		}
	}
}

// FuzzRead checks that arbitrary bytes are refused, or are a filter or an index that can be queried.
func FuzzRead(f *testing.F) {
	seeds := [][]byte{read(f, "cache/base.clubcard"), read(f, "cache/delta.clubcard"), read(f, "cache/index.bin"),
		(&writer{}).head(1).block(1, 0, 1).u(2, 1).u(1, 1).u(1, 7).u(5, 0).out}
	for _, s := range seeds {
		_, err := clubcard.Read(s)
		if _, ierr := clubcard.ReadIndex(s); err != nil && ierr != nil {
			f.Fatalf("a seed is neither a Clubcard nor an index: %v, %v", err, ierr)
		}
		f.Add(s)
	}
	if len(seeds) != 4 {
		f.Fatalf("%d seeds", len(seeds))
	}
	u := baseUniverse()
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := clubcard.Read(b); err == nil {
			c.Info()
			for _, l := range c.Coverage() {
				ask(c, u.issuers[0].hash, u.issuers[0].revoked[0], l.Log, l.First)
			}
			ask(c, [32]byte{31: 1}, "\x07", [32]byte{31: 1}, 5)
		}
		if x, err := clubcard.ReadIndex(b); err == nil {
			x.Covering(clubcard.SCT{Log: logA, Timestamp: someTime}, clubcard.SCT{})
		}
	})
}
