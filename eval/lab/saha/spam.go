// Package saha contains the experiments on Saha's slides: the spam filter and universal hashing.
package saha

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/probe"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{spam, universal, counting}
}

// spam measures the spam filter of the slides. The filter contains all valid addresses, so that other addresses pass
// only as false positives.
var spam = experiment.Experiment{
	Name: "saha-spam", Source: experiment.SahaSlides + ", spam filtering", Varies: "k", Run: runSpam, Seconds: 3,
}

// The sizes of the slides, which call the addresses m and the bits n.
const (
	spamAddresses    = 1_000_000_000
	spamBits         = 8 * spamAddresses
	spamAddressBytes = 20
	spamMostK        = 10
)

func runSpam(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(10)
	n, absent := c.Size(1_000_000, 50_000), c.Size(2_000_000, 100_000)
	m := uint64(n) * (spamBits / spamAddresses)
	best := probe.OptimalK(spamAddresses, spamBits)
	result.Rows = []figure.Row{
		figure.Exact("memory of the filter, GB", spamBits/8/1e9),
		figure.Exact("memory of the addresses, GB", spamAddresses*spamAddressBytes/1e9).
			Noted("20 bytes per address, as in the slides: more than the 1 GB of memory that they assume"),
		figure.Exact("k optimum, ln 2 · m/n", math.Ln2*spamBits/spamAddresses),
		figure.Exact("best whole k", float64(best)),
	}
	type outcome struct {
		rates        []float64 // of each k
		fill, length float64   // fill at the best k; mean bytes of an address
	}
	trials, err := experiment.Each(ctx, c.Work(float64(c.Trials)), 1, c.Trials,
		func(ctx context.Context, trial int) (outcome, error) {
			var o outcome
			hasher := filter.NewHasher(c.Seed)
			mail := mailbox{r: rand.New(rand.NewPCG(c.Seed, uint64(trial)))}
			hs := make([]filter.Hash, n+absent)
			for i := range hs {
				address := mail.address(i)
				hs[i] = hasher.Sum(address)
				o.length += float64(len(address)) / float64(len(hs))
			}
			for k := 1; k <= spamMostK; k++ {
				f, err := standard.New(standard.Config{Bits: m, K: k})
				rate, err := experiment.Observed(f, cmp.Or(err, ctx.Err()), hs, n)
				if err != nil {
					return o, err
				}
				if welcome := experiment.Count(f, hs[:n]); welcome != n {
					return o, fmt.Errorf("k = %d: %d of %d valid addresses are not let through", k, n-welcome, n)
				}
				o.rates = append(o.rates, rate)
				if k == best {
					o.fill = f.Info().Fill
				}
			}
			return o, nil
		})
	if err != nil {
		return result, err
	}
	formula := figure.Curve{Name: "10^9 addresses in 8·10^9 bits, formula"}
	measured := figure.Curve{Name: fmt.Sprintf("%d addresses in %d bits, measured (95%% interval)", n, m), Dots: true}
	var rates [][]float64
	for _, o := range trials {
		rates = append(rates, o.rates)
	}
	var full, scaled []figure.Row
	for i, v := range experiment.Columns(rates) {
		k := i + 1
		rate := probe.FPR(spamAddresses, spamBits, k)
		formula.AddPoint(float64(k), rate)
		full = append(full, figure.Exact(fmt.Sprintf("k = %d, formula, full size", k), rate))
		r := figure.Mean(fmt.Sprintf("k = %d, spam let through, %d addresses", k, n), v)
		measured.Add(float64(k), r)
		scaled = append(scaled, r.Noted("the formula gives %.5f", probe.FPR(uint64(n), m, k)))
	}
	result.Add(full...)
	result.Add(scaled...)
	fills := experiment.Values(trials, func(o outcome) float64 { return o.fill })
	lengths := experiment.Values(trials, func(o outcome) float64 { return o.length })
	result.Add(
		figure.Mean(fmt.Sprintf("k = %d, fill", best), fills).
			Noted("the formula gives %.5f", -math.Expm1(-float64(best)*float64(n)/float64(m))),
		figure.Exact("valid addresses let through, share", 1).Noted("a false negative stops the experiment"),
		figure.Mean("length of our addresses, bytes", lengths).Noted("made up, in the style of user8123@post.test"),
	)
	result.Plots = []figure.Plot{{
		Name: "saha-spam", Title: "Spam that passes, 8 bits per address", X: "k", Y: "false positive rate", LogY: true,
		Curves: []figure.Curve{formula, measured},
	}}
	result.Notes = []string{fmt.Sprintf("Measured with %d addresses and the same bits for each; the full size is "+
		"computed. The hash function is XXH3-128.", n)}
	return result, nil
}

// mailbox generates addresses.
type mailbox struct {
	r   *rand.Rand
	buf []byte
}

var (
	mailNames = []string{"anna", "ben", "carla.m", "d.okoro", "eva", "feng", "info", "jo", "k.novak", "user"}
	mailHosts = []string{"a.example", "mx.example", "post.test", "uni.test", "b.test"}
)

// address returns address i. The slice is valid until the next call. Addresses are distinct, since each contains i.
func (m *mailbox) address(i int) []byte {
	m.buf = append(m.buf[:0], mailNames[m.r.IntN(len(mailNames))]...)
	m.buf = strconv.AppendInt(m.buf, int64(i), 10)
	m.buf = append(append(m.buf, '@'), mailHosts[m.r.IntN(len(mailHosts))]...)
	return m.buf
}
