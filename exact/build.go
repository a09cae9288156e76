package exact

import (
	"context"
	"errors"
	"iter"
)

// feedBatch is the number of keys that are added together.
const feedBatch = 1 << 10

// Build returns the exact set of members in a universe, which must have all of them. Both are read once; if members are
// not in the universe, members is read again, to name some of them in the *OutsideError. Keys may be reused after yield
// has returned. Errors are those of NewBuilder and Builder.Build. For many goroutines use a Builder.
func Build(ctx context.Context, members, universe iter.Seq[[]byte], c Config) (*Set, error) {
	c.Partitioned = false
	return build(ctx, alone(members), alone(universe), c)
}

// BuildPartitioned is Build for pairs of a partition and a key.
func BuildPartitioned(ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config) (*Set, error) {
	c.Partitioned = true
	return build(ctx, members, universe, c)
}

// alone returns keys without partitions.
func alone(keys iter.Seq[[]byte]) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for key := range keys {
			if !yield(nil, key) {
				return
			}
		}
	}
}

func build(ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config) (s *Set, err error) {
	err = gathered(ctx, members, universe, c, func(b *Builder) error {
		s, err = b.Build(ctx)
		return err
	})
	return s, err
}

// gathered calls build with a Builder that has all keys, and names members that are not in the universe.
func gathered(
	ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config, build func(*Builder) error,
) error {
	b, err := NewBuilder(c)
	if err != nil {
		return err
	}
	err = feed(ctx, members, c.Partitioned, func(p, k [][]byte) error { return b.add(p, k, memberBit) })
	if err == nil {
		err = feed(ctx, universe, c.Partitioned, func(p, k [][]byte) error { return b.add(p, k, 0) })
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	err = build(b)
	var outside *OutsideError
	if errors.As(err, &outside) {
		_ = feed(ctx, members, c.Partitioned, func(p, k [][]byte) error {
			outside.Name(p, k)
			return nil
		})
	}
	return err
}

// feed calls f with copies of all keys, in batches, until ctx ends.
func feed(
	ctx context.Context, keys iter.Seq2[[]byte, []byte], partitioned bool, f func(partitions, keys [][]byte) error,
) error {
	var text []byte // of the partitions and keys of a batch, by turns
	var ends []int
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
	for partition, key := range keys {
		text = append(text, partition...)
		ends = append(ends, len(text))
		text = append(text, key...)
		if ends = append(ends, len(text)); len(ends) >= 2*feedBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
