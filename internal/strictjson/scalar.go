package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeScalar decodes a value that is not taken apart.
func decodeScalar(raw []byte, to reflect.Value) error {
	if v, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return decodeText(raw, v)
	}

	var err error
	var buf [32]byte
	again := buf[:0] // the canonical form
	switch {
	case to.Kind() == reflect.String:
		var s string
		if s, err = decodeString(raw); err == nil {
			to.SetString(s)
		}
		return err
	case to.Kind() == reflect.Bool:
		var v bool
		v, err = strconv.ParseBool(string(raw))
		to.SetBool(v)
		again = strconv.AppendBool(again, v)
	case to.CanInt():
		var v int64
		v, err = strconv.ParseInt(string(raw), 10, to.Type().Bits())
		to.SetInt(v)
		again = strconv.AppendInt(again, v, 10)
	case to.CanUint():
		var v uint64
		v, err = strconv.ParseUint(string(raw), 10, to.Type().Bits())
		to.SetUint(v)
		again = strconv.AppendUint(again, v, 10)
	case to.CanFloat():
		var v float64
		v, err = strconv.ParseFloat(string(raw), 64)
		to.SetFloat(v)
		again = appendFloat(again, v)
	default:
		panic(to.Type().String() + " cannot be decoded")
	}
	switch {
	case err != nil:
		return fmt.Errorf("%.40s; want %s", raw, to.Type())
	case !bytes.Equal(again, raw):
		return errForm
	}
	return nil
}

// appendFloat appends the form in which encoding/json and JavaScript write a number.
func appendFloat(b []byte, v float64) []byte {
	if v == 0 || math.Abs(v) >= 1e-6 && math.Abs(v) < 1e21 {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	again, err := json.Marshal(v)
	if err != nil {
		return b // it is infinite
	}
	return append(b, again...)
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
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), nil
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
