package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/plan"
)

func (a *app) planCommand() *cobra.Command {
	var needs planFlags
	var file string
	var all bool
	c := &cobra.Command{
		Use:   "plan --keys N [--fpr P] [--needs remove,count,...]",
		Short: "Choose a filter, and see what it costs",
		Long: `Print the filter that build takes for these needs, then the three smallest that meet them, or with --for
speed the three fastest. A file has a header of 100 to 400 bytes; bits/key leaves it out. Sizes and rates are forecast.
Times were measured on one machine: of a query in the caches, with the given share of absent keys, and of a build on one
core.

If none does, the output names what is impossible and what comes nearest. See bloomery help specs for --needs.`,
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
			var p plan.Plan
			if needs.exact {
				err = neverWrong
			} else {
				p, err = plan.For(c.Context(), n)
			}
			var impossible *plan.Impossible
			if err != nil && !errors.As(err, &impossible) {
				return err
			}

			var pick *plan.Choice
			if impossible == nil {
				if pick, err = pickOf(c.Context(), n, p); err != nil {
					return err
				}
			}
			if file != "" {
				if err := a.plotPlan(c, n, pick, file); err != nil {
					return err
				}
			}

			switch {
			case impossible != nil:
				return a.printImpossible(impossible)
			case a.json:
				return a.printJSON(object{{"pick", pick.Spec}, {"choices", p.Choices}, {"refused", p.Refused}})
			}
			a.printPick(*pick)
			a.printBetter(n, *pick, p.Choices)
			a.printPlan(n, p, all)
			return nil
		},
	}
	needs.register(c)
	c.Flags().BoolVar(&all, "all", false, "list all filters, with reasons, and why the others are left out")
	c.Flags().StringVar(&file, "plot", "", "`FILE`: SVG picture of size against rate")
	return c
}

var neverWrong = &plan.Impossible{
	What: "a rate of 0 needs an exact set: no filter can do it, since log2(1/ε) bits per key grow without limit; see " +
		"bloomery exact",
	Nearest: []plan.Choice{}, // in JSON a list, not null
}

type planFlags struct {
	plan.Needs
	exact  bool // the rate must be 0
	values uint64
	wishes wishFlags
}

func (f *planFlags) register(c *cobra.Command) {
	parse(c, &f.Keys, "keys", "`N`: keys, such as 133604, 10M or 5G", parseCount)
	parse(c, &f.Later, "later", "`N`: keys that are added after the build", parseCount)
	const rate = "`RATE`: false positives, 0.01 or 1% (default 1%)"
	parse(c, &f.FPR, "fpr", rate, func(flag, text string) (float64, error) {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
		if f.exact = err == nil && v == 0; f.exact {
			return 0, nil
		}
		return rateNoted(c)(flag, text)
	})
	c.Flags().Float64Var(&f.BitsPerKey, "bits-per-key", 0, "`BITS`: most bits per key")
	parse(c, &f.Bytes, "bytes", "`SIZE`: most bytes of the filter, such as 64KiB", parseBytes)
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "`BITS`: value that each key has")
	c.Flags().Float64Var(&f.Absent, "absent", 0.5, "`SHARE`: share of queries for absent keys")
	c.Flags().DurationVar(&f.Build, "build", 0, "`TIME`: longest build on one core, such as 10s")
	parse(c, &f.Memory, "memory", "`SIZE`: most memory of a build besides the filter", parseBytes)
	f.wishes.register(c)
	c.MarkFlagsMutuallyExclusive("bits-per-key", "bytes")
	_ = c.MarkFlagRequired("keys")
}

func (f *planFlags) read(c *cobra.Command) (plan.Needs, error) {
	f.ValueBits = int(min(f.values, math.MaxInt))
	if err := checkBitsPerKey(c, f.BitsPerKey); err != nil {
		return f.Needs, err
	}

	switch {
	case c.Flags().Changed("build") && f.Build <= 0:
		return f.Needs, fmt.Errorf("--build %v: want a time above 0, such as 10s", f.Build)
	case !(f.Absent > 0 && f.Absent <= 1):
		return f.Needs, fmt.Errorf("--absent %v: want a share above 0 and at most 1", f.Absent)
	}
	err := f.wishes.read(&f.Needs)
	return f.Needs, err
}

// pickOf returns what a build without --spec takes for the needs: a lasting choice without a known patent. If all
// filters of the plan are patented, it returns the first one.
func pickOf(ctx context.Context, n plan.Needs, p plan.Plan) (*plan.Choice, error) {
	n.Unpatented = true
	if n.For == "" {
		n.For = plan.Lasting
	}

	usual, err := plan.For(ctx, n)
	if errors.As(err, new(*plan.Impossible)) {
		usual, err = p, nil
	}
	if err != nil {
		return nil, err
	}
	return &usual.Choices[0], nil
}

// printPick prints the pick, what it costs, and why it is the pick.
func (a *app) printPick(c plan.Choice) {
	if pick := "pick: " + c.Spec.String(); len(pick) <= cli.Columns {
		fmt.Fprintln(a.stdout, pick)
	} else {
		fmt.Fprintf(a.stdout, "pick:\n%s\n", cli.Wrap(c.Spec.String()))
	}
	size := sizeText(c.FileBytes, c.Bits, c.Keys)
	printWrapped(a.stdout, size+"; false-positive rate "+stat.Percent(c.FPRPrior))
	far := ""
	// Smaller filters stay in the caches, and larger ones never do.
	if c.FileBytes >= 1<<20 && c.FarQuery > 1.1*c.NsQuery {
		far = fmt.Sprintf(", %.0f ns outside the caches", c.FarQuery)
	}
	printWrapped(a.stdout, fmt.Sprintf("a query takes about %.0f ns%s; the build takes %s", c.NsQuery, far, buildTime(c)))
	a.printReason(c)
}

// printReason prints the reason for a choice, and its caveat.
func (a *app) printReason(c plan.Choice) {
	reason := c.Reason
	if c.Instead != "" {
		reason = c.Instead + ": " + reason
	}
	printWrapped(a.stdout, reason)
	if c.Warning != "" {
		printWrapped(a.stdout, "but: "+c.Warning)
	}
}

// printBetter says why the pick is not the first of the choices: what is better in a filter before it, and how to get
// that filter. It does so once for filters with a known patent and once for others.
func (a *app) printBetter(n plan.Needs, pick plan.Choice, choices []plan.Choice) {
	done := map[bool]bool{} // by whether the method is patented
	for _, c := range choices {
		if c.Spec.String() == pick.Spec.String() {
			return
		}
		_, form := formOf(c)
		gain, better := 1-float64(c.FileBytes)/float64(pick.FileBytes), "smaller"
		switch {
		case n.For == plan.Fastest:
			gain, better = 1-c.NsQuery/pick.NsQuery, "faster"
		case byRate(n):
			gain, better = 1-c.FPRPrior/pick.FPRPrior, "more accurate"
		}
		if gain < 0.001 || done[form.Patented] {
			continue
		}

		done[form.Patented] = true
		instead := "--for size takes it"
		if form.Patented {
			instead = "patented, so only a spec takes it"
		}
		printWrapped(a.stdout, fmt.Sprintf("%s is %.2g%% %s; %s", c.Spec, 100*gain, better, instead))
	}
}

// byRate returns whether all filters of a plan have the same size, and the most accurate is the first.
func byRate(n plan.Needs) bool { return n.FPR == 0 && (n.BitsPerKey > 0 || n.Bytes > 0) }

// printRows prints a line of figures for each choice, and its spec, on a line of its own if it does not fit.
func (a *app) printRows(choices []plan.Choice) {
	const figures = "%8s  %8s  %8s  %6s  %6s"
	fmt.Fprintf(a.stdout, figures+"  spec\n", "file", "bits/key", "rate", "query", "build")
	for _, c := range choices {
		line := fmt.Sprintf(figures, bytesText(c.FileBytes), fmt.Sprintf("%.2f", c.BitsPerKey),
			stat.Percent(c.FPRPrior), fmt.Sprintf("%.0f ns", c.NsQuery), buildTime(c))
		spec := "  " + c.Spec.String()
		switch {
		case len(c.Spec.String()) > cli.Columns:
			spec = "\n" + strings.TrimSuffix(cli.Indented(c.Spec.String()), "\n")
		case len(line+spec) > cli.Columns:
			spec = fmt.Sprintf("\n%*s", cli.Columns, c.Spec)
		}
		fmt.Fprintln(a.stdout, line+spec)
	}
}

// buildTime returns the time of a build on one core, with two digits.
func buildTime(c plan.Choice) string {
	took := time.Duration(min(c.NsBuild*float64(c.Keys), math.MaxInt64/2))
	unit := time.Nanosecond
	for took/100 >= unit {
		unit *= 10
	}
	return took.Round(unit).String()
}

// printWrapped writes text, indented, in lines of at most 80 columns.
func printWrapped(w io.Writer, text string) { fmt.Fprint(w, cli.Indented(text)) }

// shortPlan is the number of filters that a plan lists without --all.
const shortPlan = 3

// printPlan prints the first filters of a plan, or all of them, with reasons.
func (a *app) printPlan(n plan.Needs, p plan.Plan, all bool) {
	order := "smallest first"
	switch {
	case n.For == plan.Fastest && byRate(n):
		order = "fastest first, then those with far higher rates"
	case n.For == plan.Fastest:
		order = "fastest first"
	case byRate(n):
		order = "most accurate first"
	}

	few := p.Choices
	if !all {
		few = few[:min(shortPlan, len(few))]
	}
	count := fmt.Sprint(len(p.Choices))
	if len(few) < len(p.Choices) {
		count = fmt.Sprintf("%d of %s", len(few), count)
	}
	head := fmt.Sprintf("%s filters that meet the needs, the %s", count, order)
	if len(p.Choices) == 1 {
		head = "the only filter that meets the needs"
	}
	fmt.Fprintf(a.stdout, "\n%s:\n", head)
	a.printRows(few)
	if !all {
		fmt.Fprintln(a.stdout, "\nbloomery build takes the pick. --all lists every filter, with reasons.")
		return
	}

	for _, c := range p.Choices {
		fmt.Fprintf(a.stdout, "\n%s\n", cli.Wrap(c.Spec.String()))
		a.printReason(c)
	}
	for i, r := range p.Refused {
		if i == 0 {
			fmt.Fprintln(a.stdout, "\nnot:")
		}
		printWrapped(a.stdout, fmt.Sprintf("%s %s", r.Spec, r.Why))
	}
}

func (a *app) printImpossible(e *plan.Impossible) error {
	if a.json {
		return exitIf(true, a.printJSON(map[string]any{"impossible": e.What, "nearest": e.Nearest}))
	}

	fmt.Fprintln(a.stdout, "impossible:")
	for line := range strings.Lines(e.What) {
		printWrapped(a.stdout, line)
	}
	if len(e.Nearest) > 0 {
		fmt.Fprintln(a.stdout, "\nnearest:")
		a.printRows(e.Nearest)
	}
	for _, c := range e.Nearest {
		fmt.Fprintf(a.stdout, "\n%s\n", cli.Wrap(c.Spec.String()))
		a.printReason(c)
	}
	return errNo
}

// plotPlan plots the bits per key of the filters that meet the needs, and the bounds, against the rate. pick may be
// nil.
func (a *app) plotPlan(c *cobra.Command, n plan.Needs, pick *plan.Choice, path string) error {
	if !strings.EqualFold(filepath.Ext(path), ".svg") {
		return fmt.Errorf("--plot %s: pictures are SVG; want a file that ends in .svg", path)
	}

	p := a.later("drawing")
	defer p.End()
	picture, err := planChart(c.Context(), n, pick, p.share)
	if err != nil {
		return err
	}
	return container.WriteAtomic(c.Context(), path, picture.WriteSVG)
}
