package keyio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/bloomery/bloomery/filter"
)

// Format is the way in which an input is divided into keys.
type Format string

// The formats.
const (
	Lines Format = "lines" // one key a line
	Null  Format = "null"  // each key ends in a NUL byte and may contain line ends, as find -print0 writes them
	CSV   Format = "csv"   // one key per row, in one column; quoted as in RFC 4180
	TSV   Format = "tsv"   // one key per row, in one column; fields end at tabs, and quotes are part of them
	Hex   Format = "hex"   // one key per line, in hexadecimal digits: keys of any bytes
	JSONL Format = "jsonl" // a JSON object per line, with its keys in one member

	// Fields has one key per row, in one column. Fields end at blanks, of which several count as one, or at
	// Options.Delimiter. Quotes are part of them.
	Fields Format = "fields"
)

// HasColumns reports whether a row of the format has more than a key.
func (f Format) HasColumns() bool { return f == CSV || f == TSV || f == Fields || f == JSONL }

// BadRows selects what a pass does with a bad row. A row is bad if it has a NUL byte, a key longer than Options.MaxKey,
// too few columns, wrong quotes, digits that are not hexadecimal, invalid JSON, a JSON object as key, or a field that
// Options.Parse rejects.
//
// With every BadRows, an input that is unreadable, damaged or not a list of keys is an error, and so is a row of CSV
// whose end is unknown.
type BadRows string

// The ways to treat bad rows.
const (
	Stop BadRows = "stop" // the row is an error, after the keys of all rows before it
	Skip BadRows = "skip" // the row is skipped and counted
	Pass BadRows = "pass" // for Lines and TSV: a NUL byte is part of its row, and the row is counted; other bad rows stop
)

// BadRowError is an error that Skip would skip.
type BadRowError struct{ Err error }

func (e *BadRowError) Error() string { return e.Err.Error() }

func (e *BadRowError) Unwrap() error { return e.Err }

// DefaultMaxKey is the length limit of a key in bytes if Options.MaxKey is 0.
const DefaultMaxKey = 1 << 20

// maxMaxKey is the largest Options.MaxKey. With a line end it fits into an int of 32 bits.
const maxMaxKey = 1 << 30

// Options control how keys are read. The zero value reads lines.
type Options struct {
	// Format of the inputs. Default: Lines.
	Format Format
	// Column of the keys, for CSV, TSV and Fields: a name in the header row, or a number counted from 1. Default: the first
	// column. With a name, every input must have a header row. JSONL needs the path of a member, such as user.id; a
	// backslash before a dot or backslash makes it part of a name.
	Column string
	// Second is a second column to read, such as the partition or the value of each key, given like Column. Its fields
	// are in Batch.Second and may be empty. In JSONL, each row with a key must have it. Default: none.
	Second string
	// OneKey makes rows of JSONL bad that have an array of keys.
	OneKey bool
	// Header makes the first row of every input with columns, other than JSONL, a header row. It is implied if Column or
	// Second is a name.
	Header bool
	// Delimiter is the character between the fields of CSV, by default a comma, or of Fields, by default blanks. Quotes
	// and line ends are not allowed, and in Fields only ASCII is.
	Delimiter rune
	// Comments, if not empty, makes the pass skip rows that begin with this string, after blanks, and cut off what
	// follows a blank and this string in Lines, Null, Hex and Fields. In CSV it is one character at the start of a line.
	Comments string
	// Trim cuts off the blanks around each key, and Lower makes A to Z in it lower-case letters; see Prepare. In Hex,
	// both change the bytes that the digits stand for.
	Trim, Lower bool
	// Rows keeps the whole rows, for Batch.Rows and Batch.Header. The header rows of all inputs must then be equal.
	// Rows of Hex are not kept.
	Rows bool
	// Plain reads the inputs unchanged: they are not decompressed, a byte-order mark at the start is part of the first
	// key, and other formats are not detected. It is for parts of files, which may begin with such bytes by chance.
	Plain bool
	// KeepEmpty keeps empty lines and empty fields as keys. Blank lines of formats with columns are still skipped.
	KeepEmpty bool
	// BadRows selects what happens to bad rows. Default: Stop.
	BadRows BadRows
	// Parse, if not nil, converts the field of Second to the value of a key, for Batch.Values. If it returns an error,
	// the row is bad. Several goroutines call it. It needs Second and LineNumbers.
	Parse func(second []byte) (uint64, error)
	// LineNumbers fills Batch.LineNumbers.
	LineNumbers bool
	// MaxKey is the length limit of a key in bytes, without the line end. Range: 1 to 1 GiB. Default: DefaultMaxKey.
	MaxKey int
	// BlockSize is the number of bytes of input in a block, unless a key is longer: see the package comment. Blocks of
	// 64 KiB need a quarter of the memory and 10% more time. Default: 256 KiB.
	BlockSize int
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

// ErrChanged is returned by a further pass over a file that has changed since the first one.
var ErrChanged = errors.New("the input changed after it was read the first time")

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

// RowError is the error of a row of Hex or JSONL, of a row that is too long, or of a line without a valid value.
type RowError struct {
	Input string // path, or "standard input"
	Line  int64  // counted from 1
	Err   error
}

func (e *RowError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Input, e.Line, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// settings are checked Options with their defaults filled in.
type settings struct {
	Options
	columns columns // -1 for a name
	end     byte    // end of a line
	paths   []path  // for JSONL, of Column and Second

	separator byte // between the fields of TSV and Fields, or 0 for blanks
}

// maxRow returns the length limit of a row in bytes, without the line end, except of CSV.
func (s *settings) maxRow() int {
	switch s.Format {
	case TSV, Fields, JSONL:
		return s.MaxKey + recordSlack
	case Hex:
		return 2 * s.MaxKey
	}
	return s.MaxKey
}

// columns are the columns that are read, counted from 0.
type columns struct {
	key    int
	second int // unused unless Options.Second is set
}

func (o Options) check() (settings, error) {
	s := settings{Options: o}
	s.Format, s.MaxKey = cmp.Or(s.Format, Lines), cmp.Or(s.MaxKey, DefaultMaxKey)
	s.BadRows, s.BlockSize = cmp.Or(s.BadRows, Stop), cmp.Or(s.BlockSize, blockSize)
	s.LineNumbers = s.LineNumbers || s.Comments != "" // lines are left out, which Values.Read counts
	if s.Stdin == nil {
		s.Stdin = os.Stdin
	}
	if s.MaxKey < 0 || s.MaxKey > maxMaxKey {
		reason := fmt.Sprintf("must be 1 to %d bytes, or 0 for %d", maxMaxKey, DefaultMaxKey)
		return s, config("max_key", o.MaxKey, reason)
	}
	s.end = '\n'
	switch s.Format {
	case Null:
		s.end = 0
		fallthrough
	case Lines, Hex:
		const instead = `; set the format to "csv", "tsv", "fields" or "jsonl"`
		switch {
		case s.Column != "":
			return s, config("column", s.Column, "lines have no columns"+instead)
		case s.Second != "":
			return s, config("second", s.Second, "lines have no columns"+instead)
		case s.Header || s.Rows && s.Format == Hex:
			return s, config("header", true, "lines have no header row"+instead)
		}
	case CSV, TSV, Fields:
		var err error
		if s.columns.key, err = s.checkColumn("column", s.Column); err == nil {
			s.columns.second, err = s.checkColumn("second", s.Second)
		}
		if err != nil {
			return s, err
		}
	case JSONL:
		if err := s.checkPaths(); err != nil {
			return s, err
		}
	default:
		return s, config("format", string(o.Format),
			`must be "lines", "null", "csv", "tsv", "fields", "hex" or "jsonl"`)
	}
	if err := s.checkDelimiter(); err != nil {
		return s, err
	}
	return s, s.checkComments()
}

// checkDelimiter fills in the delimiter of CSV and the separator. It rejects delimiters that encoding/csv does not
// accept.
func (s *settings) checkDelimiter() error {
	d := s.Delimiter
	if s.Format == TSV {
		s.separator = '\t'
	}
	switch {
	case s.Format == CSV && d == 0:
		s.Delimiter = ','
	case d == 0:
	case s.Format != CSV && s.Format != Fields:
		return config("delimiter", string(d), `only the formats "csv" and "fields" have one; "tsv" has tabs`)
	case d == '"' || d == '\r' || d == '\n' || d == utf8.RuneError || !utf8.ValidRune(d):
		return config("delimiter", string(d), "must be one character, and no quote or line end")
	case s.Format == Fields && d >= utf8.RuneSelf:
		return config("delimiter", string(d), `must be ASCII in the format "fields"; "csv" has any character`)
	case s.Format == Fields:
		s.separator = byte(d)
	}
	return nil
}

// checkColumn returns the column of an option, counted from 0, or -1 for a name, which needs a header row.
func (s *settings) checkColumn(option, column string) (int, error) {
	if column == "" {
		return 0, nil
	}

	n, err := strconv.Atoi(column)
	switch {
	case err != nil: // a name
		s.Header = true
		return -1, nil
	case n < 1:
		return 0, config(option, column, "columns are counted from 1")
	}
	return n - 1, nil
}

func config(field string, value any, reason string) error {
	return &filter.ConfigError{Field: field, Value: value, Reason: reason}
}
