package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/exact"
)

// eachExact is the number of damaged files of one exact set.
const eachExact = 10

// exactSets builds n exact sets and queries all readers about them, and then about damaged copies of each.
func (t *trial) exactSets(ctx context.Context, n int) error {
	d := &damager{trial: t, r: generator(t.seed, -2)}
	for number := t.first; number < t.first+n; number++ {
		s, err := newExact(ctx, t.dir, generator(t.seed^3, number), number, min(t.mostKeys, 20_000))
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		if err := t.compare(ctx, s); err != nil {
			return err
		}
		t.report.Exact++
		if err := d.exact(ctx, s); err != nil {
			return err
		}
		t.progress("%d of %d exact sets", number-t.first+1, n)
		if err := os.Remove(s.path); err != nil {
			return err
		}
	}
	return nil
}

// exactPlan chooses the members of a universe by checksums of the keys, so that equal keys have equal answers.
type exactPlan struct {
	universe  []key
	seed      uint32
	densities []float64 // one is chosen for each partition
	updates   int
	changed   float64 // share of the keys that an update toggles
}

// member reports whether a key is a member after some updates.
func (p *exactPlan) member(k key, updates int) bool {
	draw := func(i int, b []byte) float64 {
		return float64(crc32.Update(p.seed+uint32(i)*0x9e3779b9, crc32.IEEETable, b)) / (1 << 32)
	}
	partition, _ := k.apart()
	in := draw(0, k.bytes) < p.densities[int(draw(-1, partition)*float64(len(p.densities)))]
	for i := range updates {
		in = in != (draw(i+1, k.bytes) < p.changed)
	}
	return in
}

// pairs ranges over the partitions and names of all keys, or only of the members after some updates.
func (p *exactPlan) pairs(only bool, updates int) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, name []byte) bool) {
		for _, k := range p.universe {
			partition, name := k.apart()
			if (!only || p.member(k, updates)) && !yield(partition, name) {
				return
			}
		}
	}
}

// names returns the second of each pair.
func names(pairs iter.Seq2[[]byte, []byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, name := range pairs {
			if !yield(name) {
				return
			}
		}
	}
}

// newExact builds a random exact set, which may have partitions, a secret and updates, and chooses the keys to ask.
func newExact(ctx context.Context, dir string, r *rand.Rand, number, most int) (*subject, error) {
	s := &subject{number: number, path: filepath.Join(dir, "set.exact"), secret: "-", exact: true}
	c := exact.Config{Seed: r.Uint64() >> r.IntN(64), Partitioned: r.IntN(2) == 0, Workers: 1, Shrink: 1}
	if r.IntN(4) == 0 {
		c.Seed, c.Secret = 0, s.newSecret(r)
	}
	s.plan.keys = manyKeys(r, most)
	p := &exactPlan{seed: r.Uint32(), updates: max(0, r.IntN(6)-2), changed: math.Exp2(-2 - 10*r.Float64())}
	for range 1 + r.IntN(5) {
		p.densities = append(p.densities, []float64{0, 1, r.Float64(), math.Exp2(-10 * r.Float64())}[r.IntN(4)])
	}
	source, partitions := newKeySource(r), 1+r.IntN(20)
	next := func() key {
		k := source.key()
		if c.Partitioned {
			k = k.in(fmt.Appendf(nil, "%0*d", r.IntN(2)*partitions, r.IntN(partitions)))
		}
		return k
	}
	for range s.plan.keys {
		p.universe = append(p.universe, next())
	}
	if err := s.buildExact(ctx, c, p); err != nil {
		return s, err
	}
	s.spec = fmt.Sprintf("densities %.3g, %d updates of %.3g", p.densities, p.updates, p.changed)
	for _, i := range r.Perm(len(p.universe))[:min(len(p.universe), 2000)] {
		s.keys = append(s.keys, p.universe[i])
		s.held = append(s.held, p.member(p.universe[i], p.updates))
	}
	for range 300 {
		s.keys, s.held = append(s.keys, next()), append(s.held, false)
	}
	return s, nil
}

// buildExact builds and saves the set with its updates.
func (s *subject) buildExact(ctx context.Context, c exact.Config, p *exactPlan) (err error) {
	var set *exact.Set
	for i := range p.updates + 1 {
		members, universe := p.pairs(true, i), p.pairs(false, i)
		if c.Base = set; c.Partitioned {
			set, err = exact.Build(ctx, members, universe, c)
		} else {
			set, err = exact.Build(ctx, names(members), names(universe), c)
		}
		if err != nil {
			return err
		}
	}
	s.partitioned = set.Info().Partitions > 0
	return set.Save(ctx, s.path)
}

// exact damages one exact set several times.
func (d *damager) exact(ctx context.Context, s *subject) error {
	file, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	s.keys, s.held = s.keys[len(s.keys)-100:], s.held[len(s.held)-100:]
	sums := checksumsOf(file)
	for range eachExact {
		b, how := append([]byte(nil), file...), "exact set, mended"
		switch d.r.IntN(8) {
		case 0:
			b, how = b[:d.r.IntN(len(b))], "exact set, cut"
		case 1:
			b, how = append(b, make([]byte, 1+d.r.IntN(20))...), "exact set, bytes behind"
		case 2:
			b, how = d.bits(b), "exact set, bits"
		default:
			for range 1 + d.r.IntN(3) { // often changes the numbers of a record
				sum := sums[d.r.IntN(len(sums))]
				at := sum[0] + d.r.IntN(1+min(sum[1]-sum[0], 40+d.r.IntN(1+sum[1]-sum[0])))
				b[at] = []byte{b[at] ^ 1<<d.r.IntN(8), byte(d.r.Uint32()), b[at] + 1, b[at] - 1}[d.r.IntN(4)]
			}
			mendExact(b, sums)
		}
		if err := d.check(ctx, s, s.path, b, how); err != nil {
			return err
		}
	}
	return nil
}
