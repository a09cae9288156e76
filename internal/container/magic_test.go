package container

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestShortForeign: input shorter than a header is filter.ErrMagic if it does not begin with the magic, else cut short.
func TestShortForeign(t *testing.T) {
	const magic = "\x89BLMRY\r\n"
	for text, want := range map[string]error{
		"":                                       io.ErrUnexpectedEOF,
		"\x89":                                   io.ErrUnexpectedEOF,
		magic:                                    io.ErrUnexpectedEOF,
		magic + strings.Repeat("\x00", 55):       io.ErrUnexpectedEOF,
		"a":                                      filter.ErrMagic,
		"\x89a":                                  filter.ErrMagic,
		magic[:7] + "\r":                         filter.ErrMagic,
		"example.com\n":                          filter.ErrMagic,
		strings.Repeat("a line of keys\n", 4):    filter.ErrMagic, // 60 bytes
		strings.Repeat("a line of keys\n", 1000): filter.ErrMagic,
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(strings.NewReader(text), Options{})
		_, inMemory := ReadFile(path, Options{})
		_, _, mapped := Map(path, Options{})
		for how, err := range map[string]error{"Read": err, "ReadFile": inMemory, "Open": mapped} {
			if !errors.Is(err, want) {
				t.Errorf("%s of %.20q: %v, want %v", how, text, err, want)
			}
		}
	}
	// An error of the reader counts, unless what came already shows another format.
	broken := errors.New("broken")
	for text, want := range map[string]error{"": broken, "\x89BL": broken, "abc": filter.ErrMagic} {
		r := io.MultiReader(strings.NewReader(text), failing{broken})
		if _, err := Read(r, Options{}); !errors.Is(err, want) {
			t.Errorf("%q and a broken reader: %v, want %v", text, err, want)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
