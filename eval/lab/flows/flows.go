// Package flows contains the experiment on the states of network flows: an approximate concurrent state machine (ACSM),
// which the papers on rank-indexed and on partitioned hashing name as a use, against an exact map.
//
//	table.go   the table, which docs/families/rankindexed.md shows
//	stream.go  packets, and the states of their flows
package flows

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// Experiments returns the experiments of this room.
func Experiments() []experiment.Experiment { return []experiment.Experiment{states} }

var states = experiment.Experiment{
	Name: "flows", Source: experiment.RankIndexed + ", section I, ACSM",
	Varies: "rate of the filter; captured and synthetic packets", Run: run, Seconds: 25,
}

// rates are the false-positive rates of a generation.
var rates = []float64{0.03, 0.01, 0.003, 0.001, 0.0001}

// counts are the packets of a stream, by what the table says about their flow and what the exact map says.
type counts struct {
	packets, unknown uint64 // all, and the packets of flows that the exact map does not contain
	wrong            uint64 // another state than the map, which has one
	lost             uint64 // packets without a state where the map has one
	invented         uint64 // a state, where the map has none
	flows, bits      uint64 // the largest number of flows in the map, and the bits of both generations
}

func (n counts) plus(m counts) counts {
	return counts{n.packets + m.packets, n.unknown + m.unknown, n.wrong + m.wrong, n.lost + m.lost,
		n.invented + m.invented, n.flows + m.flows, n.bits + m.bits}
}

func run(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(3)
	flows, periods := c.Size(200_000, 10_000), 12
	real, from, err := captured(c)
	if err != nil {
		return result, err
	}
	plot := figure.Plot{
		Name: "flows", Title: "States of flows in two generations of a rankindexed filter", X: "bits per flow",
		Y: "share of the packets", LogY: true,
	}
	w := c.Work(float64(len(rates) * (c.Trials + 1)))
	for _, source := range []struct {
		name   string
		trials int
		draw   func(trial int) stream
	}{
		{"synthetic", c.Trials, func(trial int) stream {
			return synthetic(rand.New(rand.NewPCG(c.Seed, uint64(trial))), flows, periods)
		}},
		{"captured", 1, func(int) stream { return real }},
	} {
		trials, err := experiment.Each(ctx, nil, 0, source.trials, func(ctx context.Context, trial int) ([]counts, error) {
			s := source.draw(trial)
			t, all := s.exact(), []counts(nil)
			for _, rate := range rates {
				n, err := s.replay(ctx, rate, t)
				if err != nil {
					return nil, err
				}
				all = append(all, n)
				w.Step(1)
			}
			return all, nil
		})
		if err != nil {
			return result, err
		}

		wrong, lost := figure.Curve{Name: source.name + ", wrong state"}, figure.Curve{Name: source.name + ", state lost"}
		for i, rate := range rates {
			var n counts
			for _, t := range trials {
				n = n.plus(t[i])
			}
			label := fmt.Sprintf("%s, rate %g: ", source.name, rate)
			share := func(what string, hits, of uint64) figure.Row {
				tally := experiment.Tally{Hits: hits, Of: of}
				r := figure.Row{Label: label + what, Measured: float64(hits) / float64(of)}
				r.Low, r.High = tally.Interval()
				return r.Noted("%d of %d packets", hits, of)
			}
			bits := float64(n.bits) / float64(n.flows)
			wrongs, losts := share("wrong states", n.wrong+n.invented, n.packets), share("states lost", n.lost, n.packets)
			result.Add(
				figure.Exact(label+"bits per flow", bits).Noted("with at most %d flows", n.flows/uint64(len(trials))),
				wrongs, losts,
				experiment.AtMost(share("unknown flows that get a state", n.invented, n.unknown), 2*rate),
			)
			wrong.AddPoint(bits, wrongs.Measured)
			lost.AddPoint(bits, losts.Measured)
		}
		plot.Curves = append(plot.Curves, wrong, lost)
	}
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		"An approximate concurrent state machine keeps the state of each flow in a filter. Here it consists of two " +
			"generations of a rankindexed filter with two bits per value. A packet moves its flow into the young " +
			"generation; a rotation at the end of a period drops the old one, so that a silent flow times out. Flows " +
			"that end are removed. docs/families/rankindexed.md shows the code.",
		"States: opening after a SYN, open after the answer or data, closing after one FIN; the second FIN or a reset " +
			"ends the flow. The exact map has the same states and timeouts.",
		"Unknown flows that get a state are the false positives of two generations: at most two times the rate. They " +
			"count as wrong states. Flows that collide share one cell: each finds the state of the other, and the end " +
			"of one loses the state of the other.",
		fmt.Sprintf("Captured packets: %s, %d packets of %d flows, periods of %v. Most of its flows are one SYN of a "+
			"scan, so that the packets of a single long flow dominate. Synthetic packets: %d flows that begin in %d "+
			"periods.", from, len(real.packets), len(real.keys), period, flows, periods),
	}
	return result, nil
}

// replay sends the packets to a table with the given rate.
func (s stream) replay(ctx context.Context, rate float64, exact truth) (n counts, err error) {
	n = counts{packets: uint64(len(s.packets)), flows: exact.held}
	t := table{spec: fmt.Sprintf("rankindexed(fpr=%g,value_bits=2)", rate), flows: exact.young}
	if err := t.rotate(); err != nil {
		return n, err
	}
	for now, i := 0, 0; i < len(s.packets); now++ {
		if err := cmp.Or(ctx.Err(), t.rotate()); err != nil {
			return n, err
		}
		for ; i < len(s.packets) && int(s.packets[i].at) == now; i++ {
			p, want := s.packets[i], exact.states[i]
			err := t.packet(s.keys[p.flow], func(state uint64) uint64 {
				switch {
				case want == unknown:
					n.unknown++
					if state != unknown {
						n.invented++
					}
				case state == unknown:
					n.lost++
				case state != want:
					n.wrong++
				}
				return p.event.next(state)
			})
			if err != nil {
				return n, err
			}
		}
	}
	n.bits = t.young.Info().Bits + t.old.Info().Bits
	return n, nil
}
