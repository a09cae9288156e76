package features

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
)

// measured lists the rows that are measured in every library. If the measurement does not find a feature, the library's
// own proof, if any, shows what the library offers instead.
var measured = map[string]func(t *testing.T, l library, s subject) verdict{
	"Zero allocations: string keys":      textQuery,
	"Zero allocations: integer keys":     integerQuery,
	"Zero allocations: []byte on stack":  stackQuery,
	"MarshalBinary and UnmarshalBinary":  binaryTrip,
	"MarshalText and UnmarshalText":      textTrip,
	"io.WriterTo and io.ReaderFrom":      streamTrip,
	"JSON":                               jsonTrip,
	"gob":                                gobTrip,
	"Checksums in the stored form":       checksums,
	"Writes from many goroutines":        synchronized,
	"Generic functions or types":         generic,
	"Builds from an iterator (iter.Seq)": iterators,
}

func textQuery(_ *testing.T, _ library, s subject) verdict {
	return allocates(s.text, s.callerHashes[0])
}

func integerQuery(_ *testing.T, _ library, s subject) verdict {
	return allocates(s.integer, s.callerHashes[1])
}

func stackQuery(_ *testing.T, _ library, s subject) verdict {
	return allocates(s.stack, s.callerHashes[2])
}

// allocates measures a query.
func allocates(query func(), callerHashes bool) verdict {
	switch n := testing.AllocsPerRun(100, query); {
	case n != 0:
		return no
	case callerHashes:
		return partial
	}
	return yes
}

// whole reports whether a decoded filter contains all keys and not all other keys. Filters that were decoded empty may
// panic.
func whole(s subject, v any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	absent := 0
	for n := range uint64(subjectKeys) {
		if !s.has(v, n) {
			return false
		}
		if !s.has(v, n+1<<40) {
			absent++
		}
	}
	return absent > subjectKeys*9/10
}

// trip returns yes for a filter that is whole after encoding and decoding, or else the result of the library's proof.
func trip(t *testing.T, l library, row string, s subject, code func(out any) error) verdict {
	out := s.fresh()
	if err := code(out); err == nil && whole(s, out) {
		return yes
	}
	return proved(t, l, row)
}

// proved returns the result of the library's own proof for a row, or no if it has none.
func proved(t *testing.T, l library, row string) verdict {
	if proof := l.proof[row]; proof != nil {
		return proof(t)
	}
	return no
}

func binaryTrip(t *testing.T, l library, s subject) verdict {
	return trip(t, l, "MarshalBinary and UnmarshalBinary", s, func(out any) error {
		m, ok := s.value.(encoding.BinaryMarshaler)
		u, back := out.(encoding.BinaryUnmarshaler)
		if !ok || !back {
			return io.EOF
		}
		b, err := m.MarshalBinary()
		if err != nil {
			return err
		}
		return u.UnmarshalBinary(b)
	})
}

func textTrip(t *testing.T, l library, s subject) verdict {
	return trip(t, l, "MarshalText and UnmarshalText", s, func(out any) error {
		m, ok := s.value.(encoding.TextMarshaler)
		u, back := out.(encoding.TextUnmarshaler)
		if !ok || !back {
			return io.EOF
		}
		b, err := m.MarshalText()
		if err != nil {
			return err
		}
		return u.UnmarshalText(b)
	})
}

// streamTrip returns partial if the methods do not return the number of bytes in the stream, as the two interfaces
// require.
func streamTrip(t *testing.T, l library, s subject) verdict {
	counted := true
	v := trip(t, l, "io.WriterTo and io.ReaderFrom", s, func(out any) error {
		w, ok := s.value.(io.WriterTo)
		r, back := out.(io.ReaderFrom)
		if !ok || !back {
			return io.EOF
		}
		var b bytes.Buffer
		n, err := w.WriteTo(&b)
		if err != nil {
			return err
		}
		size := int64(b.Len())
		m, err := r.ReadFrom(&b)
		counted = n == size && m == size
		return err
	})
	if v == yes && !counted {
		return partial
	}
	return v
}

func jsonTrip(t *testing.T, l library, s subject) verdict {
	return trip(t, l, "JSON", s, func(out any) error {
		b, err := json.Marshal(s.value)
		if err != nil {
			return err
		}
		return json.Unmarshal(b, out)
	})
}

func gobTrip(t *testing.T, l library, s subject) verdict {
	return trip(t, l, "gob", s, func(out any) error {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(s.value); err != nil {
			return err
		}
		return gob.NewDecoder(&b).Decode(out)
	})
}

// checksums flips one bit at 64 places in the second half of the stored form, one at a time. Each change must be an
// error.
func checksums(_ *testing.T, _ library, s subject) verdict {
	if s.save == nil {
		return no
	}
	b := s.save()
	for i := range 64 {
		flipped := bytes.Clone(b)
		flipped[len(b)/2+i*(len(b)/2)/64] ^= 1
		if s.load(flipped) == nil {
			return no
		}
	}
	return yes
}

// synchronized requires a proof for a type that contains a lock or an atomic value. Other types do not support
// concurrent writes.
func synchronized(t *testing.T, l library, s subject) verdict {
	v := proved(t, l, "Writes from many goroutines")
	if v == no && holdsSync(reflect.TypeOf(s.value), 0) {
		t.Errorf("%s: %T has a lock or an atomic value: what for?", l.name, s.value)
	}
	return v
}

// holdsSync reports whether a type contains a type of package sync or sync/atomic.
func holdsSync(of reflect.Type, depth int) bool {
	if strings.HasPrefix(of.PkgPath(), "sync") {
		return true
	}
	switch {
	case depth > 6:
		return false
	case of.Kind() == reflect.Pointer, of.Kind() == reflect.Slice, of.Kind() == reflect.Array:
		return holdsSync(of.Elem(), depth+1)
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			if holdsSync(of.Field(i).Type, depth+1) {
				return true
			}
		}
	}
	return false
}

func generic(t *testing.T, l library, _ subject) verdict {
	if v := proved(t, l, "Generic functions or types"); v != no || !apiOf(t, l).generic {
		return v
	}
	t.Errorf("%s has type parameters: say what for", l.name)
	return no
}

func iterators(t *testing.T, l library, _ subject) verdict {
	if v := proved(t, l, "Builds from an iterator (iter.Seq)"); v != no || !apiOf(t, l).iterates {
		return v
	}
	t.Errorf("%s imports iter: say what for", l.name)
	return no
}
