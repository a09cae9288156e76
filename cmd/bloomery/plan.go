package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/figure"
	"github.com/bloomery/bloomery/plan"
)

// needsFlags are the flags that say what a filter has to do.
type needsFlags struct {
	keys, later, fpr, bytes string
	bitsPerKey, absent      float64
	values                  uint64
	build                   time.Duration
	memory                  string
	wishes                  wishFlags
}

func (f *needsFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.keys, "keys", "", "number of keys, such as 133604, 10M or 5G")
	c.Flags().StringVar(&f.later, "later", "", "number of keys that are added after the build")
	c.Flags().StringVar(&f.fpr, "fpr", "", "rate of false positives to keep, such as 0.01 or 1% (default 1% without a limit of size)")
	c.Flags().Float64Var(&f.bitsPerKey, "bits-per-key", 0, "limit of the size in bits a key")
	c.Flags().StringVar(&f.bytes, "bytes", "", "limit of the size in all, such as 64KiB or 10MB")
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "bits of a value that each key has")
	c.Flags().Float64Var(&f.absent, "absent", 0.5, "share of the queries that ask for absent keys")
	c.Flags().DurationVar(&f.build, "build", 0, "longest build on one core, such as 10s")
	c.Flags().StringVar(&f.memory, "memory", "", "what a build may hold at most beside the filter, such as 1GiB, keys that can go to a file not counted")
	f.wishes.register(c)
	c.MarkFlagsMutuallyExclusive("bits-per-key", "bytes")
	_ = c.MarkFlagRequired("keys")
}

// never reports whether the rate is to be 0.
func (f *needsFlags) never() bool {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(f.fpr), "%"), 64)
	return err == nil && v == 0
}

// read returns the needs.
func (f *needsFlags) read(c *cobra.Command) (n plan.Needs, err error) {
	if n.Keys, err = parseCount("--keys", f.keys); err != nil {
		return n, err
	}
	if c.Flags().Changed("later") {
		if n.Later, err = parseCount("--later", f.later); err != nil {
			return n, err
		}
	}
	if c.Flags().Changed("fpr") && !f.never() {
		if n.FPR, err = parseRate(f.fpr); err != nil {
			return n, err
		}
	}
	if c.Flags().Changed("bytes") {
		if n.Bytes, err = parseBytes("--bytes", f.bytes); err != nil {
			return n, err
		}
	}
	if c.Flags().Changed("bits-per-key") && !(f.bitsPerKey > 0) {
		return n, fmt.Errorf("--bits-per-key %v: want more than 0", f.bitsPerKey)
	}
	if c.Flags().Changed("build") && f.build <= 0 {
		return n, fmt.Errorf("--build %v: want a time above 0, such as 10s", f.build)
	}
	if !(f.absent > 0 && f.absent <= 1) {
		return n, fmt.Errorf("--absent %v: want a share above 0 and up to 1", f.absent)
	}
	if c.Flags().Changed("memory") {
		if n.Memory, err = parseBytes("--memory", f.memory); err != nil {
			return n, err
		}
	}
	n.BitsPerKey, n.Absent, n.Build = f.bitsPerKey, f.absent, f.build
	n.ValueBits = int(min(f.values, 64))
	return n, f.wishes.read(&n)
}

func (a *app) planCommand() *cobra.Command {
	var needs needsFlags
	var plot string
	c := &cobra.Command{
		Use:   "plan --keys N [--fpr P] [--needs remove,count,...]",
		Short: "Say which filter to take, and what it costs",
		Long: `Rank the filters that do what is needed, the smallest first, or the fastest with --for speed. Sizes and rates are
forecasts by formulas, and for families that search by searches of a sample of made-up keys. Times come from a table that was
measured on one machine (bloomery lab costs), in nanoseconds: present and absent are queries of a filter that is asked again and
again, far is one of a filter that no cache holds, at the asked mix, and build is a key of the build on one core.

--needs takes any of: remove (keys are taken out), count (how often a key came), merge (filters are united), line (a query
reads one cache line), writers (many goroutines add), adversarial (who asks chooses the keys), unpatented (nothing that a patent
is known to cover).

If no filter does it, the answer says what is impossible and what comes nearest: exit code 1.`,
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
			p, err := a.rank(c, n, needs.never())
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
	c.Flags().StringVar(&plot, "plot", "", "SVG or PNG `file` to draw: bits a key against the rate, of every filter that fits")
	return c
}

// rank asks the plan, which searches samples.
func (a *app) rank(c *cobra.Command, n plan.Needs, never bool) (plan.Plan, error) {
	p := newProgress()
	a.show(p, "searching samples", 0)
	defer p.end()
	if never {
		return plan.Plan{}, plan.NeverWrong(c.Context(), n)
	}
	return plan.For(c.Context(), n)
}

// printChoices prints a line of figures of each, then a line of words.
func (a *app) printChoices(choices []plan.Choice) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := 0
	for _, c := range choices {
		width = max(width, len(c.Spec.String()))
	}
	fmt.Fprintf(w, "%-*s\tsize\tbits a key\trate\tpresent\tabsent\tfar\tbuild\t\n", width, "spec")
	for _, c := range choices {
		fmt.Fprintf(w, "%-*s\t%s\t%.2f\t%.3g\t%.0f\t%.0f\t%.0f\t%.0f\t\n", width, c.Spec, bytesText((c.Bits+7)/8), c.BitsPerKey, c.FPRPrior, c.NsPresent, c.NsAbsent, c.FarQuery, c.NsBuild)
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

// plotPlan draws what fits, and the bounds, over rates.
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
	picture := figure.Plot{Name: "plan", Title: fmt.Sprintf("%d keys", n.Keys+n.Later), X: "false positive rate", Y: "bits a key", LogX: true, LogY: true}
	for _, curve := range curves {
		picture.Curves = append(picture.Curves, figure.Curve{Name: curve.Name, Points: curve.Points, Bound: curve.Bound})
	}
	return writeWhole(path, func(w io.Writer) error { return picture.Draw(w, format) })
}
