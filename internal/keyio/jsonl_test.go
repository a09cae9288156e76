package keyio

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/strictjson"
)

func TestJSONL(t *testing.T) {
	id, user := Options{Column: "id"}, Options{Column: "user.id"}
	checkKeys(t, JSONL, []keysCase{
		{"texts", id, []string{`{"id":"a"}` + "\n" + ` { "x" : [{}] , "id" : "b c" } ` + "\r\n" + `{"id":"d"}`},
			[]string{"a", "b c", "d"}},
		{"numbers as written", id, []string{`{"id":1}{}`[:8] + "\n" + `{"id":1.50e+3}` + "\n" + `{"id":-0}` + "\n" +
			`{"id":12345678901234567890123}`}, []string{"1", "1.50e+3", "-0", "12345678901234567890123"}},
		{"true and false", id, []string{`{"id":true}` + "\n" + `{"id":false}`}, []string{"true", "false"}},
		{"escapes", id, []string{`{"id":"\"\\\/\b\f\n\r\tA\u00fc\ud83d\ude00\u0000"}` + "\n" + `{"\u0069d":"ü"}`},
			[]string{"\"\\/\b\f\n\r\tAü😀\x00", "ü"}},
		{"path", user, []string{`{"id":0,"user":{"x":{"id":1},"id":"a"}}` + "\n" + `{"user":{"id":"b","y":[]},"z":{}}`},
			[]string{"a", "b"}},
		{"keyless", user, []string{`{}` + "\n" + `{"user":null}` + "\n" + `{"user":{}}` + "\n" + `{"user":{"id":null}}` +
			"\n" + `{"user":{"id":[]}}` + "\n" + `{"user.id":"x","id":"y"}` + "\n" + `{"user":{"id":"a"}}`}, []string{"a"}},
		{"the last of two members", user, []string{`{"user":{"id":1},"user":{"id":2,"id":3}}` + "\n" +
			`{"user":{"id":1},"user":{}}` + "\n" + `{"user":{"id":1},"user":null}` + "\n" + `{"user":7,"user":{"id":4}}`},
			[]string{"3", "4"}},
		{"arrays", id, []string{`{"id":["a", 1,"\u0062",true ]}` + "\n" + `{"id":[]}` + "\n" + `{"id":["c"]}`},
			[]string{"a", "1", "b", "true", "c"}},
		{"dots in names", Options{Column: `log\.level.a\\.\b`}, []string{`{"log.level":{"a\\":{"\\b":"x"}},"log":1}`},
			[]string{"x"}},
		{"blank rows", id, []string{"\n \t\r\n" + `{"id":1}` + "\n\n\n", "", " "}, []string{"1"}},
		{"empties skipped", id, []string{`{"id":""}` + "\n" + `{"id":["","a"]}`}, []string{"a"}},
		{"empties kept", Options{Column: "id", KeepEmpty: true}, []string{`{"id":""}` + "\n" + `{"id":null}` + "\n" +
			`{"id":["","a"]}`}, []string{"", "", "a"}},
		{"BOM", id, []string{bom + `{"id":"a"}`}, []string{"a"}},
		{"invalid UTF-8 elsewhere", id, []string{"{\"id\":\"a\",\"\xff\":\"\xff\",\"x\":\"\\ud83d\"}"}, []string{"a"}},
		{"depth", id, []string{`{"x":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `,"id":1}`},
			[]string{"1"}},
		{"long rows", id, []string{`{"x":"` + strings.Repeat("y", 1<<20) + `","id":1}` + "\n" + `{"id":2}`},
			[]string{"1", "2"}},
	})
}

func TestJSONLErrors(t *testing.T) {
	id, user := Options{Column: "id"}, Options{Column: "user.id", Second: "at"}
	checkErrors(t, JSONL, []errorCase{
		{"no JSON", id, `{"id":1}` + "\nid=1\n", []string{":2: byte 1:", "invalid character 'i'", "an object per line"}},
		{"behind the key", id, `{"id":1,}`, []string{":1: byte 8:"}},
		{"truncated", id, `{"id":1,"x":"y`, []string{":1: byte 15:", "ends within the JSON object"}},
		{"printed in lines", id, "{\n  \"id\": 1\n}\n", []string{":1: byte 2:", "jq -c"}},
		{"two objects", id, `{"id":1}{"id":2}`, []string{":1: there is more behind"}},
		{"comma", id, `{"id":1},`, []string{":1: byte 9:"}},
		{"no object", id, `["id"]`, []string{":1: the row is not a JSON object"}},
		{"leading zero", id, `{"id":01}`, []string{":1: byte 8:"}},
		{"NaN", id, `{"id":1,"x":NaN}`, []string{":1: byte 13:"}},
		{"control character", id, "{\"id\":\"\x01\"}", []string{":1: byte 8:"}},
		{"NUL byte", id, "{\"id\":\"a\"}\x00", []string{":1: byte 11:"}},
		{"name without quotes", id, `{id:1}`, []string{":1: byte 2:"}},
		{"name is no text", id, `{{}:1}`, []string{":1: byte 2:"}},
		{"too deep", id, `{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `,"id":1}`,
			[]string{":1: byte 10005:", "depth"}},
		{"object", id, `{"id":{}}`, []string{":1: id is an object: want a string or a number"}},
		{"object in an array", id, `{"id":["a",{}]}`, []string{":1: a value in id is an object"}},
		{"null in an array", id, `{"id":[null]}`, []string{":1: a value in id is null"}},
		{"a text on the path", user, `{"user":"x"}`, []string{":1: no user.id: a string is in the place of an object"}},
		{"an array on the path", user, `{"user":[{"id":1}]}`, []string{":1: no user.id: an array is in the place"}},
		{"half a pair", id, `{"id":"\ud83d"}`, []string{":1: id is not valid UTF-8, or has half"}},
		{"invalid UTF-8", id, "{\"id\":\"\xff\"}", []string{":1: id is not valid UTF-8"}},
		{"invalid UTF-8 and escapes", id, "{\"id\":\"\xff\\n\"}", []string{":1: id is not valid UTF-8"}},
		{"no second", user, `{"user":{}}` + "\n" + `{"user":{"id":1}}`, []string{":2: no at"}},
		{"second is null", user, `{"user":{"id":1},"at":null}`, []string{":1: at is null"}},
		{"one key", Options{Column: "id", OneKey: true}, `{"id":1}` + "\n" + `{"id":["a"]}`,
			[]string{":2: id is an array: want one key per row"}},
		{"long key", Options{Column: "id", MaxKey: 3}, `{"id":"abc"}` + "\n" + `{"id":["a","abcd"]}`,
			[]string{":2:", "longer than 3"}},
		{"endless row", id, `{"id":1}` + "\n" + strings.Repeat("[", 4<<20), []string{":2:", "row is longer", "is its format jsonl?"}},
		{"UTF-16", id, "{\x00\"\x00i\x00d\x00\"\x00:\x001\x00}\x00\n\x00", []string{"UTF-16"}},
	})
	for _, o := range []Options{
		{}, {Column: ".id"}, {Column: "id."}, {Column: "a..b"}, {Column: "id", Header: true},
		{Column: "id", Delimiter: ';'}, {Column: "id", Second: "."},
	} {
		o.Format = JSONL
		if _, err := Open(nil, o); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestJSONLRows checks the rows, line numbers and second fields of keys, and the number of rows without a key.
func TestJSONLRows(t *testing.T) {
	text := `{"t":1}` + "\n\n" + `{"id":"a","t":1.5}` + "\r\n" + `{"id":["b","","\u0063"], "t":"x"}` + "\n" +
		`{"id":null}` + "\n" + `{"t":true,"id":"d"}`
	want := []string{
		"3 a 1.5 {\"id\":\"a\",\"t\":1.5}\r\n", "4 b x {\"id\":[\"b\",\"\",\"\\u0063\"], \"t\":\"x\"}\n",
		"4 c x {\"id\":[\"b\",\"\",\"\\u0063\"], \"t\":\"x\"}\n", "6 d true {\"t\":true,\"id\":\"d\"}\n",
	}
	for _, block := range []int{1, 3, 30, blockSize} {
		in := open(t, Options{Format: JSONL, Column: "id", Second: "t", Rows: true, LineNumbers: true}, block, text)
		for range 2 { // the second pass counts anew
			var got []string
			err := in.Process(t.Context(), 2, nil, func(b *Batch) error {
				if b.Line != b.LineNumbers[0] {
					t.Errorf("line %d, %d", b.Line, b.LineNumbers[0])
				}
				for i, key := range b.Keys {
					got = append(got, fmt.Sprintf("%d %s %s %s", b.LineNumbers[i], key, b.Second[i], b.Rows[i]))
				}
				return nil
			})
			rows, first := in.Keyless()
			if err != nil || !slices.Equal(got, want) || rows != 2 {
				t.Errorf("blocks of %d: %q, %v, %d rows without a key; want %q", block, got, err, rows, want)
			}
			wantError(t, first, ":1: no id")
		}
	}
}

// expectedKeys returns the keys of a row by encoding/json, and whether the row is good.
func expectedKeys(row string, path ...string) (keys []string, ok bool) {
	var members map[string]json.RawMessage
	if strings.Trim(row, " \t\r") == "" {
		return nil, true
	}
	if row = strings.Trim(row, " \t\r"); row[0] != '{' || json.Unmarshal([]byte(row), &members) != nil {
		return nil, false
	}
	value := members[path[0]]
	switch {
	case value == nil || value[0] == 'n':
		return nil, true
	case len(path) > 1:
		return expectedKeys(string(value), path[1:]...)
	case value[0] == '[':
		var values []json.RawMessage
		if json.Unmarshal(value, &values) != nil {
			return nil, false
		}
		for _, value := range values {
			key, ok := expectedText(value)
			if !ok {
				return nil, false
			}
			keys = append(keys, key)
		}
		return keys, true
	}
	key, ok := expectedText(value)
	if !ok {
		return nil, false
	}
	return []string{key}, true
}

func expectedText(value json.RawMessage) (string, bool) {
	switch value[0] {
	case '"':
		var text struct {
			T string `json:"t"`
		}
		err := strictjson.Unmarshal(slices.Concat([]byte(`{"t":`), value, []byte{'}'}), &text)
		return text.T, err == nil
	case '{', '[', 'n':
		return "", false
	}
	return string(value), true
}

// compareJSONL compares the keys of a text with those of encoding/json. The bad rows must be the same.
func compareJSONL(t *testing.T, text string, block int) {
	for _, path := range [][]string{{"id"}, {"a", "b"}} {
		want, bad, keyless := []string{}, int64(0), int64(0)
		for row := range strings.SplitSeq(text, "\n") {
			keys, ok := expectedKeys(row, path...)
			if want = append(want, keys...); !ok {
				bad++
			} else if keys == nil && strings.Trim(row, " \t\r") != "" {
				keyless++
			}
		}
		o := Options{Format: JSONL, Column: strings.Join(path, "."), KeepEmpty: true, BadRows: Skip, Plain: true}
		in, err := OpenReader("in", strings.NewReader(text), o)
		if err != nil {
			t.Fatal(err)
		}
		in.set.BlockSize = block
		got, err := keysOf(t, in)
		if errors.As(err, new(*UnsupportedError)) {
			return
		}
		rows, _ := in.Bad()
		without, _ := in.Keyless()
		if err != nil || !slices.Equal(got, want) || rows != bad || without != keyless {
			t.Fatalf("%q, %s: %q, %d bad rows, %d without a key, %v; want %q, %d, %d", text, o.Column, got, rows, without, err,
				want, bad, keyless)
		}
	}
}

// jsonParts are parts of rows, most of which make no valid row.
var jsonParts = []string{
	`{`, `}`, `[`, `]`, `,`, `:`, `"id"`, `"a"`, `"b"`, `"id":`, `"a":{`, `"b":`, `null`, `true`, `1`, `-0.5E+7`, `01`,
	`"`, `\u0069d`, `\ud83d`, `\ude00`, `\n`, "\xff", "\xc3\xbc", "\n", " ", "\r", "\t", "\x00", `{"id":"`, `{"a":{"b":`,
	`"}`, `{"id":["x",2]}`, `}}`, `{"id":1}`, `{"a":{"b":"y"}}` + "\n",
}

// TestJSONLRandom compares rows of random parts, and rows of random values of which some bytes are replaced.
func TestJSONLRandom(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, seed))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := rng.IntN(8); {
		case n == 0:
			return nil
		case n == 1:
			return rng.NormFloat64()
		case n == 2 && depth > 0:
			return []any{value(depth - 1), value(0), value(0)}[:rng.IntN(4)]
		case n < 5 && depth > 0:
			return map[string]any{"a": value(depth - 1), "b": value(depth - 1), "id": value(depth - 1)}
		}
		return randomText(rng, rng.IntN(9)) + string(rune(rng.IntN(utf8.MaxRune)))
	}
	for i := range 20_000 {
		var text strings.Builder
		for range rng.IntN(12) {
			if i%2 == 0 {
				text.WriteString(jsonParts[rng.IntN(len(jsonParts))])
				continue
			}
			row, err := json.Marshal(map[string]any{"id": value(2), "a": value(3), "": value(1)})
			if err != nil {
				t.Fatal(err)
			}
			if rng.IntN(4) == 0 {
				row[rng.IntN(len(row))] = byte(rng.IntN(256))
			}
			text.Write(append(row, '\n'))
		}
		compareJSONL(t, text.String(), 1+rng.IntN(300))
	}
}

// FuzzJSONL compares any text with encoding/json.
func FuzzJSONL(f *testing.F) {
	f.Add(strings.Join(jsonParts, ""))
	for _, part := range jsonParts {
		f.Add(part)
		f.Add(`{"id":"x","a":{"b":` + part + "}}\n" + `{"id":` + part + `}`)
	}
	f.Fuzz(func(t *testing.T, text string) { compareJSONL(t, text, 1+len(text)%50) })
}

func BenchmarkJSONL(b *testing.B) {
	row := `{"ts":"2026-11-29T00:00:00.000Z","level":"info","id":"6d3ccc6a460f3977-0002265b","user":{"id":140891,` +
		`"name":"Ann \u00dc 140891","roles":["admin","dev"]},"msg":"request \"0\" served\n","path":"/search",` +
		`"status":200,"ms":84.743,"ok":true,"ref":null,"agent":"Mozilla/5.0 (X11; Linux x86_64)"}` + "\n"
	text := strings.Repeat(row, 100_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		in, err := OpenReader("in", strings.NewReader(text), Options{Format: JSONL, Column: "id"})
		if err != nil {
			b.Fatal(err)
		}
		if n, err := count(in); n != 100_000 || err != nil {
			b.Fatal(n, err)
		}
	}
}
