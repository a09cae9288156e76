// Package lab lists the experiments that measure the claims of papers and of our own pages. An experiment returns rows
// of numbers with their intervals, and plots. Documents assigns the experiments to documents. The packages:
//
//	ph      partitioned hashing (Hao, Kodialam and Lakshman, 2007)
//	ptc     two choices (Lumetta and Mitzenmacher, 2007)
//	rih     rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008)
//	flows   states of network flows in a rank-indexed table
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
	"slices"

	"github.com/bloomery/bloomery/eval/lab/exact"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/flows"
	"github.com/bloomery/bloomery/eval/lab/hashes"
	"github.com/bloomery/bloomery/eval/lab/needs"
	"github.com/bloomery/bloomery/eval/lab/onehit"
	"github.com/bloomery/bloomery/eval/lab/ph"
	"github.com/bloomery/bloomery/eval/lab/plank"
	"github.com/bloomery/bloomery/eval/lab/ptc"
	"github.com/bloomery/bloomery/eval/lab/publish"
	"github.com/bloomery/bloomery/eval/lab/ribbon"
	"github.com/bloomery/bloomery/eval/lab/rih"
	"github.com/bloomery/bloomery/eval/lab/saha"
	"github.com/bloomery/bloomery/eval/lab/scale"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
)

// Experiment is one table or figure. Config holds the parameters of a run.
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

// ByName returns an experiment. The error names the most similar experiments, if any are similar.
func ByName(name string) (Experiment, error) {
	var names []string
	for _, e := range Experiments() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}

	meant := ""
	if near := families.Nearest(name, names); len(near) > 0 {
		meant = fmt.Sprintf("did you mean %s? ", cli.Either(near[:min(3, len(near))]))
	}
	return Experiment{}, fmt.Errorf("there is no experiment %q; %sbloomery-lab list shows all", name, meant)
}

// Match returns the experiments whose names match patterns such as ph-* (path.Match), each once: in the order of the
// patterns, and for one pattern in the order of Experiments. A pattern that matches nothing is an error, as in ByName.
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

// Document is a document with the experiments that measure its claims. A report has a page for it.
type Document struct {
	figure.Document
	Experiments []Experiment
}

// Documents returns the documents in the order in which they are shown. Each experiment belongs to one of them.
func Documents() []Document {
	return []Document{
		{figure.Document{
			Page: "partitioned-hashing", Title: "Partitioned hashing", Cited: ph.Paper,
			About: "F. Hao, M. Kodialam, T. V. Lakshman, SIGMETRICS 2007, and our own search",
		}, ph.Experiments()},
		{figure.Document{
			Page: "two-choices", Title: "Two choices", Cited: ptc.Paper,
			About: "S. Lumetta, M. Mitzenmacher, Internet Mathematics 4, 2007",
		}, ptc.Experiments()},
		{figure.Document{
			Page: "rank-indexed-hashing", Title: "Rank-indexed hashing", Cited: rih.Paper,
			About: "N. Hua, H. Zhao, B. Lin, J. Xu, ICNP 2008",
		}, slices.Concat(rih.Experiments(), flows.Experiments())},
		{figure.Document{
			Page: "plank-notes", Title: "Plank's notes", Cited: experiment.PlankNotes,
			About: "J. Plank, lecture notes, 2016",
		}, plank.Experiments()},
		{figure.Document{
			Page: "saha-slides", Title: "Saha's slides", Cited: experiment.SahaSlides,
			About: "B. Saha, slides of a lecture, and the cache of Akamai, which both lectures show",
		}, slices.Concat(saha.Experiments(), onehit.Experiments())},
		{figure.Document{
			Page: "our-pages", Title: "Our own pages",
			About: "What the documentation of Bloomery claims, in docs/",
		}, slices.Concat(hashes.Experiments(), needs.Experiments(), scale.Experiments(), publish.Experiments(),
			ribbon.Experiments(), exact.Experiments())},
	}
}
