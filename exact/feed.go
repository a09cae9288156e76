package exact

import (
	"context"
	"errors"
	"iter"
	"reflect"
)

// Keys is a list of keys: an iter.Seq of keys; an iter.Seq2 of keys and errors, where the first error ends the build;
// or, for a partitioned set, an iter.Seq2 of partitions and keys. The bytes may be reused after yield has returned.
type Keys interface {
	~func(yield func([]byte) bool) | ~func(yield func(string) bool) |
		~func(yield func([]byte, error) bool) | ~func(yield func(string, error) bool) |
		~func(yield func(partition, key []byte) bool)
}

// Build returns the exact set of members in a universe, which must contain all members. It reads both lists once; if
// members are not in the universe, it reads members again, to name some of them in the *OutsideError. Errors come from
// NewBuilder, Builder.Build and the lists. The same keys give the same bytes, in any order. For many goroutines use a
// Builder.
func Build[M, U Keys](ctx context.Context, members M, universe U, c Config) (s *Set, err error) {
	is, parted := sourceOf(members)
	all, both := sourceOf(universe)
	if both != parted {
		return nil, errPartitioned(parted)
	}
	if c.Partitioned = parted; c.Base != nil && c.Base.partitioned() != parted {
		return nil, errPartitioned(c.Base.partitioned())
	}

	b, err := NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := feedKeys(ctx, is, parted, func(p, k [][]byte) error { return b.addKeys(p, k, memberBit) }); err != nil {
		return nil, err
	}
	if err := feedKeys(ctx, all, parted, func(p, k [][]byte) error { return b.addKeys(p, k, 0) }); err != nil {
		return nil, err
	}

	s, err = b.Build(ctx)
	var outside *OutsideError
	if errors.As(err, &outside) {
		// The second reading only names the keys of an error that is returned anyway, so its own error is dropped.
		_ = feedKeys(ctx, is, parted, func(p, k [][]byte) error {
			outside.addNames(p, k)
			return nil
		})
	}
	return s, err
}

// source calls a function with each key of a list and its partition, or nil, until that returns false. It returns the
// error of the list.
type source func(yield func(partition, key []byte) bool) error

// sourceOf returns the source of keys, and whether they have partitions.
func sourceOf[K Keys](keys K) (s source, partitioned bool) {
	if pairs, ok := convertTo[iter.Seq2[[]byte, []byte]](keys); ok {
		return func(yield func(partition, key []byte) bool) error {
			pairs(yield)
			return nil
		}, true
	}
	if list, ok := convertTo[iter.Seq[[]byte]](keys); ok {
		return listed(withoutErrors(list)), false
	}
	if list, ok := convertTo[iter.Seq[string]](keys); ok {
		return listed(withoutErrors(list)), false
	}
	if list, ok := convertTo[iter.Seq2[string, error]](keys); ok {
		return listed(list), false
	}
	list, _ := convertTo[iter.Seq2[[]byte, error]](keys)
	return listed(list), false
}

// listed returns the source of a list without partitions.
func listed[K string | []byte](keys iter.Seq2[K, error]) source {
	return func(yield func(partition, key []byte) bool) error {
		var buffer []byte
		for key, err := range keys {
			buffer = append(buffer[:0], key...)
			if err != nil || !yield(nil, buffer) {
				return err
			}
		}
		return nil
	}
}

func withoutErrors[K any](keys iter.Seq[K]) iter.Seq2[K, error] {
	return func(yield func(K, error) bool) {
		keys(func(key K) bool { return yield(key, nil) })
	}
}

// convertTo converts a function to another type with the same signature; ok is false if the signatures differ.
func convertTo[T any](f any) (t T, ok bool) {
	v, to := reflect.ValueOf(f), reflect.TypeFor[T]()
	// A type assertion would miss the named function types that Keys allows.
	if ok = v.CanConvert(to); ok {
		t = v.Convert(to).Interface().(T)
	}
	return t, ok
}

// feedBatch is the number of keys that are added together.
const feedBatch = 1 << 10

// feedKeys calls f with copies of all keys, in batches, until ctx ends.
func feedKeys(ctx context.Context, keys source, partitioned bool, f func(partitions, keys [][]byte) error) error {
	// A list may reuse the bytes of a key after yield, so each batch is copied into one buffer.
	var text []byte // the partitions and keys of a batch, alternating
	var ends []int  // the end of each partition and key in text
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var partitions, batch [][]byte
		at := 0
		for i, end := range ends {
			if part := text[at:end:end]; i%2 == 1 {
				batch = append(batch, part)
			} else if partitioned {
				partitions = append(partitions, part)
			}
			at = end
		}
		text, ends = text[:0], ends[:0]
		return f(partitions, batch)
	}

	var failed error // error of flush
	err := keys(func(partition, key []byte) bool {
		text = append(text, partition...)
		ends = append(ends, len(text))
		text = append(text, key...)
		if ends = append(ends, len(text)); len(ends) >= 2*feedBatch {
			failed = flush()
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return flush()
}
