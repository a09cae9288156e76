package keyio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/bloomery/bloomery/filter"
)

// Format is the way in which an input is divided into keys.
type Format string

// The formats.
const (
	Lines Format = "lines" // one key a line
	CSV   Format = "csv"   // one key a row, in one column
)

// DefaultMaxKey is the length limit of a key in bytes if Options.MaxKey is 0.
const DefaultMaxKey = 1 << 20

// maxMaxKey is the largest Options.MaxKey. With a line end it fits into an int of 32 bits.
const maxMaxKey = 1 << 30

// Options control how keys are read. The zero value reads lines.
type Options struct {
	// Format of the inputs. Default: Lines.
	Format Format
	// Column of the keys, for CSV: a name in the header row, or a number counted from 1. Default: the first column.
	// With a name, every input must have a header row.
	Column string
	// Header makes the first row of every CSV input a header row. It is implied if Column is a name.
	Header bool
	// KeepEmpty keeps empty lines and empty fields as keys. encoding/csv still skips blank lines.
	KeepEmpty bool
	// MaxKey is the length limit of a key in bytes, without the line end. Range: 1 to 1 GiB. Default: DefaultMaxKey.
	MaxKey int
	// Stdin is read for the path "-" and if there are no paths. Default: os.Stdin. An *os.File that is a regular file
	// is read from its offset at Open and can be rewound. On any other reader a Read may still be running after a pass
	// returned an error: do not use the reader then.
	Stdin io.Reader
	// Progress, if not nil, is called after each block and at the end of a pass with the number of bytes that the pass
	// has read from the inputs so far, before decompression. The reader goroutine calls it and waits for it.
	Progress func(bytes int64)
}

// ErrNotRewindable is returned by a second pass over an input that can be read only once, such as a pipe.
var ErrNotRewindable = errors.New("the input is a pipe or device and was already read; use a regular file")

// KeyTooLongError locates a key that is longer than Options.MaxKey.
type KeyTooLongError struct {
	Input  string // path, or "standard input"
	Line   int64  // line number of the key, counted from 1
	MaxKey int    // the limit, in bytes
}

func (e *KeyTooLongError) Error() string {
	return fmt.Sprintf("%s:%d: key is longer than %d bytes, the limit; is this a list of keys?",
		e.Input, e.Line, e.MaxKey)
}

// settings are checked Options with their defaults filled in.
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
		reason := fmt.Sprintf("must be 1 to %d bytes, or 0 for %d", maxMaxKey, DefaultMaxKey)
		return s, config("max_key", o.MaxKey, reason)
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
