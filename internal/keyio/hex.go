package keyio

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// splitHex sets b.Keys from lines of hexadecimal digits. It decodes them in place: b.data then has no lines any more.
func (b *block) splitHex(s *settings) error {
	line, first := b.Line, b.Line
	for data := b.data; len(data) > 0; line++ {
		end := bytes.IndexByte(data, '\n')
		digits := data[:end:end]
		data = data[end+1:]
		if n := len(digits); n > 0 && digits[n-1] == '\r' {
			digits = digits[:n-1]
		}
		if len(digits) > 2*s.MaxKey {
			return &KeyTooLongError{Input: b.Input, Line: line, MaxKey: s.MaxKey}
		}
		n, err := hex.Decode(digits, digits)
		if err != nil {
			return fmt.Errorf("%s:%d: not a key in hexadecimal digits, two a byte: %w", b.Input, line, err)
		}
		if n == 0 && !s.KeepEmpty {
			continue
		}
		if len(b.Keys) == 0 {
			first = line
		}
		b.Keys = append(b.Keys, digits[:n:n])
	}
	b.Line = first
	return nil
}
