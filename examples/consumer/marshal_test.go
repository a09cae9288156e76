package main

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// record is a value that contains a set, as a program would store it.
type record struct {
	Name string
	Keys *bloomery.Set
}

// TestMarshal encodes and decodes a set of each family in every encoding.
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
			"gob": func(out *record) error {
				var b bytes.Buffer
				return errors.Join(gob.NewEncoder(&b).Encode(in), gob.NewDecoder(&b).Decode(out))
			},
			"json": func(out *record) error {
				b, err := json.Marshal(in)
				return errors.Join(err, json.Unmarshal(b, out))
			},
			"stream": func(out *record) error {
				var b bytes.Buffer
				n, err := io.Copy(&b, source{WriterTo: set})
				if want := len(bytesOf(t, set)); n != int64(want) || b.Len() != want {
					t.Errorf("%s: %d bytes written, want %d", spec, n, want)
				}
				var read error
				out.Keys, read = bloomery.Read(&b)
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
	if b, err := new(bloomery.Set).MarshalBinary(); err == nil {
		t.Errorf("the file of a zero Set is %q", b)
	}
}

// TestMarshalText checks JSON without a filter and hostile text. Nothing may be read, and the receiver must be
// unchanged.
func TestMarshalText(t *testing.T) {
	if b, err := json.Marshal(record{Name: "r"}); err != nil || string(b) != `{"Name":"r","Keys":null}` {
		t.Errorf("a nil Set: %s, %v", b, err)
	}
	if b, err := json.Marshal(new(bloomery.Set)); err == nil {
		t.Errorf("a zero Set: %s", b)
	}

	set := built(t, words("key ", 100), bloomery.Config{})
	text := must(set.MarshalText())(t)
	for what, hostile := range map[string]string{
		"empty": "", "no base64": "!" + string(text), "half": string(text[:len(text)/2]), "more": string(text) + "AAAA",
		"a changed byte": "A" + string(text[1:]), "no padding": strings.TrimRight(string(text)+"AA", "="),
	} {
		kept, none := built(t, words("other ", 100), bloomery.Config{}), new(bloomery.Set)
		before := bytesOf(t, kept)
		if err := kept.UnmarshalText([]byte(hostile)); err == nil || !bytes.Equal(bytesOf(t, kept), before) {
			t.Errorf("%s: %v", what, err)
		}
		if err := none.UnmarshalText([]byte(hostile)); err == nil || !none.ContainsString("any") || none.Err() == nil {
			t.Errorf("%s, into a zero Set: %v", what, err)
		}
	}
}

// source makes io.Copy use a WriterTo.
type source struct {
	io.Reader
	io.WriterTo
}

// TestReadTwo reads two sets from one stream, and checks that each read stops at the end of its set.
func TestReadTwo(t *testing.T) {
	a := built(t, words("a ", 100), bloomery.Config{})
	b := built(t, words("b ", 200), bloomery.Config{Spec: "fuse(width=8)"})
	stream := bytes.NewReader(slices.Concat(bytesOf(t, a), bytesOf(t, b)))
	for _, want := range []*bloomery.Set{a, b} {
		before := stream.Len()
		got, err := bloomery.Read(stream)
		if n := before - stream.Len(); err != nil || n != len(bytesOf(t, want)) || !got.Equal(want) {
			t.Errorf("%d bytes, %v: %v, want %v", n, err, got, want)
		}
	}
	if got, err := bloomery.Read(stream); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) || got != nil {
		t.Errorf("at the end of the stream: %v, %v", got, err)
	}
	kept := built(t, words("a ", 100), bloomery.Config{})
	if err := kept.UnmarshalBinary(bytesOf(t, b)[:50]); !errors.Is(err, io.ErrUnexpectedEOF) || !kept.Equal(a) {
		t.Errorf("half a file: %v; the set must stay as it is", err)
	}
}

// TestUnmarshalSecret reads a keyed filter into receivers with and without its secret.
func TestUnmarshalSecret(t *testing.T) {
	secret := filter.NewSecret()
	keys := words("key ", 100)
	set := built(t, keys, bloomery.Config{Hashing: bloomery.Hashing{Secret: secret}})
	file := bytesOf(t, set)
	var stream bytes.Buffer
	if err := gob.NewEncoder(&stream).Encode(set); err != nil {
		t.Fatal(err)
	}
	text := must(json.Marshal(set))(t)
	reads := map[string]func(*bloomery.Set) error{
		"json":            func(s *bloomery.Set) error { return json.Unmarshal(text, s) },
		"UnmarshalBinary": func(s *bloomery.Set) error { return s.UnmarshalBinary(file) },
		"gob":             func(s *bloomery.Set) error { return gob.NewDecoder(bytes.NewReader(stream.Bytes())).Decode(s) },
	}
	for what, read := range reads {
		other := must(bloomery.New(bloomery.Config{Keys: 1, Hashing: bloomery.Hashing{Secret: filter.NewSecret()}}))(t)
		for _, s := range []*bloomery.Set{new(bloomery.Set), other} {
			if err := read(s); !errors.Is(err, filter.ErrSecret) {
				t.Errorf("%s without the secret: %v", what, err)
			}
		}
		same := must(bloomery.New(bloomery.Config{Keys: 1, Hashing: bloomery.Hashing{Secret: secret}}))(t)
		if err := read(same); err != nil || !same.Equal(set) {
			t.Errorf("%s with the secret: %v", what, err)
		}
		holds(t, same, keys)
	}
}
