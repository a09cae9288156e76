package standard

import (
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// FPR returns p_b, the predicted false-positive probability, in [0, 1], of a filter of m bits after n distinct keys
// were added with k probes each: (1-(1-1/m)^(kn))^k. This is slightly too low if m is tiny (Bose et al., 2008); the
// posterior rate has no such error. m and k must not be 0.
func FPR(n, m uint64, k int) float64 { return probe.FPR(n, m, k) }

// OptimalK returns the number of probes, 1 to MaxK, that minimizes FPR(n, m, k). It is near ln 2 · m/n.
func OptimalK(n, m uint64) int { return probe.OptimalK(n, m) }

// Cells describes the bits.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of bits that are 0 in both filters. Errors are the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) { return bitvec.Free(f, other, f.m) }
