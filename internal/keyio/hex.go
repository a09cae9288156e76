package keyio

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// splitHex sets b.Keys from lines of hexadecimal digits. It decodes them in place: b.data then has no lines any more.
func (b *block) splitHex(s *settings) error {
	line := b.Line
	for data := b.data; len(data) > 0; line++ {
		end := bytes.IndexByte(data, '\n')
		digits := data[:end:end]
		data = data[end+1:]
		if n := len(digits); n > 0 && digits[n-1] == '\r' {
			digits = digits[:n-1]
		}
		n, err := b.decode(s, line, digits)
		if stop := b.bad.skip(s, err); stop != nil {
			return stop
		}
		if err != nil || n == 0 && !s.KeepEmpty {
			continue
		}
		if len(b.Keys) == 0 {
			b.Line = line
		}
		b.Keys = append(b.Keys, digits[:n:n])
		if s.LineNumbers {
			b.LineNumbers = append(b.LineNumbers, line)
		}
	}
	return nil
}

// decode decodes the digits of a line in place and returns the number of bytes.
func (b *block) decode(s *settings, line int64, digits []byte) (n int, err error) {
	if len(digits) > 2*s.MaxKey {
		return 0, &KeyTooLongError{Input: b.Input, Line: line, MaxKey: s.MaxKey}
	}
	if n, err = hex.Decode(digits, digits); err != nil {
		err = fmt.Errorf("%s:%d: not a key in hexadecimal digits, two a byte: %w", b.Input, line, err)
	}
	return n, err
}
