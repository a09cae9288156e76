// Package strictjson reads JSON objects into structs. It is the one reader of the project for JSON files: manifests,
// releases, histories, plans, results and states. Parsers of a signed format that differ in what they accept read
// different things out of the same bytes, so this one accepts a single form of each value.
//
// The fields are the exported fields of a struct with a json tag, those of embedded structs included. A field must be
// in the text unless its tag has omitempty. The text is refused if
//
//   - an object has a field that the struct does not have, a name in another case, or a name twice,
//   - a field is missing or null, or has the value for which its omitempty leaves it out,
//   - a number, a time or another value with a text form has another form than encoding/json writes,
//   - a text is not valid UTF-8, or escapes half of a surrogate pair,
//   - anything but white space follows the object.
//
// Objects nest as deep as the structs do. A list of the outermost object is decoded value by value, so that memory is
// bounded by the values that are kept and by the largest single value; see [Limiter].
package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
)

// Error is an error of the text.
type Error struct {
	Field string // path of the field, such as "previous.delta.bytes", or "" for the whole text
	Err   error
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("field %s: %v", e.Field, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Limiter is a struct that limits the lists of its text.
type Limiter interface {
	// MaxItems returns the largest number of values of a list. It is called when the list begins, with all fields set
	// that stand before it. Reading stops at the first value above it.
	MaxItems(field string) int
}

// Unmarshal is Decode for a text in memory.
func Unmarshal(text []byte, into ...any) error { return Decode(bytes.NewReader(text), into...) }

// Decode reads one object, which has the fields of all structs that into points to. Errors of r are returned as they
// are. All other errors are an *Error: about the place where the text is no JSON, else about the first wrong value. The
// fields behind a wrong value are set nevertheless, so that the caller can tell a newer version by its number, whatever
// else is new in it.
func Decode(r io.Reader, into ...any) error {
	source := &reader{r: r}
	d := &decoder{json: json.NewDecoder(source)}
	err := d.document(into)

	if source.err != nil {
		return source.err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // a text that ends too early is no end of a file
	}
	var named *Error
	if err != nil && !errors.As(err, &named) {
		err = &Error{"", err}
	}
	if err == nil && d.first != nil {
		err = d.first
	}
	return err
}

// reader notes the errors of its Reader, which a json.Decoder mixes with its own.
type reader struct {
	r   io.Reader
	err error // other than io.EOF
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

type decoder struct {
	json  *json.Decoder
	path  []string // names and indices that lead to the current value
	first *Error   // of a value
}

// note keeps the first error of a value.
func (d *decoder) note(err error) {
	if d.first == nil {
		d.first = d.here(err)
	}
}

// here returns an error of the current value.
func (d *decoder) here(err error) *Error {
	return &Error{strings.ReplaceAll(strings.Join(d.path, "."), ".[", "["), err}
}

// in calls f with a name at the end of the path.
func (d *decoder) in(name string, f func()) {
	d.path = append(d.path, name)
	f()
	d.path = d.path[:len(d.path)-1]
}

// Errors of fields.
var (
	errUnknown = errors.New("unknown field")
	errTwice   = errors.New("it is there twice")
	errMissing = errors.New("it is missing")
	errNull    = errors.New("it is null")
	errObject  = errors.New("want an object")
	errList    = errors.New("want a list")
	errForm    = errors.New("it is not in the canonical form")
	errUTF8    = errors.New("it is not valid UTF-8")
)

// document reads the outermost object. The error is one of syntax, or of a list that is none or too long.
func (d *decoder) document(into []any) error {
	if t, err := d.json.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errObject
	}

	seen := make([]uint64, len(into))
	for d.json.More() {
		name, err := d.json.Token()
		if err != nil {
			return err
		}
		if err := d.member(name.(string), into, seen); err != nil {
			return err
		}
	}
	if _, err := d.json.Token(); err != nil {
		return err
	}
	for i, v := range into {
		d.missing(fieldsOf(reflect.TypeOf(v).Elem()), seen[i])
	}

	if _, err := d.json.Token(); err == nil {
		return errors.New("there is text after its end")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// member reads a field of the outermost object.
func (d *decoder) member(name string, into []any, seen []uint64) (err error) {
	for i, v := range into {
		to := reflect.ValueOf(v).Elem()
		f := find(fieldsOf(to.Type()), []byte(name), &seen[i], d)
		if f == nil {
			continue
		}
		d.in(f.name, func() {
			if f.kind == list {
				err = d.stream(v, to.FieldByIndex(f.index))
				return
			}
			var raw json.RawMessage
			if err = d.json.Decode(&raw); err == nil {
				d.field(f, raw, to)
			}
		})
		return err
	}
	d.in(cut(name), func() { d.note(errUnknown) })
	var raw json.RawMessage
	return d.json.Decode(&raw)
}

// stream reads a list of the outermost object value by value.
func (d *decoder) stream(owner any, to reflect.Value) error {
	t, err := d.json.Token()
	switch {
	case err != nil:
		return err
	case t == nil:
		d.note(errNull)
		return nil
	case t != json.Delim('['):
		return d.here(errList)
	}

	most := -1
	if l, ok := owner.(Limiter); ok {
		most = l.MaxItems(d.path[0])
	}
	to.Set(reflect.MakeSlice(to.Type(), 0, 0)) // an empty list is not null
	var raw json.RawMessage
	for n := 0; d.json.More(); n++ {
		if n == most {
			return d.here(fmt.Errorf("it has more than %d values", most))
		}
		if err := d.json.Decode(&raw); err != nil {
			return err
		}
		d.item(raw, to)
	}
	_, err = d.json.Token()
	return err
}

// item appends a value to a list. After an error the list does not matter any more, so it does not grow.
func (d *decoder) item(raw []byte, to reflect.Value) {
	if d.first != nil {
		return
	}
	n := to.Len()
	if n == to.Cap() {
		to.Grow(1)
	}
	to.SetLen(n + 1)
	d.value(kindOf(to.Type().Elem()), raw, to.Index(n))
	if d.first != nil {
		place := fmt.Sprintf("%s[%d]", d.here(nil).Field, n)
		d.first.Field = place + strings.TrimPrefix(d.first.Field, d.here(nil).Field)
	}
}

// value decodes a value that is valid JSON.
func (d *decoder) value(k kind, raw []byte, to reflect.Value) {
	switch {
	case raw[0] == 'n':
		d.note(errNull)
	case k == pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.value(kindOf(to.Type().Elem()), raw, to.Elem())
	case k == scalar:
		if err := decodeScalar(raw, to); err != nil {
			d.note(err)
		}
	case k == list && raw[0] != '[':
		d.note(errList)
	case k == list:
		to.Set(reflect.MakeSlice(to.Type(), 0, 0))
		for value, rest := next(raw[1:]); value != nil; value, rest = next(rest) {
			d.item(value, to)
		}
	case raw[0] != '{':
		d.note(errObject)
	case k == table:
		d.table(raw, to)
	default:
		d.object(raw, to)
	}
}

// object decodes an object into a struct.
func (d *decoder) object(raw []byte, to reflect.Value) {
	fields, seen := fieldsOf(to.Type()), uint64(0)
	for name, value, rest := nextField(raw[1:]); value != nil; name, value, rest = nextField(rest) {
		if f := find(fields, name, &seen, d); f != nil {
			d.path = append(d.path, f.name)
			d.field(f, value, to)
			d.path = d.path[:len(d.path)-1]
		} else {
			d.in(cut(string(name)), func() { d.note(errUnknown) })
		}
	}
	d.missing(fields, seen)
}

// table decodes an object into a map with texts as keys.
func (d *decoder) table(raw []byte, to reflect.Value) {
	to.Set(reflect.MakeMap(to.Type()))
	for name, value, rest := nextField(raw[1:]); value != nil; name, value, rest = nextField(rest) {
		d.in(cut(string(name)), func() {
			key, v := reflect.ValueOf(string(name)), reflect.New(to.Type().Elem()).Elem()
			if to.MapIndex(key).IsValid() {
				d.note(errTwice)
			}
			d.value(kindOf(v.Type()), value, v)
			to.SetMapIndex(key, v)
		})
	}
}

// field decodes the value of a field of a struct.
func (d *decoder) field(f *field, raw []byte, of reflect.Value) {
	if f.quoted && raw[0] != 'n' {
		if raw[0] != '"' || len(raw) < 3 {
			d.note(errors.New("want a number as text"))
			return
		}
		raw = raw[1 : len(raw)-1] // decodeScalar refuses what is no number
	}
	to := of.FieldByIndex(f.index)
	d.value(f.kind, raw, to)
	if f.optional && to.IsZero() {
		d.note(errForm)
	}
}

// missing notes a field that is not in seen and must be there.
func (d *decoder) missing(fields []field, seen uint64) {
	for i, f := range fields {
		if d.first == nil && !f.optional && seen&(1<<i) == 0 {
			d.in(f.name, func() { d.note(errMissing) })
		}
	}
}

// cut shortens a name from a text for an error.
func cut(name string) string { return strings.Trim(fmt.Sprintf("%.40q", name), `"`) }

// kind says how a value is decoded.
type kind uint8

const (
	scalar  kind = iota // a text, a number, a boolean, or what has a text form
	object              // a struct
	list                // a slice
	table               // a map
	pointer             // to one of these
)

// kindOf returns the kind of a type.
func kindOf(t reflect.Type) kind {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return scalar
	}
	switch t.Kind() {
	case reflect.Struct:
		return object
	case reflect.Slice:
		return list
	case reflect.Map:
		return table
	case reflect.Pointer:
		return pointer
	}
	return scalar
}

// field is a field of a struct.
type field struct {
	name     string
	kind     kind
	index    []int
	optional bool // omitempty
	quoted   bool // string: the number is a JSON string
}

var fieldsByType sync.Map // of reflect.Type to []field

// fieldsOf returns the fields of a struct, at most 64.
func fieldsOf(t reflect.Type) []field {
	if all, ok := fieldsByType.Load(t); ok {
		return all.([]field)
	}
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && f.IsExported() {
			all = append(all, field{name: name, kind: kindOf(f.Type), index: f.Index,
				optional: strings.Contains(options, "omitempty"), quoted: strings.Contains(options, "string")})
		}
	}
	if len(all) > 64 {
		panic(t.String() + " has more than 64 fields")
	}
	fieldsByType.Store(t, all)
	return all
}

// find returns the field of that name, or nil, and marks it in seen. A field that is marked already is an error.
func find(fields []field, name []byte, seen *uint64, d *decoder) *field {
	for i := range fields {
		if fields[i].name != string(name) {
			continue
		}
		if *seen&(1<<i) != 0 {
			d.in(fields[i].name, func() { d.note(errTwice) })
		}
		*seen |= 1 << i
		return &fields[i]
	}
	return nil
}
