package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
)

// verdict is what verify reports.
type verdict struct {
	Members        uint64     `json:"members"`
	FalseNegatives uint64     `json:"false_negatives"`
	Absent         uint64     `json:"absent"`
	FalsePositives uint64     `json:"false_positives"`
	FPRObserved    float64    `json:"fpr_observed"`
	FPRInterval    [2]float64 `json:"fpr_interval"`
	FPRPosterior   float64    `json:"fpr_posterior"`
	Holds          bool       `json:"holds"`
}

func (a *app) verifyCommand() *cobra.Command {
	var (
		in              inputFlags
		members, absent []string
		random          string
		seed            uint64
	)
	c := &cobra.Command{
		Use:   "verify FILE --members KEYS [--absent KEYS | --random N]",
		Short: "Show that a filter keeps its promise",
		Long: `Ask a filter for every key that it was built from, which must all be present, and for keys that are absent, and compare
the rate of false positives with the one that its bits promise. Keys of --absent that are members too are left out, and
each counts once. The interval is the exact 95% one. The promise is broken, exit code 1, if a member is missing or if so
many false positives would come about less than once in 10,000 filters that keep it.`,
		Example: `  bloomery verify blocked.bloom --members blocklist.txt --random 1M
  bloomery verify blocked.bloom --members blocklist.txt --absent allowed.txt --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			secret, err := a.secret()
			if err != nil {
				return err
			}
			set, err := bloomery.Open(args[0], secret)
			if err != nil {
				return err
			}
			defer set.Close()
			v := verdict{FPRPosterior: set.Info().FPRPosterior}
			known, err := a.askMembers(c.Context(), set, in, members, &v)
			if err != nil {
				return err
			}
			if v.Members == 0 {
				return fmt.Errorf("--members %s: no keys to ask for, so nothing would be verified", strings.Join(members, " "))
			}
			if len(absent) > 0 {
				err = a.askAbsent(c.Context(), set, in, absent, known, &v)
			} else {
				var n uint64
				if n, err = parseCount("--random", random); err == nil {
					err = askRandom(c.Context(), set, n, seed, &v)
				}
			}
			if err != nil {
				return err
			}
			if v.Absent == 0 {
				return fmt.Errorf("no absent key is left to ask for, so nothing would be verified; give other --absent keys or --random 1M")
			}
			rate := bloomery.NewRate(v.FalsePositives, v.Absent)
			v.FPRObserved, v.FPRInterval = rate.Observed, [2]float64{rate.Low, rate.High}
			v.Holds = v.FalseNegatives == 0 && rate.Holds(v.FPRPosterior)
			if err := a.printVerdict(v); err != nil {
				return err
			}
			if !v.Holds {
				return errNo
			}
			return nil
		},
	}
	in.register(c)
	c.Flags().StringArrayVar(&members, "members", nil, "file with the keys that the filter was built from (may be repeated)")
	c.Flags().StringArrayVar(&absent, "absent", nil, "file with other keys (may be repeated)")
	c.Flags().StringVar(&random, "random", "1M", "ask for that many random keys instead")
	c.Flags().Uint64Var(&seed, "random-seed", 1, "seed of the random keys")
	_ = c.MarkFlagRequired("members")
	c.MarkFlagsMutuallyExclusive("absent", "random")
	return c
}

// other hashes keys independently of the filter, so that a key that the filter mistakes for a member is not left out.
// Its seed is a constant that no user is likely to choose.
var other = filter.NewHasher(0xB1003E12_5E9A7A7E)

// answer is one key and what the filter said of it.
type answer struct {
	key filter.Hash // by other
	hit bool
}

func compare(a, b filter.Hash) int { return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo)) }

// ask asks for all keys of the inputs; 17 bytes a key are kept.
func (a *app) ask(ctx context.Context, set *bloomery.Set, in inputFlags, paths []string, what string) ([]answer, error) {
	input, p, err := a.follow(in, paths, what)
	if err != nil {
		return nil, err
	}
	defer p.end()
	var mu sync.Mutex
	var all []answer
	err = input.Process(ctx, 0, func(_ int, b *keyio.Batch) error {
		hits := make([]bool, len(b.Keys))
		set.ContainsMany(hits, b.Keys)
		out := make([]answer, len(b.Keys))
		for i, k := range b.Keys {
			out[i] = answer{other.Sum(k), hits[i]}
		}
		p.keys.Add(int64(len(b.Keys)))
		mu.Lock()
		defer mu.Unlock()
		all = append(all, out...)
		return nil
	}, nil)
	return all, err
}

// askMembers counts false negatives and returns the members, sorted.
func (a *app) askMembers(ctx context.Context, set *bloomery.Set, in inputFlags, paths []string, v *verdict) ([]filter.Hash, error) {
	all, err := a.ask(ctx, set, in, paths, "members")
	if err != nil {
		return nil, err
	}
	known := make([]filter.Hash, len(all))
	for i, x := range all {
		known[i] = x.key
		v.Members++
		if !x.hit {
			v.FalseNegatives++
		}
	}
	slices.SortFunc(known, compare)
	return known, nil
}

func (a *app) askAbsent(ctx context.Context, set *bloomery.Set, in inputFlags, paths []string, known []filter.Hash, v *verdict) error {
	all, err := a.ask(ctx, set, in, paths, "absent")
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(x, y answer) int { return compare(x.key, y.key) })
	for _, x := range slices.CompactFunc(all, func(x, y answer) bool { return x.key == y.key }) {
		if _, member := slices.BinarySearchFunc(known, x.key, compare); member {
			continue
		}
		v.Absent++
		if x.hit {
			v.FalsePositives++
		}
	}
	return nil
}

// askRandom asks for n random names of 24 letters and digits, 120 bits of chance: none of them is a member.
func askRandom(ctx context.Context, set *bloomery.Set, n, seed uint64, v *verdict) error {
	keys := randomNames(seed)
	batch := make([][]byte, 4096)
	hits := make([]bool, len(batch))
	for v.Absent < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := batch[:min(uint64(len(batch)), n-v.Absent)]
		for i := range part {
			part[i] = keys(part[i][:0])
		}
		set.ContainsMany(hits[:len(part)], part)
		v.Absent += uint64(len(part))
		for _, hit := range hits[:len(part)] {
			if hit {
				v.FalsePositives++
			}
		}
	}
	return nil
}

// randomNames returns a generator that appends the next random name.
func randomNames(seed uint64) func(to []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 0x616273656e74))
	const letters = "abcdefghijklmnopqrstuvwxyz012345"
	return func(to []byte) []byte {
		for range 2 {
			x := r.Uint64()
			for range 12 {
				to = append(to, letters[x&31])
				x >>= 5
			}
		}
		return to
	}
}

func (a *app) printVerdict(v verdict) error {
	if a.json {
		return a.printJSON(v)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "members\t%d, %d of them missing\n", v.Members, v.FalseNegatives)
	fmt.Fprintf(w, "absent\t%d, %d of them falsely present\n", v.Absent, v.FalsePositives)
	fmt.Fprintf(w, "observed rate\t%.4g (95%%: %.4g to %.4g)\n", v.FPRObserved, v.FPRInterval[0], v.FPRInterval[1])
	fmt.Fprintf(w, "promised rate\t%.4g\n", v.FPRPosterior)
	fmt.Fprintf(w, "the promise\t%s\n", map[bool]string{true: "holds", false: "IS BROKEN"}[v.Holds])
	return w.Flush()
}
