package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// header has the first members of a record: of a release, a history and a state file.
type header struct {
	Format  string `json:"format"`
	Version uint64 `json:"version"`
}

const formatVersion = 1

// timeForm is the only form of a time in a release.
const timeForm = "2006-01-02T15:04:05Z"

// parse decodes a release or history. The error wraps ErrRelease or ErrVersion.
func parse(b []byte, format string, v any) error {
	var h header
	err := decode(b, &h)
	switch {
	case err != nil:
	case h.Format != format:
		err = fmt.Errorf("format %.40q; want %q", h.Format, format)
	case h.Version != formatVersion:
		return fmt.Errorf("%w: version %d of %s", ErrVersion, h.Version, format)
	default:
		err = decode(b, v)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRelease, err)
	}
	return nil
}

// members calls f with the name in the tag of each field of a struct, whether it has omitempty, and the field.
func members(of reflect.Value, f func(name string, optional bool, v reflect.Value) error) error {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		name, optional := strings.CutSuffix(field.Tag.Get("json"), ",omitempty")
		var err error
		if field.Anonymous {
			err = members(of.Field(i), f)
		} else {
			err = f(name, optional, of.Field(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decode sets the fields of the struct at v from the members of a JSON object, by the exact names in their tags, as
// other languages do; encoding/json would ignore their case. Members must be there, except those with omitempty. Others
// are ignored. Of several with one name the last one counts.
func decode(b []byte, v any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	return members(reflect.ValueOf(v).Elem(), func(name string, optional bool, to reflect.Value) error {
		raw, ok := all[name]
		if !ok && optional {
			return nil
		}
		err := errors.New("it is missing")
		if ok && string(raw) != "null" {
			err = decodeValue(raw, to)
		}
		if err != nil {
			return fmt.Errorf("member %s: %w", name, err)
		}
		return nil
	})
}

// decodeValue decodes a value. Objects in it are decoded as by decode.
func decodeValue(raw json.RawMessage, to reflect.Value) error {
	if t, ok := to.Addr().Interface().(*time.Time); ok {
		return decodeTime(raw, t)
	}
	switch to.Kind() {
	case reflect.Struct:
		return decode(raw, to.Addr().Interface())
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return decodeValue(raw, to.Elem())
	case reflect.Slice:
		var all []json.RawMessage
		err := json.Unmarshal(raw, &all)
		to.Set(reflect.MakeSlice(to.Type(), len(all), len(all)))
		for i := 0; i < len(all) && err == nil; i++ {
			err = decodeValue(all[i], to.Index(i))
		}
		return err
	}
	return json.Unmarshal(raw, to.Addr().Interface())
}

func decodeTime(raw json.RawMessage, t *time.Time) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	got, err := time.Parse(timeForm, s)
	if err != nil || got.Format(timeForm) != s {
		return fmt.Errorf("time %.40q; want the form %s", s, timeForm)
	}
	*t = got
	return nil
}

// wholeSeconds returns a time whose JSON has timeForm.
func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// lines returns the JSON of a struct with one member a line.
func lines(v any) ([]byte, error) {
	var all [][]byte
	err := members(reflect.ValueOf(v), func(name string, optional bool, v reflect.Value) error {
		value, err := json.Marshal(v.Interface())
		if !optional || !v.IsZero() {
			all = append(all, fmt.Appendf(nil, "%q:%s", name, value))
		}
		return err
	})
	return fmt.Appendf(nil, "{\n%s\n}", bytes.Join(all, []byte(",\n"))), err
}

// table returns a record with a list of rows, one a line.
func table[T any](format, list string, rows []T) ([]byte, error) {
	all := make([][]byte, len(rows))
	for i := range rows {
		line, err := json.Marshal(&rows[i])
		if err != nil {
			return nil, err
		}
		all[i] = append([]byte("\n"), line...)
	}
	return fmt.Appendf(nil, `{"format":%q,"version":%d,%q:[%s`+"\n]}\n", format, formatVersion, list,
		bytes.Join(all, []byte(","))), nil
}

// A state file ends with a check, so that one flipped bit does not become another release number:
//
//	{"format":"...", ...,
//	"check":"0123456789abcdef"}
//
// The digits are the first 8 bytes of the SHA-256 of all bytes before the comma. A file without a check is of an older
// version, and an empty check belongs to a file that was changed by hand. Both are accepted.

const checkMark = ",\n\"check\":\""

var errSeal = errors.New(`its check is wrong: it was damaged; if you have changed it, write "check":""`)

// seal adds the check to a JSON object with at least one member.
func seal(text []byte) []byte {
	body := bytes.TrimSuffix(bytes.TrimRight(text, "\n"), []byte("}"))
	return append(append(append(bytes.Clone(body), checkMark...), checkOf(body)...), "\"}\n"...)
}

func checkOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:8])
}

// checkSeal returns an error if a file has a check that does not belong to it.
func checkSeal(text []byte) error {
	text = bytes.TrimRight(text, " \t\r\n")
	at := bytes.LastIndex(text, []byte(checkMark))
	if at < 0 {
		return nil
	}
	if digits := string(text[at+len(checkMark):]); digits != `"}` && digits != checkOf(text[:at])+`"}` {
		return errSeal
	}
	return nil
}

func parseState(b []byte, format string, v any) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return errors.New("it is empty: it was cut") // no writer leaves an empty one
	}
	if err := checkSeal(b); err != nil {
		return err
	}
	var h header
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return err
	}
	if h.Format != format || h.Version != formatVersion {
		return fmt.Errorf("format %.40q, version %d", h.Format, h.Version)
	}
	return nil
}
