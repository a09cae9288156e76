package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/keyio"
)

func (a *app) exactInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Describe an exact set",
		Long: `Describe an exact set: members, universe, size, and what the choice of the members is worth: log2
C(universe, members) bits, or with partitions the sum of that over the partitions. bits counts what a query may read,
without the headers of the file; file_bytes is the whole file.

outside_rate is how often the answer for a key outside of the universe is yes, if such keys are spread over the
partitions as the keys of the universe. In a partition that the universe did not have, answers are yes at another rate,
unknown_partition_rate, which is known to about 0.01: such a partition gets any class.

A class is the partitions with the same r: level 1 of the set has the rate 2^-r, and r=32 means that all keys of the
partitions are members, or none is. Inverted classes have more members than others. After updates, classes and
the entropy of partitions are still those of the build.

version is that of the file format. A file of version 1, which older programs wrote, does not say how long it is: cut
at the end of an update, it is a complete older file, with the answers from before. In later versions every cut is an
error. The report says it of a file of version 1, and as cut_seen in JSON.`,
		Example: "  bloomery exact info revoked.exact --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := a.openExact(args[0])
			if err != nil {
				return err
			}
			r := exactReportOf(set)
			return a.table(r, r.write)
		},
	}
}

// write prints the report as text.
func (r exactReport) write(w io.Writer) {
	fmt.Fprintf(w, "members\t%d\n", r.Members)
	fmt.Fprintf(w, "universe\t%d\n", r.Universe)
	if r.Partitions > 0 {
		fmt.Fprintf(w, "partitions\t%d\n", r.Partitions)
	}
	if r.Updates > 0 {
		fmt.Fprintf(w, "updates\t%d, %s\n", r.Updates, bytesText(r.UpdateBytes))
	}
	fmt.Fprintf(w, "file\t%s\n", bytesText(r.FileBytes))
	if !r.CutSeen {
		fmt.Fprintf(w, "version\t%d: if the file is cut after an update, nothing shows it; "+
			"the next build or update writes version 2\n", r.Version)
	}
	fmt.Fprintf(w, "bits a member\t%.5g\n", r.BitsPerMember)
	fmt.Fprintf(w, "entropy a member\t%.5g\n", r.EntropyPerMember)
	if r.Partitions > 0 {
		fmt.Fprintf(w, "without partitions\t%.5g\n", r.EntropyTotal)
	}
	fmt.Fprintf(w, "hash\t%s\n", r.Hash)
	fmt.Fprintf(w, "outside the universe\tyes at a rate of %.3g\n", r.OutsideRate)
	if r.Partitions > 0 {
		fmt.Fprintf(w, "other partitions\tyes at a rate of %.2g\n", r.UnknownRate)
	}
	for _, c := range r.Classes {
		inverted := ""
		if c.Inverted {
			inverted = ", inverted"
		}
		fmt.Fprintf(w, "class r=%d%s\t%d members of %d keys, outside %.3g\n",
			c.R, inverted, c.Members, c.Universe, c.OutsideRate)
	}
}

// exactReport is the report of exact build and info.
type exactReport struct {
	Members          uint64       `json:"members"`
	Universe         uint64       `json:"universe"`
	Partitions       uint64       `json:"partitions"`
	Updates          int          `json:"updates"`
	Bits             uint64       `json:"bits"`
	BitsPerMember    float64      `json:"bits_per_member"`
	EntropyPerMember float64      `json:"entropy_per_member"`
	EntropyTotal     float64      `json:"entropy_unpartitioned_per_member"`
	FileBytes        uint64       `json:"file_bytes"`
	Version          int          `json:"version"`  // of the file format
	CutSeen          bool         `json:"cut_seen"` // a file that was cut is an error, at every place
	UpdateBytes      uint64       `json:"update_bytes"`
	BuildDue         string       `json:"build_due,omitempty"` // why the set should be built anew
	Hash             string       `json:"hash"`
	OutsideRate      float64      `json:"outside_rate"`
	UnknownRate      float64      `json:"unknown_partition_rate"` // in partitions outside of the universe
	Classes          []exactClass `json:"classes"`
}

// exactClass is a class of partitions in the report.
type exactClass struct {
	R           int     `json:"r"`
	Inverted    bool    `json:"inverted"`
	Universe    uint64  `json:"universe"`
	Members     uint64  `json:"members"`
	OutsideRate float64 `json:"outside_rate"`
}

func exactReportOf(set *exact.Set) exactReport {
	i := set.Info()
	r := exactReport{
		Members: i.Members, Universe: i.Universe, Partitions: i.Partitions, Updates: i.Updates, Bits: i.Bits,
		BitsPerMember: i.BitsPerMember(), EntropyPerMember: i.EntropyPerMember(), FileBytes: i.Bytes,
		Hash: set.Hasher().String(), OutsideRate: i.OutsideRate, UpdateBytes: i.UpdateBytes, BuildDue: i.BuildDue(),
		UnknownRate: i.UnknownRate, Version: i.Version, CutSeen: i.Version > 1,
	}
	if i.Members > 0 {
		r.EntropyTotal = i.Entropy / float64(i.Members)
	}
	for _, c := range i.Classes {
		r.Classes = append(r.Classes, exactClass(c))
	}
	return r
}

func (a *app) exactCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check FILE [INPUT...]",
		Short: "Print the members among keys, without error for keys of the universe",
		Long: `Print those keys of the inputs, or of standard input, that are members, in their order, one a line, as
soon as they come. Exit code 0 if a key was printed (or counted), 1 if none was, 2 on an error. Rows, --json, -v and -c
work as in bloomery check.

For keys of the universe that the set was built with, no answer is wrong. Other keys are printed at the rate
outside_rate of exact info.

A set with partitions needs --partition-column. A partition that the universe did not have gets any answer.`,
		Example: `  bloomery exact check revoked.exact serials.txt
  bloomery exact check parts.exact --input-format csv --column serial --partition-column issuer seen.csv
  echo example.com | bloomery exact check -c blocked.exact`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := a.openExact(args[0])
			if err != nil {
				return err
			}
			if err := f.in.fitsPartitions(set, args[0]); err != nil {
				return err
			}
			ask := func(hits []bool, b *keyio.Batch) { set.ContainsMany(hits, b.Keys) }
			if set.Partitioned() {
				ask = func(hits []bool, b *keyio.Batch) { set.ContainsManyIn(hits, b.Second, b.Keys) }
			}
			return a.check(c.Context(), ask, func() error { return nil }, f, args[1:])
		},
	}
	f.register(c)
	f.in.partitionFlag(c)
	return c
}

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
