package bloomery

import (
	"encoding/binary"
	"reflect"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// sumOf returns the function that hashes keys of type K as their underlying type.
func sumOf[K Key](h filter.Hasher) func(K) filter.Hash {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.String:
		return func(k K) filter.Hash { return h.SumString(bitvec.As[string](k)) }
	case reflect.Slice:
		return func(k K) filter.Hash { return h.Sum(bitvec.As[[]byte](k)) }
	}
	return func(k K) filter.Hash { return h.SumUint64(bitvec.As[uint64](k)) }
}

// textOf returns a copy of the bytes of a key, those of an integer little endian.
func textOf[K Key](k K) string {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.String:
		return bitvec.As[string](k)
	case reflect.Slice:
		return string(bitvec.As[[]byte](k))
	}
	return string(binary.LittleEndian.AppendUint64(nil, bitvec.As[uint64](k)))
}

// nameOf returns a key for an error: an integer in decimal digits, other keys as they are.
func nameOf[K Key](k K) string {
	if reflect.TypeFor[K]().Kind() == reflect.Uint64 {
		return strconv.FormatUint(bitvec.As[uint64](k), 10)
	}
	return textOf(k)
}
