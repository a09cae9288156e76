package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/plot"
	"github.com/bloomery/bloomery/plan"
)

func (a *app) planCommand() *cobra.Command {
	var needs planFlags
	var file string
	c := &cobra.Command{
		Use:   "plan --keys N [--fpr P] [--needs remove,count,...]",
		Short: "Choose a filter, and see what it costs",
		Long: `Rank the filters that meet the needs, the smallest first, or the fastest with --for speed. The size is the
size of the file, with its header of 100 to 300 bytes; bits a key are of the filter without it. Sizes and rates are
forecast. Times are in nanoseconds, measured on one machine: present and absent are queries of a filter that is in the
caches, far is a query of a filter that no cache holds, with the given share of absent keys, and build is the time per
key on one core. The last line is what bloomery build takes for these needs without --spec.

--needs takes any of: add (keys are added after the build), remove (keys are removed), count (how often a key came),
merge (filters are merged), line (a query reads one cache line), writers (many goroutines add keys), adversarial (an
attacker may choose the keys), unpatented (no method with a known patent).

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
			if file != "" {
				if err := a.plotPlan(c, n, file); err != nil {
					return err
				}
			}
			if impossible != nil {
				return a.printImpossible(impossible)
			}
			if a.json {
				return a.printJSON(p)
			}
			n.Unpatented = true
			if n.For == "" {
				n.For = plan.Lasting
			}
			usual, err := plan.For(c.Context(), n)
			if errors.As(err, &impossible) { // every filter of the plan is patented
				usual = p
			} else if err != nil {
				return err
			}
			return a.printPlan(p, usual.Choices[0])
		},
	}
	needs.register(c)
	c.Flags().StringVar(&file, "plot", "", "SVG `file` to draw: bits per key against the rate, of every filter "+
		"that fits")
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
	parse(c, &f.Keys, "keys", "number of keys, such as 133604, 10M or 5G", parseCount)
	parse(c, &f.Later, "later", "number of keys that are added after the build", parseCount)
	const rate = "false-positive rate to keep, such as 0.01 or 1% (default 1% without a limit on the size)"
	parse(c, &f.FPR, "fpr", rate, func(flag, text string) (float64, error) {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
		if f.exact = err == nil && v == 0; f.exact {
			return 0, nil
		}
		return parseRate(flag, text)
	})
	c.Flags().Float64Var(&f.BitsPerKey, "bits-per-key", 0, "most bits per key")
	parse(c, &f.Bytes, "bytes", "most bytes of the whole filter, such as 64KiB or 10MB", parseBytes)
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "bits of the value that each key has")
	c.Flags().Float64Var(&f.Absent, "absent", 0.5, "share of queries for absent keys")
	c.Flags().DurationVar(&f.Build, "build", 0, "longest build on one core, such as 10s")
	parse(c, &f.Memory, "memory", "most memory of a build besides the filter, such as 1GiB; "+
		"keys that can go to a file do not count", parseBytes)
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

// columns is the width of a screen.
const columns = 100

// printChoices prints a line of figures for each choice, then remarks about each.
func (a *app) printChoices(choices []plan.Choice) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "size\tbits a key\trate\tpresent\tabsent\tfar\tbuild\t")
	for _, c := range choices {
		fmt.Fprintf(w, "%s\t%.2f\t%.3g\t%.0f\t%.0f\t%.0f\t%.0f\t\n",
			bytesText(c.FileBytes), c.BitsPerKey, c.FPRPrior, c.NsPresent, c.NsAbsent, c.FarQuery, c.NsBuild)
	}

	_ = w.Flush() // a Builder never fails
	head, lines, _ := strings.Cut(text.String(), "\n")
	at := strings.Index(head, "present")
	fmt.Fprintf(a.stdout, "%*sns a query%*s\n%s  spec\n", at, "", len(head)-at-len("ns a query"), "ns a key", head)
	for i, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		spec := "  " + choices[i].Spec.String()
		if len(line)+len(spec) > columns {
			spec = "\n" + strings.Repeat(" ", max(4, columns-len(spec)+2)) + strings.TrimSpace(spec)
		}
		fmt.Fprintf(a.stdout, "%s%s\n", line, spec)
	}

	for _, c := range choices {
		words := c.Reason
		if c.Instead != "" {
			words = c.Instead + ": " + words
		}
		if c.Warning != "" {
			words += "; but: " + c.Warning
		}
		fmt.Fprintf(a.stdout, "\n%s\n", c.Spec)
		a.printWrapped(words)
	}
}

// printWrapped prints text, indented, in lines of at most 100 columns.
func (a *app) printWrapped(text string) {
	const indent = "  "
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent+line)+1+len(word) > columns {
			fmt.Fprintln(a.stdout, indent+line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	fmt.Fprintln(a.stdout, indent+line)
}

// printPlan prints a plan, and the filter that a build without --spec takes for the same needs.
func (a *app) printPlan(p plan.Plan, usual plan.Choice) error {
	a.printChoices(p.Choices)
	for i, r := range p.Refused {
		if i == 0 {
			fmt.Fprintln(a.stdout, "\nnot:")
		}
		a.printWrapped(fmt.Sprintf("%s %s", r.Spec, r.Why))
	}
	best := p.Choices[0]
	_, err := fmt.Fprintf(a.stdout, "\nfirst: %s\nbuild without --spec takes: %s\n", best.Spec, usual.Spec)
	return err
}

func (a *app) printImpossible(e *plan.Impossible) error {
	if a.json {
		return exitIf(true, a.printJSON(map[string]any{"impossible": e.What, "nearest": e.Nearest}))
	}

	fmt.Fprintln(a.stdout, "impossible:")
	for line := range strings.Lines(e.What) {
		a.printWrapped(line)
	}
	if len(e.Nearest) > 0 {
		fmt.Fprintln(a.stdout, "\nnearest:")
		a.printChoices(e.Nearest)
	}
	return errNo
}

// plotPlan plots the bits per key of the filters that meet the needs, and the bounds, against the rate.
func (a *app) plotPlan(c *cobra.Command, n plan.Needs, path string) error {
	if !strings.EqualFold(filepath.Ext(path), ".svg") {
		return fmt.Errorf("--plot %s: pictures are SVG; want a file that ends in .svg", path)
	}

	p := a.later("drawing")
	defer p.End()
	all, err := curves(c.Context(), n, p.share)
	if err != nil {
		return err
	}

	picture := plot.Chart{
		Title: fmt.Sprintf("%d keys", n.Keys+n.Later), X: "false positive rate", Y: "bits a key", Curves: all,
	}
	return container.WriteAtomic(c.Context(), path, picture.WriteSVG)
}
