package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bloomery/bloomery/internal/strictjson"
)

type head struct {
	Format  string `json:"format"`
	Version uint64 `json:"version"`
}

type part struct {
	Size int64  `json:"size"`
	Text string `json:"text,omitempty"`
}

type body struct {
	part
	Parts []part               `json:"parts"`
	Inner struct{ List []int } `json:"-"`
	Deep  *deep                `json:"deep,omitempty"`
	Map   *named               `json:"map,omitempty"`
	Rate  float64              `json:"rate"`
	At    time.Time            `json:"at"`
	Seed  uint64               `json:"seed,string"`
	On    bool                 `json:"on,omitempty"`

	limit int
}

type named struct {
	A part `json:"a"`
}

type deep struct {
	Numbers []int `json:"numbers"`
	Down    *deep `json:"down,omitempty"`
}

func (b *body) MaxItems(list string) int { return max(b.limit, 3) }

const good = `{"format":"f","version":1,"size":-5,"text":"\u00fc <&> \ud83d\ude00","parts":[{"size":1},{"size":2,"text":"x"}],` +
	`"deep":{"numbers":[],"down":{"numbers":[1,2]}},"map":{"a":{"size":3}},"rate":1e-7,` +
	`"at":"2026-11-22T15:00:00Z","seed":"18446744073709551615","on":true}`

func read(text string) (h head, b body, err error) {
	err = strictjson.Unmarshal([]byte(text), &h, &b)
	return h, b, err
}

// TestGood checks that the result is equal to the result of encoding/json, with any white space and any order.
func TestGood(t *testing.T) {
	var want body
	if err := json.Unmarshal([]byte(good), &want); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(good), "\t", "  "); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(good, `,"parts"`)
	other := strings.TrimSuffix(`{"parts"`+rest, "}") + "," + first[1:] + "}\r\n "
	for _, text := range []string{good, indented.String(), other} {
		h, b, err := read(text)
		if err != nil || h != (head{"f", 1}) || !reflect.DeepEqual(b, want) {
			t.Errorf("%s: %v\n%+v\n%+v", text, err, b, want)
		}
	}
}

// TestRefused checks that each error names its field.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ old, new, field, want string }{
		{`"on"`, `"new":[{"a":{}}],"on"`, "new", "unknown"},
		{`{"size":1}`, `{"size":1,"new":{"size":"}]"}}`, "parts[0].new", "unknown"},
		{`"size":2`, `"Size":2`, "parts[1].Size", "unknown"},
		{`"version"`, `"VERSION"`, "VERSION", "unknown"},
		{`"size":3`, `"size":3,"size":3`, "map.a.size", "twice"},
		{`"size":3`, `"size":3,"siz\u0065":3`, "map.a.size", "twice"},
		{`{"a":`, `{"a":{"size":1},"a":`, "map.a", "twice"},
		{`"rate"`, `"rate":0,"rate"`, "rate", "twice"},
		{`"format":"f",`, ``, "format", "missing"},
		{`"numbers":[1,2]`, ``, "deep.down.numbers", "missing"},
		{`"size":-5`, `"size":null`, "size", "null"},
		{`"parts":[{"size":1},{"size":2,"text":"x"}]`, `"parts":null`, "parts", "null"},
		{`{"size":1}`, `null`, "parts[0]", "null"},
		{`"deep":{`, `"deep":null,"x":{`, "deep", "null"},
		{`"18446744073709551615"`, `null`, "seed", "null"},
		{`"on":true`, `"on":false`, "on", "canonical"},
		{`"text":"x"`, `"text":""`, "parts[1].text", "canonical"},
		{`1e-7`, `1E-7`, "rate", "canonical"},
		{`1e-7`, `1e-07`, "rate", "canonical"},
		{`1e-7`, `0.10`, "rate", "canonical"},
		{`1e-7`, `1e999`, "rate", "want float64"},
		{`1e-7`, `"1"`, "rate", "want float64"},
		{`-5`, `-0`, "size", "canonical"},
		{`-5`, `5.0`, "size", "want int64"},
		{`-5`, `5e0`, "size", "want int64"},
		{`-5`, `9223372036854775808`, "size", "want int64"},
		{`"18446744073709551615"`, `"007"`, "seed", "canonical"},
		{`"18446744073709551615"`, `"+7"`, "seed", "want uint64"},
		{`"18446744073709551615"`, `""`, "seed", "want uint64"},
		{`"18446744073709551615"`, `7`, "seed", "number as text"},
		{`"on":true`, `"on":1`, "on", "canonical"},
		{`T15:00:00Z`, `T15:00:00+00:00`, "at", ""},
		{`T15:00:00Z`, `T15:00:00.50Z`, "at", "canonical"},
		{`\ud83d`, `\ud83d\ud83d`, "text", "UTF-8"},
		{`\ude00`, ``, "text", "UTF-8"},
		{`<`, "\xff", "text", "UTF-8"},
		{`"text":"x"`, `"text":7`, "parts[1].text", "want text"},
		{`{"a":{"size":3}}`, `[]`, "map", "object"},
		{`"parts":[`, `"parts":{},"x":[`, "parts", "want a list"},
		{`"numbers":[1,2]`, `"numbers":7`, "deep.down.numbers", "want a list"},
		{`"parts":[`, `"parts":[{"size":7},{"size":7},`, "parts", "more than 3"},
		{`"on":true}`, `"on":true} {}`, "", "after its end"},
		{`"on":true}`, `"on":true`, "", "EOF"},
		{`"on":true}`, `"on":true]`, "", "invalid character"},
		{good, `[]`, "", "want an object"},
		{good, ``, "", "EOF"},
		{`"numbers":[1,2]`, `"numbers":[` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `]`, "", "depth"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("%s is not in the text", c.old)
		}
		_, _, err := read(bad)
		var e *strictjson.Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s to %.60s: error %v; want one of field %q with %q", c.old, c.new, err, c.field, c.want)
		}
	}
	for n := range good {
		if _, _, err := read(good[:n]); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
}

// TestNewer checks that the version is read even after unknown fields.
func TestNewer(t *testing.T) {
	text := strings.Replace(good, `"version":1,`, `"new":[],"size":"5",`, 1)
	text = strings.Replace(text, `"on":true`, `"version":2`, 1)
	if h, _, err := read(text); err == nil || h.Version != 2 {
		t.Errorf("version %d, %v", h.Version, err)
	}
}

// TestReaderError checks that an error of the reader is not reported as an error of the text.
func TestReaderError(t *testing.T) {
	cause := errors.New("cause")
	for n := range good {
		var h head
		var b body
		r := io.MultiReader(strings.NewReader(good[:n]), iotest.ErrReader(cause))
		if err := strictjson.Decode(r, &h, &b); err != cause {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

// FuzzUnmarshal checks that encoding/json reads every accepted text with the same result, and that the canonical form
// is accepted.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.ReplaceAll(good, ",", " ,\n")))
	f.Fuzz(func(t *testing.T, text []byte) {
		var h head
		got := body{limit: 1000}
		if strictjson.Unmarshal(text, &h, &got) != nil {
			return
		}
		want := struct {
			head
			body
		}{body: body{limit: 1000}}
		if err := json.Unmarshal(text, &want); err != nil || h != want.head || !reflect.DeepEqual(got, want.body) {
			t.Fatalf("%v: %+v, %+v", err, got, want)
		}
		again, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		second := body{limit: 1000}
		if err := strictjson.Unmarshal(again, &h, &second); err != nil || !reflect.DeepEqual(got, second) {
			t.Fatalf("%s: %v, %+v, %+v", again, err, got, second)
		}
	})
}
