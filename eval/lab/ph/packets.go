package ph

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/capture"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/probe"
)

// fig12, fig13 and fig14 compare random keys under random hashing with payloads of packets under CRC hashing, at 8, 16
// and 32 bits per key.
var (
	fig12 = packets("ph-fig12", "12", bySize[0])
	fig13 = packets("ph-fig13", "13", bySize[1])
	fig14 = packets("ph-fig14", "14", bySize[2])
)

func packets(name, number string, size bitsAKey) experiment.Experiment {
	return experiment.Experiment{
		Name: name, Source: Paper + ", figure " + number,
		Varies: "groups, and where keys and hashes come from", Seconds: 40,
		Run: func(ctx context.Context, c experiment.Config) (figure.Result, error) {
			return runPackets(ctx, c, name, size)
		},
	}
}

// kind is the source of keys and hash functions.
type kind int

const (
	synthetic kind = iota
	payload
)

func runPackets(ctx context.Context, c experiment.Config, name string, size bitsAKey) (figure.Result, error) {
	result := c.Begin(2)
	per, k := size.per, size.k
	all, from, err := capture.Payloads(c.Packets)
	if err != nil {
		return result, err
	}
	// Half of the payloads are keys, the others absent.
	n, h, absent := min(10_000, len(all)/2/1000*1000), 16384, 500_000
	if n == 0 {
		return result, fmt.Errorf("%s has %d distinct payloads; want 2000 or more", from, len(all))
	}
	groups := []int{50, 100, 150, 250, 350, 500} // for 10,000 keys
	if c.Quick {
		n, h, absent, groups = 1000, 64, 20_000, []int{100, 250}
	}
	type point struct {
		published
		kind
		trial int
	}
	var points []point
	for _, g := range groups {
		p := published{n: n, m: per * n, g: g * n / 10_000, h: h, k: k}
		for trial := range c.Trials {
			points = append(points, point{p, synthetic, trial}, point{p, payload, trial})
		}
	}
	measured, err := experiment.Each(ctx, c.Work(float64(len(points))), 1, len(points),
		func(ctx context.Context, i int) (observation, error) {
			p := points[i]
			if p.kind == synthetic {
				return p.overRandom(ctx, c, p.trial, absent)
			}
			return p.overPayloads(ctx, c, p.trial, all, absent)
		})
	if err != nil {
		return result, err
	}
	names := [...]string{synthetic: "random keys and hashing", payload: "payloads and CRC"}
	var rates, seen [2]figure.Curve
	var random, real, altered verdict
	show := func(label string, of *verdict, p experiment.Tally, rate float64) {
		result.Add(p.Row(label, rate))
		of.add(p, rate)
	}
	derived := figure.Curve{Name: "p_o, altered payloads and CRC", Dots: true}
	for k, name := range names {
		rates[k], seen[k] = figure.Curve{Name: "p_a, " + name}, figure.Curve{Name: "p_o, " + name, Dots: true}
	}
	for i := 0; i < len(points); i += 2 * c.Trials {
		x := float64(points[i].g)
		for _, kind := range []kind{synthetic, payload} {
			var o observation
			var p []float64
			for t := range c.Trials {
				one := measured[i+2*t+int(kind)]
				p = append(p, one.rate)
				o.absent, o.derived = o.absent.Plus(one.absent), o.derived.Plus(one.derived)
			}
			label := func(what string) string {
				return fmt.Sprintf("%s, g = %.0f, H = %d, %s", what, x, h, names[kind])
			}
			mean := figure.Mean(label("p_a"), p)
			result.Add(mean)
			of := &random
			if kind == payload {
				of = &real
			}
			show(label("p_o"), of, o.absent, mean.Measured)
			rates[kind].AddPoint(x, mean.Measured)
			o.absent.AddTo(&seen[kind], x, mean.Measured)
			if kind == payload {
				show(label("p_o of altered payloads"), &altered, o.derived, mean.Measured)
				o.derived.AddTo(&derived, x, mean.Measured)
			}
		}
	}
	prior := probe.FPR(uint64(n), uint64(per*n), size.standardK)
	result.Add(figure.Exact("standard, p_b", prior))
	plot := figure.Plot{
		Name: name, Title: fmt.Sprintf("Packets and CRC against random, %d bits per key, n = %d, H = %d, k = %d", per, n,
			h, k), X: "groups g", Y: "false positive rate", LogY: true,
		Curves: []figure.Curve{rates[synthetic], rates[payload]},
	}
	for _, c := range []figure.Curve{seen[synthetic], seen[payload], derived} {
		if len(c.Points) > 0 {
			plot.Curves = append(plot.Curves, c)
		}
	}
	plot.Curves = append(plot.Curves, figure.Level("standard", 0, prior))
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		fmt.Sprintf(
			"The paper gives the figure only as curves and does not say what varies. Here it is the groups, which "+
				"matter most by its section 6.1, with H = %d. The rows are ours.", h,
		),
		fmt.Sprintf(
			"The trace of the paper, ten days of FTP at a laboratory, is not available. The packets come from %s: "+
				"%d distinct payloads, of which %d are keys and %d are absent.", from, len(all), n, len(all)-n,
		),
		fmt.Sprintf(
			"There are too few payloads for rare events, so p_o is also measured on %d altered ones a trial: absent "+
				"payloads with four adjacent bytes replaced by random ones. CRC-32 is a bijection of four such "+
				"bytes, so that checksums of altered payloads are uniform: they test the filter and RS, but not CRC "+
				"on real packets.", absent,
		),
		untilSettled,
	}
	if random.judged+real.judged+altered.judged > 0 {
		result.Notes = append(
			result.Notes,
			fmt.Sprintf(
				"p_a lies in %s of random keys, in %s of real payloads and in %s of altered ones. One in twenty 95%% "+
					"intervals is expected to miss it.", random, real, altered,
			),
		)
	} else {
		result.Notes = append(result.Notes,
			"So few absent keys show no false positive, as in Fig. 14 of the paper; only p_a can be compared.")
	}
	return result, nil
}

// verdict counts the intervals of p_o that can test p_a, and the intervals among them that contain p_a.
type verdict struct{ judged, inside int }

func (v *verdict) add(t experiment.Tally, rate float64) {
	if t.Judges(rate) {
		v.judged++
		if low, high := t.Interval(); low <= rate && rate <= high {
			v.inside++
		}
	}
}

func (v verdict) String() string { return fmt.Sprintf("%d of %d intervals of p_o", v.inside, v.judged) }

// observation is the result of one filter.
type observation struct {
	rate            float64 // p_a
	absent, derived experiment.Tally
}

// over queries the keys from ... to-1.
func (f found) over(with functions, from, to int) (c experiment.Tally) {
	for key := from; key < to; key++ {
		if f.has(with, key) {
			c.Hits++
		}
	}
	c.Of = uint64(to - from)
	return c
}

// overRandom builds a filter of n random keys and queries absent ones.
func (p published) overRandom(ctx context.Context, c experiment.Config, trial, absent int) (o observation, err error) {
	with := p.random(c.Hashes(p.n+absent, trial))
	f, err := p.search(ctx, with)
	if err != nil {
		return o, err
	}
	return observation{rate: f.rate(), absent: f.over(with, p.n, p.n+absent)}, nil
}

// overPayloads builds a filter of n payloads, which differ in every trial. It queries the other payloads, and altered
// copies of them.
func (p published) overPayloads(
	ctx context.Context, c experiment.Config, trial int, all [][]byte, derived int,
) (o observation, err error) {
	r := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
	keys := make([][]byte, len(all))
	for i, at := range r.Perm(len(all)) {
		keys[i] = all[at]
	}
	member := make(map[string]bool, p.n)
	for _, k := range keys[:p.n] {
		member[string(k)] = true
	}
	with := p.crc(keys)
	f, err := p.search(ctx, with)
	if err != nil {
		return o, err
	}
	return observation{
		rate:    f.rate(),
		absent:  f.over(with, p.n, len(keys)),
		derived: f.overAltered(r, keys[p.n:], member, derived, 4096),
	}, nil
}

// overAltered queries all altered payloads that are not members. It keeps only atOnce of them in memory at a time,
// since all of them may need gigabytes.
func (f found) overAltered(
	r *rand.Rand, payloads [][]byte, member map[string]bool, all, atOnce int,
) (c experiment.Tally) {
	for int(c.Of) < all {
		var piece [][]byte
		for len(piece) < min(atOnce, all-int(c.Of)) {
			if k := alter(payloads[r.IntN(len(payloads))], r); !member[string(k)] {
				piece = append(piece, k)
			}
		}
		c = c.Plus(f.over(f.crc(piece), 0, len(piece)))
	}
	return c
}

// alter returns a copy of a payload, padded to at least four bytes, with four adjacent bytes replaced by random ones.
func alter(payload []byte, r *rand.Rand) []byte {
	const width = 4
	k := append([]byte(nil), payload...)
	if len(k) < width {
		k = append(k, make([]byte, width)...)
	}
	at := r.IntN(len(k) - width + 1)
	for i := range width {
		k[at+i] = byte(r.Uint32())
	}
	return k
}
