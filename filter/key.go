package filter

import (
	"reflect"
	"unsafe"
)

// Key is the constraint of key types. Named types hash as their underlying type, integers as 8 bytes, little endian. A
// Hash is a key that was hashed before, by the same Hasher or with 128 uniform bits of the caller's own.
type Key interface {
	~string | ~[]byte | ~uint64 | Hash
}

// SumOf returns the hash of a key of any type: SumString, Sum or SumUint64 of h, or the key itself if it is a Hash. It
// does not allocate.
func SumOf[K Key](h Hasher, key K) Hash {
	p := unsafe.Pointer(&key)
	switch reflect.TypeFor[K]().Kind() {
	case reflect.String:
		return h.SumString(*(*string)(p))
	case reflect.Slice:
		return h.Sum(*(*[]byte)(p))
	case reflect.Uint64:
		return h.SumUint64(*(*uint64)(p))
	}
	return *(*Hash)(p)
}
