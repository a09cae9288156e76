// Package strictjson reads JSON objects into structs. All JSON files of the project are read by it: manifests,
// releases, histories, plans, results and states. Lenient parsers of a signed format can read different values from the
// same bytes, so this package accepts a single form of each value.
//
// The fields are the exported fields of a struct with a json tag, including the fields of embedded structs. A field
// must be in the text unless its tag has omitempty. The text is refused if
//
//   - an object has a field that the struct does not have, a name in another case, or a name twice,
//   - a field is missing or null, or has the value for which its omitempty leaves it out,
//   - a number, a time or another value with a text form has another form than encoding/json writes,
//   - a text is not valid UTF-8, or escapes half of a surrogate pair,
//   - anything but white space follows the object.
//
// Objects nest as deep as the structs do. The text is read token by token, so that memory is bounded by the values that
// are kept and by the largest single text, number or unknown value; see [Limiter].
package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
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
	// MaxItems returns the largest number of values of a list. It is called when the list begins; earlier fields are
	// set. Reading stops at the first value beyond the limit.
	MaxItems(field string) int
}

// Unmarshal is Decode for a text in memory.
func Unmarshal(text []byte, into ...any) error { return Decode(bytes.NewReader(text), into...) }

// Decode reads one object, which has the fields of all structs that into points to. Errors of r are returned unchanged.
// All other errors are an *Error: for the position of a syntax error, else for the first invalid value. Decode also
// sets the fields after an invalid value, so that the caller can detect a newer version by its number.
func Decode(r io.Reader, into ...any) error {
	source := &reader{r: r}
	d := &decoder{json: json.NewDecoder(source)}
	err := d.readDocument(into)

	if source.err != nil {
		return source.err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // a text that ends too early is not a regular end
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

// reader keeps the errors of its Reader, because a json.Decoder mixes them with its own.
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
	path  []string        // names and indices that lead to the current value
	first *Error          // the first error of a value
	last  json.RawMessage // the result of rawValue
}

// The reading methods return errors of syntax and of lists that are too long. They note errors of values and continue.

// noteError keeps the first error of a value.
func (d *decoder) noteError(err error) {
	if d.first == nil {
		d.first = d.errorHere(err)
	}
}

// noteIn notes an error of a member of the current object.
func (d *decoder) noteIn(name string, err error) {
	d.path = append(d.path, name)
	d.noteError(err)
	d.path = d.path[:len(d.path)-1]
}

// errorHere returns an error of the current value.
func (d *decoder) errorHere(err error) *Error {
	return &Error{strings.ReplaceAll(strings.Join(d.path, "."), ".[", "["), err}
}

// Errors of fields.
var (
	errUnknown = errors.New("unknown field")
	errTwice   = errors.New("it is there twice")
	errMissing = errors.New("it is missing")
	errNull    = errors.New("it is null")
	errForm    = errors.New("it is not in the canonical form")
	errUTF8    = errors.New("it is not valid UTF-8")
)

// readDocument reads the outermost object and the end of the text.
func (d *decoder) readDocument(into []any) error {
	var structs []reflect.Value
	for _, v := range into {
		structs = append(structs, reflect.ValueOf(v).Elem())
	}
	if err := d.readObject(structs...); err != nil {
		return err
	}

	if _, err := d.json.Token(); err == nil {
		return errors.New("there is text after its end")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// openValue reads the first token of a value and reports whether it is the delimiter. Otherwise it skips the value.
func (d *decoder) openValue(want json.Delim, name string) (bool, error) {
	t, err := d.json.Token()
	if err != nil || t == want {
		return err == nil, err
	}
	if t == nil {
		d.noteError(errNull)
		return false, nil
	}

	d.noteError(fmt.Errorf("want %s", name))

	if _, ok := t.(json.Delim); ok {
		for d.json.More() {
			if t == json.Delim('{') {
				if _, err := d.json.Token(); err != nil { // the name
					return false, err
				}
			}
			if _, err := d.rawValue(); err != nil {
				return false, err
			}
		}
		_, err = d.json.Token()
	}
	return false, err
}

// readObject reads an object that has the fields of all structs.
func (d *decoder) readObject(structs ...reflect.Value) error {
	if ok, err := d.openValue('{', "an object"); !ok {
		return err
	}

	seen := map[string]bool{}
	for d.json.More() {
		t, err := d.json.Token()
		if err != nil {
			return err
		}
		name := t.(string) // the json.Decoder accepts nothing else here
		owner, f := fieldNamed(structs, name)
		if f == nil {
			d.noteIn(strings.Trim(fmt.Sprintf("%.40q", name), `"`), errUnknown)
			if _, err := d.rawValue(); err != nil {
				return err
			}
			continue
		}
		if seen[name] {
			d.noteIn(name, errTwice)
		}
		seen[name] = true

		d.path = append(d.path, name)
		if err := d.readField(f, owner); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}

	for _, s := range structs {
		for _, f := range fieldsOf(s.Type()) {
			if !f.optional && !seen[f.name] {
				d.noteIn(f.name, errMissing)
			}
		}
	}
	_, err := d.json.Token()
	return err
}

// readField reads the value of a field of a struct.
func (d *decoder) readField(f *field, owner reflect.Value) (err error) {
	to := owner.FieldByIndex(f.index)
	if l, ok := owner.Addr().Interface().(Limiter); ok && to.Kind() == reflect.Slice {
		err = d.readList(to, l.MaxItems(f.name))
	} else {
		err = d.readValue(to, f.quoted)
	}
	if f.optional && to.IsZero() {
		d.noteError(errForm)
	}
	return err
}

// readValue reads a value of any type. If quoted is true, it is a number in a JSON string.
func (d *decoder) readValue(to reflect.Value, quoted bool) error {
	text, ok := to.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case ok: // also a struct, such as time.Time
	case to.Kind() == reflect.Pointer:
		// A pointer that stays nil means a missing field, which readObject checks; null is an error.
		to.Set(reflect.New(to.Type().Elem()))
		return d.readValue(to.Elem(), quoted)
	case to.Kind() == reflect.Struct:
		return d.readObject(to)
	case to.Kind() == reflect.Slice:
		return d.readList(to, -1)
	}

	raw, err := d.rawValue()
	if err != nil {
		return err
	}

	switch {
	case raw[0] == 'n':
		err = errNull
	case ok:
		err = decodeText(raw, text)
	case to.Kind() == reflect.String:
		var s string
		s, err = decodeString(raw)
		to.SetString(s)
	case quoted && raw[0] != '"':
		err = errors.New("want a number as text")
	case quoted:
		err = decodeScalar(raw[1:len(raw)-1], to)
	default:
		err = decodeScalar(raw, to)
	}
	if err != nil {
		d.noteError(err)
	}
	return nil
}

// readList reads a list of at most most values, or of any number if most is -1.
func (d *decoder) readList(to reflect.Value, most int) error {
	if ok, err := d.openValue('[', "a list"); !ok {
		return err
	}

	to.Set(reflect.MakeSlice(to.Type(), 0, 0)) // an empty list is not null
	for n := 0; d.json.More(); n++ {
		if n == most {
			return d.errorHere(fmt.Errorf("it has more than %d values", most))
		}
		raw, err := d.rawValue()
		if err != nil {
			return err
		}
		if d.first != nil { // after an error the list is not used, so it does not grow
			continue
		}
		if n == to.Cap() {
			to.Grow(1)
		}
		to.SetLen(n + 1)
		if item := to.Index(n); !decodeWritten(raw, item) {
			item.SetZero()
			path := append(d.path, "["+strconv.Itoa(n)+"]")
			one := &decoder{json: json.NewDecoder(bytes.NewReader(raw)), path: path}
			if err := one.readValue(item, false); err != nil {
				return err
			}
			d.first = one.first
		}
	}
	_, err := d.json.Token()
	return err
}

// decodeWritten decodes a value and reports whether encoding/json writes exactly these bytes for the result. Such a
// value has each field once and is in canonical form. It leaves null to the other methods, which take four times as
// long.
func decodeWritten(raw []byte, to reflect.Value) bool {
	if bytes.Contains(raw, []byte("null")) || json.Unmarshal(raw, to.Addr().Interface()) != nil {
		return false
	}
	again, err := json.Marshal(to.Addr().Interface())
	return err == nil && bytes.Equal(again, raw)
}

// rawValue reads a value and returns its text, which is valid until the next call.
func (d *decoder) rawValue() ([]byte, error) {
	err := d.json.Decode(&d.last)
	return d.last, err
}

// decodeScalar decodes a number or a boolean. Its text must be the text that encoding/json writes.
func decodeScalar(raw []byte, to reflect.Value) error {
	if json.Unmarshal(raw, to.Addr().Interface()) == nil {
		if again, err := json.Marshal(to.Interface()); err == nil && bytes.Equal(again, raw) {
			return nil
		}
	}
	return fmt.Errorf("%.40s; want %s in its canonical form", raw, to.Type())
}

// decodeText decodes a value with a text form.
func decodeText(raw []byte, to encoding.TextUnmarshaler) error {
	s, err := decodeString(raw)
	if err != nil {
		return err
	}
	if err := to.UnmarshalText([]byte(s)); err != nil {
		return err
	}
	if v, ok := to.(encoding.TextMarshaler); ok {
		if again, err := v.MarshalText(); err != nil || string(again) != s {
			return errForm
		}
	}
	return nil
}

// decodeString returns the text of a JSON string.
func decodeString(raw []byte) (s string, err error) {
	switch {
	case raw[0] != '"':
		return "", fmt.Errorf("%.40s; want text", raw)
	case !utf8.Valid(raw):
		return "", errUTF8
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}

	// Package json puts U+FFFD for half of a surrogate pair, and other readers keep it.
	if strings.Count(s, "\uFFFD") != bytes.Count(raw, []byte("\uFFFD")) {
		return "", errUTF8
	}
	return s, nil
}

// field is a field of a struct.
type field struct {
	name     string
	index    []int
	optional bool // omitempty
	quoted   bool // string: the number is a JSON string
}

var fieldsByType sync.Map // maps reflect.Type to []field

// fieldsOf returns the fields of a struct.
func fieldsOf(t reflect.Type) []field {
	if all, ok := fieldsByType.Load(t); ok {
		return all.([]field)
	}

	var all []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && f.IsExported() {
			all = append(all, field{name: name, index: f.Index,
				optional: strings.Contains(options, "omitempty"), quoted: strings.Contains(options, "string")})
		}
	}
	fieldsByType.Store(t, all)
	return all
}

// fieldNamed returns the field of that name, and the struct that has it, or nil.
func fieldNamed(structs []reflect.Value, name string) (owner reflect.Value, f *field) {
	for _, s := range structs {
		fields := fieldsOf(s.Type())
		for i := range fields {
			if fields[i].name == name {
				return s, &fields[i]
			}
		}
	}
	return owner, nil
}
