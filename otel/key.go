package otel

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/bloomery/bloomery/filter"
)

// A place is where a record has a part of its key.
type place uint8

const (
	inBody place = iota
	inAttributes
	inResource // in the attributes of the resource
	inTraceID
	inSpanID
)

// keyPart is an entry of Config.Key.
type keyPart struct {
	place place
	name  string // name of the attribute
}

// keyForms describes the entries of Config.Key in errors.
const keyForms = `attributes["NAME"], resource.attributes["NAME"], body, trace_id or span_id`

// parseKeyPart reads an entry of Config.Key, which has the form of a path in OTTL, the language of other processors.
func parseKeyPart(text string) (keyPart, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "body":
		return keyPart{place: inBody}, nil
	case "trace_id":
		return keyPart{place: inTraceID}, nil
	case "span_id":
		return keyPart{place: inSpanID}, nil
	}

	p, quoted := keyPart{place: inAttributes}, text
	if rest, ok := strings.CutPrefix(text, "resource."); ok {
		p.place, quoted = inResource, rest
	}
	quoted, opened := strings.CutPrefix(quoted, "attributes[")
	quoted, closed := strings.CutSuffix(quoted, "]")
	name, err := strconv.Unquote(quoted)
	if !opened || !closed || err != nil || name == "" {
		return p, fmt.Errorf("key: %s: want %s", text, keyForms)
	}
	p.name = name
	return p, nil
}

// A keyReader computes the hashes of the keys of records.
type keyReader struct {
	parts  []keyPart
	hasher filter.Hasher
}

func newKeyReader(entries []string) (*keyReader, error) {
	if len(entries) == 0 {
		return nil, errors.New("key is missing: what tells a record from others: " + keyForms)
	}

	k := &keyReader{hasher: filter.NewHasher(0)}
	for _, text := range entries {
		p, err := parseKeyPart(text)
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, p)
	}
	return k, nil
}

// hasBody reports whether the body is a part of keys.
func (k *keyReader) hasBody() bool {
	for _, p := range k.parts {
		if p.place == inBody {
			return true
		}
	}
	return false
}

// fields are the parts of a log record or span from which keys are made. A span has no body.
type fields struct {
	resource, attributes pcommon.Map
	body                 pcommon.Value
	trace                pcommon.TraceID
	span                 pcommon.SpanID
}

// hash returns the hash of the key of a record. It returns false if a part is missing or empty: many different records
// could have this key by mistake. It uses the memory of room, which it returns.
//
// A key of one part is the text of the part, as "bloomery check" reads it from a line. With several parts, the length of
// each is before its text, so that keys with equal texts and other parts differ.
func (k *keyReader) hash(f fields, room []byte) (h filter.Hash, ok bool, _ []byte) {
	room = room[:0]
	for _, p := range k.parts {
		before := len(room)
		if len(k.parts) > 1 {
			room = append(room, 0, 0, 0, 0, 0, 0, 0, 0)
		}

		begin := len(room)
		room = f.appendPart(room, p)
		if len(room) == begin {
			return h, false, room
		}
		if begin > before {
			binary.LittleEndian.PutUint64(room[before:], uint64(len(room)-begin))
		}
	}
	return k.hasher.Sum(room), true, room
}

// appendPart appends the text of a part, which is empty if the record does not have the part.
func (f *fields) appendPart(to []byte, p keyPart) []byte {
	switch p.place {
	case inTraceID:
		if !f.trace.IsEmpty() {
			to = hex.AppendEncode(to, f.trace[:])
		}
		return to
	case inSpanID:
		if !f.span.IsEmpty() {
			to = hex.AppendEncode(to, f.span[:])
		}
		return to
	case inBody:
		return appendValue(to, f.body)
	}

	from := f.attributes
	if p.place == inResource {
		from = f.resource
	}
	if v, ok := from.Get(p.name); ok {
		to = appendValue(to, v)
	}
	return to
}

func appendValue(to []byte, v pcommon.Value) []byte {
	if v.Type() == pcommon.ValueTypeStr {
		return append(to, v.Str()...)
	}
	return append(to, v.AsString()...)
}
