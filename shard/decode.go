package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/bloomery/bloomery/internal/shardfile"
)

// document is the JSON form of a manifest.
type document struct {
	shardfile.Head
	shards []Entry
}

// decode reads a document, at most Max entries and at most as many as a count before them says. It goes on after
// unknown fields and values of wrong types, so that the version is known, and returns the first error.
func (j *document) decode(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errors.New("it is not a JSON object")
	}
	var first error
	for d.More() {
		name, err := d.Token()
		if err == nil {
			if name := name.(string); name == "shards" {
				err = j.list(d)
			} else {
				err = j.field(d, name)
			}
		}
		if fatal(err) {
			return cut(err)
		}
		if first == nil {
			first = err
		}
	}
	if _, err := d.Token(); err != nil {
		return cut(err)
	}
	return first
}

// fatal reports whether a Decoder cannot go on after an error.
func fatal(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, errList)
}

// cut returns the error of a text that ends too early for io.EOF.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (j *document) field(d *json.Decoder, name string) error {
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return err
	}
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	one := json.NewDecoder(bytes.NewReader(slices.Concat([]byte("{"), key, []byte(":"), value, []byte("}"))))
	one.DisallowUnknownFields()
	if err := one.Decode(&j.Head); err != nil {
		return err
	}
	switch {
	case !slices.Contains(headNames, name): // a Decoder ignores the case of names
		return fmt.Errorf("unknown field %.40q", name)
	case string(value) == "null" || name == "fpr_chosen" && j.FPRChosen == 0 || name == "key_check" && j.KeyCheck == "":
		return fmt.Errorf("field %s is %s", name, value)
	}
	return nil
}

var headNames = []string{
	"format", "version", "plan", "spec", "hash", "seed", "key_check", "routing", "fpr_chosen", "count",
}

// entry is an Entry that decodes itself.
type entry Entry

// UnmarshalJSON decodes an entry, which must have all fields and no others. Of several values of a field the last one
// counts, as in other languages. It does without reflection, because a set has up to Max entries.
func (e *entry) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return errors.New("a shard that is no JSON object")
	}
	all := 0
	for {
		var name, value []byte
		if name, value, b = nextField(b); name == nil {
			break
		}
		var err error
		field := 0
		switch string(name) {
		case "file":
			e.File, err = text(value)
		case "sha256":
			field = 1
			var digits string
			if digits, err = text(value); err == nil {
				err = e.SHA256.UnmarshalText([]byte(digits))
			}
		case "keys":
			field = 2
			e.Keys, err = strconv.ParseUint(string(value), 10, 64)
		case "bytes":
			field = 3
			e.Bytes, err = strconv.ParseUint(string(value), 10, 64)
		case "fpr_prior":
			field = 4
			e.FPRPrior, err = strconv.ParseFloat(string(value), 64)
		case "fpr_posterior":
			field = 5
			e.FPRPosterior, err = strconv.ParseFloat(string(value), 64)
		default:
			return fmt.Errorf("unknown field %.40q of a shard", name)
		}
		if err != nil {
			return fmt.Errorf("field %s of a shard: %w", name, err)
		}
		all |= 1 << field
	}
	if all != 1<<6-1 {
		return errors.New("a shard without file, keys, bytes, sha256, fpr_prior or fpr_posterior")
	}
	return nil
}

// nextField returns the name and the value of the next field of a JSON object, and what follows. The name is nil if
// there is no other one. b is valid JSON from the brace or a comma on. Of a value that is an object or a list it
// returns the start.
func nextField(b []byte) (name, value, rest []byte) {
	start := bytes.IndexByte(b, '"')
	if start < 0 {
		return nil, nil, nil
	}
	end := start + stringEnd(b[start:])
	name = b[start+1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		s, _ := text(b[start:end])
		name = []byte(s)
	}
	b = bytes.TrimLeft(b[end:], ": \t\r\n")
	end = bytes.IndexAny(b, ",} \t\r\n")
	if b[0] == '"' {
		end = stringEnd(b)
	}
	return name, b[:end], b[end:]
}

func text(value []byte) (s string, err error) {
	if bytes.IndexByte(value, '\\') >= 0 || value[0] != '"' || !utf8.Valid(value) {
		var v *string
		if err = json.Unmarshal(value, &v); err == nil && v == nil {
			err = errors.New("want text")
		}
		if err != nil {
			return "", err
		}
		return *v, nil
	}
	return string(value[1 : len(value)-1]), nil
}

// stringEnd returns the length of the JSON string at the start of b, with its quotes.
func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// errList means that the shards are not a list, or too many.
var errList = errors.New("its list of shards cannot be read")

func (j *document) list(d *json.Decoder) error {
	j.shards = nil
	t, err := d.Token()
	switch {
	case err != nil || t == nil:
		return err
	case t != json.Delim('['):
		return fmt.Errorf("%w: it is no list", errList)
	}
	most := Max
	if j.Count > 0 {
		most = min(j.Count, Max)
	}
	var first error
	for d.More() {
		if len(j.shards) == most {
			return fmt.Errorf("%w: it has more than %d shards", errList, most)
		}
		var e entry
		if err := d.Decode(&e); fatal(err) {
			return err
		} else if first == nil {
			first = err
		}
		j.shards = append(j.shards, Entry(e))
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	return first
}
