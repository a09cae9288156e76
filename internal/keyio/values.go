package keyio

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// DefaultSeparator is the byte between the key and the value of a line if Values.Separator is 0.
const DefaultSeparator = '\t'

// Values describes how the inputs give a value for each key: a whole number in decimal digits. In Lines and Null the
// value follows the last separator; open them with Options.KeepEmpty, so that line numbers in
// errors are right. In formats with columns it is the column Options.Second.
type Values struct {
	// Bits is the largest number of bits of a value. Range: 1 to 64.
	Bits int
	// Separator is the byte between a key and its value in a line. Default: DefaultSeparator.
	Separator byte
	// Trim cuts off the blanks between the key of a line and the separator; see Options.Trim.
	Trim bool
	// Column is true if the values are the fields of Batch.Second.
	Column bool
	// Optional allows batches without values: no line has a Separator, or all fields of Batch.Second are empty.
	// Batch.Values is then empty, and a line is a key.
	Optional bool
	// KeepEmpty keeps empty lines of such batches as keys.
	KeepEmpty bool
}

// Read sets b.Values. It cuts the values off lines and drops empty lines. The error is a *RowError for a line.
func (v Values) Read(b *Batch) error {
	b.Values, v.Separator = b.Values[:0], cmp.Or(v.Separator, DefaultSeparator)
	if v.Optional && v.withoutValues(b) {
		return nil
	}

	largest := uint64(math.MaxUint64) >> (64 - v.Bits)
	if v.Column {
		for i, text := range b.Second {
			value, reason := parseValue(text, largest)
			if reason != "" {
				return fmt.Errorf("%s: key %.80q: %s", b.Input, b.Keys[i], reason)
			}
			b.Values = append(b.Values, value)
		}
		return nil
	}

	keys := b.Keys[:0]
	for i, line := range b.Keys {
		if len(line) == 0 {
			continue
		}
		key, value, reason := splitValue(line, v.Separator, largest)
		if reason != "" {
			number := b.Line + int64(i)
			if len(b.LineNumbers) > 0 {
				number = b.LineNumbers[i]
			}
			return &RowError{b.Input, number, errors.New(reason)}
		}
		if v.Trim {
			key = bytes.TrimRight(key, blanks)
		}
		keys, b.Values = append(keys, key), append(b.Values, value)
	}
	b.Keys = keys
	return nil
}

// withoutValues reports whether no key of a batch has a value. It drops the empty lines of such a batch unless
// KeepEmpty is set.
func (v Values) withoutValues(b *Batch) bool {
	empty := func(text []byte) bool { return len(text) == 0 }
	if v.Column {
		return !slices.ContainsFunc(b.Second, func(text []byte) bool { return !empty(text) })
	}
	if slices.ContainsFunc(b.Keys, func(line []byte) bool { return bytes.IndexByte(line, v.Separator) >= 0 }) {
		return false
	}
	if !v.KeepEmpty {
		b.Keys = slices.DeleteFunc(b.Keys, empty)
	}
	return true
}

// splitValue splits a line at its last separator, or returns the reason that it cannot.
func splitValue(line []byte, separator byte, largest uint64) (key []byte, value uint64, reason string) {
	at := bytes.LastIndexByte(line, separator)
	if at < 0 {
		return nil, 0, fmt.Sprintf("%.80q has no value; want a key, %q and a number", line, separator)
	}
	value, reason = parseValue(line[at+1:], largest)
	return line[:at], value, reason
}

// parseValue returns the value of text, or the reason that text has none.
func parseValue(text []byte, largest uint64) (value uint64, reason string) {
	value, err := strconv.ParseUint(string(text), 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Sprintf("value %.80q: want a whole number", text)
	case value > largest:
		return 0, fmt.Sprintf("value %d is too large: this filter has room for up to %d", value, largest)
	}
	return value, ""
}
