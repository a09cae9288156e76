package lab

import (
	"slices"

	"github.com/bloomery/bloomery/eval/lab/exact"
	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
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
)

// Document is a document with the experiments that measure what it claims. A report has a page for it.
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
		}, rih.Experiments()},
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
		}, slices.Concat(
			hashes.Experiments(), needs.Experiments(), scale.Experiments(), publish.Experiments(),
			ribbon.Experiments(), exact.Experiments(),
		)},
	}
}
