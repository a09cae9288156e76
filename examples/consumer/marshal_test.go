package main

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// record is a value with a set in it, as programs store it.
type record struct {
	Name string
	Keys *bloomery.Set
}

// TestMarshal takes a set of each family through every encoding.
func TestMarshal(t *testing.T) {
	keys := words("key ", 300)
	for _, spec := range specs {
		set := built(t, keys, bloomery.Config{Spec: spec})
		in := record{"r", set}
		for what, trip := range map[string]func(out *record) error{
			"binary": func(out *record) error {
				out.Keys = new(bloomery.Set)
				b, err := encoding.BinaryMarshaler(set).MarshalBinary()
				return errors.Join(err, out.Keys.UnmarshalBinary(b))
			},
			"append": func(out *record) error {
				out.Keys = new(bloomery.Set)
				b, err := set.AppendBinary([]byte("before"))
				if !bytes.HasPrefix(b, []byte("before")) {
					return errors.New("AppendBinary drops what it appends to")
				}
				return errors.Join(err, out.Keys.UnmarshalBinary(b[len("before"):]))
			},
			"text": func(out *record) error {
				out.Keys = new(bloomery.Set)
				b, err := set.MarshalText()
				return errors.Join(err, out.Keys.UnmarshalText(b))
			},
			"json": func(out *record) error {
				b, err := json.Marshal(in)
				return errors.Join(err, json.Unmarshal(b, out))
			},
			"xml": func(out *record) error {
				b, err := xml.Marshal(in)
				return errors.Join(err, xml.Unmarshal(b, out))
			},
			"gob": func(out *record) error {
				var b bytes.Buffer
				return errors.Join(gob.NewEncoder(&b).Encode(in), gob.NewDecoder(&b).Decode(out))
			},
			"io.Copy": func(out *record) error {
				out.Keys = new(bloomery.Set)
				var b bytes.Buffer
				n, err := io.Copy(&b, source{WriterTo: set})
				m, read := io.Copy(sink{ReaderFrom: out.Keys}, io.LimitReader(&b, 1<<30))
				if want := must(set.EncodedLen())(t); n != int64(want) || m != n {
					t.Errorf("%s: %d bytes written, %d read, want %d", spec, n, m, want)
				}
				return errors.Join(err, read)
			},
		} {
			var out record
			if err := trip(&out); err != nil {
				t.Errorf("%s: %s: %v", spec, what, err)
				continue
			}
			if !out.Keys.Equal(set) {
				t.Errorf("%s: %s: %v comes back as %v", spec, what, set, out.Keys)
			}
			holds(t, out.Keys, keys)
		}
	}
	if b, err := json.Marshal(new(bloomery.Set)); err == nil {
		t.Errorf("JSON of a zero Set is %s", b)
	}
}

// source and sink have io.Copy use a WriterTo and a ReaderFrom.
type (
	source struct {
		io.Reader
		io.WriterTo
	}
	sink struct {
		io.Writer
		io.ReaderFrom
	}
)

// TestReadFrom reads two sets from one stream: each stops at its end.
func TestReadFrom(t *testing.T) {
	a := built(t, words("a ", 100), bloomery.Config{})
	b := built(t, words("b ", 200), bloomery.Config{Spec: "fuse(width=8)"})
	stream := bytes.NewReader(slices.Concat(bytesOf(t, a), bytesOf(t, b)))
	for _, want := range []*bloomery.Set{a, b} {
		var got bloomery.Set
		if n, err := got.ReadFrom(stream); n != int64(must(want.EncodedLen())(t)) || err != nil || !got.Equal(want) {
			t.Errorf("%d bytes, %v: %v, want %v", n, err, &got, want)
		}
	}
	kept := built(t, words("a ", 100), bloomery.Config{})
	if _, err := kept.ReadFrom(stream); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) || !kept.Equal(a) {
		t.Errorf("at the end of the stream: %v; the set must stay as it is", err)
	}
}

// TestUnmarshalSecret reads a keyed filter into receivers with and without its secret.
func TestUnmarshalSecret(t *testing.T) {
	secret := filter.NewSecret()
	keys := words("key ", 100)
	set := built(t, keys, bloomery.Config{Secret: secret})
	binary, text, file := bytesOf(t, set), must(set.MarshalText())(t), must(json.Marshal(set))(t)
	reads := map[string]func(*bloomery.Set) error{
		"UnmarshalBinary": func(s *bloomery.Set) error { return s.UnmarshalBinary(binary) },
		"UnmarshalText":   func(s *bloomery.Set) error { return s.UnmarshalText(text) },
		"JSON":            func(s *bloomery.Set) error { return json.Unmarshal(file, s) },
		"ReadFrom": func(s *bloomery.Set) error {
			_, err := s.ReadFrom(bytes.NewReader(binary))
			return err
		},
	}
	for what, read := range reads {
		other := must(bloomery.New(bloomery.Config{Keys: 1, Secret: filter.NewSecret()}))(t)
		for _, s := range []*bloomery.Set{new(bloomery.Set), other} {
			if err := read(s); !errors.Is(err, filter.ErrSecret) {
				t.Errorf("%s without the secret: %v", what, err)
			}
		}
		same := must(bloomery.New(bloomery.Config{Keys: 1, Secret: secret}))(t)
		for _, s := range []*bloomery.Set{bloomery.NewSet(nil, filter.NewKeyedHasher(*secret)), same} {
			if err := read(s); err != nil || !s.Equal(set) {
				t.Errorf("%s with the secret: %v", what, err)
			}
			holds(t, s, keys)
		}
	}
}
