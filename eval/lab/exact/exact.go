// Package exact measures exact sets with and without partitions. It compares their size with the entropy of the choice
// of members and with a cascade of Bloom filters, and checks every answer. docs/guides/exact.md shows the results.
package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/exact"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment { return []experiment.Experiment{sets} }

var sets = experiment.Experiment{
	Name: "exact", Source: "docs/guides/exact.md", Varies: "share of members; partitions; daily changes", Run: run,
	Seconds: 60,
}

// partition is a part of the universe.
type partition struct{ keys, members int }

// universe is a set of keys, which are numbered partition by partition, members first.
type universe struct {
	partitions []partition
	seed       uint64
}

// count returns the number of keys and of members.
func (u universe) count() (keys, members int) {
	for _, p := range u.partitions {
		keys, members = keys+p.keys, members+p.members
	}
	return keys, members
}

// entropy returns the sum of the entropies of the partitions, in bits.
func (u universe) entropy() (sum float64) {
	for _, p := range u.partitions {
		sum += entropy(float64(p.keys), float64(p.members))
	}
	return sum
}

// batch is a number of keys that are added or queried at once. Either all of them are members or none.
type batch struct {
	members          bool
	names, keys      [][]byte
	room, nameOfPart []byte
}

// batchKeys is the number of keys of a batch.
const batchKeys = 4096

// batches calls f with all keys, batch by batch. The memory of a batch is reused.
func (u universe) batches(ctx context.Context, f func(*batch) error) error {
	b := &batch{room: make([]byte, 8*batchKeys)}
	number := uint64(0)
	for i, p := range u.partitions {
		b.nameOfPart = fmt.Appendf(b.nameOfPart[:0], "partition %d", i)
		for from := 0; from < p.keys; {
			b.members = from < p.members
			to := min(from+batchKeys, p.keys)
			if b.members {
				to = min(to, p.members)
			}
			b.keys, b.names = b.keys[:0], b.names[:0]
			for ; from < to; from++ {
				key := b.room[8*len(b.keys):][:8:8]
				keyOf(key, u.seed, number)
				b.keys, b.names = append(b.keys, key), append(b.names, b.nameOfPart)
				number++
			}
			if err := f(b); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// outcome is the result of building a set and querying every key.
type outcome struct {
	info  exact.Info
	wrong int
}

// build builds the set of a universe, with partitions or without, and queries every key.
func (u universe) build(ctx context.Context, partitioned bool) (o outcome, err error) {
	b, err := exact.NewBuilder(exact.Config{Seed: u.seed, Partitioned: partitioned})
	if err != nil {
		return o, err
	}
	err = u.batches(ctx, func(some *batch) error {
		names := some.names
		if !partitioned {
			names = nil
		}
		if some.members {
			if err := b.AddMembers(some.keys, names...); err != nil {
				return err
			}
		}
		return b.AddUniverse(some.keys, names...)
	})
	if err != nil {
		b.Close()
		return o, err
	}
	set, err := b.Build(ctx)
	if err != nil {
		return o, err
	}
	o.info = set.Info()
	answers := make([]bool, batchKeys)
	return o, u.batches(ctx, func(some *batch) error {
		got := answers[:len(some.keys)]
		if partitioned {
			set.ContainsMany(got, some.keys, some.names...)
		} else {
			set.ContainsMany(got, some.keys)
		}
		for _, yes := range got {
			if yes != some.members {
				o.wrong++
			}
		}
		return nil
	})
}

func run(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(20)
	keys, partitioned, changing := 10_000_000, 1_000_000, 1_000_000
	switch {
	case c.Quick:
		keys, partitioned, changing = 100_000, 50_000, 200_000
	case c.Full:
		partitioned, changing = keys, keys
	}
	points := points(keys)
	work := c.Work(float64(len(points)*keys + c.Trials*partitioned + days*changing))
	if err := densities(ctx, c, work, keys, points, &result); err != nil {
		return result, err
	}
	if err := divided(ctx, c, work, partitioned, &result); err != nil {
		return result, err
	}
	if err := updates(ctx, c, work, changing, &result); err != nil {
		return result, err
	}
	result.Notes = append(result.Notes,
		"Bits are of all parts that a query may read, without the header of the file. Every key of every "+
			"universe was asked for. The bound of two levels holds for fingerprints of any number of bits, also "+
			"fractional ones. The cascade of Bloom filters is computed, with ideal sizes.")
	return result, nil
}

// point is a share of members, in percent, and the limit of the bits per member for 10 million keys, or 0 for none.
type point struct{ percent, limit float64 }

// limitedKeys is the number of keys to which the limits apply.
const limitedKeys = 10_000_000

// points returns the measured densities: densities with limits, and others for the plot.
func points(keys int) []point {
	all := []point{{0.01, 0}, {0.03, 0}, {0.1, 12.1}, {0.3, 0}, {1, 8.6}, {3, 0}, {10, 5.15}, {30, 0}, {50, 0}}
	if keys < limitedKeys {
		for i := range all {
			all[i].limit = 0
		}
	}
	return all
}

// densities builds sets of several densities without partitions.
func densities(
	ctx context.Context, c experiment.Config, work *experiment.Work, keys int, points []point, result *figure.Result,
) error {
	one := func(ctx context.Context, i int) (outcome, error) {
		members := int(math.Round(float64(keys) * points[i].percent / 100))
		return universe{[]partition{{keys, members}}, c.Seed}.build(ctx, false)
	}
	built, err := experiment.Each(ctx, work, float64(keys), len(points), one)
	if err != nil {
		return err
	}
	curves := make([]figure.Curve, 4)
	for i, name := range []string{"exact set", "entropy", "two levels, bound", "cascade of Bloom filters, computed"} {
		curves[i] = figure.Curve{Name: name, Bound: i == 1 || i == 2, Dots: i == 0}
	}
	wrong := 0
	for i, o := range built {
		label := fmt.Sprintf("%d keys, %g%% members: ", keys, points[i].percent)
		all, members := float64(o.info.Universe), float64(o.info.Members)
		values := []float64{
			o.info.BitsPerMember, entropy(all, members) / members,
			twoLevels(all, members), bloomCascade(all, members),
		}
		for j, v := range values {
			row := figure.Exact(label+curves[j].Name+", bits per member", v)
			if j == 0 {
				row = row.Noted("r=%d, a file of %d bytes", o.info.Classes[0].R, o.info.Bytes)
				if points[i].limit > 0 {
					row = experiment.AtMost(row, points[i].limit)
				}
			}
			result.Add(row)
			curves[j].AddPoint(points[i].percent, v)
		}
		wrong += o.wrong
	}
	label := fmt.Sprintf("%d universes of %d keys: wrong answers", len(points), keys)
	result.Add(experiment.AtMost(figure.Exact(label, float64(wrong)), 0))
	result.Plots = append(result.Plots, figure.Plot{
		Name: "exact-bits", Title: fmt.Sprintf("Size of exact sets over a universe of %d keys", keys),
		X: "% members", Y: "bits per member", LogX: true, Curves: curves,
	})
	return nil
}

// entropy returns log2 C(universe, members): the bits that distinguish one set of this number of members from all
// others.
func entropy(universe, members float64) float64 {
	if members <= 0 || members >= universe {
		return 0
	}
	lg := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	return (lg(universe) - lg(members) - lg(universe-members)) / math.Ln2
}

// twoLevels returns the fewest bits per member of two levels without overhead: retrieval with r bits per member, and
// one bit for each member and for each of the false positives, (universe-members)·2^-r. The best r is a real number
// with 2^-r = members/((universe-members)·ln 2), or 0 if that is above 1.
func twoLevels(universe, members float64) float64 {
	if members >= (universe-members)*math.Ln2 {
		return universe / members
	}
	return math.Log2((universe-members)/members) + 1 + math.Log2(math.E) + math.Log2(math.Ln2)
}

// bloomCascade returns the bits per member of a cascade of Bloom filters of ideal size, with the rates of Larisch et
// al. (CRLite, IEEE S&P 2017, section IV.C): sqrt(1/2)·members/others in level 1, 1/2 in the levels after it. Level 1
// contains the members, level 2 the other keys that are false positives of level 1, and so on.
func bloomCascade(universe, members float64) float64 {
	others := universe - members
	rate := math.Sqrt(0.5) * members / others
	in, next := members, rate*others // keys of a level, and of the one after it
	total := 0.0
	for in > members*1e-9 {
		total += in * -math.Log2(rate) * math.Log2(math.E)
		in, next, rate = next, in*0.5, 0.5
	}
	return total / members
}
