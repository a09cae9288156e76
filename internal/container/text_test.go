package container

import (
	"errors"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestDecodeText decodes texts with and without line breaks, damaged ones, and texts beyond the limit.
func TestDecodeText(t *testing.T) {
	for text, want := range map[string]error{
		"": nil, "c2V0cw==": nil, "c2V0cw==\n": filter.ErrTooLarge, "c2V0\r\n": nil, "c2V0cyE=": filter.ErrTooLarge,
		"c2V0c": filter.ErrCorrupt, "c2V0cx==": filter.ErrCorrupt, "a set": filter.ErrCorrupt,
		"not base64 at all": filter.ErrTooLarge, // refused by its length, so it was not decoded
	} {
		most := 4
		if text == "c2V0cyE=" {
			most = 3
		}
		b, err := DecodeText([]byte(text), most)
		if !errors.Is(err, want) || (err == nil) != (want == nil) || len(b) > most {
			t.Errorf("%q: %q, %v; want %v", text, b, err, want)
		}
	}
}
