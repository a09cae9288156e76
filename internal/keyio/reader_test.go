package keyio

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestOpenReader reads a reader once, with its name in errors, and with Plain as it is.
func TestOpenReader(t *testing.T) {
	const text = bom + "a\nb"
	for _, tt := range []struct {
		text  string
		plain bool
		want  []string
	}{
		{text, false, []string{"a", "b"}},
		{text, true, []string{bom + "a", "b"}},
		{"\x1f\x8b\x08x\ny", true, []string{"\x1f\x8b\x08x", "y"}},
		{"PK\x03\x04\n", true, []string{"PK\x03\x04"}},
		{"", true, nil},
	} {
		in, err := OpenReader("part", strings.NewReader(tt.text), Options{Plain: tt.plain})
		if err != nil {
			t.Fatal(err)
		}
		got, err := keysOf(t, in)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q, plain %v: %q, %v", tt.text, tt.plain, got, err)
		}
		if _, err := keysOf(t, in); !errors.Is(err, ErrNotRewindable) {
			t.Errorf("a second pass: %v", err)
		}
	}
	in, err := OpenReader("part", strings.NewReader("a\nbcd"), Options{MaxKey: 2})
	if err == nil {
		_, err = keysOf(t, in)
	}
	wantError(t, err, "part:2:")
	if _, err := OpenReader("part", nil, Options{Format: "xml"}); err == nil {
		t.Error("no error for a format that does not exist")
	}
}

func TestCompressed(t *testing.T) {
	for head, want := range map[string]bool{
		"": false, "a": false, "\x1f\x8b": false, "\x1f\x8b\x08": true, "\x28\xb5\x2f\xfdxyz": true, "BZh91AY&SY": true,
		"BZh9": false, bom: false, "PK\x03\x04": false, strings.Repeat("k", HeadSize): false,
	} {
		if got := Compressed([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
	for _, s := range signatures {
		if len(s.magic) > HeadSize {
			t.Errorf("HeadSize is %d, and a signature has %d bytes", HeadSize, len(s.magic))
		}
	}
}
