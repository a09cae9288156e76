package family

// CellFilter is a Filter of equal cells, such as bits or counters. Each key takes cells at random, and a cell in use
// does not tell which keys took it, nor how many. The numbers of free cells of two such filters tell how many distinct
// keys they hold and share: see bloomery.Set.EstimateOverlap.
type CellFilter interface {
	Filter
	// Cells describes how a key takes cells. It is the same for all filters of the same Spec.
	Cells() Cells
	// Free returns the number of cells that are free in both filters, which may be the same one. It reads both
	// completely. The error wraps ErrMismatch if other is nil or its Spec differs.
	Free(other Filter) (uint64, error)
}

// Cells describes how the keys of a filter take its cells. Logarithms are natural.
type Cells struct {
	Number uint64     // of the cells
	Free   float64    // logarithm of the probability that one key leaves a given cell free: below 0
	Pairs  []CellPair // all Number² ordered pairs of cells, each cell with itself included; the shares add up to 1
}

// CellPair describes pairs of cells.
type CellPair struct {
	Share float64 // of all ordered pairs, in [0, 1]
	// Both is the logarithm of P(a key leaves both free) / P(it leaves the first free)·P(it leaves the second free): 0
	// if they are independent.
	Both float64
}
