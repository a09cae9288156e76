package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
)

// exactVerdict is the report of exact verify.
type exactVerdict struct {
	Universe       uint64 `json:"universe"`
	Members        uint64 `json:"members"`
	Wrong          uint64 `json:"wrong"`
	Missing        uint64 `json:"missing"`
	FalselyPresent uint64 `json:"falsely_present"`
	Outside        uint64 `json:"outside"`
	Same           bool   `json:"same_counts"` // the lists have as many keys as those that the set was built from
}

func (a *app) exactVerifyCommand() *cobra.Command {
	var f exactFlags
	c := &cobra.Command{
		Use:   "verify FILE --members LIST --universe LIST",
		Short: "Ask an exact set for every key of its universe",
		Long: `Ask an exact set for every key of the universe, and compare the answers with the list of members. Exit
code 1 if an answer is wrong, or a member is not in the universe. If the lists do not have as many keys as those that
the set was built from, that is said, too.

A key of the universe and a member take 16 bytes of memory each; beyond --memory they go to a temporary file. The keys
are compared by another hash function than that of the set.`,
		Example: `  bloomery exact verify revoked.exact --members revoked.txt --universe issued.txt
  bloomery exact verify parts.exact --members revoked.csv --universe issued.csv ` +
			`--input-format csv --column serial --partition-column issuer --json`,
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
			v, err := a.exactVerify(c.Context(), set, &f)
			if err != nil {
				return err
			}
			return a.printExactVerdict(v)
		},
	}
	f.register(c)
	return c
}

// exactVerify asks the set for all keys of the lists.
func (a *app) exactVerify(ctx context.Context, set *exact.Set, f *exactFlags) (r exactVerdict, err error) {
	bar := a.later(func() string { return "comparing" })
	defer bar.End()
	v := set.NewVerifier(f.memory, f.tempDir)
	defer v.Close()
	v.Progress = bar.report
	defer collectEarly(f.memory)()
	if err := a.readLists(ctx, f, "", v.AddMembers, v.AddUniverse); err != nil {
		return r, err
	}
	got, err := v.Result(ctx)
	if err != nil {
		return r, err
	}
	info := set.Info()
	return exactVerdict{
		Universe: got.Universe, Members: got.Members, Wrong: got.Wrong(), Missing: got.Missing,
		FalselyPresent: got.FalselyPresent, Outside: got.Outside,
		Same: got.Universe == info.Universe && got.Members == info.Members,
	}, nil
}

// printExactVerdict prints the report. It returns errNo if an answer is wrong.
func (a *app) printExactVerdict(v exactVerdict) error {
	const format = "%d wrong answers for %d keys: %d of %d members missing, %d other keys falsely present\n"
	err := a.answer(v, format, v.Wrong, v.Universe, v.Missing, v.Members, v.FalselyPresent)
	if err == nil && v.Outside > 0 {
		_, err = fmt.Fprintf(a.stderr, "bloomery: %v\n", &exact.OutsideError{Count: v.Outside})
	}
	if !v.Same {
		a.note("the lists do not have as many keys as those that the set was built from")
	}
	return exitIf(v.Wrong+v.Outside > 0, err)
}
