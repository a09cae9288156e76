package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/stat"
)

type verdict struct {
	bloomery.Verification
	info             filter.Info
	values           bool // were compared
	holds, planHolds bool // whether the stated rate holds, and the planned one
}

func (v verdict) MarshalJSON() ([]byte, error) {
	var wrong *uint64
	if v.values {
		wrong = &v.WrongValues
	}
	return object{
		{"members", v.Members}, {"false_negatives", v.FalseNegatives}, {"absent", v.Rate.Trials},
		{"false_positives", v.Rate.FalsePositives}, {"fpr_observed", v.Rate.Observed},
		{"fpr_interval", [2]float64{v.Rate.Low, v.Rate.High}}, {"fpr_posterior", v.info.FPRPosterior}, {"holds", v.holds},
		{"fpr_planned,omitempty", v.info.FPRPlanned}, {"holds_planned", v.planHolds}, {"wrong_values,omitempty", wrong},
	}.MarshalJSON()
}

type verifyFlags struct {
	in              inputFlags
	values          valueFlags // of the members
	members, absent []string
	random, seed    uint64
	limit           bloomery.JobConfig
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify FILE --members KEYS [--absent KEYS | --random N]",
		Short: "Measure whether a filter keeps its rate",
		Long: `All members must be present. The rate among absent keys, with its 95% interval, is compared with the rate
that info states, and with the planned one: the exit code is 1 if a filter with such a rate shows so many false
positives less than once in 10,000.`,
		Example: `  bloomery verify blocked.bloom --members blocklist.txt --random 1M
  bloomery verify blocked.bloom --members blocklist.txt --absent allowed.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(f.members, "-") && slices.Contains(f.absent, "-") {
				return errors.New("--members - and --absent -: standard input can be read only once; name a file")
			}
			v, err := a.verifyFile(c.Context(), args[0], f)
			if err != nil {
				return err
			}
			a.warnRate(args[0], v.info)
			if 2*v.FalseNegatives > v.Members {
				question := "Is this the list of the filter? See --input-format and --column."
				if family.Given(v.info.Spec, "ttl") {
					question = "Were these keys added within the time to live before the time that bloomery info prints?"
				}
				a.warn("%d of %d members are missing\n  %s", v.FalseNegatives, v.Members, question)
			}
			return exitIf(!v.holds || !v.planHolds, a.table(v, v.write))
		},
	}
	f.in.register(c)
	f.values.register(c)
	c.Flags().StringArrayVar(&f.members, "members", nil, "`LIST`: keys of the filter; repeatable")
	c.Flags().StringArrayVar(&f.absent, "absent", nil, "`LIST`: other keys; repeatable")
	parseDefault(c, &f.random, "random", "1M", "`N`: random keys, without --absent", parseCount)
	c.Flags().Uint64Var(&f.seed, "random-seed", 1, "`SEED`: seed of the random keys")
	memoryFlags(c, &f.limit.Building.Memory, &f.limit.Building.TempDir, noLimit)
	_ = c.MarkFlagRequired("members")
	c.MarkFlagsMutuallyExclusive("absent", "random")
	return c
}

// verifier is a bloomery.Verifier, or the verifier of a filter of package window.
type verifier interface {
	AddAbsent(keys [][]byte) error
	AskRandom(ctx context.Context, n, seed uint64, progress func(keys uint64)) error
	AskMembers(keys [][]byte) error
	AskValues(keys [][]byte, values []uint64) error
	Commit(ctx context.Context) (bloomery.Verification, error)
	Close() error
}

// verified is a filter to verify: its Info, and a function that makes its verifier.
type verified struct {
	filter.Info
	verifier func(bloomery.JobConfig) (verifier, error)
}

// verifyFile verifies the set, or the filter of package window, in a file. For a sharded set it first checks all
// shards.
func (a *app) verifyFile(ctx context.Context, path string, f verifyFlags) (verdict, error) {
	set, err := a.open(path)
	if isWindow(path, err) {
		w, err := a.verifiedWindow(path)
		if err != nil {
			return verdict{}, err
		}
		return a.verify(ctx, w, f)
	}
	if err != nil {
		return verdict{}, err
	}
	defer set.Close()

	p := a.bar("checking shards", int64(min(set.FileInfo().Bytes, math.MaxInt64)))
	err = set.Check(ctx, func(bytes uint64) { p.Read.Store(int64(bytes)) })
	p.End()
	if err != nil {
		return verdict{}, err
	}
	return a.verify(ctx, verified{set.Info(), func(c bloomery.JobConfig) (verifier, error) {
		return set.Verifier(c)
	}}, f)
}

// verify queries members and absent keys.
func (a *app) verify(ctx context.Context, set verified, f verifyFlags) (verdict, error) {
	v := verdict{info: set.Info, values: staticValues(set.Spec)}
	var err error
	if v.Verification, err = a.ask(ctx, set, f); err != nil {
		return v, err
	}
	if v.Members == 0 && v.info.Keys > 0 {
		return v, fmt.Errorf("--members %s: no keys to ask for, so nothing would be verified", strings.Join(f.members, " "))
	}
	if v.Rate.Trials == 0 {
		return v, errors.New("no absent key is left to ask for, so nothing would be verified; " +
			"give other --absent keys or --random 1M")
	}

	v.holds = v.FalseNegatives == 0 && v.WrongValues == 0 && v.Rate.Holds(v.info.FPRPosterior)
	v.planHolds = bulk.HoldsPlanned(v.Rate.FalsePositives, v.Rate.Trials, v.info)
	return v, nil
}

// ask queries the absent keys and then the members.
func (a *app) ask(ctx context.Context, set verified, f verifyFlags) (r bloomery.Verification, err error) {
	f.in.form = set.Form
	var absent *source
	if len(f.absent) > 0 {
		if absent, err = a.source(f.in, f.absent); err != nil {
			return r, err
		}
		const keyBytes = 16 // a guess
		f.limit.Absent = uint64(max(absent.Size(), 0)) / keyBytes
	}

	v, err := set.verifier(f.limit)
	if err != nil {
		return r, err
	}
	defer v.Close()
	if absent != nil {
		err := absent.pass(ctx, "absent keys", func(b *keyio.Batch) error { return v.AddAbsent(b.Keys) }, nil)
		if err != nil {
			return r, err
		}
	}

	in, parse, err := f.values.input(f.in, set.Spec)
	if err != nil {
		return r, err
	}

	values := v.AskValues
	if !staticValues(set.Spec) { // put may have changed them, and keys with the same fingerprint share a value
		values = func(keys [][]byte, _ []uint64) error { return v.AskMembers(keys) }
	}

	members, err := a.source(in, f.members)
	if err != nil {
		return r, err
	}
	if err := members.feed(ctx, "members", parse, v.AskMembers, values, nil); err != nil {
		return r, err
	}
	if absent != nil {
		defer a.bar("sorting", 0).End()
		return v.Commit(ctx)
	}

	p := a.bar("random keys", int64(min(f.random, math.MaxInt64)))
	defer p.End()
	err = v.AskRandom(ctx, f.random, f.seed, func(keys uint64) {
		p.Read.Store(int64(keys))
		p.Keys.Store(int64(keys))
	})
	if err != nil {
		return r, err
	}
	return v.Commit(ctx)
}

// stateOf describes whether a promise was kept.
func stateOf(kept bool) string {
	if kept {
		return "holds"
	}
	return "IS BROKEN"
}

func (v verdict) write(w io.Writer) {
	fmt.Fprintf(w, "members\t%d, %d of them missing\n", v.Members, v.FalseNegatives)
	if v.values {
		fmt.Fprintf(w, "values\t%d of them wrong\n", v.WrongValues)
	}

	fmt.Fprintf(w, "absent\t%d, %d of them falsely present\n", v.Rate.Trials, v.Rate.FalsePositives)
	fmt.Fprintf(w, "observed rate\t%s (95%%: %s to %s)\n",
		stat.Percent(v.Rate.Observed), stat.Percent(v.Rate.Low), stat.Percent(v.Rate.High))
	fmt.Fprintf(w, "promised rate\t%s\n", stat.Percent(v.info.FPRPosterior))
	fmt.Fprintf(w, "the promise\t%s\n", stateOf(v.holds))
	if v.holds && v.info.FPRPosterior < v.Rate.Low { // the interval alone would look like a broken promise
		fmt.Fprint(w, "\ta filter that keeps it shows this many more often than once in 10,000\n")
	}
	if v.info.FPRPlanned > 0 {
		fmt.Fprintf(w, "planned rate\t%s\n", stat.Percent(v.info.FPRPlanned))
		fmt.Fprintf(w, "the plan\t%s\n", stateOf(v.planHolds))
	}
}
