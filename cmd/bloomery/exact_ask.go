package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/internal/keyio"
	"github.com/bloomery/bloomery/internal/stat"
)

func (a *app) exactInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Describe an exact set",
		Long: `entropy is the size of an ideal set. outside_rate is how often a key outside the universe is present,
unknown_partition_rate the same for unknown partitions. A class is the partitions with the same r: their first level has
the rate 2^-r, and with r=32 all keys are members, or none.`,
		Example: `  bloomery exact info revoked.exact --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := a.openExact(args[0])
			if err != nil {
				return err
			}
			r := exactReport{set.Info()}
			return a.table(r, r.write)
		},
	}
}

func (r exactReport) write(w io.Writer) {
	fmt.Fprintf(w, "members\t%d\n", r.Members)
	fmt.Fprintf(w, "universe\t%d\n", r.Universe)
	if r.Partitions > 0 {
		fmt.Fprintf(w, "partitions\t%d\n", r.Partitions)
	}
	if r.Updates > 0 {
		fmt.Fprintf(w, "updates\t%d, %s\n", r.Updates, bytesText(r.UpdateBytes))
	}

	fmt.Fprintf(w, "file\t%s\n", bytesText(r.Bytes))
	fmt.Fprintf(w, "bits per member\t%.5g\n", r.BitsPerMember)
	fmt.Fprintf(w, "entropy per member\t%.5g\n", r.EntropyPerMember)
	if r.Partitions > 0 {
		fmt.Fprintf(w, "without partitions\t%.5g\n", r.unpartitioned())
	}

	fmt.Fprintf(w, "hash\t%s\n", r.Hash)
	fmt.Fprintf(w, "outside the universe\tyes at a rate of %s\n", stat.Percent(r.OutsideRate))
	if r.Partitions > 0 {
		fmt.Fprintf(w, "other partitions\tyes at a rate of %s\n", stat.Percent(r.UnknownRate))
	}

	for _, c := range r.Classes {
		inverted := ""
		if c.Inverted {
			inverted = ", inverted"
		}
		fmt.Fprintf(w, "class r=%d%s\t%d members of %d keys, outside %s\n",
			c.R, inverted, c.Members, c.Universe, stat.Percent(c.OutsideRate))
	}
}

type exactReport struct{ exact.Info }

// unpartitioned returns the entropy per member if the partitions of the keys were not known.
func (r exactReport) unpartitioned() float64 {
	if r.Members == 0 {
		return 0
	}
	return r.Entropy / float64(r.Members)
}

func (r exactReport) MarshalJSON() ([]byte, error) {
	var classes []object
	for _, c := range r.Classes {
		classes = append(classes, object{{"r", c.R}, {"inverted", c.Inverted}, {"universe", c.Universe},
			{"members", c.Members}, {"outside_rate", c.OutsideRate}})
	}
	return object{
		{"members", r.Members}, {"universe", r.Universe}, {"partitions", r.Partitions}, {"updates", r.Updates},
		{"bits", r.Bits}, {"bits_per_member", r.BitsPerMember}, {"entropy_per_member", r.EntropyPerMember},
		{"entropy_unpartitioned_per_member", r.unpartitioned()}, {"file_bytes", r.Bytes},
		{"update_bytes", r.UpdateBytes}, {"build_due,omitempty", r.BuildDue}, // why the set should be rebuilt
		{"hash", r.Hash}, {"outside_rate", r.OutsideRate},
		{"unknown_partition_rate", r.UnknownRate}, // for keys in unknown partitions
		{"classes", classes},
	}.MarshalJSON()
}

func (a *app) exactCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check FILE [INPUT... | -e KEY...]",
		Short: "Print the members among keys, without error in the universe",
		Long: `Other keys are printed at the outside_rate of exact info. A NUL byte makes any row bad, since such a key
is not in the universe.`,
		Example: `  bloomery exact check blocked.exact -e example.com
  bloomery exact check revoked.exact serials.txt
  bloomery exact check parts.exact --input-format csv --column serial \
    --partition-column issuer seen.csv`,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openExact(args[0])
			if err != nil {
				return err
			}
			if err := f.in.fitsPartitions(set, args[0]); err != nil {
				return err
			}
			ask := func(hits []bool, b *keyio.Batch) { set.ContainsMany(hits, b.Keys, b.Second...) }
			return a.check(c.Context(), ask, func() error { return nil }, f, args[1:])
		},
	}
	f.register(c)
	f.in.badRows(c, keyio.Stop) // such a row is not in the universe, so its answer would be meaningless
	f.in.keyFlag(c)
	f.in.partitionFlag(c)
	return c
}

func (a *app) exactVerifyCommand() *cobra.Command {
	var f exactFlags
	c := &cobra.Command{
		Use:   "verify FILE --members LIST --universe LIST",
		Short: "Ask an exact set for every key of its universe",
		Long:  `The exit code is 1 if an answer is wrong, or if a member is not in the universe.`,
		Example: `  bloomery exact verify revoked.exact \
    --members revoked.txt --universe issued.txt
  bloomery exact verify parts.exact --input-format csv --column serial \
    --partition-column issuer --members revoked.csv --universe issued.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			set, err := a.openExact(args[0])
			if err != nil {
				return err
			}
			if err := f.in.fitsPartitions(set, args[0]); err != nil {
				return err
			}
			return a.exactVerify(c.Context(), set, &f)
		},
	}
	f.register(c)
	return c
}

// exactVerify queries the set for all keys of the lists and reports. It returns errNo if an answer is wrong.
func (a *app) exactVerify(ctx context.Context, set *exact.Set, f *exactFlags) error {
	r, err := a.compareExact(ctx, set, f)
	if err != nil {
		return err
	}

	info := set.Info()
	same := r.Universe == info.Universe && r.Members == info.Members
	err = a.answer(object{
		{"universe", r.Universe}, {"members", r.Members}, {"wrong", r.Wrong}, {"false_negatives", r.Missing},
		{"false_positives", r.FalselyPresent}, {"outside", r.Outside},
		{"same_counts", same}, // the lists have as many keys as the set was built from
	}, "%d wrong answers for %d keys: %d of %d members missing, %d other keys falsely present\n",
		r.Wrong, r.Universe, r.Missing, r.Members, r.FalselyPresent)
	if err == nil && r.Outside > 0 {
		fmt.Fprintf(a.stderr, "bloomery: %v\n", &exact.OutsideError{Count: r.Outside})
	}
	if !same {
		a.note("the lists do not have as many keys as those that the set was built from")
	}
	return exitIf(r.Wrong+r.Outside > 0, err)
}

func (a *app) compareExact(ctx context.Context, set *exact.Set, f *exactFlags) (r exact.Verification, err error) {
	bar := a.later("comparing")
	defer bar.End()
	v := set.NewVerifier(exact.Config{Memory: f.memory, TempDir: f.tempDir, Progress: bar.report})
	defer v.Close()
	defer collectEarly(f.memory)()
	if err := a.readLists(ctx, f, "", v.AddMembers, v.AddUniverse); err != nil {
		return r, err
	}
	return v.Commit(ctx)
}
