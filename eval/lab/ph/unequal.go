package ph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// unequal measures whether groups gain by different numbers of functions k, in the construction of the paper and in
// ours. All filters have 8 bits per key, which include the choices and, unless a row says otherwise, the bits that name
// the k of each group.
var unequal = experiment.Experiment{
	Name: "ph-unequal", Source: Paper + ", section 7 (question 3)", Varies: "functions of a group, equal or not",
	Run: runUnequal, Seconds: 60,
}

// divided is the result of a search in which group j has ks[j] functions.
type divided struct {
	fill  float64
	sizes []float64 // of each group: the number of its keys
	alone []float64 // of each group: the number of bits that one of its functions sets alone, on average
}

// construction searches filters of n keys with ks[j] functions for group j, in total bits of which side store choices.
type construction struct {
	name      string
	n, groups int
	name1     float64 // bits that store one choice
	least     int     // the k to begin with
	search    func(ctx context.Context, hs []filter.Hash, ks []int, bits uint64) (divided, error)
}

// ways lists how the groups get their k. by, if not nil, returns the weights of the groups: a group with a larger
// weight has fewer functions. If the k are named, the bits that name them count.
var ways = []struct {
	name  string
	by    func(divided) []float64
	named bool
}{
	{"equal k", nil, false},
	{"k by keys, free", func(d divided) []float64 { return d.sizes }, false},
	{"k by keys", func(d divided) []float64 { return d.sizes }, true},
	{"k by bits set alone, free", func(d divided) []float64 { return d.alone }, false},
	{"k by bits set alone", func(d divided) []float64 { return d.alone }, true},
}

// divide searches a filter with about k functions for a group in each of the ways. It returns p_a and the mean k of
// each. All k are equal in the first filter, whose fill and bits decide for the others.
func (o construction) divide(ctx context.Context, hs []filter.Hash, k float64) (out []float64, err error) {
	equal := slices.Repeat([]int{int(math.Round(k))}, o.groups)
	first, err := o.search(ctx, hs, equal, o.bits(equal, false))
	for _, way := range ways {
		if err != nil {
			return nil, err
		}
		d, ks := first, slices.Clone(equal)
		if way.by != nil {
			weights, all := way.by(d), 0.0
			for _, w := range weights {
				all += w / float64(o.groups)
			}
			for j, w := range weights {
				// The rate f^k_j of a group is then proportional to its weight, up to rounding.
				ks[j] = max(1, int(math.Round(k+math.Log(max(w, 0.5)/all)/math.Log(d.fill))))
			}
			d, err = o.search(ctx, hs, ks, o.bits(ks, way.named))
		}
		rate, mean := 0.0, 0.0
		for _, k := range ks {
			rate += math.Pow(d.fill, float64(k)) / float64(o.groups)
			mean += float64(k) / float64(o.groups)
		}
		out = append(out, rate, mean)
	}
	return out, err
}

// bits returns the bits that the choices leave of 8 bits per key. The k of a group costs the entropy of all k.
func (o construction) bits(ks []int, named bool) uint64 {
	side, count := 0.0, map[int]float64{}
	for _, k := range ks {
		side += float64(k) * o.name1
		count[k]++
	}
	for k := range 100 { // in order, so that sums are equal in all runs
		if c := count[k]; c > 0 && named {
			side += c * math.Log2(float64(o.groups)/c)
		}
	}
	return uint64(8*o.n) - uint64(math.Ceil(side))
}

// asPublished is the construction of the paper with groups of about 40 keys, as in Table 2.
func asPublished(n, functions int) construction {
	groups := n / 40
	return construction{"published choices", n, groups, math.Log2(float64(functions)), 5,
		func(ctx context.Context, hs []filter.Hash, ks []int, bits uint64) (divided, error) {
			group, bit := paper.RandomFunctions(hs, groups, bits)
			found, err := paper.Greedy{
				Keys: n, Groups: groups, Functions: functions, Ks: ks, Bits: bits, Group: group, Bit: bit, Stop: settled,
			}.Search(ctx, mostPasses)
			if err != nil {
				return divided{}, err
			}
			return share(n, groups, bits, ks, group, func(key, l int) uint64 {
				return bit(key, found.Functions[group(key)][l])
			}), nil
		}}
}

// asShifts is our construction with groups of about 15 keys and 32 shifts. Slots that a group does not have lead to
// extra bits at the end, which do not count.
func asShifts(n int) construction {
	groups := n / 15
	return construction{"our shifts", n, groups, anneal.MaxWidth, 6,
		func(_ context.Context, hs []filter.Hash, ks []int, bits uint64) (divided, error) {
			const reach = 1 << anneal.MaxWidth
			group, position := paper.RandomFunctions(hs, groups, bits-reach+1)
			members, sizes, most := make([][]int, groups), make([]uint32, groups), 0
			for key := range hs {
				members[group(key)] = append(members[group(key)], key)
				sizes[group(key)]++
			}
			for _, k := range ks {
				most = max(most, k)
			}
			var s anneal.State
			s.Reset(anneal.Geometry{Bits: bits + reach, K: most, Width: anneal.MaxWidth}, sizes)
			for j, keys := range members {
				pos := s.Positions(j)
				for l := range most {
					for i, key := range keys {
						pos[l*len(keys)+i] = uint32(bits)
						if l < ks[j] {
							pos[l*len(keys)+i] = uint32(position(key, l))
						}
					}
				}
			}
			rnd := anneal.Random(n)
			anneal.NewPart(anneal.Passes(filter.Effort{Level: filter.Default})).Run(&s, &rnd, false)
			return share(n, groups, bits, ks, group, func(key, l int) uint64 {
				return position(key, l) + uint64(s.Shifts[group(key)*most+l])
			}), nil
		}}
}

// share sets the bits of all keys and counts which groups set them.
func share(n, groups int, bits uint64, ks []int, group func(key int) int, at func(key, l int) uint64) divided {
	d := divided{sizes: make([]float64, groups), alone: make([]float64, groups)}
	owners := make([]int, bits)
	each := func(f func(j int, bit uint64)) {
		for key := range n {
			for l := range ks[group(key)] {
				f(group(key), at(key, l))
			}
		}
	}
	each(func(_ int, bit uint64) {
		if owners[bit] == 0 {
			d.fill += 1 / float64(bits)
		}
		owners[bit]++
	})
	each(func(j int, bit uint64) {
		d.sizes[j] += 1 / float64(ks[j])
		if owners[bit] == 1 {
			d.alone[j] += 1 / float64(ks[j])
		}
	})
	return d
}

func runUnequal(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(10)
	constructions := []construction{asPublished(c.Size(4000, 1000), c.Size(1024, 64)), asShifts(c.Size(20_000, 3000))}
	const steps = 5 // from the least k on, by 1/2
	w := c.Work(float64(len(constructions) * steps * c.Trials))
	for _, o := range constructions {
		curves, lowest := make([]figure.Curve, len(ways)), make([]figure.Row, len(ways))
		best := make([][]float64, len(ways)) // the rates of the trials of lowest
		for step := range steps {
			k := float64(o.least) + float64(step)/2
			trials, err := experiment.Each(ctx, w, 1, c.Trials, func(ctx context.Context, i int) ([]float64, error) {
				return o.divide(ctx, c.Hashes(o.n, i), k)
			})
			if err != nil {
				return result, err
			}
			columns := experiment.Columns(trials)
			for i, way := range ways {
				if way.by == nil && step%2 == 1 {
					continue // equal k are integers
				}
				mean, _, _ := figure.MeanInterval(columns[2*i+1])
				r := figure.Mean(fmt.Sprintf("p_a, %s, %s", o.name, way.name), columns[2*i]).Noted("mean k = %.2f", mean)
				curves[i].Name = way.name
				curves[i].Add(mean, r)
				if best[i] == nil || r.Measured < lowest[i].Measured {
					lowest[i], best[i] = r, columns[2*i]
				}
			}
		}
		result.Add(lowest...)
		for i, way := range ways[1:] {
			shares := slices.Clone(best[i+1])
			for trial := range shares {
				shares[trial] /= best[0][trial]
			}
			result.Add(figure.Mean(fmt.Sprintf("share of equal k, %s, %s", o.name, way.name), shares))
		}
		size := float64(o.n) / float64(o.groups)
		result.Add(
			figure.Exact(fmt.Sprintf("share of equal k, %s, the least by theory, free", o.name), math.Exp(-1/(2*size))),
			figure.Exact(fmt.Sprintf("share of equal k, %s, if a group costs one more bit", o.name),
				math.Pow(lessByBit, -1/size)))
		result.Plots = append(result.Plots, figure.Plot{
			Name:  "ph-unequal-" + strings.Fields(o.name)[1],
			Title: fmt.Sprintf("Equal and different k, %s, n = %d in %d groups", o.name, o.n, o.groups),
			X:     "mean k", Y: "p_a", Curves: curves,
		})
	}
	result.Notes = []string{
		"The row of a way is the k with its lowest mean. \"free\": the k of the groups cost no bits, which is " +
			"impossible, because a query must know them.",
		"With rates f^k_j, the lowest mean at a given fill has f^k_j proportional to the keys of group j. For random " +
			"groups of b keys it is e^(-1/2b) of the mean with equal k. A query must know k, and one bit per group in " +
			"place of 1/b bits per key of a standard filter raises the rate by 0.6185^(-1/b) = e^(0.48/b). The gain " +
			"pays for the names at best, and rounding the k to integers takes a part of it.",
	}
	return result, nil
}

// lessByBit is the factor by which one more bit per key lowers the rate of a standard filter.
const lessByBit = 0.6185
