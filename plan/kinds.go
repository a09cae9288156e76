package plan

import "github.com/bloomery/bloomery/filter"

// kind is a family in one of its forms, and what it can do.
type kind struct {
	spec filter.Spec // without a size
	// What it can do. Capacity: its spec takes capacity=, for keys that are added later; later: it takes later=.
	remove, count, merge, values, line, writers, capacity, later bool
	lineFrom                                                     float64 // the least rate at which nearly all queries read one cache line
	patented                                                     bool    // somewhere, nominally, today
	spills                                                       bool    // a builder keeps keys in a file beyond a limit of memory
	reason                                                       string  // what speaks for it
	warning                                                      string  // and what against
}

// kinds are what a plan chooses among. A new family joins here.
var kinds = []kind{
	{
		spec: filter.NewSpec("standard"), merge: true, writers: true, capacity: true,
		reason: "the plain Bloom filter: any size, keys at any time, union", warning: "a present key reads as many places as it has bits",
	},
	{
		spec: filter.NewSpec("blocked"), merge: true, writers: true, line: true, capacity: true,
		reason: "one cache miss a query, keys at any time, union", warning: "grows fast as the rate falls: below 0.01% others are smaller",
	},
	{
		spec: filter.NewSpec("blocked", "layout", "split"), merge: true, writers: true, line: true, capacity: true,
		reason: "one cache miss and eight bits a query, as in Parquet", warning: "grows fast as the rate falls: below 0.1% others are smaller",
	},
	{
		spec:   filter.NewSpec("fuse"),
		reason: "static and fast to ask, small above 100,000 keys", warning: "no key can be added; building takes some 30 bytes a key",
	},
	{
		spec: filter.NewSpec("partitioned"), later: true, patented: true, spills: true,
		reason: "smallest: a search fits its hash functions to the keys", warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
	},
	{
		spec: filter.NewSpec("blockpartitioned"), later: true, line: true, patented: true, spills: true,
		reason: "one cache miss a query, and the same search", warning: "patented in the US, nominally until 2027-06-15; needs all keys for the build",
	},
	{
		spec: filter.NewSpec("twochoice"), spills: true,
		reason: "small at low rates", warning: "a query reads many places, and a build searches",
	},
	{
		spec: filter.NewSpec("counting"), remove: true, count: true, merge: true, capacity: true,
		reason: "removal with union, and never full", warning: "four times standard; a counter that came to 15 stays there",
	},
	{
		spec: filter.NewSpec("dleft"), remove: true, capacity: true,
		reason: "removal with four short buckets a query", warning: "full beyond its capacity; remove only what was added",
	},
	{
		spec: filter.NewSpec("dleft", "counting", 1), remove: true, count: true, capacity: true,
		reason: "counts, with four short buckets a query", warning: "full beyond its capacity; remove only what was added",
	},
	ranked(kind{reason: "keys come and go, in the fewest bits"}),
	ranked(kind{lineFrom: 1e-4, reason: "keys come and go, mostly with one cache miss a query"}, "bucket", 512),
	ranked(kind{line: true, reason: "keys come and go, fast: short chains in one cache line"}, "bucket", 512, "fast", 1),
	ranked(kind{count: true, reason: "counts in the fewest bits", warning: "a key counts to some 800 at most"}, "counting", 1),
	ranked(kind{count: true, lineFrom: 1e-4, reason: "counts, mostly with one cache miss a query", warning: "a key counts to some 200 at most"}, "bucket", 512, "counting", 1),
	ranked(kind{count: true, line: true, reason: "counts, fast: short chains in one cache line", warning: "a key counts to some 200 at most"}, "bucket", 512, "counting", 1, "fast", 1),
	ranked(kind{values: true, reason: "a value with each key, in the fewest bits", warning: "keys that look alike share a value"}, "value_bits", 1),
	ranked(kind{values: true, line: true, reason: "a value with each key, fast: short chains in one cache line", warning: "keys that look alike share a value"}, "bucket", 512, "fast", 1, "value_bits", 1),
}

// ranked returns a kind of rankindexed with these parameters.
func ranked(k kind, parameters ...any) kind {
	k.spec = filter.NewSpec("rankindexed", parameters...)
	k.remove, k.writers, k.capacity, k.spills = true, true, true, true
	k.line = k.line || k.lineFrom > 0
	k.warning = join(k.warning, "full beyond its capacity; remove only what was added")
	return k
}

// lacks returns what of the needs the kind cannot do, or "".
func (k kind) lacks(n *Needs) string {
	for _, x := range []struct {
		need, can bool
		what      string
	}{
		{n.Remove, k.remove, "takes no key out"}, {n.Count, k.count, "does not count"}, {n.Merge, k.merge, "does not merge"},
		{n.ValueBits > 0, k.values, "keeps no values"}, {n.OneLine, k.line, "reads more than one cache line"},
		{n.Writers, k.writers, "has no form for many writers"}, {n.Unpatented, !k.patented, "is patented in the US, nominally until 2027-06-15"}, {n.Later > 0, k.capacity || k.later, "has no room for later keys"},
	} {
		if x.need && !x.can {
			return x.what
		}
	}
	return ""
}

// counted returns the keys that a forecast of the kind is for: those with later= add the later ones themselves.
func (k kind) counted(n *Needs) uint64 {
	if k.later {
		return n.Keys
	}
	return n.all()
}

// sized returns the spec with a size, and room for later keys.
func (k kind) sized(n *Needs, size filter.Sizing) filter.Spec {
	s := WithSize(k.spec, size)
	if k.values {
		s = s.With("value_bits", n.ValueBits)
	}
	switch {
	case n.Later == 0:
	case k.capacity:
		s = s.With("capacity", n.all())
	case k.later:
		s = s.With("later", n.Later)
	}
	return s
}
