package keyio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/bloomery/bloomery/filter"
)

// Format says how an input is divided into keys.
type Format string

// The formats.
const (
	Lines Format = "lines" // a key a line
	CSV   Format = "csv"   // a key a row, in one column
)

// DefaultMaxKey is the longest key, in bytes, where Options.MaxKey is 0.
const DefaultMaxKey = 1 << 20

// maxMaxKey leaves room for line ends in an int of 32 bits.
const maxMaxKey = 1 << 30

// Options say how to read keys. The zero Options read lines.
type Options struct {
	// Format is Lines if empty.
	Format Format
	// Column, for CSV, is a name in the header row or a number counted from 1. Empty is the first column.
	// A name needs a header row in every input.
	Column string
	// Header, for CSV, says that the first row of every input is a header even though Column is a number.
	Header bool
	// KeepEmpty makes empty lines and empty fields keys. encoding/csv passes over blank lines all the same.
	KeepEmpty bool
	// MaxKey is the longest key allowed, in bytes without the line end, at most 1 GiB; 0 is DefaultMaxKey.
	MaxKey int
	// Stdin is read for the path "-" and where there are no paths. It is os.Stdin if nil. A *os.File that is
	// a regular file is read from its offset at Open and can be rewound. Any other reader may still be in a
	// Read when a pass has returned an error: leave it alone then.
	Stdin io.Reader
	// Progress, if not nil, is called now and then during a pass, and at its end, with the number of bytes
	// taken from the inputs so far in this pass, before decompression. The reader goroutine calls and waits
	// for it.
	Progress func(bytes int64)
}

// ErrNotRewindable says that a second pass was asked of an input that can be read only once, such as a pipe.
var ErrNotRewindable = errors.New("the input is a pipe or device and was read already; give a regular file")

// KeyTooLongError says where a key is longer than Options.MaxKey.
type KeyTooLongError struct {
	Input  string // path, or "standard input"
	Line   int64  // line of the key, from 1
	MaxKey int    // the limit, in bytes
}

func (e *KeyTooLongError) Error() string {
	return fmt.Sprintf("%s:%d: key is longer than %d bytes; raise the limit if such keys are meant",
		e.Input, e.Line, e.MaxKey)
}

// settings are Options that were checked, with defaults filled in.
type settings struct {
	Options
	column int // counted from 0; -1 if Column is a name
}

func (o Options) check() (settings, error) {
	s := settings{Options: o}
	if s.Format == "" {
		s.Format = Lines
	}
	if s.MaxKey == 0 {
		s.MaxKey = DefaultMaxKey
	}
	if s.Stdin == nil {
		s.Stdin = os.Stdin
	}
	if s.MaxKey < 0 || s.MaxKey > maxMaxKey {
		return s, config("max_key", o.MaxKey, fmt.Sprintf("must be from 1 to %d bytes, or 0 for %d", maxMaxKey, DefaultMaxKey))
	}
	switch s.Format {
	case Lines:
		if s.Column != "" {
			return s, config("column", s.Column, `lines have no columns; set the format to "csv"`)
		}
		if s.Header {
			return s, config("header", true, `lines have no header row; set the format to "csv"`)
		}
	case CSV:
		if err := s.checkColumn(); err != nil {
			return s, err
		}
	default:
		return s, config("format", string(o.Format), `must be "lines" or "csv"`)
	}
	return s, nil
}

func (s *settings) checkColumn() error {
	if s.Column == "" {
		return nil
	}
	n, err := strconv.Atoi(s.Column)
	switch {
	case err != nil: // a name
		s.column, s.Header = -1, true
	case n < 1:
		return config("column", s.Column, "columns are counted from 1")
	default:
		s.column = n - 1
	}
	return nil
}

func config(field string, value any, reason string) error {
	return &filter.ConfigError{Field: field, Value: value, Reason: reason}
}
