package strictjson

import (
	"bytes"
	"encoding/json"
)

// The functions of this file take apart a text that is valid JSON already.

const space = " \t\r\n"

// nextField returns the first field of the rest of an object behind its brace, and what follows the field. The value is
// nil at the end of the object.
func nextField(b []byte) (name, value, rest []byte) {
	quoted, rest := next(b)
	if quoted == nil {
		return nil, nil, nil
	}
	name = quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		var plain string
		_ = json.Unmarshal(quoted, &plain) // it is valid
		name = []byte(plain)
	}
	value, rest = next(bytes.TrimLeft(rest, space+":"))
	return name, value, rest
}

// next returns the first value of the rest of a list or an object, and what follows it. The value is nil at the end of
// the list or the object.
func next(b []byte) (value, rest []byte) {
	b = bytes.TrimLeft(b, space+",")
	if b[0] == ']' || b[0] == '}' {
		return nil, nil
	}
	end := valueEnd(b)
	return b[:end], b[end:]
}

// valueEnd returns the length of the value at the start of b.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				if end := bytes.IndexAny(b[i:], ",:]}"+space); end >= 0 { // a number or a word
					return i + end
				}
				return len(b)
			}
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}

// stringEnd returns the length of the JSON string at the start of b, with its quotes.
func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++ // what is escaped does not end the string
		case '"':
			return i + 1
		}
	}
}
