package intake

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
)

// batch is the number of keys of a sequence that are passed on together, and between two checks of the context.
const batch = 4096

// hashed is the number of keys that are hashed together. The keys and their hashes stay in the first-level cache.
const hashed = 512

// Feed adds the keys of a sequence. It keeps no slice that keys yields.
func Feed[K filter.Key](ctx context.Context, in *Intake, keys iter.Seq[K]) error {
	if in.texts != nil {
		return eachKey(ctx, keys, func(k K) error {
			if h, ok := any(k).(filter.Hash); ok {
				return in.AddHash(h)
			}
			text, err := textOf(k, in.hasher.Form())
			if err != nil {
				return err
			}
			return in.addText(text)
		})
	}
	return Hashes(ctx, in.hasher, keys, in.AddHashes)
}

// Hashes calls give with the hashes of the keys of a sequence, in batches. give must not keep them.
func Hashes[K filter.Key](
	ctx context.Context, h filter.Hasher, keys iter.Seq[K], give func(hs []filter.Hash) error,
) error {
	// Two loops: with one for both kinds of keys, integers took 11 to 21% more time.
	hs := make([]filter.Hash, hashed)
	if reflect.TypeFor[K]().Kind() != reflect.Slice {
		return batches(ctx, keys, func(part []K) error {
			if err := checkTypes(h.Form(), part); err != nil {
				return err
			}
			kernel.Sums(hs, h, part)
			return give(hs[:len(part)])
		})
	}

	if err := ctx.Err(); err != nil {
		return err
	}

	n := 0
	for k := range keys { // the bytes of k may change after this iteration, so they are hashed at once
		hs[n] = h.Sum(bitvec.As[[]byte](k))
		if n++; n < hashed {
			continue
		}
		n = 0
		if err := cmp.Or(give(hs), ctx.Err()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return give(hs[:n])
}

// checkTypes returns an error wrapping filter.ErrKeyType if an integer cannot be a key of the form.
func checkTypes[K filter.Key](f filter.KeyForm, keys []K) error {
	if f.Type == filter.KeyBytes || reflect.TypeFor[K]().Kind() != reflect.Uint64 {
		return nil
	}
	var buf [20]byte
	for _, k := range bitvec.As[[]uint64](keys) {
		if _, err := f.AppendUint64(buf[:0], k); err != nil {
			return err
		}
	}
	return nil
}

// batches calls f with the keys of a sequence, until it fails or ctx ends. f must not keep them.
func batches[K filter.Key](ctx context.Context, keys iter.Seq[K], f func(part []K) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	part, n := new([hashed]K), 0
	for k := range keys {
		part[n] = k
		if n++; n < hashed {
			continue
		}
		n = 0
		if err := cmp.Or(f(part[:]), ctx.Err()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(part[:n])
}

// FeedValues is Feed for keys with values.
func FeedValues[K filter.Key](ctx context.Context, in *Intake, keys iter.Seq2[K, uint64]) error {
	hs, values := make([]filter.Hash, 0, batch), make([]uint64, 0, batch)
	for k, value := range keys {
		if err := checkTypes(in.hasher.Form(), []K{k}); err != nil {
			return err
		}
		if hs, values = append(hs, filter.SumOf(in.hasher, k)), append(values, value); len(hs) < batch {
			continue
		}
		if err := errors.Join(in.AddValueHashes(hs, values), ctx.Err()); err != nil {
			return err
		}
		hs, values = hs[:0], values[:0]
	}
	return errors.Join(in.AddValueHashes(hs, values), ctx.Err())
}

// NameConflict adds the name of the key to a *family.ValueError in err, and returns err. It ranges over keys until it
// finds the key.
func NameConflict[K filter.Key](err error, h filter.Hasher, keys iter.Seq2[K, uint64]) error {
	var both *family.ValueError
	if errors.As(err, &both) {
		for k := range keys {
			if both.Of(filter.SumOf(h, k)) {
				both.Key = nameOf(k)
				break
			}
		}
	}
	return err
}

// Copies calls give with copies of the keys of a sequence, in batches. give may keep them until it returns.
func Copies(ctx context.Context, keys iter.Seq[[]byte], give func(keys [][]byte) error) error {
	var text []byte               // the keys of a batch, one after the other
	ends := make([]int, 0, batch) // the end of each key in text
	flush := func() error {
		part := make([][]byte, len(ends))
		at := 0
		for i, end := range ends {
			part[i], at = text[at:end], end
		}
		text, ends = text[:0], ends[:0]
		return give(part)
	}

	err := eachKey(ctx, keys, func(key []byte) error {
		text = append(text, key...)
		if ends = append(ends, len(text)); len(ends) < batch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// eachKey calls f for every key, until it fails or ctx ends.
func eachKey[K filter.Key](ctx context.Context, keys iter.Seq[K], f func(K) error) (err error) {
	n := 0
	for k := range keys {
		if n%batch == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n++
		if err := f(k); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// textOf returns a copy of the bytes of a key that is not a hash. The error wraps filter.ErrKeyType.
func textOf[K filter.Key](k K, f filter.KeyForm) ([]byte, error) {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.String:
		return []byte(bitvec.As[string](k)), nil
	case reflect.Slice:
		return append([]byte(nil), bitvec.As[[]byte](k)...), nil
	}
	return f.AppendUint64(nil, bitvec.As[uint64](k))
}

// nameOf returns a key for an error: an integer in decimal, a hash in hexadecimal, other keys as they are.
func nameOf[K filter.Key](k K) string {
	switch reflect.TypeFor[K]().Kind() {
	case reflect.Uint64:
		return strconv.FormatUint(bitvec.As[uint64](k), 10)
	case reflect.Struct:
		h := bitvec.As[filter.Hash](k)
		return fmt.Sprintf("%016x%016x", h.Hi, h.Lo)
	}
	text, _ := textOf(k, filter.KeyForm{}) // no integer comes here
	return string(text)
}

// FeedFrom is Feed for keys from a source that can fail. It returns the error of the source.
func FeedFrom[K filter.Key](ctx context.Context, in *Intake, keys iter.Seq2[K, error]) error {
	var failed error
	err := Feed(ctx, in, func(yield func(K) bool) {
		for k, err := range keys {
			if failed = err; err != nil || !yield(k) {
				return
			}
		}
	})
	return cmp.Or(failed, err)
}

// longestLine is the length limit of Lines in bytes.
const longestLine = 1 << 20

// Lines yields the lines of r that are not empty, without their line endings, and the error of r, if there is one.
func Lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, longestLine+1) // with the line ending
		for lines.Scan() {
			if line := lines.Bytes(); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
