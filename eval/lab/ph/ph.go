// Package ph has the experiments on partitioned hashing: F. Hao, M. Kodialam and T. V. Lakshman, "Building high
// accuracy Bloom filters using partitioned hashing", SIGMETRICS 2007.
//
// Letters are as in the paper: n keys, m bits, g groups, H functions to choose from, k functions a group, t tries; p_b
// is the predicted rate of a standard filter, p_a the rate of a built filter from its fill, p_o an observed rate.
package ph

import "github.com/bloomery/bloomery/eval/lab/experiment"

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{
		fig1, fig2, fig3, fig5, fig6, fig7, fig10, fig11, table1, fig12, fig13, fig14, annealing, buildTime, lateKeys,
	}
}
