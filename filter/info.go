package filter

// Info describes a filter. Rates lie in [0, 1].
type Info struct {
	// Spec names the family and its geometry.
	Spec Spec
	// Keys is the number of keys added; a key that was added twice counts twice, but families that gather their
	// keys before they build ("fuse", "partitioned", "blockpartitioned", "twochoice", and without counters "rankindexed" and
	// "dleft") drop the duplicates among those. Keys that were removed do not count.
	Keys uint64
	// Late is how many of the Keys were added after the search that fitted the filter to the others; 0 in families
	// without a search.
	Late uint64
	// Bits is the number of bits that a query needs, side information included, file headers not.
	Bits uint64
	// Fill is the share of Bits that are set; in "partitioned" and "blockpartitioned" of those that keys set, without the
	// shifts that are stored beside them; in "fuse" the share of the slots that are in use, in "dleft"
	// of the cells, and in "counting" of the counters that are not 0.
	Fill float64
	// FillSearched is what Fill was when the search ended; 0 in families without a search. Late keys move Fill away from
	// it.
	FillSearched float64
	// Capacity is the number of keys that the filter was sized for; 0 in families that take any number, at a rate that rises.
	Capacity uint64
	// Pools are the extensions that buckets take when they are full, from the second level on; nil in families without any.
	Pools []Pool
	// FPRPrior is p_b, predicted from the number of keys and the geometry.
	FPRPrior float64
	// FPRPosterior is p_a, computed from the bits that are set.
	FPRPosterior float64
}

// BitsPerKey returns Bits per key, or 0 if there is no key.
func (i Info) BitsPerKey() float64 {
	if i.Keys == 0 {
		return 0
	}
	return float64(i.Bits) / float64(i.Keys)
}

// Load returns Keys per Capacity, or 0 if there is no capacity.
func (i Info) Load() float64 {
	if i.Capacity == 0 {
		return 0
	}
	return float64(i.Keys) / float64(i.Capacity)
}

// Pool is a number of equal pieces of memory that buckets may take.
type Pool struct {
	Size uint64 `json:"size"`
	Used uint64 `json:"used"`
}
