package steps

import (
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/keyio"
)

// Format reads keys from objects. The formats of keyio are built in; see Formats for others, such as columns of Parquet
// files.
type Format interface {
	// Split divides an object into spans of about size bytes, in order and without gaps. The spans must depend only on
	// the contents of the object. A single span is always valid.
	Split(ctx context.Context, in Source, o Object, size int64) ([]Span, error)
	// Read reads the keys of a span. For each batch of keys it calls Work, from any number of goroutines, and then
	// Emit, one batch at a time in the order of the object. Errors of Work and Emit stop it.
	Read(ctx context.Context, in Source, o Object, s Span, r Reading) error
}

// Span is a part of an object, in bytes for a text, or in units of the Format.
type Span struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Reading are the parameters of Format.Read.
type Reading struct {
	Keys    KeyFormat
	Workers int // 0: GOMAXPROCS
	// ValueBits is the number of bits of the values that come with the keys, or 0 if there are none. With values, Work
	// gets batches whose Batch.Values has the value of each key, below 2^ValueBits.
	ValueBits int
	// Form is the form of the keys. A text is read with Trim and Lower of it.
	Form filter.KeyForm
	// Work gets a batch and may leave results in Batch.Hashes. Emit gets the same batch afterwards.
	Work, Emit func(*keyio.Batch) error
	// Progress, if not nil, is called with the number of bytes, or other units of spans, that were read.
	Progress func(units int64)
}

// KeyFormat describes the keys in the input. It is part of a plan.
type KeyFormat struct {
	// Name is a format of keyio, or one of the formats given to NewPlan or ReadPlan. Default: keyio.Lines.
	Name      string `json:"name"`
	Column    string `json:"column,omitempty"`
	Header    bool   `json:"header,omitempty"`
	Delimiter string `json:"delimiter,omitempty"` // one character
	Comments  string `json:"comments,omitempty"`
	KeepEmpty bool   `json:"keep_empty,omitempty"`
	MaxKey    int    `json:"max_key,omitempty"`

	// ValueColumn is the column of the values, given like Column, and Separator the byte between the key and the value
	// of a line, below 0x80. They need a Spec with values, such as ribbon(value_bits=8). Defaults: the second column of
	// formats with columns, and a tab.
	ValueColumn string `json:"value_column,omitempty"`
	Separator   string `json:"separator,omitempty"`
}

// Formats are formats that keyio does not have, by KeyFormat.Name.
type Formats map[string]Format

func (f Formats) formatOf(k KeyFormat) Format {
	if own, ok := f[k.Name]; ok {
		return own
	}
	return text{k}
}

// KeysOf returns the KeyFormat of options of keyio.
func KeysOf(o keyio.Options) KeyFormat {
	k := KeyFormat{
		Name: string(o.Format), Column: o.Column, Header: o.Header, KeepEmpty: o.KeepEmpty, MaxKey: o.MaxKey,
		ValueColumn: o.Second, Comments: o.Comments,
	}
	if o.Delimiter != 0 {
		k.Delimiter = string(o.Delimiter)
	}
	return k
}

func (k KeyFormat) options() keyio.Options {
	o := keyio.Options{
		Format: keyio.Format(k.Name), Column: k.Column, Header: k.Header, KeepEmpty: k.KeepEmpty, MaxKey: k.MaxKey,
		Second: k.ValueColumn, Comments: k.Comments,
	}
	for _, c := range k.Delimiter {
		o.Delimiter = c
	}
	return o
}
