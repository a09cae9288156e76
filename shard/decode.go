package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// document is the JSON form of a manifest.
type document struct {
	head
	shards []entry
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
			if name := name.(string); strings.EqualFold(name, "shards") {
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

// field decodes the value of a field of the head.
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
	return one.Decode(&j.head)
}

// errList means that the shards are not a list, or too many.
var errList = errors.New("its list of shards cannot be read")

// list decodes the entries.
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
		j.shards = append(j.shards, e)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	return first
}
