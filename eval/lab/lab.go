// Package lab lists the experiments that measure the claims of papers and of our own pages. An experiment gives rows of
// numbers with their intervals, and plots. Documents says which of them belong to which document. The rooms:
//
//	ph      partitioned hashing (Hao, Kodialam and Lakshman, 2007)
//	ptc     two choices (Lumetta and Mitzenmacher, 2007)
//	rih     rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008)
//	plank   Plank's lecture notes (2016)
//	saha    Saha's slides
//	onehit  a cache that stores objects at their second request
//	hashes  the hash functions of all documents
//	needs   forecasts of the planner
//	scale   distributed builds of very large sets
//	publish daily versions of a set and their deltas
//	ribbon  sizes, rates and times of ribbon filters
//	exact   sizes of exact sets
//
// Results depend on the seed and not on the number of cores, except measured times.
package lab

import (
	"fmt"
	"path"
	"strings"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// Experiment is one table or figure. Config is the parameters of a run.
type (
	Experiment = experiment.Experiment
	Config     = experiment.Config
)

// Experiments returns all experiments in the order in which they are shown.
func Experiments() (all []Experiment) {
	for _, d := range Documents() {
		all = append(all, d.Experiments...)
	}
	return all
}

// ByName returns an experiment. If there is none of that name the error lists all names.
func ByName(name string) (Experiment, error) {
	var names []string
	for _, e := range Experiments() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("there is no experiment %q; there are %s", name, strings.Join(names, ", "))
}

// Match returns the experiments whose names match patterns such as ph-* (path.Match), each once: in the order of the
// patterns, and for one pattern in the order of Experiments. A pattern that matches nothing is an error that lists all
// names.
func Match(patterns ...string) (found []Experiment, err error) {
	taken := map[string]bool{}
	for _, p := range patterns {
		some := false
		for _, e := range Experiments() {
			switch ok, err := path.Match(p, e.Name); {
			case err != nil:
				return nil, fmt.Errorf("%q: %w", p, err)
			case !ok:
				continue
			}
			if some = true; !taken[e.Name] {
				taken[e.Name] = true
				found = append(found, e)
			}
		}
		if !some {
			_, err := ByName(p)
			return nil, err
		}
	}
	return found, nil
}
