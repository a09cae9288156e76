package ptc

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family/twochoice"
)

// onlineRows is Table 1: keys added one by one.
var onlineRows = []publishedRow{
	{choice{8, 1, 6, 1}, 2.159e-2}, {choice{8, 2, 7, 1}, 2.323e-2}, {choice{8, 3, 7, 1}, 2.389e-2},
	{choice{16, 1, 11, 1}, 4.588e-4}, {choice{16, 2, 13, 1}, 3.935e-4}, {choice{16, 3, 13, 1}, 3.607e-4},
	{choice{32, 1, 22, 1}, 2.106e-7}, {choice{32, 2, 24, 1}, 1.285e-7}, {choice{32, 3, 25, 1}, 9.980e-8},
}

// otherRows lists the rates that the text gives for values of k other than the best.
var otherRows = []publishedRow{{choice{16, 2, 12, 1}, 3.954e-4}, {choice{16, 2, 14, 1}, 4.035e-4}}

// table1 reproduces the table of filters to which keys are added one by one, and the values in the text for other k and
// for the spread of trials.
var table1 = experiment.Experiment{
	Name: "ptc-table1", Source: Paper + ", Table 1 and section 3.1",
	Varies: "bits per key, choices, k; keys added one by one", Run: runTable1, Seconds: 3, FullOnly: true,
}

func runTable1(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(200)
	n := c.Size(10_000, 2000)
	settings := slices.Concat(onlineRows, otherRows)
	w := c.Work(float64(len(settings)+2) * float64(c.Trials))
	for i, p := range settings {
		rates, err := p.online(ctx, c, w, 1, n, c.Trials, independent,
			func(f experiment.Growing, _ int) float64 { return p.choice.rate(f.Info().Fill) })
		if err != nil {
			return result, err
		}
		r := p.mean(c, p.String(), n, rates)
		if i >= len(onlineRows) {
			r = r.Noted("in the text: another k than the best")
		}
		result.Add(r)
		if x, ok := ranges[p.choice]; ok {
			result.Add(extremes(c, p.String(), rates, x)...)
		}
	}
	large, err := large(ctx, c, w, 10*n)
	if err != nil {
		return result, err
	}
	probes, err := probes(ctx, c, w, n)
	if err != nil {
		return result, err
	}
	result.Rows = append(append(result.Rows, large...), probes...)
	result.Notes = []string{"Rates come from the share of ones, as in the paper.", toleranceNote,
		"Probes of an absent key are reads up to the first zero of each group; a standard filter needs 2 at half fill."}
	result.Plots = []figure.Plot{ratePlot(c, n, result.Rows)}
	return result, nil
}

// ranges lists the lowest and the highest rate in 1000 trials of the paper, from the text of sections 3.1 and 3.2.
var ranges = map[choice][2]float64{
	{32, 1, 22, 1}: {1.955e-7, 2.270e-7}, {32, 2, 24, 1}: {1.206e-7, 1.378e-7}, {32, 2, 26, 15}: {5.706e-8, 6.486e-8},
}

// The lowest of 1000 standard normal numbers has the mean -extremeOf1000 and the standard deviation extremeSigma.
const (
	extremeOf1000 = 3.241
	extremeSigma  = 0.351
)

// extremeTrials is the smallest number of trials for which extremes are compared. With it the standard deviation is
// known to 5%, which shifts the extreme by 0.16 standard deviations.
const extremeTrials = 200

// extremes estimates the lowest and the highest rate of 1000 trials and compares them with a range of the paper. It
// assumes normally distributed rates. Our own extremes are not comparable, since the number of trials differs.
func extremes(c experiment.Config, label string, rates []float64, want [2]float64) (rows []figure.Row) {
	if len(rates) < 2 {
		return nil
	}
	mean, sigma := stat.MeanStdDev(rates, nil)
	n := float64(len(rates))
	// the errors of the mean and of sigma, which are both estimated
	half := 1.96 * sigma * math.Sqrt(1/n+extremeOf1000*extremeOf1000/(2*(n-1)))
	for i, e := range []struct {
		name    string
		z, seen float64
	}{{"lowest", -extremeOf1000, slices.Min(rates)}, {"highest", extremeOf1000, slices.Max(rates)}} {
		v := mean + e.z*sigma
		r := figure.Row{Measured: v, Low: max(0, v-half), High: v + half}
		r.Label = fmt.Sprintf("%s, %s of 1000 trials expected", label, e.name)
		r = r.Noted("mean %+.2f standard deviations σ of %d trials, if rates are normally distributed; the %s of these "+
			"trials is %.4g", e.z, len(rates), e.name, e.seen)
		if !c.Quick && len(rates) >= extremeTrials {
			r = r.Against(want[i], 2*extremeSigma*sigma)
			r.Note += fmt.Sprintf("; tolerance: 2 standard deviations of such an extreme, %.2f σ", 2*extremeSigma)
			if !*r.Agrees {
				z := math.Abs(want[i]-mean) / sigma
				farther := -math.Expm1(1000 * math.Log1p(-math.Erfc(z/math.Sqrt2)/2))
				r.Note += fmt.Sprintf("; the published one lies %.2f σ from our mean, and a %s of 1000 is farther with "+
					"a probability of %.2g", z, e.name, farther)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// large repeats some rows with ten times the keys, as the text of the paper does.
func large(ctx context.Context, c experiment.Config, w *experiment.Work, n int) (rows []figure.Row, err error) {
	settings := []publishedRow{onlineRows[1], onlineRows[5], onlineRows[8]}
	trials := min(c.Trials, 10)
	for _, p := range settings {
		by := float64(c.Trials) / float64(trials*len(settings))
		rates, err := p.online(ctx, c, w, by, n, trials, independent,
			func(f experiment.Growing, _ int) float64 { return f.Info().FPRPosterior })
		if err != nil {
			return nil, err
		}
		r := p.mean(c, fmt.Sprintf("%s, n = %d", p, n), n, rates)
		if !c.Quick {
			r = r.Noted("the text: \"nearly identical\"; %d trials", trials)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// probes measures the number of bits that a query for an absent key reads.
func probes(ctx context.Context, c experiment.Config, w *experiment.Work, n int) (rows []figure.Row, err error) {
	settings := []choice{{8, 2, 7, 1}, {8, 3, 7, 1}, {16, 3, 13, 1}, {32, 3, 25, 1}}
	trials := min(c.Trials, 20)
	share := float64(c.Trials) / float64(trials*len(settings))
	for _, x := range settings {
		probes := func(f experiment.Growing, trial int) float64 { return meanReads(f, c.Hashes(n, trial+1<<30)) }
		means, err := x.online(ctx, c, w, share, n, trials, independent, probes)
		if err != nil {
			return nil, err
		}
		fill := twochoice.Fill(x.bits, x.k, x.c)
		want := float64(x.c) * (1 - math.Pow(fill, float64(x.k))) / (1 - fill)
		rows = append(rows,
			figure.Mean(x.String()+", probes of an absent key", means).Noted("c·(1-f^k)/(1-f) = %.3f", want))
	}
	return rows, nil
}

// ratePlot plots the rate by k at 16 bits per key: by equation 3.2, measured and published.
func ratePlot(c experiment.Config, n int, rows []figure.Row) figure.Plot {
	plot := figure.Plot{
		Name: "ptc-table1", Title: fmt.Sprintf("Keys added one by one, 16 bits per key, n = %d", n),
		X: "functions k of a group", Y: "false positive rate",
	}
	for groups := 1; groups <= 4; groups++ {
		curve := figure.Curve{Name: fmt.Sprintf("c = %d, equation 3.2", groups)}
		for k := 8; k <= 17; k++ {
			curve.AddPoint(float64(k), twochoice.FPR(twochoice.Fill(16, k, groups), k, groups))
		}
		plot.Curves = append(plot.Curves, curve)
	}
	ours, theirs := figure.Curve{Name: "measured", Dots: true}, figure.Curve{Name: "published", Dots: true}
	for _, p := range slices.Concat(onlineRows, otherRows) {
		for _, r := range rows {
			if p.bits == 16 && r.Label == p.String() {
				ours.AddPoint(float64(p.k), r.Measured)
				theirs.AddPoint(float64(p.k), p.rate)
			}
		}
	}
	plot.Curves = append(plot.Curves, theirs, ours)
	return plot
}

// table2 compares shares of ones with the differential equation, for both kinds of hashing.
var table2 = experiment.Experiment{
	Name: "ptc-table2", Source: Paper + ", Table 2 and equation 3.2",
	Varies: "bits per key, choices, hashing; keys added one by one", Run: runTable2, Seconds: 4,
}

func runTable2(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(200)
	n := c.Size(10_000, 2000)
	table := []struct {
		choice
		observed, predicted float64
	}{
		{choice{8, 2, 7, 1}, 0.5296, 0.5296}, {choice{8, 3, 7, 1}, 0.5020, 0.5019},
		{choice{16, 2, 13, 1}, 0.5187, 0.5187}, {choice{16, 3, 13, 1}, 0.4994, 0.4994},
		{choice{32, 2, 24, 1}, 0.5016, 0.5016}, {choice{32, 3, 25, 1}, 0.5022, 0.5022},
	}
	w := c.Work(float64(2 * len(table) * c.Trials))
	for _, p := range table {
		result.Add(figure.Exact(p.String()+", by the equation", twochoice.Fill(p.bits, p.k, p.c)).
			Against(p.predicted, 0.0001))
		for _, by := range []construction{independent, double} {
			fills, err := p.online(ctx, c, w, 1, n, c.Trials, by, fillOf)
			if err != nil {
				return result, err
			}
			r := figure.Mean(fmt.Sprintf("%s, %s hashing", p, by), fills)
			if !c.Quick {
				r = r.Against(p.observed, p.fillTolerance(n, c.Trials))
			}
			if by == double {
				r = r.Noted("%s", p.coincide(r.Measured, n))
			}
			result.Add(r)
		}
	}
	plot, err := fillPlot(c, n)
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		"Double hashing has the same share of ones, as the paper says, but not the same rate at 32 bits per key: a " +
			"group of an absent key coincides with the group of a present key with a probability of about 12·c·n/m². " +
			"The notes of its rows have both rates.",
	}
	return result, err
}

// fillPlot plots the share of ones while keys are added: equation 3.2 and one simulation of each filter.
func fillPlot(c experiment.Config, n int) (figure.Plot, error) {
	plot := figure.Plot{
		Name: "ptc-table2", Title: fmt.Sprintf("Share of ones while keys come, 8 bits per key, k = 7, n = %d", n),
		X: "share of the keys that are in", Y: "share of ones",
	}
	const points = 20
	ours := figure.Curve{Name: "simulated", Dots: true}
	for groups := 1; groups <= 3; groups++ {
		x := choice{8, groups, 7, 1}
		hs := c.Hashes(n, 0)
		f, err := x.empty(n, independent)
		if err != nil {
			return plot, err
		}
		theory := figure.Curve{Name: fmt.Sprintf("c = %d, equation 3.2", groups)}
		for p := 1; p <= points; p++ {
			if err := experiment.AddAll(f, hs[(p-1)*n/points:p*n/points]); err != nil {
				return plot, err
			}
			t := float64(p) / points
			theory.AddPoint(t, twochoice.Fill(x.bits/t, x.k, groups))
			ours.AddPoint(t, f.Info().Fill)
		}
		plot.Curves = append(plot.Curves, theory)
	}
	plot.Curves = append(plot.Curves, ours)
	return plot, nil
}
