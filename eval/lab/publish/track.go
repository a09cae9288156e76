package publish

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
)

// track holds the sizes of one kind of sets over all days.
type track struct {
	kind
	scale
	planned     float64
	whole       int // bytes of the first version
	sizes       []float64
	short, long []float64 // bytes of the deltas over several days
	packed      int       // bytes of the second version with zstd, given the first
	rates       []drift.Measured
	seen        map[int]experiment.Tally // observed, by day
}

// maker makes the versions of a set, one after the other.
type maker struct {
	kind
	dir   string // folder of sharded sets
	set   *bloomery.Set
	turns int
}

// follow publishes a version per day.
func follow(ctx context.Context, k kind, s scale, h *history) (t *track, err error) {
	m := &maker{kind: k}
	if k.shards > 0 {
		if m.dir, err = os.MkdirTemp("", "bloomery-lab-*"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(m.dir)
	}
	defer func() {
		if m.set != nil {
			_ = m.set.Close()
		}
	}()
	t = &track{kind: k, scale: s, seen: map[int]experiment.Tally{}}
	list := slices.Clone(h.first)
	spec := strings.Replace(k.spec, "ROOM", fmt.Sprint(int(k.room*float64(s.keys))), 1)
	var versions []version
	for today := 0; ; today++ {
		if today == 0 {
			err = m.first(ctx, spec, list)
		} else {
			err = m.next(ctx, list, h.days[today-1])
		}
		if err != nil {
			return nil, fmt.Errorf("day %d: %w", today, err)
		}
		v, err := m.version()
		if err != nil {
			return nil, err
		}
		versions = append(versions, v)
		if err := t.add(ctx, m.set.Info(), versions); err != nil {
			return nil, fmt.Errorf("day %d: %w", today, err)
		}
		if today%(s.days/2) == 0 {
			t.seen[today] = observe(m.set, h.other)
		}
		if today == s.days {
			return t, nil
		}
	}
}

// first builds the first version.
func (m *maker) first(ctx context.Context, spec string, list []string) (err error) {
	c := bloomery.Config{Spec: spec, Building: bloomery.Building{Workers: 1},
		Sharding: bloomery.Sharding{Shards: m.shards}}
	if m.shards > 0 {
		return m.build(ctx, list, c)
	}
	m.set, err = bloomery.Build(ctx, slices.Values(list), c)
	if err == nil && m.trimmed {
		m.set, err = m.set.Trimmed()
	}
	return err
}

// next makes the version of the next day, whose keys are in list.
func (m *maker) next(ctx context.Context, list []string, d day) (err error) {
	if m.inPlace {
		for i, at := range d.at {
			if err := bloomery.Keyed[string](m.set).Remove(list[at]); err != nil {
				return err
			}
			if err := m.set.AddString(d.fresh[i]); err != nil {
				return err
			}
		}
		d.apply(list)
		return nil
	}
	d.apply(list)
	c := bloomery.Config{Like: bloomery.Like{Set: m.set}, Building: bloomery.Building{Workers: 1}}
	if m.shards > 0 {
		return m.build(ctx, list, c)
	}
	m.set, err = bloomery.Build(ctx, slices.Values(list), c)
	return err
}

// build builds a sharded set in a new folder and opens it. The folder of the one before is removed.
func (m *maker) build(ctx context.Context, list []string, c bloomery.Config) error {
	dir := m.path(m.turns + 1)
	c.Sharding.Dir = dir
	set, err := bloomery.Build(ctx, slices.Values(list), c)
	if err != nil {
		return err
	}
	if m.turns == 0 && m.trimmed {
		if set, err = retrim(ctx, set, dir+"-trimmed", dir); err != nil {
			return err
		}
	}
	if m.set != nil {
		if err := m.set.Close(); err != nil {
			return err
		}
		if err := os.RemoveAll(m.path(m.turns)); err != nil {
			return err
		}
	}
	m.set, m.turns = set, m.turns+1
	return nil
}

func (m *maker) path(turn int) string { return filepath.Join(m.dir, fmt.Sprint(turn)) }

// retrim replaces the folder of a set by its trimmed form, which it first writes to a temporary folder.
func retrim(ctx context.Context, set *bloomery.Set, temp, dir string) (*bloomery.Set, error) {
	defer set.Close()
	form, err := set.Trimmed()
	if err == nil {
		err = form.Save(ctx, temp)
	}
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, dir); err != nil {
		return nil, err
	}
	return bloomery.Open(ctx, dir)
}

// version returns the files of the present version.
func (m *maker) version() (version, error) {
	if m.shards > 0 {
		return folderOf(m.path(m.turns), m.set.Manifest())
	}
	return fileOf(m.set)
}

// add records the last of the versions.
func (t *track) add(ctx context.Context, i filter.Info, versions []version) (err error) {
	today := len(versions) - 1
	v := versions[today]
	t.rates = append(t.rates, drift.Measured{Release: uint64(today), FPRPosterior: i.FPRPosterior})
	if today == 0 {
		t.whole, t.planned = v.bytes(), i.FPRPlanned
		return nil
	}
	for _, jump := range []struct {
		days, every int
		to          *[]float64
	}{{1, 1, &t.sizes}, {t.scale.short, t.scale.short, &t.short}, {t.scale.long, t.scale.short, &t.long}} {
		if today < jump.days || (today-jump.days)%jump.every != 0 {
			continue
		}
		n, err := v.since(ctx, versions[today-jump.days])
		if err != nil {
			return err
		}
		*jump.to = append(*jump.to, float64(n))
	}
	if today == 1 && t.shards == 0 {
		t.packed, err = packed(v.file, versions[0].file)
	}
	return err
}

// observe queries keys that are in no version.
func observe(s *bloomery.Set, absent []string) (t experiment.Tally) {
	for _, k := range absent {
		if s.ContainsString(k) {
			t.Hits++
		}
	}
	t.Of = uint64(len(absent))
	return t
}
