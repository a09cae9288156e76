package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/cmd/bloomery/domains"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/plan"
)

// demoSpecs are the filters of the demo, one per line of its table, with common sizes. They are independent of the list
// of families.
var demoSpecs = []string{
	"standard(fpr=0.01)",
	"standard(fpr=0.001)",
	"blocked(fpr=0.01)",
	"blocked(fpr=0.01,layout=split)",
	"ribbon(fpr=0.01)",
	"ribbon(r=8)",
	"ribbon(r=8,w=128)",
	"fuse(width=7)",
	"fuse(width=8)",
	"fuse(width=16)",
	"partitioned(fpr=0.01)",
	"partitioned(bits_per_key=8)",
	"blockpartitioned(fpr=0.01)",
	"blockpartitioned(bits_per_key=8)",
	"twochoice(bits_per_key=16)",
	"rankindexed(fpr=0.01)",
	"counting(fpr=0.01)",
}

const demoAbsent = 1_000_000

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See every family at work on real data, in seconds",
		Long: `Build one filter of each family from 133,604 domains of disposable mail addresses, screen 9,631
ordinary mail domains and a million random names with it, and print size, rates and speed.`,
		Example: "  bloomery demo\n  bloomery demo --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
}

func (a *app) demo(ctx context.Context) error {
	blocked, ordinary := domains.Disposable(), domains.Ordinary()
	var absent []string
	for key := range bulk.RandomKeys(1) {
		if absent = append(absent, string(key)); len(absent) == demoAbsent {
			break
		}
	}

	plain := len(strings.Join(blocked, "\n")) + 1
	var rows []object
	var lines strings.Builder
	bar := a.later("building and asking")
	for i, spec := range demoSpecs {
		bar.count(i, len(demoSpecs))
		row, line, err := demoRun(ctx, spec, blocked, ordinary, absent)
		if err != nil {
			bar.End()
			return err
		}
		rows = append(rows, row)
		lines.WriteString(line)
	}

	bar.End()

	if a.json {
		return a.printJSON(map[string]any{
			"keys": len(blocked), "plain_bytes": plain, "ordinary": len(ordinary), "absent": demoAbsent, "rows": rows,
		})
	}

	fmt.Fprintf(a.stdout, "%d disposable mail domains: %s as a plain list.\n", len(blocked), bytesText(uint64(plain)))
	fmt.Fprintf(a.stdout, "Each filter is asked for all of them, for %d ordinary domains and for %d random names.\n\n",
		len(ordinary), demoAbsent)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	const heads = "\tsize\tbits\tpromised\tposterior\tobserved\tordinary\tmissing\tbuild\tpresent\tabsent\t\n"
	fmt.Fprintf(w, demoName+heads, "filter")
	fmt.Fprintf(w, demoName+"\t\ta key\trate\trate\trate\tflagged\tkeys\tns a key\tns a query\tns a query\t\n%s",
		"", &lines)
	return w.Flush()
}

const demoName = "%-30s" // left-aligned; numbers are right-aligned

// demoRun returns the figures of a filter, as JSON and as a line of the table.
func demoRun(ctx context.Context, spec string, blocked, ordinary, absent []string) (object, string, error) {
	parsed, err := filter.ParseSpec(spec)
	if err != nil {
		return nil, "", err
	}

	n := float64(len(blocked))
	promised := plan.Forecast(parsed, uint64(n)).FPRPrior
	start := time.Now()
	set, err := bloomery.Build(ctx, slices.Values(blocked), bloomery.Config{Spec: spec, Keys: uint64(n)})
	if err != nil {
		return nil, "", err
	}

	build := float64(time.Since(start).Nanoseconds()) / n
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}

	found, nsPresent := askAll(set, blocked)
	flagged, _ := askAll(set, ordinary)
	wrong, nsAbsent := askAll(set, absent)
	i, missing, observed := set.Info(), len(blocked)-found, float64(wrong)/float64(len(absent))
	bytes := (i.Bits + 7) / 8
	return object{
			{"spec", spec}, {"bytes", bytes}, {"bits_per_key", i.BitsPerKey()}, {"fpr_promised", promised},
			{"fpr_posterior", i.FPRPosterior}, {"fpr_observed", observed}, {"ordinary_flagged", flagged},
			{"false_negatives", missing}, {"ns_build", build}, {"ns_present", nsPresent}, {"ns_absent", nsAbsent},
		}, fmt.Sprintf(demoName+"\t%s\t%.2f\t%.4f%%\t%.4f%%\t%.4f%%\t%d\t%d\t%.0f\t%.0f\t%.0f\t\n",
			spec, bytesText(bytes), i.BitsPerKey(), 100*promised, 100*i.FPRPosterior, 100*observed,
			flagged, missing, build, nsPresent, nsAbsent), nil
}

// askAll returns the number of keys that are present, and the nanoseconds per query.
func askAll(set *bloomery.Set, keys []string) (hits int, ns float64) {
	start := time.Now()
	for _, k := range keys {
		if set.ContainsString(k) {
			hits++
		}
	}
	return hits, float64(time.Since(start).Nanoseconds()) / float64(len(keys))
}
