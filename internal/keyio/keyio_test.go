package keyio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write writes content to a new file and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens files with the given contents, with blocks of about block bytes.
func open(t testing.TB, o Options, block int, contents ...string) *Input {
	t.Helper()
	var paths []string
	for i, c := range contents {
		paths = append(paths, write(t, fmt.Sprintf("in%d", i), c))
	}
	in, err := Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	in.set.BlockSize = block
	return in
}

// keysOf returns the keys of a Process pass, in order, and checks that Count agrees with it.
func keysOf(t testing.TB, in *Input) ([]string, error) {
	t.Helper()
	keys := []string{}
	err := in.Process(t.Context(), 3, nil, func(b *Batch) error {
		for _, k := range b.Keys {
			keys = append(keys, string(k))
		}
		return nil
	})
	if !in.Rewindable() {
		return keys, err
	}
	n, countErr := in.Count(t.Context())
	if fmt.Sprint(countErr) != fmt.Sprint(err) {
		t.Errorf("Count: %v, Process: %v", countErr, err)
	}
	if err == nil && n != uint64(len(keys)) {
		t.Errorf("Count = %d, but Process found %d keys", n, len(keys))
	}
	return keys, err
}

// keysCase is an input of some files, and its keys.
type keysCase struct {
	name  string
	o     Options
	files []string
	want  []string
}

// checkKeys reads inputs in blocks of any size.
func checkKeys(t *testing.T, format Format, cases []keysCase) {
	t.Helper()
	for _, tt := range cases {
		tt.o.Format = format
		for _, block := range []int{1, 2, 3, 7, blockSize} {
			got, err := keysOf(t, open(t, tt.o, block, tt.files...))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, blocks of %d: %q, %v; want %q", tt.name, block, got, err, tt.want)
			}
		}
	}
}

// errorCase is an input that cannot be read, and the text of its error.
type errorCase struct {
	name string
	o    Options
	text string
	says []string
}

// checkErrors reads bad inputs. The error must name the input.
func checkErrors(t *testing.T, format Format, cases []errorCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Format = format
			in := open(t, tt.o, blockSize, tt.text)
			_, err := keysOf(t, in)
			wantError(t, err, append(tt.says, in.sources[0].path)...)
		})
	}
}

// plainKeys is a simple implementation of Lines and Null. It returns the keys of one input whose lines end with end, or
// the number of the line of a key longer than maxKey.
func plainKeys(content, end string, keepEmpty bool, maxKey int) (keys []string, tooLong int64) {
	keys = []string{}
	lines := strings.Split(content, end)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		if end == "\n" {
			line = strings.TrimSuffix(line, "\r")
		}
		if len(line) > maxKey {
			return nil, int64(i + 1)
		}
		if line != "" || keepEmpty {
			keys = append(keys, line)
		}
	}
	return keys, 0
}

// randomText returns n bytes, many of them line ends, with some long lines.
func randomText(rng *rand.Rand, n int) string {
	const alphabet = "ab\r\n\n\x01"
	var b strings.Builder
	for b.Len() < n {
		if rng.IntN(20) == 0 {
			b.WriteString(strings.Repeat("x", rng.IntN(40)))
		}
		b.WriteByte(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

func gzipped(t testing.TB, parts ...string) string {
	t.Helper()
	var buf bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&buf)
		if _, err := io.WriteString(w, p); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return buf.String()
}

func zstded(t testing.TB, parts ...string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out []byte
	for _, p := range parts {
		out = w.EncodeAll([]byte(p), out)
	}
	return string(out)
}

func tooLong(err error) int64 {
	var e *KeyTooLongError
	if errors.As(err, &e) {
		return e.Line
	}
	return 0
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// lineReader returns n lines, one per Read, and then err. If n is negative, it never ends.
type lineReader struct {
	n    int
	err  error
	read atomic.Int64 // lines so far; a pump may continue to read for a moment after its pass
}

func (r *lineReader) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, r.err
	}
	r.n--
	r.read.Add(1)
	return copy(p, "0123456789\n"), nil
}

func count(in *Input) (uint64, error) { return in.Count(context.Background()) }
