package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/internal/figure"
	"github.com/bloomery/bloomery/plan"
)

func (a *app) planCommand() *cobra.Command {
	var needs planFlags
	var plot string
	c := &cobra.Command{
		Use:   "plan --keys N [--fpr P] [--needs remove,count,...]",
		Short: "Choose a filter, and see what it costs",
		Long: `Rank the filters that meet the needs, the smallest first, or the fastest with --for speed. Sizes and
rates are forecast by formulas, and for families with a search by searches on a sample of random keys. Times come from
a table that was measured on one machine (bloomery lab costs), in nanoseconds: present and absent are queries of a
filter that is in the caches, far is a query of a filter that no cache holds, with the given share of absent keys, and
build is the time per key on one core.

--needs takes any of: remove (keys are removed), count (how often a key came), merge (filters are merged), line (a
query reads one cache line), writers (many goroutines add keys), adversarial (an attacker may choose the keys),
unpatented (no method with a known patent).

If no filter does it, the output says what is impossible and what comes nearest: exit code 1.`,
		Example: `  bloomery plan --keys 10M --fpr 0.1%
  bloomery plan --keys 1M --later 1M --needs remove,count
  bloomery plan --keys 5G --bits-per-key 10 --for speed --json
  bloomery plan --keys 100k --needs remove --plot sizes.svg`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			n, err := needs.read(c)
			if err != nil {
				return err
			}
			p, err := a.rank(c, n, needs.exact())
			var impossible *plan.Impossible
			if err != nil && !errors.As(err, &impossible) {
				return err
			}
			if plot != "" {
				if err := a.plotPlan(c, n, plot); err != nil {
					return err
				}
			}
			if impossible != nil {
				return a.printImpossible(impossible)
			}
			if a.json {
				return a.printJSON(p)
			}
			return a.printPlan(p)
		},
	}
	needs.register(c)
	c.Flags().StringVar(&plot, "plot", "", "SVG or PNG `file` to draw: bits per key against the rate, of every filter that fits")
	return c
}

// rank calls the planner, which may search samples. exact requests a rate of 0.
func (a *app) rank(c *cobra.Command, n plan.Needs, exact bool) (plan.Plan, error) {
	p := newProgress()
	a.show(p, "searching samples", 0)
	defer p.end()
	if exact {
		return plan.Plan{}, plan.NeverWrong(c.Context(), n)
	}
	return plan.For(c.Context(), n)
}

// printChoices prints a line of figures for each choice, then a line of text for each.
func (a *app) printChoices(choices []plan.Choice) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := 0
	for _, c := range choices {
		width = max(width, len(c.Spec.String()))
	}
	fmt.Fprintf(w, "%-*s\tsize\tbits a key\trate\tpresent\tabsent\tfar\tbuild\t\n", width, "spec")
	for _, c := range choices {
		fmt.Fprintf(w, "%-*s\t%s\t%.2f\t%.3g\t%.0f\t%.0f\t%.0f\t%.0f\t\n",
			width, c.Spec, bytesText((c.Bits+7)/8), c.BitsPerKey, c.FPRPrior, c.NsPresent, c.NsAbsent, c.FarQuery, c.NsBuild)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	w = tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, c := range choices {
		words := c.Reason
		if c.Instead != "" {
			words = c.Instead + ": " + words
		}
		fmt.Fprintf(w, "  %s\t%s\n", c.Spec, words)
		if c.Warning != "" {
			fmt.Fprintf(w, "  \t  but: %s\n", c.Warning)
		}
	}
	return w.Flush()
}

func (a *app) printPlan(p plan.Plan) error {
	if err := a.printChoices(p.Choices); err != nil {
		return err
	}
	if len(p.Refused) > 0 {
		fmt.Fprintln(a.stdout, "\nnot:")
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, r := range p.Refused {
			fmt.Fprintf(w, "  %s\t%s\n", r.Spec, r.Why)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	best := p.Choices[0]
	_, err := fmt.Fprintf(a.stdout, "\ntake %s: %s\n", best.Spec, best.Reason)
	return err
}

func (a *app) printImpossible(e *plan.Impossible) error {
	if a.json {
		if err := a.printJSON(map[string]any{"impossible": e.What, "nearest": e.Nearest}); err != nil {
			return err
		}
		return errNo
	}
	fmt.Fprintln(a.stdout, "impossible:", strings.ReplaceAll(e.What, "\n", "\n  "))
	if len(e.Nearest) > 0 {
		fmt.Fprintln(a.stdout, "\nnearest:")
		if err := a.printChoices(e.Nearest); err != nil {
			return err
		}
	}
	return errNo
}

// plotPlan plots the bits per key of the filters that meet the needs, and the bounds, against the rate.
func (a *app) plotPlan(c *cobra.Command, n plan.Needs, path string) error {
	format, ok := strings.CutPrefix(strings.ToLower(path[max(0, len(path)-4):]), ".")
	if !ok || format != "svg" && format != "png" {
		return fmt.Errorf("--plot %s: want a file that ends in .svg or .png", path)
	}
	p := newProgress()
	a.show(p, "drawing", progressAll)
	defer p.end()
	curves, err := plan.Curves(c.Context(), n, func(done float64) { p.read.Store(int64(done * progressAll)) })
	if err != nil {
		return err
	}
	picture := figure.Plot{
		Name: "plan", Title: fmt.Sprintf("%d keys", n.Keys+n.Later),
		X: "false positive rate", Y: "bits a key", LogX: true, LogY: true,
	}
	for _, curve := range curves {
		picture.Curves = append(picture.Curves, figure.Curve{Name: curve.Name, Points: curve.Points, Bound: curve.Bound})
	}
	return container.WriteAtomic(c.Context(), path, func(w io.Writer) error { return picture.Draw(w, format) })
}
