package keyio

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// blanks are the bytes that Trim cuts off and that separate Fields: the ASCII characters that C's isspace accepts. Only
// ASCII counts, in blanks as in Lower, so that every language prepares keys in the same way.
const blanks = " \t\n\v\f\r"

// Prepare returns a key without the ASCII blanks around it, if trim is set, and with a to z in place of A to Z, if
// lower is set. It does not change the bytes of key.
func Prepare(key []byte, trim, lower bool) []byte {
	key, _ = appendPrepared(nil, key, trim, lower)
	return key
}

// appendPrepared is Prepare that appends a key that differs from every part of key to buffer.
func appendPrepared(buffer, key []byte, trim, lower bool) (prepared, _ []byte) {
	if trim {
		key = bytes.Trim(key, blanks)
	}
	if !lower || !hasUpper(key) {
		return key, buffer
	}

	start := len(buffer)
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buffer = append(buffer, c)
	}
	return buffer[start:], buffer
}

// hasUpper lets keys in lower case, the most frequent ones, stay where they are.
func hasUpper(key []byte) bool {
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}

// cutComment returns a row without the comment at its end, and whether the whole row is a comment. In Fields, it also
// cuts off the blanks around the row.
func (s *settings) cutComment(row []byte) (_ []byte, whole bool) {
	if s.Format == Fields && s.separator == 0 {
		row = bytes.Trim(row, blanks)
	}
	if s.Comments == "" {
		return row, false
	}
	if bytes.HasPrefix(bytes.TrimLeft(row, blanks), []byte(s.Comments)) {
		return nil, true
	}
	if s.Format == TSV || s.Format == JSONL { // their fields may be text
		return row, false
	}

	for at := 0; ; at++ {
		next := bytes.Index(row[at:], []byte(s.Comments))
		if next < 0 {
			return row, false
		}
		if at += next; strings.IndexByte(blanks, row[at-1]) >= 0 { // at > 0: the row does not begin with the string
			return bytes.TrimRight(row[:at], blanks), false
		}
	}
}

// cutField returns the first field of a row of TSV or Fields, and the rest of the row, if more fields follow. The row
// has no blanks around it, if blanks separate its fields.
func (s *settings) cutField(row []byte) (field, rest []byte, more bool) {
	if s.separator != 0 {
		return bytes.Cut(row, []byte{s.separator})
	}
	at := bytes.IndexAny(row, blanks)
	if at < 0 {
		return row, nil, false
	}
	return row[:at], bytes.TrimLeft(row[at:], blanks), true
}

// namesOf returns the fields of a header row.
func (s *settings) namesOf(row []byte) (names []string) {
	for more := true; more; {
		var name []byte
		name, row, more = s.cutField(row)
		names = append(names, string(name))
	}
	return names
}

// checkComments returns an error if no line can begin with Options.Comments.
func (s *settings) checkComments() error {
	c, size := utf8.DecodeRuneInString(s.Comments)
	switch {
	case s.Comments == "":
	case strings.ContainsAny(s.Comments[:1], blanks) || strings.ContainsAny(s.Comments, "\n\x00"):
		return config("comments", s.Comments, "must be what a comment begins with, without blanks before it")
	case s.Format != CSV:
	case size != len(s.Comments) || c == s.Delimiter || c == '"' || c == utf8.RuneError:
		return config("comments", s.Comments, "in csv, it must be one character, and no quote or delimiter")
	}
	return nil
}
