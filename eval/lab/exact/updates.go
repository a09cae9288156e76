package exact

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/exact"
)

const (
	days          = 5
	changedShare  = 0.001 // share of the members, per day: half of these are removed, the same number is added
	updateMembers = 0.01  // share of the universe
)

// updates changes some members and appends an update each day. It queries every key after the last update.
func updates(ctx context.Context, c experiment.Config, work *experiment.Work, keys int, result *figure.Result) error {
	members := int(updateMembers * float64(keys))
	half := max(1, int(changedShare*float64(members)/2))
	all := numbers(c.Seed, 0, keys)
	day := func(d int) iter.Seq[[]byte] { return numbers(c.Seed, d*half, d*half+members) }
	config := exact.Config{Seed: c.Seed}
	set, err := exact.Build(ctx, day(0), all, config)
	if err != nil {
		return err
	}
	whole := set.Info()
	var bytes, bits []float64
	for d := 1; d <= days; d++ {
		config.Base = set
		if set, err = exact.Build(ctx, day(d), all, config); err != nil {
			return err
		}
		u := set.Info().Changed
		if u.Added != uint64(half) || u.Removed != uint64(half) {
			return fmt.Errorf("day %d: %d keys added and %d removed, not %d", d, u.Added, u.Removed, half)
		}
		bytes, bits = append(bytes, float64(u.Bytes)), append(bits, 8*float64(u.Bytes)/float64(2*half))
		work.Step(float64(keys))
	}
	// half members are removed, and half other keys are added.
	bound := entropy(float64(members), float64(half)) + entropy(float64(keys-members), float64(half))
	label := fmt.Sprintf("%d keys, %g%% members, %d changes a day: ", keys, 100*updateMembers, 2*half)
	result.Add(figure.Mean(label+"bytes per day", bytes).Noted("%.2f%% of the whole file of %d bytes",
		100*figure.Mean("", bytes).Measured/float64(whole.Bytes), whole.Bytes),
		figure.Mean(label+"bits a change", bits), figure.Exact(label+"entropy a change, bits", bound/float64(2*half)),
		experiment.AtMost(figure.Exact(label+fmt.Sprintf("wrong answers on day %d", days),
			float64(wrongAnswers(set, c.Seed, keys, days*half, days*half+members))), 0))
	return ctx.Err()
}

// numbers returns the keys from number from on, to number to-1. A key is valid until the next iteration.
func numbers(seed uint64, from, to int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		key := make([]byte, 8)
		for i := from; i < to; i++ {
			keyOf(key, seed, uint64(i))
			if !yield(key) {
				return
			}
		}
	}
}

// keyOf writes key number i of a universe. Keys of one seed are distinct, since the factor is odd.
func keyOf(key []byte, seed, i uint64) {
	binary.LittleEndian.PutUint64(key, (seed<<36+i)*0x9e3779b97f4a7c15)
}

// wrongAnswers queries all keys. The keys with numbers from to to-1 are members.
func wrongAnswers(set *exact.Set, seed uint64, keys, from, to int) (wrong int) {
	i := 0
	for key := range numbers(seed, 0, keys) {
		if set.Contains(key) != (from <= i && i < to) {
			wrong++
		}
		i++
	}
	return wrong
}
