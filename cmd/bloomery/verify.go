package main

import (
	"cmp"
	"context"
	"errors"
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

// verdict is the report of verify.
type verdict struct {
	Members        uint64     `json:"members"`
	FalseNegatives uint64     `json:"false_negatives"`
	Absent         uint64     `json:"absent"`
	FalsePositives uint64     `json:"false_positives"`
	FPRObserved    float64    `json:"fpr_observed"`
	FPRInterval    [2]float64 `json:"fpr_interval"`
	FPRPosterior   float64    `json:"fpr_posterior"`
	Holds          bool       `json:"holds"`
	FPRChosen      float64    `json:"fpr_chosen,omitempty"`
	HoldsChosen    bool       `json:"holds_chosen"` // true without a chosen rate
	info           filter.Info
}

// verifyFlags are the flags of bloomery verify.
type verifyFlags struct {
	in              inputFlags
	members, absent []string
	random          string
	seed            uint64
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify FILE --members KEYS [--absent KEYS | --random N]",
		Short: "Measure whether a filter keeps its rate",
		Long: `Ask a filter for every key that it was built from, which must all be present, and for absent keys, and
compare the observed false-positive rate with the one that follows from its bits. Keys of --absent that are members
too are left out, and each counts once. The interval is the exact 95% one.

The same test compares the observed rate with the one that was chosen at the build; if few keys set more bits than
usual, a filter may have the rate of its bits instead. Exit code 1 if a member is missing, or if a filter with the
stated or the chosen rate would show this many false positives less than once in 10,000.`,
		Example: `  bloomery verify blocked.bloom --members blocklist.txt --random 1M
  bloomery verify blocked.bloom --members blocklist.txt --absent allowed.txt --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.open(args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			v, err := a.verify(c.Context(), set, f)
			if err != nil {
				return err
			}
			a.warnRate(args[0], v.info)
			if err := a.printVerdict(v); err != nil {
				return err
			}
			if !v.Holds || !v.HoldsChosen {
				return errNo
			}
			return nil
		},
	}
	f.in.register(c)
	c.Flags().StringArrayVar(&f.members, "members", nil, "file with the keys of the filter (may be repeated)")
	c.Flags().StringArrayVar(&f.absent, "absent", nil, "file with other keys (may be repeated)")
	c.Flags().StringVar(&f.random, "random", "1M", "number of random keys to ask for, instead of --absent")
	c.Flags().Uint64Var(&f.seed, "random-seed", 1, "seed of the random keys")
	_ = c.MarkFlagRequired("members")
	c.MarkFlagsMutuallyExclusive("absent", "random")
	return c
}

// verify queries the set for members and absent keys.
func (a *app) verify(ctx context.Context, set *bloomery.Set, f verifyFlags) (verdict, error) {
	info := set.Info()
	v := verdict{FPRPosterior: info.FPRPosterior, FPRChosen: info.FPRChosen, info: info}
	known, err := a.askMembers(ctx, set, f.in, f.members, &v)
	if err != nil {
		return v, err
	}
	if v.Members == 0 {
		return v, fmt.Errorf("--members %s: no keys to ask for, so nothing would be verified", strings.Join(f.members, " "))
	}
	if len(f.absent) > 0 {
		err = a.askAbsent(ctx, set, f.in, f.absent, known, &v)
	} else {
		var n uint64
		if n, err = parseCount("--random", f.random); err == nil {
			err = askRandom(ctx, set, n, f.seed, &v)
		}
	}
	if err == nil {
		err = set.Err()
	}
	if err != nil {
		return v, err
	}
	if v.Absent == 0 {
		return v, errors.New("no absent key is left to ask for, so nothing would be verified; " +
			"give other --absent keys or --random 1M")
	}
	rate := bloomery.NewRate(v.FalsePositives, v.Absent)
	v.FPRObserved, v.FPRInterval = rate.Observed, [2]float64{rate.Low, rate.High}
	v.Holds = v.FalseNegatives == 0 && rate.Holds(v.FPRPosterior)
	v.HoldsChosen = rate.HoldsChosen(info)
	return v, nil
}

// other hashes keys independently of the filter, so that a false positive is not taken for a member and left out. Its
// seed is a constant that no user is likely to choose.
var other = filter.NewHasher(0xB1003E12_5E9A7A7E)

// answer is one key and the filter's answer.
type answer struct {
	key filter.Hash // by other
	hit bool
}

func compare(a, b filter.Hash) int { return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo)) }

// ask queries all keys of the inputs. It keeps 24 bytes per key.
func (a *app) ask(
	ctx context.Context, set *bloomery.Set, in inputFlags, paths []string, what string,
) ([]answer, error) {
	var mu sync.Mutex
	var all []answer
	err := a.pass(ctx, in, paths, what, func(b *keyio.Batch) error {
		hits := make([]bool, len(b.Keys))
		set.ContainsMany(hits, b.Keys)
		out := make([]answer, len(b.Keys))
		for i, k := range b.Keys {
			out[i] = answer{other.Sum(k), hits[i]}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, out...)
		return nil
	}, nil)
	return all, err
}

// askMembers counts false negatives and returns the members, sorted.
func (a *app) askMembers(
	ctx context.Context, set *bloomery.Set, in inputFlags, paths []string, v *verdict,
) ([]filter.Hash, error) {
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

func (a *app) askAbsent(
	ctx context.Context, set *bloomery.Set, in inputFlags, paths []string, known []filter.Hash, v *verdict,
) error {
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

// askRandom queries n random names of 24 letters and digits. They have 120 random bits, so none of them is a member.
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

var holds = map[bool]string{true: "holds", false: "IS BROKEN"}

func (a *app) printVerdict(v verdict) error {
	if a.json {
		return a.printJSON(v)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "members\t%d, %d of them missing\n", v.Members, v.FalseNegatives)
	fmt.Fprintf(w, "absent\t%d, %d of them falsely present\n", v.Absent, v.FalsePositives)
	fmt.Fprintf(w, "observed rate\t%.4g (95%%: %.4g to %.4g)\n", v.FPRObserved, v.FPRInterval[0], v.FPRInterval[1])
	fmt.Fprintf(w, "promised rate\t%.4g\n", v.FPRPosterior)
	fmt.Fprintf(w, "the promise\t%s\n", holds[v.Holds])
	if v.FPRChosen > 0 {
		fmt.Fprintf(w, "chosen rate\t%.4g\n", v.FPRChosen)
		fmt.Fprintf(w, "the choice\t%s\n", holds[v.HoldsChosen])
	}
	return w.Flush()
}
