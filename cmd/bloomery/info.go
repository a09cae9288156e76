package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/shard"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE...",
		Short: "Describe filter files, after verifying checksums",
		Long:  `Several files make a table, and with --json an array.`,
		Example: `  bloomery info blocked.bloom --json
  bloomery info monday.bloom tuesday.bloom
  bloomery build -o - words.txt | bloomery info -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return a.infoTable(args)
			}
			r, err := a.describe(args[0])
			if err != nil {
				return err
			}
			a.warnRate(args[0], r.Info)
			return a.table(r, r.write)
		},
	}
}

// infoTable describes several files, one per line. If a file cannot be read, it describes the others and returns the
// error at the end.
func (a *app) infoTable(paths []string) error {
	var all []object
	var lines strings.Builder
	var failed error
	fmt.Fprintln(&lines, "FILE\tFAMILY\tKEYS\tSIZE\tBITS/KEY\tLOAD\tFALSE POSITIVES")
	for _, path := range paths {
		file := object{{"file", path}}
		r, err := a.describe(path)
		if err != nil {
			failed = errors.Join(failed, err)
			all = append(all, append(file, object{{"error", err.Error()}}...))
			fmt.Fprintf(&lines, "%s\terror\t-\t-\t-\t-\t-\n", path)
			continue
		}

		a.warnRate(path, r.Info)
		all = append(all, append(file, r.json()...))
		perKey, load := "-", "-"
		if !nearlyEmpty(r.Bits, r.Keys) {
			perKey = fmt.Sprintf("%.5g", r.BitsPerKey())
		}
		if r.Capacity > 0 {
			load = fmt.Sprintf("%.1f%%", 100*r.load())
		}
		fmt.Fprintf(&lines, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", path,
			r.Spec.Family(), r.Keys, bytesText(r.file.Bytes), perKey, load, stat.Percent(r.FPRPosterior))
	}
	err := a.table(all, func(w io.Writer) { _, _ = io.WriteString(w, lines.String()) })
	return errors.Join(err, failed)
}

func (r report) write(w io.Writer) {
	fmt.Fprintf(w, "spec\t%s\n", r.Spec)
	if id := r.hasher.ID(); family.Foreign(id) {
		fmt.Fprintf(w, "hash\t%s, of another system\n", id)
	} else {
		fmt.Fprintf(w, "hash\t%s, seed %d\n", id, r.hasher.Seed())
	}
	if r.Form != (filter.KeyForm{}) {
		fmt.Fprintf(w, "form of keys\t%s\n", r.Form)
	}
	if r.distinct > 0 {
		fmt.Fprintf(w, "keys\t%d, about %d of them distinct\n", r.Keys, r.distinct)
	} else {
		fmt.Fprintf(w, "keys\t%d\n", r.Keys)
	}

	switch {
	case r.window == nil && !nearlyEmpty(r.Bits, r.Keys):
		fmt.Fprintf(w, "bits\t%d (%.4g per key)\n", r.Bits, r.BitsPerKey())
	case r.Capacity > 0:
		fmt.Fprintf(w, "bits\t%d (%.4g per key when full)\n", r.Bits, float64(r.Bits)/float64(r.Capacity))
	default:
		fmt.Fprintf(w, "bits\t%d\n", r.Bits)
	}
	if r.Capacity > 0 {
		fmt.Fprintf(w, "capacity\t%d (load %.4f)\n", r.Capacity, r.load())
		fmt.Fprintf(w, "room left\t%s\n", keysText(r.room()))
	}

	for level, p := range r.Pools {
		fmt.Fprintf(w, "extensions %d\t%d of %d in use\n", level+2, p.Used, p.Size)
	}
	if r.ExceptionBits > 0 {
		fmt.Fprintf(w, "exceptions\t%s\n", exceptionsText(r.Info))
	}
	if r.manifest == nil {
		fmt.Fprintf(w, "fill\t%.4f\n", r.Fill)
	}
	if r.Late > 0 {
		fmt.Fprintf(w, "\t%.4f after the search; %d keys came later: see bloomery optimize\n", r.FillSearched, r.Late)
	}

	prior, source := "predicted", "from the fill"
	if f, err := families.ByName(r.Spec.Family()); err == nil && f.Can.Has(family.CanSearch) {
		prior = "before the search"
	} else if err == nil && !f.Can.Has(family.CanAdd) {
		source = "from the length of the fingerprints"
	}

	lowest := family.LowestRate(r.hasher.ID(), r.Keys) // the rate of absent keys with the hash of a key
	if r.ValuesOnly() {
		fmt.Fprintln(w, "false-positive rate\tnone: values without fingerprints; every key seems to be present")
	} else if r.FPRPosterior == lowest && r.Keys > 0 {
		const text = "false-positive rate\t%s, that of equal hashes: no filter with this hash has a lower one\n"
		fmt.Fprintf(w, text, stat.Percent(lowest))
	} else {
		fmt.Fprintf(w, "false-positive rate\t%s %s (%s %s)\n",
			stat.Percent(r.FPRPosterior), source, stat.Percent(r.FPRPrior), prior)
	}
	if r.FPRPlanned > 0 {
		state := "kept"
		if r.Exceeded() {
			state = "EXCEEDED"
		}
		fmt.Fprintf(w, "planned rate\t%s, %s\n", stat.Percent(r.FPRPlanned), state)
	}
	if r.window != nil {
		writeWindow(w, r.window)
	}
	if m := r.manifest; m != nil {
		fmt.Fprintf(w, "shards\t%d, plan %s\n", len(m.Shards), m.ID())
		line := func(name string, e shard.Entry) {
			fmt.Fprintf(w, "%s\t%d, %s, false-positive rate %s: %s\n",
				name, e.Keys, bytesText(e.Bytes), stat.Percent(e.FPRPosterior), e.File)
		}
		few, many := fewestAndMost(m)
		line("fewest keys", few)
		line("most keys", many)
	}

	size, form := "", ""
	if mostlyHeader(r.file.Bytes, r.Bits) {
		size = ", mostly header"
	}
	if r.file.Trimmed {
		form = ", trimmed"
	}
	fmt.Fprintf(w, "file\t%s%s, format %d%s\n", bytesText(r.file.Bytes), size, container.Version, form)
}

func (a *app) estimateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "estimate A [B]",
		Short: "Estimate how many different keys filters contain",
		Long: `For two filters that merge accepts, union and intersection are estimated, too.
Intervals are 95%. An adversary who chooses keys can make the estimate wrong.`,
		Example: `  bloomery build -o monday.bloom --spec standard --capacity 1M monday.txt
  bloomery build -o tuesday.bloom --spec standard --capacity 1M tuesday.txt
  bloomery estimate monday.bloom
  bloomery estimate monday.bloom tuesday.bloom`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.estimate(args)
		},
	}
}

func (a *app) estimate(paths []string) (err error) {
	sets := make([]*bloomery.Set, len(paths))
	for i, path := range paths {
		if sets[i], err = a.open(path); err != nil {
			return err
		}
		defer sets[i].Close()
	}

	var e bloomery.Overlap
	report := object{{"files", paths}}
	if len(sets) == 1 {
		e.A, err = sets[0].EstimateInterval()
		report = append(report, object{{"a", estimateJSON(e.A)}}...)
	} else {
		e, err = sets[0].EstimateOverlap(sets[1])
		report = append(report, object{{"a", estimateJSON(e.A)}, {"b", estimateJSON(e.B)},
			{"union", estimateJSON(e.Union)}, {"intersection", estimateJSON(e.Intersection)}}...)
	}
	if errors.Is(err, filter.ErrMismatch) {
		return fmt.Errorf("%s: %w", strings.Join(paths, " and "), err)
	}

	for _, set := range sets {
		err = errors.Join(err, set.Err())
	}
	if err != nil {
		return err
	}
	return a.table(report, func(w io.Writer) {
		fmt.Fprintf(w, "%s\t%s\n", paths[0], estimateText(e.A))
		if len(sets) > 1 {
			fmt.Fprintf(w, "%s\t%s\nunion\t%s\nintersection\t%s\n", paths[1], estimateText(e.B), estimateText(e.Union),
				estimateText(e.Intersection))
		}
	})
}

// estimateJSON returns the numbers as JSON, with null for an infinite one.
func estimateJSON(e bloomery.Estimate) object {
	number := func(x float64) *float64 {
		if math.IsInf(x, 1) {
			return nil
		}
		return &x
	}
	return object{
		{"keys", number(e.Keys)}, {"low", number(e.Low)}, {"high", number(e.High)}, {"counted,omitempty", e.Counted},
	}
}

// estimateText returns the numbers as text, such as "1004 keys (95%: 990 to 1018)".
func estimateText(e bloomery.Estimate) string {
	switch {
	case e.Counted:
		return fmt.Sprintf("%.0f keys, as counted by the filter", e.Keys)
	case math.IsInf(e.High, 1) && e.Low == 0:
		return "any number of keys: every bit is set"
	case math.IsInf(e.High, 1):
		return fmt.Sprintf("at least %.0f keys (95%%): every bit is set", e.Low)
	}
	return fmt.Sprintf("%.0f keys (95%%: %.0f to %.0f)", e.Keys, e.Low, e.High)
}
